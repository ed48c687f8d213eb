// Sparse tensors of every data type and rank: made of dense ones and written out again, found equal or not. The indices
// of a converted tensor print as the digits of an element's offset, with the extents as radices in reverse order.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'i32_0'
func @i32_0() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.0 []
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch0 [7 : i32]
  %other = tfrt_dht.create_uninitialized_tensor.i32.0 []
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %other, %ch1 [8 : i32]
  %sparse, %ch3 = coo.convert_dht_to_coo.i32.0 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [], indices = [], values = [7]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.i32.0 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [], values = [7]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.i32.0 %back, %ch6
  %same, %ch8 = coo.tensor_equal.i32.0 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.i32.0 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.i32.0 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32_1'
func @i32_1() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch0 [0 : i32, 7 : i32]
  %other = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %other, %ch1 [7 : i32, 0 : i32]
  %sparse, %ch3 = coo.convert_dht_to_coo.i32.1 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [2], indices = [1], values = [7]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.i32.1 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [0, 7]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.i32.1 %back, %ch6
  %same, %ch8 = coo.tensor_equal.i32.1 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.i32.1 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.i32.1 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32_2'
func @i32_2() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch0 [0 : i32, 7 : i32]
  %other = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %other, %ch1 [7 : i32, 0 : i32]
  %sparse, %ch3 = coo.convert_dht_to_coo.i32.2 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [1, 2], indices = [1, 0], values = [7]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.i32.2 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2], values = [0, 7]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.i32.2 %back, %ch6
  %same, %ch8 = coo.tensor_equal.i32.2 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.i32.2 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.i32.2 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32_3'
func @i32_3() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.3 [2 : i64, 1 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch0 [0 : i32, 7 : i32]
  %other = tfrt_dht.create_uninitialized_tensor.i32.3 [2 : i64, 1 : i64, 1 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %other, %ch1 [7 : i32, 0 : i32]
  %sparse, %ch3 = coo.convert_dht_to_coo.i32.3 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [2, 1, 1], indices = [0, 0, 1], values = [7]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.i32.3 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2, 1, 1], values = [0, 7]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.i32.3 %back, %ch6
  %same, %ch8 = coo.tensor_equal.i32.3 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.i32.3 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.i32.3 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32_0'
func @f32_0() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch0 [7.0 : f32]
  %other = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %other, %ch1 [8.0 : f32]
  %sparse, %ch3 = coo.convert_dht_to_coo.f32.0 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [], indices = [], values = [7.000000e+00]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.f32.0 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [7.000000e+00]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.f32.0 %back, %ch6
  %same, %ch8 = coo.tensor_equal.f32.0 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.f32.0 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.f32.0 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32_1'
func @f32_1() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch0 [0.0 : f32, 7.0 : f32]
  %other = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %other, %ch1 [7.0 : f32, 0.0 : f32]
  %sparse, %ch3 = coo.convert_dht_to_coo.f32.1 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [2], indices = [1], values = [7.000000e+00]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.f32.1 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [0.000000e+00, 7.000000e+00]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.f32.1 %back, %ch6
  %same, %ch8 = coo.tensor_equal.f32.1 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.f32.1 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.f32.1 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32_2'
func @f32_2() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch0 [0.0 : f32, 7.0 : f32]
  %other = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %other, %ch1 [7.0 : f32, 0.0 : f32]
  %sparse, %ch3 = coo.convert_dht_to_coo.f32.2 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [1, 2], indices = [1, 0], values = [7.000000e+00]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.f32.2 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2], values = [0.000000e+00, 7.000000e+00]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.f32.2 %back, %ch6
  %same, %ch8 = coo.tensor_equal.f32.2 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.f32.2 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.f32.2 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32_3'
func @f32_3() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.3 [2 : i64, 1 : i64, 1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch0 [0.0 : f32, 7.0 : f32]
  %other = tfrt_dht.create_uninitialized_tensor.f32.3 [2 : i64, 1 : i64, 1 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %other, %ch1 [7.0 : f32, 0.0 : f32]
  %sparse, %ch3 = coo.convert_dht_to_coo.f32.3 %dense, %ch2
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [2, 1, 1], indices = [0, 0, 1], values = [7.000000e+00]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %sparse, %ch3
  %back, %ch5 = coo.convert_coo_to_dht.f32.3 %sparse, %ch4
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [0.000000e+00, 7.000000e+00]
  %ch6 = tfrt_dht.print_tensor %back, %ch5
  %again, %ch7 = coo.convert_dht_to_coo.f32.3 %back, %ch6
  %same, %ch8 = coo.tensor_equal.f32.3 %sparse, %again, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %same, %ch8
  %elsewhere, %ch10 = coo.convert_dht_to_coo.f32.3 %other, %ch9
  %differ, %ch11 = coo.tensor_equal.f32.3 %sparse, %elsewhere, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %differ, %ch11
  tfrt.return
}
