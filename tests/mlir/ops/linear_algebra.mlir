// Linear algebra: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'cholesky'
func @cholesky() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %y0 = corert.executeop(%cpu) "tf.Cholesky"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [2.000000e+00, 0.000000e+00, 5.000000e-01, 1.6583{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'inverse'
func @inverse() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %y0 = corert.executeop(%cpu) "tf.MatrixInverse"(%x0) { adjoint = false } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [2.7272{{[0-9]+}}e-01, -9.0909{{[0-9]+}}e-02, -9.0909{{[0-9]+}}e-02, 3.6363{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'root'
func @root() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %y0 = corert.executeop(%cpu) "tf.MatrixSquareRoot"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [1.9815{{[0-9]+}}e+00, 2.7083{{[0-9]+}}e-01, 2.7083{{[0-9]+}}e-01, 1.7107{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'solve'
func @solve() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %x1 = corert.const_dense_tensor dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.MatrixSolve"(%x0, %x1) { adjoint = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 1], values = [9.0909{{[0-9]+}}e-02, 6.3636{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'triangular'
func @triangular() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %x1 = corert.const_dense_tensor dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.MatrixTriangularSolve"(%x0, %x1) { adjoint = false, lower = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 1], values = [2.5000{{[0-9]+}}e-01, 5.8333{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'logdet'
func @logdet() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %y0, %y1 = corert.executeop(%cpu) "tf.LogMatrixDeterminant"(%x0) : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [2.3978{{[0-9]+}}e+00]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'lu'
func @lu() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %y0, %y1 = corert.executeop(%cpu) "tf.Lu"(%x0) : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [4.000000e+00, 1.000000e+00, 2.5000{{[0-9]+}}e-01, 2.7500{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [2], values = [0, 1]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'qr'
func @qr() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.0, 1.0], [4.0, 2.0]]> : tensor<2x2xf32>
  %y0, %y1 = corert.executeop(%cpu) "tf.Qr"(%x0) { full_matrices = false } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [-6.000000e-01, -8.000000e-01, -8.000000e-01, 6.000000e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [-5.000000e+00, -2.2000{{[0-9]+}}e+00, 0.000000e+00, 4.000000e-01]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'svd'
func @svd() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.0, 0.0], [0.0, 4.0]]> : tensor<2x2xf32>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tf.Svd"(%x0) { compute_uv = false } : 3
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [4.000000e+00, 3.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [0.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [0.000000e+00]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'eigen'
func @eigen() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.0, 1.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %y0, %y1 = corert.executeop(%cpu) "tf.SelfAdjointEigV2"(%x0) { compute_v = false } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [2.3819{{[0-9]+}}e+00, 4.6180{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [0.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tridiagonal'
func @tridiagonal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 9.0], [4.0, 5.0], [9.0, 1.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %y0 = corert.executeop(%cpu) "tf.TridiagonalSolve"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 1], values = [1.5789{{[0-9]+}}e-01, 3.6842{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
