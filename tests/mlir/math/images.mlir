// Kernels of convolutional networks: images NHWC, filters HWIO.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'layouts'
func @layouts() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %flat = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 4 : i64]
  %ch2 = "tfrt_test.flatten.f32"(%x, %flat, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: shape = [1, 4], values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch3 = tfrt_dht.print_tensor %flat, %ch2
  %padded = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 4 : i64, 1 : i64]
  %ch4 = "eigen.zero_padding.f32"(%x, %padded, %ch3) { padding = [0 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00, 0.000000e+00]
  %ch5 = tfrt_dht.print_tensor %padded, %ch4
  %tall = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 4 : i64, 2 : i64, 1 : i64]
  %ch6 = "tfrt_test.zero_padding.f32"(%x, %tall, %ch5) { padding = [1 : i32, 0 : i32] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch7 = tfrt_dht.print_tensor %tall, %ch6
  %m = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %ch8 = tfrt_dht.set_tensor_with_constant_values.f32 %m, %ch7
    [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32]
  %mt = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 2 : i64]
  %ch9 = "tfrt_test.tensor_transpose.f32"(%m, %mt, %ch8) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.000000e+00, 4.000000e+00, 2.000000e+00, 5.000000e+00, 3.000000e+00, 6.000000e+00]
  %ch10 = tfrt_dht.print_tensor %mt, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'slices'
func @slices() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i32.3 [2 : i64, 2 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %x, %ch0 [0 : i32, 1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32,
    6 : i32, 7 : i32, 8 : i32, 9 : i32, 10 : i32, 11 : i32]
  %begin = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i64 %begin, %ch1 [0 : i64, 1 : i64, 1 : i64]
  %y = tfrt_dht.create_uninitialized_tensor.i32.3 [2 : i64, 1 : i64, 2 : i64]
  %ch3 = "tfrt_test.slice_inplace.i32.3"(%x, %begin, %ch2, %y)
    : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  // CHECK-NEXT: shape = [2, 1, 2], values = [4, 5, 10, 11]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %ch5 = tfrt_dht.fill_tensor_with_constant.i64 %begin, %ch4 2 : i64
  // expected-error @+1 {{a slice [2, 1, 2] at [2, 2, 2] of a tensor [2, 2, 3] lies outside}}
  %ch6 = "tfrt_test.slice_inplace.i32.3"(%x, %begin, %ch5, %y)
    : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  tfrt.return
}

