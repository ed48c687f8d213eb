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

// One slice of a transposed tensor is a slice of the tensor along another axis, with what is left of the transpose.
// CHECK-LABEL: func @gather
// CHECK: %[[axis:[0-9]+]] = "tf.Const"() {value = dense<2> : tensor<i64>}
// CHECK: %[[slice:[0-9]+]] = "tf.GatherV2"(%arg0, %{{[0-9]+}}, %[[axis]]) : (tensor<5x4x3x2xf32>, tensor<i64>, tensor<i64>) -> tensor<5x4x2xf32>
// CHECK: %[[order:[0-9]+]] = "tf.Const"() {value = dense<[1, 0, 2]> : tensor<3xi64>}
// CHECK-NEXT: "tf.Transpose"(%[[slice]], %[[order]]) : (tensor<5x4x2xf32>, tensor<3xi64>) -> tensor<4x5x2xf32>
func @gather(%x: tensor<5x4x3x2xf32>) -> tensor<4x5x2xf32> {
  %order = "tf.Const"() {value = dense<[2, 1, 0, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
  %one = "tf.Const"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %axis = "tf.Const"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %a = "tf.Transpose"(%x, %order) : (tensor<5x4x3x2xf32>, tensor<4xi64>) -> tensor<3x4x5x2xf32>
  %b = "tf.GatherV2"(%a, %one, %axis) : (tensor<3x4x5x2xf32>, tensor<i64>, tensor<i64>) -> tensor<4x5x2xf32>
  tfrt.return %b : tensor<4x5x2xf32>
}
