// RUN: tfrt inspect %s | FileCheck %s
// RUN: tfrt inspect %s --graph dot | FileCheck %s --check-prefix=DOT
// RUN: tfrt inspect %s --graph svg --function twice | FileCheck %s --check-prefix=SVG
// RUN: tfrt inspect $(bef_name %s) --json | FileCheck %s --check-prefix=JSON

// CHECK: BEF version 0
// CHECK: Kernels {{.*}} 1 entries
// CHECK: functions
// CHECK-NEXT: twice(i32) -> (i32): async, 1 kernels, 2 registers
// CHECK: kernels
// CHECK-NEXT: tfrt.add.i32
// DOT: n0 [label="tfrt.add.i32\n← argument 0, argument 0", tooltip="tfrt.add.i32\n(i32, i32) -> (i32)
// DOT: n0 -> n1 [tooltip="i32"];
// SVG: <svg
// SVG: tfrt.add.i32</text>
// JSON: "kernels": [
// JSON-NEXT: "tfrt.add.i32"

func @twice(%a: i32) -> i32 {
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}
