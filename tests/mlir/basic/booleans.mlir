// Booleans.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'booleans'
func @booleans() {
  %ch0 = tfrt.new.chain
  %v1 = tfrt.constant.i1 1
  %v2 = tfrt.constant_s.i1 0
  %v3 = tfrt.and.i1 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch1 = tfrt.print.i1 %v3, %ch0
  %v4 = tfrt.or.i1 %v1, %v2
  // CHECK-NEXT: int1 = 1
  %ch2 = tfrt.print.i1 %v4, %ch1
  %v5 = tfrt.xor.i1 %v1, %v2
  // CHECK-NEXT: int1 = 1
  %ch3 = tfrt.print.i1 %v5, %ch2
  %v6 = tfrt.equal.i1 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch4 = tfrt.print.i1 %v6, %ch3
  %v7 = tfrt.notequal.i1 %v1, %v2
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %v7, %ch4
  %v8 = tfrt.less.i1 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %v8, %ch5
  %v9 = tfrt.lessequal.i1 %v1, %v2
  // CHECK-NEXT: int1 = 0
  %ch7 = tfrt.print.i1 %v9, %ch6
  %v10 = tfrt.not.i1 %v2
  // CHECK-NEXT: int1 = 1
  %ch8 = tfrt.print.i1 %v10, %ch7
  tfrt.return
}
