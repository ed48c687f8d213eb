// RUN: tfrt_opt --fuse-quantized --fold-dequantized-again --dead-code %s | FileCheck %s

// Products of dequantized tensors are products of bytes, with their bias and their quantization.

// CHECK-LABEL: func @main
func @main(%x: tensor<2x3xui8>) -> tensor<2x4xi8> {
  %scale = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %w = "tf.Const"() {value = dense<1> : tensor<3x4xi8>} : () -> tensor<3x4xi8>
  %scales = "tf.Const"() {value = dense<[0.5, 1.0, 2.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %zeros = "tf.Const"() {value = dense<[0, 1, 2, 3]> : tensor<4xi8>} : () -> tensor<4xi8>
  %bias = "tf.Const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %none = "tf.Const"() {value = dense<-128> : tensor<i8>} : () -> tensor<i8>
  // CHECK-NOT: onnx.
  // CHECK: "tfrt.QuantizedMatMul"(%arg0, {{.*}}) {operand_segment_sizes = [1, 1, 1, 1, 1, 1, 1, 1, 1]} : ({{.*}}) -> tensor<2x4xi8>
  // CHECK-NEXT: tfrt.return
  %a = "onnx.DequantizeLinear"(%x, %scale, %zero) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %b = "onnx.DequantizeLinear"(%w, %scales, %zeros) {axis = 1} : (tensor<3x4xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<3x4xf32>
  %c = "tf.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %d = "tf.AddV2"(%c, %bias) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // Nothing below zero is left anyway.
  %e = "tf.Relu"(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = "onnx.QuantizeLinear"(%e, %scale, %none) : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  tfrt.return %y : tensor<2x4xi8>
}

// Bytes are moved instead of numbers.

// CHECK-LABEL: func @convolution
func @convolution(%x: tensor<1x2x4x4xui8>) -> tensor<1x3x3x3xf32> {
  %scale = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %w = "tf.Const"() {value = dense<1> : tensor<3x2x2x2xi8>} : () -> tensor<3x2x2x2xi8>
  %scales = "tf.Const"() {value = dense<[0.5, 1.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %zeros = "tf.Const"() {value = dense<0> : tensor<3xi8>} : () -> tensor<3xi8>
  %last = "tf.Const"() {value = dense<[0, 2, 3, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %hwio = "tf.Const"() {value = dense<[2, 3, 1, 0]> : tensor<4xi64>} : () -> tensor<4xi64>
  %first = "tf.Const"() {value = dense<[0, 3, 1, 2]> : tensor<4xi64>} : () -> tensor<4xi64>
  // CHECK-NOT: onnx.
  // CHECK: "tf.Transpose"(%arg0, {{.*}}) : (tensor<1x2x4x4xui8>, tensor<4xi64>) -> tensor<1x4x4x2xui8>
  // CHECK-NOT: onnx.
  // CHECK: "tfrt.QuantizedConv2D"({{.*}}operand_segment_sizes = [1, 1, 1, 1, 1, 1, 0, 0, 0]{{.*}}tensor<2x2x2x3xi8>{{.*}} -> tensor<1x3x3x3xf32>
  %a = "onnx.DequantizeLinear"(%x, %scale, %zero) : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %b = "onnx.DequantizeLinear"(%w, %scales, %zeros) {axis = 0} : (tensor<3x2x2x2xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<3x2x2x2xf32>
  %images = "tf.Transpose"(%a, %last) : (tensor<1x2x4x4xf32>, tensor<4xi64>) -> tensor<1x4x4x2xf32>
  %filter = "tf.Transpose"(%b, %hwio) : (tensor<3x2x2x2xf32>, tensor<4xi64>) -> tensor<2x2x2x3xf32>
  %c = "tf.Conv2D"(%images, %filter) {padding = "VALID", strides = [1, 1, 1, 1]} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>
  %y = "tf.Transpose"(%c, %first) : (tensor<1x3x3x3xf32>, tensor<4xi64>) -> tensor<1x3x3x3xf32>
  tfrt.return %y : tensor<1x3x3x3xf32>
}

// A tensor that is quantized by its own range, and one with its scales.

// CHECK-LABEL: func @dynamic
func @dynamic(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = "tf.Const"() {value = dense<1> : tensor<3x4xi8>} : () -> tensor<3x4xi8>
  %zero = "tf.Const"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %own = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %bias = "tf.Const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  // CHECK: %[[a:[0-9]+]]:3 = "onnx.DynamicQuantizeLinear"(%arg0)
  // CHECK: %[[scale:[0-9]+]] = "tf.Mul"(%[[a]]#1, {{.*}})
  // CHECK: "tfrt.QuantizedMatMul"(%[[a]]#0, %[[scale]], %[[a]]#2, {{.*}}) {operand_segment_sizes = [1, 1, 1, 1, 1, 1, 1, 0, 0]}
  // CHECK-NEXT: tfrt.return
  %a:3 = "onnx.DynamicQuantizeLinear"(%x) : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
  %scale = "tf.Mul"(%a#1, %own) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %sums = "onnx.MatMulInteger"(%a#0, %w, %a#2, %zero) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
  %numbers = "tf.Cast"(%sums) {DstT = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
  %scaled = "tf.Mul"(%numbers, %scale) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %y = "tf.AddV2"(%bias, %scaled) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  tfrt.return %y : tensor<2x4xf32>
}

// A swish of which every part is quantized is a table: what -128 to 127 become, beginning with 0.

// CHECK-LABEL: func @table
func @table(%x: tensor<2x?xi8>) -> tensor<2x?xui8> {
  %scale = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %none = "tf.Const"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %many = "tf.Const"() {value = dense<0.00390625> : tensor<f32>} : () -> tensor<f32>
  // CHECK-NOT: onnx.
  // CHECK: dense<"0x00000101020203030404050506060707
  // CHECK-NEXT: "tfrt.ByteTable"(%arg0, %{{.*}}) : (tensor<2x?xi8>, tensor<256xui8>) -> tensor<2x?xui8>
  // CHECK-NEXT: tfrt.return
  %a = "onnx.DequantizeLinear"(%x, %scale, %zero) : (tensor<2x?xi8>, tensor<f32>, tensor<i8>) -> tensor<2x?xf32>
  %b = "tf.Sigmoid"(%a) : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %c = "onnx.QuantizeLinear"(%b, %many, %none) : (tensor<2x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x?xui8>
  %d = "onnx.DequantizeLinear"(%c, %many, %none) : (tensor<2x?xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x?xf32>
  %e = "tf.Mul"(%a, %d) : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %y = "onnx.QuantizeLinear"(%e, %one, %none) : (tensor<2x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x?xui8>
  tfrt.return %y : tensor<2x?xui8>
}

// A scale for each row, or for blocks, is no scale of columns: such weights are numbers.

// CHECK-LABEL: func @others
func @others(%x: tensor<2x3xui8>) -> tensor<2x2xf32> {
  %scale = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %w = "tf.Const"() {value = dense<2> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %scales = "tf.Const"() {value = dense<[0.5, 1.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %zeros = "tf.Const"() {value = dense<0> : tensor<3xi8>} : () -> tensor<3xi8>
  // CHECK: "tf.MatMul"
  %a = "onnx.DequantizeLinear"(%x, %scale, %zero) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %b = "onnx.DequantizeLinear"(%w, %scales, %zeros) {axis = 0} : (tensor<3x2xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<3x2xf32>
  %y = "tf.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  tfrt.return %y : tensor<2x2xf32>
}

// The sum of so many products of bytes may be no i32.

// CHECK-LABEL: func @deep
func @deep(%x: tensor<1x33026xui8>, %y: tensor<1x33025xui8>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %scale = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %v = "tf.Const"() {value = dense<2> : tensor<33026x1xi8>} : () -> tensor<33026x1xi8>
  %w = "tf.Const"() {value = dense<2> : tensor<33025x1xi8>} : () -> tensor<33025x1xi8>
  // CHECK: "tf.MatMul"
  // CHECK-NOT: tf.MatMul
  // Zeros that are left out are the number zero.
  // CHECK: dense<0> : tensor<ui8>
  // CHECK: dense<0> : tensor<i8>
  // CHECK: "tfrt.QuantizedMatMul"(%arg1,
  %a = "onnx.DequantizeLinear"(%x, %scale) : (tensor<1x33026xui8>, tensor<f32>) -> tensor<1x33026xf32>
  %b = "onnx.DequantizeLinear"(%v, %scale) : (tensor<33026x1xi8>, tensor<f32>) -> tensor<33026x1xf32>
  %c = "tf.MatMul"(%a, %b) : (tensor<1x33026xf32>, tensor<33026x1xf32>) -> tensor<1x1xf32>
  %d = "onnx.DequantizeLinear"(%y, %scale) : (tensor<1x33025xui8>, tensor<f32>) -> tensor<1x33025xf32>
  %e = "onnx.DequantizeLinear"(%w, %scale) : (tensor<33025x1xi8>, tensor<f32>) -> tensor<33025x1xf32>
  %f = "tf.MatMul"(%d, %e) : (tensor<1x33025xf32>, tensor<33025x1xf32>) -> tensor<1x1xf32>
  tfrt.return %c, %f : tensor<1x1xf32>, tensor<1x1xf32>
}
