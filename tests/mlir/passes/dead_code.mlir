// RUN: tfrt_opt --dead-code %s | FileCheck %s
// RUN: tfrt_opt --dead-code-again %s | FileCheck %s

// What nothing uses is removed, with what only that used.

// CHECK-LABEL: func @main
// CHECK-NEXT: "tf.Relu"
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "tf.Const"() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %unused = "tf.AddV2"(%x, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %more = "tf.Neg"(%unused) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tf.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  tfrt.return %y : tensor<2x3xf32>
}
