// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:2 $(bef_name %s) | FileCheck %s

// Scalars, calls and branches: all that a build without text and tensors has. ci/lite runs this program with one.

// CHECK: Not running 'triangular' because it has arguments
func @triangular(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %small = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  %sum = tfrt.if %small, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %minus_one = tfrt.constant.i32 -1
    %before = tfrt.add.i32 %n, %minus_one
    %rest = tfrt.call @triangular(%before) : (i32) -> i32
    %all = tfrt.add.i32 %n, %rest
    tfrt.return %all : i32
  }
  tfrt.return %sum : i32
}

// CHECK-LABEL: --- Running 'main'
func @main() -> i32 {
  %n = tfrt.constant.i32 40
  %sum = tfrt.call @triangular(%n) : (i32) -> i32
  %ch0 = tfrt.new.chain
  // CHECK-NEXT: int32 = 820
  %ch1 = tfrt.print.i32 %sum, %ch0
  // CHECK-NEXT: 'main' returned 820
  tfrt.return %sum : i32
}
