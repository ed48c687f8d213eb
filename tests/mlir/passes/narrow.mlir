// RUN: tfrt_opt --narrow-to-f16 --dead-code %s | FileCheck %s
// RUN: tfrt_opt --narrow-to-bf16 --dead-code %s | FileCheck %s --check-prefix=BF16
// BF16: "tf.MatMul"{{.*}} -> tensor<2x2xbf16>

// Products are computed in f16, what follows keeps the type, and softmax stays wide.

// CHECK-LABEL: func @main
// CHECK: %[[x:[0-9]+]] = "tf.Cast"(%arg0) {DstT = f16}
// CHECK: %[[w:[0-9]+]] = "tf.Const"(){{.*}}xf16>
// CHECK: %[[y:[0-9]+]] = "tf.MatMul"(%[[x]], %[[w]]){{.*}} -> tensor<2x2xf16>
// CHECK: %[[relu:[0-9]+]] = "tf.Relu"(%[[y]]) : (tensor<2x2xf16>) -> tensor<2x2xf16>
// CHECK: %[[wide:[0-9]+]] = "tf.Cast"(%[[relu]]) {DstT = f32}
// CHECK: %[[softmax:[0-9]+]] = "tf.Softmax"(%[[wide]])
// CHECK-NEXT: tfrt.return %[[softmax]] : tensor<2x2xf32>
func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %y = "tf.MatMul"(%x, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %relu = "tf.Relu"(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %softmax = "tf.Softmax"(%relu) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  tfrt.return %softmax : tensor<2x2xf32>
}
