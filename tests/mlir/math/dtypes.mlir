// Kernels of mathematics in the data types that the other programs here leave out, and those without chains.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'long_integers'
func @long_integers() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i64 %a, %ch0 [-5000000000 : i64, 0 : i64, 5000000000 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch2 = "tfrt_test.relu.i64"(%a, %b, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0, 0, 5000000000]
  %ch3 = tfrt_dht.print_tensor %b, %ch2
  %c = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch4 = "tfrt_test.add.i64"(%a, %b, %c, %ch3)
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [-5000000000, 0, 10000000000]
  %ch5 = tfrt_dht.print_tensor %c, %ch4
  %ch6 = "tfrt_test.equal.i64"(%a, %b, %c, %ch5)
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0, 1, 1]
  %ch7 = tfrt_dht.print_tensor %c, %ch6
  %ch8 = tfrt_dht.set_tensor_with_constant_values.i64 %c, %ch7 [5000000000 : i64, 2 : i64, 6 : i64]
  // The sum, 5000000008, does not fit into 32 bits.
  %mean = "tfrt_test.reduce_mean.i64.1"(%c, %ch8) : (!t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: dtype = I64, shape = [], values = [1666666669]
  %ch9 = tfrt_dht.print_tensor %mean, %ch8
  tfrt.return
}

// CHECK-LABEL: --- Running 'in_place'
func @in_place() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch0 [-1 : i32, 2 : i32, 0 : i32]
  %b = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %b, %ch1 [5 : i32, 6 : i32, 7 : i32]
  %ch3 = "tfrt_test.add_inplace.i32"(%a, %b, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [4, 8, 7]
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %mean = "tfrt_test.reduce_mean.i32.1"(%b, %ch4) : (!t.tensor, !tfrt.chain) -> !t.tensor
  // The mean is 19 / 3.
  // CHECK-NEXT: dtype = I32, shape = [], values = [6]
  %ch5 = tfrt_dht.print_tensor %mean, %ch4
  %ch6 = "tfrt_test.relu_grad_inplace.i32"(%a, %b, %ch5) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0, 8, 0]
  %ch7 = tfrt_dht.print_tensor %b, %ch6
  %ch8 = "tfrt_test.equal_inplace.i32"(%a, %b, %ch7) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0, 0, 1]
  %ch9 = tfrt_dht.print_tensor %b, %ch8
  tfrt.return
}

