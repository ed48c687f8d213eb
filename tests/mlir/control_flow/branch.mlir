// Choices between functions.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

func @identity(%x: i32) -> i32 {
  tfrt.return %x : i32
}

func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}

func @async_triple(%x: i32) -> i32 {
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  %z = "tfrt_test.async_add.i32"(%x, %y) : (i32, i32) -> i32
  tfrt.return %z : i32
}

// CHECK-LABEL: --- Running 'conditions_at_hand'
func @conditions_at_hand() -> (i32, i32, i32, i32) {
  %true = tfrt.constant.i1 1
  %false = tfrt.constant.i1 0
  %x = tfrt.constant.i32 7
  %a = tfrt.cond %true @identity @double(%x) : (i32) -> (i32)
  %b = tfrt.cond %false @identity @async_triple(%x) : (i32) -> (i32)
  %c = tfrt.if %true, %x : (i32) -> (i32) {
    tfrt.return %x : i32
  } else {
    %zero = tfrt.constant.i32 0
    tfrt.return %zero : i32
  }
  %d = tfrt.if %false, %x : (i32) -> (i32) {
    tfrt.return %x : i32
  } else {
    %zero = tfrt.constant.i32 0
    tfrt.return %zero : i32
  }
  // CHECK-NEXT: 'conditions_at_hand' returned 7,21,7,0
  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32
}

// CHECK-LABEL: --- Running 'conditions_to_come'
func @conditions_to_come() -> (i32, i32) {
  %true = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %false = "tfrt_test.async_constant.i1"() {value = false} : () -> i1
  %x = tfrt.constant.i32 7
  %a = tfrt.cond %true @identity @double(%x) {bef.nonstrict} : (i32) -> (i32)
  %b = tfrt.if %false, %x : (i32) -> (i32) {
    tfrt.return %x : i32
  } else {
    %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
    tfrt.return %y : i32
  }
  // CHECK-NEXT: 'conditions_to_come' returned 7,14
  tfrt.return %a, %b : i32, i32
}

// A number without a function chooses the last one.
// CHECK-LABEL: --- Running 'cases'
func @cases() -> (i32, i32, i32, i32) {
  %x = tfrt.constant.i32 7
  %zero = tfrt.constant.i32 0
  %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %nine = tfrt.constant.i32 9
  %minus = tfrt.constant.i32 -1
  %a = tfrt.case %zero [@identity, @double, @async_triple](%x) : (i32) -> (i32)
  %b = tfrt.case %one [@identity, @double, @async_triple](%x) {bef.nonstrict} : (i32) -> (i32)
  %c = tfrt.case %nine [@identity, @double, @async_triple](%x) : (i32) -> (i32)
  %d = tfrt.case %minus [@identity, @double](%x) : (i32) -> (i32)
  // CHECK-NEXT: 'cases' returned 7,14,21,14
  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32
}

// An error in the condition is the result; neither branch runs.
// CHECK-LABEL: --- Running 'condition_is_an_error'
func @condition_is_an_error() -> i32 {
  %x = tfrt.constant.i32 7
  %bad = "tfrt_test.report_error_async"() : () -> i32 // expected-error {{something bad happened asynchronously}}
  %cond = tfrt.equal.i32 %bad, %x
  %a = tfrt.if %cond, %x : (i32) -> (i32) {
    %ch0 = tfrt.new.chain
    %ch1 = "tfrt_test.print_hello"(%ch0) : (!tfrt.chain) -> !tfrt.chain
    tfrt.return %x : i32
  } else {
    %ch0 = tfrt.new.chain
    %ch1 = "tfrt_test.print_hello"(%ch0) : (!tfrt.chain) -> !tfrt.chain
    tfrt.return %x : i32
  }
  // CHECK-NEXT: 'condition_is_an_error' returned <<error: something bad happened asynchronously>>
  tfrt.return %a : i32
}
