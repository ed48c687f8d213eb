// Integers of all widths: arithmetic that wraps, order, bits.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'integers.i8'
func @integers.i8() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i8 127
  %v2 = tfrt.constant_s.i8 7
  %v3 = tfrt.constant.i8 -3
  %v4 = tfrt.add.i8 %v1, %v2
  // CHECK-NEXT: int8 = -122
  %ch1 = tfrt.print.i8 %v4, %ch0
  %v5 = tfrt.add_s.i8 %v2, %v3
  // CHECK-NEXT: int8 = 4
  %ch2 = tfrt.print.i8 %v5, %ch1
  %v6 = tfrt.minus.i8 %v3, %v2
  // CHECK-NEXT: int8 = -10
  %ch3 = tfrt.print.i8 %v6, %ch2
  %v7 = tfrt.minus_s.i8 %v2, %v3
  // CHECK-NEXT: int8 = 10
  %ch4 = tfrt.print.i8 %v7, %ch3
  %v8 = tfrt.mul.i8 %v1, %v2
  // CHECK-NEXT: int8 = 121
  %ch5 = tfrt.print.i8 %v8, %ch4
  %v9 = tfrt.mul_s.i8 %v2, %v3
  // CHECK-NEXT: int8 = -21
  %ch6 = tfrt.print.i8 %v9, %ch5
  %v10, %v11 = tfrt.div.i8 %v2, %v3
  // CHECK-NEXT: int8 = -2
  %ch7 = tfrt.print.i8 %v10, %ch6
  // CHECK-NEXT: int8 = 1
  %ch8 = tfrt.print.i8 %v11, %ch7
  %v12, %v13 = tfrt.div_s.i8 %v2, %v3
  // CHECK-NEXT: int8 = -2
  %ch9 = tfrt.print.i8 %v12, %ch8
  // CHECK-NEXT: int8 = 1
  %ch10 = tfrt.print.i8 %v13, %ch9
  %v14 = tfrt.rem.i8 %v2, %v3
  // CHECK-NEXT: int8 = 1
  %ch11 = tfrt.print.i8 %v14, %ch10
  %v15 = tfrt.neg.i8 %v2
  // CHECK-NEXT: int8 = -7
  %ch12 = tfrt.print.i8 %v15, %ch11
  %v16 = tfrt.minimum.i8 %v2, %v3
  // CHECK-NEXT: int8 = -3
  %ch13 = tfrt.print.i8 %v16, %ch12
  %v17 = tfrt.maximum.i8 %v2, %v3
  // CHECK-NEXT: int8 = 7
  %ch14 = tfrt.print.i8 %v17, %ch13
  %v18 = tfrt.and.i8 %v2, %v3
  // CHECK-NEXT: int8 = 5
  %ch15 = tfrt.print.i8 %v18, %ch14
  %v19 = tfrt.or.i8 %v2, %v3
  // CHECK-NEXT: int8 = -1
  %ch16 = tfrt.print.i8 %v19, %ch15
  %v20 = tfrt.xor.i8 %v2, %v3
  // CHECK-NEXT: int8 = -6
  %ch17 = tfrt.print.i8 %v20, %ch16
  %v21 = tfrt.not.i8 %v2
  // CHECK-NEXT: int8 = -8
  %ch18 = tfrt.print.i8 %v21, %ch17
  %v22 = tfrt.equal.i8 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.i8 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.i8 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.i8 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.i8 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.i8'
func @divide_by_zero.i8() -> (i8, i8, i8) {
  %zero = tfrt.constant.i8 0
  %one = tfrt.constant.i8 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.i8 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.i8 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.i8' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : i8, i8, i8
}

