// Boxes that overlap, and gradients of crops.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | golden %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func @suppressed() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 0.75, 0.0], [0.75, 1.0, 0.5], [0.0, 0.5, 1.0]]> : tensor<3x3xf32>
  %x1 = corert.const_dense_tensor dense<[0.5, 1.0, 0.25]> : tensor<3xf32>
  %x2 = corert.const_dense_tensor dense<2> : tensor<i32>
  %x3 = corert.const_dense_tensor dense<0.625> : tensor<f32>
  %x4 = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %y0 = corert.executeop(%cpu) "tf.NonMaxSuppressionWithOverlaps"(%x0, %x1, %x2, %x3, %x4) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @crop_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[[0.0, 0.25, 1.0, 1.0]]> : tensor<1x4xf32>
  %x2 = corert.const_dense_tensor dense<[0]> : tensor<1xi32>
  %x3 = corert.const_dense_tensor dense<[1, 2, 3, 1]> : tensor<4xi32>
  %y0 = corert.executeop(%cpu) "tf.CropAndResizeGradImage"(%x0, %x1, %x2, %x3) { T = f32 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// OUT: Choosing memory leak check allocator.
// OUT: Choosing single-threaded work queue.
// OUT: --- Running 'register':
// OUT: --- Running 'suppressed':
// OUT: DenseHostTensor dtype = I32, shape = [2], values = [1, 2]
// OUT: 'suppressed' returned !tfrt.chain value
// OUT: --- Running 'crop_gradient':
// OUT: DenseHostTensor dtype = F32, shape = [1, 2, 3, 1], values = [2.500000e-01, 2.500000e-01, 1.000000e+00, 2.500000e-01, 2.500000e-01, 1.000000e+00]
// OUT: 'crop_gradient' returned !tfrt.chain value
