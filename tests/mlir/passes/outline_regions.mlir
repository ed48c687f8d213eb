// RUN: tfrt_opt --outline-regions %s | FileCheck %s

// Regions become functions, which take what their operation uses from outside. Constants are made again inside.

// CHECK-LABEL: func @main
// CHECK-NOT: Region
// CHECK: "tf.If"(%arg1, %arg0) {else_branch = @[[ELSE:[a-z0-9.]+]], then_branch = @[[THEN:[a-z0-9.]+]]} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
// CHECK: "tf.While"(%{{[0-9a-z]+}}, %arg0) {body = @[[BODY:[a-z0-9.]+]], cond = @[[COND:[a-z0-9.]+]]} : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
func @main(%x: tensor<2xf32>, %c: tensor<i1>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<i32>) {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %y = "tf.IfRegion"(%c) ({
    %a = "tf.Mul"(%x, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    "tf.Yield"(%a) : (tensor<2xf32>) -> ()
  }, {
    "tf.Yield"(%x) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  %m = "tf.WhileRegion"(%n) ({
  ^bb0(%i: tensor<i32>):
    %l = "tf.Less"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%l) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    %s = "tf.Size"(%x) : (tensor<2xf32>) -> tensor<i32>
    %j = "tf.AddV2"(%i, %s) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "tf.Yield"(%j) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  tfrt.return %y, %m : tensor<2xf32>, tensor<i32>
}

// CHECK: func @[[THEN]](%arg0: tensor<2xf32>)
// CHECK: "tf.Const"
// CHECK: "tf.Mul"
// CHECK: func @[[ELSE]](%arg0: tensor<2xf32>)
// CHECK: tfrt.return %arg0
// CHECK: func @[[COND]](%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> tensor<i1>
// CHECK: func @[[BODY]](%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
// CHECK: "tf.Size"(%arg1)
