// Reads 10,000 digits on a device with the trained network that comes with this program, ten times over: the CUDA device if
// there is one, else the CPU standing in for it. The compiler wrote everything below @main.
//
//   tfrt run models/mnist/device_inference.mlir
//   tfrt run models/mnist/device_inference.mlir --device cpu

func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %none = tfrt.constant.i32 0
  %count = tfrt.constant.i32 10000
  %no_images, %no_labels, %images, %labels = "tfrt_mnist.load"(%none, %count, %ch0) {seed = 1 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %p0, %p1, %p2, %p3, %p4 = tfrt.call @setup() : () -> (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph)
  %ch1 = tfrt.call @upload(%p0, %p1, %p2, %p3, %p4, %images, %ch0) : (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph, !t.tensor, !tfrt.chain) -> !tfrt.chain

  // The clock starts when everything is there.
  %ch2 = tfrt_cuda.stream.synchronize %p1, %ch1
  %start, %ch = "tfrt_mnist.now"(%ch2) : (!tfrt.chain) -> (i64, !tfrt.chain)
  %times = tfrt.constant.i32 10
  %correct = tfrt.constant.i32 0
  %last:8 = tfrt.repeat.i32 %times, %correct, %p0, %p1, %p2, %p3, %p4, %labels, %ch
      : i32, !tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph, !t.tensor, !tfrt.chain {
    %ch3 = tfrt.call @launch(%p0, %p1, %p2, %p3, %p4, %ch) : (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph, !tfrt.chain) -> !tfrt.chain
    %read, %ch4 = tfrt.call @download(%p0, %p1, %p2, %p3, %p4, %ch3) : (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
    %right, %tried = "tfrt_math.count_equal.i32"(%read, %labels, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %right, %p0, %p1, %p2, %p3, %p4, %labels, %tried : i32, !tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph, !t.tensor, !tfrt.chain
  }
  %total = tfrt.mul.i32 %times, %count
  %first = tfrt.constant.i32 0
  %device, %ch5 = tfrt_cuda.device.get %first, %last#7
  %context, %ch6 = tfrt_cuda.context.primary %device, %ch5
  %place, %placed = tfrt_cuda.context.device_name %context, %ch6
  %told = "tfrt_mnist.report_accuracy"(%last#0, %count, %total, %start, %placed, %place)
    : (i32, i32, i32, i64, !tfrt.chain, !tfrt.string) -> !tfrt.chain
  tfrt.return %told : !tfrt.chain
}

// Weights, memory, and the graph that is launched.
func @setup() -> (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph) {
  %0:4 = tfrt_mnist.trained
  %1 = tfrt.new.chain
  %2 = tfrt_cuda.init %1
  %3 = tfrt.constant.i32 0
  %4:2 = tfrt_cuda.device.get %3, %2
  %5:2 = tfrt_cuda.context.primary %4#0, %4#1
  %6:2 = tfrt_cuda.allocator.create %5#0, %5#1
  %7:2 = tfrt_cuda.stream.create %5#0, %6#1
  %8 = tfrt_cuda.op.queue %7#0
  %9 = tfrt.constant.i64 407296
  %10:2 = tfrt_cuda.mem.allocate %6#0, %7#0, %9, %7#1
  %11 = tfrt.constant.i64 36920320
  %12:2 = tfrt_cuda.mem.allocate %6#0, %7#0, %11, %10#1
  %13 = tfrt_cuda.mem.slice %10#0 {offset = 0 : i64, size = 401408 : i64}
  %14 = tfrt_cuda.tensor.upload %13, %0#0, %7#0, %12#1 {name = "w1", type = "784x128xf32"}
  %15 = tfrt_cuda.mem.slice %10#0 {offset = 401408 : i64, size = 512 : i64}
  %16 = tfrt_cuda.tensor.upload %15, %0#1, %7#0, %14 {name = "b1", type = "128xf32"}
  %17 = tfrt_cuda.mem.slice %10#0 {offset = 401920 : i64, size = 5120 : i64}
  %18 = tfrt_cuda.tensor.upload %17, %0#2, %7#0, %16 {name = "w2", type = "128x10xf32"}
  %19 = tfrt_cuda.mem.slice %10#0 {offset = 407040 : i64, size = 40 : i64}
  %20 = tfrt_cuda.tensor.upload %19, %0#3, %7#0, %18 {name = "b2", type = "10xf32"}
  %21 = tfrt.constant.f32 0.000000e+00
  %22 = tfrt.constant.i64 9230080
  %23 = tfrt_cuda.mem.set.f32 %5#0, %12#0, %21, %22, %7#0, %20
  %24 = "tfrt.call"(%12#0, %10#0, %8, %23) {callee = @run} : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.op_queue, !tfrt.chain) -> !tfrt.chain
  %25 = tfrt_cuda.stream.synchronize %7#0, %24
  %26 = tfrt_cuda.graph.begin_capture %7#0, %25
  %27 = "tfrt.call"(%12#0, %10#0, %8, %26) {callee = @run} : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.op_queue, !tfrt.chain) -> !tfrt.chain
  %28:2 = tfrt_cuda.graph.end_capture %7#0, %27
  %29:2 = tfrt_cuda.turn.create %28#1
  tfrt.return %29#0, %7#0, %12#0, %10#0, %28#0 : !tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph
}

// Queues all ops, for the graph to record them.
func @run(%arg0: !tfrt_cuda.buffer, %arg1: !tfrt_cuda.buffer, %arg2: !tfrt_cuda.op_queue, %arg3: !tfrt.chain) -> !tfrt.chain {
  %0 = tfrt_cuda.mem.slice %arg0 {offset = 5520128 : i64, size = 31360000 : i64}
  %1 = tfrt_cuda.mem.slice %arg1 {offset = 0 : i64, size = 401408 : i64}
  %2 = tfrt_cuda.mem.slice %arg1 {offset = 401408 : i64, size = 512 : i64}
  %3 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 5120000 : i64}
  %4 = tfrt_cuda.op.run %arg2, %arg3, %0, %1, %2, %3 {memory = "result 0", op_attrs = [["fused_ops", ["BiasAdd", "Relu"]], ["transpose_a", false], ["transpose_b", false]], op_name = "tf._FusedMatMul", types = "(10000x784xf32, 784x128xf32, 128xf32) -> (10000x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain
  %5 = tfrt_cuda.mem.slice %arg1 {offset = 401920 : i64, size = 5120 : i64}
  %6 = tfrt_cuda.mem.slice %arg1 {offset = 407040 : i64, size = 40 : i64}
  %7 = tfrt_cuda.mem.slice %arg0 {offset = 5120000 : i64, size = 400000 : i64}
  %8 = tfrt_cuda.op.run %arg2, %4, %3, %5, %6, %7 {memory = "result 0", op_attrs = [["fused_ops", ["BiasAdd"]], ["transpose_a", false], ["transpose_b", false]], op_name = "tf._FusedMatMul", types = "(10000x128xf32, 128x10xf32, 10xf32) -> (10000x10xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain
  %9 = corert.const_dense_tensor dense<1> : tensor<i32>
  %10 = corert.tensorhandle_to_ht %9 : (!corert.tensorhandle) -> !t.tensor
  %11 = tfrt_cuda.mem.slice %arg0 {offset = 36880128 : i64, size = 40000 : i64}
  %12 = tfrt_cuda.op.run %arg2, %8, %7, %10, %11 {memory = "result 0", op_attrs = [["output_type", i32]], op_name = "tf.ArgMax", types = "(10000x10xf32, i32) -> (10000xi32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !t.tensor, !tfrt_cuda.buffer) -> !tfrt.chain
  tfrt.return %12 : !tfrt.chain
}

// From host memory to host memory.
func @infer(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !t.tensor) -> !t.tensor {
  %0 = tfrt.new.chain
  %1:2 = tfrt_cuda.turn.take %arg0, %0
  %2 = tfrt_cuda.mem.slice %arg2 {offset = 5520128 : i64, size = 31360000 : i64}
  %3 = tfrt_cuda.tensor.upload %2, %arg5, %arg1, %1#1 {name = "images", type = "10000x784xf32"}
  %4 = tfrt_cuda.graph.launch %arg4, %arg1, %3
  %5 = tfrt_cuda.mem.slice %arg2 {offset = 36880128 : i64, size = 40000 : i64}
  %6:2 = tfrt_cuda.tensor.download %5, %arg1, %4 "10000xi32"
  %7 = tfrt_cuda.turn.give_back %1#0, %6#1
  tfrt.return %6#0 : !t.tensor
}

// Copies the inputs to the device.
func @upload(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !t.tensor, %arg6: !tfrt.chain) -> !tfrt.chain {
  %0:2 = tfrt_cuda.turn.take %arg0, %arg6
  %1 = tfrt_cuda.mem.slice %arg2 {offset = 5520128 : i64, size = 31360000 : i64}
  %2 = tfrt_cuda.tensor.upload %1, %arg5, %arg1, %0#1 {name = "images", type = "10000x784xf32"}
  %3 = tfrt_cuda.turn.give_back %0#0, %2
  tfrt.return %3 : !tfrt.chain
}

// Computes on the device.
func @launch(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !tfrt.chain) -> !tfrt.chain {
  %0:2 = tfrt_cuda.turn.take %arg0, %arg5
  %1 = tfrt_cuda.graph.launch %arg4, %arg1, %0#1
  %2 = tfrt_cuda.turn.give_back %0#0, %1
  tfrt.return %2 : !tfrt.chain
}

// Copies the outputs to the host.
func @download(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !tfrt.chain) -> (!t.tensor, !tfrt.chain) {
  %0:2 = tfrt_cuda.turn.take %arg0, %arg5
  %1 = tfrt_cuda.mem.slice %arg2 {offset = 36880128 : i64, size = 40000 : i64}
  %2:2 = tfrt_cuda.tensor.download %1, %arg1, %0#1 "10000xi32"
  %3 = tfrt_cuda.turn.give_back %0#0, %2#1
  tfrt.return %2#0, %3 : !t.tensor, !tfrt.chain
}
