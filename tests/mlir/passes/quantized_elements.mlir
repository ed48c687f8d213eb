// RUN: tfrt_opt --fuse-quantized --fold-dequantized-again --dead-code %s | FileCheck %s

// A residual sum of two convolutions stays in bytes, and so does what is added to it.

// CHECK-LABEL: func @main
func @main(%x: tensor<1x4x4x8xui8>, %y: tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xui8> {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %quarter = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %minus = "tf.Const"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %none = "tf.Const"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  // CHECK-NOT: onnx.
  // CHECK: "tfrt.QuantizedAdd"(%arg0, {{.*}}, {{.*}}, %arg1, {{.*}}) : ({{.*}}) -> tensor<1x4x4x8xui8>
  // CHECK-NEXT: tfrt.return
  %a = "onnx.DequantizeLinear"(%x, %half, %zero) : (tensor<1x4x4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x8xf32>
  %b = "onnx.DequantizeLinear"(%y, %quarter, %minus) : (tensor<1x4x4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x8xf32>
  %c = "tf.AddV2"(%a, %b) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %d = "tf.Relu"(%c) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %e = "onnx.QuantizeLinear"(%d, %half, %none) : (tensor<1x4x4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x8xui8>
  tfrt.return %e : tensor<1x4x4x8xui8>
}

// Squeeze and excite: means of images, and factors that repeat in them. The larger operand comes first.

// CHECK-LABEL: func @excite
func @excite(%x: tensor<2x4x4x8xui8>, %y: tensor<2x1x1x8xui8>) -> (tensor<2x1x1x8xi8>, tensor<2x4x4x8xui8>) {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %minus = "tf.Const"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %axes = "tf.Const"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  // CHECK-NOT: onnx.
  // CHECK: "tfrt.QuantizedMean"(%arg0, {{.*}}) {keep_dims = true} : ({{.*}}) -> tensor<2x1x1x8xi8>
  // CHECK-NOT: onnx.
  // CHECK: "tfrt.QuantizedMul"(%arg0, {{.*}}, {{.*}}, %arg1, {{.*}}) : ({{.*}}) -> tensor<2x4x4x8xui8>
  // CHECK-NEXT: tfrt.return
  %a = "onnx.DequantizeLinear"(%x, %half, %zero) : (tensor<2x4x4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x4x8xf32>
  %b = "tf.Mean"(%a, %axes) {keep_dims = true} : (tensor<2x4x4x8xf32>, tensor<2xi64>) -> tensor<2x1x1x8xf32>
  %c = "onnx.QuantizeLinear"(%b, %half, %minus) : (tensor<2x1x1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<2x1x1x8xi8>
  %d = "onnx.DequantizeLinear"(%y, %half, %zero) : (tensor<2x1x1x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x1x1x8xf32>
  %e = "tf.Mul"(%d, %a) : (tensor<2x1x1x8xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
  %f = "onnx.QuantizeLinear"(%e, %half, %zero) : (tensor<2x4x4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4x4x8xui8>
  tfrt.return %c, %f : tensor<2x1x1x8xi8>, tensor<2x4x4x8xui8>
}

// Maxima of bytes that are dequantized and quantized in the same way need no table.

// CHECK-LABEL: func @pool
func @pool(%x: tensor<1x4x4x2xui8>) -> tensor<1x2x2x2xui8> {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  // CHECK-NEXT: "tf.MaxPool"(%arg0) {{.*}} : (tensor<1x4x4x2xui8>) -> tensor<1x2x2x2xui8>
  // CHECK-NEXT: tfrt.return
  %a = "onnx.DequantizeLinear"(%x, %half, %zero) : (tensor<1x4x4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x2xf32>
  %b = "tf.MaxPool"(%a) {ksize = [1, 2, 2, 1], padding = "VALID", strides = [1, 2, 2, 1]} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
  %c = "onnx.QuantizeLinear"(%b, %half, %zero) : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xui8>
  tfrt.return %c : tensor<1x2x2x2xui8>
}

// What is concatenated gets the scale of the result by a table, unless it has it.

// CHECK-LABEL: func @concat
func @concat(%x: tensor<2x3xui8>, %y: tensor<2x4xi8>) -> tensor<2x7xui8> {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %minus = "tf.Const"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %axis = "tf.Const"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  // CHECK-NOT: onnx.
  // CHECK: %[[table:[0-9]+]] = "tfrt.ByteTable"(%arg1, {{.*}}) : ({{.*}}) -> tensor<2x4xui8>
  // CHECK-NEXT: "tf.ConcatV2"(%arg0, %[[table]], {{.*}}) : ({{.*}}) -> tensor<2x7xui8>
  // CHECK-NEXT: tfrt.return
  %a = "onnx.DequantizeLinear"(%x, %half, %zero) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %b = "onnx.DequantizeLinear"(%y, %half, %minus) : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %c = "tf.ConcatV2"(%a, %b, %axis) : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<i64>) -> tensor<2x7xf32>
  %d = "onnx.QuantizeLinear"(%c, %half, %zero) : (tensor<2x7xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x7xui8>
  tfrt.return %d : tensor<2x7xui8>
}

// Extents that are not known may differ, operands may repeat in dimensions that are not adjacent, and
// means may be of other dimensions: these stay numbers. So do maxima under a negative scale.

// CHECK-LABEL: func @others
func @others(%x: tensor<?x4xui8>, %v: tensor<?x4xui8>, %y: tensor<2x3x4xui8>, %z: tensor<1x3x1xui8>, %w: tensor<2x3x4x5xui8>) -> (tensor<?x4xui8>, tensor<2x3x4xui8>, tensor<2x3xui8>, tensor<2x3x4x5xf32>) {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %minus = "tf.Const"() {value = dense<-0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %axes = "tf.Const"() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  // CHECK-NOT: tfrt.Quantized
  // CHECK: "tf.AddV2"
  // CHECK: "tf.Mul"
  // CHECK: "tf.Mean"
  // CHECK: "tf.MaxPool"({{.*}}) {{.*}} : (tensor<2x3x4x5xf32>)
  // CHECK-NEXT: tfrt.return
  %a = "onnx.DequantizeLinear"(%x, %half, %zero) : (tensor<?x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x4xf32>
  %b = "onnx.DequantizeLinear"(%v, %half, %zero) : (tensor<?x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x4xf32>
  %c = "tf.AddV2"(%a, %b) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = "onnx.QuantizeLinear"(%c, %half, %zero) : (tensor<?x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x4xui8>
  %e = "onnx.DequantizeLinear"(%y, %half, %zero) : (tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x4xf32>
  %f = "onnx.DequantizeLinear"(%z, %half, %zero) : (tensor<1x3x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x1xf32>
  %g = "tf.Mul"(%e, %f) : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
  %h = "onnx.QuantizeLinear"(%g, %half, %zero) : (tensor<2x3x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3x4xui8>
  %i = "onnx.DequantizeLinear"(%w, %minus, %zero) : (tensor<2x3x4x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x4x5xf32>
  %j = "tf.Mean"(%i, %axes) : (tensor<2x3x4x5xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %k = "onnx.QuantizeLinear"(%j, %half, %zero) : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %l = "onnx.DequantizeLinear"(%w, %minus, %zero) : (tensor<2x3x4x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x4x5xf32>
  %m = "tf.MaxPool"(%l) {ksize = [1, 1, 1, 1], padding = "VALID", strides = [1, 1, 1, 1]} : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  tfrt.return %d, %h, %k, %m : tensor<?x4xui8>, tensor<2x3x4xui8>, tensor<2x3xui8>, tensor<2x3x4x5xf32>
}
