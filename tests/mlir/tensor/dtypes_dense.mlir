// Dense tensors of every data type: written with constants, with one constant and with values of the program, up to the
// ends of the type's range; printed; and found equal or not. Complex tensors come of constants alone.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'bool'
func @bool() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.bool.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.bool %x, %ch0 [0 : i1, 1 : i1]
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [0, 1]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.bool.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.bool %y, %ch2 1 : i1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [1, 1]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.bool %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.i1 0
  %b = tfrt.constant.i1 1
  %ch7 = "tfrt_dht.set_tensor_with_values.bool"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, i1, i1) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [0, 1]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.bool %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i8'
func @i8() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i8.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i8 %x, %ch0 [-128 : i8, 127 : i8]
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [-128, 127]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.i8.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i8 %y, %ch2 127 : i8
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [127, 127]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.i8 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.i8 -128
  %b = tfrt.constant.i8 127
  %ch7 = "tfrt_dht.set_tensor_with_values.i8"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, i8, i8) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [-128, 127]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.i8 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i16'
func @i16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i16.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i16 %x, %ch0 [-32768 : i16, 32767 : i16]
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [-32768, 32767]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.i16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i16 %y, %ch2 32767 : i16
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [32767, 32767]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.i16 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.i16 -32768
  %b = tfrt.constant.i16 32767
  %ch7 = "tfrt_dht.set_tensor_with_values.i16"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, i16, i16) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [-32768, 32767]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.i16 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32'
func @i32() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %x, %ch0 [-2147483648 : i32, 2147483647 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [-2147483648, 2147483647]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i32 %y, %ch2 2147483647 : i32
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [2147483647, 2147483647]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.i32 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.i32 -2147483648
  %b = tfrt.constant.i32 2147483647
  %ch7 = "tfrt_dht.set_tensor_with_values.i32"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, i32, i32) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [-2147483648, 2147483647]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.i32 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i64'
func @i64() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i64 %x, %ch0 [-9223372036854775808 : i64, 9223372036854775807 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [-9223372036854775808, 9223372036854775807]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i64 %y, %ch2 9223372036854775807 : i64
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [9223372036854775807, 9223372036854775807]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.i64 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.i64 -9223372036854775808
  %b = tfrt.constant.i64 9223372036854775807
  %ch7 = "tfrt_dht.set_tensor_with_values.i64"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, i64, i64) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [-9223372036854775808, 9223372036854775807]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.i64 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui8'
func @ui8() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui8.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.ui8 %x, %ch0 [0 : ui8, 255 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [0, 255]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.ui8.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui8 %y, %ch2 255 : ui8
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [255, 255]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.ui8 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.ui8 0
  %b = tfrt.constant.ui8 255
  %ch7 = "tfrt_dht.set_tensor_with_values.ui8"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, ui8, ui8) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [0, 255]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.ui8 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui16'
func @ui16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui16.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.ui16 %x, %ch0 [0 : ui16, 65535 : ui16]
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [0, 65535]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.ui16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui16 %y, %ch2 65535 : ui16
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [65535, 65535]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.ui16 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.ui16 0
  %b = tfrt.constant.ui16 65535
  %ch7 = "tfrt_dht.set_tensor_with_values.ui16"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, ui16, ui16) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [0, 65535]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.ui16 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui32'
func @ui32() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.ui32 %x, %ch0 [0 : ui32, 4294967295 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [0, 4294967295]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.ui32.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui32 %y, %ch2 4294967295 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [4294967295, 4294967295]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.ui32 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.ui32 0
  %b = tfrt.constant.ui32 4294967295
  %ch7 = "tfrt_dht.set_tensor_with_values.ui32"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, ui32, ui32) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [0, 4294967295]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.ui32 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui64'
func @ui64() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui64.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.ui64 %x, %ch0 [0 : ui64, 18446744073709551615 : ui64]
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [0, 18446744073709551615]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.ui64.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui64 %y, %ch2 18446744073709551615 : ui64
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [18446744073709551615, 18446744073709551615]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.ui64 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.ui64 0
  %b = tfrt.constant.ui64 18446744073709551615
  %ch7 = "tfrt_dht.set_tensor_with_values.ui64"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, ui64, ui64) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [0, 18446744073709551615]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.ui64 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'f16'
