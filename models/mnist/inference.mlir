// Reads 10,000 digits with the trained network that comes with this program, ten times over, and prints how many are
// right, how many images were read in a second, and where.
//
//   tfrt run models/mnist/inference.mlir
//   tfrt run models/mnist/inference.mlir --data DIR    (the folder of the MNIST files)

func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %none = tfrt.constant.i32 0
  %count = tfrt.constant.i32 10000
  %no_images, %no_labels, %images, %labels = "tfrt_mnist.load"(%none, %count, %ch0) {seed = 1 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %w1, %b1, %w2, %b2 = "tfrt_mnist.trained"() : () -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)

  // The clock starts when everything is there.
  %ch1 = "tfrt_dht.no_op_ht"(%images) : (!t.tensor) -> !tfrt.chain
  %ch2 = "tfrt_dht.no_op_ht"(%w1) : (!t.tensor) -> !tfrt.chain
  %ready = tfrt.merge.chains %ch1, %ch2
  %start, %ch = "tfrt_mnist.now"(%ready) : (!tfrt.chain) -> (i64, !tfrt.chain)

  %times = tfrt.constant.i32 10
  %one = tfrt.constant.i32 1
  %done = tfrt.constant.i32 0
  %correct = tfrt.constant.i32 0
  %last:11 = tfrt.repeat.i32 %times, %done, %correct, %one, %times, %images, %labels, %w1, %b1, %w2, %b2, %ch
      : i32, i32, i32, i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain {
    %right, %tried = tfrt.call @evaluate(%images, %labels, %w1, %b1, %w2, %b2, %ch)
      : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
    %next = tfrt.add.i32 %done, %one
    %shown = "tfrt_mnist.progress"(%next, %times, %tried) {label = "reading"} : (i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %next, %right, %one, %times, %images, %labels, %w1, %b1, %w2, %b2, %shown
      : i32, i32, i32, i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain
  }

  %total = tfrt.mul.i32 %times, %count
  %told = "tfrt_mnist.report_accuracy"(%last#1, %count, %total, %start, %last#10)
    : (i32, i32, i32, i64, !tfrt.chain) -> !tfrt.chain
  tfrt.return %told : !tfrt.chain
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
