// Special functions: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'besseli0'
func @besseli0() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselI0"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [1.0634{{[0-9]+}}e+00, 1.4304{{[0-9]+}}e+00, 2.2795{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besseli0e'
func @besseli0e() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselI0e"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [6.4503{{[0-9]+}}e-01, 4.0983{{[0-9]+}}e-01, 3.0850{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besseli1'
func @besseli1() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselI1"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [2.5789{{[0-9]+}}e-01, 7.5528{{[0-9]+}}e-01, 1.5906{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besseli1e'
func @besseli1e() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselI1e"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [1.5642{{[0-9]+}}e-01, 2.1639{{[0-9]+}}e-01, 2.1526{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besselj0'
func @besselj0() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselJ0"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [9.3846{{[0-9]+}}e-01, 6.4590{{[0-9]+}}e-01, 2.2389{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besselj1'
func @besselj1() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselJ1"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [2.4226{{[0-9]+}}e-01, 5.1062{{[0-9]+}}e-01, 5.7672{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besselk0'
func @besselk0() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselK0"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [9.2441{{[0-9]+}}e-01, 2.9760{{[0-9]+}}e-01, 1.1389{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besselk0e'
func @besselk0e() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselK0e"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [1.5241{{[0-9]+}}e+00, 1.0387{{[0-9]+}}e+00, 8.4156{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besselk1'
func @besselk1() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselK1"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [1.6564{{[0-9]+}}e+00, 4.0212{{[0-9]+}}e-01, 1.3986{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'besselk1e'
func @besselk1e() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselK1e"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [2.7310{{[0-9]+}}e+00, 1.4035{{[0-9]+}}e+00, 1.0334{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bessely0'
func @bessely0() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselY0"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [-4.4451{{[0-9]+}}e-01, 2.5821{{[0-9]+}}e-01, 5.1037{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bessely1'
func @bessely1() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.BesselY1"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [-1.4714{{[0-9]+}}e+00, -5.8436{{[0-9]+}}e-01, -1.0703{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dawsn'
func @dawsn() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Dawsn"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [4.2443{{[0-9]+}}e-01, 4.9582{{[0-9]+}}e-01, 3.0134{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'digamma'
func @digamma() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Digamma"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [-1.9635{{[0-9]+}}e+00, -2.2745{{[0-9]+}}e-01, 4.2278{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'expint'
func @expint() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Expint"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [4.5421{{[0-9]+}}e-01, 2.5810{{[0-9]+}}e+00, 4.9542{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fresnelcos'
func @fresnelcos() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.FresnelCos"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [4.9234{{[0-9]+}}e-01, 6.8009{{[0-9]+}}e-01, 4.8825{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fresnelsin'
func @fresnelsin() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.FresnelSin"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [6.4732{{[0-9]+}}e-02, 6.5865{{[0-9]+}}e-01, 3.4341{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'spence'
func @spence() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Spence"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [5.8224{{[0-9]+}}e-01, -2.3590{{[0-9]+}}e-01, -8.2246{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'erfinv'
func @erfinv() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.1, 0.5, 0.75]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Erfinv"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [8.8855{{[0-9]+}}e-02, 4.7693{{[0-9]+}}e-01, 8.1341{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ndtri'
func @ndtri() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.1, 0.5, 0.75]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Ndtri"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [-1.2815{{[0-9]+}}e+00, -0.000000e+00, 6.7448{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'igamma'
func @igamma() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 2.0, 0.5]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Igamma"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [8.4270{{[0-9]+}}e-01, 8.0515{{[0-9]+}}e-01, 9.0204{{[0-9]+}}e-02]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'igammac'
func @igammac() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 2.0, 0.5]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Igammac"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [1.5729{{[0-9]+}}e-01, 1.9484{{[0-9]+}}e-01, 9.0979{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'nextafter'
func @nextafter() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 2.0, 0.5]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.NextAfter"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [5.000001e-01, 1.2500{{[0-9]+}}e+00, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'polygamma'
func @polygamma() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0, 0.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Polygamma"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [4.9348{{[0-9]+}}e+00, -1.3277{{[0-9]+}}e+00, 4.2278{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'zeta'
func @zeta() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[2.0, 3.0, 1.5]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Zeta"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [4.9348{{[0-9]+}}e+00, 6.6387{{[0-9]+}}e-01, 1.6123{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'betainc'
func @betainc() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 2.0, 0.5]> : tensor<3xf32>
  %x2 = corert.const_dense_tensor dense<[0.1, 0.5, 0.75]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.Betainc"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [3.1622{{[0-9]+}}e-01, 6.8322{{[0-9]+}}e-01, 3.1250{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'cumulativelogsumexp'
func @cumulativelogsumexp() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 1.25, 2.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<0> : tensor<i64>
  %y0 = corert.executeop(%cpu) "tf.CumulativeLogsumexp"(%x0, %x1) { exclusive = false, reverse = true } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [2.5279{{[0-9]+}}e+00, 2.3868{{[0-9]+}}e+00, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'igamma_slope'
func @igamma_slope() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 2.5, 40.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 1.5, 35.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.IgammaGradA"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [-3.8983{{[0-9]+}}e-01, -2.5217{{[0-9]+}}e-01, -4.8001{{[0-9]+}}e-02]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gamma_sample_slope'
func @gamma_sample_slope() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.5, 2.5]> : tensor<2xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 1.5]> : tensor<2xf32>
  %y0 = corert.executeop(%cpu) "tf.RandomGammaGrad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [1.8782{{[0-9]+}}e+00, 8.1779{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
