// Calls, with values that are there and values to come.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Not running 'sum_and_difference' because it has arguments.
func @sum_and_difference(%a: i32, %b: i32) -> (i32, i32) {
  %sum = "tfrt_test.async_add.i32"(%a, %b) : (i32, i32) -> i32
  %difference = tfrt.minus.i32 %a, %b
  tfrt.return %sum, %difference : i32, i32
}

// CHECK-LABEL: --- Running 'calls'
func @calls() -> (i32, i32) {
  %a = tfrt.constant.i32 10
  %b = "tfrt_test.async_constant.i32"() {value = 3 : i32} : () -> i32
  %c:2 = tfrt.call @sum_and_difference(%a, %b) : (i32, i32) -> (i32, i32)
  %d:2 = tfrt.call @sum_and_difference(%c#0, %c#1) : (i32, i32) -> (i32, i32)
  // CHECK-NEXT: 'calls' returned 20,6
  tfrt.return %d#0, %d#1 : i32, i32
}

// What does not need the argument that is an error runs.
// CHECK-LABEL: --- Running 'call_with_error'
func @call_with_error() -> (i32, i32) {
  %a = tfrt.constant.i32 10
  %bad = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %b:2 = tfrt.call @first_twice(%a, %bad) : (i32, i32) -> (i32, i32)
  // CHECK-NEXT: 'call_with_error' returned 20,<<error: something bad happened>>
  tfrt.return %b#0, %b#1 : i32, i32
}

func @first_twice(%a: i32, %b: i32) -> (i32, i32) {
  %twice = tfrt.add.i32 %a, %a
  tfrt.return %twice, %b : i32, i32
}

// The 21st Fibonacci number, by recursion.
// CHECK-LABEL: --- Running 'recursion'
func @recursion() -> i32 {
  %n = tfrt.constant.i32 20
  %fib = tfrt.call @fibonacci(%n) : (i32) -> i32
  // CHECK-NEXT: 'recursion' returned 6765
  tfrt.return %fib : i32
}

func @fibonacci(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %small = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  %res = tfrt.if %small, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %one = tfrt.constant.i32 1
    %a = tfrt.minus.i32 %n, %one
    %b = tfrt.minus.i32 %a, %one
    %fa = tfrt.call @fibonacci(%a) : (i32) -> i32
    %fb = tfrt.call @fibonacci(%b) : (i32) -> i32
    %sum = tfrt.add.i32 %fa, %fb
    tfrt.return %sum : i32
  }
  tfrt.return %res : i32
}

// A chain of 5000 calls inside of each other.
// CHECK-LABEL: --- Running 'deep_recursion'
func @deep_recursion() -> i32 {
  %n = tfrt.constant.i32 5000
  %depth = tfrt.call @depth(%n) : (i32) -> i32
  // CHECK-NEXT: 'deep_recursion' returned 5000
  tfrt.return %depth : i32
}

func @depth(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %end = tfrt.equal.i32 %n, %zero
  %res = tfrt.if %end, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %one = tfrt.constant.i32 1
    %less = tfrt.minus.i32 %n, %one
    %below = tfrt.call @depth(%less) : (i32) -> i32
    %depth = tfrt.add.i32 %below, %one
    tfrt.return %depth : i32
  }
  tfrt.return %res : i32
}
