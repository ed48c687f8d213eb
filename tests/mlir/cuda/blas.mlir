// BLAS in all types.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'vectors_f32'
func @vectors_f32() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %blas = tfrt_cuda.blas.create %context
  %ch6 = tfrt_cuda.blas.set_stream %blas, %stream, %ch5
  %x_host = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch7a = tfrt_dht.set_tensor_with_constant_values.f32 %x_host, %ch6 [1.0 : f32, 2.0 : f32, 3.0 : f32]
  %x, %ch7 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %x_host, %ch7a
  %y_host = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch8a = tfrt_dht.set_tensor_with_constant_values.f32 %y_host, %ch7 [10.0 : f32, 20.0 : f32, 30.0 : f32]
  %y, %ch8 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %y_host, %ch8a
  %n = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %back = tfrt.constant.i32 -1
  %two = tfrt.constant.f32 2.0
  %ch9 = tfrt_cuda.blas.scal.f32 %context, %blas, %n, %two, %x, %one, %ch8
  // x is read from its end.
  %ch10 = tfrt_cuda.blas.axpy.f32 %context, %blas, %n, %two, %x, %back, %y, %one, %ch9
  %bytes = tfrt.constant.i64 12
  %result_bytes, %ch11 = tfrt_dht.get_buffer %y_host, %ch10
  %ch12 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %y, %bytes, %stream, %ch11
  // CHECK-NEXT: values = [2.200000e+01, 2.800000e+01, 3.400000e+01]
  %ch13 = tfrt_dht.print_tensor %y_host, %ch12
  %many = tfrt.constant.i32 4
  // expected-error @+1 {{CUBLAS_STATUS_INVALID_VALUE: x takes 4 elements}}
  %ch14 = tfrt_cuda.blas.axpy.f32 %context, %blas, %many, %two, %x, %one, %y, %one, %ch13
  %ch15 = tfrt_cuda.blas.destroy %blas, %ch13
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the BLAS handle was destroyed}}
  %ch16 = tfrt_cuda.blas.scal.f32 %context, %blas, %n, %two, %x, %one, %ch15
  tfrt.return %ch15 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'vectors_f64'
func @vectors_f64() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %blas = tfrt_cuda.blas.create %context
  %ch6 = tfrt_cuda.blas.set_stream %blas, %stream, %ch5
  %x_host = tfrt_dht.create_uninitialized_tensor.f64.1 [3 : i64]
  %ch7a = tfrt_dht.set_tensor_with_constant_values.f64 %x_host, %ch6 [1.0 : f64, 2.0 : f64, 3.0 : f64]
  %x, %ch7 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %x_host, %ch7a
  %y_host = tfrt_dht.create_uninitialized_tensor.f64.1 [3 : i64]
  %ch8a = tfrt_dht.set_tensor_with_constant_values.f64 %y_host, %ch7 [10.0 : f64, 20.0 : f64, 30.0 : f64]
  %y, %ch8 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %y_host, %ch8a
  %n = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %back = tfrt.constant.i32 -1
  %two = tfrt.constant.f64 2.0
  %ch9 = tfrt_cuda.blas.scal.f64 %context, %blas, %n, %two, %x, %one, %ch8
  // x is read from its end.
  %ch10 = tfrt_cuda.blas.axpy.f64 %context, %blas, %n, %two, %x, %back, %y, %one, %ch9
  %bytes = tfrt.constant.i64 24
  %result_bytes, %ch11 = tfrt_dht.get_buffer %y_host, %ch10
  %ch12 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %y, %bytes, %stream, %ch11
  // CHECK-NEXT: values = [2.200000e+01, 2.800000e+01, 3.400000e+01]
  %ch13 = tfrt_dht.print_tensor %y_host, %ch12
  %many = tfrt.constant.i32 4
  // expected-error @+1 {{CUBLAS_STATUS_INVALID_VALUE: x takes 4 elements}}
  %ch14 = tfrt_cuda.blas.axpy.f64 %context, %blas, %many, %two, %x, %one, %y, %one, %ch13
  %ch15 = tfrt_cuda.blas.destroy %blas, %ch13
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the BLAS handle was destroyed}}
  %ch16 = tfrt_cuda.blas.scal.f64 %context, %blas, %n, %two, %x, %one, %ch15
  tfrt.return %ch15 : !tfrt.chain
}

