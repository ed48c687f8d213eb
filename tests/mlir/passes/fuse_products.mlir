// RUN: tfrt_opt --fuse-products --dead-code %s | FileCheck %s

// A product with its bias and an activation is one operation. A batch of products by one matrix is one product of all rows,
// and a product by a constant matrix is a convolution of a row, whose filter is laid out once.

// CHECK-LABEL: func @main
// CHECK: "tf._FusedMatMul"(%arg0, %arg1, %{{[0-9]+}}) {fused_ops = ["BiasAdd", "Relu"]}
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<5x2xf32>, %w: tensor<2x3xf32>) -> tensor<5x3xf32> {
  %bias = "tf.Const"() {value = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %y = "tf.MatMul"(%x, %w) : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %biased = "tf.BiasAdd"(%y, %bias) : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %relu = "tf.Relu"(%biased) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  tfrt.return %relu : tensor<5x3xf32>
}

// CHECK-LABEL: func @batch
// CHECK: %[[rows:[0-9]+]] = "tf.Reshape"(%arg0, %{{[0-9]+}}) : (tensor<4x5x2xf32>, tensor<4xi64>) -> tensor<1x1x20x2xf32>
// CHECK-NEXT: %[[product:[0-9]+]] = "tfrt.FusedConv2D"(%[[rows]], {{.*}}activation = ""
// CHECK-NEXT: "tf.Reshape"(%[[product]], {{.*}} -> tensor<4x5x3xf32>
// CHECK-NEXT: tfrt.return
func @batch(%x: tensor<4x5x2xf32>) -> tensor<4x5x3xf32> {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %bias = "tf.Const"() {value = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %y = "tf.BatchMatMulV2"(%x, %w) : (tensor<4x5x2xf32>, tensor<2x3xf32>) -> tensor<4x5x3xf32>
  %biased = "tf.AddV2"(%y, %bias) : (tensor<4x5x3xf32>, tensor<3xf32>) -> tensor<4x5x3xf32>
  tfrt.return %biased : tensor<4x5x3xf32>
}
