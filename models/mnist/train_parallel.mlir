// Trains the network of train.mlir on several ranks: each computes the gradients of its part of every batch of 128 images.
// The ranks add up the gradients of a layer while they compute those of the layer before it.
//
//   tfrt launch -n 4 -- tfrt run models/mnist/train_parallel.mlir --checkpoint DIR
//
// After a failure, the same command continues from the last checkpoint. The number of ranks must divide 128.

// Five epochs of 468 batches.
func @main() -> !tfrt.chain {
  %steps = tfrt.constant.i32 2340
  %train_count = tfrt.constant.i32 59904
  %w1, %b1, %w2, %b2, %ch = tfrt.call @train(%steps, %train_count)
    : (i32, i32) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain)
  tfrt.return %ch : !tfrt.chain
}

// A few steps on few images. Gives the parameters.
func @short() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %steps = tfrt.constant.i32 100
  %train_count = tfrt.constant.i32 1280
  %w1, %b1, %w2, %b2, %ch = tfrt.call @train(%steps, %train_count)
    : (i32, i32) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain)
  tfrt.return %w1, %b1, %w2, %b2 : !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// So many steps on so many images, a multiple of 128. Gives the parameters.
func @train(%steps : i32, %train_count : i32) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %rank, %ranks = tfrt_dist.group_rank %ctx, %group
  %test_count = tfrt.constant.i32 0
  %images, %labels, %test_images, %test_labels = "tfrt_mnist.load"(%train_count, %test_count, %ch0) {seed = 1 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)

  // Parameters, the same on all ranks. The bounds are sqrt(6 / inputs).
  %w1 = "tfrt_mnist.random_uniform"() {bound = 0.0875 : f32, seed = 2 : i64, shape = [784 : i64, 128 : i64]} : () -> !t.tensor
  %w2 = "tfrt_mnist.random_uniform"() {bound = 0.2165 : f32, seed = 3 : i64, shape = [128 : i64, 10 : i64]} : () -> !t.tensor
  %b1 = tfrt_dht.create_uninitialized_tensor.f32.1 [128 : i64]
  %b1_ch = tfrt_dht.fill_tensor_with_constant.f32 %b1, %ch0 0.0 : f32
  %b2 = tfrt_dht.create_uninitialized_tensor.f32.1 [10 : i64]
  %b2_ch = tfrt_dht.fill_tensor_with_constant.f32 %b2, %ch0 0.0 : f32
  %made = tfrt.merge.chains %b1_ch, %b2_ch
  %start, %ch = "tfrt_dist.restore_checkpoint"(%ctx, %group, %made, %w1, %b1, %w2, %b2) {names = "w1,b1,w2,b2"}
    : (!tfrt_dist.dist_context, !tfrt.string, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (i32, !tfrt.chain)

  // This rank's part of a batch, what the layers make of it, and the way back.
  %x = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64, 784 : i64]}
  %y = tfrt_dist.create_shard.i32 %ctx, %group {shape = [128 : i64]}
  %h = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64, 128 : i64]}
  %logits = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64, 10 : i64]}
  %losses = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64]}
  %g = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64, 10 : i64]}
  %dh = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64, 128 : i64]}
  %all_losses = tfrt_dht.create_uninitialized_tensor.f32.1 [128 : i64]

  // A bucket of gradients for each layer: the weights' and the biases'.
  %bucket1 = tfrt_dht.create_uninitialized_tensor.f32.1 [100480 : i64]
  %bucket2 = tfrt_dht.create_uninitialized_tensor.f32.1 [1290 : i64]

  // Minus the learning rate over the batch: -0.2 / 128.
  %alpha = tfrt.constant.f32 -0.0015625
  %one = tfrt.constant.f32 1.0
  %left = tfrt.minus.i32 %steps, %start

  %last:24 = tfrt.repeat.i32 %left, %start, %ctx, %group, %rank, %ranks, %images, %labels, %w1, %b1, %w2, %b2, %x, %y, %h, %logits,
      %losses, %all_losses, %g, %dh, %bucket1, %bucket2, %alpha, %one, %ch
      : i32, !tfrt_dist.dist_context, !tfrt.string, i32, i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, f32, f32,
      !tfrt.chain {
    %zero_here = tfrt.constant.f32 0.0
    %one_more = tfrt.constant.i32 1
    %axis = tfrt.constant.ui64 0
    %key1 = tfrt_test.get_string {value = "gradients of layer 1"}
    %key2 = tfrt_test.get_string {value = "gradients of layer 2"}
    %key_losses = tfrt_test.get_string {value = "losses"}
    %c0 = tfrt_dist.set_step %ctx, %start, %ch

    // Part `rank` of batch `step`.
    %first = tfrt.mul.i32 %start, %ranks
    %part = tfrt.add.i32 %first, %rank
    %c1 = "tfrt_mnist.batch"(%images, %labels, %part, %x, %y, %c0) {seed = 4 : i64}
      : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

    // Forward.
    %c2 = "tfrt_math.dense.f32"(%x, %w1, %b1, %h, %c1) {activation = "relu"}
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c3 = "tfrt_math.dense.f32"(%h, %w2, %b2, %logits, %c2) {activation = "none"}
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c4 = "tfrt_math.softmax_cross_entropy.f32"(%logits, %y, %losses, %g, %c3)
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c5 = tfrt_dist.cpu.allgather_fixed_shape.f32 %ctx, %group, %key_losses, %losses, %all_losses, %axis, %c4
    %c6 = "tfrt_mnist.report_loss"(%rank, %start, %all_losses, %c5) {every = 10 : i64}
      : (i32, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain

    // The gradients of the second layer, which then travel.
    %dw2 = tfrt_dist.bucket_part %bucket2 {offset = 0 : i64, shape = [128 : i64, 10 : i64]}
    %db2 = tfrt_dist.bucket_part %bucket2 {offset = 1280 : i64, shape = [10 : i64]}
    %c7 = "tfrt_math.matmul.f32"(%one, %h, %g, %zero_here, %dw2, %c4) {transpose_a = true, transpose_b = false}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c8 = "tfrt_math.column_sums.f32"(%g, %db2, %c7) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c9 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %key2, %bucket2, %bucket2, %c8 {reduction_fn = "sum"}

    // Meanwhile those of the first.
    %c10 = "tfrt_math.matmul.f32"(%one, %g, %w2, %zero_here, %dh, %c8) {transpose_a = false, transpose_b = true}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c11 = "tfrt_test.relu_grad_inplace.f32"(%h, %dh, %c10) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %dw1 = tfrt_dist.bucket_part %bucket1 {offset = 0 : i64, shape = [784 : i64, 128 : i64]}
    %db1 = tfrt_dist.bucket_part %bucket1 {offset = 100352 : i64, shape = [128 : i64]}
    %c12 = "tfrt_math.matmul.f32"(%one, %x, %dh, %zero_here, %dw1, %c11) {transpose_a = true, transpose_b = false}
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c13 = "tfrt_math.column_sums.f32"(%dh, %db1, %c12) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c14 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %key1, %bucket1, %bucket1, %c13 {reduction_fn = "sum"}

    // A step downhill for each parameter, when nothing reads it any more.
    %c15 = tfrt.merge.chains %c9, %c11
    %c16 = "tfrt_math.axpy.f32"(%alpha, %dw2, %w2, %c15) : (f32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c17 = "tfrt_math.axpy.f32"(%alpha, %db2, %b2, %c16) : (f32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c18 = "tfrt_math.axpy.f32"(%alpha, %dw1, %w1, %c14) : (f32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c19 = "tfrt_math.axpy.f32"(%alpha, %db1, %b1, %c18) : (f32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c20 = tfrt.merge.chains %c6, %c17, %c19

    %next = tfrt.add.i32 %start, %one_more
    %done = "tfrt_dist.save_checkpoint"(%ctx, %group, %next, %c20, %w1, %b1, %w2, %b2) {every = 10 : i64, names = "w1,b1,w2,b2"}
      : (!tfrt_dist.dist_context, !tfrt.string, i32, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> !tfrt.chain
    tfrt.return %next, %ctx, %group, %rank, %ranks, %images, %labels, %w1, %b1, %w2, %b2, %x, %y, %h, %logits,
      %losses, %all_losses, %g, %dh, %bucket1, %bucket2, %alpha, %one, %done
      : i32, !tfrt_dist.dist_context, !tfrt.string, i32, i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, f32, f32,
      !tfrt.chain
  }
  tfrt.return %w1, %b1, %w2, %b2, %last#23 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain
}
