// RUN: not tfrt_opt %s 2>&1 | FileCheck %s
// RUN: not tfrt run %s 2>&1 | FileCheck %s

// All errors of a file are told, each with its line and a caret.

func @main() {
  // CHECK: error: custom op 'tfrt.first_mistake' is unknown
  // CHECK: all_errors.mlir:[[@LINE+2]]:3
  // CHECK: ^^^^
  tfrt.first_mistake
  // CHECK: error: custom op 'tfrt.second_mistake' is unknown
  tfrt.second_mistake
  tfrt.return
}