// A is 2 x 3, B is 3 x 2 and given as its transpose; column-major. Then two products at once.
// CHECK-LABEL: --- Running 'products_f16'
func @products_f16() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %blas = tfrt_cuda.blas.create %context
  %ch6 = tfrt_cuda.blas.set_stream %blas, %stream, %ch5
  %a_host = tfrt_dht.create_uninitialized_tensor.f16.1 [6 : i64]
  %ch7a = tfrt_dht.set_tensor_with_constant_values.f16 %a_host, %ch6 [1.0 : f16, 4.0 : f16, 2.0 : f16, 5.0 : f16, 3.0 : f16, 6.0 : f16]
  %a, %ch7 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %a_host, %ch7a
  %b_host = tfrt_dht.create_uninitialized_tensor.f16.1 [6 : i64]
  %ch8a = tfrt_dht.set_tensor_with_constant_values.f16 %b_host, %ch7 [1.0 : f16, 0.0 : f16, 0.0 : f16, 1.0 : f16, 1.0 : f16, 0.0 : f16]
  %b, %ch8 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %b_host, %ch8a
  %c_host = tfrt_dht.create_uninitialized_tensor.f16.1 [4 : i64]
  %ch9a = tfrt_dht.set_tensor_with_constant_values.f16 %c_host, %ch8 [1.0 : f16, 1.0 : f16, 1.0 : f16, 1.0 : f16]
  %c, %ch9 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %c_host, %ch9a
  %plain = tfrt.constant.i32 0
  %transposed = tfrt.constant.i32 1
  %m = tfrt.constant.i32 2
  %k = tfrt.constant.i32 3
  %alpha = tfrt.constant.f16 1.0
  %beta = tfrt.constant.f16 2.0
  %ch10 = tfrt_cuda.blas.gemm.f16 %context, %blas, %plain, %transposed, %m, %m, %k, %alpha, %a, %m, %b, %m, %beta, %c, %m, %ch9
  %bytes = tfrt.constant.i64 8
  %result_bytes, %ch11 = tfrt_dht.get_buffer %c_host, %ch10
  %ch12 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch11
  // CHECK-NEXT: values = [{{6(\.0+e\+00)?}}, {{1.2e?|12|1\.20+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch13 = tfrt_dht.print_tensor %c_host, %ch12
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i64 2
  %one64 = tfrt.constant.i64 1
  // Two products of a column of two numbers by one number.
  %ch14 = tfrt_cuda.blas.gemm.strided_batched.f16 %context, %blas, %plain, %plain, %m, %one, %one, %beta, %a, %m, %two, %b, %one, %one64, %alpha, %c, %m, %two, %m, %ch13
  %ch15 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch14
  // CHECK-NEXT: values = [{{8(\.0+e\+00)?}}, {{20|2\.0+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch16 = tfrt_dht.print_tensor %c_host, %ch15
  %ch17 = tfrt_cuda.allocator.destroy %allocator, %ch16
  tfrt.return %ch17 : !tfrt.chain
}

// A is 2 x 3, B is 3 x 2 and given as its transpose; column-major. Then two products at once.
// CHECK-LABEL: --- Running 'products_bf16'
func @products_bf16() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %blas = tfrt_cuda.blas.create %context
  %ch6 = tfrt_cuda.blas.set_stream %blas, %stream, %ch5
  %a_host = tfrt_dht.create_uninitialized_tensor.bf16.1 [6 : i64]
  %ch7a = tfrt_dht.set_tensor_with_constant_values.bf16 %a_host, %ch6 [1.0 : bf16, 4.0 : bf16, 2.0 : bf16, 5.0 : bf16, 3.0 : bf16, 6.0 : bf16]
  %a, %ch7 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %a_host, %ch7a
  %b_host = tfrt_dht.create_uninitialized_tensor.bf16.1 [6 : i64]
  %ch8a = tfrt_dht.set_tensor_with_constant_values.bf16 %b_host, %ch7 [1.0 : bf16, 0.0 : bf16, 0.0 : bf16, 1.0 : bf16, 1.0 : bf16, 0.0 : bf16]
  %b, %ch8 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %b_host, %ch8a
  %c_host = tfrt_dht.create_uninitialized_tensor.bf16.1 [4 : i64]
  %ch9a = tfrt_dht.set_tensor_with_constant_values.bf16 %c_host, %ch8 [1.0 : bf16, 1.0 : bf16, 1.0 : bf16, 1.0 : bf16]
  %c, %ch9 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %c_host, %ch9a
  %plain = tfrt.constant.i32 0
  %transposed = tfrt.constant.i32 1
  %m = tfrt.constant.i32 2
  %k = tfrt.constant.i32 3
  %alpha = tfrt.constant.bf16 1.0
  %beta = tfrt.constant.bf16 2.0
  %ch10 = tfrt_cuda.blas.gemm.bf16 %context, %blas, %plain, %transposed, %m, %m, %k, %alpha, %a, %m, %b, %m, %beta, %c, %m, %ch9
  %bytes = tfrt.constant.i64 8
  %result_bytes, %ch11 = tfrt_dht.get_buffer %c_host, %ch10
  %ch12 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch11
  // CHECK-NEXT: values = [{{6(\.0+e\+00)?}}, {{1.2e?|12|1\.20+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch13 = tfrt_dht.print_tensor %c_host, %ch12
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i64 2
  %one64 = tfrt.constant.i64 1
  // Two products of a column of two numbers by one number.
  %ch14 = tfrt_cuda.blas.gemm.strided_batched.bf16 %context, %blas, %plain, %plain, %m, %one, %one, %beta, %a, %m, %two, %b, %one, %one64, %alpha, %c, %m, %two, %m, %ch13
  %ch15 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch14
  // CHECK-NEXT: values = [{{8(\.0+e\+00)?}}, {{20|2\.0+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch16 = tfrt_dht.print_tensor %c_host, %ch15
  %ch17 = tfrt_cuda.allocator.destroy %allocator, %ch16
  tfrt.return %ch17 : !tfrt.chain
}

