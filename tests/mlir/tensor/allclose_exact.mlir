// Tensors of integers and booleans are close if they are equal, whatever the tolerance.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'bool'
func @bool() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.bool.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.bool %x, %ch0 1 : i1
  %same = tfrt_dht.create_uninitialized_tensor.bool.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.bool %same, %ch1 1 : i1
  %next = tfrt_dht.create_uninitialized_tensor.bool.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.bool %next, %ch2 0 : i1
  %near2, %ch4 = tfrt_dht.tensor_allclose.bool %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.bool %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.bool %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.bool %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.bool %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.bool %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.bool %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.bool %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.bool %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.bool %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'i8'
func @i8() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i8.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i8 %x, %ch0 100 : i8
  %same = tfrt_dht.create_uninitialized_tensor.i8.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i8 %same, %ch1 100 : i8
  %next = tfrt_dht.create_uninitialized_tensor.i8.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i8 %next, %ch2 101 : i8
  %near2, %ch4 = tfrt_dht.tensor_allclose.i8 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.i8 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.i8 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.i8 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.i8 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.i8 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.i8 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.i8 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.i8 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.i8 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'i16'
func @i16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i16.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i16 %x, %ch0 100 : i16
  %same = tfrt_dht.create_uninitialized_tensor.i16.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i16 %same, %ch1 100 : i16
  %next = tfrt_dht.create_uninitialized_tensor.i16.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i16 %next, %ch2 101 : i16
  %near2, %ch4 = tfrt_dht.tensor_allclose.i16 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.i16 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.i16 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.i16 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.i16 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.i16 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.i16 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.i16 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.i16 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.i16 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32'
func @i32() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %x, %ch0 100 : i32
  %same = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i32 %same, %ch1 100 : i32
  %next = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i32 %next, %ch2 101 : i32
  %near2, %ch4 = tfrt_dht.tensor_allclose.i32 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.i32 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.i32 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.i32 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.i32 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.i32 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.i32 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.i32 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.i32 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.i32 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'i64'
func @i64() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i64.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i64 %x, %ch0 100 : i64
  %same = tfrt_dht.create_uninitialized_tensor.i64.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i64 %same, %ch1 100 : i64
  %next = tfrt_dht.create_uninitialized_tensor.i64.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.i64 %next, %ch2 101 : i64
  %near2, %ch4 = tfrt_dht.tensor_allclose.i64 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.i64 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.i64 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.i64 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.i64 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.i64 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.i64 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.i64 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.i64 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.i64 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui8'
func @ui8() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui8.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui8 %x, %ch0 100 : ui8
  %same = tfrt_dht.create_uninitialized_tensor.ui8.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.ui8 %same, %ch1 100 : ui8
  %next = tfrt_dht.create_uninitialized_tensor.ui8.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui8 %next, %ch2 101 : ui8
  %near2, %ch4 = tfrt_dht.tensor_allclose.ui8 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.ui8 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.ui8 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.ui8 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.ui8 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.ui8 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.ui8 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.ui8 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.ui8 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.ui8 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui16'
func @ui16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui16.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui16 %x, %ch0 100 : ui16
  %same = tfrt_dht.create_uninitialized_tensor.ui16.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.ui16 %same, %ch1 100 : ui16
  %next = tfrt_dht.create_uninitialized_tensor.ui16.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui16 %next, %ch2 101 : ui16
  %near2, %ch4 = tfrt_dht.tensor_allclose.ui16 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.ui16 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.ui16 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.ui16 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.ui16 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.ui16 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.ui16 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.ui16 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.ui16 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.ui16 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui32'
func @ui32() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui32.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui32 %x, %ch0 100 : ui32
  %same = tfrt_dht.create_uninitialized_tensor.ui32.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.ui32 %same, %ch1 100 : ui32
  %next = tfrt_dht.create_uninitialized_tensor.ui32.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui32 %next, %ch2 101 : ui32
  %near2, %ch4 = tfrt_dht.tensor_allclose.ui32 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.ui32 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.ui32 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.ui32 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.ui32 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.ui32 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.ui32 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.ui32 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.ui32 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.ui32 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui64'
func @ui64() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.ui64.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui64 %x, %ch0 100 : ui64
  %same = tfrt_dht.create_uninitialized_tensor.ui64.1 [1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.ui64 %same, %ch1 100 : ui64
  %next = tfrt_dht.create_uninitialized_tensor.ui64.1 [1 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.ui64 %next, %ch2 101 : ui64
  %near2, %ch4 = tfrt_dht.tensor_allclose.ui64 %x, %same, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %near2, %ch4
  %far2, %ch6 = tfrt_dht.tensor_allclose.ui64 %x, %next, %ch5
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %far2, %ch6
  %near3, %ch8 = tfrt_dht.tensor_allclose.3ulp.ui64 %x, %same, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near3, %ch8
  %far3, %ch10 = tfrt_dht.tensor_allclose.3ulp.ui64 %x, %next, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far3, %ch10
  %near1000, %ch12 = tfrt_dht.tensor_allclose.1000ulp.ui64 %x, %same, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near1000, %ch12
  %far1000, %ch14 = tfrt_dht.tensor_allclose.1000ulp.ui64 %x, %next, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far1000, %ch14
  %near2000, %ch16 = tfrt_dht.tensor_allclose.2000ulp.ui64 %x, %same, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near2000, %ch16
  %far2000, %ch18 = tfrt_dht.tensor_allclose.2000ulp.ui64 %x, %next, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far2000, %ch18
  %near100000, %ch20 = tfrt_dht.tensor_allclose.100000ulp.ui64 %x, %same, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near100000, %ch20
  %far100000, %ch22 = tfrt_dht.tensor_allclose.100000ulp.ui64 %x, %next, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far100000, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'shapes'
func @shapes() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %x, %ch0 1 : i32
  %y = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 1 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.i32 %y, %ch1 1 : i32
  // Equal elements do not make up for unequal shapes.
  %close, %ch3 = tfrt_dht.tensor_allclose.i32 %x, %y, %ch2
  // CHECK-NEXT: int1 = 0
  %ch4 = tfrt.print.i1 %close, %ch3
  tfrt.return
}
