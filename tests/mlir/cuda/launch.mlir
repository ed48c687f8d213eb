// Modules, functions, launches and graphs.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// y[i] = a * x[i] + y[i], launched through the module table.
// CHECK-LABEL: --- Running 'saxpy'
func @saxpy() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %ch6 = tfrt_cuda.module.load_static %context, %ch5 {
    modules = [".version 6.4\n.target sm_30\n.address_size 64\n.visible .entry saxpy(\n.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)\n{\n.reg .pred %p<2>;\n.reg .f32 %f<5>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<8>;\nld.param.u32 %r2, [n];\nld.param.f32 %f4, [a];\nld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\nmad.lo.s32 %r1, %r4, %r3, %r5;\nsetp.ge.s32 %p1, %r1, %r2;\n@%p1 bra DONE;\ncvta.to.global.u64 %rd3, %rd2;\ncvta.to.global.u64 %rd4, %rd1;\nmul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nadd.s64 %rd7, %rd3, %rd5;\nld.global.f32 %f1, [%rd7];\nld.global.f32 %f2, [%rd6];\nfma.rn.f32 %f3, %f4, %f2, %f1;\nst.global.f32 [%rd7], %f3;\nDONE:\nret;\n}\n"],
    funcs_per_module = [1 : i32],
    functions = ["saxpy"]
  }
  %bytes = tfrt.constant.i64 16
  %x, %ch7 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch6
  %y, %ch8 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch7
  %three = tfrt.constant.f32 3.0
  %one_f = tfrt.constant.f32 1.0
  %count = tfrt.constant.i64 4
  %ch9 = tfrt_cuda.mem.set.f32 %context, %x, %three, %count, %stream, %ch8
  %ch10 = tfrt_cuda.mem.set.f32 %context, %y, %one_f, %count, %stream, %ch9
  %one = tfrt.constant.ui32 1
  %four = tfrt.constant.ui32 4
  %none = tfrt.constant.ui32 0
  %n = tfrt.constant.i32 4
  %a = tfrt.constant.f32 2.0
  %ch11 = tfrt_cuda.launch %ch10 %context %one %one %one %four %one %one %none %stream
          { function_handle = 0 : ui64 } (%n, %a, %x, %y) : (i32, f32, !tfrt_cuda.buffer, !tfrt_cuda.buffer)
  %result = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %result_bytes, %ch12 = tfrt_dht.get_buffer %result, %ch11
  %ch13 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %y, %bytes, %stream, %ch12
  // CHECK-NEXT: values = [7.000000e+00, 7.000000e+00, 7.000000e+00, 7.000000e+00]
  %ch14 = tfrt_dht.print_tensor %result, %ch13

  // What does not fit is an error before anything is launched.
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: 'saxpy' takes 4 parameters, but is launched with 1}}
  %ch15 = tfrt_cuda.launch %ch14 %context %one %one %one %four %one %one %none %stream
          { function_handle = 0 : ui64 } (%n) : (i32)
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: parameter 2 of 'saxpy' is 8 bytes, but the argument is a f32 of 4}}
  %ch16 = tfrt_cuda.launch %ch14 %context %one %one %one %four %one %one %none %stream
          { function_handle = 0 : ui64 } (%n, %a, %a, %y) : (i32, f32, f32, !tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: the grid (1, 0, 1) is empty}}
  %ch17 = tfrt_cuda.launch %ch14 %context %one %none %one %four %one %one %none %stream
          { function_handle = 0 : ui64 } (%n, %a, %x, %y) : (i32, f32, !tfrt_cuda.buffer, !tfrt_cuda.buffer)
  // expected-error @+1 {{function handle 1 is not one of the 1 that were loaded}}
  %ch18 = tfrt_cuda.launch %ch14 %context %one %one %one %four %one %one %none %stream { function_handle = 1 : ui64 }
  %ch19 = tfrt_cuda.allocator.destroy %allocator, %ch14
  tfrt.return %ch19 : !tfrt.chain
}

