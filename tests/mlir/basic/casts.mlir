// Casts between all scalar types.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'casts_from.i1'
func @casts_from.i1() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i1 1
  %v2 = tfrt.cast.i1_to_i8 %v1
  // CHECK-NEXT: int8 = 1
  %ch1 = tfrt.print.i8 %v2, %ch0
  %v3 = tfrt.cast.i1_to_i16 %v1
  // CHECK-NEXT: int16 = 1
  %ch2 = tfrt.print.i16 %v3, %ch1
  %v4 = tfrt.cast.i1_to_i32 %v1
  // CHECK-NEXT: int32 = 1
  %ch3 = tfrt.print.i32 %v4, %ch2
  %v5 = tfrt.cast.i1_to_i64 %v1
  // CHECK-NEXT: int64 = 1
  %ch4 = tfrt.print.i64 %v5, %ch3
  %v6 = tfrt.cast.i1_to_ui8 %v1
  // CHECK-NEXT: uint8 = 1
  %ch5 = tfrt.print.ui8 %v6, %ch4
  %v7 = tfrt.cast.i1_to_ui16 %v1
  // CHECK-NEXT: uint16 = 1
  %ch6 = tfrt.print.ui16 %v7, %ch5
  %v8 = tfrt.cast.i1_to_ui32 %v1
  // CHECK-NEXT: uint32 = 1
  %ch7 = tfrt.print.ui32 %v8, %ch6
  %v9 = tfrt.cast.i1_to_ui64 %v1
  // CHECK-NEXT: uint64 = 1
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.i1_to_f16 %v1
  // CHECK-NEXT: f16 = 1.000000
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.i1_to_bf16 %v1
  // CHECK-NEXT: bf16 = 1.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.i1_to_f32 %v1
  // CHECK-NEXT: f32 = 1.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.i1_to_f64 %v1
  // CHECK-NEXT: f64 = 1.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.i8'
func @casts_from.i8() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i8 -2
  %v2 = tfrt.cast.i8_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.i8_to_i16 %v1
  // CHECK-NEXT: int16 = -2
  %ch2 = tfrt.print.i16 %v3, %ch1
  %v4 = tfrt.cast.i8_to_i32 %v1
  // CHECK-NEXT: int32 = -2
  %ch3 = tfrt.print.i32 %v4, %ch2
  %v5 = tfrt.cast.i8_to_i64 %v1
  // CHECK-NEXT: int64 = -2
  %ch4 = tfrt.print.i64 %v5, %ch3
  %v6 = tfrt.cast.i8_to_ui8 %v1
  // CHECK-NEXT: uint8 = 254
  %ch5 = tfrt.print.ui8 %v6, %ch4
  %v7 = tfrt.cast.i8_to_ui16 %v1
  // CHECK-NEXT: uint16 = 65534
  %ch6 = tfrt.print.ui16 %v7, %ch5
  %v8 = tfrt.cast.i8_to_ui32 %v1
  // CHECK-NEXT: uint32 = 4294967294
  %ch7 = tfrt.print.ui32 %v8, %ch6
  %v9 = tfrt.cast.i8_to_ui64 %v1
  // CHECK-NEXT: uint64 = 18446744073709551614
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.i8_to_f16 %v1
  // CHECK-NEXT: f16 = -2.000000
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.i8_to_bf16 %v1
  // CHECK-NEXT: bf16 = -2.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.i8_to_f32 %v1
  // CHECK-NEXT: f32 = -2.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.i8_to_f64 %v1
  // CHECK-NEXT: f64 = -2.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.i16'
