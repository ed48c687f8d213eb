// Tensors made of numbers: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'fill'
func @fill() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<0.1071> : tensor<f32>
  %y = corert.executeop(%cpu) "tf.Fill"(%x0, %x1) : 1
  // CHECK: ScalarHostTensor dtype = F32, shape = [2, 2], value = 1.071000e-01
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'lin_space'
func @lin_space() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<-1.0> : tensor<f32>
  %x1 = corert.const_dense_tensor dense<2.0> : tensor<f32>
  %x2 = corert.const_dense_tensor dense<5> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.LinSpace"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [5], values = [-1.000000e+00, -2.500000e-01, 5.000000e-01, 1.250000e+00, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'one_hot'
func @one_hot() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0, 2, -1, 3]> : tensor<4xi32>
  %x1 = corert.const_dense_tensor dense<3> : tensor<i32>
  %x2 = corert.const_dense_tensor dense<1.0> : tensor<f32>
  %x3 = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %y = corert.executeop(%cpu) "tf.OneHot"(%x0, %x1, %x2, %x3) { axis = -1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [4, 3], values = [1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'range'
func @range() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %x1 = corert.const_dense_tensor dense<5.0> : tensor<f32>
  %x2 = corert.const_dense_tensor dense<1.0> : tensor<f32>
  %y = corert.executeop(%cpu) "tf.Range"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [5], values = [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
