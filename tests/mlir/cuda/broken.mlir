// Programs that are wrong: each gives one clear error where the mistake is, and the next function runs as if nothing had
// happened.
//
// RUN: bef_executor --device=cpu --cpu_devices=2 $(bef_name %s)
// RUN: bef_executor --device=cpu --cpu_devices=2 --work_queue_type=mstd:4 $(bef_name %s)

func @open(%index : i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %device, %ch2 = tfrt_cuda.device.get %index, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 64
  %buffer, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  tfrt.return %context, %stream, %allocator, %buffer, %ch6
    : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain
}

// A copy of more bytes than there are.
func @wrong_size() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %tensor = tfrt_dht.create_uninitialized_tensor.i8.1 [64 : i64]
  %host, %ch1 = tfrt_dht.get_buffer %tensor, %ch0
  %much = tfrt.constant.i64 65
  // expected-error @+1 {{tfrt_cuda.mem.copy_host_to_device failed: destination buffer size (64) is less than number of bytes to copy (65)}}
  %ch2 = tfrt_cuda.mem.copy_host_to_device %context, %buffer, %host, %much, %stream, %ch1
  // What depends on it is skipped, and reports nothing of its own.
  %ch3 = tfrt_cuda.mem.copy_device_to_host %context, %host, %buffer, %much, %stream, %ch2
  tfrt.return
}

func @negative_size() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %size = tfrt.constant.i64 -5
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: a buffer cannot have -5 bytes}}
  %none, %ch1 = tfrt_cuda.mem.allocate %allocator, %stream, %size, %ch0
  tfrt.return
}

// A buffer of one device on a stream of another.
func @cross_device() {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %context0, %stream0, %allocator0, %buffer0, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %allocator1, %buffer1, %ch1 = tfrt.call @open(%one) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %ch2 = tfrt.merge.chains %ch0, %ch1
  %value = tfrt.constant.ui32 1
  %count = tfrt.constant.i64 1
  // expected-error @+1 {{CUDA_ERROR_INVALID_CONTEXT: the buffer belongs to device 0}}
  %ch3 = tfrt_cuda.mem.set.ui32 %context1, %buffer0, %value, %count, %stream1, %ch2
  // expected-error @+1 {{CUDA_ERROR_INVALID_CONTEXT: the stream belongs to device 1}}
  %ch4 = tfrt_cuda.mem.set.ui32 %context0, %buffer0, %value, %count, %stream1, %ch2
  tfrt.return
}

func @double_destroy() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %ch1 = tfrt_cuda.allocator.destroy %allocator, %ch0
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the allocator was destroyed already}}
  %ch2 = tfrt_cuda.allocator.destroy %allocator, %ch1
  %size = tfrt.constant.i64 8
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the allocator was destroyed}}
  %none, %ch3 = tfrt_cuda.mem.allocate %allocator, %stream, %size, %ch1
  tfrt.return
}

// Memory that a tensor took over.
func @early_give_away() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %shape = ts.build_shape [16 : i64]
  %tensor, %ch1 = tfrt_cuda.tensor.make.f32 %buffer, %shape, %ch0
  %value = tfrt.constant.ui32 1
  %count = tfrt.constant.i64 1
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the buffer is invalid: a tensor took its memory over}}
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %value, %count, %stream, %ch1
  tfrt.return
}

func @wrong_shape() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %shape = ts.build_shape [17 : i64]
  // expected-error @+1 {{tfrt_cuda.tensor.make failed: buffer_size (64) is not equal to the number of elements in shape ([17]) times element size (4)}}
  %tensor, %ch1 = tfrt_cuda.tensor.make.f32 %buffer, %shape, %ch0
  tfrt.return
}

func @bad_ptx() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  // expected-error @+1 {{CUDA_ERROR_INVALID_PTX}}
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { frobnicate.u32 %r1; ret; }"
  // expected-error @+1 {{CUDA_ERROR_INVALID_IMAGE}}
  %other, %ch2 = tfrt_cuda.module.load %context, %ch0 "no module at all"
  tfrt.return
}

// A launch before any module is loaded.
func @no_module() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %one = tfrt.constant.ui32 1
  // expected-error @+1 {{CUDA module table has not been initialized for any device}}
  %ch1 = tfrt_cuda.launch %ch0 %context %one %one %one %one %one %one %one %stream { function_handle = 0 : ui64 }
  tfrt.return
}

// A thread beyond the end of the buffer: the launch is fine, the device finds out.
func @out_of_bounds() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry far(.param .u64 x) {\n.reg .b64 %rd<4>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nadd.s64 %rd3, %rd2, 1099511627776;\nld.global.u32 %r1, [%rd3];\nst.global.u32 [%rd2], %r1;\nret;\n}\n"
  %far, %ch2 = tfrt_cuda.function.get %module, %ch1 "far"
  %one = tfrt.constant.ui32 1
  %none = tfrt.constant.ui32 0
  %ch3 = tfrt_cuda.function.launch %far %one %one %one %one %one %one %none %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_ILLEGAL_ADDRESS}}
  %ch4 = tfrt_cuda.stream.synchronize %stream, %ch3
  tfrt.return
}