// CHECK-LABEL: --- Running 'integers.i16'
func @integers.i16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i16 32767
  %v2 = tfrt.constant_s.i16 7
  %v3 = tfrt.constant.i16 -3
  %v4 = tfrt.add.i16 %v1, %v2
  // CHECK-NEXT: int16 = -32762
  %ch1 = tfrt.print.i16 %v4, %ch0
  %v5 = tfrt.add_s.i16 %v2, %v3
  // CHECK-NEXT: int16 = 4
  %ch2 = tfrt.print.i16 %v5, %ch1
  %v6 = tfrt.minus.i16 %v3, %v2
  // CHECK-NEXT: int16 = -10
  %ch3 = tfrt.print.i16 %v6, %ch2
  %v7 = tfrt.minus_s.i16 %v2, %v3
  // CHECK-NEXT: int16 = 10
  %ch4 = tfrt.print.i16 %v7, %ch3
  %v8 = tfrt.mul.i16 %v1, %v2
  // CHECK-NEXT: int16 = 32761
  %ch5 = tfrt.print.i16 %v8, %ch4
  %v9 = tfrt.mul_s.i16 %v2, %v3
  // CHECK-NEXT: int16 = -21
  %ch6 = tfrt.print.i16 %v9, %ch5
  %v10, %v11 = tfrt.div.i16 %v2, %v3
  // CHECK-NEXT: int16 = -2
  %ch7 = tfrt.print.i16 %v10, %ch6
  // CHECK-NEXT: int16 = 1
  %ch8 = tfrt.print.i16 %v11, %ch7
  %v12, %v13 = tfrt.div_s.i16 %v2, %v3
  // CHECK-NEXT: int16 = -2
  %ch9 = tfrt.print.i16 %v12, %ch8
  // CHECK-NEXT: int16 = 1
  %ch10 = tfrt.print.i16 %v13, %ch9
  %v14 = tfrt.rem.i16 %v2, %v3
  // CHECK-NEXT: int16 = 1
  %ch11 = tfrt.print.i16 %v14, %ch10
  %v15 = tfrt.neg.i16 %v2
  // CHECK-NEXT: int16 = -7
  %ch12 = tfrt.print.i16 %v15, %ch11
  %v16 = tfrt.minimum.i16 %v2, %v3
  // CHECK-NEXT: int16 = -3
  %ch13 = tfrt.print.i16 %v16, %ch12
  %v17 = tfrt.maximum.i16 %v2, %v3
  // CHECK-NEXT: int16 = 7
  %ch14 = tfrt.print.i16 %v17, %ch13
  %v18 = tfrt.and.i16 %v2, %v3
  // CHECK-NEXT: int16 = 5
  %ch15 = tfrt.print.i16 %v18, %ch14
  %v19 = tfrt.or.i16 %v2, %v3
  // CHECK-NEXT: int16 = -1
  %ch16 = tfrt.print.i16 %v19, %ch15
  %v20 = tfrt.xor.i16 %v2, %v3
  // CHECK-NEXT: int16 = -6
  %ch17 = tfrt.print.i16 %v20, %ch16
  %v21 = tfrt.not.i16 %v2
  // CHECK-NEXT: int16 = -8
  %ch18 = tfrt.print.i16 %v21, %ch17
  %v22 = tfrt.equal.i16 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.i16 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.i16 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.i16 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.i16 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.i16'
func @divide_by_zero.i16() -> (i16, i16, i16) {
  %zero = tfrt.constant.i16 0
  %one = tfrt.constant.i16 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.i16 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.i16 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.i16' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : i16, i16, i16
}

