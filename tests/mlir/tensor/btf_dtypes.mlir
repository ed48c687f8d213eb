// Tensors of BTF files in every data type and rank that the kernels read: dense ones with the ends of the type's range,
// sparse ones with one element. The sparse tensors of the file carry both numbers that stand for their layout.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'dense_i8'
func @dense_i8() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n0 = tfrt.constant.i32 0
  %t0 = "btf.read_dense_tensor.i8.0"(%path, %n0) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [], values = [-128]
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n1 = tfrt.constant.i32 1
  %t1 = "btf.read_dense_tensor.i8.1"(%path, %n1) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [-128, 127]
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n2 = tfrt.constant.i32 2
  %t2 = "btf.read_dense_tensor.i8.2"(%path, %n2) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [1, 2], values = [-128, 127]
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n3 = tfrt.constant.i32 3
  %t3 = "btf.read_dense_tensor.i8.3"(%path, %n3) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2, 1, 1], values = [-128, 127]
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n4 = tfrt.constant.i32 4
  %t4 = "btf.read_dense_tensor.i8.4"(%path, %n4) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [1, 2, 1, 1], values = [-128, 127]
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'dense_i32'
func @dense_i32() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n5 = tfrt.constant.i32 5
  %t0 = "btf.read_dense_tensor.i32.0"(%path, %n5) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [], values = [-2147483648]
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n6 = tfrt.constant.i32 6
  %t1 = "btf.read_dense_tensor.i32.1"(%path, %n6) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [-2147483648, 2147483647]
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n7 = tfrt.constant.i32 7
  %t2 = "btf.read_dense_tensor.i32.2"(%path, %n7) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2], values = [-2147483648, 2147483647]
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n8 = tfrt.constant.i32 8
  %t3 = "btf.read_dense_tensor.i32.3"(%path, %n8) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2, 1, 1], values = [-2147483648, 2147483647]
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n9 = tfrt.constant.i32 9
  %t4 = "btf.read_dense_tensor.i32.4"(%path, %n9) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2, 1, 1], values = [-2147483648, 2147483647]
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'dense_i64'
func @dense_i64() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n10 = tfrt.constant.i32 10
  %t0 = "btf.read_dense_tensor.i64.0"(%path, %n10) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [], values = [-9223372036854775808]
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n11 = tfrt.constant.i32 11
  %t1 = "btf.read_dense_tensor.i64.1"(%path, %n11) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [-9223372036854775808, 9223372036854775807]
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n12 = tfrt.constant.i32 12
  %t2 = "btf.read_dense_tensor.i64.2"(%path, %n12) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [1, 2], values = [-9223372036854775808, 9223372036854775807]
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n13 = tfrt.constant.i32 13
  %t3 = "btf.read_dense_tensor.i64.3"(%path, %n13) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 1, 1], values = [-9223372036854775808, 9223372036854775807]
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n14 = tfrt.constant.i32 14
  %t4 = "btf.read_dense_tensor.i64.4"(%path, %n14) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [1, 2, 1, 1], values = [-9223372036854775808, 9223372036854775807]
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'dense_f32'
func @dense_f32() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n15 = tfrt.constant.i32 15
  %t0 = "btf.read_dense_tensor.f32.0"(%path, %n15) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [-1.500000e+00]
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n16 = tfrt.constant.i32 16
  %t1 = "btf.read_dense_tensor.f32.1"(%path, %n16) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [-1.500000e+00, 2.500000e-01]
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n17 = tfrt.constant.i32 17
  %t2 = "btf.read_dense_tensor.f32.2"(%path, %n17) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2], values = [-1.500000e+00, 2.500000e-01]
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n18 = tfrt.constant.i32 18
  %t3 = "btf.read_dense_tensor.f32.3"(%path, %n18) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [-1.500000e+00, 2.500000e-01]
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n19 = tfrt.constant.i32 19
  %t4 = "btf.read_dense_tensor.f32.4"(%path, %n19) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 1, 1], values = [-1.500000e+00, 2.500000e-01]
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'dense_f64'
func @dense_f64() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n20 = tfrt.constant.i32 20
  %t0 = "btf.read_dense_tensor.f64.0"(%path, %n20) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [], values = [-1.000000e+100]
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n21 = tfrt.constant.i32 21
  %t1 = "btf.read_dense_tensor.f64.1"(%path, %n21) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [-1.000000e+100, 1.000000e-01]
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n22 = tfrt.constant.i32 22
  %t2 = "btf.read_dense_tensor.f64.2"(%path, %n22) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2], values = [-1.000000e+100, 1.000000e-01]
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n23 = tfrt.constant.i32 23
  %t3 = "btf.read_dense_tensor.f64.3"(%path, %n23) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2, 1, 1], values = [-1.000000e+100, 1.000000e-01]
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n24 = tfrt.constant.i32 24
  %t4 = "btf.read_dense_tensor.f64.4"(%path, %n24) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2, 1, 1], values = [-1.000000e+100, 1.000000e-01]
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'dense_ui8'
func @dense_ui8() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n25 = tfrt.constant.i32 25
  %t0 = "btf.read_dense_tensor.ui8.0"(%path, %n25) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [], values = [255]
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n26 = tfrt.constant.i32 26
  %t1 = "btf.read_dense_tensor.ui8.1"(%path, %n26) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [255, 1]
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n27 = tfrt.constant.i32 27
  %t2 = "btf.read_dense_tensor.ui8.2"(%path, %n27) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [1, 2], values = [255, 1]
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n28 = tfrt.constant.i32 28
  %t3 = "btf.read_dense_tensor.ui8.3"(%path, %n28) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2, 1, 1], values = [255, 1]
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n29 = tfrt.constant.i32 29
  %t4 = "btf.read_dense_tensor.ui8.4"(%path, %n29) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [1, 2, 1, 1], values = [255, 1]
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'sparse_i8'
func @sparse_i8() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n30 = tfrt.constant.i32 30
  %t0 = "btf.read_coo_tensor.i8.0"(%path, %n30) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I8, shape = [], indices = [], values = [127]
  // CHECK-EMPTY:
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n31 = tfrt.constant.i32 31
  %t1 = "btf.read_coo_tensor.i8.1"(%path, %n31) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I8, shape = [2], indices = [1], values = [127]
  // CHECK-EMPTY:
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n32 = tfrt.constant.i32 32
  %t2 = "btf.read_coo_tensor.i8.2"(%path, %n32) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I8, shape = [1, 2], indices = [0, 1], values = [127]
  // CHECK-EMPTY:
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n33 = tfrt.constant.i32 33
  %t3 = "btf.read_coo_tensor.i8.3"(%path, %n33) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I8, shape = [2, 1, 1], indices = [1, 0, 0], values = [127]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n34 = tfrt.constant.i32 34
  %t4 = "btf.read_coo_tensor.i8.4"(%path, %n34) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I8, shape = [1, 2, 1, 1], indices = [0, 1, 0, 0], values = [127]
  // CHECK-EMPTY:
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'sparse_i32'
func @sparse_i32() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n35 = tfrt.constant.i32 35
  %t0 = "btf.read_coo_tensor.i32.0"(%path, %n35) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [], indices = [], values = [2147483647]
  // CHECK-EMPTY:
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n36 = tfrt.constant.i32 36
  %t1 = "btf.read_coo_tensor.i32.1"(%path, %n36) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [2], indices = [1], values = [2147483647]
  // CHECK-EMPTY:
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n37 = tfrt.constant.i32 37
  %t2 = "btf.read_coo_tensor.i32.2"(%path, %n37) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [1, 2], indices = [0, 1], values = [2147483647]
  // CHECK-EMPTY:
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n38 = tfrt.constant.i32 38
  %t3 = "btf.read_coo_tensor.i32.3"(%path, %n38) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [2, 1, 1], indices = [1, 0, 0], values = [2147483647]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n39 = tfrt.constant.i32 39
  %t4 = "btf.read_coo_tensor.i32.4"(%path, %n39) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [1, 2, 1, 1], indices = [0, 1, 0, 0], values = [2147483647]
  // CHECK-EMPTY:
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'sparse_f32'
func @sparse_f32() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n40 = tfrt.constant.i32 40
  %t0 = "btf.read_coo_tensor.f32.0"(%path, %n40) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [], indices = [], values = [2.500000e-01]
  // CHECK-EMPTY:
  %ch1 = tfrt_dht.print_tensor %t0, %ch0
  %n41 = tfrt.constant.i32 41
  %t1 = "btf.read_coo_tensor.f32.1"(%path, %n41) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [2], indices = [1], values = [2.500000e-01]
  // CHECK-EMPTY:
  %ch2 = tfrt_dht.print_tensor %t1, %ch1
  %n42 = tfrt.constant.i32 42
  %t2 = "btf.read_coo_tensor.f32.2"(%path, %n42) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [1, 2], indices = [0, 1], values = [2.500000e-01]
  // CHECK-EMPTY:
  %ch3 = tfrt_dht.print_tensor %t2, %ch2
  %n43 = tfrt.constant.i32 43
  %t3 = "btf.read_coo_tensor.f32.3"(%path, %n43) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [2, 1, 1], indices = [1, 0, 0], values = [2.500000e-01]
  // CHECK-EMPTY:
  %ch4 = tfrt_dht.print_tensor %t3, %ch3
  %n44 = tfrt.constant.i32 44
  %t4 = "btf.read_coo_tensor.f32.4"(%path, %n44) : (!tfrt.string, i32) -> !t.tensor
  // CHECK-NEXT: CooHostTensor dtype = F32, shape = [1, 2, 1, 1], indices = [0, 1, 0, 0], values = [2.500000e-01]
  // CHECK-EMPTY:
  %ch5 = tfrt_dht.print_tensor %t4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %ch0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() {value = "tests/mlir/tensor/dtypes.btf"} : () -> !tfrt.string
  %n0 = tfrt.constant.i32 0
  %n30 = tfrt.constant.i32 30
  // expected-error @+1 {{unexpected tensor dtype i8. Expected dtype is ui8}}
  %a = "btf.read_dense_tensor.ui8.0"(%path, %n0) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{unexpected tensor rank 0. Expected rank is 4}}
  %b = "btf.read_dense_tensor.i8.4"(%path, %n0) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{unexpected tensor layout Row-Major Dense tensor}}
  %c = "btf.read_coo_tensor.i8.0"(%path, %n0) : (!tfrt.string, i32) -> !t.tensor
  // expected-error @+1 {{unexpected tensor rank 0. Expected rank is 1}}
  %d = "btf.read_coo_tensor.i8.1"(%path, %n30) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return
}
