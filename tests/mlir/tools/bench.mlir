// RUN: tfrt bench %s --calls 5 --warm-up 1 --items 8 | FileCheck %s
// RUN: tfrt bench %s --calls 5 --json | FileCheck %s --check-prefix=JSON
// RUN: not tfrt bench %s --calls 5 --function fails 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not tfrt bench %s --calls 0 2>&1 | FileCheck %s --check-prefix=NO_CALLS
// RUN: not tfrt bench %s --items 0 2>&1 | FileCheck %s --check-prefix=NO_ITEMS

// NO_CALLS: error: invalid value '0' for '--calls <COUNT>'
// NO_ITEMS: error: invalid value '0' for '--items <COUNT>'
// CHECK: cold start load {{.*}}, first call
// CHECK: latency of 5 calls
// CHECK-NEXT: min
// CHECK-NEXT: mean
// CHECK-NEXT: p50
// CHECK-NEXT: p90
// CHECK-NEXT: p99
// CHECK-NEXT: max
// CHECK: throughput {{.*}} items/s
// JSON: "calls": 5
// JSON: "p99":
// FAILS: error: something bad happened

func @main() -> i32 {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}

func @fails() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
