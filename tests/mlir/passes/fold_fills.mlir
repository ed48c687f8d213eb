// RUN: tfrt_opt --fold-fills --dead-code %s | FileCheck %s

// A filled tensor becomes a constant, and so does what is computed of it alone. One of more than 1 GiB stays.

// CHECK-LABEL: func @main
// CHECK: %[[half:[0-9]+]] = "tf.Const"() {value = dense<5.000000e-01> : tensor<2x3xf32>}
// CHECK-NEXT: %[[sum:[0-9]+]] = "tf.AddV2"(%arg0, %[[half]])
// CHECK-NOT: tf.Transpose
// CHECK: %[[large:[0-9]+]] = "tf.Fill"
// CHECK-NOT: tf.Fill
// CHECK: tfrt.return %[[sum]], %[[large]]
func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<16385x16384xf32>) {
  %dims = "tf.Const"() {value = dense<[3, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %filled = "tf.Fill"(%dims, %half) : (tensor<2xi32>, tensor<f32>) -> tensor<3x2xf32>
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %turned = "tf.Transpose"(%filled, %order) : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %sum = "tf.AddV2"(%x, %turned) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %many = "tf.Const"() {value = dense<[16385, 16384]> : tensor<2xi32>} : () -> tensor<2xi32>
  %large = "tf.Fill"(%many, %half) : (tensor<2xi32>, tensor<f32>) -> tensor<16385x16384xf32>
  tfrt.return %sum, %large : tensor<2x3xf32>, tensor<16385x16384xf32>
}
