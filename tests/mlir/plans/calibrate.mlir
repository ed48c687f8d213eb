// RUN: tfrt bench %s --calls 3 --calibrate --output %t.json
// RUN: cat %t.json | FileCheck %s
// RUN: tfrt compile %s --explain --predict-for cpu --costs %t.json | FileCheck %s --check-prefix=COSTS
// RUN: not tfrt compile %s --explain --costs %t.json 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not tfrt bench %s --calls 1 --device cpu --calibrate --output %t.json 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tfrt compile %s --explain --costs %s 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK: "version": 1
// CHECK: "device": "host"
// CHECK: "op": "tf.Softmax"
// CHECK-NEXT: "place": "{{.*}}calibrate.mlir:
// CHECK-NEXT: "us":

// COSTS: costs 1 times measured on 'host'
// OTHER: has times of this host, which tell nothing of the device 'h200'; add --predict-for cpu
// DEVICE: --calibrate measures ops in host memory; leave out --device
// WRONG: calibrate.mlir': expected value at line 1 column 1

func @main(%x: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %a = "tf.Softmax"(%x) : (tensor<4x256xf32>) -> tensor<4x256xf32>
  tfrt.return %a : tensor<4x256xf32>
}
