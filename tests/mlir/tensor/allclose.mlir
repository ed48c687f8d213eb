// Tensors of floating-point numbers that are close, and not: 1 beside numbers ever further away, each within the next
// tolerance but not within the one before. A tolerance is in units in the last place of the sum, so that in half precision
// the wide ones reach numbers of the other sign. Of complex numbers the imaginary parts differ.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'f16'
func @f16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.f16 %x, %ch0 1.0 : f16
  %y0 = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch2 = tfrt_dht.fill_tensor_with_constant.f16 %y0, %ch1 1.00390625 : f16
  %y1 = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch3 = tfrt_dht.fill_tensor_with_constant.f16 %y1, %ch2 1.0048828125 : f16
  %y2 = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch4 = tfrt_dht.fill_tensor_with_constant.f16 %y2, %ch3 0.25 : f16
  %y3 = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch5 = tfrt_dht.fill_tensor_with_constant.f16 %y3, %ch4 -0.25 : f16
  %y4 = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch6 = tfrt_dht.fill_tensor_with_constant.f16 %y4, %ch5 -0.75 : f16
  %y5 = tfrt_dht.create_uninitialized_tensor.f16.0 []
  %ch7 = tfrt_dht.fill_tensor_with_constant.f16 %y5, %ch6 -1.0 : f16
  %near2, %ch8 = tfrt_dht.tensor_allclose.f16 %x, %y0, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near2, %ch8
  %far2, %ch10 = tfrt_dht.tensor_allclose.f16 %x, %y1, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far2, %ch10
  %near3, %ch12 = tfrt_dht.tensor_allclose.3ulp.f16 %x, %y1, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near3, %ch12
  %far3, %ch14 = tfrt_dht.tensor_allclose.3ulp.f16 %x, %y2, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far3, %ch14
  %near1000, %ch16 = tfrt_dht.tensor_allclose.1000ulp.f16 %x, %y2, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near1000, %ch16
  %far1000, %ch18 = tfrt_dht.tensor_allclose.1000ulp.f16 %x, %y3, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far1000, %ch18
  %near2000, %ch20 = tfrt_dht.tensor_allclose.2000ulp.f16 %x, %y3, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near2000, %ch20
  %far2000, %ch22 = tfrt_dht.tensor_allclose.2000ulp.f16 %x, %y4, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far2000, %ch22
  %near100000, %ch24 = tfrt_dht.tensor_allclose.100000ulp.f16 %x, %y4, %ch23
  // CHECK-NEXT: int1 = 1
  %ch25 = tfrt.print.i1 %near100000, %ch24
  %far100000, %ch26 = tfrt_dht.tensor_allclose.100000ulp.f16 %x, %y5, %ch25
  // CHECK-NEXT: int1 = 0
  %ch27 = tfrt.print.i1 %far100000, %ch26
  tfrt.return
}

