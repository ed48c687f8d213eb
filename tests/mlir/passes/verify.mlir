// RUN: tfrt_opt --verify-op-graph --split-input-file --verify-diagnostics %s

// An op graph holds constants, control flow and ops of the core runtime, with types that these give.

func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'tf.Relu': result 0 is 3xf32, but the op gives 2xf32}}
  %y = "tf.Relu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  tfrt.return %y : tensor<3xf32>
}

// -----

func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'tf.NoSuchOp' is not an op of the core runtime}}
  %y = "tf.NoSuchOp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// -----

func @main() -> tensor<2xf32> {
  // expected-error @+1 {{a constant of 3xf32 has one result of this type}}
  %y = "tf.Const"() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// -----

func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'tf.If' op 'missing' does not reference a valid function}}
  %y = "tf.If"(%c, %x) {then_branch = @missing, else_branch = @missing} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}
