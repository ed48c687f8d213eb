// Comparisons, logic and choices: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'equal'
func @equal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.5977, 3.4404, -1.1012], [-2.7551, 0.0002, -0.1437]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[0.3662, -3.5734, -1.9963]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Equal"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 3], values = [0, 0, 0, 0, 0, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'greater_equal'
func @greater_equal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.4674, -0.8277, 3.1808], [1.0459, -2.4693, 1.8418]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-0.6966, 2.1755, -0.2327]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.GreaterEqual"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 3], values = [0, 0, 1, 1, 0, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'less_equal'
func @less_equal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.0918, 0.0701, -1.2865], [2.247, -3.8165, 2.525]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-2.1766, -1.6556, 0.7008]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.LessEqual"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 3], values = [0, 0, 1, 0, 1, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'logical_and'
func @logical_and() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[true], [false]]> : tensor<2x1xi1>
  %x1 = corert.const_dense_tensor dense<[true, false]> : tensor<2xi1>
  %y = corert.executeop(%cpu) "tf.LogicalAnd"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 2], values = [1, 0, 0, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'logical_not'
func @logical_not() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[true, false]> : tensor<2xi1>
  %y = corert.executeop(%cpu) "tf.LogicalNot"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2], values = [0, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'logical_or'
func @logical_or() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[true], [false]]> : tensor<2x1xi1>
  %x1 = corert.const_dense_tensor dense<[true, false]> : tensor<2xi1>
  %y = corert.executeop(%cpu) "tf.LogicalOr"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 2], values = [1, 1, 1, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'not_equal'
func @not_equal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.0866, 2.5761, 2.0371], [2.3827, 0.8739, 0.2635]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[3.912, 0.2685, 3.3443]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.NotEqual"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 3], values = [1, 1, 1, 1, 1, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'select'
func @select() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[true, false]> : tensor<2xi1>
  %x1 = corert.const_dense_tensor dense<[[-2.0624, -2.2268], [-2.9441, -2.6295]]> : tensor<2x2xf32>
  %x2 = corert.const_dense_tensor dense<[[-1.6827, 1.7497], [-2.0408, -2.9493]]> : tensor<2x2xf32>
  %y = corert.executeop(%cpu) "tf.Select"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [-2.062400e+00, -2.226800e+00, -2.040800e+00, -2.949300e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'where'
func @where() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.0, 0.0, -0.5048], [-2.354, -1.9503, -3.3914]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.Where"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [4, 2], values = [0, 2, 1, 0, 1, 1, 1, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
