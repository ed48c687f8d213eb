// Reads the 100 images of a file of six tensors: weights and biases of two layers, images, labels.
func @classify(%path : !tfrt.string) -> i32 {
  %ch0 = tfrt.new.chain
  %i0 = tfrt.constant.i32 0
  %i1 = tfrt.constant.i32 1
  %i2 = tfrt.constant.i32 2
  %i3 = tfrt.constant.i32 3
  %i4 = tfrt.constant.i32 4
  %i5 = tfrt.constant.i32 5
  %w1 = "btf.read_dense_tensor.f32.2"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %b1 = "btf.read_dense_tensor.f32.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %w2 = "btf.read_dense_tensor.f32.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %b2 = "btf.read_dense_tensor.f32.1"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %images = "btf.read_dense_tensor.f32.2"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  %labels = "btf.read_dense_tensor.i32.1"(%path, %i5) : (!tfrt.string, i32) -> !t.tensor
  %h = tfrt_dht.create_uninitialized_tensor.f32.2 [100 : i64, 512 : i64]
  %logits = tfrt_dht.create_uninitialized_tensor.f32.2 [100 : i64, 10 : i64]
  %ch1 = "tfrt_math.dense.f32"(%images, %w1, %b1, %h, %ch0) {activation = "relu"}
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_math.dense.f32"(%h, %w2, %b2, %logits, %ch1) {activation = "none"}
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %digits = "tfrt_test.argmax.f32.2"(%logits, %ch2) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %right, %ch3 = "tfrt_math.count_equal.i32"(%digits, %labels, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %right : i32
}