// A is 2 x 3, B is 3 x 2 and given as its transpose; column-major. Then two products at once.
// CHECK-LABEL: --- Running 'products_f32'
func @products_f32() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %blas = tfrt_cuda.blas.create %context
  %ch6 = tfrt_cuda.blas.set_stream %blas, %stream, %ch5
  %a_host = tfrt_dht.create_uninitialized_tensor.f32.1 [6 : i64]
  %ch7a = tfrt_dht.set_tensor_with_constant_values.f32 %a_host, %ch6 [1.0 : f32, 4.0 : f32, 2.0 : f32, 5.0 : f32, 3.0 : f32, 6.0 : f32]
  %a, %ch7 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %a_host, %ch7a
  %b_host = tfrt_dht.create_uninitialized_tensor.f32.1 [6 : i64]
  %ch8a = tfrt_dht.set_tensor_with_constant_values.f32 %b_host, %ch7 [1.0 : f32, 0.0 : f32, 0.0 : f32, 1.0 : f32, 1.0 : f32, 0.0 : f32]
  %b, %ch8 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %b_host, %ch8a
  %c_host = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch9a = tfrt_dht.set_tensor_with_constant_values.f32 %c_host, %ch8 [1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32]
  %c, %ch9 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %c_host, %ch9a
  %plain = tfrt.constant.i32 0
  %transposed = tfrt.constant.i32 1
  %m = tfrt.constant.i32 2
  %k = tfrt.constant.i32 3
  %alpha = tfrt.constant.f32 1.0
  %beta = tfrt.constant.f32 2.0
  %ch10 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %transposed, %m, %m, %k, %alpha, %a, %m, %b, %m, %beta, %c, %m, %ch9
  %bytes = tfrt.constant.i64 16
  %result_bytes, %ch11 = tfrt_dht.get_buffer %c_host, %ch10
  %ch12 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch11
  // CHECK-NEXT: values = [{{6(\.0+e\+00)?}}, {{1.2e?|12|1\.20+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch13 = tfrt_dht.print_tensor %c_host, %ch12
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i64 2
  %one64 = tfrt.constant.i64 1
  // Two products of a column of two numbers by one number.
  %ch14 = tfrt_cuda.blas.gemm.strided_batched.f32 %context, %blas, %plain, %plain, %m, %one, %one, %beta, %a, %m, %two, %b, %one, %one64, %alpha, %c, %m, %two, %m, %ch13
  %ch15 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch14
  // CHECK-NEXT: values = [{{8(\.0+e\+00)?}}, {{20|2\.0+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch16 = tfrt_dht.print_tensor %c_host, %ch15
  %ch17 = tfrt_cuda.allocator.destroy %allocator, %ch16
  tfrt.return %ch17 : !tfrt.chain
}

