// Launches of two streams that hand bytes over by a flag while they run. With fences that is an order.
//
// RUN: tfrt run %s --device cpu --check --function fenced | FileCheck %s --check-prefix=FENCED
// RUN: not tfrt run %s --device cpu --check --function unfenced 2>&1 | FileCheck %s --check-prefix=UNFENCED

// Two streams, memory for eight numbers and memory for a flag, both cleared.
func @open() -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %first, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %second, %ch5 = tfrt_cuda.stream.create %context, %ch4
  %allocator, %ch6 = tfrt_cuda.allocator.create %context, %ch5
  %bytes = tfrt.constant.i64 32
  %data, %ch7 = tfrt_cuda.mem.allocate %allocator, %first, %bytes, %ch6
  %flag, %ch8 = tfrt_cuda.mem.allocate %allocator, %first, %bytes, %ch7
  %no = tfrt.constant.ui32 0
  %eight = tfrt.constant.i64 8
  %ch9 = tfrt_cuda.mem.set.ui32 %context, %data, %no, %eight, %first, %ch8
  %ch10 = tfrt_cuda.mem.set.ui32 %context, %flag, %no, %eight, %first, %ch9
  %ch11 = tfrt_cuda.stream.synchronize %first, %ch10
  tfrt.return %context, %first, %second, %data, %flag, %ch11
    : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain
}

// FENCED: values = [7, 8]
func @fenced() -> !tfrt.chain {
  %context, %first, %second, %data, %flag, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry tell(.param .u64 data, .param .u64 flag)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [flag];\nst.global.u32 [%rd1], 7;\nst.release.gpu.global.u32 [%rd2], 1;\nret;\n}\n.visible .entry hear(.param .u64 data, .param .u64 flag)\n{\n.reg .pred %p;\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [flag];\nWAIT:\nld.acquire.gpu.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra WAIT;\nld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd1+4], %r2;\nret;\n}\n"
  %tell, %ch2 = tfrt_cuda.function.get %module, %ch1 "tell"
  %hear, %ch3 = tfrt_cuda.function.get %module, %ch2 "hear"
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %ch4 = tfrt_cuda.function.launch %tell %one %one %one %one %one %one %no %first %ch3 { cooperative = false } (%data, %flag) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %ch5 = tfrt_cuda.function.launch %hear %one %one %one %one %one %one %no %second %ch4 { cooperative = false } (%data, %flag) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %host, %ch6 = tfrt_dht.get_buffer %result, %ch5
  %ch7 = tfrt_cuda.stream.synchronize %first, %ch6
  %bytes = tfrt.constant.i64 8
  %ch8 = tfrt_cuda.mem.copy_device_to_host %context, %host, %data, %bytes, %second, %ch7
  %ch9 = tfrt_dht.print_tensor %result, %ch8
  tfrt.return %ch9 : !tfrt.chain
}

// The flag is volatile, but no fence lies between it and the data.
// UNFENCED: error: launch of hear on stream 1 reads bytes that launch of tell on stream 0 writes, and nothing orders the two
func @unfenced() -> !tfrt.chain {
  %context, %first, %second, %data, %flag, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry tell(.param .u64 data, .param .u64 flag)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [flag];\nst.global.u32 [%rd1], 7;\nst.volatile.global.u32 [%rd2], 1;\nret;\n}\n.visible .entry hear(.param .u64 data, .param .u64 flag)\n{\n.reg .pred %p;\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [flag];\nWAIT:\nld.volatile.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra WAIT;\nld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1+4], %r2;\nret;\n}\n"
  %tell, %ch2 = tfrt_cuda.function.get %module, %ch1 "tell"
  %hear, %ch3 = tfrt_cuda.function.get %module, %ch2 "hear"
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %ch4 = tfrt_cuda.function.launch %tell %one %one %one %one %one %one %no %first %ch3 { cooperative = false } (%data, %flag) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %ch5 = tfrt_cuda.function.launch %hear %one %one %one %one %one %one %no %second %ch4 { cooperative = false } (%data, %flag) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %ch6 = tfrt_cuda.stream.synchronize %first, %ch5
  %ch7 = tfrt_cuda.stream.synchronize %second, %ch6
  tfrt.return %ch7 : !tfrt.chain
}
