// Sequences of labels without an alignment.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | golden %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func @loss() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0, 0.5]], [[0.0, 1.0, 2.0]], [[3.0, 1.0, 1.0]]]> : tensor<3x1x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0, 0], [0, 1]]> : tensor<2x2xi64>
  %x2 = corert.const_dense_tensor dense<[0, 1]> : tensor<2xi32>
  %x3 = corert.const_dense_tensor dense<[3]> : tensor<1xi32>
  %y0, %y1 = corert.executeop(%cpu) "tf.CTCLoss"(%x0, %x1, %x2, %x3) : 2
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

func @beams() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0, 0.5]], [[0.0, 1.0, 2.0]], [[3.0, 1.0, 1.0]]]> : tensor<3x1x3xf32>
  %x1 = corert.const_dense_tensor dense<[3]> : tensor<1xi32>
  %y0, %y1 = corert.executeop(%cpu) "tfrt.BeamSearch"(%x0, %x1) { beam_width = 4 : i64, top_paths = 2 : i64 } : 2
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// OUT: Choosing memory leak check allocator.
// OUT: Choosing single-threaded work queue.
// OUT: --- Running 'register':
// OUT: --- Running 'loss':
// OUT: DenseHostTensor dtype = F32, shape = [1], values = [3.442061e+00]
// OUT: DenseHostTensor dtype = F32, shape = [3, 1, 3], values = [-7.267498e-01, 6.285317e-01, 9.821803e-02, -2.128552e-02, -1.319696e-01, 1.532551e-01, 7.869861e-01, -7.051440e-01, -8.184207e-02]
// OUT: 'loss' returned !tfrt.chain value
// OUT: --- Running 'beams':
// OUT: DenseHostTensor dtype = I64, shape = [2, 1, 2], values = [1, 0, 0, -1]
// OUT: DenseHostTensor dtype = F32, shape = [1, 2], values = [-7.399805e-01, -2.111520e+00]
// OUT: 'beams' returned !tfrt.chain value
