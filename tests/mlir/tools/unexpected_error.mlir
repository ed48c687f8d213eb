// RUN: not bef_executor $(bef_name %s) 2>&1 | FileCheck %s

// An error that no comment announces fails the run, and so does one that is announced and does not occur.

// CHECK: --- Running 'unexpected'
func @unexpected() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
// CHECK-NEXT: 'unexpected' returned <<error: something bad happened>>

// CHECK: --- Running 'missing'
func @missing() {
  // expected-error @+1 {{never happens}}
  %x = tfrt.constant.i32 1
  tfrt.return
}

// CHECK: error: unexpected error: runtime error: something bad happened
// CHECK: unexpected_error.mlir:7:3
// CHECK: error: expected error "never happens"
