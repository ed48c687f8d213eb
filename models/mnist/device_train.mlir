// Trains the network of train.mlir on a device: the same digits, the same parameters to begin with, the same steps. One
// stream does everything in order.
//
//   tfrt run models/mnist/device_train.mlir
//   tfrt run models/mnist/device_train.mlir --device cpu

func @main() -> !tfrt.chain {
  %steps = tfrt.constant.i32 2340
  %train_count = tfrt.constant.i32 60000
  %correct, %ch = tfrt.call @train(%steps, %train_count) : (i32, i32) -> (i32, !tfrt.chain)
  tfrt.return %ch : !tfrt.chain
}

// So many steps on so many images; how many of 10,000 other images are read right.
func @train(%steps : i32, %train_count : i32) -> (i32, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %test_count = tfrt.constant.i32 10000
  %images, %labels, %test_images, %test_labels = "tfrt_mnist.load"(%train_count, %test_count, %ch0) {seed = 1 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %w1_host = "tfrt_mnist.random_uniform"() {bound = 0.0875 : f32, seed = 2 : i64, shape = [784 : i64, 128 : i64]} : () -> !t.tensor
  %w2_host = "tfrt_mnist.random_uniform"() {bound = 0.2165 : f32, seed = 3 : i64, shape = [128 : i64, 10 : i64]} : () -> !t.tensor
  %context, %allocator, %stream, %s0 = tfrt.call @open()
      : ()
      -> (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt.chain)
  %blas, %dnn, %relu, %s1 = tfrt.call @libraries(%context, %stream, %s0)
      : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
      -> (!tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt.chain)
  %single = tfrt.constant.i32 1
  %hidden_width = tfrt.constant.i32 128
  %digits_width = tfrt.constant.i32 10
  %b1_desc, %s2 = tfrt.call @matrix(%context, %single, %hidden_width, %s1)
      : (!tfrt_cuda.context, i32, i32, !tfrt.chain)
      -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %b2_desc, %s3 = tfrt.call @matrix(%context, %single, %digits_width, %s2)
      : (!tfrt_cuda.context, i32, i32, !tfrt.chain)
      -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %s4 = tfrt_cuda.module.load_builtin %context, %s3 { functions = ["sparse_cross_entropy_f32_i32"] }
  %batch = tfrt.constant.i32 128
  %h_desc, %s5 = tfrt.call @matrix(%context, %batch, %hidden_width, %s4)
      : (!tfrt_cuda.context, i32, i32, !tfrt.chain)
      -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %p_desc, %s6 = tfrt.call @matrix(%context, %batch, %digits_width, %s5)
      : (!tfrt_cuda.context, i32, i32, !tfrt.chain)
      -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %w1_bytes = tfrt.constant.i64 401408
  %w1, %s7 = tfrt.call @upload(%context, %allocator, %stream, %w1_host, %w1_bytes, %s6)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)
  %w2_bytes = tfrt.constant.i64 5120
  %w2, %s8 = tfrt.call @upload(%context, %allocator, %stream, %w2_host, %w2_bytes, %s7)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)
  %b1_size = tfrt.constant.i64 512
  %b1, %s9 = tfrt_cuda.mem.allocate %allocator, %stream, %b1_size, %s8
  %b2_size = tfrt.constant.i64 40
  %b2, %s10 = tfrt_cuda.mem.allocate %allocator, %stream, %b2_size, %s9
  %h_size = tfrt.constant.i64 65536
  %h, %s11 = tfrt_cuda.mem.allocate %allocator, %stream, %h_size, %s10
  %p_size = tfrt.constant.i64 5120
  %p, %s12 = tfrt_cuda.mem.allocate %allocator, %stream, %p_size, %s11
  %dh_size = tfrt.constant.i64 65536
  %dh, %s13 = tfrt_cuda.mem.allocate %allocator, %stream, %dh_size, %s12
  %ones_size = tfrt.constant.i64 512
  %ones, %s14 = tfrt_cuda.mem.allocate %allocator, %stream, %ones_size, %s13
  %zero = tfrt.constant.f32 0.0
  %one = tfrt.constant.f32 1.0
  %hidden_count = tfrt.constant.i64 128
  %digit_count = tfrt.constant.i64 10
  %s15 = tfrt_cuda.mem.set.f32 %context, %b1, %zero, %hidden_count, %stream, %s14
  %s16 = tfrt_cuda.mem.set.f32 %context, %b2, %zero, %digit_count, %stream, %s15
  %s17 = tfrt_cuda.mem.set.f32 %context, %ones, %one, %hidden_count, %stream, %s16
  %x_size = tfrt.constant.i64 401408
  %x, %s18 = tfrt_cuda.mem.allocate %allocator, %stream, %x_size, %s17
  %y_size = tfrt.constant.i64 512
  %y, %s19 = tfrt_cuda.mem.allocate %allocator, %stream, %y_size, %s18
  %x_host = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 784 : i64]
  %y_host = tfrt_dht.create_uninitialized_tensor.i32.1 [128 : i64]
  %x_memory, %s20 = tfrt_dht.get_buffer %x_host, %s19
  %y_memory, %s21 = tfrt_dht.get_buffer %y_host, %s20
  %s22 = tfrt_cuda.stream.synchronize %stream, %s21
  %loaded = "tfrt_dht.no_op_ht"(%images) : (!t.tensor) -> !tfrt.chain
  %begin = tfrt.merge.chains %s22, %loaded
  %start, %ch = "tfrt_mnist.now"(%begin) : (!tfrt.chain) -> (i64, !tfrt.chain)
  %step = tfrt.constant.i32 0
  %next_step = tfrt.constant.i32 1
  %last:31 = tfrt.repeat.i32 %steps, %step, %images, %labels, %x_host, %y_host, %x_memory, %y_memory, %x_size, %y_size, %context, %blas, %dnn,
      %relu, %b1_desc, %b2_desc, %h_desc, %p_desc, %w1, %b1, %w2, %b2, %x, %y, %h, %p, %dh, %ones, %stream,
      %next_step, %steps, %ch
      : i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !ht.host_buffer, !ht.host_buffer, i64, i64,
      !tfrt_cuda.context, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.stream, i32, i32, !tfrt.chain {
    %c1 = "tfrt_mnist.batch"(%images, %labels, %step, %x_host, %y_host, %ch) {seed = 4 : i64}
      : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c2 = tfrt_cuda.mem.copy_host_to_device %context, %x, %x_memory, %x_size, %stream, %c1
    %c3 = tfrt_cuda.mem.copy_host_to_device %context, %y, %y_memory, %y_size, %stream, %c2
    %c4 = tfrt.call @step(%context, %blas, %dnn, %relu, %b1_desc, %b2_desc, %h_desc, %p_desc, %w1, %b1, %w2, %b2, %x, %y, %h, %p, %dh,
        %ones, %stream, %c3)
        : (!tfrt_cuda.context, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor,
           !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
           !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
           !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
           !tfrt_cuda.buffer, !tfrt_cuda.stream, !tfrt.chain)
        -> !tfrt.chain
    %next = tfrt.add.i32 %step, %next_step
    %done = "tfrt_mnist.progress"(%next, %steps, %c4) {label = "training"} : (i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %next, %images, %labels, %x_host, %y_host, %x_memory, %y_memory, %x_size, %y_size, %context, %blas, %dnn,
        %relu, %b1_desc, %b2_desc, %h_desc, %p_desc, %w1, %b1, %w2, %b2, %x, %y, %h, %p, %dh, %ones, %stream,
        %next_step, %steps, %done
      : i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !ht.host_buffer, !ht.host_buffer, i64, i64,
      !tfrt_cuda.context, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !tfrt_cuda.stream, i32, i32, !tfrt.chain
  }
  %finished = tfrt_cuda.stream.synchronize %stream, %last#30
  %seen = tfrt.mul.i32 %steps, %batch
  %place, %placed = tfrt_cuda.context.device_name %context, %finished
  %trained = "tfrt_mnist.report_training"(%seen, %start, %placed, %place)
    : (i32, i64, !tfrt.chain, !tfrt.string) -> !tfrt.chain
  %test_x_bytes = tfrt.constant.i64 31360000
  %test_x, %uploaded = tfrt.call @upload(%context, %allocator, %stream, %test_images, %test_x_bytes, %trained)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)
  %again, %ready = "tfrt_mnist.now"(%uploaded) : (!tfrt.chain) -> (i64, !tfrt.chain)
  %correct, %tried = tfrt.call @evaluate(%context, %allocator, %stream, %blas, %dnn, %relu, %b1_desc, %b2_desc, %w1, %b1, %w2, %b2, %test_x,
      %test_labels, %ready)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle,
         !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
         !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !t.tensor,
         !tfrt.chain)
      -> (i32, !tfrt.chain)
  %told = "tfrt_mnist.report_accuracy"(%correct, %test_count, %test_count, %again, %tried, %place)
    : (i32, i32, i32, i64, !tfrt.chain, !tfrt.string) -> !tfrt.chain
  tfrt.return %correct, %told : i32, !tfrt.chain
}