// CHECK-LABEL: --- Running 'bf16'
func @bf16() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.bf16 %x, %ch0 1.0 : bf16
  %y0 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch2 = tfrt_dht.fill_tensor_with_constant.bf16 %y0, %ch1 1.03125 : bf16
  %y1 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch3 = tfrt_dht.fill_tensor_with_constant.bf16 %y1, %ch2 1.0390625 : bf16
  %y2 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch4 = tfrt_dht.fill_tensor_with_constant.bf16 %y2, %ch3 -0.5 : bf16
  %y3 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch5 = tfrt_dht.fill_tensor_with_constant.bf16 %y3, %ch4 -0.8125 : bf16
  %y4 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch6 = tfrt_dht.fill_tensor_with_constant.bf16 %y4, %ch5 -0.984375 : bf16
  %y5 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %ch7 = tfrt_dht.fill_tensor_with_constant.bf16 %y5, %ch6 -1.0 : bf16
  %near2, %ch8 = tfrt_dht.tensor_allclose.bf16 %x, %y0, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near2, %ch8
  %far2, %ch10 = tfrt_dht.tensor_allclose.bf16 %x, %y1, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far2, %ch10
  %near3, %ch12 = tfrt_dht.tensor_allclose.3ulp.bf16 %x, %y1, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near3, %ch12
  %far3, %ch14 = tfrt_dht.tensor_allclose.3ulp.bf16 %x, %y2, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far3, %ch14
  %near1000, %ch16 = tfrt_dht.tensor_allclose.1000ulp.bf16 %x, %y2, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near1000, %ch16
  %far1000, %ch18 = tfrt_dht.tensor_allclose.1000ulp.bf16 %x, %y3, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far1000, %ch18
  %near2000, %ch20 = tfrt_dht.tensor_allclose.2000ulp.bf16 %x, %y3, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near2000, %ch20
  %far2000, %ch22 = tfrt_dht.tensor_allclose.2000ulp.bf16 %x, %y4, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far2000, %ch22
  %near100000, %ch24 = tfrt_dht.tensor_allclose.100000ulp.bf16 %x, %y4, %ch23
  // CHECK-NEXT: int1 = 1
  %ch25 = tfrt.print.i1 %near100000, %ch24
  %far100000, %ch26 = tfrt_dht.tensor_allclose.100000ulp.bf16 %x, %y5, %ch25
  // CHECK-NEXT: int1 = 0
  %ch27 = tfrt.print.i1 %far100000, %ch26
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32'
func @f32() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %x, %ch0 1.0 : f32
  %y0 = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %y0, %ch1 1.0000004768371582 : f32
  %y1 = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %y1, %ch2 1.0000005960464478 : f32
  %y2 = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch4 = tfrt_dht.fill_tensor_with_constant.f32 %y2, %ch3 1.0001788139343262 : f32
  %y3 = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch5 = tfrt_dht.fill_tensor_with_constant.f32 %y3, %ch4 1.0003576278686523 : f32
  %y4 = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch6 = tfrt_dht.fill_tensor_with_constant.f32 %y4, %ch5 1.0178813934326172 : f32
  %y5 = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch7 = tfrt_dht.fill_tensor_with_constant.f32 %y5, %ch6 1.0476837158203125 : f32
  %near2, %ch8 = tfrt_dht.tensor_allclose.f32 %x, %y0, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near2, %ch8
  %far2, %ch10 = tfrt_dht.tensor_allclose.f32 %x, %y1, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far2, %ch10
  %near3, %ch12 = tfrt_dht.tensor_allclose.3ulp.f32 %x, %y1, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near3, %ch12
  %far3, %ch14 = tfrt_dht.tensor_allclose.3ulp.f32 %x, %y2, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far3, %ch14
  %near1000, %ch16 = tfrt_dht.tensor_allclose.1000ulp.f32 %x, %y2, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near1000, %ch16
  %far1000, %ch18 = tfrt_dht.tensor_allclose.1000ulp.f32 %x, %y3, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far1000, %ch18
  %near2000, %ch20 = tfrt_dht.tensor_allclose.2000ulp.f32 %x, %y3, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near2000, %ch20
  %far2000, %ch22 = tfrt_dht.tensor_allclose.2000ulp.f32 %x, %y4, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far2000, %ch22
  %near100000, %ch24 = tfrt_dht.tensor_allclose.100000ulp.f32 %x, %y4, %ch23
  // CHECK-NEXT: int1 = 1
  %ch25 = tfrt.print.i1 %near100000, %ch24
  %far100000, %ch26 = tfrt_dht.tensor_allclose.100000ulp.f32 %x, %y5, %ch25
  // CHECK-NEXT: int1 = 0
  %ch27 = tfrt.print.i1 %far100000, %ch26
  tfrt.return
}

