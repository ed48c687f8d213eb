// Sparse and ragged tensors, lists and bits: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'order'
func @order() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 0], [0, 2], [0, 1]]> : tensor<3x2xi64>
  %y0 = corert.executeop(%cpu) "tfrt.SparseOrder"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [2, 1, 0]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'reshape'
func @reshape() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[3, 4]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[2, -1]> : tensor<2xi64>
  %y0, %y1 = corert.executeop(%cpu) "tf.SparseReshape"(%x0, %x1, %x2) : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [3, 2], values = [0, 1, 0, 4, 1, 4]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [2, 6]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'union'
func @union() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>
  %y0, %y1 = corert.executeop(%cpu) "tfrt.SparseUnion"(%x0, %x1) : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [4, 2], values = [0, 0, 0, 1, 1, 0, 2, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [5], values = [1, 2, 3, 2, 0]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fill'
func @fill() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 1], [2, 2]]> : tensor<2x2xi64>
  %x1 = corert.const_dense_tensor dense<[3, 4]> : tensor<2xi64>
  %y0, %y1, %y2, %y3 = corert.executeop(%cpu) "tfrt.SparseFillEmptyRows"(%x0, %x1) : 4
  // CHECK: DenseHostTensor dtype = I64, shape = [3, 2], values = [0, 1, 1, 0, 2, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [0, 2, 1]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I1, shape = [3], values = [0, 1, 0]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [0, 2]
  %ch4 = "corert.print_tensorhandle"(%y3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'slice'
func @slice() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[3, 4]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[1, 0]> : tensor<2xi64>
  %x3 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.SparseSlice"(%x0, %x1, %x2, %x3) : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [2, 2], values = [0, 0, 1, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [1, 2]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [2, 3]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'concat'
func @concat() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[[0, 0]]> : tensor<1x2xi64>
  %x2 = corert.const_dense_tensor dense<[3, 4]> : tensor<2xi64>
  %x3 = corert.const_dense_tensor dense<[3, 4]> : tensor<2xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.SparseConcat"(%x0, %x1, %x2, %x3) { concat_dim = 1 : i64 } : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [4, 2], values = [0, 1, 0, 4, 1, 0, 2, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [4], values = [0, 3, 1, 2]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [3, 8]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'groups'
func @groups() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[3, 4]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[1]> : tensor<1xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.SparseGroups"(%x0, %x1, %x2) { keep_dims = true } : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [0, 1, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [], values = [3]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [3, 1]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'edits'
func @edits() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [0, 1], [1, 0]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi64>
  %x2 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x3 = corert.const_dense_tensor dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>
  %x4 = corert.const_dense_tensor dense<[1, 4]> : tensor<2xi64>
  %x5 = corert.const_dense_tensor dense<[2, 1]> : tensor<2xi64>
  %y0 = corert.executeop(%cpu) "tfrt.EditDistance"(%x0, %x1, %x2, %x3, %x4, %x5) { normalize = false } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [1.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gather'
func @gather() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[2, 0]> : tensor<2xi64>
  %x1 = corert.const_dense_tensor dense<[0, 2, 2, 5]> : tensor<4xi64>
  %y0, %y1 = corert.executeop(%cpu) "tfrt.RaggedGather"(%x0, %x1) : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [0, 3, 5]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [5], values = [2, 3, 4, 0, 1]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'coordinates'
func @coordinates() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[5]> : tensor<1xi64>
  %x1 = corert.const_dense_tensor dense<[0, 2, 2, 5]> : tensor<4xi64>
  %y0, %y1 = corert.executeop(%cpu) "tfrt.RaggedCoordinates"(%x0, %x1) : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [5, 2], values = [0, 0, 0, 1, 2, 0, 2, 1, 2, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [3, 3]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'range'
func @range() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0, 8]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[3, 2]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[1, -2]> : tensor<2xi32>
  %y0, %y1 = corert.executeop(%cpu) "tf.RaggedRange"(%x0, %x1, %x2) : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [0, 3, 6]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [6], values = [0, 1, 2, 8, 6, 4]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'difference'
func @difference() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 1, 2, 3]> : tensor<4xi32>
  %x1 = corert.const_dense_tensor dense<[1]> : tensor<1xi32>
  %y0, %y1 = corert.executeop(%cpu) "tf.ListDiff"(%x0, %x1) : 2
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [3, 2, 3]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [0, 2, 3]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'leftshift'
func @leftshift() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[5, -8]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y0 = corert.executeop(%cpu) "tf.LeftShift"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2], values = [10, -32]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rightshift'
func @rightshift() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[5, -8]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y0 = corert.executeop(%cpu) "tf.RightShift"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2], values = [2, -2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ones'
func @ones() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[5, -1]> : tensor<2xi32>
  %y0 = corert.executeop(%cpu) "tf.PopulationCount"(%x0) : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [2], values = [2, 32]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
