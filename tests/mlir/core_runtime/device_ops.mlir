// TensorFlow's ops on a device: what they compute, and which data types it has no kernel for.
//
// RUN: bef_executor --device=cpu --test_init_function=register $(bef_name %s) 2>&1 | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %zero = tfrt.constant.i32 0
  %gpu = "corert.create_gpu_op_handler"(%zero, %null) : (i32, !corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %gpu "gpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'elementwise'
func @elementwise() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[-1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32> } : 1
  %row = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[10.0, 20.0]> : tensor<2xf32> } : 1
  %relu = corert.executeop(%gpu) "tf.Relu"(%x) : 1
  %sum = corert.executeop(%gpu) "tf.AddV2"(%x, %row) : 1
  %square = corert.executeop(%gpu) "tf.SquaredDifference"(%sum, %row) : 1
  %less = corert.executeop(%gpu) "tf.Greater"(%relu, %x) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%relu) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [0, 2, 3, 0]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%sum) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [9, 22, 13, 16]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%square) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [1, 4, 9, 16]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%less) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2, 2], values = [1, 0, 0, 1]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  tfrt.return %p3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'casts'
func @casts() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[1.2, -1.2, 1.0e9]> : tensor<3xf32> } : 1
  %near = corert.executeop(%gpu) "tf.Cast"(%x) { SrcT = f32, DstT = f16 } : 1
  %a = corert.executeop(%gpu) "tf.Cast"(%near) { SrcT = f16, DstT = f32 } : 1
  %zero = corert.executeop(%gpu) "tf.Cast"(%x) { SrcT = f32, DstT = f16, Truncate = true } : 1
  %b = corert.executeop(%gpu) "tf.Cast"(%zero) { SrcT = f16, DstT = f32 } : 1
  %c = corert.executeop(%gpu) "tf.Cast"(%x) { SrcT = f32, DstT = i32 } : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [3], values = [1.20019531, -1.20019531, inf]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [3], values = [1.19921875, -1.19921875, inf]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [3], values = [1, -1, 1000000000]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'products'
func @products() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %a = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> } : 1
  %b = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf32> } : 1
  %bias = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[100.0, 200.0]> : tensor<2xf32> } : 1
  %ab = corert.executeop(%gpu) "tf.MatMul"(%a, %b) { transpose_a = false, transpose_b = false } : 1
  %aa = corert.executeop(%gpu) "tf.MatMul"(%a, %a) { transpose_a = false, transpose_b = true } : 1
  %biased = corert.executeop(%gpu) "tf.BiasAdd"(%ab, %bias) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%ab) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [4, 5, 10, 11]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%aa) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [14, 32, 32, 77]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%biased) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [104, 205, 110, 211]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'reductions'
func @reductions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32> } : 1
  %inner = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[1, -1]> : tensor<2xi32> } : 1
  %apart = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[2, 0]> : tensor<2xi32> } : 1
  %none = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[]> : tensor<0xi32> } : 1
  %a = corert.executeop(%gpu) "tf.Mean"(%x, %inner) : 1
  %b = corert.executeop(%gpu) "tf.Sum"(%x, %apart) { keep_dims = true } : 1
  %c = corert.executeop(%gpu) "_tf.Mean"(%x) { reduction_indices = dense<[0, 1, 2]> : tensor<3xi32> } : 1
  %d = corert.executeop(%gpu) "tf.Max"(%x, %none) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [2.5, 6.5]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 1], values = [14, 22]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [4.5]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%d) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2, 2], values = [1, 2, 3, 4, 5, 6, 7, 8]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  tfrt.return %p3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'layouts'
