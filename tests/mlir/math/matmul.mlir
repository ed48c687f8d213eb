// Matrix products: general, transposed, as a dense layer; on one thread and on several.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'products'
func @products() {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %two = tfrt.constant.f32 2.0
  %zero = tfrt.constant.f32 0.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch0
    [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %b, %ch1
    [1.0 : f32, 0.0 : f32, 0.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32]
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch3 = "eigen.matmul.f32"(%one, %a, %b, %zero, %c, %ch2)
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [4.000000e+00, 5.000000e+00, 1.000000e+01, 1.100000e+01]
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  %ch5 = "tfrt_test.matmul.f32.2"(%two, %a, %b, %one, %c, %ch4)
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.200000e+01, 1.500000e+01, 3.000000e+01, 3.300000e+01]
  %ch6 = tfrt_dht.print_tensor %c, %ch5
  // A · Aᵀ, and B as it would be if it were transposed.
  %ch7 = "tfrt_math.matmul.f32"(%one, %a, %a, %zero, %c, %ch6) { transpose_a = false, transpose_b = true }
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1.400000e+01, 3.200000e+01, 3.200000e+01, 7.700000e+01]
  %ch8 = tfrt_dht.print_tensor %c, %ch7
  %ch9 = "tfrt_math.matmul.f32"(%one, %b, %a, %zero, %c, %ch8) { transpose_a = true, transpose_b = true }
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [4.000000e+00, 1.000000e+01, 5.000000e+00, 1.100000e+01]
  %ch10 = tfrt_dht.print_tensor %c, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'integers'
func @integers() {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch0 [1 : i32, -1 : i32, 2 : i32, 3 : i32]
  %c = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch2 = "tfrt_test.matmul.i32.2"(%one, %a, %a, %zero, %c, %ch1)
    : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [-1, -4, 8, 7]
  %ch3 = tfrt_dht.print_tensor %c, %ch2
  tfrt.return
}

// CHECK-LABEL: --- Running 'layer'
func @layer() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 2.0 : f32]
  %w = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %w, %ch1 [1.0 : f32, -1.0 : f32, 1.0 : f32, -1.0 : f32]
  %bias = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %bias, %ch2 [0.5 : f32, 1.0 : f32]
  %y = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %ch4 = "tfrt_math.dense.f32"(%x, %w, %bias, %y, %ch3) { activation = "relu" }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [3.500000e+00, 0.000000e+00]
  %ch5 = tfrt_dht.print_tensor %y, %ch4
  %ch6 = "tfrt_math.dense.f32"(%x, %w, %bias, %y, %ch5) { activation = "none" }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [3.500000e+00, -2.000000e+00]
  %ch7 = tfrt_dht.print_tensor %y, %ch6
  tfrt.return
}

// Large enough to be cut into blocks. A product of ones counts the inner dimension.
// CHECK-LABEL: --- Running 'blocks'
func @blocks() {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [500 : i64, 400 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch0 1.0 : f32
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [500 : i64, 500 : i64]
  %ch2 = "tfrt_math.matmul.f32"(%one, %a, %a, %zero, %c, %ch1) { transpose_a = false, transpose_b = true }
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %expected = tfrt_dht.create_uninitialized_tensor.f32.2 [500 : i64, 500 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %expected, %ch2 400.0 : f32
  %equal, %ch4 = tfrt_dht.tensor_equal.f32 %expected, %c, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %equal, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'shapes'
func @shapes() {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 4 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %d = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 4 : i64]
  %bias = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %i = tfrt.constant.i32 1
  // expected-error @+1 {{MatMul input tensors inner dimension mismatch: [2, 3] vs. [2, 3]}}
  %ch1 = "eigen.matmul.f32"(%one, %a, %a, %one, %c, %ch0)
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{MatMul output shape [2, 2] does not match product shape of inputs: [2, 3] * [3, 4]}}
  %ch2 = "eigen.matmul.f32"(%one, %a, %b, %one, %c, %ch0)
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{expected a tensor of dtype I32, got F32}}
  %ch3 = "eigen.matmul.i32"(%i, %a, %b, %i, %d, %ch0)
    : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{unknown activation 'tanh': expected 'none' or 'relu'}}
  %ch4 = "tfrt_math.dense.f32"(%a, %b, %bias, %d, %ch0) { activation = "tanh" }
    : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// The product writes what it reads: no order could make that right.
// CHECK-LABEL: --- Running 'race'
func @race() {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  // expected-error @+1 {{kernel 'matmul' writes a tensor that kernel 'matmul' is reading; no chain orders the two}}
  %ch1 = "eigen.matmul.f32"(%one, %a, %a, %one, %a, %ch0)
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}
