// Elementwise functions between products, of the same shape and of repeated ones.
func @main(%x: tensor<2x6x16xf32>, %w: tensor<16x16xf32>) -> (tensor<2x6x16xf32>, tensor<2x6x16xf32>) {
  %row = "tf.Const"() {value = dense<[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5]> : tensor<16xf32>} : () -> tensor<16xf32>
  %column = "tf.Const"() {value = dense<[[0.5], [1.0], [1.5], [2.0], [2.5], [3.0]]> : tensor<6x1xf32>} : () -> tensor<6x1xf32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.BatchMatMulV2"(%x, %w) {adj_x = false, adj_y = false} : (tensor<2x6x16xf32>, tensor<16x16xf32>) -> tensor<2x6x16xf32>
  %gate = "tf.Sigmoid"(%y) : (tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
  %silu = "tf.Mul"(%y, %gate) : (tensor<2x6x16xf32>, tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
  %scaled = "tf.Mul"(%silu, %column) : (tensor<2x6x16xf32>, tensor<6x1xf32>) -> tensor<2x6x16xf32>
  %shifted = "tf.AddV2"(%scaled, %row) : (tensor<2x6x16xf32>, tensor<16xf32>) -> tensor<2x6x16xf32>
  %z = "tf.BatchMatMulV2"(%shifted, %w) {adj_x = false, adj_y = false} : (tensor<2x6x16xf32>, tensor<16x16xf32>) -> tensor<2x6x16xf32>
  %left = "tf.Tanh"(%z) : (tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
  %leftmost = "tf.Mul"(%left, %half) : (tensor<2x6x16xf32>, tensor<f32>) -> tensor<2x6x16xf32>
  %right = "tf.Exp"(%shifted) : (tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
  %rightmost = "tf.Sub"(%right, %x) : (tensor<2x6x16xf32>, tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
  tfrt.return %leftmost, %rightmost : tensor<2x6x16xf32>, tensor<2x6x16xf32>
}
