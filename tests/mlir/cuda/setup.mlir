// What a function that prepares leaves for the calls is no leak, and what these do with it is checked.
//
// RUN: tfrt run %s --device cpu --check --setup setup --function twice | FileCheck %s
// RUN: tfrt bench %s --device cpu --check --setup setup --function twice --calls 3 | FileCheck %s --check-prefix=BENCH
// RUN: not tfrt run %s --device cpu --check --setup setup --function early 2>&1 | FileCheck %s --check-prefix=EARLY

// CHECK: values = [7, 7, 7, 7]
// CHECK-NEXT: values = [9, 9, 9, 9]
// BENCH: cold start load {{.*}}, setup {{.*}}, first call
// EARLY: error:
// EARLY-NOT: still exists at the end of the program

func @setup() -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %other, %ch5 = tfrt_cuda.stream.create %context, %ch4
  %allocator, %ch6 = tfrt_cuda.allocator.create %context, %ch5
  %bytes = tfrt.constant.i64 16
  %buffer, %ch7 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch6
  tfrt.return %context, %stream, %other, %allocator, %buffer : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer
}

func @twice(%context: !tfrt_cuda.context, %stream: !tfrt_cuda.stream, %other: !tfrt_cuda.stream, %allocator: !tfrt_cuda.allocator, %buffer: !tfrt_cuda.buffer) -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %bytes = tfrt.constant.i64 16
  %four = tfrt.constant.i64 4
  %seven = tfrt.constant.ui32 7
  %nine = tfrt.constant.ui32 9
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %result_bytes, %ch1 = tfrt_dht.get_buffer %result, %ch0
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %four, %stream, %ch1
  %ch3 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %buffer, %bytes, %stream, %ch2
  %ch4 = tfrt_dht.print_tensor %result, %ch3
  %ch5 = tfrt_cuda.mem.set.ui32 %context, %buffer, %nine, %four, %stream, %ch4
  %ch6 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %buffer, %bytes, %stream, %ch5
  %ch7 = tfrt_dht.print_tensor %result, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

// Two streams write without an order.
func @early(%context: !tfrt_cuda.context, %stream: !tfrt_cuda.stream, %other: !tfrt_cuda.stream, %allocator: !tfrt_cuda.allocator, %buffer: !tfrt_cuda.buffer) -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %four = tfrt.constant.i64 4
  %seven = tfrt.constant.ui32 7
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %four, %stream, %ch0
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %four, %other, %ch1
  tfrt.return %ch2 : !tfrt.chain
}
