// RUN: bef_executor --enable_tracing -tracing_level=verbose $(bef_name %s) 2>&1 | FileCheck %s

// With tracing on, the end tells how often functions and kernels ran.

// CHECK: --- Running 'main'
// CHECK: 'main' returned 2
// CHECK-DAG: function main: 1 times, {{[0-9]+}} ns
// CHECK-DAG: kernel tfrt.add.i32: 1 times, {{[0-9]+}} ns
func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
