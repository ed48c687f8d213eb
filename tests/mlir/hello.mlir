// RUN: tfrt_opt -allow-unregistered-dialect %s | FileCheck %s

// A function and its kernels survive parsing and printing.
// CHECK-LABEL: func @answer() -> i32
func @answer() -> i32 {
  // CHECK-NEXT: [[X:%.*]] = "my.constant"() {value = 42 : i32} : () -> i32
  %x = "my.constant"() {value = 42 : i32} : () -> i32
  // CHECK-NEXT: tfrt.return [[X]] : i32
  tfrt.return %x : i32
}
