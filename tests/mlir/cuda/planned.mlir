// What programs with planned memory use: parts of buffers, copies of whole tensors, and ops in given places.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: tfrt run $(bef_name %s) --function sums --device cpu --check | FileCheck --check-prefix=CHECKED %s
// RUN: tfrt run $(bef_name %s) --function scattered --device cpu --check | FileCheck --check-prefix=SCATTERED %s
// RUN: tfrt run $(bef_name %s) --function slices --device cpu --check

// CHECK-LABEL: --- Running 'slices'
func @slices() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 32
  %arena, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %eight = tfrt.constant.i64 8
  %four = tfrt.constant.i64 4
  %one = tfrt.constant.f32 1.0
  %two = tfrt.constant.f32 2.0
  %ch7 = tfrt_cuda.mem.set.f32 %context, %arena, %one, %eight, %stream, %ch6

  // A fill and a copy within parts of one buffer. A part of a part counts from its own beginning.
  %half = tfrt_cuda.mem.slice %arena {offset = 16 : i64, size = 16 : i64}
  %quarter = tfrt_cuda.mem.slice %half {offset = 8 : i64, size = 8 : i64}
  %first = tfrt_cuda.mem.slice %arena {offset = 0 : i64, size = 8 : i64}
  %n = tfrt.constant.i64 2
  %ch8 = tfrt_cuda.mem.set.f32 %context, %quarter, %two, %n, %stream, %ch7
  %ch9 = tfrt_cuda.mem.copy_device_to_device %context, %first, %quarter, %eight, %stream, %ch8
  %result = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %result_bytes, %ch10 = tfrt_dht.get_buffer %result, %ch9
  %ch11 = tfrt_cuda.mem.copy_device_to_host %context, %result_bytes, %arena, %bytes, %stream, %ch10
  // CHECK-NEXT: values = [2.000000e+00, 2.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]
  %ch12 = tfrt_dht.print_tensor %result, %ch11
  tfrt.return %ch12 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'too_long'
func @too_long() -> !tfrt_cuda.buffer {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 32
  %arena, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: a slice (16 bytes from byte 24) exceeds a buffer of 32 bytes}}
  %part = tfrt_cuda.mem.slice %arena {offset = 24 : i64, size = 16 : i64}
  tfrt.return %part : !tfrt_cuda.buffer
}