// CHECK-LABEL: --- Running 'integers.i32'
func @integers.i32() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i32 2147483647
  %v2 = tfrt.constant_s.i32 7
  %v3 = tfrt.constant.i32 -3
  %v4 = tfrt.add.i32 %v1, %v2
  // CHECK-NEXT: int32 = -2147483642
  %ch1 = tfrt.print.i32 %v4, %ch0
  %v5 = tfrt.add_s.i32 %v2, %v3
  // CHECK-NEXT: int32 = 4
  %ch2 = tfrt.print.i32 %v5, %ch1
  %v6 = tfrt.minus.i32 %v3, %v2
  // CHECK-NEXT: int32 = -10
  %ch3 = tfrt.print.i32 %v6, %ch2
  %v7 = tfrt.minus_s.i32 %v2, %v3
  // CHECK-NEXT: int32 = 10
  %ch4 = tfrt.print.i32 %v7, %ch3
  %v8 = tfrt.mul.i32 %v1, %v2
  // CHECK-NEXT: int32 = 2147483641
  %ch5 = tfrt.print.i32 %v8, %ch4
  %v9 = tfrt.mul_s.i32 %v2, %v3
  // CHECK-NEXT: int32 = -21
  %ch6 = tfrt.print.i32 %v9, %ch5
  %v10, %v11 = tfrt.div.i32 %v2, %v3
  // CHECK-NEXT: int32 = -2
  %ch7 = tfrt.print.i32 %v10, %ch6
  // CHECK-NEXT: int32 = 1
  %ch8 = tfrt.print.i32 %v11, %ch7
  %v12, %v13 = tfrt.div_s.i32 %v2, %v3
  // CHECK-NEXT: int32 = -2
  %ch9 = tfrt.print.i32 %v12, %ch8
  // CHECK-NEXT: int32 = 1
  %ch10 = tfrt.print.i32 %v13, %ch9
  %v14 = tfrt.rem.i32 %v2, %v3
  // CHECK-NEXT: int32 = 1
  %ch11 = tfrt.print.i32 %v14, %ch10
  %v15 = tfrt.neg.i32 %v2
  // CHECK-NEXT: int32 = -7
  %ch12 = tfrt.print.i32 %v15, %ch11
  %v16 = tfrt.minimum.i32 %v2, %v3
  // CHECK-NEXT: int32 = -3
  %ch13 = tfrt.print.i32 %v16, %ch12
  %v17 = tfrt.maximum.i32 %v2, %v3
  // CHECK-NEXT: int32 = 7
  %ch14 = tfrt.print.i32 %v17, %ch13
  %v18 = tfrt.and.i32 %v2, %v3
  // CHECK-NEXT: int32 = 5
  %ch15 = tfrt.print.i32 %v18, %ch14
  %v19 = tfrt.or.i32 %v2, %v3
  // CHECK-NEXT: int32 = -1
  %ch16 = tfrt.print.i32 %v19, %ch15
  %v20 = tfrt.xor.i32 %v2, %v3
  // CHECK-NEXT: int32 = -6
  %ch17 = tfrt.print.i32 %v20, %ch16
  %v21 = tfrt.not.i32 %v2
  // CHECK-NEXT: int32 = -8
  %ch18 = tfrt.print.i32 %v21, %ch17
  %v22 = tfrt.equal.i32 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.i32 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.i32 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.i32 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.i32 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.i32'
func @divide_by_zero.i32() -> (i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.i32 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.i32 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.i32' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : i32, i32, i32
}

