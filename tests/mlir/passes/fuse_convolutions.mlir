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

// Where the number of images is open, the residual must be known to have as many as the convolution.

// CHECK-LABEL: func @open
// CHECK-NOT: tf.AddV2
// CHECK: "tfrt.FusedConv2D"(%{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %arg0) {activation = "Relu"
// CHECK-NEXT: tfrt.return
func @open(%x: tensor<?x4x4x2xf32>) -> tensor<?x4x4x2xf32> {
  %w = "tf.Const"() {value = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>} : () -> tensor<1x1x2x2xf32>
  %bias = "tf.Const"() {value = dense<[10.0, 20.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %axes = "tf.Const"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %mean = "tf.Mean"(%x, %axes) {keep_dims = true} : (tensor<?x4x4x2xf32>, tensor<2xi64>) -> tensor<?x1x1x2xf32>
  %gated = "tf.Mul"(%mean, %x) : (tensor<?x1x1x2xf32>, tensor<?x4x4x2xf32>) -> tensor<?x4x4x2xf32>
  %y = "tf.Conv2D"(%gated, %w) {strides = [1, 1, 1, 1], padding = "VALID"}
    : (tensor<?x4x4x2xf32>, tensor<1x1x2x2xf32>) -> tensor<?x4x4x2xf32>
  %biased = "tf.BiasAdd"(%y, %bias) : (tensor<?x4x4x2xf32>, tensor<2xf32>) -> tensor<?x4x4x2xf32>
  %sum = "tf.AddV2"(%biased, %x) : (tensor<?x4x4x2xf32>, tensor<?x4x4x2xf32>) -> tensor<?x4x4x2xf32>
  %relu = "tf.Relu"(%sum) : (tensor<?x4x4x2xf32>) -> tensor<?x4x4x2xf32>
  tfrt.return %relu : tensor<?x4x4x2xf32>
}

// One of two batches may have a single image, which is then added to all of the other.
// CHECK-LABEL: func @other_batch
// CHECK: tf.AddV2
// CHECK: tfrt.return
func @other_batch(%x: tensor<?x4x4x2xf32>, %z: tensor<?x4x4x2xf32>) -> tensor<?x4x4x2xf32> {
  %w = "tf.Const"() {value = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>} : () -> tensor<1x1x2x2xf32>
  %bias = "tf.Const"() {value = dense<[10.0, 20.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID"}
    : (tensor<?x4x4x2xf32>, tensor<1x1x2x2xf32>) -> tensor<?x4x4x2xf32>
  %biased = "tf.BiasAdd"(%y, %bias) : (tensor<?x4x4x2xf32>, tensor<2xf32>) -> tensor<?x4x4x2xf32>
  %sum = "tf.AddV2"(%biased, %z) : (tensor<?x4x4x2xf32>, tensor<?x4x4x2xf32>) -> tensor<?x4x4x2xf32>
  tfrt.return %sum : tensor<?x4x4x2xf32>
}
