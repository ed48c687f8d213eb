// Parts of images by boxes, and the boxes that are kept.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'crop_and_resize'
func @crop_and_resize() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %image = corert.const_dense_tensor dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %boxes = corert.const_dense_tensor dense<[[0.0, 0.0, 1.0, 1.0], [0.5, 0.0, 0.5, 2.0]]> : tensor<2x4xf32>
  %images = corert.const_dense_tensor dense<0> : tensor<2xi32>
  %size = corert.const_dense_tensor dense<[1, 3]> : tensor<2xi32>
  %crops = corert.executeop(%cpu) "tf.CropAndResize"(%image, %boxes, %images, %size) { extrapolation_value = 9.0 : f32 } : 1
  // CHECK: shape = [2, 1, 3, 1], values = [2.000000e+00, 2.500000e+00, 3.000000e+00, 2.000000e+00, 3.000000e+00, 9.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%crops, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %two = corert.const_dense_tensor dense<2> : tensor<2xi32>
  %nearest = corert.executeop(%cpu) "tf.CropAndResize"(%image, %boxes, %images, %two) { method = "nearest" } : 1
  // CHECK: shape = [2, 2, 2, 1], values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 3.000000e+00, 0.000000e+00, 3.000000e+00, 0.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%nearest, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'crop_of_no_image'
func @crop_of_no_image() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %image = corert.const_dense_tensor dense<1.0> : tensor<1x2x2x1xf32>
  %boxes = corert.const_dense_tensor dense<[[0.0, 0.0, 1.0, 1.0]]> : tensor<1x4xf32>
  %images = corert.const_dense_tensor dense<1> : tensor<1xi32>
  %size = corert.const_dense_tensor dense<2> : tensor<2xi32>
  // expected-error @+1 {{runtime error: box_ind is 1, there are 1 images}}
  %crops = corert.executeop(%cpu) "tf.CropAndResize"(%image, %boxes, %images, %size) : 1
  tfrt.return %crops : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'combined_non_max_suppression'
func @combined_non_max_suppression() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %boxes = corert.const_dense_tensor dense<[[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 0.9]], [[2.0, 2.0, 3.0, 3.0]]]]> : tensor<1x3x1x4xf32>
  %scores = corert.const_dense_tensor dense<[[[0.5, 0.75], [0.25, 0.0], [0.0, 0.25]]]> : tensor<1x3x2xf32>
  %per_class = corert.const_dense_tensor dense<2> : tensor<i32>
  %total = corert.const_dense_tensor dense<4> : tensor<i32>
  %overlap = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %least = corert.const_dense_tensor dense<0.1> : tensor<f32>
  %kept:4 = corert.executeop(%cpu) "tf.CombinedNonMaxSuppression"(%boxes, %scores, %per_class, %total, %overlap, %least) { clip_boxes = false } : 4
  // CHECK: shape = [1, 4, 4], values = [0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 3.000000e+00, 3.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%kept#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: values = [7.500000e-01, 5.000000e-01, 2.500000e-01, 0.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%kept#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: values = [1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00]
  %ch3 = "corert.print_tensorhandle"(%kept#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: values = [3]
  %ch4 = "corert.print_tensorhandle"(%kept#3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}