// CHECK-LABEL: --- Running 'integers.i64'
func @integers.i64() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i64 9223372036854775807
  %v2 = tfrt.constant_s.i64 7
  %v3 = tfrt.constant.i64 -3
  %v4 = tfrt.add.i64 %v1, %v2
  // CHECK-NEXT: int64 = -9223372036854775802
  %ch1 = tfrt.print.i64 %v4, %ch0
  %v5 = tfrt.add_s.i64 %v2, %v3
  // CHECK-NEXT: int64 = 4
  %ch2 = tfrt.print.i64 %v5, %ch1
  %v6 = tfrt.minus.i64 %v3, %v2
  // CHECK-NEXT: int64 = -10
  %ch3 = tfrt.print.i64 %v6, %ch2
  %v7 = tfrt.minus_s.i64 %v2, %v3
  // CHECK-NEXT: int64 = 10
  %ch4 = tfrt.print.i64 %v7, %ch3
  %v8 = tfrt.mul.i64 %v1, %v2
  // CHECK-NEXT: int64 = 9223372036854775801
  %ch5 = tfrt.print.i64 %v8, %ch4
  %v9 = tfrt.mul_s.i64 %v2, %v3
  // CHECK-NEXT: int64 = -21
  %ch6 = tfrt.print.i64 %v9, %ch5
  %v10, %v11 = tfrt.div.i64 %v2, %v3
  // CHECK-NEXT: int64 = -2
  %ch7 = tfrt.print.i64 %v10, %ch6
  // CHECK-NEXT: int64 = 1
  %ch8 = tfrt.print.i64 %v11, %ch7
  %v12, %v13 = tfrt.div_s.i64 %v2, %v3
  // CHECK-NEXT: int64 = -2
  %ch9 = tfrt.print.i64 %v12, %ch8
  // CHECK-NEXT: int64 = 1
  %ch10 = tfrt.print.i64 %v13, %ch9
  %v14 = tfrt.rem.i64 %v2, %v3
  // CHECK-NEXT: int64 = 1
  %ch11 = tfrt.print.i64 %v14, %ch10
  %v15 = tfrt.neg.i64 %v2
  // CHECK-NEXT: int64 = -7
  %ch12 = tfrt.print.i64 %v15, %ch11
  %v16 = tfrt.minimum.i64 %v2, %v3
  // CHECK-NEXT: int64 = -3
  %ch13 = tfrt.print.i64 %v16, %ch12
  %v17 = tfrt.maximum.i64 %v2, %v3
  // CHECK-NEXT: int64 = 7
  %ch14 = tfrt.print.i64 %v17, %ch13
  %v18 = tfrt.and.i64 %v2, %v3
  // CHECK-NEXT: int64 = 5
  %ch15 = tfrt.print.i64 %v18, %ch14
  %v19 = tfrt.or.i64 %v2, %v3
  // CHECK-NEXT: int64 = -1
  %ch16 = tfrt.print.i64 %v19, %ch15
  %v20 = tfrt.xor.i64 %v2, %v3
  // CHECK-NEXT: int64 = -6
  %ch17 = tfrt.print.i64 %v20, %ch16
  %v21 = tfrt.not.i64 %v2
  // CHECK-NEXT: int64 = -8
  %ch18 = tfrt.print.i64 %v21, %ch17
  %v22 = tfrt.equal.i64 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.i64 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.i64 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.i64 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.i64 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.i64'
func @divide_by_zero.i64() -> (i64, i64, i64) {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.i64 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.i64 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.i64' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : i64, i64, i64
}

