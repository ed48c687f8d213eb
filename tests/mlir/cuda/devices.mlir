// Devices, contexts, streams, events, tensors.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'devices'
func @devices() {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %count, %ch2 = tfrt_cuda.device.count %ch1
  %zero = tfrt.constant.i32 0
  %device, %ch3 = tfrt_cuda.device.get %zero, %ch2
  %warp, %ch4 = tfrt_cuda.device.attribute %device, %ch3 "warp_size"
  // CHECK-NEXT: int64 = 32
  %ch5 = tfrt.print.i64 %warp, %ch4
  // expected-error @+1 {{a device has no attribute 'colour'}}
  %colour, %ch6 = tfrt_cuda.device.attribute %device, %ch4 "colour"
  %minus = tfrt.constant.i32 -1
  // expected-error @+1 {{CUDA_ERROR_INVALID_DEVICE}}
  %none, %ch7 = tfrt_cuda.device.get %minus, %ch2
  tfrt.return
}

// A context of its own: what belongs to it cannot be used with another's.
// CHECK-LABEL: --- Running 'contexts'
func @contexts() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %primary, %ch3 = tfrt_cuda_test.context.get %device, %ch2
  %other, %ch4 = tfrt_cuda.context.create %device, %ch3
  %free, %total, %ch5 = tfrt_cuda.context.memory_info %other, %ch4
  %name, %named = tfrt_cuda.context.device_name %other, %ch4
  // CHECK-NEXT: string = {{.+}}
  %printed = "tfrt_test.print_string"(%name, %named) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %stream, %ch6 = tfrt_cuda.stream.create %primary, %ch5
  %event, %ch7 = tfrt_cuda.event.create %other, %ch6
  // expected-error @+1 {{CUDA_ERROR_INVALID_CONTEXT: the event belongs to device 0}}
  %ch8 = tfrt_cuda.event.record %event, %stream, %ch7
  tfrt.return %ch7 : !tfrt.chain
}

// Two streams, the second of which waits for the first.
// CHECK-LABEL: --- Running 'events'
func @events() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %first, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %urgent = tfrt.constant.i32 -1
  %second, %ch5 = tfrt_cuda.stream.create_with_priority %context, %urgent, %ch4
  %start, %ch6 = tfrt_cuda.event.create_with_timing %context, %ch5
  %end, %ch7 = tfrt_cuda.event.create_with_timing %context, %ch6
  %ch8 = tfrt_cuda.event.record %start, %first, %ch7
  %ch9 = tfrt_cuda.stream.wait %second, %start, %ch8
  %ch10 = tfrt_cuda.event.record %end, %second, %ch9
  %ch11 = tfrt_cuda.event.poll %end, %ch10
  %ms, %ch12 = tfrt_cuda.event.elapsed %start, %end, %ch11
  %plain, %ch13 = tfrt_cuda.event.create %context, %ch12
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was created without timing}}
  %no_ms, %ch14 = tfrt_cuda.event.elapsed %start, %plain, %ch13
  %ch15 = tfrt_cuda.event.destroy %plain, %ch13
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was destroyed}}
  %ch16 = tfrt_cuda.event.record %plain, %first, %ch15
  %ch17 = tfrt_cuda.stream.synchronize %second, %ch15
  tfrt.return %ch17 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tensors'
func @tensors() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 8
  %a, %cha = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %b, %chb = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %cha
  %c, %chc = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %chb
  %d, %chd = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %chc
  %e, %che = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %chd
  %f, %chf = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %che
  %g, %chg = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %chf
  %h, %chh = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %chg
  %i, %chi = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %chh
  %eight = ts.build_shape [8 : i64]
  %four = ts.build_shape [2 : i64, 2 : i64]
  %two = ts.build_shape [2 : i64]
  %one = ts.build_shape []
  %ta, %ch10 = tfrt_cuda.tensor.make.i8 %a, %eight, %chi
  %tb, %ch11 = tfrt_cuda.tensor.make.ui8 %b, %eight, %ch10
  %tc, %ch12 = tfrt_cuda.tensor.make.i16 %c, %four, %ch11
  %td, %ch13 = tfrt_cuda.tensor.make.f16 %d, %four, %ch12
  %te, %ch14 = tfrt_cuda.tensor.make.bf16 %e, %four, %ch13
  %tf, %ch15 = tfrt_cuda.tensor.make.i32 %f, %two, %ch14
  %tg, %ch16 = tfrt_cuda.tensor.make.f32 %g, %two, %ch15
  %th, %ch17 = tfrt_cuda.tensor.make.i64 %h, %one, %ch16
  %ti, %ch18 = tfrt_cuda.tensor.make.f64 %i, %one, %ch17
  // CHECK-NEXT: DenseGpuTensor<dtype=BF16, shape=[2, 2], pointer={{0x[[:xdigit:]]*}} (CUDA)>
  %ch19 = tfrt_cuda.tensor.print_metadata %te, %ch18
  %memory, %ch20 = tfrt_cuda.tensor.buffer %te, %ch19
  // CHECK-NEXT: GpuBuffer<pointer={{0x[[:xdigit:]]*}} (CUDA), size=8>
  %ch21 = tfrt_cuda.mem.print_metadata %memory, %ch20
  // The tensor took the memory over.
  // CHECK-NEXT: GpuBuffer<pointer=0x0 (CUDA), size=0>
  %ch22 = tfrt_cuda.mem.print_metadata %e, %ch21
  // expected-error @+1 {{Cannot make tensor from invalid (moved from?) buffer}}
  %again, %ch23 = tfrt_cuda.tensor.make.bf16 %e, %four, %ch22
  %ch24 = tfrt_cuda.allocator.destroy %allocator, %ch22
  tfrt.return %ch24 : !tfrt.chain
}
