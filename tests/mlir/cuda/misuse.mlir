// More programs that are wrong: handles that are destroyed, extents and limits, captures, sizes that overflow. Each mistake is
// one error at its place, and the next function runs as if nothing had happened.
//
// RUN: bef_executor --device=cpu --cpu_devices=2 $(bef_name %s)
// RUN: bef_executor --device=cpu --cpu_devices=2 --work_queue_type=mstd:4 $(bef_name %s)
// RUN: bef_executor --device=noop --cpu_devices=2 $(bef_name %s)

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

// Devices by numbers that none has; looking for devices twice finds the same ones.
func @no_such_device() {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %ch2 = tfrt_cuda.init %ch1
  %seven = tfrt.constant.i32 7
  // expected-error @+1 {{CUDA_ERROR_INVALID_DEVICE: there is no device 7; the number of devices is 2}}
  %device, %ch3 = tfrt_cuda.device.get %seven, %ch2
  %less = tfrt.constant.i32 -1
  // expected-error @+1 {{CUDA_ERROR_INVALID_DEVICE: there is no device -1; the number of devices is 2}}
  %other, %ch4 = tfrt_cuda.device.get %less, %ch2
  tfrt.return
}

// An event after its end, in each way it can be used.
func @destroyed_event() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %event, %ch1 = tfrt_cuda.event.create %context, %ch0
  %ch2 = tfrt_cuda.event.destroy %event, %ch1
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was destroyed}}
  %ch3 = tfrt_cuda.event.record %event, %stream, %ch2
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was destroyed}}
  %ch4 = tfrt_cuda.event.poll %event, %ch2
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was destroyed}}
  %ch5 = tfrt_cuda.stream.wait %stream, %event, %ch2
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was destroyed already}}
  %ch6 = tfrt_cuda.event.destroy %event, %ch2
  tfrt.return
}

// An event of one context recorded on a stream of another, and times of events that have none.
func @foreign_event() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %one = tfrt.constant.i32 1
  %context1, %stream1, %allocator1, %buffer1, %ch1 = tfrt.call @open(%one) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %event, %ch2 = tfrt_cuda.event.create %context, %ch1
  // expected-error @+1 {{CUDA_ERROR_INVALID_CONTEXT: the event belongs to device 0}}
  %ch3 = tfrt_cuda.event.record %event, %stream1, %ch2
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was created without timing}}
  %ms, %ch4 = tfrt_cuda.event.elapsed %event, %event, %ch2
  %timed, %ch5 = tfrt_cuda.event.create_with_timing %context, %ch2
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the event was never recorded}}
  %late, %ch6 = tfrt_cuda.event.elapsed %timed, %timed, %ch5
  tfrt.return
}

// Grids and blocks that are empty or exceed the device, and more shared memory than there is.
func @bad_extents() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f(.param .u64 x) { ret; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %none = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %side = tfrt.constant.ui32 33
  %far = tfrt.constant.ui32 65536
  %most = tfrt.constant.ui32 4294967295
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the grid (0, 1, 1) is empty}}
  %ch3 = tfrt_cuda.function.launch %f %none %one %one %one %one %one %none %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the block (1, 1, 0) is empty}}
  %ch4 = tfrt_cuda.function.launch %f %one %one %one %one %one %none %none %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the grid (1, 65536, 1) exceeds the device's (2147483647, 65535, 65535)}}
  %ch5 = tfrt_cuda.function.launch %f %one %far %one %one %one %one %none %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the grid (4294967295, 4294967295, 4294967295) exceeds}}
  %ch6 = tfrt_cuda.function.launch %f %most %most %most %one %one %one %none %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: a block of 1089 threads exceeds the device's 1024}}
  %ch7 = tfrt_cuda.function.launch %f %one %one %one %side %side %one %none %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: 4294967295 bytes of shared memory exceed the device's 232448 for a block}}
  %ch8 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %most %stream %ch2 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  tfrt.return
}

// Arguments of a launch that are no numbers and no buffers.
func @not_an_argument() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f(.param .u64 x) { ret; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %none = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  // expected-error @+1 {{Unsupported argument type provided to tfrt_cuda.launch: argument 0 is a !tfrt_cuda.stream}}
  %ch3 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %none %stream %ch2 { cooperative = false } (%stream) : (!tfrt_cuda.stream)
  tfrt.return
}

