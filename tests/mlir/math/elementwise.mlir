// Functions applied element by element.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'integers'
func @integers() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch0 [1 : i32, -2 : i32, 3 : i32, -4 : i32]
  %b = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch2 = "tfrt_test.relu.i32"(%a, %b, %ch1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1, 0, 3, 0]
  %ch3 = tfrt_dht.print_tensor %b, %ch2
  %c = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %ch4 = "tfrt_test.add.i32"(%a, %b, %c, %ch3)
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [2, -2, 6, -4]
  %ch5 = tfrt_dht.print_tensor %c, %ch4
  %ch6 = "tfrt_test.equal.i32"(%a, %b, %c, %ch5)
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1, 0, 1, 0]
  %ch7 = tfrt_dht.print_tensor %c, %ch6
  %count, %ch8 = "tfrt_math.count_equal.i32"(%a, %b, %ch7) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
  // CHECK-NEXT: int32 = 2
  %ch9 = tfrt.print.i32 %count, %ch8
  %f = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch10 = "tfrt_test.cast.i32_to_f32"(%a, %f, %ch9) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: dtype = F32, shape = [4], values = [1.000000e+00, -2.000000e+00, 3.000000e+00, -4.000000e+00]
  %ch11 = tfrt_dht.print_tensor %f, %ch10
  tfrt.return
}

// CHECK-LABEL: --- Running 'in_place'
func @in_place() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i64 %a, %ch0 [-1 : i64, 2 : i64, 0 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i64 %b, %ch1 [5 : i64, 6 : i64, 7 : i64]
  %ch3 = "tfrt_test.add_inplace.i64"(%a, %b, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [4, 8, 7]
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %ch5 = "tfrt_test.relu_grad_inplace.i64"(%a, %b, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0, 8, 0]
  %ch6 = tfrt_dht.print_tensor %b, %ch5
  %ch7 = "tfrt_test.relu_inplace.i64"(%a, %ch6) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [0, 2, 0]
  %ch8 = tfrt_dht.print_tensor %a, %ch7
  %ch9 = "tfrt_test.equal_inplace.i64"(%a, %b, %ch8) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [1, 0, 1]
  %ch10 = tfrt_dht.print_tensor %b, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'descent'
func @descent() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [1.0 : f32, 2.0 : f32]
  %y = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %y, %ch1 10.0 : f32
  %ch3 = "tfrt_test.subtract_inplace.f32"(%x, %y, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [9.000000e+00, 8.000000e+00]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %rate = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.f32 %rate, %ch4 0.5 : f32
  %ch6 = "tfrt_test.gradient_descent.f32"(%x, %rate, %y, %ch5)
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [8.500000e+00, 7.000000e+00]
  %ch7 = tfrt_dht.print_tensor %y, %ch6
  %minus_two = tfrt.constant.f32 -2.0
  %ch8 = "tfrt_math.axpy.f32"(%minus_two, %x, %y, %ch7) : (f32, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [6.500000e+00, 3.000000e+00]
  %ch9 = tfrt_dht.print_tensor %y, %ch8
  tfrt.return
}

// Large enough to be cut into blocks.
// CHECK-LABEL: --- Running 'blocks'
func @blocks() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [400 : i64, 500 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %x, %ch0 -1.0 : f32
  %y = tfrt_dht.create_uninitialized_tensor.f32.2 [400 : i64, 500 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %y, %ch1 3.0 : f32
  %ch3 = "tfrt_test.add_inplace.f32"(%x, %y, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = "tfrt_test.relu_inplace.f32"(%x, %ch3) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = "tfrt_test.add_inplace.f32"(%y, %x, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %z = tfrt_dht.create_uninitialized_tensor.f32.2 [400 : i64, 500 : i64]
  %ch6 = tfrt_dht.fill_tensor_with_constant.f32 %z, %ch5 2.0 : f32
  %equal, %ch7 = tfrt_dht.tensor_equal.f32 %x, %z, %ch6
  // CHECK-NEXT: int1 = 1
  %ch8 = tfrt.print.i1 %equal, %ch7
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 2 : i64]
  %i = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  // expected-error @+1 {{Tensor shapes do not match: output is [3, 2] and input is [2, 3]}}
  %ch1 = "tfrt_test.relu.f32"(%a, %b, %ch0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{expected a tensor of dtype I32, got F32}}
  %ch2 = "tfrt_test.relu_inplace.i32"(%a, %ch0) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{Tensor shapes do not match: right operand is [3, 2] and left operand is [2, 3]}}
  %ch3 = "tfrt_test.add.f32"(%a, %b, %b, %ch0) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{lr should have only one element, got shape [2, 3]}}
  %ch4 = "tfrt_test.gradient_descent.f32"(%a, %a, %a, %ch0)
    : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}
