// Tensors put together: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'concat'
func @concat() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<0> : tensor<i32>
  %x1 = corert.const_dense_tensor dense<[[[-0.1059, 0.7192, 3.8988], [-0.6796, 3.3918, -0.943]], [[-3.503, 1.6284, -2.7329], [-2.6087, 1.2154, 0.9372]]]> : tensor<2x2x3xf32>
  %x2 = corert.const_dense_tensor dense<[[[-0.1059, 0.7192, 3.8988], [-0.6796, 3.3918, -0.943]], [[-3.503, 1.6284, -2.7329], [-2.6087, 1.2154, 0.9372]]]> : tensor<2x2x3xf32>
  %y = corert.executeop(%cpu) "tf.Concat"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [4, 2, 3], values = [-1.059000e-01, 7.192000e-01, 3.898800e+00, -6.796000e-01, 3.391800e+00, -9.430000e-01, -3.503000e+00, 1.628400e+00, -2.732900e+00, -2.608700e+00, 1.215400e+00, 9.372000e-01, -1.059000e-01, 7.192000e-01, 3.898800e+00, -6.796000e-01, 3.391800e+00, -9.430000e-01, -3.503000e+00, 1.628400e+00, -2.732900e+00, -2.608700e+00, 1.215400e+00, 9.372000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'concat_v2'
func @concat_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.8761, 1.7431, 1.728], [-1.0894, -0.1566, -1.6112]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[-3.4409, -0.2713, 0.8854], [2.6973, 1.4571, 1.025]]> : tensor<2x3xf32>
  %x2 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.ConcatV2"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 6], values = [-1.876100e+00, 1.743100e+00, 1.728000e+00, -3.440900e+00, -2.713000e-01, 8.854000e-01, -1.089400e+00, -1.566000e-01, -1.611200e+00, 2.697300e+00, 1.457100e+00, 1.025000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Scalars count as vectors of one element.
// CHECK-LABEL: --- Running 'concat_scalars'
func @concat_scalars() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<1.5> : tensor<f32>
  %x1 = corert.const_dense_tensor dense<2.5> : tensor<f32>
  %axis = corert.const_dense_tensor dense<0> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.ConcatV2"(%x0, %x1, %axis) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [1.500000e+00, 2.500000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'pack'
func @pack() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.8761, 1.7431, 1.728], [-1.0894, -0.1566, -1.6112]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[-3.4409, -0.2713, 0.8854], [2.6973, 1.4571, 1.025]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.Pack"(%x0, %x1) { axis = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2, 3], values = [-1.876100e+00, 1.743100e+00, 1.728000e+00, -3.440900e+00, -2.713000e-01, 8.854000e-01, -1.089400e+00, -1.566000e-01, -1.611200e+00, 2.697300e+00, 1.457100e+00, 1.025000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
