// Depthwise convolutions, and the gradients of convolutions.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'depthwise_conv2d_native'
func @depthwise_conv2d_native() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>
  %w = corert.const_dense_tensor dense<[[[[1.0, 10.0], [100.0, 1000.0]]]]> : tensor<1x1x2x2xf32>
  %y = corert.executeop(%cpu) "tf.DepthwiseConv2dNative"(%x, %w) { padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 2, 2, 4], values = [1.000000e+00, 1.000000e+01, 2.000000e+02, 2.000000e+03, 3.000000e+00, 3.000000e+01, 4.000000e+02, 4.000000e+03, 5.000000e+00, 5.000000e+01, 6.000000e+02, 6.000000e+03, 7.000000e+00, 7.000000e+01, 8.000000e+02, 8.000000e+03]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'depthwise_conv2d_native_backprop_input'
func @depthwise_conv2d_native_backprop_input() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %sizes = corert.const_dense_tensor dense<[1, 2, 2, 2]> : tensor<4xi32>
  %w = corert.const_dense_tensor dense<[[[[1.0, 10.0], [100.0, 1000.0]]]]> : tensor<1x1x2x2xf32>
  %dy = corert.const_dense_tensor dense<1.0> : tensor<1x2x2x4xf32>
  %y = corert.executeop(%cpu) "tf.DepthwiseConv2dNativeBackpropInput"(%sizes, %w, %dy) { padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 2, 2, 2], values = [1.100000e+01, 1.100000e+03, 1.100000e+01, 1.100000e+03, 1.100000e+01, 1.100000e+03, 1.100000e+01, 1.100000e+03]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'depthwise_conv2d_native_backprop_filter'
func @depthwise_conv2d_native_backprop_filter() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>
  %sizes = corert.const_dense_tensor dense<[1, 1, 2, 2]> : tensor<4xi32>
  %dy = corert.const_dense_tensor dense<1.0> : tensor<1x2x2x4xf32>
  %y = corert.executeop(%cpu) "tf.DepthwiseConv2dNativeBackpropFilter"(%x, %sizes, %dy) { padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 1, 2, 2], values = [1.600000e+01, 1.600000e+01, 2.000000e+01, 2.000000e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'conv2d_backprop_input'
func @conv2d_backprop_input() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %sizes = corert.const_dense_tensor dense<[1, 3, 3, 1]> : tensor<4xi32>
  %w = corert.const_dense_tensor dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %dy = corert.const_dense_tensor dense<[[[[1.0], [0.0]], [[0.0], [1.0]]]]> : tensor<1x2x2x1xf32>
  %y = corert.executeop(%cpu) "tf.Conv2DBackpropInput"(%sizes, %w, %dy) { padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 3, 3, 1], values = [1.000000e+00, 2.000000e+00, 0.000000e+00, 3.000000e+00, 5.000000e+00, 2.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'conv2d_backprop_filter'
func @conv2d_backprop_filter() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>
  %sizes = corert.const_dense_tensor dense<[2, 2, 1, 1]> : tensor<4xi32>
  %dy = corert.const_dense_tensor dense<[[[[1.0], [0.0]], [[0.0], [1.0]]]]> : tensor<1x2x2x1xf32>
  %y = corert.executeop(%cpu) "tf.Conv2DBackpropFilter"(%x, %sizes, %dy) { padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [2, 2, 1, 1], values = [6.000000e+00, 8.000000e+00, 1.200000e+01, 1.400000e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'prepared_conv2d'
func @prepared_conv2d() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %w = corert.const_dense_tensor dense<[[[[1.0, -1.0]]]]> : tensor<1x1x1x2xf32>
  %b = corert.const_dense_tensor dense<[0.5, 2.5]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "tfrt.FusedConv2D"(%x, %w, %b) { activation = "Relu", padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 2, 2, 2], values = [1.500000e+00, 1.500000e+00, 2.500000e+00, 5.000000e-01, 3.500000e+00, 0.000000e+00, 4.500000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %r = corert.executeop(%cpu) "tfrt.FusedConv2D"(%x, %w, %b, %y) { padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 2, 2, 2], values = [3.000000e+00, 3.000000e+00, 5.000000e+00, 1.000000e+00, 7.000000e+00, -5.000000e-01, 9.000000e+00, -1.500000e+00]
  %ch2 = "corert.print_tensorhandle"(%r, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