// A is 2 x 3, B is 3 x 2 and given as its transpose; column-major. Then two products at once.
// CHECK-LABEL: --- Running 'products_f64'
func @products_f64() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %blas = tfrt_cuda.blas.create %context
  %ch6 = tfrt_cuda.blas.set_stream %blas, %stream, %ch5
  %a_host = tfrt_dht.create_uninitialized_tensor.f64.1 [6 : i64]
  %ch7a = tfrt_dht.set_tensor_with_constant_values.f64 %a_host, %ch6 [1.0 : f64, 4.0 : f64, 2.0 : f64, 5.0 : f64, 3.0 : f64, 6.0 : f64]
  %a, %ch7 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %a_host, %ch7a
  %b_host = tfrt_dht.create_uninitialized_tensor.f64.1 [6 : i64]
  %ch8a = tfrt_dht.set_tensor_with_constant_values.f64 %b_host, %ch7 [1.0 : f64, 0.0 : f64, 0.0 : f64, 1.0 : f64, 1.0 : f64, 0.0 : f64]
  %b, %ch8 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %b_host, %ch8a
  %c_host = tfrt_dht.create_uninitialized_tensor.f64.1 [4 : i64]
  %ch9a = tfrt_dht.set_tensor_with_constant_values.f64 %c_host, %ch8 [1.0 : f64, 1.0 : f64, 1.0 : f64, 1.0 : f64]
  %c, %ch9 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %c_host, %ch9a
  %plain = tfrt.constant.i32 0
  %transposed = tfrt.constant.i32 1
  %m = tfrt.constant.i32 2
  %k = tfrt.constant.i32 3
  %alpha = tfrt.constant.f64 1.0
  %beta = tfrt.constant.f64 2.0
  %ch10 = tfrt_cuda.blas.gemm.f64 %context, %blas, %plain, %transposed, %m, %m, %k, %alpha, %a, %m, %b, %m, %beta, %c, %m, %ch9
  %bytes = tfrt.constant.i64 32
  %result_bytes, %ch11 = tfrt_dht.get_buffer %c_host, %ch10
  %ch12 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch11
  // CHECK-NEXT: values = [{{6(\.0+e\+00)?}}, {{1.2e?|12|1\.20+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch13 = tfrt_dht.print_tensor %c_host, %ch12
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i64 2
  %one64 = tfrt.constant.i64 1
  // Two products of a column of two numbers by one number.
  %ch14 = tfrt_cuda.blas.gemm.strided_batched.f64 %context, %blas, %plain, %plain, %m, %one, %one, %beta, %a, %m, %two, %b, %one, %one64, %alpha, %c, %m, %two, %m, %ch13
  %ch15 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch14
  // CHECK-NEXT: values = [{{8(\.0+e\+00)?}}, {{20|2\.0+e\+01}}, {{4(\.0+e\+00)?}}, {{7(\.0+e\+00)?}}]
  %ch16 = tfrt_dht.print_tensor %c_host, %ch15
  %ch17 = tfrt_cuda.allocator.destroy %allocator, %ch16
  tfrt.return %ch17 : !tfrt.chain
}

// Half matrices to single: types are given by number.
// CHECK-LABEL: --- Running 'mixed'
func @mixed() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %blas = tfrt_cuda.blas.create %context
  %ch6 = tfrt_cuda.blas.set_stream %blas, %stream, %ch5
  %a_host = tfrt_dht.create_uninitialized_tensor.f16.1 [4 : i64]
  %ch7a = tfrt_dht.set_tensor_with_constant_values.f16 %a_host, %ch6 [1.0 : f16, 2.0 : f16, 3.0 : f16, 4.0 : f16]
  %a, %ch7 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %a_host, %ch7a
  %c_host = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch8a = tfrt_dht.set_tensor_with_constant_values.f32 %c_host, %ch7 [0.0 : f32, 0.0 : f32, 0.0 : f32, 0.0 : f32]
  %c, %ch8 = tfrt_cuda_test.copy_tensor_host_to_device %context, %allocator, %stream, %c_host, %ch8a
  %m = tfrt.constant.i32 2
  %single = tfrt.constant.i32 0
  %half = tfrt.constant.i32 2
  %any = tfrt.constant.i32 -1
  %alpha = tfrt.constant.f32 1.0
  %beta = tfrt.constant.f32 0.0
  %ch9 = tfrt_cuda.blas.gemm.ex %context, %blas, %single, %single, %m, %m, %m, %alpha, %a, %half, %m, %a, %half, %m, %beta, %c, %single, %m, %single, %any, %ch8
  %bytes = tfrt.constant.i64 16
  %result_bytes, %ch10 = tfrt_dht.get_buffer %c_host, %ch9
  %ch11 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %c, %bytes, %stream, %ch10
  // CHECK-NEXT: values = [7.000000e+00, 1.000000e+01, 1.500000e+01, 2.200000e+01]
  %ch12 = tfrt_dht.print_tensor %c_host, %ch11
  // expected-error @+1 {{Invalid BlasOperation value: -1}}
  %ch13 = tfrt_cuda.blas.gemm.ex %context, %blas, %any, %single, %m, %m, %m, %alpha, %a, %half, %m, %a, %half, %m, %beta, %c, %single, %m, %single, %any, %ch12
  %ch14 = tfrt_cuda.allocator.destroy %allocator, %ch12
  tfrt.return %ch14 : !tfrt.chain
}
