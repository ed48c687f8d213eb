// Native functions.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

func private @native_add(%a: i32, %b: i32) -> i32 attributes {tfrt.native}
func private @native_async_add(%a: i32, %b: i32) -> i32 attributes {tfrt.native}
func private @native_sink(%a: i32, %b: i32) attributes {tfrt.native}
func private @native_async_sink(%a: i32) -> !tfrt.chain attributes {tfrt.native}

// CHECK-LABEL: --- Running 'native_error'
// CHECK-NEXT: 'native_error' returned <<error: something bad happened>>
func private @native_error() -> i32 attributes {tfrt.native}

// CHECK-LABEL: --- Running 'calls'
func @calls() -> (i32, i32, i32, !tfrt.chain) {
  %a = tfrt.constant.i32 1
  %b = "tfrt_test.async_constant.i32"() {value = 2 : i32} : () -> i32
  %bad = "tfrt_test.fail"() : () -> i32 // expected-error {{something bad happened}}
  %x = tfrt.call @native_add(%a, %b) : (i32, i32) -> i32
  %y = tfrt.call @native_async_add(%x, %b) : (i32, i32) -> i32
  %z = tfrt.call @native_add(%bad, %b) : (i32, i32) -> i32
  tfrt.call @native_sink(%a, %b) : (i32, i32) -> ()
  %ch = tfrt.call @native_async_sink(%b) : (i32) -> !tfrt.chain
  // CHECK-NEXT: 'calls' returned 3,5,<<error: something bad happened>>,!tfrt.chain value
  tfrt.return %x, %y, %z, %ch : i32, i32, i32, !tfrt.chain
}