// A module and a function as values; a graph of two launches, launched twice.
// CHECK-LABEL: --- Running 'graphs'
func @graphs() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %module, %ch6 = tfrt_cuda.module.load %context, %ch5 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry twice(.param .u64 x) {\n.reg .b64 %rd<5>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];\nadd.u32 %r3, %r2, %r2;\nst.global.u32 [%rd4], %r3;\nret;\n}\n"
  %twice, %ch7 = tfrt_cuda.function.get %module, %ch6 "twice"
  // expected-error @+1 {{CUDA_ERROR_NOT_FOUND}}
  %thrice, %ch8 = tfrt_cuda.function.get %module, %ch6 "thrice"
  %one = tfrt.constant.ui32 1
  %four = tfrt.constant.ui32 4
  %none = tfrt.constant.ui32 0
  %blocks, %ch9 = tfrt_cuda.function.occupancy %twice, %four, %none, %ch7
  %bytes = tfrt.constant.i64 16
  %x, %ch10 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch9
  %count = tfrt.constant.i64 4
  %ch11 = tfrt_cuda.mem.set.ui32 %context, %x, %one, %count, %stream, %ch10
  %ch12 = tfrt_cuda.graph.begin_capture %stream, %ch11
  %ch13 = tfrt_cuda.function.launch %twice %one %one %one %four %one %one %none %stream %ch12
          { cooperative = false } (%x) : (!tfrt_cuda.buffer)
  %ch14 = tfrt_cuda.function.launch %twice %one %one %one %four %one %one %none %stream %ch13
          { cooperative = false } (%x) : (!tfrt_cuda.buffer)
  // expected-error @+1 {{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED}}
  %ch15 = tfrt_cuda.stream.synchronize %stream, %ch14
  %graph, %ch16 = tfrt_cuda.graph.end_capture %stream, %ch14
  %nodes = tfrt_cuda.graph.node_count %graph
  // CHECK-NEXT: int64 = 2
  %ch17 = tfrt.print.i64 %nodes, %ch16
  %ch18 = tfrt_cuda.graph.launch %graph, %stream, %ch17
  %ch19 = tfrt_cuda.graph.launch %graph, %stream, %ch18
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %result_bytes, %ch20 = tfrt_dht.get_buffer %result, %ch19
  %ch21 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %x, %bytes, %stream, %ch20
  // CHECK-NEXT: values = [16, 16, 16, 16]
  %ch22 = tfrt_dht.print_tensor %result, %ch21
  // expected-error @+1 {{CUDA_ERROR_ILLEGAL_STATE: the stream is not being captured}}
  %no_graph, %ch23 = tfrt_cuda.graph.end_capture %stream, %ch22
  %ch24 = tfrt_cuda.allocator.destroy %allocator, %ch22
  tfrt.return %ch24 : !tfrt.chain
}

// CUDA C++ needs NVRTC; text that is none is an error with or without it.
// CHECK-LABEL: --- Running 'compile'
func @compile() {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  // expected-error @+1 {{NVRTC_ERROR_}}
  %module, %ch4 = tfrt_cuda.module.compile %context, %ch3 "this is no C++"
  tfrt.return
}

// A function that strides over the grid is given as many blocks as the device runs at once.
// CHECK-LABEL: --- Running 'strided'
func @strided() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %negate, %ch6 = tfrt_cuda.function.builtin %context, %ch5 "neg_f32"
  %bytes = tfrt.constant.i64 400000
  %count = tfrt.constant.i64 100000
  %x, %ch7 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch6
  %three = tfrt.constant.f32 3.0
  %ch8 = tfrt_cuda.mem.set.f32 %context, %x, %three, %count, %stream, %ch7
  %threads = tfrt.constant.ui32 25000
  %ch9 = tfrt_cuda.function.launch_strided %negate %threads %stream %ch8 (%x, %x, %count) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, i64)
  %last = tfrt_cuda.mem.slice %x {offset = 399992 : i64, size = 8 : i64}
  %result = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %result_bytes, %ch10 = tfrt_dht.get_buffer %result, %ch9
  %eight = tfrt.constant.i64 8
  %ch11 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %last, %eight, %stream, %ch10
  %ch12 = tfrt_cuda.stream.synchronize %stream, %ch11
  // CHECK-NEXT: values = [-3.000000e+00, -3.000000e+00]
  %ch13 = tfrt_dht.print_tensor %result, %ch12
  // A buffer is no stream's function: the function takes three arguments.
  // expected-error @+1 {{launch}}
  %ch14 = tfrt_cuda.function.launch_strided %negate %threads %stream %ch13 (%x) : (!tfrt_cuda.buffer)
  %ch15 = tfrt_cuda.allocator.destroy %allocator, %ch13
  tfrt.return %ch15 : !tfrt.chain
}
