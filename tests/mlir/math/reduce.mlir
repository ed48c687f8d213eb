// Reductions, broadcasting, softmax and cross-entropy.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'columns'
func @columns() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0
    [1.0 : f32, 7.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 9.0 : f32]
  %out = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch2 = "tfrt_test.mean_axis_zero.f32"(%x, %out, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [2.500000e+00, 6.000000e+00, 6.000000e+00]
  %ch3 = tfrt_dht.print_tensor %out, %ch2
  %ch4 = "tfrt_math.column_sums.f32"(%x, %out, %ch3) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [5.000000e+00, 1.200000e+01, 1.200000e+01]
  %ch5 = tfrt_dht.print_tensor %out, %ch4
  %mean = "tfrt_test.reduce_mean.f32.1"(%out, %ch5) : (!t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [], values = [9.666667e+00]
  %ch6 = tfrt_dht.print_tensor %mean, %ch5
  %best = "tfrt_test.argmax.f32.2"(%x, %ch6) : (!t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: dtype = I32, shape = [2], values = [1, 2]
  %ch7 = tfrt_dht.print_tensor %best, %ch6
  tfrt.return
}

// CHECK-LABEL: --- Running 'spreads'
func @spreads() {
  %ch0 = tfrt.new.chain
  %v = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %v, %ch0 [7 : i32, 8 : i32]
  %shape = ts.build_shape [2 : i64, 2 : i64]
  %rows = "tfrt_test.broadcast.i32.2"(%v, %shape, %ch1) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [2, 2], values = [7, 8, 7, 8]
  %ch2 = tfrt_dht.print_tensor %rows, %ch1
  %deep = ts.build_shape [2 : i64, 1 : i64, 2 : i64]
  %cube = "tfrt_test.broadcast.i32.3"(%v, %deep, %ch2) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [2, 1, 2], values = [7, 8, 7, 8]
  %ch3 = tfrt_dht.print_tensor %cube, %ch2
  %nc = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 1 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.f32 %nc, %ch3 [1.0 : f32, 2.0 : f32]
  %nhwc = tfrt_dht.create_uninitialized_tensor.f32.4 [2 : i64, 1 : i64, 2 : i64, 1 : i64]
  %ch5 = "tfrt_test.broadcast_2d.f32"(%nc, %nhwc, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]
  %ch6 = tfrt_dht.print_tensor %nhwc, %ch5
  %ch7 = "tfrt_test.global_average_pooling.f32"(%nhwc, %nc, %ch6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.000000e+00, 2.000000e+00]
  %ch8 = tfrt_dht.print_tensor %nc, %ch7
  tfrt.return
}

// CHECK-LABEL: --- Running 'probabilities'
func @probabilities() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  // The second row would overflow without care: exp(200).
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [0.0 : f32, 0.0 : f32, 200.0 : f32, 0.0 : f32]
  %y = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch2 = "tfrt_math.softmax.f32"(%x, %y, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [5.000000e-01, 5.000000e-01, 1.000000e+00, 0.000000e+00]
  %ch3 = tfrt_dht.print_tensor %y, %ch2
  %labels = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.i32 %labels, %ch3 [1 : i32, 0 : i32]
  %losses = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch5 = "tfrt_math.softmax_cross_entropy.f32"(%x, %labels, %losses, %y, %ch4)
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [6.931472e-01, 0.000000e+00]
  %ch6 = tfrt_dht.print_tensor %losses, %ch5
  // CHECK-NEXT: values = [5.000000e-01, -5.000000e-01, 0.000000e+00, 0.000000e+00]
  %ch7 = tfrt_dht.print_tensor %y, %ch6
  %row = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 4 : i64]
  %ch8 = tfrt_dht.fill_tensor_with_constant.f32 %row, %ch7 3.0 : f32
  %ch9 = "tfrt_test.softmax_inplace.f32"(%row, %ch8) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [2.500000e-01, 2.500000e-01, 2.500000e-01, 2.500000e-01]
  %ch10 = tfrt_dht.print_tensor %row, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %v = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %shape = ts.build_shape [2 : i64, 3 : i64]
  // expected-error @+1 {{broadcast input tensor dimension and target shape mismatch: [2] vs. [2, 3]}}
  %t = "tfrt_test.broadcast.f32.2"(%v, %shape, %ch0) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  // expected-error @+1 {{MeanAxisZero output shape [2] does not match the input shape [2, 3]}}
  %ch1 = "tfrt_test.mean_axis_zero.f32"(%x, %v, %ch0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{expected a shape of rank 1, got [2, 3] of rank 2}}
  %m = "tfrt_test.reduce_mean.f32.1"(%x, %ch0) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %labels = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i32 %labels, %ch0 3 : i32
  %y = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  // expected-error @+1 {{labels}}
  %ch3 = "tfrt_math.softmax_cross_entropy.f32"(%x, %labels, %v, %y, %ch2)
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// The error of a block that runs on another thread is the kernel's.
// CHECK-LABEL: --- Running 'errors_in_blocks'
func @errors_in_blocks() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [20000 : i64, 10 : i64]
  %y = tfrt_dht.create_uninitialized_tensor.f32.2 [20000 : i64, 10 : i64]
  %losses = tfrt_dht.create_uninitialized_tensor.f32.1 [20000 : i64]
  %labels = tfrt_dht.create_uninitialized_tensor.i32.1 [20000 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %labels, %ch0 10 : i32
  // expected-error @+1 {{labels}}
  %ch2 = "tfrt_math.softmax_cross_entropy.f32"(%x, %labels, %losses, %y, %ch1)
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}
