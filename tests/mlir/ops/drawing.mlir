// Boxes and glimpses, soft suppression, and gradients of images: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'boxes_of_colors'
func @boxes_of_colors() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [0.25], [0.5], [0.75]], [[1.0], [1.25], [1.5], [1.75]], [[2.0], [2.25], [2.5], [2.75]]]]> : tensor<1x3x4x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[0.0, 0.4000000059604645, 1.0, 0.699999988079071], [-0.5, 0.0, 0.5, 1.2000000476837158]]]> : tensor<1x2x4xf32>
  %x2 = corert.const_dense_tensor dense<[[8.0], [9.0]]> : tensor<2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.DrawBoundingBoxesV2"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3, 4, 1], values = [9.000000e+00, 8.000000e+00, 8.000000e+00, 9.000000e+00, 9.000000e+00, 9.000000e+00, 9.000000e+00, 9.000000e+00, 2.000000e+00, 8.000000e+00, 8.000000e+00, 2.750000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'boxes'
func @boxes() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [0.25], [0.5], [0.75]], [[1.0], [1.25], [1.5], [1.75]], [[2.0], [2.25], [2.5], [2.75]]]]> : tensor<1x3x4x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[0.0, 0.4000000059604645, 1.0, 0.699999988079071], [-0.5, 0.0, 0.5, 1.2000000476837158]]]> : tensor<1x2x4xf32>
  %y0 = corert.executeop(%cpu) "tf.DrawBoundingBoxes"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3, 4, 1], values = [1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, 1.000000e+00, 1.000000e+00, 2.750000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'first_glimpse'
func @first_glimpse() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [0.25], [0.5], [0.75]], [[1.0], [1.25], [1.5], [1.75]], [[2.0], [2.25], [2.5], [2.75]]]]> : tensor<1x3x4x1xf32>
  %x1 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[[0.5, 0.75]]> : tensor<1x2xf32>
  %y0 = corert.executeop(%cpu) "tf.ExtractGlimpse"(%x0, %x1, %x2) { centered = true, noise = "zero", normalized = false } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3, 1], values = [0.000000e+00, 2.500000e-01, 5.000000e-01, 1.000000e+00, 1.250000e+00, 1.500000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'second_glimpse'
func @second_glimpse() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [0.25], [0.5], [0.75]], [[1.0], [1.25], [1.5], [1.75]], [[2.0], [2.25], [2.5], [2.75]]]]> : tensor<1x3x4x1xf32>
  %x1 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[[0.5, 0.75]]> : tensor<1x2xf32>
  %y0 = corert.executeop(%cpu) "tf.ExtractGlimpseV2"(%x0, %x1, %x2) { centered = false, noise = "zero", normalized = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3, 1], values = [1.750000e+00, 0.000000e+00, 0.000000e+00, 2.750000e+00, 0.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'cubic_gradient'
func @cubic_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0], [0.0], [2.0]], [[0.0], [4.0], [0.0]], [[0.0], [0.0], [1.0]]]]> : tensor<1x3x3x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.ResizeBicubicGrad"(%x0, %x1) { half_pixel_centers = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2, 1], values = [2.000000e+00, 3.1317{{[0-9]+}}e+00, 8.6822{{[0-9]+}}e-01, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'scale_gradient'
func @scale_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0], [0.0], [2.0]], [[0.0], [4.0], [0.0]], [[0.0], [0.0], [1.0]]]]> : tensor<1x3x3x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x2 = corert.const_dense_tensor dense<[1.5, 1.5]> : tensor<2xf32>
  %x3 = corert.const_dense_tensor dense<[0.0, 0.25]> : tensor<2xf32>
  %y0 = corert.executeop(%cpu) "tf.ScaleAndTranslateGrad"(%x0, %x1, %x2, %x3) { antialias = false, kernel_type = "triangle" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2, 1], values = [2.3333{{[0-9]+}}e+00, 2.6666{{[0-9]+}}e+00, 1.3333{{[0-9]+}}e+00, 1.6666{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dilation_gradient'
func @dilation_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[0.5], [0.25]]]> : tensor<1x2x1xf32>
  %x2 = corert.const_dense_tensor dense<[[[[1.0], [2.0]], [[4.0], [8.0]]]]> : tensor<1x2x2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.Dilation2DBackpropInput"(%x0, %x1, %x2) { padding = "SAME", rates = [1 : i64, 1 : i64, 1 : i64, 1 : i64], strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2, 1], values = [0.000000e+00, 3.000000e+00, 0.000000e+00, 1.200000e+01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dilation_filter_gradient'
func @dilation_filter_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[0.5], [0.25]]]> : tensor<1x2x1xf32>
  %x2 = corert.const_dense_tensor dense<[[[[1.0], [2.0]], [[4.0], [8.0]]]]> : tensor<1x2x2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.Dilation2DBackpropFilter"(%x0, %x1, %x2) { padding = "SAME", rates = [1 : i64, 1 : i64, 1 : i64, 1 : i64], strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 1], values = [1.000000e+01, 5.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'soft_suppression'
func @soft_suppression() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.5], [2.0, 2.0, 3.0, 3.0]]> : tensor<3x4xf32>
  %x1 = corert.const_dense_tensor dense<[0.5, 1.0, 0.25]> : tensor<3xf32>
  %x2 = corert.const_dense_tensor dense<3> : tensor<i32>
  %x3 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %x4 = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %x5 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %y0, %y1 = corert.executeop(%cpu) "tfrt.SoftSuppression"(%x0, %x1, %x2, %x3, %x4, %x5) : 2
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [1, 0, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [1.000000e+00, 3.8940{{[0-9]+}}e-01, 2.500000e-01]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'box_gradient'
func @box_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x2 = corert.const_dense_tensor dense<[[0.0, 0.25, 1.0, 0.75]]> : tensor<1x4xf32>
  %x3 = corert.const_dense_tensor dense<[0]> : tensor<1xi32>
  %y0 = corert.executeop(%cpu) "tf.CropAndResizeGradBoxes"(%x0, %x1, %x2, %x3) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 4], values = [3.875000e+00, 1.500000e+00, 3.875000e+00, 3.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
