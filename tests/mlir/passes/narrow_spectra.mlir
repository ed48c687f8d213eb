// RUN: tfrt_opt --narrow-to-f16 --dead-code %s | FileCheck %s

// What a logarithm takes is wide, back to the activation before. What follows it, and other products, are narrow.

// CHECK-LABEL: func @main
// CHECK: "tf.MatMul"{{.*}} -> tensor<4x4xf16>
// CHECK: "tf.Relu"{{.*}} -> tensor<4x4xf16>
// CHECK: "tf.Cast"{{.*}} -> tensor<4x4xf32>
// CHECK: "tf.MatMul"{{.*}} -> tensor<4x4xf32>
// CHECK: "tf.Mul"{{.*}} -> tensor<4x4xf32>
// CHECK: "tf.Log"{{.*}} -> tensor<4x4xf32>
// CHECK: "tf.MatMul"{{.*}} -> tensor<4x4xf16>
func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "tf.MatMul"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "tf.Relu"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "tf.MatMul"(%1, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "tf.Mul"(%2, %2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "tf.Log"(%3) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = "tf.MatMul"(%4, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  tfrt.return %5 : tensor<4x4xf32>
}
