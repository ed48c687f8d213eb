// RUN: tfrt_opt --fuse-convolutions --fuse-elementwise --end-convolutions --dead-code %s | FileCheck %s

// What follows a convolution and has no other argument is computed as its results are stored.

// CHECK-LABEL: func @main
// CHECK: "tfrt.FusedConv2D"{{.*}}steps = "Sigmoid x0; Mul x0 s0"
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %w = "tf.Const"() {value = dense<0.5> : tensor<1x1x2x3xf32>} : () -> tensor<1x1x2x3xf32>
  %y = "tf.Conv2D"(%x, %w) {padding = "VALID", strides = [1, 1, 1, 1]} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x4x3xf32>
  %gate = "tf.Sigmoid"(%y) : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %silu = "tf.Mul"(%y, %gate) : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  tfrt.return %silu : tensor<1x4x4x3xf32>
}

// CHECK-LABEL: func @others
// CHECK: "tfrt.FusedConv2D"
// CHECK-NEXT: "tfrt.FusedElementwise"
// CHECK-NEXT: tfrt.return
func @others(%x: tensor<1x4x4x2xf32>, %z: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %w = "tf.Const"() {value = dense<0.5> : tensor<1x1x2x3xf32>} : () -> tensor<1x1x2x3xf32>
  %y = "tf.Conv2D"(%x, %w) {padding = "VALID", strides = [1, 1, 1, 1]} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x4x3xf32>
  %gate = "tf.Sigmoid"(%y) : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %product = "tf.Mul"(%z, %gate) : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  tfrt.return %product : tensor<1x4x4x3xf32>
}
