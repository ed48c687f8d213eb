// RUN: tfrt_opt --narrow-to-f16 --dead-code %s | FileCheck %s

// What is known of a result's extents stays known where inference finds less.

// CHECK-LABEL: func @main
// CHECK: "tf.Conv2D"{{.*}} -> tensor<?x?x?x?xf16>
// CHECK: "tf.Cast"({{.*}}) {DstT = f32} : (tensor<?x?x?x?xf16>) -> tensor<?x?x?x?xf32>
func @main(%x: tensor<?x6x7x8xf32>, %w: tensor<*xf32>) -> tensor<?x?x?x?xf32> {
  %y = "tf.Conv2D"(%x, %w) {padding = "VALID", strides = [1, 1, 1, 1]} : (tensor<?x6x7x8xf32>, tensor<*xf32>) -> tensor<?x?x?x?xf32>
  tfrt.return %y : tensor<?x?x?x?xf32>
}
