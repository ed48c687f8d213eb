// Graphs that copy from one device to another, and copies on a third one's stream.
//
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function ordered | FileCheck %s --check-prefix=ORDERED
// RUN: not tfrt run %s --device cpu --cpu-devices 2 --check --function forgotten 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// RUN: tfrt run %s --device cpu --cpu-devices 3 --check --function on_a_third | FileCheck %s --check-prefix=THIRD
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function elsewhere

// A device's stream, and a buffer of eight numbers.
func @open(%number : i32, %ch0 : !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) {
  %device, %ch1 = tfrt_cuda.device.get %number, %ch0
  %context, %ch2 = tfrt_cuda.context.create %device, %ch1
  %stream, %ch3 = tfrt_cuda.stream.create %context, %ch2
  %allocator, %ch4 = tfrt_cuda.allocator.create %context, %ch3
  %bytes = tfrt.constant.i64 32
  %buffer, %ch5 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch4
  tfrt.return %context, %stream, %buffer, %ch5 : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain
}

// The graph is launched twice, and the other device waits for it.
func @ordered() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %buffer0, %ch2 = tfrt.call @open(%zero, %ch1)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %buffer1, %ch3 = tfrt.call @open(%one, %ch2)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %before, %ch4 = tfrt_cuda.event.create %context1, %ch3
  %ch5 = tfrt_cuda.event.record %before, %stream1, %ch4
  %ch6 = tfrt_cuda.stream.wait %stream0, %before, %ch5
  %ch7 = tfrt_cuda.graph.begin_capture %stream0, %ch6
  %ch8 = tfrt_cuda.mem.set.ui32 %context0, %buffer0, %seven, %eight, %stream0, %ch7
  %ch9 = tfrt_cuda.mem.copy_peer %buffer1, %buffer0, %bytes, %stream0, %ch8
  %graph, %ch10 = tfrt_cuda.graph.end_capture %stream0, %ch9
  %ch11 = tfrt_cuda.graph.launch %graph, %stream0, %ch10
  %ch12 = tfrt_cuda.graph.launch %graph, %stream0, %ch11
  %after, %ch13 = tfrt_cuda.event.create %context0, %ch12
  %ch14 = tfrt_cuda.event.record %after, %stream0, %ch13
  %ch15 = tfrt_cuda.stream.wait %stream1, %after, %ch14
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %host, %ch16 = tfrt_dht.get_buffer %result, %ch15
  %ch17 = tfrt_cuda.mem.copy_device_to_host %context1, %host, %buffer1, %bytes, %stream1, %ch16
  // ORDERED: values = [7, 7, 7, 7, 7, 7, 7, 7]
  %ch18 = tfrt_dht.print_tensor %result, %ch17
  tfrt.return %ch18 : !tfrt.chain
}

// The other device does not.
func @forgotten() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %buffer0, %ch2 = tfrt.call @open(%zero, %ch1)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %buffer1, %ch3 = tfrt.call @open(%one, %ch2)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %before, %ch4 = tfrt_cuda.event.create %context1, %ch3
  %ch5 = tfrt_cuda.event.record %before, %stream1, %ch4
  %ch6 = tfrt_cuda.stream.wait %stream0, %before, %ch5
  %ch7 = tfrt_cuda.graph.begin_capture %stream0, %ch6
  %ch8 = tfrt_cuda.mem.set.ui32 %context0, %buffer0, %seven, %eight, %stream0, %ch7
  %ch9 = tfrt_cuda.mem.copy_peer %buffer1, %buffer0, %bytes, %stream0, %ch8
  %graph, %ch10 = tfrt_cuda.graph.end_capture %stream0, %ch9
  %ch11 = tfrt_cuda.graph.launch %graph, %stream0, %ch10
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %host, %ch12 = tfrt_dht.get_buffer %result, %ch11
  // FORGOTTEN: error: copy from device to host on stream 1 reads bytes that copy from device to device on stream 0 writes, and nothing orders the two
  // FORGOTTEN: peers.mlir:[[@LINE+2]]:
  // FORGOTTEN: written by 'tfrt_cuda.graph.launch' at {{.*}}peers.mlir:[[@LINE-5]]:
  %ch13 = tfrt_cuda.mem.copy_device_to_host %context1, %host, %buffer1, %bytes, %stream1, %ch12
  tfrt.return %ch13 : !tfrt.chain
}

// As in CUDA, the stream need be of neither device.
func @on_a_third() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %buffer0, %ch2 = tfrt.call @open(%zero, %ch1)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %buffer1, %ch3 = tfrt.call @open(%one, %ch2)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %context2, %stream2, %buffer2, %ch4 = tfrt.call @open(%two, %ch3)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %ch5 = tfrt_cuda.mem.set.ui32 %context0, %buffer0, %seven, %eight, %stream0, %ch4
  %is_set, %ch6 = tfrt_cuda.event.create %context0, %ch5
  %ch7 = tfrt_cuda.event.record %is_set, %stream0, %ch6
  %is_free, %ch8 = tfrt_cuda.event.create %context1, %ch7
  %ch9 = tfrt_cuda.event.record %is_free, %stream1, %ch8
  %ch10 = tfrt_cuda.stream.wait %stream2, %is_set, %ch9
  %ch11 = tfrt_cuda.stream.wait %stream2, %is_free, %ch10
  %ch12 = tfrt_cuda.mem.copy_peer %buffer1, %buffer0, %bytes, %stream2, %ch11
  %is_there, %ch13 = tfrt_cuda.event.create %context2, %ch12
  %ch14 = tfrt_cuda.event.record %is_there, %stream2, %ch13
  %ch15 = tfrt_cuda.stream.wait %stream1, %is_there, %ch14
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %host, %ch16 = tfrt_dht.get_buffer %result, %ch15
  %ch17 = tfrt_cuda.mem.copy_device_to_host %context1, %host, %buffer1, %bytes, %stream1, %ch16
  // THIRD: values = [7, 7, 7, 7, 7, 7, 7, 7]
  %ch18 = tfrt_dht.print_tensor %result, %ch17
  tfrt.return %ch18 : !tfrt.chain
}

// Within one device, on a stream of another, which a device that does not reach the other's memory refuses.
func @elsewhere() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %buffer0, %ch2 = tfrt.call @open(%zero, %ch1)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %buffer1, %ch3 = tfrt.call @open(%one, %ch2)
    : (i32, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %ch4 = tfrt_cuda.mem.set.ui32 %context0, %buffer0, %seven, %eight, %stream0, %ch3
  %ch5 = tfrt_cuda.stream.synchronize %stream0, %ch4
  %ch6 = tfrt_cuda.mem.copy_peer %buffer0, %buffer0, %bytes, %stream1, %ch5
  %ch7 = tfrt_cuda.stream.synchronize %stream1, %ch6
  tfrt.return %ch7 : !tfrt.chain
}
