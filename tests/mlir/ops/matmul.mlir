// Products of matrices: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'batch_mat_mul'
func @batch_mat_mul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-0.3831, 1.5287, -0.8084], [-2.7925, 3.5292, 2.9347]], [[-2.7436, 0.256, -3.3535], [-2.0485, -3.9249, 1.0329]]]> : tensor<2x2x3xf32>
  // A matrix for each of the batch: the first version broadcasts nothing.
  %x1 = corert.const_dense_tensor dense<[[[0.3306, 3.8006], [0.8024, -3.9957], [0.2842, 1.1785]], [[0.3306, 3.8006], [0.8024, -3.9957], [0.2842, 1.1785]]]> : tensor<2x3x2xf32>
  %y = corert.executeop(%cpu) "tf.BatchMatMul"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2, 2], values = [8.7022{{[0-9]+}}e-01, -8.5169{{[0-9]+}}e+00, 2.7426{{[0-9]+}}e+00, -2.1256{{[0-9]+}}e+01, -1.6546{{[0-9]+}}e+00, -1.5402{{[0-9]+}}e+01, -3.5330{{[0-9]+}}e+00, 9.1144{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'batch_mat_mul_v2'
func @batch_mat_mul_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-0.3831, 1.5287, -0.8084], [-2.7925, 3.5292, 2.9347]], [[-2.7436, 0.256, -3.3535], [-2.0485, -3.9249, 1.0329]]]> : tensor<2x2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0.3306, 3.8006], [0.8024, -3.9957], [0.2842, 1.1785]]> : tensor<3x2xf32>
  %y = corert.executeop(%cpu) "tf.BatchMatMulV2"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2, 2], values = [8.7022{{[0-9]+}}e-01, -8.5169{{[0-9]+}}e+00, 2.7426{{[0-9]+}}e+00, -2.1256{{[0-9]+}}e+01, -1.6546{{[0-9]+}}e+00, -1.5402{{[0-9]+}}e+01, -3.5330{{[0-9]+}}e+00, 9.1144{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'batch_mat_mul_v3'
func @batch_mat_mul_v3() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-0.3831, 1.5287, -0.8084], [-2.7925, 3.5292, 2.9347]], [[-2.7436, 0.256, -3.3535], [-2.0485, -3.9249, 1.0329]]]> : tensor<2x2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0.3306, 3.8006], [0.8024, -3.9957], [0.2842, 1.1785]]> : tensor<3x2xf32>
  %y = corert.executeop(%cpu) "tf.BatchMatMulV3"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2, 2], values = [8.7022{{[0-9]+}}e-01, -8.5169{{[0-9]+}}e+00, 2.7426{{[0-9]+}}e+00, -2.1256{{[0-9]+}}e+01, -1.6546{{[0-9]+}}e+00, -1.5402{{[0-9]+}}e+01, -3.5330{{[0-9]+}}e+00, 9.1144{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fused_mat_mul'
func @fused_mat_mul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.1633, 3.3418, -0.0736], [-3.9548, -3.6459, 1.7034]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[3.2138, 3.6848, 0.955, -1.8122], [1.1929, -0.5916, -2.1366, -2.3937], [3.7301, 1.7322, -2.0845, -1.334]]> : tensor<3x4xf32>
  %x2 = corert.const_dense_tensor dense<[2.8304, 2.6394, -2.6223, -0.2989]> : tensor<4xf32>
  %y = corert.executeop(%cpu) "tf._FusedMatMul"(%x0, %x1, %x2) { fused_ops = ["BiasAdd", "Relu"] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 4], values = [6.0174{{[0-9]+}}e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.3322{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'einsum'
func @einsum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %x1 = corert.const_dense_tensor dense<[[1.0, -1.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%cpu) "tf.Einsum"(%x0, %x1) { equation = "ab,cb->ca" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [-1.000000e+00, -1.000000e+00, 4.000000e+00, 8.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
