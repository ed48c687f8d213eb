// Complex numbers: arithmetic, functions, reductions, products, conversions.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex_functions'
func @complex_functions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %z = corert.const_dense_tensor dense<[(3.0, 4.0), (0.0, -2.0), (0.0, 0.0)]> : tensor<3xcomplex<f32>>
  %square = corert.executeop(%cpu) "tf.Square"(%z) : 1
  // CHECK: dtype = Complex64, shape = [3], values = [(-7.000000e+00,2.400000e+01), (-4.000000e+00,-0.000000e+00), (0.000000e+00,0.000000e+00)]
  %ch1 = "corert.print_tensorhandle"(%square, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %root = corert.executeop(%cpu) "tf.Sqrt"(%z) : 1
  // CHECK: values = [(2.000000e+00,1.000000e+00), (1.000000e+00,-1.000000e+00), (0.000000e+00,0.000000e+00)]
  %ch2 = "corert.print_tensorhandle"(%root, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %sign = corert.executeop(%cpu) "tf.Sign"(%z) : 1
  // CHECK: values = [(6.000000e-01,8.000000e-01), (0.000000e+00,-1.000000e+00), (0.000000e+00,0.000000e+00)]
  %ch3 = "corert.print_tensorhandle"(%sign, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // A divisor of zero gives zero.
  %quotient = corert.executeop(%cpu) "tf.DivNoNan"(%square, %z) : 1
  // CHECK: values = [(3.000000e+00,4.000000e+00), (0.000000e+00,-2.000000e+00), (0.000000e+00,0.000000e+00)]
  %ch4 = "corert.print_tensorhandle"(%quotient, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // The square of a distance is real.
  %distance = corert.executeop(%cpu) "tf.SquaredDifference"(%z, %root) : 1
  // CHECK: values = [(1.000000e+01,0.000000e+00), (2.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]
  %ch5 = "corert.print_tensorhandle"(%distance, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'complex_sums_and_products'
func @complex_sums_and_products() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %z = corert.const_dense_tensor dense<[[(1.0, 2.0), (0.0, 1.0)], [(3.0, 0.0), (1.0, -1.0)]]> : tensor<2x2xcomplex<f64>>
  %axis = corert.const_dense_tensor dense<[1]> : tensor<1xi32>
  %sum = corert.executeop(%cpu) "tf.Sum"(%z, %axis) : 1
  // CHECK: dtype = Complex128, shape = [2], values = [(1.000000e+00,3.000000e+00), (4.000000e+00,-1.000000e+00)]
  %ch1 = "corert.print_tensorhandle"(%sum, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %product = corert.executeop(%cpu) "tf.Prod"(%z, %axis) : 1
  // CHECK: values = [(-2.000000e+00,1.000000e+00), (3.000000e+00,-3.000000e+00)]
  %ch2 = "corert.print_tensorhandle"(%product, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %last = corert.const_dense_tensor dense<1> : tensor<i32>
  %running = corert.executeop(%cpu) "tf.Cumprod"(%z, %last) : 1
  // CHECK: values = [(1.000000e+00,2.000000e+00), (-2.000000e+00,1.000000e+00), (3.000000e+00,0.000000e+00), (3.000000e+00,-3.000000e+00)]
  %ch3 = "corert.print_tensorhandle"(%running, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // Transposed, and in a batch conjugated too.
  %turned = corert.executeop(%cpu) "tf.MatMul"(%z, %z) {transpose_a = true} : 1
  // CHECK: values = [(6.000000e+00,4.000000e+00), (1.000000e+00,-2.000000e+00), (1.000000e+00,-2.000000e+00), (-1.000000e+00,-2.000000e+00)]
  %ch4 = "corert.print_tensorhandle"(%turned, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %adjoint = corert.executeop(%cpu) "tf.BatchMatMulV2"(%z, %z) {adj_x = true} : 1
  // CHECK: values = [(1.400000e+01,0.000000e+00), (5.000000e+00,-2.000000e+00), (5.000000e+00,2.000000e+00), (3.000000e+00,0.000000e+00)]
  %ch5 = "corert.print_tensorhandle"(%adjoint, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %bias = corert.const_dense_tensor dense<[(1.0, 0.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %biased = corert.executeop(%cpu) "tf.BiasAdd"(%z, %bias) : 1
  // CHECK: values = [(2.000000e+00,2.000000e+00), (0.000000e+00,2.000000e+00), (4.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00)]
  %ch6 = "corert.print_tensorhandle"(%biased, %ch5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch6 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'complex_and_real'
func @complex_and_real() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %z = corert.const_dense_tensor dense<[(1.5, 2.0), (0.0, 7.0), (-3.75, 0.0)]> : tensor<3xcomplex<f32>>
  // The imaginary parts are dropped.
  %real = corert.executeop(%cpu) "tf.Cast"(%z) {DstT = i32} : 1
  // CHECK: dtype = I32, shape = [3], values = [1, 0, -3]
  %ch1 = "corert.print_tensorhandle"(%real, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %back = corert.executeop(%cpu) "tf.Cast"(%real) {DstT = complex<f64>} : 1
  // CHECK: dtype = Complex128, shape = [3], values = [(1.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (-3.000000e+00,0.000000e+00)]
  %ch2 = "corert.print_tensorhandle"(%back, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'complex_numbers_have_no_order'
func @complex_numbers_have_no_order() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %z = corert.const_dense_tensor dense<[(1.5, 2.0)]> : tensor<1xcomplex<f32>>
  %axis = corert.const_dense_tensor dense<[0]> : tensor<1xi32>
  // expected-error @+1 {{runtime error: tf.Max does not support tensors of complex<f32>}}
  %max = corert.executeop(%cpu) "tf.Max"(%z, %axis) : 1
  tfrt.return %max : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'gradients_of_large_roots'
func @gradients_of_large_roots() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  // Numbers without a square.
  %y = corert.const_dense_tensor dense<[(1.0e308, 1.0e308), (1.0e-308, 0.0)]> : tensor<2xcomplex<f64>>
  %dy = corert.const_dense_tensor dense<[(1.0e308, 0.0), (0.0, 1.0e-308)]> : tensor<2xcomplex<f64>>
  %dx = corert.executeop(%cpu) "tf.SqrtGrad"(%y, %dy) : 1
  // CHECK: values = [(2.500000e-01,2.500000e-01), (0.000000e+00,5.000000e-01)]
  %ch1 = "corert.print_tensorhandle"(%dx, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
