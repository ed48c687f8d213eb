// Ops of which TensorFlow makes gradients, a band of a matrix, its diagonals, and tensors turned around.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) 2>&1 | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// The gradient of a matrix plus a column: what the column was repeated along is summed.
// CHECK-LABEL: --- Running 'broadcasts'
func @broadcasts() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.executeop(%cpu) "tf.Const"() { dtype = f32, value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> } : 1
  %column = corert.executeop(%cpu) "tf.Const"() { dtype = f32, value = dense<[[1.0], [2.0]]> : tensor<2x1xf32> } : 1
  %shapes:2 = corert.executeop(%cpu) "tf.ShapeN"(%x, %column) { N = 2 : i64, T = f32, out_type = i32 } : 2
  %axes:2 = corert.executeop(%cpu) "tf.BroadcastGradientArgs"(%shapes#0, %shapes#1) { T = i32 } : 2
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [0], values = []
  %p0 = corert.executeop.seq(%cpu, %ch0) "tfrt_test.print"(%axes#0) : 0
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1], values = [1]
  %p1 = corert.executeop.seq(%cpu, %p0) "tfrt_test.print"(%axes#1) : 0
  %sums = corert.executeop(%cpu) "tf.Sum"(%x, %axes#1) { keep_dims = true } : 1
  // CHECK-NEXT: shape = [2, 1], values = [6.000000e+00, 1.500000e+01]
  %p2 = corert.executeop.seq(%cpu, %p1) "tfrt_test.print"(%sums) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'places'
func @places() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %axis = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<1> : tensor<i32> } : 1
  %a = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<[2, 3]> : tensor<2xi32> } : 1
  %b = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<[2, 1]> : tensor<2xi32> } : 1
  %offsets:3 = corert.executeop(%cpu) "tf.ConcatOffset"(%axis, %a, %b, %a) { N = 3 : i64 } : 3
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [0, 4]
  %p0 = corert.executeop.seq(%cpu, %ch0) "tfrt_test.print"(%offsets#2) : 0
  %turn = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<[2, 0, 1]> : tensor<3xi32> } : 1
  %back = corert.executeop(%cpu) "tf.InvertPermutation"(%turn) { T = i32 } : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [3], values = [1, 2, 0]
  %p1 = corert.executeop.seq(%cpu, %p0) "tfrt_test.print"(%back) : 0
  %c = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<[3, 1]> : tensor<2xi32> } : 1
  // expected-error @+1 {{All dimensions except 1 must match. Input 1 has shape [3, 1] and doesn't match input 0 with shape [2, 3] along 0}}
  %wrong:2 = corert.executeop(%cpu) "tf.ConcatOffset"(%axis, %a, %c) { N = 2 : i64 } : 2
  tfrt.return %p1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'elements'