func @layouts() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = i64, value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> } : 1
  %perm = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[1, 0]> : tensor<2xi32> } : 1
  %pads = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[[1, 0], [0, 1]]> : tensor<2x2xi32> } : 1
  %shape = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[3, -1]> : tensor<2xi32> } : 1
  %axis = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<1> : tensor<i32> } : 1
  %a = corert.executeop(%gpu) "tf.Transpose"(%x, %perm) : 1
  %b = corert.executeop(%gpu) "tf.Pad"(%x, %pads) : 1
  %c = corert.executeop(%gpu) "tf.Reshape"(%x, %shape) : 1
  %d = corert.executeop(%gpu) "tf.ExpandDims"(%x, %axis) : 1
  %e = corert.executeop(%gpu) "tf.Squeeze"(%d) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [1, 4, 2, 5, 3, 6]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 4], values = [0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [1, 2, 3, 4, 5, 6]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%d) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 1, 3]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  %h4 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%e) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 3], values = [1, 2, 3, 4, 5, 6]
  %p4 = corert.executeop.seq(%gpu, %p3) "tfrt_test.print"(%h4) : 0
  tfrt.return %p4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rows'
func @rows() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[0.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32> } : 1
  %a = corert.executeop(%gpu) "tf.Softmax"(%x) : 1
  %b = corert.executeop(%gpu) "tf.LogSoftmax"(%x) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [0.5, 0.5, 0.5, 0.5]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [-0.693147{{[0-9]+}}, -0.693147{{[0-9]+}}, -0.693147{{[0-9]+}}, -0.693147{{[0-9]+}}]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  tfrt.return %p1 : !tfrt.chain
}

// Quotients and rests of integers, which of a divisor of zero are zero.
// CHECK-LABEL: --- Running 'integers'
func @integers() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[-7, 7, -7, 5]> : tensor<4xi32> } : 1
  %y = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[2, -2, -7, 0]> : tensor<4xi32> } : 1
  %floor = corert.executeop(%gpu) "tf.FloorDiv"(%x, %y) : 1
  %rest = corert.executeop(%gpu) "tf.FloorMod"(%x, %y) : 1
  %quotient = corert.executeop(%gpu) "tf.TruncateDiv"(%x, %y) : 1
  %mod = corert.executeop(%gpu) "tf.TruncateMod"(%x, %y) : 1
  %real = corert.executeop(%gpu) "tf.RealDiv"(%x, %y) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%floor) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [4], values = [-4, -4, 1, 0]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%rest) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [4], values = [1, -1, 0, 0]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%quotient) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [4], values = [-3, -3, 1, 0]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%mod) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [4], values = [-1, 1, 0, 0]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  // TensorFlow has no such kernel; in host memory it is the quotient toward zero too.
  %h4 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%real) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [4], values = [-3, -3, 1, 0]
  %p4 = corert.executeop.seq(%gpu, %p3) "tfrt_test.print"(%h4) : 0
  tfrt.return %p4 : !tfrt.chain
}

// Pieces at coordinates, zeros where there is none; where something is not zero.
// CHECK-LABEL: --- Running 'chosen'
func @chosen() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f64, value = dense<[[1.5, 0.0], [0.0, -4.0]]> : tensor<2x2xf64> } : 1
  %at = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[[1, 1], [0, 0], [0, 2]]> : tensor<3x2xi32> } : 1
  %row = corert.executeop(%gpu) "tf.Const"() { dtype = i64, value = dense<[[1]]> : tensor<1x1xi64> } : 1
  %elements = corert.executeop(%gpu) "tf.GatherNd"(%x, %at) : 1
  %rows = corert.executeop(%gpu) "tf.GatherNd"(%x, %row) : 1
  %places = corert.executeop(%gpu) "tf.Where"(%x) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%elements) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [3], values = [-4, 1.5, 0]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%rows) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2], values = [0, -4]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%places) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 2], values = [0, 0, 1, 1]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'double_precision'
func @double_precision() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f64, value = dense<[[[[1.5], [-2.0]], [[0.5], [4.0]]]]> : tensor<1x2x2x1xf64> } : 1
  %max = corert.executeop(%gpu) "tf.MaxPool"(%x) { ksize = [1, 2, 1, 1], strides = [1, 1, 1, 1], padding = "VALID" } : 1
  %mean = corert.executeop(%gpu) "tf.AvgPool"(%x) { ksize = [1, 2, 2, 1], strides = [1, 1, 1, 1], padding = "VALID" } : 1
  %logits = corert.executeop(%gpu) "tf.Const"() { dtype = f64, value = dense<[[0.0, 0.0, 0.0, 0.0]]> : tensor<1x4xf64> } : 1
  %label = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[2]> : tensor<1xi32> } : 1
  %loss:2 = corert.executeop(%gpu) "tf.SparseSoftmaxCrossEntropyWithLogits"(%logits, %label) : 2
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%max) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 1, 2, 1], values = [1.5, 4]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%mean) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 1, 1, 1], values = [1]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%loss#0) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1], values = [1.3862943611198906]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%loss#1) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 4], values = [0.25, 0.25, -0.75, 0.25]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  tfrt.return %p3 : !tfrt.chain
}