// CHECK-LABEL: --- Running 'integers.ui8'
func @integers.ui8() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui8 255
  %v2 = tfrt.constant_s.ui8 7
  %v3 = tfrt.constant.ui8 3
  %v4 = tfrt.add.ui8 %v1, %v2
  // CHECK-NEXT: uint8 = 6
  %ch1 = tfrt.print.ui8 %v4, %ch0
  %v5 = tfrt.add_s.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 10
  %ch2 = tfrt.print.ui8 %v5, %ch1
  %v6 = tfrt.minus.ui8 %v3, %v2
  // CHECK-NEXT: uint8 = 252
  %ch3 = tfrt.print.ui8 %v6, %ch2
  %v7 = tfrt.minus_s.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 4
  %ch4 = tfrt.print.ui8 %v7, %ch3
  %v8 = tfrt.mul.ui8 %v1, %v2
  // CHECK-NEXT: uint8 = 249
  %ch5 = tfrt.print.ui8 %v8, %ch4
  %v9 = tfrt.mul_s.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 21
  %ch6 = tfrt.print.ui8 %v9, %ch5
  %v10, %v11 = tfrt.div.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 2
  %ch7 = tfrt.print.ui8 %v10, %ch6
  // CHECK-NEXT: uint8 = 1
  %ch8 = tfrt.print.ui8 %v11, %ch7
  %v12, %v13 = tfrt.div_s.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 2
  %ch9 = tfrt.print.ui8 %v12, %ch8
  // CHECK-NEXT: uint8 = 1
  %ch10 = tfrt.print.ui8 %v13, %ch9
  %v14 = tfrt.rem.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 1
  %ch11 = tfrt.print.ui8 %v14, %ch10
  %v15 = tfrt.neg.ui8 %v2
  // CHECK-NEXT: uint8 = 249
  %ch12 = tfrt.print.ui8 %v15, %ch11
  %v16 = tfrt.minimum.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 3
  %ch13 = tfrt.print.ui8 %v16, %ch12
  %v17 = tfrt.maximum.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 7
  %ch14 = tfrt.print.ui8 %v17, %ch13
  %v18 = tfrt.and.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 3
  %ch15 = tfrt.print.ui8 %v18, %ch14
  %v19 = tfrt.or.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 7
  %ch16 = tfrt.print.ui8 %v19, %ch15
  %v20 = tfrt.xor.ui8 %v2, %v3
  // CHECK-NEXT: uint8 = 4
  %ch17 = tfrt.print.ui8 %v20, %ch16
  %v21 = tfrt.not.ui8 %v2
  // CHECK-NEXT: uint8 = 248
  %ch18 = tfrt.print.ui8 %v21, %ch17
  %v22 = tfrt.equal.ui8 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.ui8 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.ui8 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.ui8 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.ui8 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.ui8'
func @divide_by_zero.ui8() -> (ui8, ui8, ui8) {
  %zero = tfrt.constant.ui8 0
  %one = tfrt.constant.ui8 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.ui8 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.ui8 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.ui8' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : ui8, ui8, ui8
}

// CHECK-LABEL: --- Running 'integers.ui16'
func @integers.ui16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui16 65535
  %v2 = tfrt.constant_s.ui16 7
  %v3 = tfrt.constant.ui16 3
  %v4 = tfrt.add.ui16 %v1, %v2
  // CHECK-NEXT: uint16 = 6
  %ch1 = tfrt.print.ui16 %v4, %ch0
  %v5 = tfrt.add_s.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 10
  %ch2 = tfrt.print.ui16 %v5, %ch1
  %v6 = tfrt.minus.ui16 %v3, %v2
  // CHECK-NEXT: uint16 = 65532
  %ch3 = tfrt.print.ui16 %v6, %ch2
  %v7 = tfrt.minus_s.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 4
  %ch4 = tfrt.print.ui16 %v7, %ch3
  %v8 = tfrt.mul.ui16 %v1, %v2
  // CHECK-NEXT: uint16 = 65529
  %ch5 = tfrt.print.ui16 %v8, %ch4
  %v9 = tfrt.mul_s.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 21
  %ch6 = tfrt.print.ui16 %v9, %ch5
  %v10, %v11 = tfrt.div.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 2
  %ch7 = tfrt.print.ui16 %v10, %ch6
  // CHECK-NEXT: uint16 = 1
  %ch8 = tfrt.print.ui16 %v11, %ch7
  %v12, %v13 = tfrt.div_s.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 2
  %ch9 = tfrt.print.ui16 %v12, %ch8
  // CHECK-NEXT: uint16 = 1
  %ch10 = tfrt.print.ui16 %v13, %ch9
  %v14 = tfrt.rem.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 1
  %ch11 = tfrt.print.ui16 %v14, %ch10
  %v15 = tfrt.neg.ui16 %v2
  // CHECK-NEXT: uint16 = 65529
  %ch12 = tfrt.print.ui16 %v15, %ch11
  %v16 = tfrt.minimum.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 3
  %ch13 = tfrt.print.ui16 %v16, %ch12
  %v17 = tfrt.maximum.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 7
  %ch14 = tfrt.print.ui16 %v17, %ch13
  %v18 = tfrt.and.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 3
  %ch15 = tfrt.print.ui16 %v18, %ch14
  %v19 = tfrt.or.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 7
  %ch16 = tfrt.print.ui16 %v19, %ch15
  %v20 = tfrt.xor.ui16 %v2, %v3
  // CHECK-NEXT: uint16 = 4
  %ch17 = tfrt.print.ui16 %v20, %ch16
  %v21 = tfrt.not.ui16 %v2
  // CHECK-NEXT: uint16 = 65528
  %ch18 = tfrt.print.ui16 %v21, %ch17
  %v22 = tfrt.equal.ui16 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.ui16 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.ui16 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.ui16 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.ui16 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.ui16'