func @casts_from.i16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i16 -2
  %v2 = tfrt.cast.i16_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.i16_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.i16_to_i32 %v1
  // CHECK-NEXT: int32 = -2
  %ch3 = tfrt.print.i32 %v4, %ch2
  %v5 = tfrt.cast.i16_to_i64 %v1
  // CHECK-NEXT: int64 = -2
  %ch4 = tfrt.print.i64 %v5, %ch3
  %v6 = tfrt.cast.i16_to_ui8 %v1
  // CHECK-NEXT: uint8 = 254
  %ch5 = tfrt.print.ui8 %v6, %ch4
  %v7 = tfrt.cast.i16_to_ui16 %v1
  // CHECK-NEXT: uint16 = 65534
  %ch6 = tfrt.print.ui16 %v7, %ch5
  %v8 = tfrt.cast.i16_to_ui32 %v1
  // CHECK-NEXT: uint32 = 4294967294
  %ch7 = tfrt.print.ui32 %v8, %ch6
  %v9 = tfrt.cast.i16_to_ui64 %v1
  // CHECK-NEXT: uint64 = 18446744073709551614
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.i16_to_f16 %v1
  // CHECK-NEXT: f16 = -2.000000
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.i16_to_bf16 %v1
  // CHECK-NEXT: bf16 = -2.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.i16_to_f32 %v1
  // CHECK-NEXT: f32 = -2.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.i16_to_f64 %v1
  // CHECK-NEXT: f64 = -2.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.i32'
func @casts_from.i32() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i32 -2
  %v2 = tfrt.cast.i32_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.i32_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.i32_to_i16 %v1
  // CHECK-NEXT: int16 = -2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.i32_to_i64 %v1
  // CHECK-NEXT: int64 = -2
  %ch4 = tfrt.print.i64 %v5, %ch3
  %v6 = tfrt.cast.i32_to_ui8 %v1
  // CHECK-NEXT: uint8 = 254
  %ch5 = tfrt.print.ui8 %v6, %ch4
  %v7 = tfrt.cast.i32_to_ui16 %v1
  // CHECK-NEXT: uint16 = 65534
  %ch6 = tfrt.print.ui16 %v7, %ch5
  %v8 = tfrt.cast.i32_to_ui32 %v1
  // CHECK-NEXT: uint32 = 4294967294
  %ch7 = tfrt.print.ui32 %v8, %ch6
  %v9 = tfrt.cast.i32_to_ui64 %v1
  // CHECK-NEXT: uint64 = 18446744073709551614
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.i32_to_f16 %v1
  // CHECK-NEXT: f16 = -2.000000
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.i32_to_bf16 %v1
  // CHECK-NEXT: bf16 = -2.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.i32_to_f32 %v1
  // CHECK-NEXT: f32 = -2.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.i32_to_f64 %v1
  // CHECK-NEXT: f64 = -2.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.i64'
func @casts_from.i64() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i64 -2
  %v2 = tfrt.cast.i64_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.i64_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.i64_to_i16 %v1
  // CHECK-NEXT: int16 = -2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.i64_to_i32 %v1
  // CHECK-NEXT: int32 = -2
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.i64_to_ui8 %v1
  // CHECK-NEXT: uint8 = 254
  %ch5 = tfrt.print.ui8 %v6, %ch4
  %v7 = tfrt.cast.i64_to_ui16 %v1
  // CHECK-NEXT: uint16 = 65534
  %ch6 = tfrt.print.ui16 %v7, %ch5
  %v8 = tfrt.cast.i64_to_ui32 %v1
  // CHECK-NEXT: uint32 = 4294967294
  %ch7 = tfrt.print.ui32 %v8, %ch6
  %v9 = tfrt.cast.i64_to_ui64 %v1
  // CHECK-NEXT: uint64 = 18446744073709551614
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.i64_to_f16 %v1
  // CHECK-NEXT: f16 = -2.000000
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.i64_to_bf16 %v1
  // CHECK-NEXT: bf16 = -2.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.i64_to_f32 %v1
  // CHECK-NEXT: f32 = -2.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.i64_to_f64 %v1
  // CHECK-NEXT: f64 = -2.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.ui8'
