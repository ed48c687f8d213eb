// Trains the network of device_train.mlir on several ranks, each with a device: each computes the gradients of its part of every
// batch of 128 images. The gradients of a layer are copied to the host and added up there, while the device computes those of the
// layer before it.
//
//   tfrt launch -n 4 -- tfrt run models/mnist/device_train_parallel.mlir --checkpoint DIR
//   tfrt launch -n 4 -- tfrt run models/mnist/device_train_parallel.mlir --checkpoint DIR --device cpu
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
  %w1_host = "tfrt_mnist.random_uniform"() {bound = 0.0875 : f32, seed = 2 : i64, shape = [784 : i64, 128 : i64]} : () -> !t.tensor
  %w2_host = "tfrt_mnist.random_uniform"() {bound = 0.2165 : f32, seed = 3 : i64, shape = [128 : i64, 10 : i64]} : () -> !t.tensor
  %b1_host = tfrt_dht.create_uninitialized_tensor.f32.1 [128 : i64]
  %b1_ch = tfrt_dht.fill_tensor_with_constant.f32 %b1_host, %ch0 0.0 : f32
  %b2_host = tfrt_dht.create_uninitialized_tensor.f32.1 [10 : i64]
  %b2_ch = tfrt_dht.fill_tensor_with_constant.f32 %b2_host, %ch0 0.0 : f32
  %made = tfrt.merge.chains %b1_ch, %b2_ch
  %start, %restored = "tfrt_dist.restore_checkpoint"(%ctx, %group, %made, %w1_host, %b1_host, %w2_host, %b2_host) {names = "w1,b1,w2,b2"}
    : (!tfrt_dist.dist_context, !tfrt.string, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (i32, !tfrt.chain)

  // The device, its libraries, and what they need to know of the matrices of this rank's part of a batch.
  %context, %allocator, %stream, %opened = tfrt.call @open(%rank)
    : (i32) -> (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt.chain)
  %s0 = tfrt.merge.chains %opened, %restored
  %blas, %dnn, %relu, %s1 = tfrt.call @libraries(%context, %stream, %s0)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
    -> (!tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt.chain)
  %s2 = tfrt_cuda.module.load_builtin %context, %s1 { functions = ["sparse_cross_entropy_f32_i32"] }
  %batch = tfrt.constant.i32 128
  %rows, %rest = tfrt.div.i32 %batch, %ranks
  %single = tfrt.constant.i32 1
  %hidden_width = tfrt.constant.i32 128
  %digits_width = tfrt.constant.i32 10
  %b1_desc, %s3 = tfrt.call @matrix(%context, %single, %hidden_width, %s2)
    : (!tfrt_cuda.context, i32, i32, !tfrt.chain) -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %b2_desc, %s4 = tfrt.call @matrix(%context, %single, %digits_width, %s3)
    : (!tfrt_cuda.context, i32, i32, !tfrt.chain) -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %h_desc, %s5 = tfrt.call @matrix(%context, %rows, %hidden_width, %s4)
    : (!tfrt_cuda.context, i32, i32, !tfrt.chain) -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %p_desc, %s6 = tfrt.call @matrix(%context, %rows, %digits_width, %s5)
    : (!tfrt_cuda.context, i32, i32, !tfrt.chain) -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)

  // Parameters and gradients on the device.
  %w1_bytes = tfrt.constant.i64 401408
  %b1_bytes = tfrt.constant.i64 512
  %w2_bytes = tfrt.constant.i64 5120
  %b2_bytes = tfrt.constant.i64 40
  %w1, %s7 = tfrt.call @upload(%context, %allocator, %stream, %w1_host, %w1_bytes, %s6)
    : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
    -> (!tfrt_cuda.buffer, !tfrt.chain)
  %b1, %s8 = tfrt.call @upload(%context, %allocator, %stream, %b1_host, %b1_bytes, %s7)
    : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
    -> (!tfrt_cuda.buffer, !tfrt.chain)
  %w2, %s9 = tfrt.call @upload(%context, %allocator, %stream, %w2_host, %w2_bytes, %s8)
    : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
    -> (!tfrt_cuda.buffer, !tfrt.chain)
  %b2, %s10 = tfrt.call @upload(%context, %allocator, %stream, %b2_host, %b2_bytes, %s9)
    : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
    -> (!tfrt_cuda.buffer, !tfrt.chain)
  %g_w1, %s11 = tfrt_cuda.mem.allocate %allocator, %stream, %w1_bytes, %s10
  %g_b1, %s12 = tfrt_cuda.mem.allocate %allocator, %stream, %b1_bytes, %s11
  %g_w2, %s13 = tfrt_cuda.mem.allocate %allocator, %stream, %w2_bytes, %s12
  %g_b2, %s14 = tfrt_cuda.mem.allocate %allocator, %stream, %b2_bytes, %s13

  // A part of a batch, what the layers make of it, and the way back; room for the whole batch.
  %x_room = tfrt.constant.i64 401408
  %x, %s15 = tfrt_cuda.mem.allocate %allocator, %stream, %x_room, %s14
  %y_room = tfrt.constant.i64 512
  %y, %s16 = tfrt_cuda.mem.allocate %allocator, %stream, %y_room, %s15
  %h_room = tfrt.constant.i64 65536
  %h, %s17 = tfrt_cuda.mem.allocate %allocator, %stream, %h_room, %s16
  %p_room = tfrt.constant.i64 5120
  %p, %s18 = tfrt_cuda.mem.allocate %allocator, %stream, %p_room, %s17
  %dh_room = tfrt.constant.i64 65536
  %dh, %s19 = tfrt_cuda.mem.allocate %allocator, %stream, %dh_room, %s18
  %ones_room = tfrt.constant.i64 512
  %ones, %s20 = tfrt_cuda.mem.allocate %allocator, %stream, %ones_room, %s19
  %losses_room = tfrt.constant.i64 512
  %losses, %s21 = tfrt_cuda.mem.allocate %allocator, %stream, %losses_room, %s20
  %one = tfrt.constant.f32 1.0
  %ones_count = tfrt.constant.i64 128
  %s22 = tfrt_cuda.mem.set.f32 %context, %ones, %one, %ones_count, %stream, %s21
  %x_host = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64, 784 : i64]}
  %y_host = tfrt_dist.create_shard.i32 %ctx, %group {shape = [128 : i64]}
  %losses_host = tfrt_dist.create_shard.f32 %ctx, %group {shape = [128 : i64]}
  %all_losses = tfrt_dht.create_uninitialized_tensor.f32.1 [128 : i64]
  %rows_long = tfrt.cast.i32_to_i64 %rows
  %image_bytes = tfrt.constant.i64 3136
  %x_size = tfrt.mul.i64 %rows_long, %image_bytes
  %label_bytes = tfrt.constant.i64 4
  %y_size = tfrt.mul.i64 %rows_long, %label_bytes

  // A bucket of gradients for each layer on the host: the weights' and the biases'.
  %bucket1 = tfrt_dht.create_uninitialized_tensor.f32.1 [100480 : i64]
  %bucket2 = tfrt_dht.create_uninitialized_tensor.f32.1 [1290 : i64]
  %left = tfrt.minus.i32 %steps, %start
  %loaded = "tfrt_dht.no_op_ht"(%images) : (!t.tensor) -> !tfrt.chain
  %ch = tfrt.merge.chains %s22, %loaded

  %last:46 = tfrt.repeat.i32 %left, %start, %ctx, %group, %rank, %ranks, %rows, %rows_long, %x_size, %y_size, %images,
      %labels, %x_host, %y_host, %losses_host, %all_losses, %bucket1, %bucket2, %w1_host, %b1_host, %w2_host,
      %b2_host, %context, %blas, %dnn, %relu, %stream, %b1_desc, %b2_desc, %h_desc, %p_desc, %w1, %b1, %w2, %b2,
      %g_w1, %g_b1, %g_w2, %g_b2, %x, %y, %h, %p, %dh, %ones, %losses, %ch
      : i32, !tfrt_dist.dist_context, !tfrt.string, i32, i32, i32, i64, i64, i64, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !tfrt_cuda.context, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor,
      !tfrt_cuda.stream, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain {
    %axis = tfrt.constant.ui64 0
    %key1 = tfrt_test.get_string {value = "gradients of layer 1"}
    %key2 = tfrt_test.get_string {value = "gradients of layer 2"}
    %key_losses = tfrt_test.get_string {value = "losses"}
    %c0 = tfrt_dist.set_step %ctx, %start, %ch

    // Part `rank` of batch `step`, to the device.
    %first = tfrt.mul.i32 %start, %ranks
    %part = tfrt.add.i32 %first, %rank
    %c1 = "tfrt_mnist.batch"(%images, %labels, %part, %x_host, %y_host, %c0) {seed = 4 : i64}
      : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %x_memory, %c2 = tfrt_dht.get_buffer %x_host, %c1
    %y_memory, %c3 = tfrt_dht.get_buffer %y_host, %c2
    %c4 = tfrt_cuda.mem.copy_host_to_device %context, %x, %x_memory, %x_size, %stream, %c3
    %c5 = tfrt_cuda.mem.copy_host_to_device %context, %y, %y_memory, %y_size, %stream, %c4

    // Forward. Rows of ours are columns of BLAS: what is computed there is the transpose of each product.
    %hidden = tfrt.constant.i32 128
    %pixels = tfrt.constant.i32 784
    %digits = tfrt.constant.i32 10
    %plain = tfrt.constant.i32 0
    %turned = tfrt.constant.i32 1
    %column = tfrt.constant.i32 1
    %unit = tfrt.constant.f32 1.0
    %zero = tfrt.constant.f32 0.0
    %f1 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %hidden, %rows, %pixels, %unit, %w1, %hidden, %x, %pixels, %zero, %h, %hidden, %c5
    %f2 = tfrt_cuda.dnn.add_tensor %context, %dnn, %unit, %b1_desc, %b1, %unit, %h_desc, %h, %f1
    %f3 = tfrt_cuda.dnn.activation_forward %context, %dnn, %relu, %unit, %h_desc, %h, %zero, %h_desc, %h, %f2
    %f4 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %digits, %rows, %hidden, %unit, %w2, %digits, %h, %hidden, %zero, %p, %digits, %f3
    %f5 = tfrt_cuda.dnn.add_tensor %context, %dnn, %unit, %b2_desc, %b2, %unit, %p_desc, %p, %f4
    // The losses, and the gradient of the cross-entropy: probabilities, less one at the label; a warp for each row.
    %columns = tfrt.constant.i64 10
    %block = tfrt.constant.ui32 128
    %blocks = tfrt.constant.ui32 32
    %grid = tfrt.constant.ui32 1
    %no_shared = tfrt.constant.ui32 0
    %g1 = tfrt_cuda.launch %f5 %context %blocks %grid %grid %block %grid %grid %no_shared %stream
      { function_handle = 0 : ui64 } (%losses, %p, %p, %y, %rows_long, %columns, %unit)
      : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, i64, i64, f32)

    // The gradients of the second layer, which then travel.
    %g2 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %turned, %digits, %hidden, %rows, %unit, %p, %digits, %h, %hidden, %zero, %g_w2, %digits, %g1
    %g3 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %digits, %column, %rows, %unit, %p, %digits, %ones, %rows, %zero, %g_b2, %digits, %g2
    %w2_size = tfrt.constant.i64 5120
    %b2_size = tfrt.constant.i64 40
    %dw2 = tfrt_dist.bucket_part %bucket2 {offset = 0 : i64, shape = [128 : i64, 10 : i64]}
    %db2 = tfrt_dist.bucket_part %bucket2 {offset = 1280 : i64, shape = [10 : i64]}
    %dw2_memory, %g4 = tfrt_dht.get_buffer %dw2, %g3
    %db2_memory, %g5 = tfrt_dht.get_buffer %db2, %g4
    %losses_memory, %g6 = tfrt_dht.get_buffer %losses_host, %g5
    %t1 = tfrt_cuda.mem.copy_device_to_host %context, %dw2_memory, %g_w2, %w2_size, %stream, %g6
    %t2 = tfrt_cuda.mem.copy_device_to_host %context, %db2_memory, %g_b2, %b2_size, %stream, %g6
    %t3 = tfrt_cuda.mem.copy_device_to_host %context, %losses_memory, %losses, %y_size, %stream, %g6
    %arrived2 = tfrt.merge.chains %t1, %t2
    %sum2 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %key2, %bucket2, %bucket2, %arrived2 {reduction_fn = "sum"}
    %joined = tfrt_dist.cpu.allgather_fixed_shape.f32 %ctx, %group, %key_losses, %losses_host, %all_losses, %axis, %t3
    %reported = "tfrt_mnist.report_loss"(%rank, %start, %all_losses, %joined) {every = 10 : i64}
      : (i32, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain

    // Meanwhile those of the first.
    %g7 = tfrt_cuda.blas.gemm.f32 %context, %blas, %turned, %plain, %hidden, %rows, %digits, %unit, %w2, %digits, %p, %digits, %zero, %dh, %hidden, %g6
    %g8 = tfrt_cuda.dnn.activation_backward %context, %dnn, %relu, %unit, %h_desc, %h, %h_desc, %dh, %h_desc, %h, %zero, %h_desc, %dh, %g7
    %g9 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %turned, %hidden, %pixels, %rows, %unit, %dh, %hidden, %x, %pixels, %zero, %g_w1, %hidden, %g8
    %g10 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %hidden, %column, %rows, %unit, %dh, %hidden, %ones, %rows, %zero, %g_b1, %hidden, %g9
    %w1_size = tfrt.constant.i64 401408
    %b1_size = tfrt.constant.i64 512
    %dw1 = tfrt_dist.bucket_part %bucket1 {offset = 0 : i64, shape = [784 : i64, 128 : i64]}
    %db1 = tfrt_dist.bucket_part %bucket1 {offset = 100352 : i64, shape = [128 : i64]}
    %dw1_memory, %g11 = tfrt_dht.get_buffer %dw1, %g10
    %db1_memory, %g12 = tfrt_dht.get_buffer %db1, %g11
    %t4 = tfrt_cuda.mem.copy_device_to_host %context, %dw1_memory, %g_w1, %w1_size, %stream, %g12
    %t5 = tfrt_cuda.mem.copy_device_to_host %context, %db1_memory, %g_b1, %b1_size, %stream, %g12
    %arrived1 = tfrt.merge.chains %t4, %t5
    %sum1 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %key1, %bucket1, %bucket1, %arrived1 {reduction_fn = "sum"}

    // Back to the device, and a step downhill for each parameter: minus the learning rate over the batch, -0.2 / 128.
    %alpha = tfrt.constant.f32 -0.0015625
    %w1_count = tfrt.constant.i32 100352
    %b1_count = tfrt.constant.i32 128
    %w2_count = tfrt.constant.i32 1280
    %b2_count = tfrt.constant.i32 10
    %summed = tfrt.merge.chains %sum1, %sum2
    %u1 = tfrt_cuda.mem.copy_host_to_device %context, %g_w1, %dw1_memory, %w1_size, %stream, %summed
    %u2 = tfrt_cuda.mem.copy_host_to_device %context, %g_b1, %db1_memory, %b1_size, %stream, %u1
    %u3 = tfrt_cuda.mem.copy_host_to_device %context, %g_w2, %dw2_memory, %w2_size, %stream, %u2
    %u4 = tfrt_cuda.mem.copy_host_to_device %context, %g_b2, %db2_memory, %b2_size, %stream, %u3
    %u5 = tfrt_cuda.blas.axpy.f32 %context, %blas, %w1_count, %alpha, %g_w1, %column, %w1, %column, %u4
    %u6 = tfrt_cuda.blas.axpy.f32 %context, %blas, %b1_count, %alpha, %g_b1, %column, %b1, %column, %u5
    %u7 = tfrt_cuda.blas.axpy.f32 %context, %blas, %w2_count, %alpha, %g_w2, %column, %w2, %column, %u6
    %u8 = tfrt_cuda.blas.axpy.f32 %context, %blas, %b2_count, %alpha, %g_b2, %column, %b2, %column, %u7

    // The parameters, for the checkpoint.
    %w1_memory, %m1 = tfrt_dht.get_buffer %w1_host, %u8
    %b1_memory, %m2 = tfrt_dht.get_buffer %b1_host, %m1
    %w2_memory, %m3 = tfrt_dht.get_buffer %w2_host, %m2
    %b2_memory, %m4 = tfrt_dht.get_buffer %b2_host, %m3
    %d1 = tfrt_cuda.mem.copy_device_to_host %context, %w1_memory, %w1, %w1_size, %stream, %m4
    %d2 = tfrt_cuda.mem.copy_device_to_host %context, %b1_memory, %b1, %b1_size, %stream, %m4
    %d3 = tfrt_cuda.mem.copy_device_to_host %context, %w2_memory, %w2, %w2_size, %stream, %m4
    %d4 = tfrt_cuda.mem.copy_device_to_host %context, %b2_memory, %b2, %b2_size, %stream, %m4
    %downloaded = tfrt.merge.chains %d1, %d2, %d3, %d4, %reported
    %one_more = tfrt.constant.i32 1
    %next = tfrt.add.i32 %start, %one_more
    %done = "tfrt_dist.save_checkpoint"(%ctx, %group, %next, %downloaded, %w1_host, %b1_host, %w2_host, %b2_host)
      {every = 10 : i64, names = "w1,b1,w2,b2"}
      : (!tfrt_dist.dist_context, !tfrt.string, i32, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> !tfrt.chain
    tfrt.return %next, %ctx, %group, %rank, %ranks, %rows, %rows_long, %x_size, %y_size, %images, %labels, %x_host,
      %y_host, %losses_host, %all_losses, %bucket1, %bucket2, %w1_host, %b1_host, %w2_host, %b2_host, %context, %blas,
      %dnn, %relu, %stream, %b1_desc, %b2_desc, %h_desc, %p_desc, %w1, %b1, %w2, %b2, %g_w1, %g_b1, %g_w2, %g_b2, %x,
      %y, %h, %p, %dh, %ones, %losses, %done
      : i32, !tfrt_dist.dist_context, !tfrt.string, i32, i32, i32, i64, i64, i64, !t.tensor, !t.tensor, !t.tensor,
      !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor,
      !tfrt_cuda.context, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor,
      !tfrt_cuda.stream, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain
  }
  %finished = tfrt_cuda.stream.synchronize %stream, %last#45
  tfrt.return %w1_host, %b1_host, %w2_host, %b2_host, %finished : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain
}

