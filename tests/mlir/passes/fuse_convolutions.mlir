// RUN: tfrt_opt --fuse-convolutions --dead-code %s | FileCheck %s

// A convolution with its bias, a residual and an activation is one operation.

// CHECK-LABEL: func @main
// CHECK-NOT: tf.Conv2D
// CHECK: "tfrt.FusedConv2D"(%arg0, %{{[0-9]+}}, %{{[0-9]+}}, %arg1) {activation = "Relu"
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<1x4x4x1xf32>, %residual: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %w = "tf.Const"() {value = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %bias = "tf.Const"() {value = dense<[10.0, 20.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID"}
    : (tensor<1x4x4x1xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %biased = "tf.BiasAdd"(%y, %bias) : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %sum = "tf.AddV2"(%biased, %residual) : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %relu = "tf.Relu"(%sum) : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  tfrt.return %relu : tensor<1x4x4x2xf32>
}
