// Random numbers: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'random_standard_normal'
func @random_standard_normal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.RandomStandardNormal"(%x0) { dtype = f32, seed = 12 : i64, seed2 = 345 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [6.4383{{[0-9]+}}e-01, -1.6977{{[0-9]+}}e+00, -1.6821{{[0-9]+}}e+00, -3.8151{{[0-9]+}}e+00, 2.6071{{[0-9]+}}e-02, 2.6099{{[0-9]+}}e-01, -6.3725{{[0-9]+}}e-01, 1.1508{{[0-9]+}}e+00, 2.6761{{[0-9]+}}e-01, -9.7453{{[0-9]+}}e-01, 6.0320{{[0-9]+}}e-01, 4.1335{{[0-9]+}}e-02, -1.3234{{[0-9]+}}e+00, -4.6039{{[0-9]+}}e-01, -1.7452{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'random_uniform'
func @random_uniform() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.RandomUniform"(%x0) { dtype = f32, seed = 12 : i64, seed2 = 345 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [1.9234{{[0-9]+}}e-01, 4.4231{{[0-9]+}}e-01, 1.6784{{[0-9]+}}e-04, 5.6609{{[0-9]+}}e-01, 9.6618{{[0-9]+}}e-01, 1.5846{{[0-9]+}}e-02, 4.2095{{[0-9]+}}e-01, 9.1951{{[0-9]+}}e-01, 6.0009{{[0-9]+}}e-01, 4.5734{{[0-9]+}}e-01, 8.3295{{[0-9]+}}e-01, 2.3911{{[0-9]+}}e-01, 3.7468{{[0-9]+}}e-01, 6.9671{{[0-9]+}}e-01, 2.0292{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'random_uniform_int'
func @random_uniform_int() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<-5> : tensor<i32>
  %x2 = corert.const_dense_tensor dense<1000> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.RandomUniformInt"(%x0, %x1, %x2) { seed = 1 : i64, seed2 = 2 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3, 5], values = [759, 765, 457, 234, 816, 401, 488, 293, 903, 590, 144, 849, 303, 268, 716]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_normal'
