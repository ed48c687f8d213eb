// Dense tensors of every data type and rank. No kernel writes complex elements: what is in them when they are made is
// not said.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'bool'
func @bool() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.bool.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.bool %r0, %ch0 1 : i1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.bool.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.bool %r1, %ch2 1 : i1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [1, 1]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.bool.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.bool %r2, %ch4 1 : i1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [1, 2], values = [1, 1]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.bool.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.bool %r3, %ch6 1 : i1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2, 1, 1], values = [1, 1]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.bool.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.bool %r4, %ch8 1 : i1
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [1, 2, 1, 1], values = [1, 1]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i8'
func @i8() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.i8.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.i8 %r0, %ch0 1 : i8
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.i8.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i8 %r1, %ch2 2 : i8
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.i8.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.i8 %r2, %ch4 3 : i8
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.i8.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.i8 %r3, %ch6 4 : i8
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.i8.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.i8 %r4, %ch8 5 : i8
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i16'
func @i16() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.i16.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.i16 %r0, %ch0 1 : i16
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.i16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i16 %r1, %ch2 2 : i16
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.i16.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.i16 %r2, %ch4 3 : i16
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.i16.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.i16 %r3, %ch6 4 : i16
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.i16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.i16 %r4, %ch8 5 : i16
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32'
func @i32() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.i32.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %r0, %ch0 1 : i32
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i32 %r1, %ch2 2 : i32
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.i32 %r2, %ch4 3 : i32
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.i32.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.i32 %r3, %ch6 4 : i32
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.i32.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.i32 %r4, %ch8 5 : i32
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'i64'
func @i64() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.i64.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.i64 %r0, %ch0 1 : i64
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i64 %r1, %ch2 2 : i64
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.i64.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.i64 %r2, %ch4 3 : i64
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.i64.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.i64 %r3, %ch6 4 : i64
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.i64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.i64 %r4, %ch8 5 : i64
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui8'
func @ui8() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.ui8.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui8 %r0, %ch0 1 : ui8
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.ui8.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui8 %r1, %ch2 2 : ui8
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.ui8.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.ui8 %r2, %ch4 3 : ui8
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.ui8.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.ui8 %r3, %ch6 4 : ui8
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.ui8.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.ui8 %r4, %ch8 5 : ui8
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui16'
func @ui16() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.ui16.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui16 %r0, %ch0 1 : ui16
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.ui16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui16 %r1, %ch2 2 : ui16
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.ui16.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.ui16 %r2, %ch4 3 : ui16
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.ui16.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.ui16 %r3, %ch6 4 : ui16
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.ui16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.ui16 %r4, %ch8 5 : ui16
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui32'
func @ui32() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.ui32.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui32 %r0, %ch0 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.ui32.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui32 %r1, %ch2 2 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.ui32.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.ui32 %r2, %ch4 3 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.ui32.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.ui32 %r3, %ch6 4 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.ui32.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.ui32 %r4, %ch8 5 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui64'
func @ui64() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.ui64.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui64 %r0, %ch0 1 : ui64
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [], values = [1]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.ui64.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui64 %r1, %ch2 2 : ui64
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [2, 2]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.ui64.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.ui64 %r2, %ch4 3 : ui64
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [1, 2], values = [3, 3]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.ui64.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.ui64 %r3, %ch6 4 : ui64
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2, 1, 1], values = [4, 4]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.ui64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.ui64 %r4, %ch8 5 : ui64
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [1, 2, 1, 1], values = [5, 5]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'f16'
func @f16() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.f16 %r0, %ch0 1.0 : f16
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [], values = [1.000000e+00]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.f16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f16 %r1, %ch2 2.0 : f16
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [2.000000e+00, 2.000000e+00]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.f16.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.f16 %r2, %ch4 3.0 : f16
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.f16.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.f16 %r3, %ch6 4.0 : f16
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.f16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.f16 %r4, %ch8 5.0 : f16
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'bf16'
func @bf16() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.bf16 %r0, %ch0 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [], values = [1.000000e+00]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.bf16.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.bf16 %r1, %ch2 2.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [2.000000e+00, 2.000000e+00]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.bf16.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.bf16 %r2, %ch4 3.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.bf16.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.bf16 %r3, %ch6 4.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.bf16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.bf16 %r4, %ch8 5.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32'
func @f32() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %r0, %ch0 1.0 : f32
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [1.000000e+00]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %r1, %ch2 2.0 : f32
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [2.000000e+00, 2.000000e+00]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.f32 %r2, %ch4 3.0 : f32
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.f32.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.f32 %r3, %ch6 4.0 : f32
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.f32 %r4, %ch8 5.0 : f32
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'f64'
func @f64() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.f64 %r0, %ch0 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [], values = [1.000000e+00]
  %ch2 = tfrt_dht.print_tensor %r0, %ch1
  %r1 = tfrt_dht.create_uninitialized_tensor.f64.1 [2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f64 %r1, %ch2 2.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [2.000000e+00, 2.000000e+00]
  %ch4 = tfrt_dht.print_tensor %r1, %ch3
  %r2 = tfrt_dht.create_uninitialized_tensor.f64.2 [1 : i64, 2 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.f64 %r2, %ch4 3.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  %ch6 = tfrt_dht.print_tensor %r2, %ch5
  %r3 = tfrt_dht.create_uninitialized_tensor.f64.3 [2 : i64, 1 : i64, 1 : i64]
  %ch7 = tfrt_dht.fill_tensor_with_constant.f64 %r3, %ch6 4.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  %ch8 = tfrt_dht.print_tensor %r3, %ch7
  %r4 = tfrt_dht.create_uninitialized_tensor.f64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch9 = tfrt_dht.fill_tensor_with_constant.f64 %r4, %ch8 5.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  %ch10 = tfrt_dht.print_tensor %r4, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex64'
func @complex64() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.complex64.0 []
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [], values = [({{.*}},{{.*}})]
  %ch1 = tfrt_dht.print_tensor %r0, %ch0
  %r1 = tfrt_dht.create_uninitialized_tensor.complex64.1 [2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch2 = tfrt_dht.print_tensor %r1, %ch1
  %r2 = tfrt_dht.create_uninitialized_tensor.complex64.2 [1 : i64, 2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [1, 2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch3 = tfrt_dht.print_tensor %r2, %ch2
  %r3 = tfrt_dht.create_uninitialized_tensor.complex64.3 [2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch4 = tfrt_dht.print_tensor %r3, %ch3
  %r4 = tfrt_dht.create_uninitialized_tensor.complex64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [1, 2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch5 = tfrt_dht.print_tensor %r4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex128'
func @complex128() {
  %ch0 = tfrt.new.chain
  %r0 = tfrt_dht.create_uninitialized_tensor.complex128.0 []
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [], values = [({{.*}},{{.*}})]
  %ch1 = tfrt_dht.print_tensor %r0, %ch0
  %r1 = tfrt_dht.create_uninitialized_tensor.complex128.1 [2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch2 = tfrt_dht.print_tensor %r1, %ch1
  %r2 = tfrt_dht.create_uninitialized_tensor.complex128.2 [1 : i64, 2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [1, 2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch3 = tfrt_dht.print_tensor %r2, %ch2
  %r3 = tfrt_dht.create_uninitialized_tensor.complex128.3 [2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch4 = tfrt_dht.print_tensor %r3, %ch3
  %r4 = tfrt_dht.create_uninitialized_tensor.complex128.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [1, 2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  %ch5 = tfrt_dht.print_tensor %r4, %ch4
  tfrt.return
}
