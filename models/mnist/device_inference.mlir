// Reads 10,000 digits on a device with the trained network that comes with this program, ten times over: the CUDA device if
// there is one, else the CPU standing in for it.
//
//   tfrt run models/mnist/device_inference.mlir
//   tfrt run models/mnist/device_inference.mlir --device cpu

func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %none = tfrt.constant.i32 0
  %count = tfrt.constant.i32 10000
  %no_images, %no_labels, %images, %labels = "tfrt_mnist.load"(%none, %count, %ch0) {seed = 1 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %w1_host, %b1_host, %w2_host, %b2_host = "tfrt_mnist.trained"() : () -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
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
  %w1_bytes = tfrt.constant.i64 401408
  %w1, %s4 = tfrt.call @upload(%context, %allocator, %stream, %w1_host, %w1_bytes, %s3)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)
  %b1_bytes = tfrt.constant.i64 512
  %b1, %s5 = tfrt.call @upload(%context, %allocator, %stream, %b1_host, %b1_bytes, %s4)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)
  %w2_bytes = tfrt.constant.i64 5120
  %w2, %s6 = tfrt.call @upload(%context, %allocator, %stream, %w2_host, %w2_bytes, %s5)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)
  %b2_bytes = tfrt.constant.i64 40
  %b2, %s7 = tfrt.call @upload(%context, %allocator, %stream, %b2_host, %b2_bytes, %s6)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)
  %x_bytes = tfrt.constant.i64 31360000
  %x, %s8 = tfrt.call @upload(%context, %allocator, %stream, %images, %x_bytes, %s7)
      : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !t.tensor, i64, !tfrt.chain)
      -> (!tfrt_cuda.buffer, !tfrt.chain)

  // The clock starts when everything is there.
  %s9 = tfrt_cuda.stream.synchronize %stream, %s8
  %start, %ch = "tfrt_mnist.now"(%s9) : (!tfrt.chain) -> (i64, !tfrt.chain)
  %times = tfrt.constant.i32 10
  %correct = tfrt.constant.i32 0
  %last:16 = tfrt.repeat.i32 %times, %correct, %context, %allocator, %stream, %blas, %dnn, %relu, %b1_desc, %b2_desc, %w1, %b1, %w2, %b2, %x,
      %labels, %ch
      : i32, !tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle,
      !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !t.tensor, !tfrt.chain {
    %right, %tried = tfrt.call @evaluate(%context, %allocator, %stream, %blas, %dnn, %relu, %b1_desc, %b2_desc, %w1, %b1, %w2, %b2, %x, %labels, %ch)
        : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle,
           !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
           !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !t.tensor,
           !tfrt.chain)
        -> (i32, !tfrt.chain)
    tfrt.return %right, %context, %allocator, %stream, %blas, %dnn, %relu, %b1_desc, %b2_desc, %w1, %b1, %w2, %b2, %x,
        %labels, %tried
      : i32, !tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle,
      !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_tensor_descriptor,
      !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer,
      !tfrt_cuda.buffer, !t.tensor, !tfrt.chain
  }
  %total = tfrt.mul.i32 %times, %count
  %place, %placed = tfrt_cuda.context.device_name %context, %last#15
  %told = "tfrt_mnist.report_accuracy"(%last#0, %count, %total, %start, %placed, %place)
    : (i32, i32, i32, i64, !tfrt.chain, !tfrt.string) -> !tfrt.chain
  tfrt.return %told : !tfrt.chain
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
