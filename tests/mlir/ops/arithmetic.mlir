// Arithmetic, comparisons and mathematics of whole tensors, and their errors.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'broadcasting'
func @broadcasting() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %row = corert.const_dense_tensor dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %column = corert.const_dense_tensor dense<[[10], [-20]]> : tensor<2x1xi32>
  %sum = corert.executeop(%cpu) "tf.AddV2"(%row, %column) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3], values = [11, 12, 13, -19, -18, -17]
  %ch1 = "corert.print_tensorhandle"(%sum, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // Quotients are rounded down, and remainders have the divisor's sign.
  %quotient = corert.executeop(%cpu) "tf.FloorDiv"(%column, %row) : 1
  // CHECK: values = [10, 5, 3, -20, -10, -7]
  %ch2 = "corert.print_tensorhandle"(%quotient, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %rest = corert.executeop(%cpu) "tf.FloorMod"(%column, %row) : 1
  // CHECK: values = [0, 0, 1, 0, 0, 1]
  %ch3 = "corert.print_tensorhandle"(%rest, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %less = corert.executeop(%cpu) "tf.Less"(%quotient, %rest) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 3], values = [0, 0, 0, 1, 1, 1]
  %ch4 = "corert.print_tensorhandle"(%less, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %chosen = corert.executeop(%cpu) "tf.SelectV2"(%less, %row, %column) : 1
  // CHECK: values = [10, 10, 10, 1, 2, 3]
  %ch5 = "corert.print_tensorhandle"(%chosen, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'scalars_stay_scalars'
func @scalars_stay_scalars() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %zeros = corert.executeop(%cpu) "tf.ZerosLike"(%x) : 1
  %ones = corert.executeop(%cpu) "tf.OnesLike"(%x) : 1
  %sum = corert.executeop(%cpu) "tf.Sub"(%zeros, %ones) : 1
  // CHECK: ScalarHostTensor dtype = F32, shape = [2], value = -1.000000e+00
  %ch1 = "corert.print_tensorhandle"(%sum, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %relu = corert.executeop(%cpu) "tf.Relu"(%sum) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [0.000000e+00, 0.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%relu, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'shapes_that_do_not_fit'
func @shapes_that_do_not_fit() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %y = corert.const_dense_tensor dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // expected-error @+1 {{runtime error: Incompatible shapes: [2] vs. [3]}}
  %sum = corert.executeop(%cpu) "tf.Mul"(%x, %y) : 1
  tfrt.return %sum : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'integers_divided_by_zero'
func @integers_divided_by_zero() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y = corert.const_dense_tensor dense<[1, 0]> : tensor<2xi32>
  // expected-error @+1 {{runtime error: Integer division by zero}}
  %quotient = corert.executeop(%cpu) "tf.FloorDiv"(%x, %y) : 1
  tfrt.return %quotient : !corert.tensorhandle
}
