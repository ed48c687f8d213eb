// RUN: tfrt_opt --coarsen-islands %s | FileCheck %s

// Islands that run or are dead together are one.

// CHECK-LABEL: func @main
// CHECK: tf_executor.island wraps "tf.Neg"
// CHECK: tf_executor.island {
// CHECK: "tf.Abs"
// CHECK: "tf.Exp"
// CHECK: tf_executor.yield
// CHECK: tf_executor.Merge
func @main(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %r = tf_executor.graph {
    %s:3 = tf_executor.Switch %x, %p : tensor<2xf32> {T = "tfdtype$DT_FLOAT"}
    %a:2 = tf_executor.island wraps "tf.Neg"(%s#0) : (tensor<2xf32>) -> tensor<2xf32>
    %b:2 = tf_executor.island wraps "tf.Abs"(%s#1) : (tensor<2xf32>) -> tensor<2xf32>
    %c:2 = tf_executor.island wraps "tf.Exp"(%b#0) : (tensor<2xf32>) -> tensor<2xf32>
    %m:3 = tf_executor.Merge %a#0, %c#0 : tensor<2xf32>
    tf_executor.fetch %m#0 : tensor<2xf32>
  }
  tfrt.return %r : tensor<2xf32>
}
