// RUN: tfrt_opt --fuse-gelu --fuse-elementwise --dead-code %s | FileCheck %s

// What exporters write for Gaussian error linear units is one operation, whatever the order of its factors.

// CHECK-LABEL: func @main
// CHECK-NOT: tf.Erf
// CHECK: "tf.Gelu"(%arg0) {approximate = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %root = "tf.Const"() {value = dense<1.4142135> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.RealDiv"(%x, %root) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b = "tf.Erf"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tf.AddV2"(%b, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %d = "tf.Mul"(%x, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tf.Mul"(%d, %half) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  tfrt.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func @tanh
// CHECK: "tf.Gelu"(%arg0) {approximate = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: tfrt.return
func @tanh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %cube_factor = "tf.Const"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %scale = "tf.Const"() {value = dense<0.7978846> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.Mul"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tf.Mul"(%a, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tf.Mul"(%cube_factor, %b) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = "tf.AddV2"(%x, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = "tf.Mul"(%scale, %d) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = "tf.Tanh"(%e) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %g = "tf.AddV2"(%one, %f) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %h = "tf.Mul"(%half, %g) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tf.Mul"(%x, %h) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  tfrt.return %y : tensor<2x3xf32>
}

// Constants of 16 bits are rounded more.
// CHECK-LABEL: func @half
// CHECK-NOT: tf.Erf
// CHECK: "tf.Gelu"(%arg0) {approximate = false} : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: tfrt.return
func @half(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %root = "tf.Const"() {value = dense<1.4142135> : tensor<f16>} : () -> tensor<f16>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f16>} : () -> tensor<f16>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f16>} : () -> tensor<f16>
  %a = "tf.RealDiv"(%x, %root) : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf16>
  %b = "tf.Erf"(%a) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %c = "tf.AddV2"(%b, %one) : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf16>
  %d = "tf.Mul"(%x, %c) : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %y = "tf.Mul"(%d, %half) : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf16>
  tfrt.return %y : tensor<2x3xf16>
}

// Other numbers, and factors that are not the argument, stay as they are.
// CHECK-LABEL: func @other
// CHECK-NOT: Gelu
// CHECK: tfrt.return
func @other(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %near = "tf.Const"() {value = dense<0.7> : tensor<f32>} : () -> tensor<f32>
  %root = "tf.Const"() {value = dense<0.70710678> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.Mul"(%x, %near) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b = "tf.Erf"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tf.AddV2"(%b, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %d = "tf.Mul"(%x, %half) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %y = "tf.Mul"(%d, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = "tf.Mul"(%x, %root) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %f = "tf.Erf"(%e) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %g = "tf.AddV2"(%f, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %h = "tf.Mul"(%z, %half) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %w = "tf.Mul"(%h, %g) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  tfrt.return %y, %w : tensor<2x3xf32>, tensor<2x3xf32>
}
