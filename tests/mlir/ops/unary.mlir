// Functions of one element: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'abs'
func @abs() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.6537, -3.6089, -1.2021, 1.8438, -0.7945], [-1.0908, 3.8475, -3.6638, -0.7645, 0.3535]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Abs"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [6.537000e-01, 3.608900e+00, 1.202100e+00, 1.843800e+00, 7.945000e-01, 1.090800e+00, 3.847500e+00, 3.663800e+00, 7.645000e-01, 3.535000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'acos'
func @acos() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.1746, 0.0166, 0.6616, 0.8729, -0.3527], [-0.4548, -0.1104, 0.0702, 0.8657, 0.0054]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Acos"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.7462{{[0-9]+}}e+00, 1.5541{{[0-9]+}}e+00, 8.4784{{[0-9]+}}e-01, 5.0968{{[0-9]+}}e-01, 1.9312{{[0-9]+}}e+00, 2.0429{{[0-9]+}}e+00, 1.6814{{[0-9]+}}e+00, 1.5005{{[0-9]+}}e+00, 5.2424{{[0-9]+}}e-01, 1.5653{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'acosh'
func @acosh() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[6.1087, 1.3549, 6.5175, 3.496, 2.0299], [5.654, 1.2461, 3.5603, 2.7586, 1.9296]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Acosh"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [2.4960{{[0-9]+}}e+00, 8.1938{{[0-9]+}}e-01, 2.561700e+00, 1.9236{{[0-9]+}}e+00, 1.3340{{[0-9]+}}e+00, 2.4175{{[0-9]+}}e+00, 6.8792{{[0-9]+}}e-01, 1.9426{{[0-9]+}}e+00, 1.6732{{[0-9]+}}e+00, 1.2753{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'asin'
func @asin() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.4914, 0.3819, 0.4081, -0.8822, 0.2437], [0.7059, 0.6981, 0.8165, -0.4175, 0.1906]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Asin"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [5.1369{{[0-9]+}}e-01, 3.9185{{[0-9]+}}e-01, 4.2037{{[0-9]+}}e-01, -1.0805{{[0-9]+}}e+00, 2.4617{{[0-9]+}}e-01, 7.8369{{[0-9]+}}e-01, 7.7274{{[0-9]+}}e-01, 9.5532{{[0-9]+}}e-01, -4.3069{{[0-9]+}}e-01, 1.9177{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'asinh'
func @asinh() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.6816, 0.5488, -1.2843, -3.6077, -3.232], [-0.8955, 3.2223, 3.7482, -3.9051, 2.5008]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Asinh"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [6.3752{{[0-9]+}}e-01, 5.2442{{[0-9]+}}e-01, -1.0688{{[0-9]+}}e+00, -1.9948{{[0-9]+}}e+00, -1.8893{{[0-9]+}}e+00, -8.0551{{[0-9]+}}e-01, 1.8864{{[0-9]+}}e+00, 2.0317{{[0-9]+}}e+00, -2.0714{{[0-9]+}}e+00, 1.6475{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'atan'
func @atan() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-3.5175, 1.8676, -1.3956, 2.0571, -3.9276], [-1.8907, -0.434, 1.5135, -2.385, 0.9743]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Atan"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-1.2938{{[0-9]+}}e+00, 1.0791{{[0-9]+}}e+00, -9.4905{{[0-9]+}}e-01, 1.1183{{[0-9]+}}e+00, -1.3214{{[0-9]+}}e+00, -1.0842{{[0-9]+}}e+00, -4.0946{{[0-9]+}}e-01, 9.8692{{[0-9]+}}e-01, -1.1737{{[0-9]+}}e+00, 7.7238{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'atanh'
func @atanh() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.1267, -0.6364, -0.5607, -0.3418, 0.5436], [-0.8517, 0.4371, 0.2732, -0.6446, -0.8358]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Atanh"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.2738{{[0-9]+}}e-01, -7.5209{{[0-9]+}}e-01, -6.3385{{[0-9]+}}e-01, -3.5612{{[0-9]+}}e-01, 6.0925{{[0-9]+}}e-01, -1.2623{{[0-9]+}}e+00, 4.6864{{[0-9]+}}e-01, 2.8031{{[0-9]+}}e-01, -7.6600{{[0-9]+}}e-01, -1.2070{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ceil'
func @ceil() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.8467, 1.2108, 3.2669, -3.332, -0.6413], [3.9258, -2.8063, 0.3158, -0.8295, 3.7128]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Ceil"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.000000e+00, 2.000000e+00, 4.000000e+00, -3.000000e+00, -0.000000e+00, 4.000000e+00, -2.000000e+00, 1.000000e+00, -0.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'cos'
func @cos() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.8524, 0.6267, -1.79, 2.51, -2.7848], [1.8181, -3.4615, 0.4693, -0.4621, -3.286]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Cos"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-2.7789{{[0-9]+}}e-01, 8.0996{{[0-9]+}}e-01, -2.1745{{[0-9]+}}e-01, -8.0708{{[0-9]+}}e-01, -9.3702{{[0-9]+}}e-01, -2.4479{{[0-9]+}}e-01, -9.4926{{[0-9]+}}e-01, 8.9188{{[0-9]+}}e-01, 8.9511{{[0-9]+}}e-01, -9.8959{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'cosh'
func @cosh() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.879, 1.1143, 1.7637, 3.0166, -0.4038], [3.4929, -3.8744, -3.2262, -1.6038, 2.3212]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Cosh"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.3498{{[0-9]+}}e+00, 1.6877{{[0-9]+}}e+00, 3.0026{{[0-9]+}}e+00, 1.0235{{[0-9]+}}e+01, 1.0826{{[0-9]+}}e+00, 1.6455{{[0-9]+}}e+01, 2.4087{{[0-9]+}}e+01, 1.2611{{[0-9]+}}e+01, 2.5865{{[0-9]+}}e+00, 5.1430{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'elu'
func @elu() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.5528, -0.8378, 3.8869, -3.6084, -3.6416], [3.9856, -3.2023, 0.6511, -1.4543, -1.1751]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Elu"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-4.2466{{[0-9]+}}e-01, -5.6733{{[0-9]+}}e-01, 3.886900e+00, -9.7290{{[0-9]+}}e-01, -9.7378{{[0-9]+}}e-01, 3.985600e+00, -9.5933{{[0-9]+}}e-01, 6.511000e-01, -7.6643{{[0-9]+}}e-01, -6.9121{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'elu_grad'
func @elu_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.1132, -1.5827, 3.2698, -2.7519, 1.5348], [2.3036, 0.0853, 0.0294, 0.7429, 0.6932]]> : tensor<2x5xf32>
  %x1 = corert.const_dense_tensor dense<[[3.503, 3.5919, -0.323, 3.8436, 3.2247], [-0.0411, 2.6205, 2.8505, 2.9701, 1.4028]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.EluGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.113200e+00, -1.582700e+00, 2.2136{{[0-9]+}}e+00, -2.751900e+00, 1.534800e+00, 2.2089{{[0-9]+}}e+00, 8.530000e-02, 2.940000e-02, 7.429000e-01, 6.932000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'erf'
func @erf() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.3861, -1.148, 3.6155, -3.2919, 1.3097], [-1.4474, 1.0067, -2.4664, -1.5973, -2.2318]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Erf"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [9.9999{{[0-9]+}}e-01, -8.9552{{[0-9]+}}e-01, 9.9999{{[0-9]+}}e-01, -9.9999{{[0-9]+}}e-01, 9.3600{{[0-9]+}}e-01, -9.5933{{[0-9]+}}e-01, 8.4546{{[0-9]+}}e-01, -9.9951{{[0-9]+}}e-01, -9.7611{{[0-9]+}}e-01, -9.9840{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'erfc'
func @erfc() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.4842, -1.897, -2.9968, -3.528, 2.1469], [1.0895, 2.7069, 1.0866, 2.6203, 0.141]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Erfc"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [8.3329{{[0-9]+}}e-07, 1.9926{{[0-9]+}}e+00, 1.9999{{[0-9]+}}e+00, 1.9999{{[0-9]+}}e+00, 2.3960{{[0-9]+}}e-03, 1.2336{{[0-9]+}}e-01, 1.2911{{[0-9]+}}e-04, 1.2437{{[0-9]+}}e-01, 2.1083{{[0-9]+}}e-04, 8.4194{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'exp'
func @exp() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.3765, 0.1998, -2.8322, 0.5509, -1.4249], [-0.7061, 3.2721, 1.1027, 2.9006, -2.9363]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Exp"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.4571{{[0-9]+}}e+00, 1.2211{{[0-9]+}}e+00, 5.8883{{[0-9]+}}e-02, 1.7348{{[0-9]+}}e+00, 2.4053{{[0-9]+}}e-01, 4.9356{{[0-9]+}}e-01, 2.6366{{[0-9]+}}e+01, 3.0122{{[0-9]+}}e+00, 1.8185{{[0-9]+}}e+01, 5.3061{{[0-9]+}}e-02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'expm1'
func @expm1() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.9926, -3.149, 3.9794, -1.091, 3.4968], [-1.6199, 2.1682, -2.9243, 3.0438, -3.5985]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Expm1"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.8937{{[0-9]+}}e+01, -9.5710{{[0-9]+}}e-01, 5.2484{{[0-9]+}}e+01, -6.6411{{[0-9]+}}e-01, 3.2009{{[0-9]+}}e+01, -8.0208{{[0-9]+}}e-01, 7.7425{{[0-9]+}}e+00, -9.4629{{[0-9]+}}e-01, 1.9984{{[0-9]+}}e+01, -9.7263{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'floor'
func @floor() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.7228, 3.0571, 0.8458, -1.4003, -0.7492], [3.954, -1.6849, 2.5495, 3.437, 0.9776]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Floor"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.000000e+00, 3.000000e+00, 0.000000e+00, -2.000000e+00, -1.000000e+00, 3.000000e+00, -2.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'inv'
func @inv() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.8472, 3.1517, 3.7086, 1.9889, 2.2534], [2.0981, 2.2587, 0.6862, 1.3478, 3.2373]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Inv"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.5122{{[0-9]+}}e-01, 3.1728{{[0-9]+}}e-01, 2.6964{{[0-9]+}}e-01, 5.0279{{[0-9]+}}e-01, 4.4377{{[0-9]+}}e-01, 4.7662{{[0-9]+}}e-01, 4.4273{{[0-9]+}}e-01, 1.4573{{[0-9]+}}e+00, 7.4194{{[0-9]+}}e-01, 3.0889{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'inv_grad'
func @inv_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.8062, 3.6273, 3.6532], [2.3976, 3.0431, 2.5986]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[-1.2597, 1.5203, 3.0485], [1.6647, 0.35, 0.0836]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.InvGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [4.1095{{[0-9]+}}e+00, -2.0003{{[0-9]+}}e+01, -4.0684{{[0-9]+}}e+01, -9.5695{{[0-9]+}}e+00, -3.2411{{[0-9]+}}e+00, -5.6452{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'invert'
func @invert() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[4, -2, 7, -8, -4]> : tensor<5xi32>
  %y = corert.executeop(%cpu) "tf.Invert"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [5], values = [-5, 1, -8, 7, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'is_finite'
func @is_finite() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.8415, 2.6975, 2.1692, -1.5, -0.6104], [-3.3383, -2.6076, -0.7087, -1.7768, -2.4313]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.IsFinite"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 5], values = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'is_inf'
func @is_inf() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.4541, -1.4633, -1.6816, 0.9611, -3.0359], [-0.2772, 0.6315, 1.1444, -3.0989, 0.2493]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.IsInf"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 5], values = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'is_nan'
func @is_nan() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.5132, 0.4957, -1.5868, 2.6645, 2.6012], [-3.6607, 2.2511, 0.6009, -1.1952, -2.4526]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.IsNan"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2, 5], values = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'leaky_relu'
func @leaky_relu() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.4014, -0.8941, -0.2954, 2.6609, 3.5895], [2.9866, -1.3438, -2.0587, 1.4093, 0.081]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.LeakyRelu"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-8.028000e-02, -1.788200e-01, -5.908000e-02, 2.660900e+00, 3.589500e+00, 2.986600e+00, -2.687600e-01, -4.117400e-01, 1.409300e+00, 8.100000e-02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'leaky_relu_grad'
func @leaky_relu_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.607, 2.1295, -3.0311, -1.663, 0.9167], [-1.4238, -0.1486, 2.4254, 3.8047, 1.216]]> : tensor<2x5xf32>
  %x1 = corert.const_dense_tensor dense<[[3.1163, -3.3671, 6.5767, 7.9036, 0.8862], [4.0444, 1.0957, -0.453, -0.3098, 8.6974]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.LeakyReluGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.607000e+00, 4.259000e-01, -3.031100e+00, -1.663000e+00, 9.167000e-01, -1.423800e+00, -1.486000e-01, 4.850800e-01, 7.609400e-01, 1.216000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'lgamma'
func @lgamma() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.7029, 2.599, 1.7411, 4.1124, 5.1679], [2.9302, 3.6601, 5.4415, 7.4317, 8.5314]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Lgamma"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [4.3713{{[0-9]+}}e-01, 3.5666{{[0-9]+}}e-01, -8.6573{{[0-9]+}}e-02, 1.9347{{[0-9]+}}e+00, 3.4340{{[0-9]+}}e+00, 6.2970{{[0-9]+}}e-01, 1.3817{{[0-9]+}}e+00, 3.8639{{[0-9]+}}e+00, 7.4017{{[0-9]+}}e+00, 9.6146{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'log'
func @log() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.2002, 1.7465, 8.2343, 5.4712, 1.0732], [8.2646, 2.0759, 4.9496, 7.0406, 6.7483]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Log"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.4351{{[0-9]+}}e+00, 5.5761{{[0-9]+}}e-01, 2.1083{{[0-9]+}}e+00, 1.6994{{[0-9]+}}e+00, 7.0644{{[0-9]+}}e-02, 2.1119{{[0-9]+}}e+00, 7.3039{{[0-9]+}}e-01, 1.5993{{[0-9]+}}e+00, 1.9516{{[0-9]+}}e+00, 1.9092{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'log1p'
func @log1p() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[6.352, 3.999, 4.5177, 3.2884, 6.1491], [8.0344, 6.1447, 8.9417, 8.8997, 8.5607]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Log1p"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.9949{{[0-9]+}}e+00, 1.6092{{[0-9]+}}e+00, 1.7079{{[0-9]+}}e+00, 1.4559{{[0-9]+}}e+00, 1.9669{{[0-9]+}}e+00, 2.2010{{[0-9]+}}e+00, 1.9663{{[0-9]+}}e+00, 2.2967{{[0-9]+}}e+00, 2.2925{{[0-9]+}}e+00, 2.2576{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'neg'
func @neg() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.3831, -3.0763, 3.1884, -2.744, -1.43], [-1.0508, -1.5676, 3.3077, 3.2835, 0.7588]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Neg"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-1.383100e+00, 3.076300e+00, -3.188400e+00, 2.744000e+00, 1.430000e+00, 1.050800e+00, 1.567600e+00, -3.307700e+00, -3.283500e+00, -7.588000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'reciprocal'
func @reciprocal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.936, 1.8672, 1.2529, 3.562, 2.7232], [2.8568, 2.0732, 1.448, 3.4176, 1.9268]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Reciprocal"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.4059{{[0-9]+}}e-01, 5.3556{{[0-9]+}}e-01, 7.9814{{[0-9]+}}e-01, 2.8074{{[0-9]+}}e-01, 3.6721{{[0-9]+}}e-01, 3.5004{{[0-9]+}}e-01, 4.8234{{[0-9]+}}e-01, 6.9060{{[0-9]+}}e-01, 2.9260{{[0-9]+}}e-01, 5.1899{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'reciprocal_grad'
func @reciprocal_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.8062, 3.6273, 3.6532], [2.3976, 3.0431, 2.5986]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[-1.2597, 1.5203, 3.0485], [1.6647, 0.35, 0.0836]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.ReciprocalGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [4.1095{{[0-9]+}}e+00, -2.0003{{[0-9]+}}e+01, -4.0684{{[0-9]+}}e+01, -9.5695{{[0-9]+}}e+00, -3.2411{{[0-9]+}}e+00, -5.6452{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'relu6'
func @relu6() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-3.3486, -2.0732, 3.9736, 0.455, -1.2283], [0.1526, -2.4559, -1.9696, 3.7925, 1.172]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Relu6"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [0.000000e+00, 0.000000e+00, 3.973600e+00, 4.550000e-01, 0.000000e+00, 1.526000e-01, 0.000000e+00, 0.000000e+00, 3.792500e+00, 1.172000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'relu6_grad'
func @relu6_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.7504, -1.9659, 0.3775, -2.8463, -1.1043], [-2.9896, -3.9544, -0.087, -0.1952, -2.268]]> : tensor<2x5xf32>
  %x1 = corert.const_dense_tensor dense<[[7.819, -1.2629, 8.7666, 6.2118, 6.8905], [8.7215, 5.2404, 0.0035, 1.4397, 6.1053]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Relu6Grad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, -3.954400e+00, -8.700000e-02, -1.952000e-01, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'relu_grad'
func @relu_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.249, 0.2556, -2.1481, -0.0864, -2.9917], [-2.1825, 1.2885, 1.3873, 1.4473, -0.0934]]> : tensor<2x5xf32>
  %x1 = corert.const_dense_tensor dense<[[-1.872, 5.2995, 1.4659, 2.8915, 4.6379], [-2.0845, 6.8313, 7.7806, 2.6797, 0.3185]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.ReluGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [0.000000e+00, 2.556000e-01, -2.148100e+00, -8.640000e-02, -2.991700e+00, 0.000000e+00, 1.288500e+00, 1.387300e+00, 1.447300e+00, -9.340000e-02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rint'
func @rint() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.261, -1.8981, 2.0077, -1.8732, 2.9708], [3.0434, -2.4001, 3.9946, -1.2309, -3.8026]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Rint"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-0.000000e+00, -2.000000e+00, 2.000000e+00, -2.000000e+00, 3.000000e+00, 3.000000e+00, -2.000000e+00, 4.000000e+00, -1.000000e+00, -4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'round'
func @round() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.2955, 0.8481, 0.5233, 1.8575, -0.6982], [1.4543, 1.7903, 2.5823, -2.1731, 3.0335]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Round"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [0.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, -1.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, -2.000000e+00, 3.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rsqrt'
func @rsqrt() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[8.1662, 4.0451, 3.9659, 6.0933, 4.5163], [4.7998, 1.987, 6.906, 2.7443, 7.8884]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Rsqrt"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.4993{{[0-9]+}}e-01, 4.9720{{[0-9]+}}e-01, 5.0214{{[0-9]+}}e-01, 4.0511{{[0-9]+}}e-01, 4.7055{{[0-9]+}}e-01, 4.5644{{[0-9]+}}e-01, 7.0941{{[0-9]+}}e-01, 3.8052{{[0-9]+}}e-01, 6.0364{{[0-9]+}}e-01, 3.5604{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rsqrt_grad'
func @rsqrt_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.3969, 2.0214, 1.2772], [3.9976, 2.9447, 3.0293]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[2.0418, -1.9165, -2.628], [-3.2312, 2.7823, -1.5156]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.RsqrtGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-2.7827{{[0-9]+}}e+00, 7.9147{{[0-9]+}}e+00, 2.7376{{[0-9]+}}e+00, 1.0321{{[0-9]+}}e+02, -3.5521{{[0-9]+}}e+01, 2.1065{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'selu'
func @selu() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-3.8362, 2.73, 0.6222, 0.1975, 3.3902], [0.1955, 1.6076, -1.3455, -2.9498, 1.9731]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Selu"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-1.7201{{[0-9]+}}e+00, 2.8684{{[0-9]+}}e+00, 6.5374{{[0-9]+}}e-01, 2.0751{{[0-9]+}}e-01, 3.5620{{[0-9]+}}e+00, 2.0541{{[0-9]+}}e-01, 1.6891{{[0-9]+}}e+00, -1.3002{{[0-9]+}}e+00, -1.6660{{[0-9]+}}e+00, 2.0731{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'selu_grad'
func @selu_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.7537, 0.0075, -3.0369, 2.3802, 2.7064], [-0.0977, -2.8636, -1.2748, -0.1986, -1.3673]]> : tensor<2x5xf32>
  %x1 = corert.const_dense_tensor dense<[[0.9206, 0.7646, 0.7795, 0.5228, 2.4881], [1.6184, -0.2283, -0.0682, 2.5057, 2.4073]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.SeluGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.9440{{[0-9]+}}e+00, 7.8802{{[0-9]+}}e-03, -3.1908{{[0-9]+}}e+00, 2.5008{{[0-9]+}}e+00, 2.8436{{[0-9]+}}e+00, -1.0265{{[0-9]+}}e-01, -4.3807{{[0-9]+}}e+00, -2.1542{{[0-9]+}}e+00, -2.0866{{[0-9]+}}e-01, -1.4366{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sigmoid'
func @sigmoid() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.6767, 2.0702, 1.6048, -3.8508, 1.6744], [-0.5614, 1.2156, 1.7781, -1.159, 2.4127]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Sigmoid"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [6.6300{{[0-9]+}}e-01, 8.8797{{[0-9]+}}e-01, 8.3268{{[0-9]+}}e-01, 2.0820{{[0-9]+}}e-02, 8.4216{{[0-9]+}}e-01, 3.6322{{[0-9]+}}e-01, 7.7128{{[0-9]+}}e-01, 8.5546{{[0-9]+}}e-01, 2.3884{{[0-9]+}}e-01, 9.1779{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sigmoid_grad'
func @sigmoid_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.193, 3.611, 2.5878], [2.6793, 3.644, 1.3121]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[2.5321, 2.1029, -3.8064], [0.4321, 0.3674, -3.7056]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.SigmoidGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-6.6246{{[0-9]+}}e+00, -1.9826{{[0-9]+}}e+01, 1.5640{{[0-9]+}}e+01, -1.9441{{[0-9]+}}e+00, -3.5398{{[0-9]+}}e+00, 1.5174{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sign'
func @sign() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.956, -2.5227, -3.354, -3.3474, 1.2213], [2.9611, 1.5502, 1.9926, 0.7349, 2.4918]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Sign"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-1.000000e+00, -1.000000e+00, -1.000000e+00, -1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sin'
func @sin() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0891, 2.9381, 3.459, 0.6171, 2.2681], [3.9417, 2.8034, -3.5524, -2.5661, 1.8465]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Sin"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [8.8621{{[0-9]+}}e-01, 2.0209{{[0-9]+}}e-01, -3.1210{{[0-9]+}}e-01, 5.7867{{[0-9]+}}e-01, 7.6657{{[0-9]+}}e-01, -7.1743{{[0-9]+}}e-01, 3.3178{{[0-9]+}}e-01, 3.9934{{[0-9]+}}e-01, -5.4424{{[0-9]+}}e-01, 9.6223{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sinh'
func @sinh() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.879, 1.1143, 1.7637, 3.0166, -0.4038], [3.4929, -3.8744, -3.2262, -1.6038, 2.3212]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Sinh"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.1971{{[0-9]+}}e+00, 1.3596{{[0-9]+}}e+00, 2.8312{{[0-9]+}}e+00, 1.0186{{[0-9]+}}e+01, -4.1486{{[0-9]+}}e-01, 1.6425{{[0-9]+}}e+01, -2.4066{{[0-9]+}}e+01, -1.2572{{[0-9]+}}e+01, -2.3853{{[0-9]+}}e+00, 5.0448{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'softplus'
func @softplus() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-3.1374, 3.3333, 2.1397, -0.1099, -2.0919], [3.3121, -0.2449, -0.0606, 3.0052, 3.1594]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Softplus"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [4.2480{{[0-9]+}}e-02, 3.3683{{[0-9]+}}e+00, 2.2509{{[0-9]+}}e+00, 6.3970{{[0-9]+}}e-01, 1.1640{{[0-9]+}}e-01, 3.3478{{[0-9]+}}e+00, 5.7817{{[0-9]+}}e-01, 6.6330{{[0-9]+}}e-01, 3.0535{{[0-9]+}}e+00, 3.2009{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'softplus_grad'
func @softplus_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-3.8949, 2.9198, -0.4867, -2.3428, -3.3931], [0.6887, -0.1402, 3.215, 3.6499, 1.063]]> : tensor<2x5xf32>
  %x1 = corert.const_dense_tensor dense<[[0.7743, 4.5202, 3.4234, 8.5561, 2.1497], [1.0884, 0.9694, 8.9858, -2.012, -2.5605]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.SoftplusGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-2.6658{{[0-9]+}}e+00, 2.8883{{[0-9]+}}e+00, -4.7133{{[0-9]+}}e-01, -2.3423{{[0-9]+}}e+00, -3.0389{{[0-9]+}}e+00, 5.1520{{[0-9]+}}e-01, -1.0164{{[0-9]+}}e-01, 3.2145{{[0-9]+}}e+00, 4.3050{{[0-9]+}}e-01, 7.6242{{[0-9]+}}e-02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'softsign'
func @softsign() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.3772, -0.587, 2.2997, -1.6056, 3.9838], [3.0468, -1.9749, -0.4195, -2.0444, -2.0752]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Softsign"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-2.7388{{[0-9]+}}e-01, -3.6988{{[0-9]+}}e-01, 6.9694{{[0-9]+}}e-01, -6.1621{{[0-9]+}}e-01, 7.9934{{[0-9]+}}e-01, 7.5289{{[0-9]+}}e-01, -6.6385{{[0-9]+}}e-01, -2.9552{{[0-9]+}}e-01, -6.7152{{[0-9]+}}e-01, -6.7481{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'softsign_grad'
func @softsign_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.8863, -2.1233, 1.5077, -3.6044, -3.171], [-0.8457, 0.6815, 3.5383, -0.2024, -3.0011]]> : tensor<2x5xf32>
  %x1 = corert.const_dense_tensor dense<[[-2.503, 6.1546, 8.6863, 7.5131, 0.5938], [5.029, -3.0201, -3.3783, 6.0482, -2.6194]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.SoftsignGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-1.537200e-01, -4.1480{{[0-9]+}}e-02, 1.6069{{[0-9]+}}e-02, -4.9734{{[0-9]+}}e-02, -1.2483{{[0-9]+}}e+00, -2.3266{{[0-9]+}}e-02, 4.2168{{[0-9]+}}e-02, 1.8457{{[0-9]+}}e-01, -4.0743{{[0-9]+}}e-03, -2.2909{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sqrt'
func @sqrt() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[4.7344, 2.3124, 4.1127, 4.9071, 4.3269], [3.5966, 3.9319, 5.6374, 8.2742, 5.5736]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Sqrt"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [2.1758{{[0-9]+}}e+00, 1.5206{{[0-9]+}}e+00, 2.0279{{[0-9]+}}e+00, 2.2151{{[0-9]+}}e+00, 2.0801{{[0-9]+}}e+00, 1.8964{{[0-9]+}}e+00, 1.9829{{[0-9]+}}e+00, 2.3743{{[0-9]+}}e+00, 2.8764{{[0-9]+}}e+00, 2.3608{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sqrt_grad'
func @sqrt_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.9079, 2.9826, 0.7835], [3.2004, 3.405, 3.673]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0.4362, -2.3087, -3.6482], [-3.9645, 0.9397, 0.9299]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.SqrtGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [2.4022{{[0-9]+}}e-01, -3.8702{{[0-9]+}}e-01, -2.3281{{[0-9]+}}e+00, -6.1937{{[0-9]+}}e-01, 1.3798{{[0-9]+}}e-01, 1.2658{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'square'
func @square() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.669, -1.8983, 2.0606, 2.8772, -2.4356], [-2.7079, -1.073, 0.3838, -2.4451, -3.3195]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Square"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [7.1235{{[0-9]+}}e+00, 3.6035{{[0-9]+}}e+00, 4.2460{{[0-9]+}}e+00, 8.2782{{[0-9]+}}e+00, 5.9321{{[0-9]+}}e+00, 7.3327{{[0-9]+}}e+00, 1.1513{{[0-9]+}}e+00, 1.4730{{[0-9]+}}e-01, 5.9785{{[0-9]+}}e+00, 1.1019{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tan'
func @tan() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-0.0332, -0.1795, -0.5839, -0.1293, 0.5397], [-0.8156, -0.871, 0.781, 0.5193, 0.0236]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Tan"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [-3.3212{{[0-9]+}}e-02, -1.8145{{[0-9]+}}e-01, -6.6075{{[0-9]+}}e-01, -1.3002{{[0-9]+}}e-01, 5.9902{{[0-9]+}}e-01, -1.0623{{[0-9]+}}e+00, -1.1877{{[0-9]+}}e+00, 9.9124{{[0-9]+}}e-01, 5.7163{{[0-9]+}}e-01, 2.3604{{[0-9]+}}e-02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tanh'
func @tanh() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.058, 1.8581, 0.4849, 0.9235, -1.1605], [3.4944, 1.7424, 0.211, -1.6202, -3.9247]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Tanh"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [5.7935{{[0-9]+}}e-02, 9.5250{{[0-9]+}}e-01, 4.5015{{[0-9]+}}e-01, 7.2754{{[0-9]+}}e-01, -8.2120{{[0-9]+}}e-01, 9.9815{{[0-9]+}}e-01, 9.4050{{[0-9]+}}e-01, 2.0792{{[0-9]+}}e-01, -9.2465{{[0-9]+}}e-01, -9.9922{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tanh_grad'
func @tanh_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.9571, 2.7368, 0.3031], [3.2761, 0.3577, 3.598]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[-1.081, 1.932, -1.9003], [2.8521, 2.8694, 2.1648]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "tf.TanhGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-9.0760{{[0-9]+}}e-02, -1.2538{{[0-9]+}}e+01, -1.7257{{[0-9]+}}e+00, -2.775900e+01, 2.5022{{[0-9]+}}e+00, -2.5859{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