func @stateless_random_normal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[7, -9]> : tensor<2xi64>
  %y = corert.executeop(%cpu) "tf.StatelessRandomNormal"(%x0, %x1) { dtype = f32 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [1.2534{{[0-9]+}}e+00, -8.1473{{[0-9]+}}e-01, -1.0627{{[0-9]+}}e+00, -9.1616{{[0-9]+}}e-01, 7.7207{{[0-9]+}}e-01, -1.4565{{[0-9]+}}e+00, 1.3180{{[0-9]+}}e+00, -7.6613{{[0-9]+}}e-01, -5.1785{{[0-9]+}}e-01, -1.8163{{[0-9]+}}e-01, -1.2653{{[0-9]+}}e+00, -5.4453{{[0-9]+}}e-01, -7.3378{{[0-9]+}}e-02, 8.8399{{[0-9]+}}e-02, 3.0026{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_normal_v2'
func @stateless_random_normal_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[1099511627779]> : tensor<1xui64>
  %x2 = corert.const_dense_tensor dense<[5, 9223372036854775809]> : tensor<2xui64>
  %x3 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.StatelessRandomNormalV2"(%x0, %x1, %x2, %x3) { dtype = f32 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [-1.2809{{[0-9]+}}e+00, 1.3252{{[0-9]+}}e+00, 1.8377{{[0-9]+}}e+00, 1.0908{{[0-9]+}}e+00, 1.8665{{[0-9]+}}e+00, 7.6444{{[0-9]+}}e-01, -5.4482{{[0-9]+}}e-01, 1.7031{{[0-9]+}}e+00, 5.7121{{[0-9]+}}e-01, -3.4784{{[0-9]+}}e-01, 2.2984{{[0-9]+}}e+00, 8.1031{{[0-9]+}}e-01, -1.1211{{[0-9]+}}e+00, 1.8404{{[0-9]+}}e+00, 1.0930{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_uniform'
func @stateless_random_uniform() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[7, -9]> : tensor<2xi64>
  %y = corert.executeop(%cpu) "tf.StatelessRandomUniform"(%x0, %x1) { dtype = f32 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [3.2709{{[0-9]+}}e-01, 3.4173{{[0-9]+}}e-01, 3.7366{{[0-9]+}}e-01, 6.3676{{[0-9]+}}e-01, 2.5697{{[0-9]+}}e-01, 4.2242{{[0-9]+}}e-01, 3.1283{{[0-9]+}}e-01, 3.3380{{[0-9]+}}e-01, 8.6020{{[0-9]+}}e-01, 6.9631{{[0-9]+}}e-01, 3.8720{{[0-9]+}}e-01, 6.8532{{[0-9]+}}e-01, 9.9342{{[0-9]+}}e-01, 8.8973{{[0-9]+}}e-01, 9.3134{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_uniform_int'
func @stateless_random_uniform_int() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<-5> : tensor<i32>
  %x3 = corert.const_dense_tensor dense<1000> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.StatelessRandomUniformInt"(%x0, %x1, %x2, %x3) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3, 5], values = [710, 819, 829, 169, 137, 95, 601, 52, 948, 410, 554, 465, 951, 591, 626]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_uniform_int_v2'
func @stateless_random_uniform_int_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[1]> : tensor<1xui64>
  %x2 = corert.const_dense_tensor dense<[0, 0]> : tensor<2xui64>
  %x3 = corert.const_dense_tensor dense<1> : tensor<i32>
  %x4 = corert.const_dense_tensor dense<-5> : tensor<i32>
  %x5 = corert.const_dense_tensor dense<1000> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.StatelessRandomUniformIntV2"(%x0, %x1, %x2, %x3, %x4, %x5) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [3, 5], values = [977, 976, -3, 752, 327, 149, 876, 36, 757, 1, 467, 234, 124, 598, 427]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_uniform_v2'
func @stateless_random_uniform_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[1099511627779]> : tensor<1xui64>
  %x2 = corert.const_dense_tensor dense<[5, 9223372036854775809]> : tensor<2xui64>
  %x3 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.StatelessRandomUniformV2"(%x0, %x1, %x2, %x3) { dtype = f32 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [1.8294{{[0-9]+}}e-01, 8.7770{{[0-9]+}}e-01, 1.0190{{[0-9]+}}e-01, 1.6474{{[0-9]+}}e-01, 1.3079{{[0-9]+}}e-01, 1.8813{{[0-9]+}}e-01, 2.0215{{[0-9]+}}e-01, 9.5072{{[0-9]+}}e-01, 7.9960{{[0-9]+}}e-01, 3.3705{{[0-9]+}}e-01, 5.1311{{[0-9]+}}e-02, 1.9605{{[0-9]+}}e-01, 9.8073{{[0-9]+}}e-02, 9.1292{{[0-9]+}}e-01, 3.728700e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_truncated_normal'
func @stateless_truncated_normal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[7, -9]> : tensor<2xi64>
  %y = corert.executeop(%cpu) "tf.StatelessTruncatedNormal"(%x0, %x1) { dtype = f32 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [1.2534{{[0-9]+}}e+00, -8.1473{{[0-9]+}}e-01, -1.0627{{[0-9]+}}e+00, -9.1616{{[0-9]+}}e-01, 8.1828{{[0-9]+}}e-01, -6.5153{{[0-9]+}}e-03, 8.6159{{[0-9]+}}e-02, 1.4216{{[0-9]+}}e+00, -4.0956{{[0-9]+}}e-01, -5.5784{{[0-9]+}}e-01, -1.0126{{[0-9]+}}e+00, -1.6119{{[0-9]+}}e-01, 1.1571{{[0-9]+}}e+00, -7.7546{{[0-9]+}}e-01, 1.7173{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_truncated_normal_v2'
func @stateless_truncated_normal_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[1099511627779]> : tensor<1xui64>
  %x2 = corert.const_dense_tensor dense<[5, 9223372036854775809]> : tensor<2xui64>
  %x3 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.StatelessTruncatedNormalV2"(%x0, %x1, %x2, %x3) { dtype = f32 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [-1.2809{{[0-9]+}}e+00, 1.3252{{[0-9]+}}e+00, 1.8377{{[0-9]+}}e+00, 1.0908{{[0-9]+}}e+00, 7.6435{{[0-9]+}}e-02, 3.731400e-01, 1.1533{{[0-9]+}}e-01, -3.7134{{[0-9]+}}e-01, 1.2930{{[0-9]+}}e+00, 7.9127{{[0-9]+}}e-01, -1.4051{{[0-9]+}}e+00, -9.0758{{[0-9]+}}e-01, 6.9345{{[0-9]+}}e-02, -1.1086{{[0-9]+}}e+00, 1.2256{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'truncated_normal'
func @truncated_normal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 5]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.TruncatedNormal"(%x0) { dtype = f32, seed = 12 : i64, seed2 = 345 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 5], values = [6.4383{{[0-9]+}}e-01, -1.6977{{[0-9]+}}e+00, -1.6821{{[0-9]+}}e+00, 2.6071{{[0-9]+}}e-02, 5.3258{{[0-9]+}}e-01, 2.9449{{[0-9]+}}e-01, -1.0699{{[0-9]+}}e+00, 1.0602{{[0-9]+}}e+00, -7.2348{{[0-9]+}}e-01, -4.2531{{[0-9]+}}e-02, -5.7391{{[0-9]+}}e-01, -3.8631{{[0-9]+}}e-01, 5.4231{{[0-9]+}}e-01, -9.8765{{[0-9]+}}e-02, -1.5112{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_get_key_counter'
func @stateless_random_get_key_counter() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi64>
  %y:2 = corert.executeop(%cpu) "tf.StatelessRandomGetKeyCounter"(%x0) : 2
  // CHECK: DenseHostTensor dtype = UI64, shape = [1], values = [10413732777507651514]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = UI64, shape = [2], values = [0, 17830669156045600267]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_get_key_counter_alg'
func @stateless_random_get_key_counter_alg() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi64>
  %y:3 = corert.executeop(%cpu) "tf.StatelessRandomGetKeyCounterAlg"(%x0) : 3
  // CHECK: DenseHostTensor dtype = UI64, shape = [1], values = [10413732777507651514]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = UI64, shape = [2], values = [0, 17830669156045600267]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [], values = [1]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stateless_random_get_alg'
func @stateless_random_get_alg() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %y = corert.executeop(%cpu) "tf.StatelessRandomGetAlg"() : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [], values = [1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