// One step of gradient descent on a batch of 128 images that is on the device.
func @step(
    %context : !tfrt_cuda.context, %blas : !tfrt_cuda.blas_handle, %dnn : !tfrt_cuda.dnn_handle,
    %relu : !tfrt_cuda.dnn_activation_descriptor, %b1_desc : !tfrt_cuda.dnn_tensor_descriptor,
    %b2_desc : !tfrt_cuda.dnn_tensor_descriptor, %h_desc : !tfrt_cuda.dnn_tensor_descriptor,
    %p_desc : !tfrt_cuda.dnn_tensor_descriptor, %w1 : !tfrt_cuda.buffer, %b1 : !tfrt_cuda.buffer,
    %w2 : !tfrt_cuda.buffer, %b2 : !tfrt_cuda.buffer, %x : !tfrt_cuda.buffer, %y : !tfrt_cuda.buffer,
    %h : !tfrt_cuda.buffer, %p : !tfrt_cuda.buffer, %dh : !tfrt_cuda.buffer, %ones : !tfrt_cuda.buffer,
    %stream : !tfrt_cuda.stream, %ch0 : !tfrt.chain) -> !tfrt.chain {
  %hidden = tfrt.constant.i32 128
  %pixels = tfrt.constant.i32 784
  %digits = tfrt.constant.i32 10
  %rows = tfrt.constant.i32 128
  %plain = tfrt.constant.i32 0
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  // Rows of ours are columns of BLAS: what is computed there is the transpose of each product.
  %f1 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %hidden, %rows, %pixels, %one, %w1, %hidden, %x, %pixels, %zero, %h, %hidden, %ch0
  %f2 = tfrt_cuda.dnn.add_tensor %context, %dnn, %one, %b1_desc, %b1, %one, %h_desc, %h, %f1
  %f3 = tfrt_cuda.dnn.activation_forward %context, %dnn, %relu, %one, %h_desc, %h, %zero, %h_desc, %h, %f2
  %f4 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %digits, %rows, %hidden, %one, %w2, %digits, %h, %hidden, %zero, %p, %digits, %f3
  %f5 = tfrt_cuda.dnn.add_tensor %context, %dnn, %one, %b2_desc, %b2, %one, %p_desc, %p, %f4
  // The gradient of the cross-entropy: probabilities, less one at the label; a warp for each row. The loss is not asked for.
  %no_loss = tfrt.constant.i64 0
  %row_count = tfrt.constant.i64 128
  %column_count = tfrt.constant.i64 10
  %block = tfrt.constant.ui32 128
  %blocks = tfrt.constant.ui32 32
  %single = tfrt.constant.ui32 1
  %no_shared = tfrt.constant.ui32 0
  %g2 = tfrt_cuda.launch %f5 %context %blocks %single %single %block %single %single %no_shared %stream
      { function_handle = 0 : ui64 } (%no_loss, %p, %p, %y, %row_count, %column_count, %one)
      : (i64, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, i64, i64, f32)
  // Backward, to the first layer while the second is as it was.
  %turned = tfrt.constant.i32 1
  %g3 = tfrt_cuda.blas.gemm.f32 %context, %blas, %turned, %plain, %hidden, %rows, %digits, %one, %w2, %digits, %p, %digits, %zero, %dh, %hidden, %g2
  %g4 = tfrt_cuda.dnn.activation_backward %context, %dnn, %relu, %one, %h_desc, %h, %h_desc, %dh, %h_desc, %h, %zero, %h_desc, %dh, %g3
  // A step downhill for each parameter: minus the learning rate over the batch, -0.2 / 128.
  %alpha = tfrt.constant.f32 -0.0015625
  %one_column = tfrt.constant.i32 1
  %g5 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %turned, %digits, %hidden, %rows, %alpha, %p, %digits, %h, %hidden, %one, %w2, %digits, %g4
  %g6 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %digits, %one_column, %rows, %alpha, %p, %digits, %ones, %rows, %one, %b2, %digits, %g5
  %g7 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %turned, %hidden, %pixels, %rows, %alpha, %dh, %hidden, %x, %pixels, %one, %w1, %hidden, %g6
  %g8 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %hidden, %one_column, %rows, %alpha, %dh, %hidden, %ones, %rows, %one, %b1, %hidden, %g7
  tfrt.return %g8 : !tfrt.chain
}

