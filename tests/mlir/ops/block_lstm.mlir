// An LSTM whose gates are results, too.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | golden %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func @lstm() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<2> : tensor<i64>
  %x1 = corert.const_dense_tensor dense<[[[1.0]], [[-2.0]]]> : tensor<2x1x1xf32>
  %x2 = corert.const_dense_tensor dense<[[0.5]]> : tensor<1x1xf32>
  %x3 = corert.const_dense_tensor dense<[[-0.5]]> : tensor<1x1xf32>
  %x4 = corert.const_dense_tensor dense<[[0.5, -0.5, 1.0, 0.25], [-1.0, 1.0, 0.5, 0.75]]> : tensor<2x4xf32>
  %x5 = corert.const_dense_tensor dense<[0.5]> : tensor<1xf32>
  %x6 = corert.const_dense_tensor dense<[0.25]> : tensor<1xf32>
  %x7 = corert.const_dense_tensor dense<[-0.5]> : tensor<1xf32>
  %x8 = corert.const_dense_tensor dense<[0.0, 1.0, 0.0, 0.5]> : tensor<4xf32>
  %y0, %y1, %y2, %y3, %y4, %y5, %y6 = corert.executeop(%cpu) "tf.BlockLSTM"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8) { use_peephole = true } : 7
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch4 = "corert.print_tensorhandle"(%y3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch5 = "corert.print_tensorhandle"(%y4, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch6 = "corert.print_tensorhandle"(%y5, %ch5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch7 = "corert.print_tensorhandle"(%y6, %ch6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch7 : !tfrt.chain
}

func @second_lstm() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<2> : tensor<i64>
  %x1 = corert.const_dense_tensor dense<[[[1.0]], [[-2.0]]]> : tensor<2x1x1xf32>
  %x2 = corert.const_dense_tensor dense<[[0.5]]> : tensor<1x1xf32>
  %x3 = corert.const_dense_tensor dense<[[-0.5]]> : tensor<1x1xf32>
  %x4 = corert.const_dense_tensor dense<[[0.5, -0.5, 1.0, 0.25], [-1.0, 1.0, 0.5, 0.75]]> : tensor<2x4xf32>
  %x5 = corert.const_dense_tensor dense<[0.5]> : tensor<1xf32>
  %x6 = corert.const_dense_tensor dense<[0.25]> : tensor<1xf32>
  %x7 = corert.const_dense_tensor dense<[-0.5]> : tensor<1xf32>
  %x8 = corert.const_dense_tensor dense<[0.0, 1.0, 0.0, 0.5]> : tensor<4xf32>
  %y0, %y1, %y2, %y3, %y4, %y5, %y6 = corert.executeop(%cpu) "tf.BlockLSTMV2"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8) { cell_clip = 0.25 : f32 } : 7
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch4 = "corert.print_tensorhandle"(%y3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch5 = "corert.print_tensorhandle"(%y4, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch6 = "corert.print_tensorhandle"(%y5, %ch5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch7 = "corert.print_tensorhandle"(%y6, %ch6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch7 : !tfrt.chain
}

// OUT: Choosing memory leak check allocator.
// OUT: Choosing single-threaded work queue.
// OUT: --- Running 'register':
// OUT: --- Running 'lstm':
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [7.772999e-01, 2.682564e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [4.335179e-01, 3.981279e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [8.670357e-01, 3.139972e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [5.394779e-01, 4.915309e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [0.000000e+00, 9.766945e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [4.082571e-01, 3.783460e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [2.202457e-01, 1.859687e-01]
// OUT: 'lstm' returned !tfrt.chain value
// OUT: --- Running 'second_lstm':
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [7.310586e-01, 2.413751e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [2.500000e-01, -7.560194e-03]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [5.000000e-01, 8.952152e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [5.926666e-01, 5.271897e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [6.351489e-01, -9.585245e-01]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [2.449187e-01, -7.560050e-03]
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [1.451551e-01, -3.985581e-03]
// OUT: 'second_lstm' returned !tfrt.chain value
