// Arithmetic of two tensors: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'add'
func @add() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.8065, 0.8984, 1.3283], [0.622, 0.1697, -1.6369]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[0.7575, -1.994, -1.3197]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Add"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [4.564000e+00, -1.095600e+00, 8.5999{{[0-9]+}}e-03, 1.379500e+00, -1.824300e+00, -2.956600e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'atan2'
func @atan2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.6254, -2.0085, 3.5539], [3.1722, 0.0067, 2.4944]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-3.5915, 1.2254, 0.3594]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Atan2"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [2.3514{{[0-9]+}}e+00, -1.0229{{[0-9]+}}e+00, 1.4700{{[0-9]+}}e+00, 2.4181{{[0-9]+}}e+00, 5.4675{{[0-9]+}}e-03, 1.4276{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bitwise_and'
func @bitwise_and() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[5, -5, -1], [-4, 4, -5]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[-1, -8, 2]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.BitwiseAnd"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3], values = [5, -8, 2, -4, 0, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bitwise_or'
func @bitwise_or() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[5, -5, -1], [-4, 4, -5]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[-1, -8, 2]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.BitwiseOr"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3], values = [-1, -5, -1, -1, -4, -5]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bitwise_xor'
func @bitwise_xor() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[5, 0, 2], [4, 4, 4]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[-4, -1, -8]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.BitwiseXor"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3], values = [-7, -1, -6, -8, -5, -4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'div'
func @div() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-2.2873, -3.8563, 3.0565], [-0.4426, -2.8016, 0.7728]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.1255, 1.749, -3.937]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Div"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-2.0322{{[0-9]+}}e+00, -2.2048{{[0-9]+}}e+00, -7.7635{{[0-9]+}}e-01, -3.9324{{[0-9]+}}e-01, -1.6018{{[0-9]+}}e+00, -1.9629{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'div_no_nan'
func @div_no_nan() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.8564, -3.7163, -2.4667], [-2.1238, 2.2581, -3.1281]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-2.1904, -3.5201, 3.7915]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.DivNoNan"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-1.3040{{[0-9]+}}e+00, 1.0557{{[0-9]+}}e+00, -6.5058{{[0-9]+}}e-01, 9.6959{{[0-9]+}}e-01, -6.4148{{[0-9]+}}e-01, -8.2502{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'maximum'
func @maximum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.5603, -3.596, 1.5486], [-1.6531, 1.4881, 1.5429]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-2.9838, -2.4777, -3.095]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Maximum"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [2.560300e+00, -2.477700e+00, 1.548600e+00, -1.653100e+00, 1.488100e+00, 1.542900e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'minimum'
func @minimum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.2329, 0.4976, 3.2116], [-0.8201, -0.4148, -2.2099]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[3.5636, 3.7641, -0.867]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Minimum"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [2.232900e+00, 4.976000e-01, -8.670000e-01, -8.201000e-01, -4.148000e-01, -2.209900e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'mod'
func @mod() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.9213, 3.5665, -2.6496], [2.5591, -2.9264, 2.3895]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-0.9357, 2.2343, 1.637]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Mod"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-9.213000e-01, 1.332200e+00, -1.012600e+00, 6.8769{{[0-9]+}}e-01, -6.921000e-01, 7.5249{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'mul_no_nan'
func @mul_no_nan() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.8564, -3.7163, -2.4667], [-2.1238, 2.2581, -3.1281]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-2.1904, -3.5201, 3.7915]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.MulNoNan"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-6.2566{{[0-9]+}}e+00, 1.3081{{[0-9]+}}e+01, -9.3524{{[0-9]+}}e+00, 4.6519{{[0-9]+}}e+00, -7.9487{{[0-9]+}}e+00, -1.1860{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'pow'
func @pow() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.2508, 1.7094, 3.4784], [3.0516, 3.2855, 0.7343]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.8641, 2.4014, 3.9226]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.Pow"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [4.5372{{[0-9]+}}e+00, 3.6236{{[0-9]+}}e+00, 1.3292{{[0-9]+}}e+02, 8.0021{{[0-9]+}}e+00, 1.7400{{[0-9]+}}e+01, 2.9776{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'real_div'
func @real_div() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-2.2873, -3.8563, 3.0565], [-0.4426, -2.8016, 0.7728]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.1255, 1.749, -3.937]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.RealDiv"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-2.0322{{[0-9]+}}e+00, -2.2048{{[0-9]+}}e+00, -7.7635{{[0-9]+}}e-01, -3.9324{{[0-9]+}}e-01, -1.6018{{[0-9]+}}e+00, -1.9629{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'truncate_div'
func @truncate_div() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[6, -5, 5], [0, -3, -2]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[4, -8, -7]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.TruncateDiv"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3], values = [1, 0, 0, 0, 0, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'truncate_mod'
func @truncate_mod() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-2.6587, 1.187, 1.8184], [-1.8118, 1.2698, -2.6287]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[-1.0775, 0.929, 1.3165]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "tf.TruncateMod"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-5.037000e-01, 2.580000e-01, 5.0190{{[0-9]+}}e-01, -7.343000e-01, 3.4079{{[0-9]+}}e-01, -1.312200e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
