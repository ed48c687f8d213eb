// Memory that is never given back is noticed.
//
// RUN: not bef_executor --host_allocator_type=leak_check_allocator $(bef_name %s) 2>&1 | FileCheck %s

// CHECK-LABEL: --- Running 'leaks'
func @leaks() {
  "tfrt_test.memory_leak_one_int32"() : () -> ()
  tfrt.return
}
// CHECK: Memory leak detected: 1 alive allocations, 4 alive bytes