// Tables of functions whose lists do not fit each other.
func @malformed_tables() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  // expected-error @+1 {{CUDA module table spec is malformed; Mismatch between total size of functions per module and size of function table; 2 vs 1}}
  %ch1 = tfrt_cuda.module.load_static %context, %ch0 { modules = [".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f(.param .u64 x) { ret; }"], funcs_per_module = [2 : i32], functions = ["f"] }
  // expected-error @+1 {{CUDA module table spec is malformed; Invalid function count (-1) specified for module 0}}
  %ch2 = tfrt_cuda.module.load_static %context, %ch0 { modules = [".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f(.param .u64 x) { ret; }"], funcs_per_module = [-1 : i32], functions = ["f"] }
  tfrt.return
}

// A table of functions that is there already.
func @loaded_twice() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %ch1 = tfrt_cuda.module.load_static %context, %ch0 { modules = [".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f(.param .u64 x) { ret; }"], funcs_per_module = [1 : i32], functions = ["f"] }
  // expected-error @+1 {{Unable to load CUDA module table. Table has already been created for device 0}}
  %ch2 = tfrt_cuda.module.load_static %context, %ch1 { modules = [".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f(.param .u64 x) { ret; }"], funcs_per_module = [1 : i32], functions = ["f"] }
  tfrt.return
}

// Captures that are begun twice or never, and what cannot be captured.
func @capture_misuse() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  // expected-error @+1 {{CUDA_ERROR_ILLEGAL_STATE: the stream is not being captured}}
  %none, %ch1 = tfrt_cuda.graph.end_capture %stream, %ch0
  %ch2 = tfrt_cuda.graph.begin_capture %stream, %ch0
  // expected-error @+1 {{CUDA_ERROR_ILLEGAL_STATE: the stream is being captured already}}
  %ch3 = tfrt_cuda.graph.begin_capture %stream, %ch2
  // expected-error @+1 {{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: a stream cannot be waited for while it is captured}}
  %ch4 = tfrt_cuda.stream.synchronize %stream, %ch2
  %bytes = tfrt.constant.i64 8
  // expected-error @+1 {{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: memory cannot be allocated while a stream is captured}}
  %memory, %ch5 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch2
  %event, %ch6 = tfrt_cuda.event.create %context, %ch2
  %ch7 = tfrt_cuda.event.record %event, %stream, %ch6
  // expected-error @+1 {{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: the host can neither query nor wait for an event that was recorded in a capture}}
  %ch8 = tfrt_cuda.event.synchronize %event, %ch7
  tfrt.return
}

// More memory than there is, than an allocator may have, and than can be counted.
func @too_much_memory() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %most = tfrt.constant.i64 9223372036854775807
  // expected-error @+1 {{out of device memory: 9223372036854775807 bytes}}
  %huge, %ch1 = tfrt_cuda.mem.allocate %allocator, %stream, %most, %ch0
  %limit = tfrt.constant.i64 1048576
  %limited, %ch2 = tfrt_cuda.allocator.create_with_limit %context, %limit, %ch0
  %more = tfrt.constant.i64 1048577
  // expected-error @+1 {{out of device memory: 1048577 bytes}}
  %over, %ch3 = tfrt_cuda.mem.allocate %limited, %stream, %more, %ch2
  %less = tfrt.constant.i64 -1
  // expected-error @+1 {{the limit is -1}}
  %never, %ch4 = tfrt_cuda.allocator.create_with_limit %context, %less, %ch0
  // expected-error @+1 {{the size is -1}}
  %pinned, %ch5 = tfrt_cuda.mem.allocate_host %context, %less, %ch0
  // expected-error @+1 {{CUDA_ERROR_OUT_OF_MEMORY}}
  %pinned_huge, %ch6 = tfrt_cuda.mem.allocate_host %context, %most, %ch0
  tfrt.return
}

