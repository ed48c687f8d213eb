// Launches under `--check`, cooperative launches, structs by value.
//
// RUN: tfrt run %s --device cpu --check --function adjacent
// RUN: not tfrt run %s --device cpu --check --function one_off 2>&1 | FileCheck %s --check-prefix=ONE-OFF
// RUN: not tfrt run %s --device cpu --check --function unwritten 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// RUN: not tfrt run %s --device cpu --check --function racing_fault 2>&1 | FileCheck %s --check-prefix=RACING
// RUN: tfrt run %s --device cpu --check --function cooperative | FileCheck %s --check-prefix=COOPERATIVE
// RUN: not tfrt run %s --device cpu --check --function struct_argument 2>&1 | FileCheck %s --check-prefix=STRUCT
// RUN: not tfrt run %s --device cpu --function many_short_blocks --deadline 300ms 2>&1 | FileCheck %s --check-prefix=SHORT

func @open() -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  tfrt.return %context, %stream, %allocator, %ch5 : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain
}

// y[i] = x[i], in one block of as many threads as there are elements.
func @copying(%context: !tfrt_cuda.context, %ch0: !tfrt.chain) -> (!tfrt_cuda.function, !tfrt.chain) {
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.4\n.target sm_30\n.address_size 64\n.visible .entry copy(.param .u64 x, .param .u64 y)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nld.global.b32 %r2, [%rd4];\nst.global.b32 [%rd5], %r2;\nret;\n}\n"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "copy"
  tfrt.return %f, %ch2 : !tfrt_cuda.function, !tfrt.chain
}

// Two buffers next to each other, both used up to their ends, are two.
func @adjacent() -> !tfrt.chain {
  %context, %stream, %allocator, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain)
  %f, %ch1 = tfrt.call @copying(%context, %ch0) : (!tfrt_cuda.context, !tfrt.chain) -> (!tfrt_cuda.function, !tfrt.chain)
  %bytes = tfrt.constant.i64 512
  %x, %ch2 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch1
  %y, %ch3 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch2
  %value = tfrt.constant.f32 3.0
  %count = tfrt.constant.i64 128
  %ch4 = tfrt_cuda.mem.set.f32 %context, %x, %value, %count, %stream, %ch3
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %threads = tfrt.constant.ui32 128
  %ch5 = tfrt_cuda.function.launch %f %one %one %one %threads %one %one %no %stream %ch4 { cooperative = false } (%x, %y) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %ch6 = tfrt_cuda.stream.synchronize %stream, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

// One element too many: an error, though the buffer behind is the launch's own. It names the instruction and the thread.
// ONE-OFF: error: launch of copy accesses 4 bytes from byte 512 of a buffer of 512 bytes: st.global.b32 at PTX line 15; block (0, 0, 0), thread (128, 0, 0)
func @one_off() -> !tfrt.chain {
  %context, %stream, %allocator, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain)
  %f, %ch1 = tfrt.call @copying(%context, %ch0) : (!tfrt_cuda.context, !tfrt.chain) -> (!tfrt_cuda.function, !tfrt.chain)
  %more = tfrt.constant.i64 516
  %bytes = tfrt.constant.i64 512
  %x, %ch2 = tfrt_cuda.mem.allocate %allocator, %stream, %more, %ch1
  %y, %ch3 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch2
  %z, %ch4 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch3
  %value = tfrt.constant.f32 3.0
  %count = tfrt.constant.i64 129
  %ch5 = tfrt_cuda.mem.set.f32 %context, %x, %value, %count, %stream, %ch4
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %threads = tfrt.constant.ui32 129
  %ch6 = tfrt_cuda.function.launch %f %one %one %one %threads %one %one %no %stream %ch5 { cooperative = false } (%x, %y) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %ch7 = tfrt_cuda.stream.synchronize %stream, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

// UNWRITTEN: error: launch of copy reads device memory that was never written{{.*}}: ld.global.b32 at PTX line 14; block (0, 0, 0), thread (64, 0, 0)
func @unwritten() -> !tfrt.chain {
  %context, %stream, %allocator, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain)
  %f, %ch1 = tfrt.call @copying(%context, %ch0) : (!tfrt_cuda.context, !tfrt.chain) -> (!tfrt_cuda.function, !tfrt.chain)
  %bytes = tfrt.constant.i64 512
  %x, %ch2 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch1
  %y, %ch3 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch2
  %value = tfrt.constant.f32 3.0
  %half = tfrt.constant.i64 64
  %ch4 = tfrt_cuda.mem.set.f32 %context, %x, %value, %half, %stream, %ch3
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %threads = tfrt.constant.ui32 128
  %ch5 = tfrt_cuda.function.launch %f %one %one %one %threads %one %one %no %stream %ch4 { cooperative = false } (%x, %y) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %ch6 = tfrt_cuda.stream.synchronize %stream, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

