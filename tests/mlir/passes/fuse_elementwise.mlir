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
