// Variables, and steps of training that change them, in the order of a chain.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'values'
func @values() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %c1, %v = corert.executeop.seq(%cpu, %ch0) "tf.VarHandleOp"() { dtype = f32, shared_name = "weights" } : 1
  %c2, %before = corert.executeop.seq(%cpu, %c1) "tf.VarIsInitializedOp"(%v) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [], values = [0]
  %c3 = "corert.print_tensorhandle"(%before, %c2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %x = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %d = corert.const_dense_tensor dense<[0.5, 4.0]> : tensor<2xf32>
  %c4 = corert.executeop.seq(%cpu, %c3) "tf.AssignVariableOp"(%v, %x) : 0
  %c5 = corert.executeop.seq(%cpu, %c4) "tf.AssignAddVariableOp"(%v, %d) : 0
  %c6, %sum = corert.executeop.seq(%cpu, %c5) "tf.ReadVariableOp"(%v) { dtype = f32 } : 1
  // CHECK-NEXT: values = [1.500000e+00, 6.000000e+00]
  %c7 = "corert.print_tensorhandle"(%sum, %c6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c8 = corert.executeop.seq(%cpu, %c7) "tf.AssignSubVariableOp"(%v, %x) : 0
  %c9, %rest = corert.executeop.seq(%cpu, %c8) "tf.ReadVariableOp"(%v) { dtype = f32 } : 1
  // CHECK-NEXT: values = [5.000000e-01, 4.000000e+00]
  %c10 = "corert.print_tensorhandle"(%rest, %c9) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // What was read before stays as it was.
  // CHECK-NEXT: values = [1.500000e+00, 6.000000e+00]
  %c11 = "corert.print_tensorhandle"(%sum, %c10) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c12, %shape = corert.executeop.seq(%cpu, %c11) "tf.VariableShape"(%v) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1], values = [2]
  %c13 = "corert.print_tensorhandle"(%shape, %c12) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c14 = corert.executeop.seq(%cpu, %c13) "tf.DestroyResourceOp"(%v) : 0
  %c15, %after = corert.executeop.seq(%cpu, %c14) "tf.VarIsInitializedOp"(%v) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [], values = [0]
  %c16 = "corert.print_tensorhandle"(%after, %c15) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c16 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gradient_descent'
func @gradient_descent() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %c1, %w = corert.executeop.seq(%cpu, %ch0) "tf.VarHandleOp"() { dtype = f32, shared_name = "gradient_descent/w" } : 1
  %w0 = corert.const_dense_tensor dense<[1.0, -2.0]> : tensor<2xf32>
  %c2 = corert.executeop.seq(%cpu, %c1) "tf.AssignVariableOp"(%w, %w0) : 0
  %gradient = corert.const_dense_tensor dense<[2.0, 4.0]> : tensor<2xf32>
  %rate = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %c3 = corert.executeop.seq(%cpu, %c2) "tf.ResourceApplyGradientDescent"(%w, %rate, %gradient) : 0
  %c4, %w1 = corert.executeop.seq(%cpu, %c3) "tf.ReadVariableOp"(%w) { dtype = f32 } : 1
  // CHECK-NEXT: values = [0.000000e+00, -4.000000e+00]
  %c5 = "corert.print_tensorhandle"(%w1, %c4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'momentum'
func @momentum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %c1, %w = corert.executeop.seq(%cpu, %ch0) "tf.VarHandleOp"() { dtype = f32, shared_name = "momentum/w" } : 1
  %w0 = corert.const_dense_tensor dense<[1.0, -2.0]> : tensor<2xf32>
  %c2 = corert.executeop.seq(%cpu, %c1) "tf.AssignVariableOp"(%w, %w0) : 0
  %c3, %sum = corert.executeop.seq(%cpu, %c2) "tf.VarHandleOp"() { dtype = f32, shared_name = "momentum/sum" } : 1
  %sum0 = corert.const_dense_tensor dense<[4.0, -4.0]> : tensor<2xf32>
  %c4 = corert.executeop.seq(%cpu, %c3) "tf.AssignVariableOp"(%sum, %sum0) : 0
  %gradient = corert.const_dense_tensor dense<[2.0, 4.0]> : tensor<2xf32>
  %rate = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %momentum = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %c5 = corert.executeop.seq(%cpu, %c4) "tf.ResourceApplyMomentum"(%w, %sum, %rate, %gradient, %momentum) : 0
  %c6, %w1 = corert.executeop.seq(%cpu, %c5) "tf.ReadVariableOp"(%w) { dtype = f32 } : 1
  // CHECK-NEXT: values = [-1.000000e+00, -3.000000e+00]
  %c7 = "corert.print_tensorhandle"(%w1, %c6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c8, %sum1 = corert.executeop.seq(%cpu, %c7) "tf.ReadVariableOp"(%sum) { dtype = f32 } : 1
  // CHECK-NEXT: values = [4.000000e+00, 2.000000e+00]
  %c9 = "corert.print_tensorhandle"(%sum1, %c8) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c9 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'adam'
func @adam() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %c1, %w = corert.executeop.seq(%cpu, %ch0) "tf.VarHandleOp"() { dtype = f32, shared_name = "adam/w" } : 1
  %w0 = corert.const_dense_tensor dense<[1.0, -2.0]> : tensor<2xf32>
  %c2 = corert.executeop.seq(%cpu, %c1) "tf.AssignVariableOp"(%w, %w0) : 0
  %c3, %mean = corert.executeop.seq(%cpu, %c2) "tf.VarHandleOp"() { dtype = f32, shared_name = "adam/mean" } : 1
  %mean0 = corert.const_dense_tensor dense<[0.0, 0.0]> : tensor<2xf32>
  %c4 = corert.executeop.seq(%cpu, %c3) "tf.AssignVariableOp"(%mean, %mean0) : 0
  %c5, %square = corert.executeop.seq(%cpu, %c4) "tf.VarHandleOp"() { dtype = f32, shared_name = "adam/square" } : 1
  %square0 = corert.const_dense_tensor dense<[0.0, 0.0]> : tensor<2xf32>
  %c6 = corert.executeop.seq(%cpu, %c5) "tf.AssignVariableOp"(%square, %square0) : 0
  %gradient = corert.const_dense_tensor dense<[2.0, 4.0]> : tensor<2xf32>
  %power1 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %power2 = corert.const_dense_tensor dense<0.75> : tensor<f32>
  %rate = corert.const_dense_tensor dense<1.0> : tensor<f32>
  %beta1 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %beta2 = corert.const_dense_tensor dense<0.75> : tensor<f32>
  %epsilon = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %c7 = corert.executeop.seq(%cpu, %c6) "tf.ResourceApplyAdam"(%w, %mean, %square, %power1, %power2, %rate, %beta1, %beta2, %epsilon, %gradient) : 0
  %c8, %w1 = corert.executeop.seq(%cpu, %c7) "tf.ReadVariableOp"(%w) { dtype = f32 } : 1
  // CHECK-NEXT: values = [0.000000e+00, -3.000000e+00]
  %c9 = "corert.print_tensorhandle"(%w1, %c8) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c10, %mean1 = corert.executeop.seq(%cpu, %c9) "tf.ReadVariableOp"(%mean) { dtype = f32 } : 1
  // CHECK-NEXT: values = [1.000000e+00, 2.000000e+00]
  %c11 = "corert.print_tensorhandle"(%mean1, %c10) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c12, %square1 = corert.executeop.seq(%cpu, %c11) "tf.ReadVariableOp"(%square) { dtype = f32 } : 1
  // CHECK-NEXT: values = [1.000000e+00, 4.000000e+00]
  %c13 = "corert.print_tensorhandle"(%square1, %c12) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c13 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'keras_momentum'
func @keras_momentum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %c1, %w = corert.executeop.seq(%cpu, %ch0) "tf.VarHandleOp"() { dtype = f32, shared_name = "keras_momentum/w" } : 1
  %w0 = corert.const_dense_tensor dense<[1.0, -2.0]> : tensor<2xf32>
  %c2 = corert.executeop.seq(%cpu, %c1) "tf.AssignVariableOp"(%w, %w0) : 0
  %c3, %sum = corert.executeop.seq(%cpu, %c2) "tf.VarHandleOp"() { dtype = f32, shared_name = "keras_momentum/sum" } : 1
  %sum0 = corert.const_dense_tensor dense<[4.0, -4.0]> : tensor<2xf32>
  %c4 = corert.executeop.seq(%cpu, %c3) "tf.AssignVariableOp"(%sum, %sum0) : 0
  %gradient = corert.const_dense_tensor dense<[2.0, 4.0]> : tensor<2xf32>
  %rate = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %momentum = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %c5 = corert.executeop.seq(%cpu, %c4) "tf.ResourceApplyKerasMomentum"(%w, %sum, %rate, %gradient, %momentum) : 0
  %c6, %w1 = corert.executeop.seq(%cpu, %c5) "tf.ReadVariableOp"(%w) { dtype = f32 } : 1
  // CHECK-NEXT: values = [2.000000e+00, -6.000000e+00]
  %c7 = "corert.print_tensorhandle"(%w1, %c6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c8, %sum1 = corert.executeop.seq(%cpu, %c7) "tf.ReadVariableOp"(%sum) { dtype = f32 } : 1
  // CHECK-NEXT: values = [1.000000e+00, -4.000000e+00]
  %c9 = "corert.print_tensorhandle"(%sum1, %c8) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c9 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rms_prop'
func @rms_prop() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %c1, %w = corert.executeop.seq(%cpu, %ch0) "tf.VarHandleOp"() { dtype = f32, shared_name = "rms_prop/w" } : 1
  %w0 = corert.const_dense_tensor dense<[1.0, -2.0]> : tensor<2xf32>
  %c2 = corert.executeop.seq(%cpu, %c1) "tf.AssignVariableOp"(%w, %w0) : 0
  %c3, %square = corert.executeop.seq(%cpu, %c2) "tf.VarHandleOp"() { dtype = f32, shared_name = "rms_prop/square" } : 1
  %square0 = corert.const_dense_tensor dense<[0.0, 12.0]> : tensor<2xf32>
  %c4 = corert.executeop.seq(%cpu, %c3) "tf.AssignVariableOp"(%square, %square0) : 0
  %c5, %sum = corert.executeop.seq(%cpu, %c4) "tf.VarHandleOp"() { dtype = f32, shared_name = "rms_prop/sum" } : 1
  %sum0 = corert.const_dense_tensor dense<[4.0, -4.0]> : tensor<2xf32>
  %c6 = corert.executeop.seq(%cpu, %c5) "tf.AssignVariableOp"(%sum, %sum0) : 0
  %rate = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %rho = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %momentum = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %epsilon = corert.const_dense_tensor dense<2.0> : tensor<f32>
  %gradient = corert.const_dense_tensor dense<[2.0, 4.0]> : tensor<2xf32>
  %c7 = corert.executeop.seq(%cpu, %c6) "tf.ResourceApplyRMSProp"(%w, %square, %sum, %rate, %rho, %momentum, %epsilon, %gradient) : 0
  %c8, %w1 = corert.executeop.seq(%cpu, %c7) "tf.ReadVariableOp"(%w) { dtype = f32 } : 1
  // CHECK-NEXT: values = [-1.500000e+00, -5.000000e-01]
  %c9 = "corert.print_tensorhandle"(%w1, %c8) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c10, %square1 = corert.executeop.seq(%cpu, %c9) "tf.ReadVariableOp"(%square) { dtype = f32 } : 1
  // CHECK-NEXT: values = [2.000000e+00, 1.400000e+01]
  %c11 = "corert.print_tensorhandle"(%square1, %c10) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c12, %sum1 = corert.executeop.seq(%cpu, %c11) "tf.ReadVariableOp"(%sum) { dtype = f32 } : 1
  // CHECK-NEXT: values = [2.500000e+00, -1.500000e+00]
  %c13 = "corert.print_tensorhandle"(%sum1, %c12) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c13 : !tfrt.chain
}
