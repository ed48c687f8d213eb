// Reductions: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'add_n'
func @add_n() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.3705, 1.5129, 0.3819], [-2.0491, -1.4326, -3.9679]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[-2.5454, -0.9544, -0.6353], [2.9933, 0.6887, 0.5994]]> : tensor<2x3xf32>
  %x2 = corert.const_dense_tensor dense<[[-1.5585, 0.6883, 3.322], [-1.2988, -0.0283, 2.6007]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.AddN"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-5.474400e+00, 1.246800e+00, 3.068600e+00, -3.546000e-01, -7.722000e-01, -7.6780{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'all'
func @all() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[true, true, false], [true, true, true]]> : tensor<2x3xi1>
  %x1 = corert.const_dense_tensor dense<[0]> : tensor<1xi32>
  %y = corert.executeop(%cpu) "tf.All"(%x0, %x1) { keep_dims = false } : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [3], values = [1, 1, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'any'
func @any() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[false, true, false], [false, true, true]]> : tensor<2x3xi1>
  %x1 = corert.const_dense_tensor dense<[0]> : tensor<1xi32>
  %y = corert.executeop(%cpu) "tf.Any"(%x0, %x1) { keep_dims = false } : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [3], values = [0, 1, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bias_add_grad'
func @bias_add_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[3.9021, -2.2135, 2.0344], [-0.7941, -2.8536, -0.2132]], [[-2.075, -0.7735, 0.5216], [-1.4638, 3.38, -1.2033]]]> : tensor<2x2x3xf32>
  %y = corert.executeop(%cpu) "tf.BiasAddGrad"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [-4.3079{{[0-9]+}}e-01, -2.460600e+00, 1.139500e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'l2_loss'
func @l2_loss() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.1118, 3.0761, 0.3672], [3.1079, 3.5728, 2.3961]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.L2Loss"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [2.3722{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'min'
func @min() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-0.044, 1.0234], [-1.3882, 0.2723], [0.3146, 1.9093]], [[-1.384, 1.2586], [-1.6907, 0.5158], [1.1768, 0.0643]]]> : tensor<2x3x2xf32>
  %x1 = corert.const_dense_tensor dense<[0, 1, 2]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.Min"(%x0, %x1) { keep_dims = false } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [-1.690700e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'prod'
func @prod() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0786, 1.6294], [-1.9996, 1.1114], [-1.0821, -1.6441]], [[1.8622, 0.3463], [-1.9276, -1.5704], [-0.9775, -1.3583]]]> : tensor<2x3x2xf32>
  %x1 = corert.const_dense_tensor dense<[0, 1, 2]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.Prod"(%x0, %x1) { keep_dims = false } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [-1.8010{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Of channels that come first TensorFlow adds a bias too; existing programs expect that it is refused.
// CHECK-LABEL: --- Running 'bias_of_channels_that_come_first'
func @bias_of_channels_that_come_first() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[1, 2], [3, 4], [5, 6]]]> : tensor<1x3x2xi32>
  %bias = corert.const_dense_tensor dense<[10, 20, 30]> : tensor<3xi32>
  // expected-error @+1 {{runtime error: invalid data format. Currently only support NHWC}}
  %y = corert.executeop(%cpu) "tf.BiasAdd"(%x, %bias) { data_format = "NCHW" } : 1
  tfrt.return %y : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'bias_of_another_size'
func @bias_of_another_size() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %bias = corert.const_dense_tensor dense<[10, 20, 30]> : tensor<3xi32>
  // expected-error @+1 {{runtime error: bias must has the size of the last dimension of value}}
  %y = corert.executeop(%cpu) "tf.BiasAdd"(%x, %bias) : 1
  tfrt.return %y : !corert.tensorhandle
}
