// A host kernel that does not wait for a copy: an error in every run, as the copy holds its memory while it is in flight.
// What is in front of it on the stream looks at the clock for half a second. With --check the error names both places and
// what would have ordered the two.
//
// RUN: not tfrt run %s --check 2>&1 | FileCheck %s

func @main() -> (!tfrt.chain, !tfrt.chain, !tfrt_cuda.allocator) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 16
  %buffer, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %value = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 4
  %ch7 = tfrt_cuda.mem.set.ui32 %context, %buffer, %value, %count, %stream, %ch6
  %module, %ch8 = tfrt_cuda.module.load %context, %ch7 ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry slow(.param .u64 ns)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [ns];\nmov.u64 %rd2, %globaltimer;\nWAIT:\nmov.u64 %rd3, %globaltimer;\nsub.u64 %rd4, %rd3, %rd2;\nsetp.lt.u64 %p1, %rd4, %rd1;\n@%p1 bra WAIT;\nret;\n}\n"
  %slow, %ch9 = tfrt_cuda.function.get %module, %ch8 "slow"
  %one = tfrt.constant.ui32 1
  %none = tfrt.constant.ui32 0
  %ns = tfrt.constant.i64 500000000
  %ch10 = tfrt_cuda.function.launch %slow %one %one %one %one %one %one %none %stream %ch9 { cooperative = false } (%ns) : (i64)
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %host, %ch11 = tfrt_dht.get_buffer %tensor, %ch10
  %copied = tfrt_cuda.mem.copy_device_to_host %context, %host, %buffer, %bytes, %stream, %ch11
  // CHECK: error: kernel 'tfrt_dht.print_tensor' reads a tensor that kernel 'a device copy in flight, queued by 'tfrt_cuda.mem.copy_device_to_host' at {{.*}}host_access.mlir:[[@LINE-1]]:{{[0-9]+}} and ordered by its chain, or by an event recorded behind it' is writing
  // CHECK: host_access.mlir:[[@LINE+1]]:
  %early = tfrt_dht.print_tensor %tensor, %ch11
  tfrt.return %copied, %early, %allocator : !tfrt.chain, !tfrt.chain, !tfrt_cuda.allocator
}
