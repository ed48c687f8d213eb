// Elementwise ops that a compiler fused, alone and at the end of a convolution.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'fused_elementwise'
func @fused_elementwise() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[-4.0, -1.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %row = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %swish = corert.executeop(%cpu) "tfrt.FusedElementwise"(%x) { steps = "AddV2 x0 3.0; Relu6 s0; Mul x0 s1; RealDiv s2 6.0" } : 1
  // CHECK: shape = [2, 2], values = [-0.000000e+00, -3.333333e-01, 6.666667e-01, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%swish, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %spread = corert.executeop(%cpu) "tfrt.FusedElementwise"(%x, %row) { steps = "Mul x0 x1; LeakyRelu s0 0.5; Maximum -1.5 s1" } : 1
  // CHECK: shape = [2, 2], values = [-1.500000e+00, -1.000000e+00, 1.000000e+00, 8.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%spread, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// Steps of a narrow type are computed in f32: 300 squared is beyond f16.
// CHECK-LABEL: --- Running 'narrow'
func @narrow() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[300.0, -2.0, 0.5]> : tensor<3xf16>
  %row = corert.const_dense_tensor dense<[4.0]> : tensor<1xf16>
  %y = corert.executeop(%cpu) "tfrt.FusedElementwise"(%x, %row) { steps = "Square x0; Mul s0 x1; Sqrt s1" } : 1
  %wide = corert.executeop(%cpu) "tf.Cast"(%y) { DstT = f32 } : 1
  // CHECK: shape = [3], values = [6.000000e+02, 4.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%wide, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'convolution_with_steps'
func @convolution_with_steps() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %w = corert.const_dense_tensor dense<[[[[1.0, -1.0]]]]> : tensor<1x1x1x2xf32>
  %b = corert.const_dense_tensor dense<[0.5, 2.5]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "tfrt.FusedConv2D"(%x, %w, %b) { padding = "VALID", steps = "Square x0; Minimum s0 4.0", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 2, 2, 2], values = [2.250000e+00, 2.250000e+00, 4.000000e+00, 2.500000e-01, 4.000000e+00, 2.500000e-01, 4.000000e+00, 2.250000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
