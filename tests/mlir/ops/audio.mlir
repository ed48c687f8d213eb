// Audio: files, spectrograms and the coefficients of speech.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | golden %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func @wav() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["UklGRjAAAABXQVZFZm10IBAAAAABAAIAQB8AAAB9AAAEABAAZGF0YQwAAAAAAABAAMAAIGQAyAA"]}
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0, %y1 = corert.executeop(%cpu) "tf.DecodeWav"(%d0) { desired_samples = 4 : i64 } : 2
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

func @spectrogram() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0], [2.0], [4.0], [-1.0], [3.0], [1.5]]> : tensor<6x1xf32>
  %y0 = corert.executeop(%cpu) "tf.AudioSpectrogram"(%x0) { stride = 2 : i64, window_size = 4 : i64 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @cepstrum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0, 4.0, 1.0, 0.5]]]> : tensor<1x1x5xf32>
  %x1 = corert.const_dense_tensor dense<8000> : tensor<i32>
  %y0 = corert.executeop(%cpu) "tf.Mfcc"(%x0, %x1) { dct_coefficient_count = 2 : i64, filterbank_channel_count = 3 : i64 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// OUT: Choosing memory leak check allocator.
// OUT: Choosing single-threaded work queue.
// OUT: --- Running 'register':
// OUT: --- Running 'wav':
// OUT: DenseHostTensor dtype = F32, shape = [4, 2], values = [0.000000e+00, 5.000000e-01, -5.000000e-01, 2.500000e-01, 3.051758e-03, 6.103516e-03, 0.000000e+00, 0.000000e+00]
// OUT: DenseHostTensor dtype = I32, shape = [], values = [8000]
// OUT: 'wav' returned !tfrt.chain value
// OUT: --- Running 'spectrogram':
// OUT: DenseHostTensor dtype = F32, shape = [1, 2, 3], values = [4.500000e+00, 4.272002e+00, 3.500000e+00, 3.250000e+00, 3.250000e+00, 2.750000e+00]
// OUT: 'spectrogram' returned !tfrt.chain value
// OUT: --- Running 'cepstrum':
// OUT: DenseHostTensor dtype = F32, shape = [1, 1, 2], values = [-1.962091e-01, -1.555381e+00]
// OUT: 'cepstrum' returned !tfrt.chain value