func @divide_by_zero.ui16() -> (ui16, ui16, ui16) {
  %zero = tfrt.constant.ui16 0
  %one = tfrt.constant.ui16 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.ui16 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.ui16 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.ui16' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : ui16, ui16, ui16
}

// CHECK-LABEL: --- Running 'integers.ui32'
func @integers.ui32() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui32 4294967295
  %v2 = tfrt.constant_s.ui32 7
  %v3 = tfrt.constant.ui32 3
  %v4 = tfrt.add.ui32 %v1, %v2
  // CHECK-NEXT: uint32 = 6
  %ch1 = tfrt.print.ui32 %v4, %ch0
  %v5 = tfrt.add_s.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 10
  %ch2 = tfrt.print.ui32 %v5, %ch1
  %v6 = tfrt.minus.ui32 %v3, %v2
  // CHECK-NEXT: uint32 = 4294967292
  %ch3 = tfrt.print.ui32 %v6, %ch2
  %v7 = tfrt.minus_s.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 4
  %ch4 = tfrt.print.ui32 %v7, %ch3
  %v8 = tfrt.mul.ui32 %v1, %v2
  // CHECK-NEXT: uint32 = 4294967289
  %ch5 = tfrt.print.ui32 %v8, %ch4
  %v9 = tfrt.mul_s.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 21
  %ch6 = tfrt.print.ui32 %v9, %ch5
  %v10, %v11 = tfrt.div.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 2
  %ch7 = tfrt.print.ui32 %v10, %ch6
  // CHECK-NEXT: uint32 = 1
  %ch8 = tfrt.print.ui32 %v11, %ch7
  %v12, %v13 = tfrt.div_s.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 2
  %ch9 = tfrt.print.ui32 %v12, %ch8
  // CHECK-NEXT: uint32 = 1
  %ch10 = tfrt.print.ui32 %v13, %ch9
  %v14 = tfrt.rem.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 1
  %ch11 = tfrt.print.ui32 %v14, %ch10
  %v15 = tfrt.neg.ui32 %v2
  // CHECK-NEXT: uint32 = 4294967289
  %ch12 = tfrt.print.ui32 %v15, %ch11
  %v16 = tfrt.minimum.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 3
  %ch13 = tfrt.print.ui32 %v16, %ch12
  %v17 = tfrt.maximum.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 7
  %ch14 = tfrt.print.ui32 %v17, %ch13
  %v18 = tfrt.and.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 3
  %ch15 = tfrt.print.ui32 %v18, %ch14
  %v19 = tfrt.or.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 7
  %ch16 = tfrt.print.ui32 %v19, %ch15
  %v20 = tfrt.xor.ui32 %v2, %v3
  // CHECK-NEXT: uint32 = 4
  %ch17 = tfrt.print.ui32 %v20, %ch16
  %v21 = tfrt.not.ui32 %v2
  // CHECK-NEXT: uint32 = 4294967288
  %ch18 = tfrt.print.ui32 %v21, %ch17
  %v22 = tfrt.equal.ui32 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.ui32 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.ui32 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.ui32 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.ui32 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.ui32'
func @divide_by_zero.ui32() -> (ui32, ui32, ui32) {
  %zero = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.ui32 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.ui32 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.ui32' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : ui32, ui32, ui32
}

