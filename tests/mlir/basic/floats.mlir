// Floats of all widths: arithmetic, order.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'floats.f16'
func @floats.f16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.f16 1.5
  %v2 = tfrt.constant_s.f16 -4.0
  %v3 = tfrt.add.f16 %v1, %v2
  // CHECK-NEXT: f16 = -2.500000
  %ch1 = tfrt.print.f16 %v3, %ch0
  %v4 = tfrt.add_s.f16 %v1, %v2
  // CHECK-NEXT: f16 = -2.500000
  %ch2 = tfrt.print.f16 %v4, %ch1
  %v5 = tfrt.minus.f16 %v1, %v2
  // CHECK-NEXT: f16 = 5.500000
  %ch3 = tfrt.print.f16 %v5, %ch2
  %v6 = tfrt.minus_s.f16 %v1, %v2
  // CHECK-NEXT: f16 = 5.500000
  %ch4 = tfrt.print.f16 %v6, %ch3
  %v7 = tfrt.mul.f16 %v1, %v2
  // CHECK-NEXT: f16 = -6.000000
  %ch5 = tfrt.print.f16 %v7, %ch4
  %v8 = tfrt.mul_s.f16 %v1, %v2
  // CHECK-NEXT: f16 = -6.000000
  %ch6 = tfrt.print.f16 %v8, %ch5
  %v9 = tfrt.multiply.f16 %v1, %v2
  // CHECK-NEXT: f16 = -6.000000
  %ch7 = tfrt.print.f16 %v9, %ch6
  %v10 = tfrt.div.f16 %v1, %v2
  // CHECK-NEXT: f16 = -0.375000
  %ch8 = tfrt.print.f16 %v10, %ch7
  %v11 = tfrt.div_s.f16 %v1, %v2
  // CHECK-NEXT: f16 = -0.375000
  %ch9 = tfrt.print.f16 %v11, %ch8
  %v12 = tfrt.rem.f16 %v1, %v2
  // CHECK-NEXT: f16 = 1.500000
  %ch10 = tfrt.print.f16 %v12, %ch9
  %v13 = tfrt.minimum.f16 %v1, %v2
  // CHECK-NEXT: f16 = -4.000000
  %ch11 = tfrt.print.f16 %v13, %ch10
  %v14 = tfrt.maximum.f16 %v1, %v2
  // CHECK-NEXT: f16 = 1.500000
  %ch12 = tfrt.print.f16 %v14, %ch11
  %v15 = tfrt.neg.f16 %v1
  // CHECK-NEXT: f16 = -1.500000
  %ch13 = tfrt.print.f16 %v15, %ch12
  %v16 = tfrt.equal.f16 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch14 = tfrt.print.i1 %v16, %ch13
  %v17 = tfrt.notequal.f16 %v1, %v2
  // CHECK-NEXT: int1 = 1
  %ch15 = tfrt.print.i1 %v17, %ch14
  %v18 = tfrt.less.f16 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch16 = tfrt.print.i1 %v18, %ch15
  %v19 = tfrt.lessequal.f16 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch17 = tfrt.print.i1 %v19, %ch16
  %v20 = tfrt.lessequal.f16 %v1, %v1
  // CHECK-NEXT: int1 = 1
  %ch18 = tfrt.print.i1 %v20, %ch17
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.f16'
func @divide_by_zero.f16() -> (f16, f16) {
  %zero = tfrt.constant.f16 0.0
  %one = tfrt.constant.f16 1.0
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient = tfrt.div.f16 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %remainder = tfrt.rem.f16 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.f16' returned <<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder : f16, f16
}