// The gradient where an activation is positive: not at zero, not at NaN.
// CHECK-LABEL: --- Running 'relu_gradient'
func @relu_gradient() {
  %ch0 = tfrt.new.chain
  %activation = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %activation, %ch0
    [0.5 : f32, 0.0 : f32, -1.0 : f32, 0x7FC00000 : f32]
  %gradient = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %gradient, %ch1 -2.5 : f32
  %ch3 = "tfrt_test.relu_grad_inplace.f32"(%activation, %gradient, %ch2)
    : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [-2.500000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch4 = tfrt_dht.print_tensor %gradient, %ch3
  tfrt.return
}

// Zeros of either sign are equal, NaN is not equal to itself.
// CHECK-LABEL: --- Running 'equal_floats'
func @equal_floats() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0 [0.0 : f32, 0x7FC00000 : f32, 1.5 : f32]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %b, %ch1 [-0.0 : f32, 0x7FC00000 : f32, 1.25 : f32]
  %c = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %ch3 = "tfrt_test.equal.f32"(%a, %b, %c, %ch2)
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  %ch5 = "tfrt_test.equal_inplace.f32"(%a, %b, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch6 = tfrt_dht.print_tensor %b, %ch5
  tfrt.return
}

// The first of equal elements is the greatest.
// CHECK-LABEL: --- Running 'greatest'
func @greatest() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch0
    [-3 : i32, -1 : i32, -1 : i32, 9 : i32, 8 : i32, 9 : i32]
  %of_a = "tfrt_test.argmax.i32.2"(%a, %ch1) : (!t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: dtype = I32, shape = [2], values = [1, 0]
  %ch2 = tfrt_dht.print_tensor %of_a, %ch1
  %b = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  // As 32 bits, 4294967296 would be 0.
  %ch3 = tfrt_dht.set_tensor_with_constant_values.i64 %b, %ch2 [1 : i64, 4294967296 : i64, 3 : i64, 2 : i64]
  %of_b = "tfrt_test.argmax.i64.2"(%b, %ch3) : (!t.tensor, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: dtype = I32, shape = [2], values = [1, 0]
  %ch4 = tfrt_dht.print_tensor %of_b, %ch3
  tfrt.return
}

// CHECK-LABEL: --- Running 'spreads'
func @spreads() {
  %ch0 = tfrt.new.chain
  %matrix = ts.build_shape [2 : i64, 2 : i64]
  %cube = ts.build_shape [1 : i64, 2 : i64, 2 : i64]
  %ints = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i64 %ints, %ch0 [7 : i64, -8 : i64]
  %rows = "tfrt_test.broadcast.i64.2"(%ints, %matrix, %ch1) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: dtype = I64, shape = [2, 2], values = [7, -8, 7, -8]
  %ch2 = tfrt_dht.print_tensor %rows, %ch1
  %layers = "tfrt_test.broadcast.i64.3"(%ints, %cube, %ch2) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: dtype = I64, shape = [1, 2, 2], values = [7, -8, 7, -8]
  %ch3 = tfrt_dht.print_tensor %layers, %ch2
  %floats = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.f32 %floats, %ch3 [0.5 : f32, 2.0 : f32]
  %parts = "tfrt_test.broadcast.f32.3"(%floats, %cube, %ch4) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  // CHECK-NEXT: shape = [1, 2, 2], values = [5.000000e-01, 2.000000e+00, 5.000000e-01, 2.000000e+00]
  %ch5 = tfrt_dht.print_tensor %parts, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'slices'
func @slices() {
  %ch0 = tfrt.new.chain
  %begin = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i64 %begin, %ch0 [0 : i64, 1 : i64, 1 : i64]
  %floats = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 2 : i64, 3 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %floats, %ch1
    [0.0 : f32, 1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32]
  %x = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 1 : i64, 2 : i64]
  %ch3 = "tfrt_test.slice_inplace.f32.3"(%floats, %begin, %ch2, %x)
    : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  // CHECK-NEXT: shape = [1, 1, 2], values = [4.000000e+00, 5.000000e+00]
  %ch4 = tfrt_dht.print_tensor %x, %ch3
  %ints = tfrt_dht.create_uninitialized_tensor.i64.3 [1 : i64, 2 : i64, 3 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.i64 %ints, %ch4
    [0 : i64, 1 : i64, 2 : i64, 3 : i64, 4 : i64, 5 : i64]
  %y = tfrt_dht.create_uninitialized_tensor.i64.3 [1 : i64, 1 : i64, 1 : i64]
  %ch6 = "tfrt_test.slice_inplace.i64.3"(%ints, %begin, %ch5, %y)
    : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  // CHECK-NEXT: shape = [1, 1, 1], values = [4]
  %ch7 = tfrt_dht.print_tensor %y, %ch6
  tfrt.return
}

// CHECK-LABEL: --- Running 'long_product'
func @long_product() {
  %ch0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %one = tfrt.constant.i64 1
  %a = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i64 %a, %ch0 [100000 : i64, 0 : i64, 1 : i64, -1 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i64 %c, %ch1 3 : i64
  // 2 · A · A + C
  %ch3 = "tfrt_test.matmul.i64.2"(%two, %a, %a, %one, %c, %ch2)
    : (i64, !t.tensor, !t.tensor, i64, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [20000000003, 3, 200001, 5]
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_relu'
func @sync_relu() attributes {tfrt.sync} {
  %f = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [2 : i64], values = [-1.5 : f32, 1.5 : f32]} : () -> !t.tensor
  %f_out = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64]
  "tfrt_test_sync.relu.f32"(%f, %f_out) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: dtype = F32, shape = [2], values = [0.000000e+00, 1.500000e+00]
  tfrt_dht_sync.print_tensor %f_out
  %i = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [2 : i64], values = [-2 : i32, 2 : i32]} : () -> !t.tensor
  %i_out = tfrt_dht_sync.create_uninitialized_tensor.i32.1 [2 : i64]
  "tfrt_test_sync.relu.i32"(%i, %i_out) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: dtype = I32, shape = [2], values = [0, 2]
  tfrt_dht_sync.print_tensor %i_out
  %l = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [2 : i64], values = [-3 : i64, 3 : i64]} : () -> !t.tensor
  %l_out = tfrt_dht_sync.create_uninitialized_tensor.i64.1 [2 : i64]
  "tfrt_test_sync.relu.i64"(%l, %l_out) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: dtype = I64, shape = [2], values = [0, 3]
  tfrt_dht_sync.print_tensor %l_out
  tfrt.return
}

// Rows times columns: [1, 2] · [3, 4]ᵀ = 11, doubled, and ten times what was there.
// CHECK-LABEL: --- Running 'sync_products'
func @sync_products() attributes {tfrt.sync} {
  %f2 = tfrt.constant_s.f32 2.0
  %f10 = tfrt.constant_s.f32 10.0
  %fa = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1 : i64, 2 : i64], values = [1.0 : f32, 2.0 : f32]} : () -> !t.tensor
  %fb = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [2 : i64, 1 : i64], values = [3.0 : f32, 4.0 : f32]} : () -> !t.tensor
  %fc = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1 : i64, 1 : i64], values = [0.5 : f32]} : () -> !t.tensor
  "tfrt_test_sync.matmul.f32.2"(%f2, %fa, %fb, %f10, %fc) : (f32, !t.tensor, !t.tensor, f32, !t.tensor) -> ()
  // CHECK-NEXT: dtype = F32, shape = [1, 1], values = [2.700000e+01]
  tfrt_dht_sync.print_tensor %fc
  %i2 = tfrt.constant_s.i32 2
  %i10 = tfrt.constant_s.i32 10
  %ia = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1 : i64, 2 : i64], values = [1 : i32, 2 : i32]} : () -> !t.tensor
  %ib = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [2 : i64, 1 : i64], values = [3 : i32, 4 : i32]} : () -> !t.tensor
  %ic = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1 : i64, 1 : i64], values = [-1 : i32]} : () -> !t.tensor
  "tfrt_test_sync.matmul.i32.2"(%i2, %ia, %ib, %i10, %ic) : (i32, !t.tensor, !t.tensor, i32, !t.tensor) -> ()
  // CHECK-NEXT: dtype = I32, shape = [1, 1], values = [12]
  tfrt_dht_sync.print_tensor %ic
  %l2 = tfrt.constant_s.i64 2
  %l10 = tfrt.constant_s.i64 10
  %la = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1 : i64, 2 : i64], values = [1 : i64, 2 : i64]} : () -> !t.tensor
  %lb = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [2 : i64, 1 : i64], values = [3 : i64, 4 : i64]} : () -> !t.tensor
  %lc = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1 : i64, 1 : i64], values = [1000000000 : i64]} : () -> !t.tensor
  "tfrt_test_sync.matmul.i64.2"(%l2, %la, %lb, %l10, %lc) : (i64, !t.tensor, !t.tensor, i64, !t.tensor) -> ()
  // CHECK-NEXT: dtype = I64, shape = [1, 1], values = [10000000022]
  tfrt_dht_sync.print_tensor %lc
  tfrt.return
}