// The blocks meet by the workspace whose address the driver passes in two registers, as `grid.sync()` has them meet; then
// each writes how many came.
// COOPERATIVE: values = [3, 3, 3]
func @cooperative() -> !tfrt.chain {
  %context, %stream, %allocator, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry meet(.param .u64 out)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<7>;\n.reg .b64 %rd<5>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %envreg2;\nmov.u32 %r2, %envreg1;\nmov.b64 %rd2, {%r1, %r2};\nsetp.ne.s64 %p1, %rd2, 0;\n@%p1 bra THERE;\ntrap;\nTHERE:\nmov.u32 %r3, %nctaid.x;\natom.add.release.gpu.u32 %r4, [%rd2+4], 1;\nWAIT:\nld.acquire.gpu.u32 %r5, [%rd2+4];\nsetp.lt.u32 %p1, %r5, %r3;\n@%p1 bra WAIT;\nmov.u32 %r6, %ctaid.x;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], %r5;\nret;\n}\n"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "meet"
  %bytes = tfrt.constant.i64 12
  %out, %ch3 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch2
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %blocks = tfrt.constant.ui32 3
  %ch4 = tfrt_cuda.function.launch %f %blocks %one %one %one %one %one %no %stream %ch3 { cooperative = true } (%out) : (!tfrt_cuda.buffer)
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %result_bytes, %ch5 = tfrt_dht.get_buffer %result, %ch4
  %ch6 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %out, %bytes, %stream, %ch5
  %ch7 = tfrt_dht.print_tensor %result, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

// A struct of three numbers by value: the kernel takes it apart.
// STRUCT: values = [5, 6, 7]
func @struct_argument() -> !tfrt.chain {
  %context, %stream, %allocator, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.4\n.target sm_30\n.address_size 64\n.visible .entry spread(.param .u8 first, .param .align 4 .b8 numbers[12], .param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [numbers];\nld.param.u32 %r2, [numbers+4];\nld.param.u32 %r3, [numbers+8];\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\nst.global.u32 [%rd1+8], %r3;\nret;\n}\n"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "spread"
  %bytes = tfrt.constant.i64 12
  %out, %ch3 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch2
  %numbers = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.i32 %numbers, %ch3 [5 : i32, 6 : i32, 7 : i32]
  %two = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.i32 %two, %ch4 [5 : i32, 6 : i32]
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %first = tfrt.constant.ui8 9
  %ch6 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch5 { cooperative = false } (%first, %numbers, %out) : (ui8, !t.tensor, !tfrt_cuda.buffer)
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %result_bytes, %ch7 = tfrt_dht.get_buffer %result, %ch6
  %ch8 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %out, %bytes, %stream, %ch7
  %ch9 = tfrt_dht.print_tensor %result, %ch8
  // STRUCT: error: CUDA_ERROR_INVALID_VALUE: parameter 1 of 'spread' is 12 bytes, but the argument is a struct of 8
  %ch10 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch9 { cooperative = false } (%first, %two, %out) : (ui8, !t.tensor, !tfrt_cuda.buffer)
  tfrt.return %ch9 : !tfrt.chain
}

// A thousand million blocks, each of which is over at once: the launch is stopped between two of them, and named.
// SHORT: error: CUDA_ERROR_LAUNCH_TIMEOUT: the program has run out of time; kernel f: cancelled
func @many_short_blocks() -> !tfrt.chain {
  %context, %stream, %allocator, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain)
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %blocks = tfrt.constant.ui32 1000000000
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { ret; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %ch3 = tfrt_cuda.function.launch %f %blocks %one %one %one %one %one %no %stream %ch2 { cooperative = false } () : ()
  tfrt.return %ch3 : !tfrt.chain
}

// A launch that faults because another stream overwrites the pointer that it reads: the race is named, too.
// RACING: error: launch of follow on stream 1 reads bytes that memory set on stream 0 writes, and nothing orders the two
func @racing_fault() -> !tfrt.chain {
  %context, %first, %allocator, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt.chain)
  %second, %ch1 = tfrt_cuda.stream.create %context, %ch0
  %bytes = tfrt.constant.i64 64
  %buffer, %ch2 = tfrt_cuda.mem.allocate %allocator, %first, %bytes, %ch1
  %module, %ch3 = tfrt_cuda.module.load %context, %ch2 ".version 6.4\n.target sm_30\n.address_size 64\n.visible .entry follow(.param .u64 x)\n{\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [x];\nld.global.u64 %rd2, [%rd1];\nst.global.u32 [%rd2], 7;\nret;\n}\n"
  %f, %ch4 = tfrt_cuda.function.get %module, %ch3 "follow"
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %four = tfrt.constant.ui32 4
  %count = tfrt.constant.i64 8
  %ch5 = tfrt_cuda.mem.set.ui32 %context, %buffer, %four, %count, %first, %ch4
  %ch6 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %second %ch5 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  %ch7 = tfrt_cuda.stream.synchronize %second, %ch6
  %ch8 = tfrt_cuda.stream.synchronize %first, %ch7
  tfrt.return %ch8 : !tfrt.chain
}
