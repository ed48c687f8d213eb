// RUN: tfrt_opt --sink-transposes --dead-code %s | FileCheck %s

// Two transposes that undo each other cancel, with elementwise operations between them.

// CHECK-LABEL: func @main
// CHECK-NOT: tf.Transpose
// CHECK: "tf.Relu"(%arg0) : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
// CHECK-NOT: tf.Transpose
// CHECK: tfrt.return
func @main(%x: tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32> {
  %first = "tf.Const"() {value = dense<[0, 3, 1, 2]> : tensor<4xi64>} : () -> tensor<4xi64>
  %last = "tf.Const"() {value = dense<[0, 2, 3, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %a = "tf.Transpose"(%x, %first) : (tensor<1x4x5x3xf32>, tensor<4xi64>) -> tensor<1x3x4x5xf32>
  %b = "tf.Relu"(%a) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %c = "tf.Transpose"(%b, %last) : (tensor<1x3x4x5xf32>, tensor<4xi64>) -> tensor<1x4x5x3xf32>
  tfrt.return %c : tensor<1x4x5x3xf32>
}
