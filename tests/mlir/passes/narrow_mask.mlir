// RUN: tfrt_opt --narrow-to-f16 --dead-code %s | FileCheck %s

// A mask of numbers that f16 does not have keeps its sum wide.

// CHECK-LABEL: func @main
// CHECK: "tf.MatMul"{{.*}} -> tensor<2x2xf16>
// CHECK: "tf.AddV2"{{.*}} -> tensor<2x2xf32>
// CHECK-NOT: f16
func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = "tf.MatMul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %mask = "tf.Const"() {value = dense<[[0.0, -1.0e9], [0.0, 0.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %masked = "tf.AddV2"(%y, %mask) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  tfrt.return %masked : tensor<2x2xf32>
}