func @casts_from.ui8() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui8 254
  %v2 = tfrt.cast.ui8_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.ui8_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.ui8_to_i16 %v1
  // CHECK-NEXT: int16 = 254
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.ui8_to_i32 %v1
  // CHECK-NEXT: int32 = 254
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.ui8_to_i64 %v1
  // CHECK-NEXT: int64 = 254
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.ui8_to_ui16 %v1
  // CHECK-NEXT: uint16 = 254
  %ch6 = tfrt.print.ui16 %v7, %ch5
  %v8 = tfrt.cast.ui8_to_ui32 %v1
  // CHECK-NEXT: uint32 = 254
  %ch7 = tfrt.print.ui32 %v8, %ch6
  %v9 = tfrt.cast.ui8_to_ui64 %v1
  // CHECK-NEXT: uint64 = 254
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.ui8_to_f16 %v1
  // CHECK-NEXT: f16 = 254.000000
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.ui8_to_bf16 %v1
  // CHECK-NEXT: bf16 = 254.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.ui8_to_f32 %v1
  // CHECK-NEXT: f32 = 254.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.ui8_to_f64 %v1
  // CHECK-NEXT: f64 = 254.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.ui16'
func @casts_from.ui16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui16 65534
  %v2 = tfrt.cast.ui16_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.ui16_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.ui16_to_i16 %v1
  // CHECK-NEXT: int16 = -2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.ui16_to_i32 %v1
  // CHECK-NEXT: int32 = 65534
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.ui16_to_i64 %v1
  // CHECK-NEXT: int64 = 65534
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.ui16_to_ui8 %v1
  // CHECK-NEXT: uint8 = 254
  %ch6 = tfrt.print.ui8 %v7, %ch5
  %v8 = tfrt.cast.ui16_to_ui32 %v1
  // CHECK-NEXT: uint32 = 65534
  %ch7 = tfrt.print.ui32 %v8, %ch6
  %v9 = tfrt.cast.ui16_to_ui64 %v1
  // CHECK-NEXT: uint64 = 65534
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.ui16_to_f16 %v1
  // CHECK-NEXT: f16 = inf
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.ui16_to_bf16 %v1
  // CHECK-NEXT: bf16 = 65536.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.ui16_to_f32 %v1
  // CHECK-NEXT: f32 = 65534.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.ui16_to_f64 %v1
  // CHECK-NEXT: f64 = 65534.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.ui32'
func @casts_from.ui32() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui32 4294967294
  %v2 = tfrt.cast.ui32_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.ui32_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.ui32_to_i16 %v1
  // CHECK-NEXT: int16 = -2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.ui32_to_i32 %v1
  // CHECK-NEXT: int32 = -2
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.ui32_to_i64 %v1
  // CHECK-NEXT: int64 = 4294967294
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.ui32_to_ui8 %v1
  // CHECK-NEXT: uint8 = 254
  %ch6 = tfrt.print.ui8 %v7, %ch5
  %v8 = tfrt.cast.ui32_to_ui16 %v1
  // CHECK-NEXT: uint16 = 65534
  %ch7 = tfrt.print.ui16 %v8, %ch6
  %v9 = tfrt.cast.ui32_to_ui64 %v1
  // CHECK-NEXT: uint64 = 4294967294
  %ch8 = tfrt.print.ui64 %v9, %ch7
  %v10 = tfrt.cast.ui32_to_f16 %v1
  // CHECK-NEXT: f16 = inf
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.ui32_to_bf16 %v1
  // CHECK-NEXT: bf16 = 4294967296.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.ui32_to_f32 %v1
  // CHECK-NEXT: f32 = 4294967296.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.ui32_to_f64 %v1
  // CHECK-NEXT: f64 = 4294967294.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.ui64'