// CHECK-LABEL: --- Running 'convolutions'
func @convolutions() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 3 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32,
    4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %w = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %w, %ch1 [1.0 : f32, 0.0 : f32, 0.0 : f32, -1.0 : f32]
  %y = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch3 = "eigen.conv2d.f32"(%x, %w, %y, %ch2) { padding = "valid", strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [-4.000000e+00, -4.000000e+00, -4.000000e+00, -4.000000e+00]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %bias = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.f32 %bias, %ch4 10.0 : f32
  %ch6 = "eigen.conv2d.bias.f32"(%x, %w, %bias, %y, %ch5) { padding = "same", strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [6.000000e+00, 1.300000e+01, 1.700000e+01, 1.900000e+01]
  %ch7 = tfrt_dht.print_tensor %y, %ch6
  %one = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch8 = tfrt_dht.fill_tensor_with_constant.f32 %one, %ch7 1.0 : f32
  %three = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.f32 %three, %ch8 3.0 : f32
  // (conv - 1) / sqrt(3 + 1) · 3 + 10
  %ch10 = "eigen.conv2d.batch_norm.f32"(%x, %w, %three, %bias, %one, %three, %y, %ch9)
    { epsilon = 1.0 : f32, padding = "valid", strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [2.500000e+00, 2.500000e+00, 2.500000e+00, 2.500000e+00]
  %ch11 = tfrt_dht.print_tensor %y, %ch10
  %ch12 = "eigen.conv2d.batch_norm.relu.f32"(%x, %w, %three, %one, %one, %three, %y, %ch11)
    { epsilon = 1.0 : f32, padding = "valid", strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch13 = tfrt_dht.print_tensor %y, %ch12
  tfrt.return
}

// CHECK-LABEL: --- Running 'gradients'
func @gradients() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 3 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32,
    4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %dy = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %dy, %ch1 [1.0 : f32, 0.0 : f32, 0.0 : f32, 2.0 : f32]
  %dw = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch3 = "eigen.conv2d.grad.filter.f32"(%dy, %x, %dw, %ch2) { padding = "valid", strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.100000e+01, 1.400000e+01, 2.000000e+01, 2.300000e+01]
  %ch4 = tfrt_dht.print_tensor %dw, %ch3
  %dx = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 3 : i64, 1 : i64]
  %w = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %w, %ch4 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %ch6 = "eigen.conv2d.grad.input.f32"(%dy, %w, %dx, %ch5) { padding = "valid", strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.000000e+00, 2.000000e+00, 0.000000e+00, 3.000000e+00, 6.000000e+00, 4.000000e+00, 0.000000e+00, 6.000000e+00, 8.000000e+00]
  %ch7 = tfrt_dht.print_tensor %dx, %ch6
  tfrt.return
}

// CHECK-LABEL: --- Running 'pooling'
func @pooling() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 3 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [-1.0 : f32, -2.0 : f32, -3.0 : f32,
    4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %y = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 2 : i64, 1 : i64]
  %ch2 = "eigen.max_pooling_2d.f32"(%x, %y, %ch1) { padding = "valid", pool_size = [1 : i64, 2 : i64], strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [-1.000000e+00, -2.000000e+00, 5.000000e+00, 6.000000e+00, 8.000000e+00, 9.000000e+00]
  %ch3 = tfrt_dht.print_tensor %y, %ch2
  %z = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch4 = "tfrt_test.max_pooling_2d.f32"(%x, %z, %ch3) { padding = "same", pool_size = [2 : i32, 2 : i32], strides = [2 : i32, 2 : i32] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [5.000000e+00, 6.000000e+00, 8.000000e+00, 9.000000e+00]
  %ch5 = tfrt_dht.print_tensor %z, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'normalization'
func @normalization() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 1 : i64, 1 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 3.0 : f32]
  %one = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %one, %ch1 1.0 : f32
  %two = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %two, %ch2 2.0 : f32
  %dx = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 1 : i64, 1 : i64, 1 : i64]
  %dy = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 1 : i64, 1 : i64, 1 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.f32 %dy, %ch3 [1.0 : f32, 2.0 : f32]
  %dscale = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %doffset = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  // Mean 2, variance 1, scale 2.
  %ch5, %ch6, %ch7 = "eigen.batch_norm.grad.f32"(%dy, %x, %two, %two, %one, %ch4, %dx, %dscale, %doffset)
    { epsilon = 0.0 : f32 } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain,
      !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain)
  // CHECK-NEXT: values = [1.000000e+00]
  %ch8 = tfrt_dht.print_tensor %dscale, %ch6
  %ch9 = tfrt.merge.chains %ch7, %ch8
  // CHECK-NEXT: values = [3.000000e+00]
  %ch10 = tfrt_dht.print_tensor %doffset, %ch9
  %ch11 = tfrt.merge.chains %ch5, %ch10
  // CHECK-NEXT: values = [0.000000e+00, 0.000000e+00]
  %ch12 = tfrt_dht.print_tensor %dx, %ch11
  %ch13 = "eigen.batch_norm.f32"(%x, %two, %one, %two, %one, %ch12) { epsilon = 0.0 : f32 }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [-1.000000e+00, 3.000000e+00]
  %ch14 = tfrt_dht.print_tensor %x, %ch13
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 3 : i64, 1 : i64]
  %y = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  // expected-error @+1 {{MaxPool2D padding 'half' is not recognized}}
  %ch1 = "eigen.max_pooling_2d.f32"(%x, %y, %ch0) { padding = "half", pool_size = [2 : i64, 2 : i64], strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{MaxPool2D output shape [1, 2, 2, 1] does not match the expected output shape [1, 1, 1, 1]}}
  %ch2 = "eigen.max_pooling_2d.f32"(%x, %y, %ch0) { padding = "valid", pool_size = [3 : i64, 3 : i64], strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{MaxPool2D expects strides to be at least 1}}
  %ch3 = "eigen.max_pooling_2d.f32"(%x, %y, %ch0) { padding = "valid", pool_size = [3 : i64, 3 : i64], strides = [0 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{Dimensions do not match: input channels is 1 and kernel depth is 3}}
  %ch4 = "eigen.conv2d.f32"(%x, %x, %y, %ch0) { padding = "valid", strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{ZeroPadding output shape [1, 2, 2, 1] does not match the expected output shape [1, 5, 5, 1]}}
  %ch5 = "eigen.zero_padding.f32"(%x, %y, %ch0) { padding = [1 : i64, 1 : i64] }
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %v = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  // expected-error @+1 {{Tensor shapes do not match: scale is [2] and the input's channels is [1]}}
  %ch6 = "eigen.batch_norm.f32"(%x, %v, %v, %v, %v, %ch0) { epsilon = 0.0 : f32 }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// CHECK-LABEL: --- Running 'prepared_convolutions'
func @prepared_convolutions() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %filter = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 2 : i64, 1 : i64, 2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %filter, %ch1 [1.0 : f32, -1.0 : f32, 0.0 : f32, 0.0 : f32,
    0.0 : f32, 0.0 : f32, 1.0 : f32, 1.0 : f32]
  %bias = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %bias, %ch2 [0.5 : f32, -3.5 : f32]
  %packed = "tfrt_math.conv2d.pack.f32"(%filter, %bias, %ch3)
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %y = "tfrt_math.conv2d.f32"(%x, %packed, %ch3) { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [1, 1, 1, 2], values = [5.500000e+00, -5.000000e-01]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %z = "tfrt_math.conv2d.residual.f32"(%x, %packed, %y, %ch4)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [1, 1, 1, 2], values = [1.100000e+01, 0.000000e+00]
  %ch5 = tfrt_dht.print_tensor %z, %ch4
  %four = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch6 = tfrt_dht.fill_tensor_with_constant.f32 %four, %ch5 4.0 : f32
  %folded = "tfrt_math.conv2d.pack.batch_norm.f32"(%filter, %four, %bias, %bias, %four, %ch6) { epsilon = 0.0 : f32 }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %w = "tfrt_math.conv2d.f32"(%x, %folded, %ch6) { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [1, 1, 1, 2], values = [9.500000e+00, 9.500000e+00]
  %ch7 = tfrt_dht.print_tensor %w, %ch6
  // expected-error @+1 {{residual shape is [2] and computed output shape is [1, 1, 1, 2]}}
  %wrong = "tfrt_math.conv2d.residual.f32"(%x, %packed, %bias, %ch7)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  tfrt.return
}

// CHECK-LABEL: --- Running 'matrices'
func @matrices() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 1 : i64, 2 : i64, 1 : i64]
  %matrix = "tfrt_math.as_matrix"(%x) : (!t.tensor) -> !t.tensor
  // The elements are those of the other tensor.
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  // CHECK-NEXT: shape = [2, 2], values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch2 = tfrt_dht.print_tensor %matrix, %ch1
  %none = tfrt_dht.create_uninitialized_tensor.f32.3 [0 : i64, 2 : i64, 3 : i64]
  %empty = "tfrt_math.as_matrix"(%none) : (!t.tensor) -> !t.tensor
  // CHECK-NEXT: shape = [0, 6], values = []
  %ch3 = tfrt_dht.print_tensor %empty, %ch2
  %huge = tfrt_dht.create_uninitialized_tensor.f32.3 [0 : i64, 8589934592 : i64, 8589934592 : i64]
  // expected-error @+1 {{shape [8589934592, 8589934592] has too many elements to count}}
  %lost = "tfrt_math.as_matrix"(%huge) : (!t.tensor) -> !t.tensor
  %number = tfrt_dht.create_uninitialized_tensor.f32.0 []
  // expected-error @+1 {{a number has no rows}}
  %wrong = "tfrt_math.as_matrix"(%number) : (!t.tensor) -> !t.tensor
  tfrt.return
}

