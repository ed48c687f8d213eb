// The kernels of the MNIST programs.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'batches'
func @batches() {
  %ch0 = tfrt.new.chain
  %train = tfrt.constant.i32 10
  %test = tfrt.constant.i32 20
  %images, %labels, %others, %other_labels = "tfrt_mnist.load"(%train, %test, %ch0) {seed = 5 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  // CHECK-NEXT: [10, 784]
  %ch1 = "tfrt_dht.print_tensor_shape"(%images, %ch0) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: [20, 784]
  %ch2 = "tfrt_dht.print_tensor_shape"(%others, %ch1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: dtype = I32, shape = [10], values = [8, 7, 2, 3, 4, 1, 5, 6, 0, 9]
  %ch3 = tfrt_dht.print_tensor %labels, %ch2
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [5 : i64, 784 : i64]
  %y = tfrt_dht.create_uninitialized_tensor.i32.1 [5 : i64]
  %step0 = tfrt.constant.i32 0
  %ch4 = "tfrt_mnist.batch"(%images, %labels, %step0, %x, %y, %ch3) {seed = 6 : i64}
    : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // Two batches make an epoch, with every image once.
  // CHECK-NEXT: shape = [5], values = [2, 5, 7, 1, 3]
  %ch5 = tfrt_dht.print_tensor %y, %ch4
  %step1 = tfrt.constant.i32 1
  %ch6 = "tfrt_mnist.batch"(%images, %labels, %step1, %x, %y, %ch5) {seed = 6 : i64}
    : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: shape = [5], values = [6, 9, 4, 8, 0]
  %ch7 = tfrt_dht.print_tensor %y, %ch6
  // expected-error @+1 {{a batch of images [5, 784] and labels [20] does not suit images [10, 784] and labels [10]}}
  %ch8 = "tfrt_mnist.batch"(%images, %labels, %step1, %x, %other_labels, %ch7) {seed = 6 : i64}
    : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %minus = tfrt.constant.i32 -1
  // expected-error @+1 {{no batch -1 of 5 among 10 images}}
  %ch9 = "tfrt_mnist.batch"(%images, %labels, %minus, %x, %y, %ch7) {seed = 6 : i64}
    : (!t.tensor, !t.tensor, i32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{cannot load -1 images to learn from}}
  %a, %b, %c, %d = "tfrt_mnist.load"(%minus, %test, %ch0) {seed = 5 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  tfrt.return
}

// CHECK-LABEL: --- Running 'parameters'
func @parameters() {
  %ch0 = tfrt.new.chain
  %t = "tfrt_mnist.random_uniform"() {bound = 0.5 : f32, seed = 1 : i64, shape = [2 : i64, 2 : i64]} : () -> !t.tensor
  // CHECK-NEXT: shape = [2, 2], values = [-1.318105e-01, 4.435642e-01, -4.547430e-01, 2.774369e-01]
  %ch1 = tfrt_dht.print_tensor %t, %ch0
  %w1, %b1, %w2, %b2 = "tfrt_mnist.trained"() : () -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  // CHECK-NEXT: [784, 128]
  %ch2 = "tfrt_dht.print_tensor_shape"(%w1, %ch1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: [128]
  %ch3 = "tfrt_dht.print_tensor_shape"(%b1, %ch2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: [128, 10]
  %ch4 = "tfrt_dht.print_tensor_shape"(%w2, %ch3) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: [10]
  %ch5 = "tfrt_dht.print_tensor_shape"(%b2, %ch4) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// CHECK-LABEL: --- Running 'reports'
func @reports() {
  %ch0 = tfrt.new.chain
  %start, %ch1 = "tfrt_mnist.now"(%ch0) : (!tfrt.chain) -> (i64, !tfrt.chain)
  %right = tfrt.constant.i32 5
  %count = tfrt.constant.i32 8
  // Nobody watches.
  %ch2 = "tfrt_mnist.progress"(%right, %count, %ch1) {label = "reading"} : (i32, i32, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: trained on 8 images in {{[0-9.]+}} s: {{[0-9,]+}} images/s, on cpu (1 thread)
  %ch3 = "tfrt_mnist.report_training"(%count, %start, %ch2) : (i32, i64, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: accuracy: 62.50 % (5 of 8), {{[0-9,]+}} images/s, on cpu (1 thread)
  %ch4 = "tfrt_mnist.report_accuracy"(%right, %count, %count, %start, %ch3)
    : (i32, i32, i32, i64, !tfrt.chain) -> !tfrt.chain
  %none = tfrt.constant.i32 0
  // expected-error @+1 {{no image was looked at}}
  %ch5 = "tfrt_mnist.report_accuracy"(%none, %none, %count, %start, %ch4)
    : (i32, i32, i32, i64, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}
