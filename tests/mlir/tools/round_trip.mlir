// RUN: tfrt_translate --mlir-to-bef %s | tfrt_translate --bef-to-mlir | FileCheck %s
// RUN: tfrt translate -mlir-to-bef %s -o %t | tfrt translate -bef-to-mlir %t | FileCheck %s
// RUN: tfrt_translate --mlir-to-bef --disable-optional-sections=true %s | tfrt_translate --bef-to-mlir 2>&1 | FileCheck %s --check-prefix=SKETCH

// What goes to BEF and back is the same text; without the optional sections it is a sketch, and says so.

// SKETCH: warning: Missing AttributeTypes, AttributeNames or RegisterTypes sections.

// CHECK-LABEL: func @sum(
// CHECK-SAME: [[A:%.*]]: i32
func @sum(%a: i32) -> i32 {
  // CHECK-NEXT: [[B:%.*]] = tfrt.constant.i32 -17
  %b = tfrt.constant.i32 -17
  // CHECK-NEXT: [[C:%.*]] = tfrt.add.i32 [[A]], [[B]]
  %c = tfrt.add.i32 %a, %b
  // CHECK-NEXT: tfrt.return [[C]] : i32
  tfrt.return %c : i32
}
