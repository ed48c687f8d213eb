// RUN: tfrt compile %s --explain | FileCheck %s
// RUN: tfrt compile %s --explain --streams 2 --predict-for cpu | FileCheck %s --check-prefix=TWO
// RUN: tfrt compile %s --explain --timeline %t.svg --timeline %t.json
// RUN: cat %t.svg | FileCheck %s --check-prefix=SVG
// RUN: cat %t.json | FileCheck %s --check-prefix=JSON
// RUN: not tfrt compile %s --explain --streams 0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tfrt compile %s --explain --timeline plan.png 2>&1 | FileCheck %s --check-prefix=FORMAT

// CHECK: device NVIDIA H200, one captured graph
// CHECK-NEXT: ops 3, and 2 copies; at most 2 at a time
// CHECK-NEXT: critical path
// CHECK: streams events time gain
// CHECK-NEXT: 1 0 {{.*}} 0.0 %
// CHECK-NEXT: 2 1 {{.*}} %
// CHECK-NEXT: and 4 events with the stream of copies
// CHECK: arena {{.*}} 1.00 of the lower bound; 4 buffers of 16.0 KiB
// CHECK: constants 0 B
// CHECK: peak at

// TWO: device the CPU device
// TWO: 2 1 {{.*}} ← planned

// SVG: stream 0</text>
// SVG: copies</text>
// SVG: <title>tf.Softmax at
// JSON: "thread_name"
// JSON: tf.Softmax at

// ZERO: expected 'auto' or a number from 1 to 64
// FORMAT: the timeline 'plan.png' must end in .svg or .json

func @main(%x: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %a = "tf.Softmax"(%x) : (tensor<4x256xf32>) -> tensor<4x256xf32>
  %b = "tf.LogSoftmax"(%x) : (tensor<4x256xf32>) -> tensor<4x256xf32>
  %c = "tf.AddV2"(%a, %b) : (tensor<4x256xf32>, tensor<4x256xf32>) -> tensor<4x256xf32>
  tfrt.return %c : tensor<4x256xf32>
}