// CHECK-LABEL: --- Running 'f64'
func @f64() {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch1 = tfrt_dht.fill_tensor_with_constant.f64 %x, %ch0 1.0 : f64
  %y0 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch2 = tfrt_dht.fill_tensor_with_constant.f64 %y0, %ch1 1.0000000000000009 : f64
  %y1 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch3 = tfrt_dht.fill_tensor_with_constant.f64 %y1, %ch2 1.000000000000001 : f64
  %y2 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch4 = tfrt_dht.fill_tensor_with_constant.f64 %y2, %ch3 1.000000000000333 : f64
  %y3 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch5 = tfrt_dht.fill_tensor_with_constant.f64 %y3, %ch4 1.0000000000006661 : f64
  %y4 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch6 = tfrt_dht.fill_tensor_with_constant.f64 %y4, %ch5 1.0000000000333067 : f64
  %y5 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %ch7 = tfrt_dht.fill_tensor_with_constant.f64 %y5, %ch6 1.0000000000888178 : f64
  %near2, %ch8 = tfrt_dht.tensor_allclose.f64 %x, %y0, %ch7
  // CHECK-NEXT: int1 = 1
  %ch9 = tfrt.print.i1 %near2, %ch8
  %far2, %ch10 = tfrt_dht.tensor_allclose.f64 %x, %y1, %ch9
  // CHECK-NEXT: int1 = 0
  %ch11 = tfrt.print.i1 %far2, %ch10
  %near3, %ch12 = tfrt_dht.tensor_allclose.3ulp.f64 %x, %y1, %ch11
  // CHECK-NEXT: int1 = 1
  %ch13 = tfrt.print.i1 %near3, %ch12
  %far3, %ch14 = tfrt_dht.tensor_allclose.3ulp.f64 %x, %y2, %ch13
  // CHECK-NEXT: int1 = 0
  %ch15 = tfrt.print.i1 %far3, %ch14
  %near1000, %ch16 = tfrt_dht.tensor_allclose.1000ulp.f64 %x, %y2, %ch15
  // CHECK-NEXT: int1 = 1
  %ch17 = tfrt.print.i1 %near1000, %ch16
  %far1000, %ch18 = tfrt_dht.tensor_allclose.1000ulp.f64 %x, %y3, %ch17
  // CHECK-NEXT: int1 = 0
  %ch19 = tfrt.print.i1 %far1000, %ch18
  %near2000, %ch20 = tfrt_dht.tensor_allclose.2000ulp.f64 %x, %y3, %ch19
  // CHECK-NEXT: int1 = 1
  %ch21 = tfrt.print.i1 %near2000, %ch20
  %far2000, %ch22 = tfrt_dht.tensor_allclose.2000ulp.f64 %x, %y4, %ch21
  // CHECK-NEXT: int1 = 0
  %ch23 = tfrt.print.i1 %far2000, %ch22
  %near100000, %ch24 = tfrt_dht.tensor_allclose.100000ulp.f64 %x, %y4, %ch23
  // CHECK-NEXT: int1 = 1
  %ch25 = tfrt.print.i1 %near100000, %ch24
  %far100000, %ch26 = tfrt_dht.tensor_allclose.100000ulp.f64 %x, %y5, %ch25
  // CHECK-NEXT: int1 = 0
  %ch27 = tfrt.print.i1 %far100000, %ch26
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex64'
func @complex64() {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0)]> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  %y0 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0000004768371582)]> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  %y1 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0000005960464478)]> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  %y2 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0001788139343262)]> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  %y3 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0003576278686523)]> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  %y4 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0178813934326172)]> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  %y5 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0476837158203125)]> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  %near2, %ch1 = tfrt_dht.tensor_allclose.complex64 %x, %y0, %ch0
  // CHECK-NEXT: int1 = 1
  %ch2 = tfrt.print.i1 %near2, %ch1
  %far2, %ch3 = tfrt_dht.tensor_allclose.complex64 %x, %y1, %ch2
  // CHECK-NEXT: int1 = 0
  %ch4 = tfrt.print.i1 %far2, %ch3
  %near3, %ch5 = tfrt_dht.tensor_allclose.3ulp.complex64 %x, %y1, %ch4
  // CHECK-NEXT: int1 = 1
  %ch6 = tfrt.print.i1 %near3, %ch5
  %far3, %ch7 = tfrt_dht.tensor_allclose.3ulp.complex64 %x, %y2, %ch6
  // CHECK-NEXT: int1 = 0
  %ch8 = tfrt.print.i1 %far3, %ch7
  %near1000, %ch9 = tfrt_dht.tensor_allclose.1000ulp.complex64 %x, %y2, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %near1000, %ch9
  %far1000, %ch11 = tfrt_dht.tensor_allclose.1000ulp.complex64 %x, %y3, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %far1000, %ch11
  %near2000, %ch13 = tfrt_dht.tensor_allclose.2000ulp.complex64 %x, %y3, %ch12
  // CHECK-NEXT: int1 = 1
  %ch14 = tfrt.print.i1 %near2000, %ch13
  %far2000, %ch15 = tfrt_dht.tensor_allclose.2000ulp.complex64 %x, %y4, %ch14
  // CHECK-NEXT: int1 = 0
  %ch16 = tfrt.print.i1 %far2000, %ch15
  %near100000, %ch17 = tfrt_dht.tensor_allclose.100000ulp.complex64 %x, %y4, %ch16
  // CHECK-NEXT: int1 = 1
  %ch18 = tfrt.print.i1 %near100000, %ch17
  %far100000, %ch19 = tfrt_dht.tensor_allclose.100000ulp.complex64 %x, %y5, %ch18
  // CHECK-NEXT: int1 = 0
  %ch20 = tfrt.print.i1 %far100000, %ch19
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex128'
func @complex128() {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0)]> : tensor<1xcomplex<f64>>} : () -> !t.tensor
  %y0 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0000000000000009)]> : tensor<1xcomplex<f64>>} : () -> !t.tensor
  %y1 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.000000000000001)]> : tensor<1xcomplex<f64>>} : () -> !t.tensor
  %y2 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.000000000000333)]> : tensor<1xcomplex<f64>>} : () -> !t.tensor
  %y3 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0000000000006661)]> : tensor<1xcomplex<f64>>} : () -> !t.tensor
  %y4 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0000000000333067)]> : tensor<1xcomplex<f64>>} : () -> !t.tensor
  %y5 = "tfrt_test.const_dense_attr"() {value = dense<[(1.0, 1.0000000000888178)]> : tensor<1xcomplex<f64>>} : () -> !t.tensor
  %near2, %ch1 = tfrt_dht.tensor_allclose.complex128 %x, %y0, %ch0
  // CHECK-NEXT: int1 = 1
  %ch2 = tfrt.print.i1 %near2, %ch1
  %far2, %ch3 = tfrt_dht.tensor_allclose.complex128 %x, %y1, %ch2
  // CHECK-NEXT: int1 = 0
  %ch4 = tfrt.print.i1 %far2, %ch3
  %near3, %ch5 = tfrt_dht.tensor_allclose.3ulp.complex128 %x, %y1, %ch4
  // CHECK-NEXT: int1 = 1
  %ch6 = tfrt.print.i1 %near3, %ch5
  %far3, %ch7 = tfrt_dht.tensor_allclose.3ulp.complex128 %x, %y2, %ch6
  // CHECK-NEXT: int1 = 0
  %ch8 = tfrt.print.i1 %far3, %ch7
  %near1000, %ch9 = tfrt_dht.tensor_allclose.1000ulp.complex128 %x, %y2, %ch8
  // CHECK-NEXT: int1 = 1
  %ch10 = tfrt.print.i1 %near1000, %ch9
  %far1000, %ch11 = tfrt_dht.tensor_allclose.1000ulp.complex128 %x, %y3, %ch10
  // CHECK-NEXT: int1 = 0
  %ch12 = tfrt.print.i1 %far1000, %ch11
  %near2000, %ch13 = tfrt_dht.tensor_allclose.2000ulp.complex128 %x, %y3, %ch12
  // CHECK-NEXT: int1 = 1
  %ch14 = tfrt.print.i1 %near2000, %ch13
  %far2000, %ch15 = tfrt_dht.tensor_allclose.2000ulp.complex128 %x, %y4, %ch14
  // CHECK-NEXT: int1 = 0
  %ch16 = tfrt.print.i1 %far2000, %ch15
  %near100000, %ch17 = tfrt_dht.tensor_allclose.100000ulp.complex128 %x, %y4, %ch16
  // CHECK-NEXT: int1 = 1
  %ch18 = tfrt.print.i1 %near100000, %ch17
  %far100000, %ch19 = tfrt_dht.tensor_allclose.100000ulp.complex128 %x, %y5, %ch18
  // CHECK-NEXT: int1 = 0
  %ch20 = tfrt.print.i1 %far100000, %ch19
  tfrt.return
}
