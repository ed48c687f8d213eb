// RUN: tfrt_opt --verify-op-graph %s | FileCheck %s --check-prefix=SAME
// RUN: tfrt_opt --cse --dead-code --print-ir-after=cse %s 2>&1 | FileCheck %s --check-prefix=PRINT
// RUN: tfrt_opt --cse --dead-code --print-ir-after=all %s 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: tfrt_opt --cse --dead-code --stop-after=cse %s | FileCheck %s --check-prefix=STOP
// RUN: tfrt_opt --cse --dead-code --timing %s 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: not tfrt_opt --cse --stop-after=dead-code %s 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: tfrt_opt --help | FileCheck %s --check-prefix=HELP

// Passes run in the order in which they are given.

// SAME: func @main(%arg0: tensor<?xf32> {name = "x"}) -> (tensor<?xf32> {name = "y"})
// SAME-NEXT: "tf.Const"() {name = "bias", value = dense<1.000000e+00> : tensor<1xf32>}
// PRINT: // After cse
// PRINT: "tf.Neg"
// PRINT: module
// PRINT-NOT: // After dead-code
// ALL: // After cse
// ALL: "tf.Neg"
// ALL: // After dead-code
// ALL-NOT: "tf.Neg"
// STOP: "tf.Neg"
// TIMING: cse: {{[0-9.]+}} ms
// TIMING-NEXT: dead-code: {{[0-9.]+}} ms
// WRONG: tfrt_opt: the pass 'dead-code' does not run; add --dead-code
// HELP: --cse {{ *}}Compute equal operations once
func @main(%x: tensor<?xf32> {name = "x"}) -> (tensor<?xf32> {name = "y"}) {
  %bias = "tf.Const"() {name = "bias", value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %unused = "tf.Neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %y = "tf.AddV2"(%x, %bias) : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  tfrt.return %y : tensor<?xf32>
}
