// Images in other sizes, response normalization, images with the channels first, and what follows fused convolutions.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'resizing'
func @resizing() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %size = corert.const_dense_tensor dense<3> : tensor<2xi32>
  %smooth = corert.executeop(%cpu) "tf.ResizeBilinear"(%x, %size) { align_corners = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3, 3, 1], values = [1.000000e+00, 1.500000e+00, 2.000000e+00, 2.000000e+00, 2.500000e+00, 3.000000e+00, 3.000000e+00, 3.500000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%smooth, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %nearest = corert.executeop(%cpu) "tf.ResizeNearestNeighbor"(%x, %size) : 1
  // CHECK: values = [1.000000e+00, 1.000000e+00, 2.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%nearest, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'response'
func @response() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>
  %y = corert.executeop(%cpu) "tf.LRN"(%x) { bias = 0.0 : f32, depth_radius = 1 : i64 } : 1
  // CHECK: shape = [1, 1, 1, 2], values = [6.000000e-01, 8.000000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %alone = corert.executeop(%cpu) "tf.LRN"(%x) { bias = 0.0 : f32, depth_radius = 0 : i64 } : 1
  // CHECK: values = [1.000000e+00, 1.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%alone, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // A vector of the length of x, all of whose length is divided out: nothing is left of a gradient along it.
  %dx = corert.executeop(%cpu) "tf.LRNGrad"(%x, %x, %alone) { bias = 0.0 : f32, depth_radius = 0 : i64 } : 1
  // CHECK: values = [0.000000e+00, 0.000000e+00]
  %ch3 = "corert.print_tensorhandle"(%dx, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'channels_first'
func @channels_first() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [8.0, 7.0]]]]> : tensor<1x2x2x2xf32>
  %max = corert.executeop(%cpu) "tf.MaxPool"(%x) { data_format = "NCHW", ksize = [1, 1, 2, 2], padding = "VALID", strides = [1, 1, 1, 1] } : 1
  // CHECK: shape = [1, 2, 1, 1], values = [4.000000e+00, 8.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%max, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // The second channel less the first one.
  %w = corert.const_dense_tensor dense<[[[[-1.0], [1.0]]]]> : tensor<1x1x2x1xf32>
  %difference = corert.executeop(%cpu) "tf.Conv2D"(%x, %w) { data_format = "NCHW", padding = "VALID", strides = [1, 1, 1, 1] } : 1
  // CHECK: shape = [1, 1, 2, 2], values = [4.000000e+00, 4.000000e+00, 5.000000e+00, 3.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%difference, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %bias = corert.const_dense_tensor dense<2.0> : tensor<1xf32>
  %pixels = corert.const_dense_tensor dense<[[[[1.0, 5.0], [2.0, 6.0]], [[3.0, 8.0], [4.0, 7.0]]]]> : tensor<1x2x2x2xf32>
  %limited = corert.executeop(%cpu) "tf._FusedConv2D"(%pixels, %w, %bias) { fused_ops = ["BiasAdd", "Relu6"], padding = "VALID", strides = [1, 1, 1, 1] } : 1
  // CHECK: shape = [1, 2, 2, 1], values = [6.000000e+00, 6.000000e+00, 6.000000e+00, 5.000000e+00]
  %ch3 = "corert.print_tensorhandle"(%limited, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'images_of_no_size'
func @images_of_no_size() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<1x1x1x1xf32>
  %size = corert.const_dense_tensor dense<0> : tensor<2xi32>
  // expected-error @+1 {{runtime error: output dimensions must be positive}}
  %y = corert.executeop(%cpu) "tf.ResizeBilinear"(%x, %size) : 1
  tfrt.return %y : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'resize_bilinear_grad'
func @resize_bilinear_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0], [1.0]], [[1.0], [1.0]]]]> : tensor<1x2x2x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[[0.0]]]]> : tensor<1x1x1x1xf32>
  %y = corert.executeop(%cpu) "tf.ResizeBilinearGrad"(%x0, %x1) { half_pixel_centers = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 1], values = [4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'resize_nearest_neighbor_grad'
func @resize_nearest_neighbor_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1], [2], [3]]]]> : tensor<1x1x3x1xi32>
  %x1 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.ResizeNearestNeighborGrad"(%x0, %x1) { half_pixel_centers = true } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 1, 2, 1], values = [1, 5]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