func @elements() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.executeop(%cpu) "tf.Const"() { dtype = i64, value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64> } : 1
  %ids = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<[1, -1, 1]> : tensor<3xi32> } : 1
  %two = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<2> : tensor<i32> } : 1
  %sums = corert.executeop(%cpu) "tf.UnsortedSegmentSum"(%x, %ids, %two) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 2], values = [0, 0, 6, 8]
  %p0 = corert.executeop.seq(%cpu, %ch0) "tfrt_test.print"(%sums) : 0
  %zero = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<0> : tensor<i32> } : 1
  %all = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<-1> : tensor<i32> } : 1
  %triangle = corert.executeop(%cpu) "tf.MatrixBandPart"(%x, %all, %zero) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [1, 0, 3, 4, 5, 6]
  %p1 = corert.executeop.seq(%cpu, %p0) "tfrt_test.print"(%triangle) : 0
  %turned = corert.executeop(%cpu) "tf.Roll"(%x, %two, %zero) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [3, 4, 5, 6, 1, 2]
  %p2 = corert.executeop.seq(%cpu, %p1) "tfrt_test.print"(%turned) : 0
  // expected-error @+1 {{segment_ids: 1 is out of range [0, 0)}}
  %wrong = corert.executeop(%cpu) "tf.UnsortedSegmentSum"(%x, %ids, %zero) : 1
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'diagonals'
func @diagonals() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.executeop(%cpu) "tf.Const"() { dtype = i64, value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64> } : 1
  %two = corert.executeop(%cpu) "tf.Const"() { dtype = i64, value = dense<[7, 8]> : tensor<2xi64> } : 1
  %band = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<[-1, 1]> : tensor<2xi32> } : 1
  %above = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<1> : tensor<i32> } : 1
  %below = corert.executeop(%cpu) "tf.Const"() { dtype = i32, value = dense<-1> : tensor<i32> } : 1
  %nine = corert.executeop(%cpu) "tf.Const"() { dtype = i64, value = dense<9> : tensor<i64> } : 1
  %r0 = corert.executeop(%cpu) "tf.MatrixDiagPart"(%x) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [1, 4]
  %p1 = corert.executeop.seq(%cpu, %ch0) "tfrt_test.print"(%r0) : 0
  %r1 = corert.executeop(%cpu) "tf.MatrixDiagPartV2"(%x, %below, %nine) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [3, 6]
  %p2 = corert.executeop.seq(%cpu, %p1) "tfrt_test.print"(%r1) : 0
  %r2 = corert.executeop(%cpu) "tf.MatrixDiagPartV3"(%x, %band, %nine) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [9, 2, 1, 4, 3, 6]
  %p3 = corert.executeop.seq(%cpu, %p2) "tfrt_test.print"(%r2) : 0
  %r3 = corert.executeop(%cpu) "tf.MatrixDiagPartV3"(%x, %band, %nine) { align = "LEFT_RIGHT" } : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [2, 9, 1, 4, 3, 6]
  %p4 = corert.executeop.seq(%cpu, %p3) "tfrt_test.print"(%r3) : 0
  %r4 = corert.executeop(%cpu) "tf.MatrixDiag"(%two) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 2], values = [7, 0, 0, 8]
  %p5 = corert.executeop.seq(%cpu, %p4) "tfrt_test.print"(%r4) : 0
  %r5 = corert.executeop(%cpu) "tf.MatrixDiagV2"(%two, %above, %below, %below, %nine) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 3], values = [9, 7, 9, 9, 9, 8, 9, 9, 9]
  %p6 = corert.executeop.seq(%cpu, %p5) "tfrt_test.print"(%r5) : 0
  %r6 = corert.executeop(%cpu) "tf.MatrixDiagV3"(%r2, %band, %below, %below, %nine) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 2], values = [1, 2, 3, 4]
  %p7 = corert.executeop.seq(%cpu, %p6) "tfrt_test.print"(%r6) : 0
  %r7 = corert.executeop(%cpu) "tf.MatrixSetDiag"(%x, %two) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [7, 2, 3, 8, 5, 6]
  %p8 = corert.executeop.seq(%cpu, %p7) "tfrt_test.print"(%r7) : 0
  %r8 = corert.executeop(%cpu) "tf.MatrixSetDiagV2"(%x, %two, %below) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [1, 2, 7, 4, 5, 8]
  %p9 = corert.executeop.seq(%cpu, %p8) "tfrt_test.print"(%r8) : 0
  %r9 = corert.executeop(%cpu) "tf.MatrixSetDiagV3"(%x, %r2, %band) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3, 2], values = [1, 2, 3, 4, 5, 6]
  %p10 = corert.executeop.seq(%cpu, %p9) "tfrt_test.print"(%r9) : 0
  %column = corert.const_dense_tensor dense<[[1], [2]]> : tensor<2x1xi64>
  // expected-error @+1 {{no diagonal 1 in matrices of 2 x 1}}
  %wrong = corert.executeop(%cpu) "tf.MatrixDiagPartV3"(%column, %band, %nine) : 1
  tfrt.return %p10 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'scatter_nd'
func @scatter_nd() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %x1 = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %x2 = corert.const_dense_tensor dense<[3]> : tensor<1xi32>
  %y = corert.executeop(%cpu) "tf.ScatterNd"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [2, 0, 4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tensor_scatter_update'
func @tensor_scatter_update() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %x1 = corert.const_dense_tensor dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %x2 = corert.const_dense_tensor dense<[1, 7, 5]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.TensorScatterUpdate"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [7, 2, 5]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tensor_scatter_add'
func @tensor_scatter_add() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %x1 = corert.const_dense_tensor dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %x2 = corert.const_dense_tensor dense<[1, 7, 5]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.TensorScatterAdd"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [8, 2, 9]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tensor_scatter_sub'
func @tensor_scatter_sub() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %x1 = corert.const_dense_tensor dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %x2 = corert.const_dense_tensor dense<[1, 7, 5]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.TensorScatterSub"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [-6, 2, -3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tensor_scatter_max'
func @tensor_scatter_max() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %x1 = corert.const_dense_tensor dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %x2 = corert.const_dense_tensor dense<[1, 7, 5]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.TensorScatterMax"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [7, 2, 5]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tensor_scatter_min'
func @tensor_scatter_min() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %x1 = corert.const_dense_tensor dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %x2 = corert.const_dense_tensor dense<[1, 7, 5]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.TensorScatterMin"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [1, 2, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
