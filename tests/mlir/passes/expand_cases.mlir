// RUN: tfrt_opt --expand-cases %s | FileCheck %s

// A case becomes a conditional for each branch but the last one, which all other numbers choose.

// CHECK-LABEL: func @main
// CHECK: %[[IS:[0-9a-z]+]] = "tf.Equal"(%arg0, %{{[0-9a-z]+}})
// CHECK: "tf.If"(%[[IS]], %arg0, %arg1) {else_branch = @[[REST:[a-z0-9.]+]], then_branch = @[[FIRST:[a-z0-9.]+]]}
func @main(%i: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tf.Case"(%i, %x) {branches = [@a, @b, @c]} : (tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

func @a(%x: tensor<2xf32>) -> tensor<2xf32> {
  tfrt.return %x : tensor<2xf32>
}

func @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

func @c(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tf.Abs"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// CHECK: func @[[FIRST]](%arg0: tensor<i32>, %arg1: tensor<2xf32>)
// CHECK: "tf.PartitionedCall"(%arg1) {f = @a}
// CHECK: func @[[REST]](%arg0: tensor<i32>, %arg1: tensor<2xf32>)
// CHECK: "tf.If"
