// RUN: tfrt_opt --widen-to-f32 %s | FileCheck %s

// What is computed in f16 is computed in f32, with weights that are widened once. The model's own
// rounding stays, and so do its inputs and outputs.

// CHECK-LABEL: func @main
// CHECK: %[[x:[0-9]+]] = "tf.Cast"(%arg0) {DstT = f32}
// CHECK: %[[w:[0-9]+]] = "tf.Const"(){{.*}}xf32>
// CHECK: %[[y:[0-9]+]] = "tf.MatMul"(%[[x]], %[[w]]){{.*}} -> tensor<2x2xf32>
// CHECK: %[[softmax:[0-9]+]] = "tf.Softmax"(%[[y]]) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK: %[[back:[0-9]+]] = "tf.Cast"(%[[softmax]]) {DstT = f16}
// CHECK: tfrt.return %[[back]] : tensor<2x2xf16>
func @main(%x: tensor<2x3xf16>) -> tensor<2x2xf16> {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf16>} : () -> tensor<3x2xf16>
  %y = "tf.MatMul"(%x, %w) : (tensor<2x3xf16>, tensor<3x2xf16>) -> tensor<2x2xf16>
  %softmax = "tf.Softmax"(%y) : (tensor<2x2xf16>) -> tensor<2x2xf16>
  tfrt.return %softmax : tensor<2x2xf16>
}
