// Means over more elements than one block of a launch takes, in parts with scratch memory between them.
module {
  func @main(%x: tensor<1x120x120x3xf32>) -> (tensor<1x3xf32>, tensor<f32>) {
    %pixels = "tf.Const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
    %all = "tf.Const"() {value = dense<[0, 1, 2, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
    %0 = "tf.Mean"(%x, %pixels) : (tensor<1x120x120x3xf32>, tensor<2xi32>) -> tensor<1x3xf32>
    %1 = "tf.Mean"(%x, %all) : (tensor<1x120x120x3xf32>, tensor<4xi32>) -> tensor<f32>
    return %0, %1 : tensor<1x3xf32>, tensor<f32>
  }
}
