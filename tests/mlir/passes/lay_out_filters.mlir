// RUN: tfrt_opt --lay-out-filters --dead-code %s | FileCheck %s

// The constant filter of a fused convolution is transposed once, when the model is compiled.

// CHECK-LABEL: func @main
// CHECK: %[[filter:[0-9]+]] = "tf.Const"() {value = dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00]]], {{\[\[\[}}3.000000e+00, 4.000000e+00]]]]> : tensor<2x1x1x2xf32>}
// CHECK-NEXT: "tfrt.FusedConv2D"(%arg0, %[[filter]], {{.*}}) {activation = "Relu", filter_format = "OHWI", {{.*}}}
// CHECK-NEXT: tfrt.return
func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %w = "tf.Const"() {value = dense<[[[[1.0, 3.0], [2.0, 4.0]]]]> : tensor<1x1x2x2xf32>} : () -> tensor<1x1x2x2xf32>
  %bias = "tf.Const"() {value = dense<[10.0, 20.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tfrt.FusedConv2D"(%x, %w, %bias) {strides = [1, 1, 1, 1], padding = "VALID", activation = "Relu", operand_segment_sizes = [1, 1, 1, 0]}
    : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  tfrt.return %y : tensor<1x4x4x2xf32>
}

// A filter that the caller gives stays as it is.

// CHECK-LABEL: func @given
// CHECK-NOT: filter_format
// CHECK: tfrt.return
func @given(%x: tensor<1x4x4x2xf32>, %w: tensor<1x1x2x2xf32>, %bias: tensor<2xf32>) -> tensor<1x4x4x2xf32> {
  %y = "tfrt.FusedConv2D"(%x, %w, %bias) {strides = [1, 1, 1, 1], padding = "VALID", activation = "Relu", operand_segment_sizes = [1, 1, 1, 0]}
    : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  tfrt.return %y : tensor<1x4x4x2xf32>
}
