// Trains a network of two dense layers (784 to 128 to 10) to read digits: stochastic gradient descent on the
// cross-entropy of softmax, in batches of 128 images. Then tries it on 10,000 images it has not seen.
//
//   tfrt run models/mnist/train.mlir
//   tfrt run models/mnist/train.mlir --data DIR    (the folder of the MNIST files)

// Five epochs of 468 batches.
func @main() -> !tfrt.chain {
  %steps = tfrt.constant.i32 2340
  %train_count = tfrt.constant.i32 60000
  %correct, %w1, %b1, %w2, %b2, %ch = tfrt.call @train(%steps, %train_count)
    : (i32, i32) -> (i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain)
  tfrt.return %ch : !tfrt.chain
}

// The parameters, to be written to files.
func @parameters() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %steps = tfrt.constant.i32 2340
  %train_count = tfrt.constant.i32 60000
  %correct, %w1, %b1, %w2, %b2, %ch = tfrt.call @train(%steps, %train_count)
    : (i32, i32) -> (i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain)
  tfrt.return %w1, %b1, %w2, %b2 : !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// So many steps on so many images. Gives how many of 10,000 other images are read right, and the parameters.
func @train(%steps : i32, %train_count : i32) -> (i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %test_count = tfrt.constant.i32 10000
  %images, %labels, %test_images, %test_labels = "tfrt_mnist.load"(%train_count, %test_count, %ch0) {seed = 1 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)

  // Parameters. The bounds are sqrt(6 / inputs).
  %w1 = "tfrt_mnist.random_uniform"() {bound = 0.0875 : f32, seed = 2 : i64, shape = [784 : i64, 128 : i64]} : () -> !t.tensor
  %w2 = "tfrt_mnist.random_uniform"() {bound = 0.2165 : f32, seed = 3 : i64, shape = [128 : i64, 10 : i64]} : () -> !t.tensor
  %b1 = tfrt_dht.create_uninitialized_tensor.f32.1 [128 : i64]
  %b1_ch = tfrt_dht.fill_tensor_with_constant.f32 %b1, %ch0 0.0 : f32
  %b2 = tfrt_dht.create_uninitialized_tensor.f32.1 [10 : i64]
  %b2_ch = tfrt_dht.fill_tensor_with_constant.f32 %b2, %ch0 0.0 : f32

  // A batch, what the layers make of it, and the gradients on the way back.
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 784 : i64]
  %y = tfrt_dht.create_uninitialized_tensor.i32.1 [128 : i64]
  %h = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 128 : i64]
  %logits = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 10 : i64]
  %losses = tfrt_dht.create_uninitialized_tensor.f32.1 [128 : i64]
  %g = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 10 : i64]
  %dh = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 128 : i64]
  %db1 = tfrt_dht.create_uninitialized_tensor.f32.1 [128 : i64]
  %db2 = tfrt_dht.create_uninitialized_tensor.f32.1 [10 : i64]

  // Minus the learning rate over the batch: -0.2 / 128.
  %alpha = tfrt.constant.f32 -0.0015625
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %one_step = tfrt.constant.i32 1
  %step = tfrt.constant.i32 0

  // The clock starts when everything is there.
  %loaded = "tfrt_dht.no_op_ht"(%images) : (!t.tensor) -> !tfrt.chain
  %ready = tfrt.merge.chains %loaded, %b1_ch, %b2_ch
  %start, %ch = "tfrt_mnist.now"(%ready) : (!tfrt.chain) -> (i64, !tfrt.chain)

  %last:22 = tfrt.repeat.i32 %steps, %step, %images, %labels, %w1, %b1, %w2, %b2, %x, %y, %h, %logits, %losses, %g, %dh, %db1, %db2,
      %alpha, %one, %zero, %one_step, %steps, %ch
      : i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, f32, f32, f32, i32,
      i32, !tfrt.chain {
    %c1 = "tfrt_mnist.batch"(%images, %labels, %step, %x, %y, %ch) {seed = 4 : i64}
      : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

    // Forward.
    %c2 = "tfrt_math.dense.f32"(%x, %w1, %b1, %h, %c1) {activation = "relu"}
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c3 = "tfrt_math.dense.f32"(%h, %w2, %b2, %logits, %c2) {activation = "none"}
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c4 = "tfrt_math.softmax_cross_entropy.f32"(%logits, %y, %losses, %g, %c3)
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

    // Backward, to the first layer while the second is as it was.
    %c5 = "tfrt_math.matmul.f32"(%one, %g, %w2, %zero, %dh, %c4) {transpose_a = false, transpose_b = true}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c6 = "tfrt_test.relu_grad_inplace.f32"(%h, %dh, %c5) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

    // A step downhill for each parameter.
    %c7 = "tfrt_math.matmul.f32"(%alpha, %h, %g, %one, %w2, %c5) {transpose_a = true, transpose_b = false}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c8 = "tfrt_math.column_sums.f32"(%g, %db2, %c4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c9 = "tfrt_math.axpy.f32"(%alpha, %db2, %b2, %c8) : (f32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c10 = "tfrt_math.matmul.f32"(%alpha, %x, %dh, %one, %w1, %c6) {transpose_a = true, transpose_b = false}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c11 = "tfrt_math.column_sums.f32"(%dh, %db1, %c6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c12 = "tfrt_math.axpy.f32"(%alpha, %db1, %b1, %c11) : (f32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c13 = tfrt.merge.chains %c7, %c9, %c10, %c12

    %next = tfrt.add.i32 %step, %one_step
    %done = "tfrt_mnist.progress"(%next, %steps, %c13) {label = "training"} : (i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %next, %images, %labels, %w1, %b1, %w2, %b2, %x, %y, %h, %logits, %losses, %g, %dh, %db1, %db2,
      %alpha, %one, %zero, %one_step, %steps, %done
      : i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, f32, f32, f32, i32,
      i32, !tfrt.chain
  }

  %batch = tfrt.constant.i32 128
  %seen = tfrt.mul.i32 %steps, %batch
  %trained = "tfrt_mnist.report_training"(%seen, %start, %last#21) : (i32, i64, !tfrt.chain) -> !tfrt.chain
  %again, %ready_to_try = "tfrt_mnist.now"(%trained) : (!tfrt.chain) -> (i64, !tfrt.chain)
  %correct, %tried = tfrt.call @evaluate(%test_images, %test_labels, %w1, %b1, %w2, %b2, %ready_to_try)
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
  %told = "tfrt_mnist.report_accuracy"(%correct, %test_count, %test_count, %again, %tried)
    : (i32, i32, i32, i64, !tfrt.chain) -> !tfrt.chain
  tfrt.return %correct, %w1, %b1, %w2, %b2, %told : i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain
}

// How many images are read right by the network of these parameters.
func @evaluate(%images : !t.tensor, %labels : !t.tensor, %w1 : !t.tensor, %b1 : !t.tensor, %w2 : !t.tensor,
               %b2 : !t.tensor, %ch0 : !tfrt.chain) -> (i32, !tfrt.chain) {
  %h = tfrt_dht.create_uninitialized_tensor.f32.2 [10000 : i64, 128 : i64]
  %logits = tfrt_dht.create_uninitialized_tensor.f32.2 [10000 : i64, 10 : i64]
  %ch1 = "tfrt_math.dense.f32"(%images, %w1, %b1, %h, %ch0) {activation = "relu"}
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_math.dense.f32"(%h, %w2, %b2, %logits, %ch1) {activation = "none"}
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %digits = "tfrt_test.argmax.f32.2"(%logits, %ch2) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %correct, %ch3 = "tfrt_math.count_equal.i32"(%digits, %labels, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %correct, %ch3 : i32, !tfrt.chain
}
