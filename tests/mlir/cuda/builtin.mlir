// The runtime's own CUDA kernels by name; a graph that is updated; copies of rows to and from the host.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'kernels'
func @kernels() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  // expected-error @+1 {{CUDA_ERROR_NOT_FOUND: there is no CUDA kernel 'add_f33'}}
  %ch6 = tfrt_cuda.module.load_builtin %context, %ch5 { functions = ["relu_f32", "add_f33"] }
  %ch7 = tfrt_cuda.module.load_builtin %context, %ch5 { functions = ["relu_f32", "add_f32"] }
  // expected-error @+1 {{Table has already been created for device 0}}
  %ch8 = tfrt_cuda.module.load_builtin %context, %ch7 { functions = ["relu_f32"] }
  %bytes = tfrt.constant.i64 16
  %count = tfrt.constant.i64 4
  %x, %ch9 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch7
  %minus = tfrt.constant.f32 -2.0
  %ch10 = tfrt_cuda.mem.set.f32 %context, %x, %minus, %count, %stream, %ch9
  %one = tfrt.constant.ui32 1
  %block = tfrt.constant.ui32 256
  %none = tfrt.constant.ui32 0
  // fill_b32 by its name, relu_f32 by its number.
  %fill, %ch11 = tfrt_cuda.function.builtin %context, %ch10 "fill_b32"
  // expected-error @+1 {{CUDA_ERROR_NOT_FOUND: there is no CUDA kernel 'fill'}}
  %unknown, %ch12 = tfrt_cuda.function.builtin %context, %ch10 "fill"
  %seven = tfrt.constant.f32 7.0
  %half = tfrt.constant.i64 2
  %ch13 = tfrt_cuda.function.launch %fill %one %one %one %block %one %one %none %stream %ch11
          { cooperative = false } (%x, %half, %seven) : (!tfrt_cuda.buffer, i64, f32)
  %ch14 = tfrt_cuda.launch %ch13 %context %one %one %one %block %one %one %none %stream
          { function_handle = 0 : ui64 } (%x, %x, %count) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, i64)
  %result = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %host, %ch15 = tfrt_dht.get_buffer %result, %ch14
  %ch16 = tfrt_cuda.mem.copy_device_to_host %context, %host, %x, %bytes, %stream, %ch15
  // CHECK-NEXT: values = [7.000000e+00, 7.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch17 = tfrt_dht.print_tensor %result, %ch16
  tfrt.return %ch17 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'update'
func @update() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 16
  %count = tfrt.constant.i64 4
  %half = tfrt.constant.i64 2
  %one = tfrt.constant.ui32 1
  %five = tfrt.constant.ui32 5
  %x, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %ch7 = tfrt_cuda.graph.begin_capture %stream, %ch6
  %ch8 = tfrt_cuda.mem.set.ui32 %context, %x, %one, %count, %stream, %ch7
  %graph, %ch9 = tfrt_cuda.graph.end_capture %stream, %ch8
  %ch10 = tfrt_cuda.graph.launch %graph, %stream, %ch9
  %ch11 = tfrt_cuda.graph.begin_capture %stream, %ch10
  %ch12 = tfrt_cuda.mem.set.ui32 %context, %x, %five, %half, %stream, %ch11
  %ch13 = tfrt_cuda.graph.update %graph, %stream, %ch12
  %ch14 = tfrt_cuda.graph.launch %graph, %stream, %ch13
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %host, %ch15 = tfrt_dht.get_buffer %result, %ch14
  %ch16 = tfrt_cuda.mem.copy_device_to_host %context, %host, %x, %bytes, %stream, %ch15
  // CHECK-NEXT: values = [5, 5, 1, 1]
  %ch17 = tfrt_dht.print_tensor %result, %ch16
  // Nothing is not what the graph does.
  %ch18 = tfrt_cuda.graph.begin_capture %stream, %ch17
  // expected-error @+1 {{CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE}}
  %ch19 = tfrt_cuda.graph.update %graph, %stream, %ch18
  tfrt.return %ch18 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rows'
func @rows() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %source = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  %filled = tfrt_dht.set_tensor_with_constant_values.i32 %source, %ch5 [1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32, 6 : i32]
  %from, %ch6 = tfrt_dht.get_buffer %source, %filled
  %bytes = tfrt.constant.i64 16
  %x, %ch7 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch6
  %host_pitch = tfrt.constant.i64 12
  %pitch = tfrt.constant.i64 8
  %two_rows = tfrt.constant.i64 2
  %three_rows = tfrt.constant.i64 3
  // The first two columns.
  %ch8 = tfrt_cuda.mem.copy_2d_host_to_device %context, %x, %pitch, %from, %host_pitch, %pitch, %two_rows, %stream, %ch7
  %result = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  %cleared = tfrt_dht.set_tensor_with_constant_values.i32 %result, %ch8 [0 : i32, 0 : i32, 7 : i32, 0 : i32, 0 : i32, 8 : i32]
  %to, %ch9 = tfrt_dht.get_buffer %result, %cleared
  %ch10 = tfrt_cuda.mem.copy_2d_device_to_host %context, %to, %host_pitch, %x, %pitch, %pitch, %two_rows, %stream, %ch9
  // CHECK-NEXT: values = [1, 2, 7, 4, 5, 8]
  %ch11 = tfrt_dht.print_tensor %result, %ch10
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the source: rows of 12 bytes do not fit a pitch of 8}}
  %ch12 = tfrt_cuda.mem.copy_2d_device_to_host %context, %to, %host_pitch, %x, %pitch, %host_pitch, %two_rows, %stream, %ch11
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the source (24 bytes from byte 0) exceeds a buffer of 16 bytes}}
  %ch13 = tfrt_cuda.mem.copy_2d_device_to_host %context, %to, %host_pitch, %x, %pitch, %pitch, %three_rows, %stream, %ch11
  tfrt.return %ch11 : !tfrt.chain
}