// A sum and a product by ops in one arena, recorded as a graph and launched twice.
// CHECK-LABEL: --- Running 'sums'
func @sums() -> (!t.tensor, !t.tensor) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 1024
  %arena, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %a = tfrt_cuda.mem.slice %arena {offset = 0 : i64, size = 16 : i64}
  %b = tfrt_cuda.mem.slice %arena {offset = 256 : i64, size = 16 : i64}
  %y = tfrt_cuda.mem.slice %arena {offset = 512 : i64, size = 16 : i64}
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %x = corert.tensorhandle_to_ht %x0 : (!corert.tensorhandle) -> !t.tensor
  %ch7 = tfrt_cuda.tensor.upload %a, %x, %stream, %ch6 {name = "x", type = "2x2xf32"}
  %queue = tfrt_cuda.op.queue_with_tf32 %stream
  %ch8 = tfrt.call @step(%queue, %a, %b, %y, %ch7) : (!tfrt_cuda.op_queue, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  %first, %ch9 = tfrt_cuda.tensor.download %y, %stream, %ch8 "2x2xf32"
  %ch10 = tfrt_cuda.stream.synchronize %stream, %ch9
  %ch11 = tfrt_cuda.graph.begin_capture %stream, %ch10
  %ch12 = tfrt.call @step(%queue, %a, %b, %y, %ch11) : (!tfrt_cuda.op_queue, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  %graph, %ch13 = tfrt_cuda.graph.end_capture %stream, %ch12
  %ch14 = tfrt_cuda.graph.launch %graph, %stream, %ch13
  %ch15 = tfrt_cuda.graph.launch %graph, %stream, %ch14
  %second, %ch16 = tfrt_cuda.tensor.download %y, %stream, %ch15 "2x2xf32"
  tfrt.return %first, %second : !t.tensor, !t.tensor
}

// CHECKED: result 0: !t.tensor = {{.*}}values = [1.400000e+01, 2.000000e+01, 3.000000e+01, 4.400000e+01]
// CHECKED: result 1: !t.tensor = {{.*}}values = [1.400000e+01, 2.000000e+01, 3.000000e+01, 4.400000e+01]
func @step(%queue: !tfrt_cuda.op_queue, %a: !tfrt_cuda.buffer, %b: !tfrt_cuda.buffer, %y: !tfrt_cuda.buffer, %ch0: !tfrt.chain) -> !tfrt.chain {
  %ch1 = tfrt_cuda.op.run %queue, %ch0, %a, %a, %b {memory = "result 0", op_attrs = [], op_name = "tf.AddV2", types = "(2x2xf32, 2x2xf32) -> (2x2xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain
  %ch2 = tfrt_cuda.op.run %queue, %ch1, %b, %a, %y {memory = "result 0", op_attrs = [], op_name = "tf.MatMul", types = "(2x2xf32, 2x2xf32) -> (2x2xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// Indices in device memory choose the elements that are replaced. Of two for one element the last counts, one below zero
// counts from the end, and one that is out of bounds is dropped.
// CHECK-LABEL: --- Running 'scattered'
// SCATTERED: values = [1.000000e+00, 2.000000e+00, 2.000000e+01]
func @scattered() -> !t.tensor {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 2048
  %arena, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %a = tfrt_cuda.mem.slice %arena {offset = 0 : i64, size = 12 : i64}
  %i = tfrt_cuda.mem.slice %arena {offset = 256 : i64, size = 24 : i64}
  %u = tfrt_cuda.mem.slice %arena {offset = 512 : i64, size = 12 : i64}
  %y = tfrt_cuda.mem.slice %arena {offset = 768 : i64, size = 12 : i64}
  %scratch = tfrt_cuda.mem.slice %arena {offset = 1024 : i64, size = 256 : i64}
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x = corert.tensorhandle_to_ht %x0 : (!corert.tensorhandle) -> !t.tensor
  %ch7 = tfrt_cuda.tensor.upload %a, %x, %stream, %ch6 {name = "x", type = "3xf32"}
  %indices0 = corert.const_dense_tensor dense<[[2], [-1], [5]]> : tensor<3x1xi64>
  %indices = corert.tensorhandle_to_ht %indices0 : (!corert.tensorhandle) -> !t.tensor
  %ch8 = tfrt_cuda.tensor.upload %i, %indices, %stream, %ch7 {name = "indices", type = "3x1xi64"}
  %updates0 = corert.const_dense_tensor dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %updates = corert.tensorhandle_to_ht %updates0 : (!corert.tensorhandle) -> !t.tensor
  %ch9 = tfrt_cuda.tensor.upload %u, %updates, %stream, %ch8 {name = "updates", type = "3xf32"}
  %queue = tfrt_cuda.op.queue %stream
  %ch10 = tfrt_cuda.op.run %queue, %ch9, %a, %i, %u, %y, %scratch {memory = "scratch 0 24, result 0", op_attrs = [], op_name = "onnx.ScatterND", types = "(3xf32, 3x1xi64, 3xf32) -> (3xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain
  %result, %ch11 = tfrt_cuda.tensor.download %y, %stream, %ch10 "3xf32"
  tfrt.return %result : !t.tensor
}

// CHECK-LABEL: --- Running 'wrong_type'
func @wrong_type() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 16
  %a, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %x = corert.tensorhandle_to_ht %x0 : (!corert.tensorhandle) -> !t.tensor
  // expected-error @+1 {{'x' must be F32 [4], but it is F32 [2]}}
  %ch7 = tfrt_cuda.tensor.upload %a, %x, %stream, %ch6 {name = "x", type = "4xf32"}
  tfrt.return %ch7 : !tfrt.chain
}

// A turn can be taken again when it was given back.
// CHECK-LABEL: --- Running 'turns'
func @turns() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %turns, %ch1 = tfrt_cuda.turn.create %ch0
  %first, %ch2 = tfrt_cuda.turn.take %turns, %ch1
  %one = tfrt.constant.i32 1
  // CHECK-NEXT: int32 = 1
  %ch3 = tfrt.print.i32 %one, %ch2
  %ch4 = tfrt_cuda.turn.give_back %first, %ch3
  %second, %ch5 = tfrt_cuda.turn.take %turns, %ch4
  %two = tfrt.constant.i32 2
  // CHECK-NEXT: int32 = 2
  %ch6 = tfrt.print.i32 %two, %ch5
  %ch7 = tfrt_cuda.turn.give_back %second, %ch6
  tfrt.return %ch7 : !tfrt.chain
}
