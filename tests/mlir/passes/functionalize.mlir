// RUN: tfrt_opt --functionalize %s | FileCheck %s

// A Switch and a Merge are a conditional: what depends on either output of the Switch becomes a branch.

// CHECK-LABEL: func @main
// CHECK-NEXT: "tf.If"(%arg1, %arg0) {else_branch = @[[ELSE:[a-z0-9.]+]], then_branch = @[[THEN:[a-z0-9.]+]]}
// CHECK: func @[[ELSE]](%arg0: tensor<2xf32>)
// CHECK-NEXT: "tf.Neg"(%arg0)
// CHECK: func @[[THEN]](%arg0: tensor<2xf32>)
// CHECK-NEXT: "tf.Abs"(%arg0)
func @main(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %r = tf_executor.graph {
    %s:3 = tf_executor.Switch %x, %p : tensor<2xf32> {T = "tfdtype$DT_FLOAT"}
    %a:2 = tf_executor.island wraps "tf.Neg"(%s#0) : (tensor<2xf32>) -> tensor<2xf32>
    %b:2 = tf_executor.island wraps "tf.Abs"(%s#1) : (tensor<2xf32>) -> tensor<2xf32>
    %m:3 = tf_executor.Merge %a#0, %b#0 : tensor<2xf32>
    tf_executor.fetch %m#0 : tensor<2xf32>
  }
  tfrt.return %r : tensor<2xf32>
}
