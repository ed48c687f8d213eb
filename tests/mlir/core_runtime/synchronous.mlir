// Ops as kernels of synchronous functions: into tensors that are given, and refused where those do not fit.
//
// RUN: bef_executor $(bef_name %s) 2>&1 | FileCheck %s

// CHECK-LABEL: --- Running 'elementwise'
func @elementwise() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [2, 2], values = [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32] } : () -> !t.tensor
  %b = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [2], values = [2.0 : f32, 4.0 : f32] } : () -> !t.tensor
  %s = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2, 2], value = 10.0 : f32 } : () -> !t.tensor
  %r = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64, 2 : i64]
  "tf_sync.AddV2.f32"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [3.000000e+00, 6.000000e+00, 5.000000e+00, 8.000000e+00]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Sub.f32"(%s, %a, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [9.000000e+00, 8.000000e+00, 7.000000e+00, 6.000000e+00]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Mul.f32"(%s, %s, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [1.000000e+02, 1.000000e+02, 1.000000e+02, 1.000000e+02]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.RealDiv.f32"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [5.000000e-01, 5.000000e-01, 1.500000e+00, 1.000000e+00]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Log.f32"(%a, %r) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [0.000000e+00, 6.931472e-01, 1.098612e+00, 1.386294e+00]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Rsqrt.f32"(%a, %r) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [1.000000e+00, 7.071068e-01, 5.773503e-01, 5.000000e-01]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Softmax.f32"(%a, %r) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [2.689414e-01, 7.310586e-01, 2.689414e-01, 7.310586e-01]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.LogSoftmax.f32"(%a, %r) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [-1.313262e+00, -3.132617e-01, -1.313262e+00, -3.132617e-01]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Sigmoid.f32"(%a, %r) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [7.310586e-01, 8.807970e-01, 9.525741e-01, 9.820138e-01]
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

// The shape of a scalar tensor may be all that the result has of some dimension.
// CHECK-LABEL: --- Running 'scalars'
func @scalars() attributes {tfrt.sync} {
  %s = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2, 3], value = 10.0 : f32 } : () -> !t.tensor
  %column = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2, 1], value = 1.0 : f32 } : () -> !t.tensor
  %row = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [3], values = [1.0 : f32, 2.0 : f32, 3.0 : f32] } : () -> !t.tensor
  %r = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64, 3 : i64]
  "tf_sync.Sub.f32"(%s, %row, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [9.000000e+00, 8.000000e+00, 7.000000e+00, 9.000000e+00, 8.000000e+00, 7.000000e+00]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.AddV2.f32"(%row, %column, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [2.000000e+00, 3.000000e+00, 4.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Mul.f32"(%column, %s, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [1.000000e+01, 1.000000e+01, 1.000000e+01, 1.000000e+01, 1.000000e+01, 1.000000e+01]
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

// CHECK-LABEL: --- Running 'arrays'
func @arrays() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [1, 2], values = [1.0 : f32, 2.0 : f32] } : () -> !t.tensor
  %b = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [1, 1], values = [3.0 : f32] } : () -> !t.tensor
  %axis = "tfrt.constant_s.i32"() { value = -1 : i32 } : () -> i32
  %r = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [1 : i64, 4 : i64]
  "tf_sync.ConcatV2.f32"(%axis, %b, %a, %b, %r) : (i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: shape = [1, 4], values = [3.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]
  tfrt_dht_sync.print_tensor %r
  %multiples = "tfrt_dht_sync.create_dense_tensor.i32"() { shape = [2], values = [2 : i32, 2 : i32] } : () -> !t.tensor
  %t = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64, 4 : i64]
  "tf_sync.Tile.f32"(%a, %multiples, %t) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: shape = [2, 4], values = [1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %t
  "tf_sync.Const"(%r) { value = dense<[[5.0, 6.0, 7.0, 8.0]]> : tensor<1x4xf32> } : (!t.tensor) -> ()
  // CHECK-NEXT: shape = [1, 4], values = [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

// CHECK-LABEL: --- Running 'product'
func @product() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [2, 1], values = [1.0 : f32, -2.0 : f32] } : () -> !t.tensor
  %b = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [2, 1], values = [3.0 : f32, 4.0 : f32] } : () -> !t.tensor
  %bias = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [2], values = [0.5 : f32, 1.0 : f32] } : () -> !t.tensor
  %r = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64, 2 : i64]
  "tf_sync._FusedMatMul.f32"(%a, %b, %r, %bias) { fused_ops = ["BiasAdd", "Relu"], transpose_a = false, transpose_b = true } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: values = [3.500000e+00, 5.000000e+00, 0.000000e+00, 0.000000e+00]
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

// CHECK-LABEL: --- Running 'strings'
func @strings() attributes {tfrt.sync} {
  %s = "tfrt_sht_sync.create_tensor"() { shape = [1, 2], value = ["a", "b"] } : () -> !t.tensor
  %r = "tfrt_sht_sync.create_uninitialized_tensor"() { shape = [2, 4] } : () -> !t.tensor
  "tf_sync.Tile.string"(%s, %r) : (!t.tensor, !t.tensor) -> ()
  // CHECK-NEXT: StringHostTensor shape = [2, 4], values = ["a", "b", "a", "b", "a", "b", "a", "b"]
  tfrt_dht_sync.print_tensor %r
  %odd = "tfrt_sht_sync.create_uninitialized_tensor"() { shape = [2, 3] } : () -> !t.tensor
  // expected-error @+1 {{strings of shape [1, 2] do not tile [2, 3]}}
  "tf_sync.Tile.string"(%s, %odd) : (!t.tensor, !t.tensor) -> ()
  tfrt.return
}

// CHECK-LABEL: --- Running 'strings_twice'
func @strings_twice() attributes {tfrt.sync} {
  %s = "tfrt_sht_sync.create_tensor"() { shape = [1], values = ["a"] } : () -> !t.tensor
  // expected-error @+1 {{a tensor of strings is filled once, and this one has its strings already}}
  "tf_sync.Tile.string"(%s, %s) : (!t.tensor, !t.tensor) -> ()
  tfrt.return
}

// CHECK-LABEL: --- Running 'wrong_result'
func @wrong_result() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [2], values = [1.0 : f32, 2.0 : f32] } : () -> !t.tensor
  %r = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [3 : i64]
  // expected-error @+1 {{the result has shape [2], the tensor for it [3]}}
  "tf_sync.Log1p.f32"(%a, %r) : (!t.tensor, !t.tensor) -> ()
  tfrt.return
}
