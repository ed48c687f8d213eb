// RUN: tfrt_opt --fold-dequantized --dead-code %s | FileCheck %s
// RUN: tfrt_opt --fold-dequantized-again --dead-code %s | FileCheck %s --check-prefix=AGAIN

// A constant that a product takes may stay in bytes for a later pass. What is left is dequantized again.

// CHECK-LABEL: func @main
// CHECK: %[[matrix:[0-9]+]] = "onnx.DequantizeLinear"
// CHECK-NEXT: %[[bias:[0-9]+]] = "tf.Const"() {value = dense<[-1.000000e+00, 0.000000e+00]> : tensor<2xf32>}
// CHECK-NEXT: %[[product:[0-9]+]] = "tf.MatMul"(%arg0, %[[matrix]])
// CHECK-NEXT: "tf.AddV2"(%[[product]], %[[bias]])
// AGAIN-LABEL: func @main
// AGAIN-NOT: onnx.DequantizeLinear
// AGAIN: dense<{{\[\[}}5.000000e-01, 1.000000e+00], [1.500000e+00, 2.000000e+00]]> : tensor<2x2xf32>
// AGAIN: tfrt.return
func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %scale = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %w = "tf.Const"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %b = "tf.Const"() {value = dense<[-2, 0]> : tensor<2xi8>} : () -> tensor<2xi8>
  %matrix = "onnx.DequantizeLinear"(%w, %scale) : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %bias = "onnx.DequantizeLinear"(%b, %scale) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  %product = "tf.MatMul"(%x, %matrix) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %y = "tf.AddV2"(%product, %bias) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  tfrt.return %y : tensor<1x2xf32>
}
