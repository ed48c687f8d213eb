// One way each of taking arguments and giving results.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'results'
func @results() -> (i32, i32, i32, i64, i64, i64, i32, i32) {
  %ch0 = tfrt.new.chain
  %a = tfrt.constant.i32 2147483646
  %b = tfrt.constant.i64 41
  %a1, %a2, %a3 = tfrt_test.count3.i32 %a
  %b1, %b2, %b3 = tfrt_test.count3.i64 %b
  %sum = "tfrt_test.sum"(%a1, %a2, %a3) : (i32, i32, i32) -> i32
  %same:2 = "tfrt_test.identity"(%ch0, %sum, %b1) : (!tfrt.chain, i32, i64) -> (i32, i64)
  // CHECK-NEXT: 'results' returned 2147483647,-2147483648,-2147483647,42,43,44,-2147483648,-2147483648
  tfrt.return %a1, %a2, %a3, %b1, %b2, %b3, %sum, %same#0 : i32, i32, i32, i64, i64, i64, i32, i32
}

// CHECK-LABEL: --- Running 'attributes'
func @attributes() -> (i32, i32, f32) {
  %ch0 = tfrt.new.chain
  %a, %b, %c, %d = "tfrt_test.flat"() {value = [["text", [1 : i32, 2 : i32]], [0.5 : f32]]}
      : () -> (!tfrt.string, i32, i32, f32)
  // CHECK-NEXT: string = text
  %ch1 = "tfrt_test.print_string"(%a, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: 'attributes' returned 1,2,5.000000e-01
  tfrt.return %b, %c, %d : i32, i32, f32
}

// CHECK-LABEL: --- Running 'other_attributes'
func @other_attributes() -> f32 {
  // expected-error @+1 {{expected an attribute of the form}}
  %a, %b, %c, %d = "tfrt_test.flat"() {value = [["text", [1 : i32]], [0.5 : f32]]} : () -> (!tfrt.string, i32, i32, f32)
  // CHECK-NEXT: 'other_attributes' returned <<error: expected an attribute of the form
  tfrt.return %d : f32
}

// CHECK-LABEL: --- Running 'synchronous'
func @synchronous() -> (i32, i32, i32) attributes {tfrt.sync} {
  %one = tfrt.constant_s.i32 1
  %two = tfrt.constant_s.i32 2
  %a = "tfrt_test.sync_sum"(%one, %two, %two) : (i32, i32, i32) -> i32
  %b = "tfrt_test.sync_sum2"(%two) : (i32) -> i32
  %c = "tfrt_test.sync_sum_attributes"() {a = 1 : i32, b = 2 : i32, c = 3 : i32} : () -> i32
  // CHECK-NEXT: 'synchronous' returned 5,2,6
  tfrt.return %a, %b, %c : i32, i32, i32
}

// CHECK-LABEL: --- Running 'values'
func @values() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %get = "tfrt_test.async_value_get"() : () -> !tfrt.string
  %states = "tfrt_test.async_value_ref"() : () -> !tfrt.string
  // CHECK-NEXT: string = base1:base2:final_class:3
  %ch1 = "tfrt_test.print_string"(%get, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: string = available:2;unavailable;(3);available:3;unavailable;available:4
  %ch2 = "tfrt_test.print_string"(%states, %ch1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'places'
func @places() -> (!tfrt.chain, !tfrt.chain) {
  %a = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain loc(unknown)
  %b = "tfrt_test.unique_loc"() {name = "b"} : () -> !tfrt.chain loc(unknown)
  // CHECK-NEXT: 'places' returned !tfrt.chain value,!tfrt.chain value
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}
