// Images: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'cubic'
func @cubic() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[3, 3]> : tensor<2xi32>
  %y0 = corert.executeop(%cpu) "tf.ResizeBicubic"(%x0, %x1) { half_pixel_centers = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3, 3, 1], values = [-1.9332{{[0-9]+}}e-01, 3.3527{{[0-9]+}}e-01, 8.6388{{[0-9]+}}e-01, 9.0116{{[0-9]+}}e-01, 1.7500{{[0-9]+}}e+00, 2.5988{{[0-9]+}}e+00, 1.9956{{[0-9]+}}e+00, 3.1647{{[0-9]+}}e+00, 4.3337{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'area'
func @area() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[3, 3]> : tensor<2xi32>
  %y0 = corert.executeop(%cpu) "tf.ResizeArea"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3, 3, 1], values = [0.000000e+00, 5.000001e-01, 9.9999{{[0-9]+}}e-01, 1.000000e+00, 1.7500{{[0-9]+}}e+00, 2.5000{{[0-9]+}}e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'scale'
func @scale() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[3, 3]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[1.5, 1.5]> : tensor<2xf32>
  %x3 = corert.const_dense_tensor dense<[0.0, 0.0]> : tensor<2xf32>
  %y0 = corert.executeop(%cpu) "tf.ScaleAndTranslate"(%x0, %x1, %x2, %x3) { antialias = true, kernel_type = "triangle" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3, 3, 1], values = [0.000000e+00, 5.000000e-01, 1.000000e+00, 1.000000e+00, 1.7500{{[0-9]+}}e+00, 2.5000{{[0-9]+}}e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'hsv'
func @hsv() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0.5, 0.25, 1.0], [0.0, 0.5, 0.5]]]> : tensor<1x2x3xf32>
  %y0 = corert.executeop(%cpu) "tf.RGBToHSV"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3], values = [7.2222{{[0-9]+}}e-01, 7.5000{{[0-9]+}}e-01, 1.000000e+00, 5.000000e-01, 1.000000e+00, 5.000000e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rgb'
func @rgb() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0.5, 0.25, 1.0], [0.0, 0.5, 0.5]]]> : tensor<1x2x3xf32>
  %y0 = corert.executeop(%cpu) "tf.HSVToRGB"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3], values = [7.5000{{[0-9]+}}e-01, 1.000000e+00, 1.000000e+00, 5.000000e-01, 2.5000{{[0-9]+}}e-01, 2.5000{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'hue'
func @hue() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0.5, 0.25, 1.0], [0.0, 0.5, 0.5]]]> : tensor<1x2x3xf32>
  %x1 = corert.const_dense_tensor dense<0.25> : tensor<f32>
  %y0 = corert.executeop(%cpu) "tf.AdjustHue"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3], values = [1.000000e+00, 2.5000{{[0-9]+}}e-01, 3.7499{{[0-9]+}}e-01, 2.5000{{[0-9]+}}e-01, 0.000000e+00, 5.000000e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'saturation'
func @saturation() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0.5, 0.25, 1.0], [0.0, 0.5, 0.5]]]> : tensor<1x2x3xf32>
  %x1 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %y0 = corert.executeop(%cpu) "tf.AdjustSaturation"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3], values = [7.5000{{[0-9]+}}e-01, 6.2500{{[0-9]+}}e-01, 1.000000e+00, 2.5000{{[0-9]+}}e-01, 5.000000e-01, 5.000000e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'patches'
func @patches() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.ExtractImagePatches"(%x0) { ksizes = [1 : i64, 2 : i64, 2 : i64, 1 : i64], padding = "SAME", rates = [1 : i64, 1 : i64, 1 : i64, 1 : i64], strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2, 4], values = [0.000000e+00, 1.000000e+00, 2.000000e+00, 4.000000e+00, 1.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dilated'
func @dilated() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[0.5], [0.25]]]> : tensor<1x2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.Dilation2D"(%x0, %x1) { padding = "SAME", rates = [1 : i64, 1 : i64, 1 : i64, 1 : i64], strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2, 1], values = [1.2500{{[0-9]+}}e+00, 1.5000{{[0-9]+}}e+00, 4.2500{{[0-9]+}}e+00, 4.5000{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'places'
func @places() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %y0, %y1 = corert.executeop(%cpu) "tf.MaxPoolWithArgmax"(%x0) { ksize = [1 : i64, 2 : i64, 2 : i64, 1 : i64], padding = "VALID", strides = [1 : i64, 2 : i64, 2 : i64, 1 : i64] } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 1], values = [4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [1, 1, 1, 1], values = [3]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'projected'
func @projected() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[0.0], [1.0]], [[2.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[[1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0]]> : tensor<1x8xf32>
  %x2 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi32>
  %x3 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %y0 = corert.executeop(%cpu) "tf.ImageProjectiveTransformV3"(%x0, %x1, %x2, %x3) { fill_mode = "CONSTANT", interpolation = "BILINEAR" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2, 1], values = [5.000000e-01, 7.5000{{[0-9]+}}e-01, 3.000000e+00, 2.2500{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