// A device's state: context, allocator, stream. The ranks take the devices of their host in turn.
func @open(%rank : i32) -> (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %init = tfrt_cuda.init %ch0
  %count, %ch1 = tfrt_cuda.device.count %init
  %number = tfrt.rem.i32 %rank, %count
  %device, %ch2 = tfrt_cuda.device.get %number, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %allocator, %ch4 = tfrt_cuda.allocator.create %context, %ch3
  %stream, %ch5 = tfrt_cuda.stream.create %context, %ch4
  tfrt.return %context, %allocator, %stream, %ch5 : !tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt.chain
}

// The libraries, on a stream, and the activation.
func @libraries(%context : !tfrt_cuda.context, %stream : !tfrt_cuda.stream, %ch0 : !tfrt.chain)
    -> (!tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt.chain) {
  %blas = tfrt_cuda.blas.create %context
  %ch1 = tfrt_cuda.blas.set_stream %blas, %stream, %ch0
  %dnn, %ch2 = tfrt_cuda.dnn.create %context, %ch1
  %ch3 = tfrt_cuda.dnn.set_stream %dnn, %stream, %ch2
  %relu_mode = tfrt.constant.ui32 1
  %keep_nan = tfrt.constant.ui32 1
  %unused = tfrt.constant.f64 0.0
  %relu, %ch4 = tfrt_cuda.dnn.create_activation_descriptor %context, %relu_mode, %keep_nan, %unused, %ch3
  tfrt.return %blas, %dnn, %relu, %ch4
    : !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt.chain
}

