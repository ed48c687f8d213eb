// RUN: tfrt_opt --prune-graphs %s | FileCheck %s

// An island whose results nothing needs is removed.

// CHECK-LABEL: func @main
// CHECK: tf_executor.Switch
// CHECK-NEXT: "tf.Neg"
// CHECK-NEXT: "tf.Abs"
// CHECK-NEXT: tf_executor.Merge
func @main(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %r = tf_executor.graph {
    %s:3 = tf_executor.Switch %x, %p : tensor<2xf32> {T = "tfdtype$DT_FLOAT"}
    %a:2 = tf_executor.island wraps "tf.Neg"(%s#0) : (tensor<2xf32>) -> tensor<2xf32>
    %b:2 = tf_executor.island wraps "tf.Abs"(%s#1) : (tensor<2xf32>) -> tensor<2xf32>
    %u:2 = tf_executor.island wraps "tf.Exp"(%s#1) : (tensor<2xf32>) -> tensor<2xf32>
    %m:3 = tf_executor.Merge %a#0, %b#0 : tensor<2xf32>
    tf_executor.fetch %m#0 : tensor<2xf32>
  }
  tfrt.return %r : tensor<2xf32>
}
