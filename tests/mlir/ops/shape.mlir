// Shapes: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'identity'
func @identity() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[7, -6, 4]], [[-2, -6, -7]]]]> : tensor<1x2x1x3xi32>
  %y = corert.executeop(%cpu) "tf.Identity"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2, 1, 3], values = [7, -6, 4, -2, -6, -7]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'prevent_gradient'
func @prevent_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[7, -6, 4]], [[-2, -6, -7]]]]> : tensor<1x2x1x3xi32>
  %y = corert.executeop(%cpu) "tf.PreventGradient"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2, 1, 3], values = [7, -6, 4, -2, -6, -7]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rank'
func @rank() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[7, -6, 4]], [[-2, -6, -7]]]]> : tensor<1x2x1x3xi32>
  %y = corert.executeop(%cpu) "tf.Rank"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [], values = [4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'shape'
func @shape() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[7, -6, 4]], [[-2, -6, -7]]]]> : tensor<1x2x1x3xi32>
  %y = corert.executeop(%cpu) "tf.Shape"(%x0) { out_type = i32 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [4], values = [1, 2, 1, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'size'
func @size() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[7, -6, 4]], [[-2, -6, -7]]]]> : tensor<1x2x1x3xi32>
  %y = corert.executeop(%cpu) "tf.Size"(%x0) { out_type = i32 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [], values = [6]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'snapshot'
func @snapshot() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[7, -6, 4]], [[-2, -6, -7]]]]> : tensor<1x2x1x3xi32>
  %y = corert.executeop(%cpu) "tf.Snapshot"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2, 1, 3], values = [7, -6, 4, -2, -6, -7]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stop_gradient'
func @stop_gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[7, -6, 4]], [[-2, -6, -7]]]]> : tensor<1x2x1x3xi32>
  %y = corert.executeop(%cpu) "tf.StopGradient"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2, 1, 3], values = [7, -6, 4, -2, -6, -7]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
