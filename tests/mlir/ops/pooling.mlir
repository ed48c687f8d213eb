// Pooling and its gradients: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'avg_pool_grad'
func @avg_pool_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 4, 4, 1]> : tensor<4xi32>
  %x1 = corert.const_dense_tensor dense<[[[[-3.4945], [-3.2322]], [[-1.622], [1.0576]]]]> : tensor<1x2x2x1xf32>
  %y = corert.executeop(%cpu) "tf.AvgPoolGrad"(%x0, %x1) { ksize = [1 : i64, 3 : i64, 2 : i64, 1 : i64], padding = "SAME", strides = [1 : i64, 3 : i64, 3 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 4, 4, 1], values = [-8.7362{{[0-9]+}}e-01, -8.7362{{[0-9]+}}e-01, 0.000000e+00, -1.616100e+00, -8.7362{{[0-9]+}}e-01, -8.7362{{[0-9]+}}e-01, 0.000000e+00, -1.616100e+00, -4.055000e-01, -4.055000e-01, 0.000000e+00, 5.288000e-01, -4.055000e-01, -4.055000e-01, 0.000000e+00, 5.288000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'max_pool_grad'
func @max_pool_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[-1.789], [-2.4404], [2.4966], [-1.7728]], [[-0.0753], [-2.2235], [-1.4515], [3.0982]], [[-1.7634], [3.3218], [-2.5052], [-2.4469]], [[-3.8734], [0.4146], [-0.4801], [-0.0007]]]]> : tensor<1x4x4x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[[-0.0753], [3.0982]], [[3.3218], [-0.0007]]]]> : tensor<1x2x2x1xf32>
  %x2 = corert.const_dense_tensor dense<[[[[-3.4945], [-3.2322]], [[-1.622], [1.0576]]]]> : tensor<1x2x2x1xf32>
  %y = corert.executeop(%cpu) "tf.MaxPoolGrad"(%x0, %x1, %x2) { ksize = [1 : i64, 3 : i64, 2 : i64, 1 : i64], padding = "SAME", strides = [1 : i64, 3 : i64, 3 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 4, 4, 1], values = [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, -3.494500e+00, 0.000000e+00, 0.000000e+00, -3.232200e+00, 0.000000e+00, -1.622000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.057600e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