// What is not finite is seen also where a function does not rise.
// CHECK-LABEL: --- Running 'gradients'
func @gradients() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %dy = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[0x7F800000, 2.0, 0x7F800000]> : tensor<3xf32> } : 1
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[-1.0, -1.0, 1.0]> : tensor<3xf32> } : 1
  %dx = corert.executeop(%gpu) "tf.ReluGrad"(%dy, %x) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%dx) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [3], values = [nan, 0, inf]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  tfrt.return %p0 : !tfrt.chain
}

func @more_than_one(%ch: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %gpu = corert.get_op_handler %ch "gpu"
  %one = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<1.0> : tensor<f32> } : 1
  %more = corert.executeop(%gpu) "tf.Greater"(%x, %one) : 1
  tfrt.return %ch, %more : !tfrt.chain, !corert.tensorhandle
}

func @halve(%ch: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %gpu = corert.get_op_handler %ch "gpu"
  %half = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<0.5> : tensor<f32> } : 1
  %y = corert.executeop(%gpu) "tf.Mul"(%x, %half) : 1
  tfrt.return %ch, %y : !tfrt.chain, !corert.tensorhandle
}

func @keep(%ch: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  tfrt.return %ch, %x : !tfrt.chain, !corert.tensorhandle
}

// What decides is copied to the host.
// CHECK-LABEL: --- Running 'decided_on_a_device'
func @decided_on_a_device() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<100.0> : tensor<f32> } : 1
  %a:2 = corert.while @more_than_one @halve (%ch0, %x) : (!corert.tensorhandle)
  %zero = corert.executeop(%gpu) "tf.Sub"(%x, %x) : 1
  %b:2 = corert.cond %zero @halve @keep (%a#0, %a#1) : (!corert.tensorhandle)
  %c:2 = corert.cond %x @halve @keep (%b#0, %b#1) : (!corert.tensorhandle)
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b#1) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [0.78125]
  %p0 = corert.executeop.seq(%gpu, %c#0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c#1) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [0.390625]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %many = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[1.0, 2.0]> : tensor<2xf32> } : 1
  // expected-error @+1 {{a condition must be a tensor of one element, not of 2}}
  %d:2 = corert.cond %many @halve @keep (%p1, %x) : (!corert.tensorhandle)
  tfrt.return %p1 : !tfrt.chain
}

// Integers of other types than indices have, which wrap.
// CHECK-LABEL: --- Running 'integers_of_other_types'
func @integers_of_other_types() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = i16, value = dense<[[-32768, 200], [-1, 7]]> : tensor<2x2xi16> } : 1
  %relu = corert.executeop(%gpu) "tf.Relu"(%x) : 1
  %square = corert.executeop(%gpu) "tf.Square"(%x) : 1
  %bytes = corert.executeop(%gpu) "tf.Cast"(%x) { SrcT = i16, DstT = ui8 } : 1
  %axis = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<0> : tensor<i32> } : 1
  %sum = corert.executeop(%gpu) "tf.Sum"(%bytes, %axis) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%relu) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2, 2], values = [0, 200, 0, 7]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%square) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2, 2], values = [0, -25536, 1, 49]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%sum) : 1
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [255, 207]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'diagonals'
func @diagonals() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> } : 1
  %c = corert.executeop(%gpu) "tf.Const"() { dtype = complex<f64>, value = dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>> } : 1
  %nine = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<9> : tensor<i32> } : 1
  %k = corert.const_dense_tensor dense<[-1, 1]> : tensor<2xi32>
  %part = corert.executeop(%gpu) "tf.MatrixDiagPartV3"(%x, %k, %nine) { align = "RIGHT_LEFT" } : 1
  %set = corert.executeop(%gpu) "tf.MatrixSetDiagV3"(%x, %part, %k) { align = "LEFT_RIGHT" } : 1
  %matrix = corert.executeop(%gpu) "tf.MatrixDiag"(%c) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%part) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [3, 2], values = [2, 6, 1, 5, 4, 9]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%set) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2, 3], values = [1, 2, 3, 9, 5, 6]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%matrix) : 1
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [2, 2], values = [(1.000000e+00,2.000000e+00), (0.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (3.000000e+00,4.000000e+00)]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'complex_numbers'
func @complex_numbers() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = complex<f32>, value = dense<[[(1.0, 2.0), (-3.0, 4.0)]]> : tensor<1x2xcomplex<f32>> } : 1
  %root = corert.executeop(%gpu) "tf.Sqrt"(%x) : 1
  %real = corert.executeop(%gpu) "tf.Cast"(%root) { SrcT = complex<f32>, DstT = f32 } : 1
  %y = corert.executeop(%gpu) "tf.Mul"(%x, %x) : 1
  %z = corert.executeop(%gpu) "tf.BatchMatMulV2"(%x, %x) { adj_x = false, adj_y = true } : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%real) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2], values = [1.27201962, 1]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%y) : 1
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [1, 2], values = [(-3.000000e+00,4.000000e+00), (-7.000000e+00,-2.400000e+01)]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%z) : 1
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [1, 1], values = [(3.000000e+01,0.000000e+00)]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  // Sums that are broadcast, also along as many axes as there may be.
  %column = corert.executeop(%gpu) "tf.Const"() { dtype = complex<f32>, value = dense<[[(10.0, 0.0)], [(0.0, 20.0)]]> : tensor<2x1xcomplex<f32>> } : 1
  %sums = corert.executeop(%gpu) "tf.AddV2"(%x, %column) : 1
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%sums) : 1
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2, 2], values = [(1.100000e+01,2.000000e+00), (7.000000e+00,4.000000e+00), (1.000000e+00,2.200000e+01), (-3.000000e+00,2.400000e+01)]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  %a = corert.executeop(%gpu) "tf.Const"() { dtype = complex<f32>, value = dense<(1.0, 0.5)> : tensor<2x1x2x1x2x1xcomplex<f32>> } : 1
  %b = corert.executeop(%gpu) "tf.Const"() { dtype = complex<f32>, value = dense<(-1.0, 1.0)> : tensor<1x2x1x2x1x2xcomplex<f32>> } : 1
  %difference = corert.executeop(%gpu) "tf.Sub"(%a, %b) : 1
  %axes = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32> } : 1
  %sum = corert.executeop(%gpu) "tf.Sum"(%difference, %axes) : 1
  %h4 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%sum) : 1
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [], values = [(1.280000e+02,-3.200000e+01)]
  %p4 = corert.executeop.seq(%gpu, %p3) "tfrt_test.print"(%h4) : 0
  tfrt.return %p4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unsupported'
func @unsupported() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = complex<f32>, value = dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>> } : 1
  // expected-error @+1 {{'abs' has no kernel for complex<f32>}}
  %a = corert.executeop(%gpu) "tf.Abs"(%x) : 1
  // expected-error @+1 {{an op that orders numbers does not support tensors of complex<f32> on a device}}
  %b = corert.executeop(%gpu) "tf.Less"(%x, %x) : 1
  %t = corert.executeop(%gpu) "tf.Const"() { dtype = i1, value = dense<[true, false]> : tensor<2xi1> } : 1
  %axis = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<0> : tensor<i32> } : 1
  // expected-error @+1 {{'scan_sum' has no kernel for i1}}
  %c = corert.executeop(%gpu) "tf.Cumsum"(%t, %axis) : 1
  // CHECK-NEXT: 'unsupported' returned !tfrt.chain value
  tfrt.return %ch0 : !tfrt.chain
}