// CHECK-LABEL: --- Running 'poolings'
func @poolings() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [-1.0 : f32, -2.0 : f32, -3.0 : f32, -4.0 : f32]
  %max = "tfrt_math.max_pool_2d.f32"(%x, %ch1)
    { padding = [1 : i64, 0 : i64, 1 : i64, 0 : i64], strides = [1 : i64, 1 : i64], window = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [1, 2, 2, 1], values = [-1.000000e+00, -1.000000e+00, -1.000000e+00, -1.000000e+00]
  %ch2 = tfrt_dht.print_tensor %max, %ch1
  %mean = "tfrt_math.avg_pool_2d.f32"(%x, %ch2)
    { padding = [1 : i64, 0 : i64, 1 : i64, 0 : i64], strides = [1 : i64, 1 : i64], window = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: values = [-1.000000e+00, -1.500000e+00, -2.000000e+00, -2.500000e+00]
  %ch3 = tfrt_dht.print_tensor %mean, %ch2
  // expected-error @+1 {{Pool2D expects padding to have 4 elements of at least 0, got [1]}}
  %wrong = "tfrt_math.max_pool_2d.f32"(%x, %ch3)
    { padding = [1 : i64], strides = [1 : i64, 1 : i64], window = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt.chain) -> !t.tensor
  tfrt.return
}
