// RUN: tfrt_opt --fuse-attention --dead-code %s | FileCheck %s

// The products, the scale, the mask and the softmax of attention are one operation. Transposes around them become orders.

// CHECK-LABEL: func @main
// CHECK: "tfrt.FusedAttention"(%arg0, %arg1, %arg2, %arg3) {key_order = [0, 2, 1, 3], output_order = [0, 2, 1, 3], query_order = [1, 2, 0, 3], scale = 5.000000e-01 : f32, value_order = [0, 1, 3, 2]} : (tensor<5x2x3x4xf32>, tensor<2x6x3x4xf32>, tensor<2x3x7x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x5x3x7xf32>
// CHECK-NEXT: tfrt.return
func @main(%q: tensor<5x2x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x3x7x6xf32>, %mask: tensor<2x1x1x6xf32>) -> tensor<2x5x3x7xf32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %four = "tf.Const"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %rows_last = "tf.Const"() {value = dense<[1, 2, 0, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
  %columns_last = "tf.Const"() {value = dense<[0, 2, 3, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %swap = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
  %scaled = "tf.Mul"(%q, %two) : (tensor<5x2x3x4xf32>, tensor<1xf32>) -> tensor<5x2x3x4xf32>
  %queries = "tf.Transpose"(%scaled, %rows_last) : (tensor<5x2x3x4xf32>, tensor<4xi64>) -> tensor<2x3x5x4xf32>
  %keys = "tf.Transpose"(%k, %columns_last) : (tensor<2x6x3x4xf32>, tensor<4xi64>) -> tensor<2x3x4x6xf32>
  %products = "tf.BatchMatMulV2"(%queries, %keys) : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32>
  %less = "tf.RealDiv"(%products, %four) : (tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x5x6xf32>
  %masked = "tf.AddV2"(%less, %mask) : (tensor<2x3x5x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x3x5x6xf32>
  %weights = "tf.Softmax"(%masked) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %sums = "tf.BatchMatMulV2"(%weights, %v) {adj_y = true} : (tensor<2x3x5x6xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x7xf32>
  %y = "tf.Transpose"(%sums, %swap) : (tensor<2x3x5x7xf32>, tensor<4xi64>) -> tensor<2x5x3x7xf32>
  tfrt.return %y : tensor<2x5x3x7xf32>
}

// Queries whose own elements are not adjacent are transposed first, and so are results.
// CHECK-LABEL: func @kept
// CHECK: %[[queries:[0-9]+]] = "tf.Transpose"(%arg0
// CHECK-NEXT: %[[sums:[0-9]+]] = "tfrt.FusedAttention"(%[[queries]], %arg1, %arg1) {key_order = [0, 1, 2], output_order = [0, 1, 2], query_order = [0, 1, 2], scale = 1.000000e+00 : f32, value_order = [0, 1, 2]}
// CHECK: "tf.Transpose"(%[[sums]]
func @kept(%q: tensor<2x4x5xf32>, %k: tensor<2x6x4xf32>) -> tensor<2x4x5xf32> {
  %swap = "tf.Const"() {value = dense<[0, 2, 1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %queries = "tf.Transpose"(%q, %swap) : (tensor<2x4x5xf32>, tensor<3xi64>) -> tensor<2x5x4xf32>
  %products = "tf.BatchMatMulV2"(%queries, %k) {adj_y = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>) -> tensor<2x5x6xf32>
  %weights = "tf.Softmax"(%products) : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %sums = "tf.BatchMatMulV2"(%weights, %k) : (tensor<2x5x6xf32>, tensor<2x6x4xf32>) -> tensor<2x5x4xf32>
  %y = "tf.Transpose"(%sums, %swap) : (tensor<2x5x4xf32>, tensor<3xi64>) -> tensor<2x4x5xf32>
  tfrt.return %y : tensor<2x4x5xf32>
}

// What else uses the weights or a scale behind a mask stays as it is.
// CHECK-LABEL: func @used
// CHECK-NOT: tfrt.FusedAttention
// CHECK: tfrt.return
func @used(%q: tensor<2x5x4xf32>, %k: tensor<2x6x4xf32>, %mask: tensor<6xf32>) -> (tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<2x5x4xf32>) {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %products = "tf.BatchMatMulV2"(%q, %k) {adj_y = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>) -> tensor<2x5x6xf32>
  %weights = "tf.Softmax"(%products) : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %sums = "tf.BatchMatMulV2"(%weights, %k) : (tensor<2x5x6xf32>, tensor<2x6x4xf32>) -> tensor<2x5x4xf32>
  %others = "tf.BatchMatMulV2"(%q, %k) {adj_y = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>) -> tensor<2x5x6xf32>
  %masked = "tf.AddV2"(%others, %mask) : (tensor<2x5x6xf32>, tensor<6xf32>) -> tensor<2x5x6xf32>
  %more = "tf.Mul"(%masked, %two) : (tensor<2x5x6xf32>, tensor<f32>) -> tensor<2x5x6xf32>
  %likely = "tf.Softmax"(%more) : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %last = "tf.BatchMatMulV2"(%likely, %k) : (tensor<2x5x6xf32>, tensor<2x6x4xf32>) -> tensor<2x5x4xf32>
  tfrt.return %sums, %weights, %last : tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<2x5x4xf32>
}

// Narrow types are taken too. Casts around the softmax have no use, and a mask may be wide.
// CHECK-LABEL: func @narrow
// CHECK-NEXT: %[[sums:[0-9]+]] = "tfrt.FusedAttention"(%arg0, %arg1, %arg1, %arg2) {key_order = [0, 1, 2], output_order = [0, 1, 2], query_order = [0, 1, 2], scale = 2.000000e+00 : f32, value_order = [0, 1, 2]} : (tensor<2x5x4xf16>, tensor<2x6x4xf16>, tensor<2x6x4xf16>, tensor<6xf32>) -> tensor<2x5x4xf16>
// CHECK-NEXT: tfrt.return %[[sums]]
func @narrow(%q: tensor<2x5x4xf16>, %k: tensor<2x6x4xf16>, %mask: tensor<6xf32>) -> tensor<2x5x4xf16> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f16>} : () -> tensor<f16>
  %products = "tf.BatchMatMulV2"(%q, %k) {adj_y = true} : (tensor<2x5x4xf16>, tensor<2x6x4xf16>) -> tensor<2x5x6xf16>
  %scaled = "tf.Mul"(%products, %two) : (tensor<2x5x6xf16>, tensor<f16>) -> tensor<2x5x6xf16>
  %wide = "tf.Cast"(%scaled) {DstT = f32} : (tensor<2x5x6xf16>) -> tensor<2x5x6xf32>
  %masked = "tf.AddV2"(%wide, %mask) : (tensor<2x5x6xf32>, tensor<6xf32>) -> tensor<2x5x6xf32>
  %softmax = "tf.Softmax"(%masked) : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %weights = "tf.Cast"(%softmax) {DstT = f16} : (tensor<2x5x6xf32>) -> tensor<2x5x6xf16>
  %sums = "tf.BatchMatMulV2"(%weights, %k) : (tensor<2x5x6xf16>, tensor<2x6x4xf16>) -> tensor<2x5x4xf16>
  tfrt.return %sums : tensor<2x5x4xf16>
}

// Keys and values that are repeated for the heads of a group are shared by them.
// CHECK-LABEL: func @groups
// CHECK: %[[mask:[0-9]+]] = "tf.Reshape"(%arg3, {{.*}} -> tensor<2x1x1x1x6xf32>
// CHECK: %[[queries:[0-9]+]] = "tf.Reshape"(%arg0, {{.*}} -> tensor<2x5x2x3x4xf32>
// CHECK: %[[sums:[0-9]+]] = "tfrt.FusedAttention"(%[[queries]], %arg1, %arg2, %[[mask]]) {key_order = [0, 1, 2, 3, 4], output_order = [0, 3, 1, 2, 4], query_order = [0, 2, 3, 1, 4], scale = 1.000000e+00 : f32, value_order = [0, 1, 2, 3, 4]} : {{.*}} -> tensor<2x5x2x3x4xf32>
// CHECK: %[[joined:[0-9]+]] = "tf.Reshape"(%[[sums]], {{.*}} -> tensor<2x5x6x4xf32>
// CHECK-NEXT: tfrt.return %[[joined]]
func @groups(%q: tensor<2x5x6x4xf32>, %k: tensor<2x2x1x6x4xf32>, %v: tensor<2x2x1x6x4xf32>, %mask: tensor<2x1x1x6xf32>) -> tensor<2x5x6x4xf32> {
  %wide = "tf.Const"() {value = dense<[2, 2, 3, 6, 4]> : tensor<5xi64>} : () -> tensor<5xi64>
  %joined = "tf.Const"() {value = dense<[2, 6, 6, 4]> : tensor<4xi64>} : () -> tensor<4xi64>
  %swap = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
  %queries = "tf.Transpose"(%q, %swap) : (tensor<2x5x6x4xf32>, tensor<4xi64>) -> tensor<2x6x5x4xf32>
  %wide_keys = "tf.BroadcastTo"(%k, %wide) : (tensor<2x2x1x6x4xf32>, tensor<5xi64>) -> tensor<2x2x3x6x4xf32>
  %keys = "tf.Reshape"(%wide_keys, %joined) : (tensor<2x2x3x6x4xf32>, tensor<4xi64>) -> tensor<2x6x6x4xf32>
  %wide_values = "tf.BroadcastTo"(%v, %wide) : (tensor<2x2x1x6x4xf32>, tensor<5xi64>) -> tensor<2x2x3x6x4xf32>
  %values = "tf.Reshape"(%wide_values, %joined) : (tensor<2x2x3x6x4xf32>, tensor<4xi64>) -> tensor<2x6x6x4xf32>
  %products = "tf.BatchMatMulV2"(%queries, %keys) {adj_y = true} : (tensor<2x6x5x4xf32>, tensor<2x6x6x4xf32>) -> tensor<2x6x5x6xf32>
  %masked = "tf.AddV2"(%products, %mask) : (tensor<2x6x5x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x6x5x6xf32>
  %weights = "tf.Softmax"(%masked) : (tensor<2x6x5x6xf32>) -> tensor<2x6x5x6xf32>
  %sums = "tf.BatchMatMulV2"(%weights, %values) : (tensor<2x6x5x6xf32>, tensor<2x6x6x4xf32>) -> tensor<2x6x5x4xf32>
  %y = "tf.Transpose"(%sums, %swap) : (tensor<2x6x5x4xf32>, tensor<4xi64>) -> tensor<2x5x6x4xf32>
  tfrt.return %y : tensor<2x5x6x4xf32>
}