// How many of 10,000 images on the device are read right by the network of these parameters.
func @evaluate(
    %context : !tfrt_cuda.context, %allocator : !tfrt_cuda.allocator, %stream : !tfrt_cuda.stream,
    %blas : !tfrt_cuda.blas_handle, %dnn : !tfrt_cuda.dnn_handle,
    %relu : !tfrt_cuda.dnn_activation_descriptor, %b1_desc : !tfrt_cuda.dnn_tensor_descriptor,
    %b2_desc : !tfrt_cuda.dnn_tensor_descriptor, %w1 : !tfrt_cuda.buffer, %b1 : !tfrt_cuda.buffer,
    %w2 : !tfrt_cuda.buffer, %b2 : !tfrt_cuda.buffer, %x : !tfrt_cuda.buffer, %labels : !t.tensor,
    %ch0 : !tfrt.chain) -> (i32, !tfrt.chain) {
  %count = tfrt.constant.i32 10000
  %hidden_width = tfrt.constant.i32 128
  %digits_width = tfrt.constant.i32 10
  %h_desc, %e1 = tfrt.call @matrix(%context, %count, %hidden_width, %ch0)
      : (!tfrt_cuda.context, i32, i32, !tfrt.chain)
      -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %p_desc, %e2 = tfrt.call @matrix(%context, %count, %digits_width, %e1)
      : (!tfrt_cuda.context, i32, i32, !tfrt.chain)
      -> (!tfrt_cuda.dnn_tensor_descriptor, !tfrt.chain)
  %h_bytes = tfrt.constant.i64 5120000
  %h, %e3 = tfrt_cuda.mem.allocate %allocator, %stream, %h_bytes, %e2
  %p_bytes = tfrt.constant.i64 400000
  %p, %e4 = tfrt_cuda.mem.allocate %allocator, %stream, %p_bytes, %e3
  %hidden = tfrt.constant.i32 128
  %pixels = tfrt.constant.i32 784
  %digits = tfrt.constant.i32 10
  %rows = tfrt.constant.i32 10000
  %plain = tfrt.constant.i32 0
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  // Rows of ours are columns of BLAS: what is computed there is the transpose of each product.
  %f1 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %hidden, %rows, %pixels, %one, %w1, %hidden, %x, %pixels, %zero, %h, %hidden, %e4
  %f2 = tfrt_cuda.dnn.add_tensor %context, %dnn, %one, %b1_desc, %b1, %one, %h_desc, %h, %f1
  %f3 = tfrt_cuda.dnn.activation_forward %context, %dnn, %relu, %one, %h_desc, %h, %zero, %h_desc, %h, %f2
  %f4 = tfrt_cuda.blas.gemm.f32 %context, %blas, %plain, %plain, %digits, %rows, %hidden, %one, %w2, %digits, %h, %hidden, %zero, %p, %digits, %f3
  %f5 = tfrt_cuda.dnn.add_tensor %context, %dnn, %one, %b2_desc, %b2, %one, %p_desc, %p, %f4
  %logits = tfrt_dht.create_uninitialized_tensor.f32.2 [10000 : i64, 10 : i64]
  %host, %e5 = tfrt_dht.get_buffer %logits, %f5
  %e6 = tfrt_cuda.mem.copy_device_to_host %context, %host, %p, %p_bytes, %stream, %e5
  %read = "tfrt_test.argmax.f32.2"(%logits, %e6) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %correct, %e7 = "tfrt_math.count_equal.i32"(%read, %labels, %e6) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %correct, %e7 : i32, !tfrt.chain
}

// The devices' state: context, allocator, stream.
func @open() -> (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %first = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %first, %ch1
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
