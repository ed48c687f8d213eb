// Unified memory: a launch computes on numbers that the host wrote, and the host reads the result where it lies. A host
// kernel that does not wait for the launch gets an error in every run, however fast the launch was; with --check the error
// names both places.
//
// RUN: tfrt run %s --device cpu --check --function shared | FileCheck %s
// RUN: tfrt run %s --device noop --function shared
// RUN: not tfrt run %s --device cpu --check --function early 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not tfrt run %s --device noop --function early 2>&1 | FileCheck %s --check-prefix=NOOP

func @shared() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %bytes = tfrt.constant.i64 16
  %numbers, %memory, %ch5 = tfrt_cuda.mem.allocate_managed %context, %bytes, %ch4
  %shape = ts.build_shape [4 : i64]
  %tensor, %ch6 = tfrt_dht.make_tensor.i32 %memory, %shape, %ch5
  // CHECK: values = [0, 0, 0, 0]
  %ch7 = tfrt_dht.print_tensor %tensor, %ch6
  %ch8 = tfrt_dht.set_tensor_with_constant_values.i32 %tensor, %ch7 [1 : i32, 2 : i32, 3 : i32, 4 : i32]
  %module, %ch9 = tfrt_cuda.module.load %context, %ch8 ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry double(.param .u64 x)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<5>;\nld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];\nadd.u32 %r3, %r2, %r2;\nst.global.u32 [%rd4], %r3;\nret;\n}\n"
  %double, %ch10 = tfrt_cuda.function.get %module, %ch9 "double"
  %one = tfrt.constant.ui32 1
  %four = tfrt.constant.ui32 4
  %none = tfrt.constant.ui32 0
  %ch11 = tfrt_cuda.function.launch %double %one %one %one %four %one %one %none %stream %ch10 { cooperative = false } (%numbers) : (!tfrt_cuda.buffer)
  %ch12 = tfrt_cuda.stream.synchronize %stream, %ch11
  // CHECK: values = [2, 4, 6, 8]
  %ch13 = tfrt_dht.print_tensor %tensor, %ch12
  // The next turn: an event tells when.
  %ch14 = tfrt_cuda.function.launch %double %one %one %one %four %one %one %none %stream %ch13 { cooperative = false } (%numbers) : (!tfrt_cuda.buffer)
  %event, %ch15 = tfrt_cuda.event.create %context, %ch14
  %ch16 = tfrt_cuda.event.record %event, %stream, %ch15
  %ch17 = tfrt_cuda.event.synchronize %event, %ch16
  // CHECK: values = [4, 8, 12, 16]
  %ch18 = tfrt_dht.print_tensor %tensor, %ch17
  tfrt.return %ch18 : !tfrt.chain
}

// Nobody waits. The stream is returned, so that its end marks nothing; the buffer goes before the print, and the memory stays taken all the same.
func @early() -> (!tfrt.chain, !tfrt_cuda.stream) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %bytes = tfrt.constant.i64 16
  %numbers, %memory, %ch5 = tfrt_cuda.mem.allocate_managed %context, %bytes, %ch4
  %shape = ts.build_shape [4 : i64]
  %tensor, %ch6 = tfrt_dht.make_tensor.i32 %memory, %shape, %ch5
  %value = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 4
  %ch7 = tfrt_cuda.mem.set.ui32 %context, %numbers, %value, %count, %stream, %ch6
  // EARLY: error: kernel 'tfrt_dht.print_tensor' reads a tensor that kernel 'device work in flight on unified memory, queued by 'tfrt_cuda.mem.set.ui32' at {{.*}}unified.mlir:[[@LINE-1]]:{{[0-9]+}} and ordered by its chain, or by an event recorded behind it' is writing
  // EARLY: unified.mlir:[[@LINE+2]]:
  // NOOP: error: kernel 'tfrt_dht.print_tensor' reads a tensor that kernel 'device work in flight on unified memory' is writing
  %ch8 = tfrt_dht.print_tensor %tensor, %ch7
  tfrt.return %ch8, %stream : !tfrt.chain, !tfrt_cuda.stream
}