// Counts, pitches and heights whose bytes exceed the buffer or cannot be counted.
func @sizes_that_overflow() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %most = tfrt.constant.i64 9223372036854775807
  %value = tfrt.constant.ui32 1
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE}}
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %buffer, %value, %most, %stream, %ch0
  %less = tfrt.constant.i64 -1
  // expected-error @+1 {{the count is -1}}
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %value, %less, %stream, %ch0
  %four = tfrt.constant.i64 4
  %eight = tfrt.constant.i64 8
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the destination: rows of 8 bytes do not fit a pitch of 4}}
  %ch3 = tfrt_cuda.mem.copy_2d %context, %buffer, %four, %buffer, %eight, %eight, %four, %stream, %ch0
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the destination is too large}}
  %ch4 = tfrt_cuda.mem.copy_2d %context, %buffer, %most, %buffer, %most, %four, %eight, %stream, %ch0
  // expected-error @+1 {{tfrt_cuda.mem.copy_device_to_device failed: the number of bytes to copy is -1}}
  %ch5 = tfrt_cuda.mem.copy_device_to_device %context, %buffer, %buffer, %less, %stream, %ch0
  tfrt.return
}

// Host memory that is pinned twice, or unpinned without being pinned.
func @host_memory() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %tensor = tfrt_dht.create_uninitialized_tensor.i8.1 [64 : i64]
  %host, %ch1 = tfrt_dht.get_buffer %tensor, %ch0
  %other = tfrt_dht.create_uninitialized_tensor.i8.1 [64 : i64]
  %unpinned, %ch2 = tfrt_dht.get_buffer %other, %ch0
  // expected-error @+1 {{CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED}}
  %ch6 = tfrt_cuda.mem.unregister %context, %unpinned, %ch2
  %ch3 = tfrt_cuda.mem.register %context, %host, %ch1
  // expected-error @+1 {{CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED}}
  %ch4 = tfrt_cuda.mem.register %context, %host, %ch3
  %ch5 = tfrt_cuda.mem.unregister %context, %host, %ch4
  tfrt.return
}

// A buffer whose memory two tensors want, and one that a tensor's buffer shares.
func @taken_over_twice() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %shape = ts.build_shape [16 : i64]
  %tensor, %ch1 = tfrt_cuda.tensor.make.f32 %buffer, %shape, %ch0
  // expected-error @+1 {{Cannot make tensor from invalid (moved from?) buffer}}
  %other, %ch2 = tfrt_cuda.tensor.make.f32 %buffer, %shape, %ch1
  tfrt.return
}

// A BLAS handle after its end.
func @destroyed_library() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %blas = tfrt_cuda.blas.create %context
  %ch1 = tfrt_cuda.blas.destroy %blas, %ch0
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the BLAS handle was destroyed}}
  %ch2 = tfrt_cuda.blas.set_stream %blas, %stream, %ch1
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the BLAS handle was destroyed already}}
  %ch3 = tfrt_cuda.blas.destroy %blas, %ch1
  tfrt.return
}

// Vectors longer than their buffers, and one of a negative length.
func @blas_beyond_its_operands() {
  %zero = tfrt.constant.i32 0
  %context, %stream, %allocator, %buffer, %ch0 = tfrt.call @open(%zero) : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.allocator, !tfrt_cuda.buffer, !tfrt.chain)
  %blas = tfrt_cuda.blas.create %context
  %ch1 = tfrt_cuda.blas.set_stream %blas, %stream, %ch0
  %n = tfrt.constant.i32 17
  %one = tfrt.constant.i32 1
  %most = tfrt.constant.i32 2147483647
  %less = tfrt.constant.i32 -1
  %alpha = tfrt.constant.f32 1.0
  // expected-error @+1 {{CUBLAS_STATUS_INVALID_VALUE: x takes 17 elements of type f32, but its buffer has 64 bytes}}
  %ch2 = tfrt_cuda.blas.scal.f32 %context, %blas, %n, %alpha, %buffer, %one, %ch1
  // expected-error @+1 {{CUBLAS_STATUS_INVALID_VALUE: x takes 4611686011984936963 elements of type f32, but its buffer has 64 bytes}}
  %ch3 = tfrt_cuda.blas.scal.f32 %context, %blas, %most, %alpha, %buffer, %most, %ch1
  // expected-error @+1 {{CUBLAS_STATUS_INVALID_VALUE: n is -1}}
  %ch4 = tfrt_cuda.blas.scal.f32 %context, %blas, %less, %alpha, %buffer, %one, %ch1
  tfrt.return
}
