// Learns one image by heart: ten steps of gradient descent from the parameters in a file of seven tensors (image,
// one-hot label, weights and biases of two layers, what the network says after ten steps). Gives what it says, and what
// it should say.
func @learn(%path : !tfrt.string) -> (!t.tensor, !t.tensor, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %i0 = tfrt.constant.i32 0
  %i1 = tfrt.constant.i32 1
  %i2 = tfrt.constant.i32 2
  %i3 = tfrt.constant.i32 3
  %i4 = tfrt.constant.i32 4
  %i5 = tfrt.constant.i32 5
  %i6 = tfrt.constant.i32 6
  %x = "btf.read_dense_tensor.f32.2"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %target = "btf.read_dense_tensor.f32.2"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %w0 = "btf.read_dense_tensor.f32.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %b0 = "btf.read_dense_tensor.f32.1"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %w1 = "btf.read_dense_tensor.f32.2"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  %b1 = "btf.read_dense_tensor.f32.1"(%path, %i5) : (!tfrt.string, i32) -> !t.tensor
  %expected = "btf.read_dense_tensor.f32.2"(%path, %i6) : (!tfrt.string, i32) -> !t.tensor

  %h = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 512 : i64]
  %y = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 10 : i64]
  %dh = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 512 : i64]
  %db0 = tfrt_dht.create_uninitialized_tensor.f32.1 [512 : i64]
  %db1 = tfrt_dht.create_uninitialized_tensor.f32.1 [10 : i64]
  %rate = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch = tfrt_dht.fill_tensor_with_constant.f32 %rate, %ch0 0.01 : f32
  %minus_rate = tfrt.constant.f32 -0.01
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0

  %steps = tfrt.constant.i32 10
  %last:16 = tfrt.repeat.i32 %steps, %x, %target, %w0, %b0, %w1, %b1, %h, %y, %dh, %db0, %db1, %rate, %minus_rate, %one, %zero, %ch
      : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, f32, f32, f32, !tfrt.chain {
    %c1 = tfrt.call @forward(%x, %w0, %b0, %w1, %b1, %h, %y, %ch)
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    // The gradient of the cross-entropy with respect to the logits, in place of the probabilities.
    %c2 = "tfrt_test.subtract_inplace.f32"(%target, %y, %c1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c3 = "tfrt_math.matmul.f32"(%one, %y, %w1, %zero, %dh, %c2) {transpose_a = false, transpose_b = true}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c4 = "tfrt_test.relu_grad_inplace.f32"(%h, %dh, %c3) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c5 = "tfrt_test.mean_axis_zero.f32"(%y, %db1, %c2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c6 = "tfrt_test.gradient_descent.f32"(%db1, %rate, %b1, %c5)
      : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c7 = "tfrt_math.matmul.f32"(%minus_rate, %h, %y, %one, %w1, %c3) {transpose_a = true, transpose_b = false}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c8 = tfrt.merge.chains %c4, %c6
    %c9 = "tfrt_test.mean_axis_zero.f32"(%dh, %db0, %c8) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c10 = "tfrt_test.gradient_descent.f32"(%db0, %rate, %b0, %c9)
      : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c11 = "tfrt_math.matmul.f32"(%minus_rate, %x, %dh, %one, %w0, %c4) {transpose_a = true, transpose_b = false}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %done = tfrt.merge.chains %c7, %c10, %c11
    tfrt.return %x, %target, %w0, %b0, %w1, %b1, %h, %y, %dh, %db0, %db1, %rate, %minus_rate, %one, %zero, %done
      : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, f32, f32, f32, !tfrt.chain
  }

  %said = tfrt.call @forward(%x, %w0, %b0, %w1, %b1, %h, %y, %last#15)
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %y, %expected, %said : !t.tensor, !t.tensor, !tfrt.chain
}

func @forward(%x : !t.tensor, %w0 : !t.tensor, %b0 : !t.tensor, %w1 : !t.tensor, %b1 : !t.tensor, %h : !t.tensor,
              %y : !t.tensor, %ch0 : !tfrt.chain) -> !tfrt.chain {
  %ch1 = "tfrt_math.dense.f32"(%x, %w0, %b0, %h, %ch0) {activation = "relu"}
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_math.dense.f32"(%h, %w1, %b1, %y, %ch1) {activation = "none"}
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch3 = "tfrt_test.softmax_inplace.f32"(%y, %ch2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}
