// Two streams, and an event that one of them forgot to wait for.
//
// A stream fills a buffer, another one copies it. The chains of a program order what the host queues, not what the device
// does: only an event, or the host waiting, orders work of different streams. On a GPU the first function below mostly
// works, until it does not. With --check a CPU device finds it in every run, and says which event would have helped:
//
//     tfrt run examples/missing_event.mlir --function missing --check
//
// RUN: not tfrt run %s --check --function missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: tfrt run %s --check --function ordered
// RUN: tfrt run %s --device cpu --function missing --memory-timeline %t.html --trace %t.json

// MISSING: error: copy from device to device on stream 1 reads bytes that memory set on stream 0 writes, and nothing orders the two
func @missing() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %allocator, %ch4 = tfrt_cuda.allocator.create %context, %ch3
  %produces, %ch5 = tfrt_cuda.stream.create %context, %ch4
  %consumes, %ch6 = tfrt_cuda.stream.create %context, %ch5
  %bytes = tfrt.constant.i64 4096
  %data, %ch7 = tfrt_cuda.mem.allocate %allocator, %produces, %bytes, %ch6
  %copy, %ch8 = tfrt_cuda.mem.allocate %allocator, %consumes, %bytes, %ch7
  %count = tfrt.constant.i64 1024
  %value = tfrt.constant.f32 1.5
  // MISSING: written by 'tfrt_cuda.mem.set.f32' at {{.*}}missing_event.mlir:[[@LINE+1]]:
  %ch9 = tfrt_cuda.mem.set.f32 %context, %data, %value, %count, %produces, %ch8
  // MISSING: record an event on stream 0 after 'tfrt_cuda.mem.set.f32'
  %ch10 = tfrt_cuda.mem.copy_device_to_device %context, %copy, %data, %bytes, %consumes, %ch9
  %ch11 = tfrt_cuda.stream.synchronize %consumes, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

func @ordered() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %allocator, %ch4 = tfrt_cuda.allocator.create %context, %ch3
  %produces, %ch5 = tfrt_cuda.stream.create %context, %ch4
  %consumes, %ch6 = tfrt_cuda.stream.create %context, %ch5
  %bytes = tfrt.constant.i64 4096
  %data, %ch7 = tfrt_cuda.mem.allocate %allocator, %produces, %bytes, %ch6
  %copy, %ch8 = tfrt_cuda.mem.allocate %allocator, %consumes, %bytes, %ch7
  %count = tfrt.constant.i64 1024
  %value = tfrt.constant.f32 1.5
  %ch9 = tfrt_cuda.mem.set.f32 %context, %data, %value, %count, %produces, %ch8
  %event, %ch10 = tfrt_cuda.event.create %context, %ch9
  %ch11 = tfrt_cuda.event.record %event, %produces, %ch10
  %ch12 = tfrt_cuda.stream.wait %consumes, %event, %ch11
  %ch13 = tfrt_cuda.mem.copy_device_to_device %context, %copy, %data, %bytes, %consumes, %ch12
  %ch14 = tfrt_cuda.stream.synchronize %consumes, %ch13
  tfrt.return %ch14 : !tfrt.chain
}
