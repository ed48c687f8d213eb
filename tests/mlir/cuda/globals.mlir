// Variables of a module: copied to and from as buffers are, and seen by launches.
//
// RUN: bef_executor --device=cpu $(bef_name %s) | FileCheck %s
// RUN: bef_executor --device=cpu --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// x[i] = table[i] + x[i], with a table in constant memory that the host fills first; launches are counted in a variable.
// CHECK-LABEL: --- Running 'main'
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %module, %ch6 = tfrt_cuda.module.load %context, %ch5 ".version 6.4\n.target sm_52\n.address_size 64\n.visible .const .align 4 .b32 table[4];\n.visible .global .align 4 .u32 launches = 5;\n.visible .entry add(.param .u64 x)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nmov.u64 %rd5, table;\nadd.s64 %rd5, %rd5, %rd3;\nld.const.u32 %r2, [%rd5];\nld.global.u32 %r3, [%rd4];\nadd.u32 %r4, %r2, %r3;\nst.global.u32 [%rd4], %r4;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\natom.global.add.u32 %r5, [launches], 1;\nDONE:\nret;\n}\n"
  %add, %ch7 = tfrt_cuda.function.get %module, %ch6 "add"
  %table, %ch8 = tfrt_cuda.module.get_global %module, %ch7 "table"
  %launches, %ch9 = tfrt_cuda.module.get_global %module, %ch8 "launches"
  // expected-error @+1 {{CUDA_ERROR_NOT_FOUND: the module has no variable none}}
  %none, %ch10 = tfrt_cuda.module.get_global %module, %ch9 "none"

  %numbers = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch11 = tfrt_dht.set_tensor_with_constant_values.i32 %numbers, %ch9 [10 : i32, 20 : i32, 30 : i32, 40 : i32]
  %bytes, %ch12 = tfrt_dht.get_buffer %numbers, %ch11
  %size = tfrt.constant.i64 16
  %ch13 = tfrt_cuda.mem.copy_host_to_device %context, %table, %bytes, %size, %stream, %ch12
  // expected-error @+1 {{destination buffer size (4) is less than number of bytes to copy (16)}}
  %ch14 = tfrt_cuda.mem.copy_host_to_device %context, %launches, %bytes, %size, %stream, %ch12
  %x, %ch15 = tfrt_cuda.mem.allocate %allocator, %stream, %size, %ch13
  %value = tfrt.constant.ui32 3
  %count = tfrt.constant.i64 4
  %ch16 = tfrt_cuda.mem.set.ui32 %context, %x, %value, %count, %stream, %ch15
  %one = tfrt.constant.ui32 1
  %four = tfrt.constant.ui32 4
  %no_bytes = tfrt.constant.ui32 0
  %ch17 = tfrt_cuda.function.launch %add %one %one %one %four %one %one %no_bytes %stream %ch16 { cooperative = false } (%x) : (!tfrt_cuda.buffer)
  %ch18 = tfrt_cuda.mem.copy_device_to_host %context, %bytes, %x, %size, %stream, %ch17
  // CHECK-NEXT: values = [13, 23, 33, 43]
  %ch19 = tfrt_dht.print_tensor %numbers, %ch18
  %counted = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %counted_bytes, %ch20 = tfrt_dht.get_buffer %counted, %ch19
  %four_bytes = tfrt.constant.i64 4
  %ch21 = tfrt_cuda.mem.copy_device_to_host %context, %counted_bytes, %launches, %four_bytes, %stream, %ch20
  // CHECK-NEXT: values = [6]
  %ch22 = tfrt_dht.print_tensor %counted, %ch21
  tfrt.return %ch22 : !tfrt.chain
}