func @f16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f16.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f16 %x, %ch0 [-65504.0 : f16, 0.5 : f16]
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [-6.550400e+04, 5.000000e-01]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.f16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f16 %y, %ch2 0.5 : f16
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [5.000000e-01, 5.000000e-01]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.f16 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.f16 -65504.0
  %b = tfrt.constant.f16 0.5
  %ch7 = "tfrt_dht.set_tensor_with_values.f16"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, f16, f16) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [-6.550400e+04, 5.000000e-01]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.f16 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'bf16'
func @bf16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.bf16.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.bf16 %x, %ch0 [-1.5 : bf16, 1.2676506002282294e+30 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [-1.500000e+00, 1.267651e+30]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.bf16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.bf16 %y, %ch2 1.2676506002282294e+30 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [1.267651e+30, 1.267651e+30]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.bf16 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.bf16 -1.5
  %b = tfrt.constant.bf16 1.2676506002282294e+30
  %ch7 = "tfrt_dht.set_tensor_with_values.bf16"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, bf16, bf16) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [-1.500000e+00, 1.267651e+30]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.bf16 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32'
func @f32() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch0 [-1.5 : f32, 1.2676506002282294e+30 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [-1.500000e+00, 1.267651e+30]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %y, %ch2 1.2676506002282294e+30 : f32
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [1.267651e+30, 1.267651e+30]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.f32 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.f32 -1.5
  %b = tfrt.constant.f32 1.2676506002282294e+30
  %ch7 = "tfrt_dht.set_tensor_with_values.f32"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, f32, f32) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [-1.500000e+00, 1.267651e+30]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.f32 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'f64'
func @f64() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f64.1 [2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f64 %x, %ch0 [-1.5 : f64, 3.273390607896142e+150 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [-1.500000e+00, 3.273391e+150]
  %ch2 = tfrt_dht.print_tensor %x, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.f64.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f64 %y, %ch2 3.273390607896142e+150 : f64
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [3.273391e+150, 3.273391e+150]
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %differ, %ch5 = tfrt_dht.tensor_equal.f64 %x, %y, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %differ, %ch5
  %a = tfrt.constant.f64 -1.5
  %b = tfrt.constant.f64 3.273390607896142e+150
  %ch7 = "tfrt_dht.set_tensor_with_values.f64"(%y, %ch6, %a, %b) : (!t.tensor, !tfrt.chain, f64, f64) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [-1.500000e+00, 3.273391e+150]
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %same, %ch9 = tfrt_dht.tensor_equal.f64 %x, %y, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %same, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex64'
func @complex64() {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, -2.0), (0.5, 4.0)]> : tensor<2xcomplex<f32>>} : () -> !t.tensor
  %y = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, -2.0), (0.5, 4.0)]> : tensor<2xcomplex<f32>>} : () -> !t.tensor
  %z = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, -2.0), (0.5, -4.0)]> : tensor<2xcomplex<f32>>} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2], values = [(1.000000e+00,-2.000000e+00), (5.000000e-01,4.000000e+00)]
  %ch1 = tfrt_dht.print_tensor %x, %ch0
  %same, %ch2 = tfrt_dht.tensor_equal.complex64 %x, %y, %ch1
  // CHECK-NEXT: int1 = 1
  %ch3 = tfrt.print.i1 %same, %ch2
  %differ, %ch4 = tfrt_dht.tensor_equal.complex64 %x, %z, %ch3
  // CHECK-NEXT: int1 = 0
  %ch5 = tfrt.print.i1 %differ, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex128'
func @complex128() {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, -2.0), (0.5, 4.0)]> : tensor<2xcomplex<f64>>} : () -> !t.tensor
  %y = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, -2.0), (0.5, 4.0)]> : tensor<2xcomplex<f64>>} : () -> !t.tensor
  %z = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, -2.0), (0.5, -4.0)]> : tensor<2xcomplex<f64>>} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [2], values = [(1.000000e+00,-2.000000e+00), (5.000000e-01,4.000000e+00)]
  %ch1 = tfrt_dht.print_tensor %x, %ch0
  %same, %ch2 = tfrt_dht.tensor_equal.complex128 %x, %y, %ch1
  // CHECK-NEXT: int1 = 1
  %ch3 = tfrt.print.i1 %same, %ch2
  %differ, %ch4 = tfrt_dht.tensor_equal.complex128 %x, %z, %ch3
  // CHECK-NEXT: int1 = 0
  %ch5 = tfrt.print.i1 %differ, %ch4
  tfrt.return
}