func @casts_from.ui64() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.ui64 18446744073709551614
  %v2 = tfrt.cast.ui64_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.ui64_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.ui64_to_i16 %v1
  // CHECK-NEXT: int16 = -2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.ui64_to_i32 %v1
  // CHECK-NEXT: int32 = -2
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.ui64_to_i64 %v1
  // CHECK-NEXT: int64 = -2
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.ui64_to_ui8 %v1
  // CHECK-NEXT: uint8 = 254
  %ch6 = tfrt.print.ui8 %v7, %ch5
  %v8 = tfrt.cast.ui64_to_ui16 %v1
  // CHECK-NEXT: uint16 = 65534
  %ch7 = tfrt.print.ui16 %v8, %ch6
  %v9 = tfrt.cast.ui64_to_ui32 %v1
  // CHECK-NEXT: uint32 = 4294967294
  %ch8 = tfrt.print.ui32 %v9, %ch7
  %v10 = tfrt.cast.ui64_to_f16 %v1
  // CHECK-NEXT: f16 = inf
  %ch9 = tfrt.print.f16 %v10, %ch8
  %v11 = tfrt.cast.ui64_to_bf16 %v1
  // CHECK-NEXT: bf16 = 18446744073709551616.000000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.ui64_to_f32 %v1
  // CHECK-NEXT: f32 = 18446744073709551616.000000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.ui64_to_f64 %v1
  // CHECK-NEXT: f64 = 18446744073709551616.000000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.f16'
func @casts_from.f16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.f16 2.5
  %v2 = tfrt.cast.f16_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.f16_to_i8 %v1
  // CHECK-NEXT: int8 = 2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.f16_to_i16 %v1
  // CHECK-NEXT: int16 = 2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.f16_to_i32 %v1
  // CHECK-NEXT: int32 = 2
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.f16_to_i64 %v1
  // CHECK-NEXT: int64 = 2
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.f16_to_ui8 %v1
  // CHECK-NEXT: uint8 = 2
  %ch6 = tfrt.print.ui8 %v7, %ch5
  %v8 = tfrt.cast.f16_to_ui16 %v1
  // CHECK-NEXT: uint16 = 2
  %ch7 = tfrt.print.ui16 %v8, %ch6
  %v9 = tfrt.cast.f16_to_ui32 %v1
  // CHECK-NEXT: uint32 = 2
  %ch8 = tfrt.print.ui32 %v9, %ch7
  %v10 = tfrt.cast.f16_to_ui64 %v1
  // CHECK-NEXT: uint64 = 2
  %ch9 = tfrt.print.ui64 %v10, %ch8
  %v11 = tfrt.cast.f16_to_bf16 %v1
  // CHECK-NEXT: bf16 = 2.500000
  %ch10 = tfrt.print.bf16 %v11, %ch9
  %v12 = tfrt.cast.f16_to_f32 %v1
  // CHECK-NEXT: f32 = 2.500000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.f16_to_f64 %v1
  // CHECK-NEXT: f64 = 2.500000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.bf16'
func @casts_from.bf16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.bf16 2.5
  %v2 = tfrt.cast.bf16_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.bf16_to_i8 %v1
  // CHECK-NEXT: int8 = 2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.bf16_to_i16 %v1
  // CHECK-NEXT: int16 = 2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.bf16_to_i32 %v1
  // CHECK-NEXT: int32 = 2
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.bf16_to_i64 %v1
  // CHECK-NEXT: int64 = 2
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.bf16_to_ui8 %v1
  // CHECK-NEXT: uint8 = 2
  %ch6 = tfrt.print.ui8 %v7, %ch5
  %v8 = tfrt.cast.bf16_to_ui16 %v1
  // CHECK-NEXT: uint16 = 2
  %ch7 = tfrt.print.ui16 %v8, %ch6
  %v9 = tfrt.cast.bf16_to_ui32 %v1
  // CHECK-NEXT: uint32 = 2
  %ch8 = tfrt.print.ui32 %v9, %ch7
  %v10 = tfrt.cast.bf16_to_ui64 %v1
  // CHECK-NEXT: uint64 = 2
  %ch9 = tfrt.print.ui64 %v10, %ch8
  %v11 = tfrt.cast.bf16_to_f16 %v1
  // CHECK-NEXT: f16 = 2.500000
  %ch10 = tfrt.print.f16 %v11, %ch9
  %v12 = tfrt.cast.bf16_to_f32 %v1
  // CHECK-NEXT: f32 = 2.500000
  %ch11 = tfrt.print.f32 %v12, %ch10
  %v13 = tfrt.cast.bf16_to_f64 %v1
  // CHECK-NEXT: f64 = 2.500000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.f32'
