// RUN: tfrt_opt --widen-to-f32 %s | FileCheck %s

// A model that rounds by itself keeps its casts, and an op that gains nothing keeps its type.

// CHECK-LABEL: func @main
// CHECK: "tf.Exp"{{.*}} -> tensor<4xf32>
// CHECK: "tf.Cast"({{.*}}) {DstT = bf16}
// CHECK: %[[y:[0-9]+]] = "tf.Sign"({{.*}}) : (tensor<4xbf16>) -> tensor<4xbf16>
// CHECK: %[[f:[0-9]+]] = "tf.Cast"(%[[y]]) {DstT = f32}
// CHECK: %[[rounded:[0-9]+]] = "tf.Cast"(%{{[0-9]+}}) {DstT = f16}
// CHECK: "tf.Cast"(%[[rounded]]) {DstT = f32}
func @main(%x: tensor<4xbf16>) -> tensor<4xf32> {
  %e = "tf.Exp"(%x) : (tensor<4xbf16>) -> tensor<4xbf16>
  %y = "tf.Sign"(%e) : (tensor<4xbf16>) -> tensor<4xbf16>
  %f = "tf.Cast"(%y) {DstT = f32} : (tensor<4xbf16>) -> tensor<4xf32>
  %z = "tf.Add"(%f, %f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %half = "tf.Cast"(%z) {DstT = f16} : (tensor<4xf32>) -> tensor<4xf16>
  %w = "tf.Cast"(%half) {DstT = f32} : (tensor<4xf16>) -> tensor<4xf32>
  tfrt.return %w : tensor<4xf32>
}
