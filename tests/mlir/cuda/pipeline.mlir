// A pipeline over two devices: the first doubles, the second adds one; an event orders them, the host does not.
//
// RUN: bef_executor --device=cpu --cpu_devices=2 $(bef_name %s) | FileCheck %s
// RUN: bef_executor --device=cpu --cpu_devices=2 --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s
// RUN: tfrt run %s --cpu-devices 2 --check
// RUN: not tfrt run %s --device noop --check 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: --check needs CPU devices: noop devices do no work

// CHECK-LABEL: --- Running 'main'
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %i0 = tfrt.constant.i32 0
  %i1 = tfrt.constant.i32 1
  %device0, %ch2 = tfrt_cuda.device.get %i0, %ch1
  %device1, %ch3 = tfrt_cuda.device.get %i1, %ch2
  %context0, %ch4 = tfrt_cuda.context.create %device0, %ch3
  %context1, %ch5 = tfrt_cuda.context.create %device1, %ch4
  %stream0, %ch6 = tfrt_cuda.stream.create %context0, %ch5
  %stream1, %ch7 = tfrt_cuda.stream.create %context1, %ch6
  %allocator0, %ch8 = tfrt_cuda.allocator.create %context0, %ch7
  %allocator1, %ch9 = tfrt_cuda.allocator.create %context1, %ch8
  %bytes = tfrt.constant.i64 4096
  %count = tfrt.constant.i64 1024
  %x0, %ch10 = tfrt_cuda.mem.allocate %allocator0, %stream0, %bytes, %ch9
  %x1, %ch11 = tfrt_cuda.mem.allocate %allocator1, %stream1, %bytes, %ch10
  %one1, %ch12 = tfrt_cuda.mem.allocate %allocator1, %stream1, %bytes, %ch11
  %blas0 = tfrt_cuda.blas.create %context0
  %blas1 = tfrt_cuda.blas.create %context1
  %ch13 = tfrt_cuda.blas.set_stream %blas0, %stream0, %ch12
  %ch14 = tfrt_cuda.blas.set_stream %blas1, %stream1, %ch13
  %three = tfrt.constant.f32 3.0
  %one = tfrt.constant.f32 1.0
  %two = tfrt.constant.f32 2.0
  %n = tfrt.constant.i32 1024
  %ch15 = tfrt_cuda.mem.set.f32 %context0, %x0, %three, %count, %stream0, %ch14
  %ch16 = tfrt_cuda.mem.set.f32 %context1, %one1, %one, %count, %stream1, %ch15
  %ch17 = tfrt_cuda.blas.scal.f32 %context0, %blas0, %n, %two, %x0, %i1, %ch16
  %done0, %ch18 = tfrt_cuda.event.create %context0, %ch17
  %ch19 = tfrt_cuda.event.record %done0, %stream0, %ch18
  %ch20 = tfrt_cuda.stream.wait %stream1, %done0, %ch19
  %ch21 = tfrt_cuda.mem.copy_peer %x1, %x0, %bytes, %stream1, %ch20
  %ch22 = tfrt_cuda.blas.axpy.f32 %context1, %blas1, %n, %one, %one1, %i1, %x1, %i1, %ch21
  %result = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %host, %ch23 = tfrt_dht.get_buffer %result, %ch22
  %eight = tfrt.constant.i64 8
  %ch24 = tfrt_cuda.mem.copy_device_to_host %context1, %host, %x1, %eight, %stream1, %ch23
  // CHECK-NEXT: values = [7.000000e+00, 7.000000e+00]
  %ch25 = tfrt_dht.print_tensor %result, %ch24
  tfrt.return %ch25 : !tfrt.chain
}
