// Loops that run one after the other.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'repeat'
func @repeat() -> i32 {
  %ch0 = tfrt.new.chain
  %count = tfrt.constant.i32 4
  %one = tfrt.constant.i32 1
  // CHECK-NEXT: int32 = 1
  // CHECK-NEXT: int32 = 2
  // CHECK-NEXT: int32 = 4
  // CHECK-NEXT: int32 = 8
  %res:2 = tfrt.repeat.i32 %count, %one, %ch0 : i32, !tfrt.chain {
    %ch1 = tfrt.print.i32 %one, %ch0
    %twice = tfrt.add.i32 %one, %one
    tfrt.return %twice, %ch1 : i32, !tfrt.chain
  }
  // CHECK-NEXT: 'repeat' returned 16
  tfrt.return %res#0 : i32
}

// CHECK-LABEL: --- Running 'repeat_never'
func @repeat_never() -> i32 {
  %count = "tfrt_test.async_constant.i32"() {value = 0 : i32} : () -> i32
  %one = tfrt.constant.i32 1
  %res = tfrt.repeat.i32 %count, %one : i32 {
    %twice = tfrt.add.i32 %one, %one
    tfrt.return %twice : i32
  }
  // CHECK-NEXT: 'repeat_never' returned 1
  tfrt.return %res : i32
}

// CHECK-LABEL: --- Running 'repeat_less_than_never'
func @repeat_less_than_never() -> i32 {
  %count = tfrt.constant.i32 -2
  %one = tfrt.constant.i32 1
  // expected-error @+1 {{runtime error: cannot repeat -2 times}}
  %res = tfrt.repeat.i32 %count, %one : i32 {
    tfrt.return %one : i32
  }
  // CHECK-NEXT: 'repeat_less_than_never' returned <<error: cannot repeat -2 times>>
  tfrt.return %res : i32
}

// CHECK-LABEL: --- Running 'repeat_long'
func @repeat_long() -> (i32, i32) {
  %count = tfrt.constant.i32 30000
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %sync:2 = tfrt.repeat.i32 %count, %zero, %one : i32, i32 {
    %sum = tfrt.add.i32 %zero, %one
    tfrt.return %sum, %one : i32, i32
  }
  %async:2 = tfrt.repeat.i32 %count, %zero, %one : i32, i32 {
    %sum = "tfrt_test.async_add.i32"(%zero, %one) : (i32, i32) -> i32
    tfrt.return %sum, %one : i32, i32
  }
  // CHECK-NEXT: 'repeat_long' returned 30000,30000
  tfrt.return %sync#0, %async#0 : i32, i32
}

// CHECK-LABEL: --- Running 'repeat_until_cancelled'
func @repeat_until_cancelled() -> i32 {
  %ch0 = tfrt.new.chain
  %count = tfrt.constant.i32 2147483647
  %zero = tfrt.constant.i32 0
  // CHECK-NEXT: int32 = 0
  %res:2 = tfrt.repeat.i32 %count, %zero, %ch0 : i32, !tfrt.chain {
    %ch1 = tfrt.print.i32 %zero, %ch0
    %x, %ch2 = "tfrt_test.cancel"(%ch1) : (!tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %x, %ch2 : i32, !tfrt.chain
  }
  // CHECK-NEXT: 'repeat_until_cancelled' returned <<error: Cancelled>>
  tfrt.return %res#0 : i32
}

func @double_below_100(%x: i32) -> (i32, i1) {
  %limit = tfrt.constant.i32 100
  %twice = tfrt.add.i32 %x, %x
  %more = tfrt.less.i32 %twice, %limit
  tfrt.return %twice, %more : i32, i1
}

func @async_double_below_100(%x: i32) -> (i32, i1) {
  %limit = tfrt.constant.i32 100
  %twice = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  %more = tfrt.less.i32 %twice, %limit
  tfrt.return %twice, %more : i32, i1
}

// CHECK-LABEL: --- Running 'while'
func @while() -> (i32, i32, i32) {
  %true = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %false = tfrt.constant.i1 0
  %three = tfrt.constant.i32 3
  %a = tfrt.while %true @double_below_100(%three) {bef.nonstrict} : (i32) -> (i32)
  %b = tfrt.while %true @async_double_below_100(%three) : (i32) -> (i32)
  %c = tfrt.while %false @double_below_100(%three) : (i32) -> (i32)
  // CHECK-NEXT: 'while' returned 192,192,3
  tfrt.return %a, %b, %c : i32, i32, i32
}

func @fail_next(%x: i32) -> (i32, i1) {
  %bad = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %more = tfrt.equal.i32 %bad, %x
  tfrt.return %x, %more : i32, i1
}

// CHECK-LABEL: --- Running 'while_fails'
func @while_fails() -> i32 {
  %true = tfrt.constant.i1 1
  %one = tfrt.constant.i32 1
  %a = tfrt.while %true @fail_next(%one) : (i32) -> (i32)
  // CHECK-NEXT: 'while_fails' returned <<error: something bad happened>>
  tfrt.return %a : i32
}
