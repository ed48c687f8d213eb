// Constants of a program as tensors.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'constants'
func @constants() {
  %ch0 = tfrt.new.chain
  %ints = "tfrt_test.const_dense_attr"() {value = dense<[[1, -2], [3, 4]]> : tensor<2x2xi16>} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2, 2], values = [1, -2, 3, 4]
  %ch1 = tfrt_dht.print_tensor %ints, %ch0
  %splat = "tfrt_test.const_dense_attr"() {value = dense<2.5> : tensor<3xf64>} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [3], values = [2.500000e+00, 2.500000e+00, 2.500000e+00]
  %ch2 = tfrt_dht.print_tensor %splat, %ch1
  %complex = "tfrt_test.const_dense_attr"() {value = dense<(1.0, -1.0)> : tensor<1xcomplex<f32>>} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [1], values = [(1.000000e+00,-1.000000e+00)]
  %ch3 = tfrt_dht.print_tensor %complex, %ch2
  %shape = tfrt_dht.get_tensor_shape %ints
  // CHECK-NEXT: shape = [2, 2]
  %ch4 = ts.print_shape %shape, %ch3
  tfrt.return
}
