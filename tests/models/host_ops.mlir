// A model with ops that only the host has, between ops of the device: a running logarithm of sums, a branch, and the places of
// positive elements, whose number nobody knows beforehand.
func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<?x2xi64>, tensor<4x8xf32>) {
  %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %all = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Tanh"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "tf.CumulativeLogsumexp"(%0, %axis) : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  %2 = "tf.Softmax"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "tf.Sum"(%0, %all) : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<f32>
  %4 = "tf.Greater"(%3, %zero) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %5 = "tf.If"(%4, %2) {then_branch = @double, else_branch = @negate} : (tensor<i1>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = "tf.AddV2"(%5, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = "tf.Greater"(%0, %zero) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xi1>
  %8 = "tf.Where"(%7) : (tensor<4x8xi1>) -> tensor<?x2xi64>
  tfrt.return %6, %8, %1 : tensor<4x8xf32>, tensor<?x2xi64>, tensor<4x8xf32>
}

func @double(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Mul"(%x, %two) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  tfrt.return %y : tensor<4x8xf32>
}

func @negate(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = "tf.Neg"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tfrt.return %y : tensor<4x8xf32>
}
