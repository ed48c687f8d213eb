// RUN: tfrt_opt --fold-scales --dead-code %s | FileCheck %s

// A factor and a summand of each channel, as batch normalization has, go into the filter and the bias.

// CHECK-LABEL: func @main
// CHECK: %[[filter:[0-9]+]] = "tf.Const"() {value = dense<{{\[\[\[\[}}2.000000e+00, 6.000000e+00]]]]>
// CHECK-NEXT: %[[y:[0-9]+]] = "tf.Conv2D"(%arg0, %[[filter]])
// CHECK-NEXT: %[[bias:[0-9]+]] = "tf.Const"() {value = dense<[1.000000e+01, 2.000000e+01]>
// CHECK-NEXT: "tf.BiasAdd"(%[[y]], %[[bias]])
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %w = "tf.Const"() {value = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %scale = "tf.Const"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %shift = "tf.Const"() {value = dense<[10.0, 20.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID"}
    : (tensor<1x4x4x1xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %scaled = "tf.Mul"(%y, %scale) : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %shifted = "tf.AddV2"(%scaled, %shift) : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  tfrt.return %shifted : tensor<1x4x4x2xf32>
}

// A summand behind a bias belongs to what follows if the sum without it is needed, too, as in a hard swish.

// CHECK-LABEL: func @needed_twice
// CHECK: %[[conv:[0-9]+]] = "tf.Conv2D"
// CHECK: %[[sum:[0-9]+]] = "tf.BiasAdd"(%[[conv]]
// CHECK: %[[gate:[0-9]+]] = "tf.AddV2"(%[[sum]]
// CHECK: "tf.Mul"(%[[sum]], %[[gate]])
func @needed_twice(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %w = "tf.Const"() {value = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %shift = "tf.Const"() {value = dense<[10.0, 20.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %three = "tf.Const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID"}
    : (tensor<1x4x4x1xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %shifted = "tf.AddV2"(%y, %shift) : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %above = "tf.AddV2"(%shifted, %three) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %gated = "tf.Mul"(%shifted, %above) : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  tfrt.return %gated : tensor<1x4x4x2xf32>
}
