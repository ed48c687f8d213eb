// Results from the work queue, the blocking pool and the timer.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'copies'
func @copies() -> (i32, i32, i32, i64, i32, i64, i1) {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i64 2
  %a = "tfrt_test.async_copy.i32"(%one) : (i32) -> i32
  %b = "tfrt_test.async_copy_2.i32"(%a) : (i32) -> i32
  %c = "tfrt_test.async_copy.with_delay.i32"(%b) : (i32) -> i32
  %d = "tfrt_test.async_copy.with_delay.i64"(%two) : (i64) -> i64
  %e = "tfrt_test.copy.with_delay.i32"(%one) : (i32) -> i32
  %f = "tfrt_test.copy.with_delay.i64"(%two) : (i64) -> i64
  %g = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  // CHECK-NEXT: 'copies' returned 1,1,1,2,1,2,1
  tfrt.return %a, %b, %c, %d, %e, %f, %g : i32, i32, i32, i64, i32, i64, i1
}

// CHECK-LABEL: --- Running 'do_async'
func @do_async() -> (i32, i32) {
  %a = "tfrt_test.async_constant.i32"() {value = 20 : i32} : () -> i32
  %b:2 = tfrt_test.do.async %a : (i32) -> (i32, i32) {
    %twice = "tfrt_test.async_add.i32"(%a, %a) : (i32, i32) -> i32
    tfrt.return %twice, %a : i32, i32
  }
  // CHECK-NEXT: 'do_async' returned 40,20
  tfrt.return %b#0, %b#1 : i32, i32
}

// CHECK-LABEL: --- Running 'sleeps'
func @sleeps() -> !tfrt.chain {
  %us = tfrt.constant.i32 999
  // CHECK-NEXT: Slept for 999 microseconds
  %ch0 = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %ch1 = "tfrt_test.as_chain"(%ch0, %us) : (!tfrt.chain, i32) -> !tfrt.chain
  // CHECK-NEXT: 'sleeps' returned !tfrt.chain value
  tfrt.return %ch1 : !tfrt.chain
}

// Nothing waits for this one but the end of the program.
// CHECK-LABEL: --- Running 'sleeps_unseen'
func @sleeps_unseen() {
  %us = tfrt.constant.i32 1000
  // CHECK-NEXT: Slept for 1000 microseconds
  "tfrt_test.usleep"(%us) : (i32) -> ()
  tfrt.return
}

// CHECK-LABEL: --- Running 'quiesces'
func @quiesces() -> i32 {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %count = tfrt.constant.i32 200
  %counter = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %loop:2 = tfrt.repeat.i32 %count, %counter, %ch0 : !test.atomic.i32, !tfrt.chain {
    %five = tfrt.constant.i32 5
    %late = "tfrt_test.async_copy.i32"(%five) : (i32) -> i32
    %ch1 = "tfrt_test.atomic.add.i32"(%counter, %late, %ch0) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %counter, %ch0 : !test.atomic.i32, !tfrt.chain
  }
  %quiet = "tfrt_test.quiesce"(%loop#1) : (!tfrt.chain) -> !tfrt.chain
  %sum, %ch2 = "tfrt_test.atomic.get.i32"(%loop#0, %quiet) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  // CHECK-NEXT: 'quiesces' returned 1000
  tfrt.return %sum : i32
}
