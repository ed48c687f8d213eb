// RUN: tfrt_opt --outline-islands %s | FileCheck %s

// A graph that stays is one operation, which executes a plan of its nodes. Each island is a function.

// CHECK-LABEL: func @main
// CHECK-NEXT: "tfrt.ExecuteGraph"(%arg0, %arg1) {islands = [@island.1, @island.2], plan = [{{.*}}], texts = [{{.*}}'tf_executor.Switch' at {{.*}}]}
// CHECK: func @island.1(%arg0: tensor<2xf32>)
// CHECK-NEXT: "tf.Neg"(%arg0)
// CHECK: func @island.2(%arg0: tensor<2xf32>)
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
