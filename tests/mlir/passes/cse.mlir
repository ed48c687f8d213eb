// RUN: tfrt_opt --cse %s | FileCheck %s
// RUN: tfrt_opt --cse-again --dead-code %s | FileCheck %s

// Equal operations are computed once; random ones and those with other attributes are not equal.

// CHECK-LABEL: func @main
func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xi64>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[a:[0-9]+]] = "tf.Sqrt"(%arg0)
  %a = "tf.Sqrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tf.Sqrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[sum:[0-9]+]] = "tf.AddV2"(%[[a]], %[[a]])
  %sum = "tf.AddV2"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: "tf.Shape"(%arg0) {out_type = i32}
  // CHECK-NEXT: %[[shape:[0-9]+]] = "tf.Shape"(%arg0) {out_type = i64}
  %s32 = "tf.Shape"(%x) {out_type = i32} : (tensor<2x3xf32>) -> tensor<2xi32>
  %s64 = "tf.Shape"(%x) {out_type = i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  // CHECK-NEXT: %[[r0:[0-9]+]] = "tf.RandomUniform"
  // CHECK-NEXT: %[[r1:[0-9]+]] = "tf.RandomUniform"
  %r0 = "tf.RandomUniform"(%s32) {dtype = f32, seed = 1, seed2 = 2} : (tensor<2xi32>) -> tensor<2x3xf32>
  %r1 = "tf.RandomUniform"(%s32) {dtype = f32, seed = 1, seed2 = 2} : (tensor<2xi32>) -> tensor<2x3xf32>
  %r = "tf.Sub"(%r0, %r1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  tfrt.return %sum, %s64, %r : tensor<2x3xf32>, tensor<2xi64>, tensor<2x3xf32>
}
