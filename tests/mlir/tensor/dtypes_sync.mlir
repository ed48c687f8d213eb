// Dense tensors of every data type, and scalar ones, in functions without chains: up to the ends of the type's range.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'bool'
func @bool() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.bool.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bool %x [0 : i1, 1 : i1]
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [0, 1]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.bool"() {shape = [2 : i64], values = [1 : i1, 0 : i1]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [1, 0]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.bool"() {shape = [1 : i64, 2 : i64], values = [1 : i1]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [1, 2], values = [1, 1]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.bool"() {shape = [3 : i64], value = 1 : i1} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = I1, shape = [3], value = 1
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'i8'
func @i8() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.i8.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i8 %x [-128 : i8, 127 : i8]
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [-128, 127]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.i8"() {shape = [2 : i64], values = [127 : i8, -128 : i8]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [127, -128]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.i8"() {shape = [1 : i64, 2 : i64], values = [127 : i8]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [1, 2], values = [127, 127]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.i8"() {shape = [3 : i64], value = 127 : i8} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = I8, shape = [3], value = 127
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'i16'
func @i16() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.i16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i16 %x [-32768 : i16, 32767 : i16]
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [-32768, 32767]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.i16"() {shape = [2 : i64], values = [32767 : i16, -32768 : i16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [32767, -32768]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.i16"() {shape = [1 : i64, 2 : i64], values = [32767 : i16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [1, 2], values = [32767, 32767]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.i16"() {shape = [3 : i64], value = 32767 : i16} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = I16, shape = [3], value = 32767
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32'
func @i32() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.i32.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %x [-2147483648 : i32, 2147483647 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [-2147483648, 2147483647]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [2 : i64], values = [2147483647 : i32, -2147483648 : i32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [2147483647, -2147483648]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1 : i64, 2 : i64], values = [2147483647 : i32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2], values = [2147483647, 2147483647]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.i32"() {shape = [3 : i64], value = 2147483647 : i32} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = I32, shape = [3], value = 2147483647
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'i64'
func @i64() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.i64.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i64 %x [-9223372036854775808 : i64, 9223372036854775807 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [-9223372036854775808, 9223372036854775807]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [2 : i64], values = [9223372036854775807 : i64, -9223372036854775808 : i64]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [9223372036854775807, -9223372036854775808]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1 : i64, 2 : i64], values = [9223372036854775807 : i64]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [1, 2], values = [9223372036854775807, 9223372036854775807]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.i64"() {shape = [3 : i64], value = 9223372036854775807 : i64} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = I64, shape = [3], value = 9223372036854775807
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui8'
func @ui8() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.ui8.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %x [0 : ui8, 255 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [0, 255]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.ui8"() {shape = [2 : i64], values = [255 : ui8, 0 : ui8]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [255, 0]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.ui8"() {shape = [1 : i64, 2 : i64], values = [255 : ui8]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [1, 2], values = [255, 255]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.ui8"() {shape = [3 : i64], value = 255 : ui8} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = UI8, shape = [3], value = 255
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui16'
func @ui16() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.ui16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui16 %x [0 : ui16, 65535 : ui16]
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [0, 65535]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.ui16"() {shape = [2 : i64], values = [65535 : ui16, 0 : ui16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [65535, 0]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.ui16"() {shape = [1 : i64, 2 : i64], values = [65535 : ui16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [1, 2], values = [65535, 65535]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.ui16"() {shape = [3 : i64], value = 65535 : ui16} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = UI16, shape = [3], value = 65535
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui32'
func @ui32() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.ui32.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %x [0 : ui32, 4294967295 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [0, 4294967295]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.ui32"() {shape = [2 : i64], values = [4294967295 : ui32, 0 : ui32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [4294967295, 0]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.ui32"() {shape = [1 : i64, 2 : i64], values = [4294967295 : ui32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [1, 2], values = [4294967295, 4294967295]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.ui32"() {shape = [3 : i64], value = 4294967295 : ui32} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = UI32, shape = [3], value = 4294967295
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui64'
func @ui64() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.ui64.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui64 %x [0 : ui64, 18446744073709551615 : ui64]
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [0, 18446744073709551615]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.ui64"() {shape = [2 : i64], values = [18446744073709551615 : ui64, 0 : ui64]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [18446744073709551615, 0]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.ui64"() {shape = [1 : i64, 2 : i64], values = [18446744073709551615 : ui64]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [1, 2], values = [18446744073709551615, 18446744073709551615]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.ui64"() {shape = [3 : i64], value = 18446744073709551615 : ui64} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = UI64, shape = [3], value = 18446744073709551615
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'f16'
func @f16() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.f16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f16 %x [-65504.0 : f16, 0.5 : f16]
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [-6.550400e+04, 5.000000e-01]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.f16"() {shape = [2 : i64], values = [0.5 : f16, -65504.0 : f16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [5.000000e-01, -6.550400e+04]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.f16"() {shape = [1 : i64, 2 : i64], values = [0.5 : f16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [1, 2], values = [5.000000e-01, 5.000000e-01]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.f16"() {shape = [3 : i64], value = 0.5 : f16} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = F16, shape = [3], value = 5.000000e-01
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'bf16'
func @bf16() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.bf16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %x [-1.5 : bf16, 1.2676506002282294e+30 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [-1.500000e+00, 1.267651e+30]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.bf16"() {shape = [2 : i64], values = [1.2676506002282294e+30 : bf16, -1.5 : bf16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [1.267651e+30, -1.500000e+00]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.bf16"() {shape = [1 : i64, 2 : i64], values = [1.2676506002282294e+30 : bf16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [1, 2], values = [1.267651e+30, 1.267651e+30]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.bf16"() {shape = [3 : i64], value = 1.2676506002282294e+30 : bf16} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = BF16, shape = [3], value = 1.267651e+30
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32'
func @f32() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %x [-1.5 : f32, 1.2676506002282294e+30 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [-1.500000e+00, 1.267651e+30]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [2 : i64], values = [1.2676506002282294e+30 : f32, -1.5 : f32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [1.267651e+30, -1.500000e+00]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1 : i64, 2 : i64], values = [1.2676506002282294e+30 : f32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2], values = [1.267651e+30, 1.267651e+30]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.f32"() {shape = [3 : i64], value = 1.2676506002282294e+30 : f32} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = F32, shape = [3], value = 1.267651e+30
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'f64'
func @f64() attributes {tfrt.sync} {
  %x = tfrt_dht_sync.create_uninitialized_tensor.f64.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %x [-1.5 : f64, 3.273390607896142e+150 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [-1.500000e+00, 3.273391e+150]
  tfrt_dht_sync.print_tensor %x
  %all = "tfrt_dht_sync.create_dense_tensor.f64"() {shape = [2 : i64], values = [3.273390607896142e+150 : f64, -1.5 : f64]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [3.273391e+150, -1.500000e+00]
  tfrt_dht_sync.print_tensor %all
  %one = "tfrt_dht_sync.create_dense_tensor.f64"() {shape = [1 : i64, 2 : i64], values = [3.273390607896142e+150 : f64]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2], values = [3.273391e+150, 3.273391e+150]
  tfrt_dht_sync.print_tensor %one
  %scalar = "tfrt_dht_sync.create_from_scalar.f64"() {shape = [3 : i64], value = 3.273390607896142e+150 : f64} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = F64, shape = [3], value = 3.273391e+150
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'constant'
func @constant() attributes {tfrt.sync} {
  %constant = "tfrt_test.sync.const_dense_attr"() {value = dense<[[1, -2]]> : tensor<1x2xi16>} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [1, 2], values = [1, -2]
  tfrt_dht_sync.print_tensor %constant
  tfrt.return
}
