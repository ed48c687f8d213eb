// RUN: tfrt_opt --fuse-elementwise %s | FileCheck %s

// Elementwise operations on each other's results are the steps of one. A result that others use, too, stays an operation.

// CHECK-LABEL: func @main
// CHECK-NEXT: "tfrt.FusedElementwise"(%arg0, %arg1) {steps = "AddV2 x0 x1; Mul s0 0.5; Tanh s1"}
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %sum = "tf.AddV2"(%x, %y) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %scaled = "tf.Mul"(%sum, %half) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %tanh = "tf.Tanh"(%scaled) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  tfrt.return %tanh : tensor<4x2xf32>
}

// CHECK-LABEL: func @shared
// CHECK-NEXT: "tf.AddV2"
// CHECK-NEXT: "tf.Tanh"
func @shared(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %sum = "tf.AddV2"(%x, %y) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %tanh = "tf.Tanh"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  tfrt.return %sum, %tanh : tensor<4x2xf32>, tensor<4x2xf32>
}

// Constants of a narrow type are numbers of the steps, too. Operands of different types are not fused.

// CHECK-LABEL: func @narrow
// CHECK-NEXT: "tfrt.FusedElementwise"(%arg0) {steps = "Mul x0 0.25; Sigmoid s0"} : (tensor<4x2xbf16>) -> tensor<4x2xbf16>
// CHECK-NEXT: "tf.Cast"
// CHECK-NEXT: "tf.Exp"
// CHECK-NEXT: tfrt.return
func @narrow(%x: tensor<4x2xbf16>) -> tensor<4x2xf32> {
  %quarter = "tf.Const"() {value = dense<0.25> : tensor<bf16>} : () -> tensor<bf16>
  %scaled = "tf.Mul"(%x, %quarter) : (tensor<4x2xbf16>, tensor<bf16>) -> tensor<4x2xbf16>
  %sigmoid = "tf.Sigmoid"(%scaled) : (tensor<4x2xbf16>) -> tensor<4x2xbf16>
  %wide = "tf.Cast"(%sigmoid) {DstT = f32} : (tensor<4x2xbf16>) -> tensor<4x2xf32>
  %exp = "tf.Exp"(%wide) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  tfrt.return %exp : tensor<4x2xf32>
}
