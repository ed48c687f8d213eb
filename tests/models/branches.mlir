// A model of three branches, large enough that several streams pay, so that a device program of it
// has streams that wait for each other.
func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = "tf.Relu"(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = "tf.MatMul"(%0, %0) {transpose_b = true} : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = "tf.MatMul"(%x, %0) {transpose_b = true} : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %3 = "tf.MatMul"(%0, %x) {transpose_b = true} : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %4 = "tf.Softmax"(%1) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %5 = "tf.Softmax"(%2) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %6 = "tf.Softmax"(%3) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %7 = "tf.MatMul"(%4, %5) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %8 = "tf.MatMul"(%7, %6) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %9 = "tf.MatMul"(%8, %0) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  tfrt.return %9 : tensor<512x512xf32>
}
