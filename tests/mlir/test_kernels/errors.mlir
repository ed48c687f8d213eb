// Errors early, late and in part; cancellation.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'early'
func @early() -> (i32, i32, i32) {
  %a = "tfrt_test.fail"() : () -> i32 // expected-error {{runtime error: something bad happened}}
  %b, %c = "tfrt_test.partial_fail"() : () -> (i32, i32) // expected-error {{runtime error: something bad happened}}
  // CHECK-NEXT: 'early' returned <<error: something bad happened>>,1,<<error: something bad happened>>
  tfrt.return %a, %b, %c : i32, i32, i32
}

// CHECK-LABEL: --- Running 'late'
func @late() -> (i32, i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %a = "tfrt_test.report_error_async"() : () -> i32 // expected-error {{something bad happened asynchronously}}
  %b = "tfrt_test.report_error_concrete_async"(%zero) : (i32) -> i32
  // expected-error @+1 {{something bad happened asynchronously}}
  %c = "tfrt_test.report_error_indirect_async"(%one) : (i32) -> i32
  %d = tfrt.add.i32 %b, %c
  // CHECK-NEXT: 'late' returned <<error: something bad happened asynchronously>>,0,<<error: something bad
  // CHECK-SAME: happened asynchronously>>,<<error: something bad happened asynchronously>>
  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32
}

// CHECK-LABEL: --- Running 'synchronous'
func @synchronous() -> i32 attributes {tfrt.sync} {
  %a = "tfrt_test.fail_s"() : () -> i32 // expected-error {{runtime error: something bad happened}}
  // CHECK-NEXT: 'synchronous' returned <<error: something bad happened>>
  tfrt.return %a : i32
}

// CHECK-LABEL: --- Running 'synchronous_error'
func @synchronous_error() -> i32 attributes {tfrt.sync} {
  %a = "tfrt_test.error_s"() : () -> i32 // expected-error {{runtime error: something bad happened}}
  // CHECK-NEXT: 'synchronous_error' returned <<error: something bad happened>>
  tfrt.return %a : i32
}

// CHECK-LABEL: --- Running 'cancelled'
func @cancelled() -> (i32, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %x, %ch1 = "tfrt_test.cancel"(%ch0) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %ch2 = "tfrt_test.print_hello"(%ch1) : (!tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: 'cancelled' returned 0,<<error: Cancelled>>
  tfrt.return %x, %ch2 : i32, !tfrt.chain
}
