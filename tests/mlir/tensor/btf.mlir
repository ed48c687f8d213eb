// Tensors of a BTF file: a dense F32 [2, 2], a sparse F32 [2, 3] and a dense UI8 [3].
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'reads'
func @reads() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/sample.btf"} : () -> !tfrt.string
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %dense = "btf.read_dense_tensor.f32.2"(%path, %zero) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch1 = tfrt_dht.print_tensor %dense, %ch0
  // What was read may be written to.
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %dense, %ch1 0.0 : f32
  %sparse = "btf.read_coo_tensor.f32.2"(%path, %one) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [2, 3], indices = [0, 1, 1, 2], values = [1.500000e+00, -2.000000e+00]
  %ch3 = tfrt_dht.print_tensor %sparse, %ch2
  %bytes = "btf.read_dense_tensor.ui8.1"(%path, %two) : (!tfrt.string, i32) -> !t.tensor
  // CHECK: DenseHostTensor dtype = UI8, shape = [3], values = [1, 2, 3]
  %ch4 = tfrt_dht.print_tensor %bytes, %ch3
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/sample.btf"} : () -> !tfrt.string
  %nowhere = "tfrt_test.get_string"() {value = "tests/mlir/tensor/nowhere.btf"} : () -> !tfrt.string
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %nine = tfrt.constant.i32 9
  %minus = tfrt.constant.i32 -1
  // expected-error @+1 {{failed to open file tests/mlir/tensor/nowhere.btf for reading}}
  %a = "btf.read_dense_tensor.f32.2"(%nowhere, %zero) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{invalid tensor index 9 to read tensor from path tests/mlir/tensor/sample.btf which contains 3 tensors}}
  %b = "btf.read_dense_tensor.f32.2"(%path, %nine) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{invalid tensor index -1 to read tensor}}
  %c = "btf.read_dense_tensor.f32.2"(%path, %minus) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{unexpected tensor dtype f32. Expected dtype is i32}}
  %d = "btf.read_dense_tensor.i32.2"(%path, %zero) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{unexpected tensor rank 2. Expected rank is 1}}
  %e = "btf.read_dense_tensor.f32.1"(%path, %zero) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{unexpected tensor layout COOrdinate list sparse tensor}}
  %f = "btf.read_dense_tensor.f32.2"(%path, %one) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return
}