// CHECK-LABEL: --- Running 'integers.ui64'
func @integers.ui64() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui64 18446744073709551615
  %v2 = tfrt.constant_s.ui64 7
  %v3 = tfrt.constant.ui64 3
  %v4 = tfrt.add.ui64 %v1, %v2
  // CHECK-NEXT: uint64 = 6
  %ch1 = tfrt.print.ui64 %v4, %ch0
  %v5 = tfrt.add_s.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 10
  %ch2 = tfrt.print.ui64 %v5, %ch1
  %v6 = tfrt.minus.ui64 %v3, %v2
  // CHECK-NEXT: uint64 = 18446744073709551612
  %ch3 = tfrt.print.ui64 %v6, %ch2
  %v7 = tfrt.minus_s.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 4
  %ch4 = tfrt.print.ui64 %v7, %ch3
  %v8 = tfrt.mul.ui64 %v1, %v2
  // CHECK-NEXT: uint64 = 18446744073709551609
  %ch5 = tfrt.print.ui64 %v8, %ch4
  %v9 = tfrt.mul_s.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 21
  %ch6 = tfrt.print.ui64 %v9, %ch5
  %v10, %v11 = tfrt.div.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 2
  %ch7 = tfrt.print.ui64 %v10, %ch6
  // CHECK-NEXT: uint64 = 1
  %ch8 = tfrt.print.ui64 %v11, %ch7
  %v12, %v13 = tfrt.div_s.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 2
  %ch9 = tfrt.print.ui64 %v12, %ch8
  // CHECK-NEXT: uint64 = 1
  %ch10 = tfrt.print.ui64 %v13, %ch9
  %v14 = tfrt.rem.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 1
  %ch11 = tfrt.print.ui64 %v14, %ch10
  %v15 = tfrt.neg.ui64 %v2
  // CHECK-NEXT: uint64 = 18446744073709551609
  %ch12 = tfrt.print.ui64 %v15, %ch11
  %v16 = tfrt.minimum.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 3
  %ch13 = tfrt.print.ui64 %v16, %ch12
  %v17 = tfrt.maximum.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 7
  %ch14 = tfrt.print.ui64 %v17, %ch13
  %v18 = tfrt.and.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 3
  %ch15 = tfrt.print.ui64 %v18, %ch14
  %v19 = tfrt.or.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 7
  %ch16 = tfrt.print.ui64 %v19, %ch15
  %v20 = tfrt.xor.ui64 %v2, %v3
  // CHECK-NEXT: uint64 = 4
  %ch17 = tfrt.print.ui64 %v20, %ch16
  %v21 = tfrt.not.ui64 %v2
  // CHECK-NEXT: uint64 = 18446744073709551608
  %ch18 = tfrt.print.ui64 %v21, %ch17
  %v22 = tfrt.equal.ui64 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %v22, %ch18
  %v23 = tfrt.notequal.ui64 %v2, %v3
  // CHECK-NEXT: int1 = 1
  %ch20 = tfrt.print.i1 %v23, %ch19
  %v24 = tfrt.less.ui64 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch21 = tfrt.print.i1 %v24, %ch20
  %v25 = tfrt.lessequal.ui64 %v2, %v3
  // CHECK-NEXT: int1 = 0
  %ch22 = tfrt.print.i1 %v25, %ch21
  %v26 = tfrt.lessequal.ui64 %v2, %v2
  // CHECK-NEXT: int1 = 1
  %ch23 = tfrt.print.i1 %v26, %ch22
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.ui64'
func @divide_by_zero.ui64() -> (ui64, ui64, ui64) {
  %zero = tfrt.constant.ui64 0
  %one = tfrt.constant.ui64 1
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient, %remainder = tfrt.div.ui64 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %rem = tfrt.rem.ui64 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.ui64' returned <<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder, %rem : ui64, ui64, ui64
}
