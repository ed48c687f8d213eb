// A forgotten event: the second stream copies what the first one writes, and nothing orders them. The program runs, and
// may even print what was meant; the checker finds it in every run, and says what would have ordered the two.
//
// RUN: not tfrt run %s --check 2>&1 | FileCheck %s

// CHECK: error: {{.*}}
// CHECK: event
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %writer, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %reader, %ch5 = tfrt_cuda.stream.create %context, %ch4
  %allocator, %ch6 = tfrt_cuda.allocator.create %context, %ch5
  %bytes = tfrt.constant.i64 4096
  %x, %ch7 = tfrt_cuda.mem.allocate %allocator, %writer, %bytes, %ch6
  %value = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 1024
  %ch8 = tfrt_cuda.mem.set.ui32 %context, %x, %value, %count, %writer, %ch7
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [1024 : i64]
  %host, %ch9 = tfrt_dht.get_buffer %result, %ch8
  %ch10 = tfrt_cuda.mem.copy_device_to_host %context, %host, %x, %bytes, %reader, %ch9
  tfrt.return %ch10 : !tfrt.chain
}