// CHECK-LABEL: --- Running 'floats.bf16'
func @floats.bf16() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.bf16 1.5
  %v2 = tfrt.constant_s.bf16 -4.0
  %v3 = tfrt.add.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -2.500000
  %ch1 = tfrt.print.bf16 %v3, %ch0
  %v4 = tfrt.add_s.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -2.500000
  %ch2 = tfrt.print.bf16 %v4, %ch1
  %v5 = tfrt.minus.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = 5.500000
  %ch3 = tfrt.print.bf16 %v5, %ch2
  %v6 = tfrt.minus_s.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = 5.500000
  %ch4 = tfrt.print.bf16 %v6, %ch3
  %v7 = tfrt.mul.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -6.000000
  %ch5 = tfrt.print.bf16 %v7, %ch4
  %v8 = tfrt.mul_s.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -6.000000
  %ch6 = tfrt.print.bf16 %v8, %ch5
  %v9 = tfrt.multiply.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -6.000000
  %ch7 = tfrt.print.bf16 %v9, %ch6
  %v10 = tfrt.div.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -0.375000
  %ch8 = tfrt.print.bf16 %v10, %ch7
  %v11 = tfrt.div_s.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -0.375000
  %ch9 = tfrt.print.bf16 %v11, %ch8
  %v12 = tfrt.rem.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = 1.500000
  %ch10 = tfrt.print.bf16 %v12, %ch9
  %v13 = tfrt.minimum.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = -4.000000
  %ch11 = tfrt.print.bf16 %v13, %ch10
  %v14 = tfrt.maximum.bf16 %v1, %v2
  // CHECK-NEXT: bf16 = 1.500000
  %ch12 = tfrt.print.bf16 %v14, %ch11
  %v15 = tfrt.neg.bf16 %v1
  // CHECK-NEXT: bf16 = -1.500000
  %ch13 = tfrt.print.bf16 %v15, %ch12
  %v16 = tfrt.equal.bf16 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch14 = tfrt.print.i1 %v16, %ch13
  %v17 = tfrt.notequal.bf16 %v1, %v2
  // CHECK-NEXT: int1 = 1
  %ch15 = tfrt.print.i1 %v17, %ch14
  %v18 = tfrt.less.bf16 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch16 = tfrt.print.i1 %v18, %ch15
  %v19 = tfrt.lessequal.bf16 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch17 = tfrt.print.i1 %v19, %ch16
  %v20 = tfrt.lessequal.bf16 %v1, %v1
  // CHECK-NEXT: int1 = 1
  %ch18 = tfrt.print.i1 %v20, %ch17
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.bf16'
func @divide_by_zero.bf16() -> (bf16, bf16) {
  %zero = tfrt.constant.bf16 0.0
  %one = tfrt.constant.bf16 1.0
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient = tfrt.div.bf16 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %remainder = tfrt.rem.bf16 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.bf16' returned <<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder : bf16, bf16
}

// CHECK-LABEL: --- Running 'floats.f32'
func @floats.f32() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.f32 1.5
  %v2 = tfrt.constant_s.f32 -4.0
  %v3 = tfrt.add.f32 %v1, %v2
  // CHECK-NEXT: f32 = -2.500000
  %ch1 = tfrt.print.f32 %v3, %ch0
  %v4 = tfrt.add_s.f32 %v1, %v2
  // CHECK-NEXT: f32 = -2.500000
  %ch2 = tfrt.print.f32 %v4, %ch1
  %v5 = tfrt.minus.f32 %v1, %v2
  // CHECK-NEXT: f32 = 5.500000
  %ch3 = tfrt.print.f32 %v5, %ch2
  %v6 = tfrt.minus_s.f32 %v1, %v2
  // CHECK-NEXT: f32 = 5.500000
  %ch4 = tfrt.print.f32 %v6, %ch3
  %v7 = tfrt.mul.f32 %v1, %v2
  // CHECK-NEXT: f32 = -6.000000
  %ch5 = tfrt.print.f32 %v7, %ch4
  %v8 = tfrt.mul_s.f32 %v1, %v2
  // CHECK-NEXT: f32 = -6.000000
  %ch6 = tfrt.print.f32 %v8, %ch5
  %v9 = tfrt.multiply.f32 %v1, %v2
  // CHECK-NEXT: f32 = -6.000000
  %ch7 = tfrt.print.f32 %v9, %ch6
  %v10 = tfrt.div.f32 %v1, %v2
  // CHECK-NEXT: f32 = -0.375000
  %ch8 = tfrt.print.f32 %v10, %ch7
  %v11 = tfrt.div_s.f32 %v1, %v2
  // CHECK-NEXT: f32 = -0.375000
  %ch9 = tfrt.print.f32 %v11, %ch8
  %v12 = tfrt.rem.f32 %v1, %v2
  // CHECK-NEXT: f32 = 1.500000
  %ch10 = tfrt.print.f32 %v12, %ch9
  %v13 = tfrt.minimum.f32 %v1, %v2
  // CHECK-NEXT: f32 = -4.000000
  %ch11 = tfrt.print.f32 %v13, %ch10
  %v14 = tfrt.maximum.f32 %v1, %v2
  // CHECK-NEXT: f32 = 1.500000
  %ch12 = tfrt.print.f32 %v14, %ch11
  %v15 = tfrt.neg.f32 %v1
  // CHECK-NEXT: f32 = -1.500000
  %ch13 = tfrt.print.f32 %v15, %ch12
  %v16 = tfrt.equal.f32 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch14 = tfrt.print.i1 %v16, %ch13
  %v17 = tfrt.notequal.f32 %v1, %v2
  // CHECK-NEXT: int1 = 1
  %ch15 = tfrt.print.i1 %v17, %ch14
  %v18 = tfrt.less.f32 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch16 = tfrt.print.i1 %v18, %ch15
  %v19 = tfrt.lessequal.f32 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch17 = tfrt.print.i1 %v19, %ch16
  %v20 = tfrt.lessequal.f32 %v1, %v1
  // CHECK-NEXT: int1 = 1
  %ch18 = tfrt.print.i1 %v20, %ch17
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.f32'
func @divide_by_zero.f32() -> (f32, f32) {
  %zero = tfrt.constant.f32 0.0
  %one = tfrt.constant.f32 1.0
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient = tfrt.div.f32 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %remainder = tfrt.rem.f32 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.f32' returned <<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder : f32, f32
}

