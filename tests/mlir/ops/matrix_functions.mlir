// Functions of matrices beyond systems of real numbers: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'eigenvalues'
func @eigenvalues() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %y0, %y1 = corert.executeop(%cpu) "tf.Eig"(%x0) : 2
  // CHECK: shape = [2], values = [
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: shape = [2, 2], values = [
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'determinant'
func @determinant() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %y0 = corert.executeop(%cpu) "tf.MatrixDeterminant"(%x0) : 1
  // CHECK: dtype = F32, shape = [], values = [8.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'logarithm'
func @logarithm() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[(1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %y0 = corert.executeop(%cpu) "tf.MatrixLogarithm"(%x0) : 1
  // CHECK: shape = [2, 2], values = [
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'least_squares'
func @least_squares() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[[3.0], [8.0], [5.0]]> : tensor<3x1xf32>
  %x2 = corert.const_dense_tensor dense<0.0> : tensor<f64>
  %y0 = corert.executeop(%cpu) "tf.MatrixSolveLs"(%x0, %x1, %x2) { fast = false } : 1
  // CHECK: dtype = F32, shape = [2, 1], values = [3.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
