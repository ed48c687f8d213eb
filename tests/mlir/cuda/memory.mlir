// Device memory: allocation, every sort of copy, filling, pinned host memory, statistics.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'copies'
func @copies() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4

  %source = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch6 = tfrt_dht.set_tensor_with_constant_values.i32 %source, %ch5 [1 : i32, 2 : i32, 3 : i32, 4 : i32]
  %source_bytes, %ch7 = tfrt_dht.get_buffer %source, %ch6
  %bytes = tfrt.constant.i64 16
  %a, %ch8 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch7
  %b, %ch9 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch8
  %ch10 = tfrt_cuda.mem.copy_host_to_device %context, %a, %source_bytes, %bytes, %stream, %ch9
  %ch11 = tfrt_cuda.mem.copy_device_to_device %context, %b, %a, %bytes, %stream, %ch10
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %result_bytes, %ch12 = tfrt_dht.get_buffer %result, %ch11
  %ch13 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %b, %bytes, %stream, %ch12
  // CHECK-NEXT: values = [1, 2, 3, 4]
  %ch14 = tfrt_dht.print_tensor %result, %ch13

  // Two rows of four bytes, eight apart, to rows that touch: the numbers 1 and 3.
  %four = tfrt.constant.i64 4
  %eight = tfrt.constant.i64 8
  %two = tfrt.constant.i64 2
  %ch15 = tfrt_cuda.mem.copy_2d %context, %b, %four, %a, %eight, %four, %two, %stream, %ch14
  %ch16 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %b, %bytes, %stream, %ch15
  // CHECK-NEXT: values = [1, 3, 3, 4]
  %ch17 = tfrt_dht.print_tensor %result, %ch16

  %ch18 = tfrt_cuda.mem.copy_peer %b, %a, %eight, %stream, %ch17
  %ch19 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %b, %bytes, %stream, %ch18
  // CHECK-NEXT: values = [1, 2, 3, 4]
  %ch20 = tfrt_dht.print_tensor %result, %ch19
  %ch21 = tfrt_cuda.allocator.destroy %allocator, %ch20
  tfrt.return %ch21 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sets'
func @sets() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 16
  %a, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %result_bytes, %ch7 = tfrt_dht.get_buffer %result, %ch6

  %wide = tfrt.constant.ui32 7
  %four = tfrt.constant.i64 4
  %ch8 = tfrt_cuda.mem.set.ui32 %context, %a, %wide, %four, %stream, %ch7
  %byte = tfrt.constant.ui8 1
  %ch9 = tfrt_cuda.mem.set.ui8 %context, %a, %byte, %four, %stream, %ch8
  %ch10 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %a, %bytes, %stream, %ch9
  // CHECK-NEXT: values = [16843009, 7, 7, 7]
  %ch11 = tfrt_dht.print_tensor %result, %ch10
  %half = tfrt.constant.ui16 2
  %ch12 = tfrt_cuda.mem.set.ui16 %context, %a, %half, %four, %stream, %ch11
  %ch13 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %a, %bytes, %stream, %ch12
  // CHECK-NEXT: values = [131074, 131074, 7, 7]
  %ch14 = tfrt_dht.print_tensor %result, %ch13
  %one = tfrt.constant.f32 1.0
  %two = tfrt.constant.i64 2
  %ch15 = tfrt_cuda.mem.set.f32 %context, %a, %one, %two, %stream, %ch14
  %ch16 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %a, %bytes, %stream, %ch15
  // CHECK-NEXT: values = [1065353216, 1065353216, 7, 7]
  %ch17 = tfrt_dht.print_tensor %result, %ch16
  %ch18 = tfrt_cuda.allocator.destroy %allocator, %ch17
  tfrt.return %ch18 : !tfrt.chain
}

// Copies of pinned memory do not hold the chain up; an event says when they are done.
// CHECK-LABEL: --- Running 'pinned'
func @pinned() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 8
  %host, %ch6 = tfrt_cuda.mem.allocate_host %context, %bytes, %ch5
  // CHECK-NEXT: HostBuffer<pointer={{0x[[:xdigit:]]*}}, size=8>
  %ch7 = tfrt_dht.print_buffer %host, %ch6
  %source = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch8 = tfrt_dht.set_tensor_with_constant_values.i32 %source, %ch7 [5 : i32, 6 : i32]
  %source_bytes, %ch9 = tfrt_dht.get_buffer %source, %ch8
  %ch10 = tfrt_cuda.mem.register %context, %source_bytes, %ch9
  %a, %ch11 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch10
  %ch12 = tfrt_cuda.mem.copy_host_to_device %context, %a, %source_bytes, %bytes, %stream, %ch11
  %ch13 = tfrt_cuda.mem.copy_device_to_host %context, %host, %a, %bytes, %stream, %ch12
  %event, %ch14 = tfrt_cuda.event.create %context, %ch13
  %ch15 = tfrt_cuda.event.record %event, %stream, %ch14
  %ch16 = tfrt_cuda.event.synchronize %event, %ch15
  %shape = ts.build_shape [2 : i64]
  %view, %ch17 = tfrt_dht.make_tensor.i32 %host, %shape, %ch16
  // CHECK-NEXT: values = [5, 6]
  %ch18 = tfrt_dht.print_tensor %view, %ch17
  %ch19 = tfrt_cuda.mem.unregister %context, %source_bytes, %ch18
  // expected-error @+1 {{CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED}}
  %ch20 = tfrt_cuda.mem.unregister %context, %source_bytes, %ch19
  tfrt.return %ch19 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'allocators'
func @allocators() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %limit = tfrt.constant.i64 4194304
  %allocator, %ch5 = tfrt_cuda.allocator.create_with_limit %context, %limit, %ch4
  %bytes = tfrt.constant.i64 1000
  %a, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  // CHECK-NEXT: GpuBuffer<pointer={{0x[[:xdigit:]]*}} (CUDA), size=1000>
  %ch7 = tfrt_cuda.mem.print_metadata %a, %ch6
  %count, %in_use, %peak, %reserved, %ch8 = tfrt_cuda.allocator.stats %allocator, %ch7
  // CHECK-NEXT: int64 = 1
  %ch9 = tfrt.print.i64 %count, %ch8
  %too_much = tfrt.constant.i64 1000000000
  // expected-error @+1 {{tfrt_cuda.mem.allocate}}
  %b, %ch10 = tfrt_cuda.mem.allocate %allocator, %stream, %too_much, %ch9
  %released, %ch11 = tfrt_cuda.allocator.clear_cache %allocator, %ch9
  // The buffer is there, so its segment stays.
  // CHECK-NEXT: int64 = 0
  %ch12 = tfrt.print.i64 %released, %ch11
  %ch13 = tfrt_cuda.mem.print_metadata %a, %ch12
  %ch14 = tfrt_cuda.allocator.destroy %allocator, %ch13
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the allocator was destroyed already}}
  %ch15 = tfrt_cuda.allocator.destroy %allocator, %ch14
  tfrt.return %ch14 : !tfrt.chain
}
