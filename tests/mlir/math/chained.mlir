// Kernels that give new tensors, ordered by the chains of their chain forms: what they read is overwritten behind the chain.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'reductions_f32'
func @reductions_f32() {
  %ch0 = tfrt.new.chain
  %v = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %v, %ch0 [1.0 : f32, 3.0 : f32]
  %mean, %ch2 = tfrt_test.reduce_mean.f32.1.chained %v, %ch1
  %two = ts.build_shape [2 : i64, 2 : i64]
  %rows, %ch3 = tfrt_test.broadcast.f32.2.chained %v, %two, %ch2
  %three = ts.build_shape [1 : i64, 2 : i64, 2 : i64]
  %cube, %ch4 = tfrt_test.broadcast.f32.3.chained %v, %three, %ch3
  %best, %ch5 = tfrt_test.argmax.f32.2.chained %rows, %ch4
  %ch6 = tfrt_dht.fill_tensor_with_constant.f32 %v, %ch5 0.0 : f32
  // CHECK-NEXT: values = [2.000000e+00]
  %ch7 = tfrt_dht.print_tensor %mean, %ch6
  // CHECK-NEXT: shape = [2, 2], values = [1.000000e+00, 3.000000e+00, 1.000000e+00, 3.000000e+00]
  %ch8 = tfrt_dht.print_tensor %rows, %ch7
  // CHECK-NEXT: shape = [1, 2, 2], values = [1.000000e+00, 3.000000e+00, 1.000000e+00, 3.000000e+00]
  %ch9 = tfrt_dht.print_tensor %cube, %ch8
  // CHECK-NEXT: values = [1, 1]
  %ch10 = tfrt_dht.print_tensor %best, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'reductions_i32'
func @reductions_i32() {
  %ch0 = tfrt.new.chain
  %v = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %v, %ch0 [1 : i32, 3 : i32]
  %mean, %ch2 = tfrt_test.reduce_mean.i32.1.chained %v, %ch1
  %two = ts.build_shape [2 : i64, 2 : i64]
  %rows, %ch3 = tfrt_test.broadcast.i32.2.chained %v, %two, %ch2
  %three = ts.build_shape [1 : i64, 2 : i64, 2 : i64]
  %cube, %ch4 = tfrt_test.broadcast.i32.3.chained %v, %three, %ch3
  %best, %ch5 = tfrt_test.argmax.i32.2.chained %rows, %ch4
  %ch6 = tfrt_dht.fill_tensor_with_constant.i32 %v, %ch5 0 : i32
  // CHECK-NEXT: values = [2]
  %ch7 = tfrt_dht.print_tensor %mean, %ch6
  // CHECK-NEXT: shape = [2, 2], values = [1, 3, 1, 3]
  %ch8 = tfrt_dht.print_tensor %rows, %ch7
  // CHECK-NEXT: shape = [1, 2, 2], values = [1, 3, 1, 3]
  %ch9 = tfrt_dht.print_tensor %cube, %ch8
  // CHECK-NEXT: values = [1, 1]
  %ch10 = tfrt_dht.print_tensor %best, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'reductions_i64'
func @reductions_i64() {
  %ch0 = tfrt.new.chain
  %v = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i64 %v, %ch0 [1 : i64, 3 : i64]
  %mean, %ch2 = tfrt_test.reduce_mean.i64.1.chained %v, %ch1
  %two = ts.build_shape [2 : i64, 2 : i64]
  %rows, %ch3 = tfrt_test.broadcast.i64.2.chained %v, %two, %ch2
  %three = ts.build_shape [1 : i64, 2 : i64, 2 : i64]
  %cube, %ch4 = tfrt_test.broadcast.i64.3.chained %v, %three, %ch3
  %best, %ch5 = tfrt_test.argmax.i64.2.chained %rows, %ch4
  %ch6 = tfrt_dht.fill_tensor_with_constant.i64 %v, %ch5 0 : i64
  // CHECK-NEXT: values = [2]
  %ch7 = tfrt_dht.print_tensor %mean, %ch6
  // CHECK-NEXT: shape = [2, 2], values = [1, 3, 1, 3]
  %ch8 = tfrt_dht.print_tensor %rows, %ch7
  // CHECK-NEXT: shape = [1, 2, 2], values = [1, 3, 1, 3]
  %ch9 = tfrt_dht.print_tensor %cube, %ch8
  // CHECK-NEXT: values = [1, 1]
  %ch10 = tfrt_dht.print_tensor %best, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'images'
func @images() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [2.0 : f32, 4.0 : f32]
  %filter = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 1 : i64, 1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %filter, %ch1 3.0 : f32
  %one = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %one, %ch2 1.0 : f32
  %packed, %ch4 = tfrt_math.conv2d.pack.f32.chained %filter, %one, %ch3
  %folded, %ch5 = tfrt_math.conv2d.pack.batch_norm.f32.chained %filter, %one, %one, %one, %one, %ch4 0.0 : f32
  %ch6 = tfrt_dht.fill_tensor_with_constant.f32 %filter, %ch5 0.0 : f32
  %y, %ch7 = tfrt_math.conv2d.f32.chained %x, %packed, %ch6 { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [1 : i64, 1 : i64] }
  %z, %ch8 = tfrt_math.conv2d.residual.f32.chained %x, %folded, %x, %ch7 { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [1 : i64, 1 : i64] }
  %max, %ch9 = tfrt_math.max_pool_2d.f32.chained %x, %ch8 { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], strides = [1 : i64, 1 : i64], window = [1 : i64, 2 : i64] }
  %mean, %ch10 = tfrt_math.avg_pool_2d.f32.chained %x, %ch9 { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], strides = [1 : i64, 1 : i64], window = [1 : i64, 2 : i64] }
  %ch11 = tfrt_dht.fill_tensor_with_constant.f32 %x, %ch10 0.0 : f32
  // CHECK-NEXT: shape = [1, 1, 2, 1], values = [7.000000e+00, 1.300000e+01]
  %ch12 = tfrt_dht.print_tensor %y, %ch11
  // CHECK-NEXT: shape = [1, 1, 2, 1], values = [8.000000e+00, 1.600000e+01]
  %ch13 = tfrt_dht.print_tensor %z, %ch12
  // CHECK-NEXT: values = [4.000000e+00]
  %ch14 = tfrt_dht.print_tensor %max, %ch13
  // CHECK-NEXT: values = [3.000000e+00]
  %ch15 = tfrt_dht.print_tensor %mean, %ch14
  tfrt.return
}

// An error is that of the chain, too.
// CHECK-LABEL: --- Running 'errors'
func @errors() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  // expected-error @+1 {{expected a shape of rank 2, got [2] of rank 1}}
  %best, %ch1 = tfrt_test.argmax.f32.2.chained %x, %ch0
  // CHECK-NEXT: 'errors' returned <<error: expected a shape of rank 2, got [2] of rank 1>>
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'prepared_images'
func @prepared_images() {
  %ch0 = tfrt.new.chain
  %image = tfrt_dht.create_uninitialized_tensor.ui8.3 [1 : i64, 1 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.ui8 %image, %ch0 [1 : ui8, 2 : ui8, 3 : ui8]
  %x, %ch2 = tfrt_image.prepare.f32.chained %image, %ch1 { bgr = false, crop = 1 : i64, deviation = [1.0 : f32, 1.0 : f32, 1.0 : f32], mean = [0.0 : f32, 0.0 : f32, 0.0 : f32], side = 1 : i64 }
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui8 %image, %ch2 0 : ui8
  // CHECK-NEXT: shape = [1, 1, 1, 3], values = [1.000000e+00, 2.000000e+00, 3.000000e+00]
  %ch4 = tfrt_dht.print_tensor %x, %ch3
  tfrt.return
}
