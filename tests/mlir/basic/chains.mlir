// Chains.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'chains'
func @chains() -> i32 {
  %ch0 = tfrt.new.chain
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  // CHECK-NEXT: int32 = 1
  %ch1 = tfrt.print.i32 %a, %ch0
  // CHECK-NEXT: int32 = 2
  %ch2 = tfrt.print.i32 %b, %ch1
  %merged = tfrt.merge.chains %ch0, %ch1, %ch2
  %alias = "tfrt.alias.value"(%merged, %b) : (!tfrt.chain, i32) -> i32
  // CHECK-NEXT: 'chains' returned 2
  tfrt.return %alias : i32
}

// A comparison takes chains that only order it.
// CHECK-LABEL: --- Running 'ordered_comparison'
func @ordered_comparison() -> i1 {
  %a = tfrt.constant.i32 1
  %late = "tfrt_test.async_constant.i32"() {value = 5 : i32} : () -> i32
  %ch = "tfrt_test.as_chain"(%late) : (i32) -> !tfrt.chain
  %less = "tfrt.less.i32"(%a, %late, %ch) : (i32, i32, !tfrt.chain) -> i1
  // CHECK-NEXT: 'ordered_comparison' returned 1
  tfrt.return %less : i1
}