// CHECK-LABEL: --- Running 'floats.f64'
func @floats.f64() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.f64 1.5
  %v2 = tfrt.constant_s.f64 -4.0
  %v3 = tfrt.add.f64 %v1, %v2
  // CHECK-NEXT: f64 = -2.500000
  %ch1 = tfrt.print.f64 %v3, %ch0
  %v4 = tfrt.add_s.f64 %v1, %v2
  // CHECK-NEXT: f64 = -2.500000
  %ch2 = tfrt.print.f64 %v4, %ch1
  %v5 = tfrt.minus.f64 %v1, %v2
  // CHECK-NEXT: f64 = 5.500000
  %ch3 = tfrt.print.f64 %v5, %ch2
  %v6 = tfrt.minus_s.f64 %v1, %v2
  // CHECK-NEXT: f64 = 5.500000
  %ch4 = tfrt.print.f64 %v6, %ch3
  %v7 = tfrt.mul.f64 %v1, %v2
  // CHECK-NEXT: f64 = -6.000000
  %ch5 = tfrt.print.f64 %v7, %ch4
  %v8 = tfrt.mul_s.f64 %v1, %v2
  // CHECK-NEXT: f64 = -6.000000
  %ch6 = tfrt.print.f64 %v8, %ch5
  %v9 = tfrt.multiply.f64 %v1, %v2
  // CHECK-NEXT: f64 = -6.000000
  %ch7 = tfrt.print.f64 %v9, %ch6
  %v10 = tfrt.div.f64 %v1, %v2
  // CHECK-NEXT: f64 = -0.375000
  %ch8 = tfrt.print.f64 %v10, %ch7
  %v11 = tfrt.div_s.f64 %v1, %v2
  // CHECK-NEXT: f64 = -0.375000
  %ch9 = tfrt.print.f64 %v11, %ch8
  %v12 = tfrt.rem.f64 %v1, %v2
  // CHECK-NEXT: f64 = 1.500000
  %ch10 = tfrt.print.f64 %v12, %ch9
  %v13 = tfrt.minimum.f64 %v1, %v2
  // CHECK-NEXT: f64 = -4.000000
  %ch11 = tfrt.print.f64 %v13, %ch10
  %v14 = tfrt.maximum.f64 %v1, %v2
  // CHECK-NEXT: f64 = 1.500000
  %ch12 = tfrt.print.f64 %v14, %ch11
  %v15 = tfrt.neg.f64 %v1
  // CHECK-NEXT: f64 = -1.500000
  %ch13 = tfrt.print.f64 %v15, %ch12
  %v16 = tfrt.equal.f64 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch14 = tfrt.print.i1 %v16, %ch13
  %v17 = tfrt.notequal.f64 %v1, %v2
  // CHECK-NEXT: int1 = 1
  %ch15 = tfrt.print.i1 %v17, %ch14
  %v18 = tfrt.less.f64 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch16 = tfrt.print.i1 %v18, %ch15
  %v19 = tfrt.lessequal.f64 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch17 = tfrt.print.i1 %v19, %ch16
  %v20 = tfrt.lessequal.f64 %v1, %v1
  // CHECK-NEXT: int1 = 1
  %ch18 = tfrt.print.i1 %v20, %ch17
  tfrt.return
}

// CHECK-LABEL: --- Running 'divide_by_zero.f64'
func @divide_by_zero.f64() -> (f64, f64) {
  %zero = tfrt.constant.f64 0.0
  %one = tfrt.constant.f64 1.0
  // expected-error @+1 {{runtime error: Divide by zero}}
  %quotient = tfrt.div.f64 %one, %zero
  // expected-error @+1 {{runtime error: Divide by zero}}
  %remainder = tfrt.rem.f64 %one, %zero
  // CHECK-NEXT: 'divide_by_zero.f64' returned <<error: Divide by zero>>,<<error: Divide by zero>>
  tfrt.return %quotient, %remainder : f64, f64
}
