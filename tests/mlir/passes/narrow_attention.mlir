// RUN: tfrt_opt --fuse-attention --narrow-to-f16 --dead-code %s | FileCheck %s

// Attention is fused before it is narrowed, and its mask of numbers stays wide. So does attention with a cache.

// CHECK-LABEL: func @main
// CHECK: %[[sums:[0-9]+]] = "tfrt.FusedAttention"(%{{.*}}, %arg2) {{.*}}(tensor<2x5x4xf16>, tensor<2x6x4xf16>, tensor<2x6x4xf16>, tensor<6xf32>) -> tensor<2x5x4xf16>
// CHECK: %[[plain:[0-9]+]] = "onnx.Attention"({{.*}}) -> tensor<2x1x6x4xf16>
// CHECK: "onnx.Attention"({{.*}}) -> (tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>)
// CHECK: tfrt.return
func @main(%q: tensor<2x5x4xf32>, %k: tensor<2x6x4xf32>, %mask: tensor<6xf32>, %x: tensor<2x1x6x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) {
  %products = "tf.BatchMatMulV2"(%q, %k) {adj_y = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>) -> tensor<2x5x6xf32>
  %masked = "tf.AddV2"(%products, %mask) : (tensor<2x5x6xf32>, tensor<6xf32>) -> tensor<2x5x6xf32>
  %softmax = "tf.Softmax"(%masked) : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %sums = "tf.BatchMatMulV2"(%softmax, %k) : (tensor<2x5x6xf32>, tensor<2x6x4xf32>) -> tensor<2x5x4xf32>
  %plain = "onnx.Attention"(%x, %x, %x) : (tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> tensor<2x1x6x4xf32>
  %y:3 = "onnx.Attention"(%x, %x, %x) {result_segment_sizes = [1, 1, 1, 0]} : (tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>)
  tfrt.return %sums, %plain, %y#0, %y#1, %y#2 : tensor<2x5x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>
}