func @casts_from.f32() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.f32 -2.5
  %v2 = tfrt.cast.f32_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.f32_to_i8 %v1
  // CHECK-NEXT: int8 = -2
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.f32_to_i16 %v1
  // CHECK-NEXT: int16 = -2
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.f32_to_i32 %v1
  // CHECK-NEXT: int32 = -2
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.f32_to_i64 %v1
  // CHECK-NEXT: int64 = -2
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.f32_to_ui8 %v1
  // CHECK-NEXT: uint8 = 0
  %ch6 = tfrt.print.ui8 %v7, %ch5
  %v8 = tfrt.cast.f32_to_ui16 %v1
  // CHECK-NEXT: uint16 = 0
  %ch7 = tfrt.print.ui16 %v8, %ch6
  %v9 = tfrt.cast.f32_to_ui32 %v1
  // CHECK-NEXT: uint32 = 0
  %ch8 = tfrt.print.ui32 %v9, %ch7
  %v10 = tfrt.cast.f32_to_ui64 %v1
  // CHECK-NEXT: uint64 = 0
  %ch9 = tfrt.print.ui64 %v10, %ch8
  %v11 = tfrt.cast.f32_to_f16 %v1
  // CHECK-NEXT: f16 = -2.500000
  %ch10 = tfrt.print.f16 %v11, %ch9
  %v12 = tfrt.cast.f32_to_bf16 %v1
  // CHECK-NEXT: bf16 = -2.500000
  %ch11 = tfrt.print.bf16 %v12, %ch10
  %v13 = tfrt.cast.f32_to_f64 %v1
  // CHECK-NEXT: f64 = -2.500000
  %ch12 = tfrt.print.f64 %v13, %ch11
  tfrt.return
}

// CHECK-LABEL: --- Running 'casts_from.f64'
func @casts_from.f64() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.f64 1.0e10
  %v2 = tfrt.cast.f64_to_i1 %v1
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %v2, %ch0
  %v3 = tfrt.cast.f64_to_i8 %v1
  // CHECK-NEXT: int8 = 127
  %ch2 = tfrt.print.i8 %v3, %ch1
  %v4 = tfrt.cast.f64_to_i16 %v1
  // CHECK-NEXT: int16 = 32767
  %ch3 = tfrt.print.i16 %v4, %ch2
  %v5 = tfrt.cast.f64_to_i32 %v1
  // CHECK-NEXT: int32 = 2147483647
  %ch4 = tfrt.print.i32 %v5, %ch3
  %v6 = tfrt.cast.f64_to_i64 %v1
  // CHECK-NEXT: int64 = 10000000000
  %ch5 = tfrt.print.i64 %v6, %ch4
  %v7 = tfrt.cast.f64_to_ui8 %v1
  // CHECK-NEXT: uint8 = 255
  %ch6 = tfrt.print.ui8 %v7, %ch5
  %v8 = tfrt.cast.f64_to_ui16 %v1
  // CHECK-NEXT: uint16 = 65535
  %ch7 = tfrt.print.ui16 %v8, %ch6
  %v9 = tfrt.cast.f64_to_ui32 %v1
  // CHECK-NEXT: uint32 = 4294967295
  %ch8 = tfrt.print.ui32 %v9, %ch7
  %v10 = tfrt.cast.f64_to_ui64 %v1
  // CHECK-NEXT: uint64 = 10000000000
  %ch9 = tfrt.print.ui64 %v10, %ch8
  %v11 = tfrt.cast.f64_to_f16 %v1
  // CHECK-NEXT: f16 = inf
  %ch10 = tfrt.print.f16 %v11, %ch9
  %v12 = tfrt.cast.f64_to_bf16 %v1
  // CHECK-NEXT: bf16 = 9999220736.000000
  %ch11 = tfrt.print.bf16 %v12, %ch10
  %v13 = tfrt.cast.f64_to_f32 %v1
  // CHECK-NEXT: f32 = 10000000000.000000
  %ch12 = tfrt.print.f32 %v13, %ch11
  tfrt.return
}