// Arguments of other sizes than the function takes, and a block that is too large.
func @wrong_parameters() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry takes(.param .u64 x, .param .f32 y) { ret; }"
  %takes, %ch2 = tfrt_cuda.function.get %module, %ch1 "takes"
  %one = tfrt.constant.ui32 1
  %none = tfrt.constant.ui32 0
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: parameter 1 of 'takes' is 4 bytes, but the argument is a buffer of 8}}
  %ch3 = tfrt_cuda.function.launch %takes %one %one %one %one %one %one %none %stream %ch2 { cooperative = false } (%buffer, %buffer) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %many = tfrt.constant.ui32 2048
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the block (2048, 1, 1) exceeds the device's (1024, 1024, 64)}}
  %ch4 = tfrt_cuda.function.launch %takes %one %one %one %many %one %one %none %stream %ch2 { cooperative = false } (%buffer, %one) : (!tfrt_cuda.buffer, ui32)
  tfrt.return
}

// A library without a stream: none is ever chosen for a program.
func @no_stream() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %blas = tfrt_cuda.blas.create %context
  %n = tfrt.constant.i32 1
  %alpha = tfrt.constant.f32 1.0
  // expected-error @+1 {{CUDA_ERROR_ILLEGAL_STATE: no stream was set for the BLAS handle}}
  %ch1 = tfrt_cuda.blas.scal.f32 %context, %blas, %n, %alpha, %buffer, %n, %ch0
  tfrt.return
}

// A library's handle of one context with another context: the call names both.
func @library_of_another_context() {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %context0, %stream0, %allocator0, %buffer0, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %allocator1, %buffer1, %ch1 = tfrt.call @open(%one) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %blas = tfrt_cuda.blas.create %context0
  %ch2 = tfrt.merge.chains %ch0, %ch1
  %ch3 = tfrt_cuda.blas.set_stream %blas, %stream0, %ch2
  %alpha = tfrt.constant.f32 1.0
  // expected-error @+1 {{CUDA_ERROR_INVALID_CONTEXT: the BLAS handle belongs to device 0}}
  %ch4 = tfrt_cuda.blas.scal.f32 %context1, %blas, %one, %alpha, %buffer0, %one, %ch3
  tfrt.return
}

// More blocks than can run at once, which would wait for each other for ever.
func @cooperative_too_large() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f(.param .u64 x) { ret; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %none = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %many = tfrt.constant.ui32 4097
  // expected-error @+1 {{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: 4097 blocks, and 4096 at most run at once}}
  %ch3 = tfrt_cuda.function.launch %f %many %one %one %one %one %one %none %stream %ch2 { cooperative = true } (%buffer) : (!tfrt_cuda.buffer)
  // Others may come one after the other.
  %ch4 = tfrt_cuda.function.launch %f %many %one %one %one %one %one %none %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  %ch5 = tfrt_cuda.stream.synchronize %stream, %ch4
  tfrt.return
}

// A type that the primitive does not take is an error of the call; the context is as good as before.
func @types_of_primitives() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %dnn, %ch1 = tfrt_cuda.dnn.create %context, %ch0
  %ch2 = tfrt_cuda.dnn.set_stream %dnn, %stream, %ch1
  %dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.i32 %dims, %ch2 [1 : i32, 4 : i32, 2 : i32, 2 : i32]
  %strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.i32 %strides, %ch3 [16 : i32, 4 : i32, 2 : i32, 1 : i32]
  %int = tfrt.constant.ui32 4
  %desc, %ch5 = tfrt_cuda.dnn.create_tensor_descriptor %context, %int, %dims, %strides, %ch4
  %fast = tfrt.constant.ui32 0
  %alpha = tfrt.constant.f32 1.0
  %beta = tfrt.constant.f32 0.0
  // expected-error @+1 {{CUDNN_STATUS_NOT_SUPPORTED: i32 elements}}
  %ch6 = tfrt_cuda.dnn.softmax_forward %context, %dnn, %fast, %fast, %alpha, %desc, %buffer, %beta, %desc, %buffer, %ch5
  // So it is with that of any tensor: the parameters have another one than the images.
  %float = tfrt.constant.ui32 0
  %x_desc, %ch7 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %dims, %strides, %ch5
  %ch8 = tfrt_dht.set_tensor_with_constant_values.i32 %dims, %ch7 [1 : i32, 4 : i32, 1 : i32, 1 : i32]
  %ch9 = tfrt_dht.set_tensor_with_constant_values.i32 %strides, %ch8 [4 : i32, 1 : i32, 1 : i32, 1 : i32]
  %p_desc, %ch10 = tfrt_cuda.dnn.create_tensor_descriptor %context, %int, %dims, %strides, %ch9
  %spatial = tfrt.constant.ui32 1
  %epsilon = tfrt.constant.f64 1.0e-3
  // expected-error @+1 {{CUDNN_STATUS_NOT_SUPPORTED: i32 elements}}
  %ch11 = tfrt_cuda.dnn.batch_normalization_forward_inference %context, %dnn, %spatial, %x_desc, %buffer, %x_desc, %buffer, %p_desc, %buffer, %buffer, %buffer, %buffer, %epsilon, %ch10
  %ch12 = tfrt_cuda.stream.synchronize %stream, %ch10
  tfrt.return
}