// A matrix of so many rows and columns.
func @matrix(%context : !tfrt_cuda.context, %rows : i32, %columns : i32, %ch0 : !tfrt.chain)
    -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch1 = "tfrt_dht.set_tensor_with_values.i32"(%dims, %ch0, %rows, %columns, %one, %one)
    : (!t.tensor, !tfrt.chain, i32, i32, i32, i32) -> !tfrt.chain
  %strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch2 = "tfrt_dht.set_tensor_with_values.i32"(%strides, %ch1, %columns, %one, %one, %one)
    : (!t.tensor, !tfrt.chain, i32, i32, i32, i32) -> !tfrt.chain
  %float = tfrt.constant.ui32 0
  %matrix, %ch3 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %dims, %strides, %ch2
  tfrt.return %matrix, %ch3 : !tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain
}

// A copy of a host tensor of so many bytes on the device.
func @upload(%context : !tfrt_cuda.context, %allocator : !tfrt_cuda.allocator, %stream : !tfrt_cuda.stream,
    %tensor : !t.tensor, %bytes : i64, %ch0 : !tfrt.chain) -> (!tfrt_cuda.buffer, !tfrt.chain) {
  %host, %ch1 = tfrt_dht.get_buffer %tensor, %ch0
  %buffer, %ch2 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch1
  %ch3 = tfrt_cuda.mem.copy_host_to_device %context, %buffer, %host, %bytes, %stream, %ch2
  tfrt.return %buffer, %ch3 : !tfrt_cuda.buffer, !tfrt.chain
}
