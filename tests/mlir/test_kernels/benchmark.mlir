// Benchmarks: how often a function ran, and how long it took.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'benchmark'
func @benchmark() -> !tfrt.chain {
  %one = tfrt.constant.i32 1
  // CHECK-NEXT: BM:async_add:Duration(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:Count: 100
  // CHECK-NEXT: BM:async_add:Time Min(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:Time 50%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:Time 95%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:Time 99%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:CPU Min(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:CPU 50%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:CPU 95%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:CPU 99%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:async_add:CPU utilization(percent): {{[0-9]}}.
  %done = tfrt_test.benchmark "async_add"(%one : i32) duration_secs = 10, max_count = 100, num_warmup_runs = 10 {
    %sum = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
    tfrt.return %sum : i32
  }
  // CHECK-NEXT: 'benchmark' returned !tfrt.chain value
  tfrt.return %done : !tfrt.chain
}

func @twice(%x: i32) attributes {tfrt.sync} {
  %y = tfrt.add_s.i32 %x, %x
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_benchmark'
func @sync_benchmark() attributes {tfrt.sync} {
  // CHECK-NEXT: BM:twice:Duration(ns):
  // CHECK-NEXT: BM:twice:Count: 2000
  %one = tfrt.constant_s.i32 1
  tfrt_test.sync_benchmark @twice(%one : i32) duration_secs = 10, max_count = 2000, num_warmup_runs = 1
  tfrt.return
}
