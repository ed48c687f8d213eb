// Dense tensors: made, filled, compared, printed.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'fills'
func @fills() {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch0 0.5 : f32
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 2], values = [5.000000e-01, 5.000000e-01, 5.000000e-01, 5.000000e-01]
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %ch2 [1.0 : f32, 2.0 : f32, -3.0 : f32, 4.0e20 : f32]
  // CHECK-NEXT: values = [1.000000e+00, 2.000000e+00, -3.000000e+00, 4.000000e+20]
  %ch4 = tfrt_dht.print_tensor %t, %ch3
  // CHECK-NEXT: [2, 2]
  %ch5 = "tfrt_dht.print_tensor_shape"(%t, %ch4) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// CHECK-LABEL: --- Running 'takes_values'
func @takes_values() {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %t = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %ch1 = "tfrt_dht.set_tensor_with_values.i64"(%t, %ch0, %two, %one, %two)
    : (!t.tensor, !tfrt.chain, i64, i64, i64) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [3], values = [2, 1, 2]
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  tfrt.return
}

// CHECK-LABEL: --- Running 'prints_long_tensors_in_part'
func @prints_long_tensors_in_part() {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.ui8.1 [33 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.ui8 %t, %ch0 7 : ui8
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [33], md5sum = 1992687003, values = [7, 7, {{[7, ]*}}, ... ]
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  tfrt.return
}

// CHECK-LABEL: --- Running 'compares'
func @compares() {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch0 1.0 : f32
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %b, %ch1 1.00001 : f32
  %same, %ch3 = tfrt_dht.tensor_equal.f32 %a, %a, %ch2
  // CHECK-NEXT: int1 = 1
  %ch4 = tfrt.print.i1 %same, %ch3
  %equal, %ch5 = tfrt_dht.tensor_equal.f32 %a, %b, %ch4
  // CHECK-NEXT: int1 = 0
  %ch6 = tfrt.print.i1 %equal, %ch5
  %close, %ch7 = "tfrt_dht.tensor_allclose.1000ulp.f32"(%a, %b, %ch6)
    : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  // CHECK-NEXT: int1 = 1
  %ch8 = tfrt.print.i1 %close, %ch7
  %closer, %ch9 = "tfrt_dht.tensor_allclose.f32"(%a, %b, %ch8)
    : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  // CHECK-NEXT: int1 = 0
  %ch10 = tfrt.print.i1 %closer, %ch9
  tfrt.return
}

// CHECK-LABEL: --- Running 'gives_a_chain'
func @gives_a_chain() {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch0 4 : i32
  %done = "tfrt_dht.no_op_ht"(%t) : (!t.tensor) -> !tfrt.chain
  %both = tfrt.merge.chains %ch1, %done
  // CHECK-NEXT: values = [4]
  %ch2 = tfrt_dht.print_tensor %t, %both
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync'
func @sync() attributes {tfrt.sync} {
  %t = tfrt_dht_sync.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %t [5 : i32, 6 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2], values = [5, 6]
  tfrt_dht_sync.print_tensor %t
  %made = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [2 : i64], values = [9 : i32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [9, 9]
  tfrt_dht_sync.print_tensor %made
  %scalar = "tfrt_dht_sync.create_from_scalar.f32"() {shape = [2 : i64, 3 : i64], value = 1.5 : f32} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = F32, shape = [2, 3], value = 1.500000e+00
  tfrt_dht_sync.print_tensor %scalar
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %ch0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  // expected-error @+1 {{Incorrect number of values for the tensor: 3, but expected 2}}
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %t, %ch0 [1 : i32, 2 : i32, 3 : i32]
  // expected-error @+1 {{expected a tensor of dtype F32, got I32}}
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch0 1.0 : f32
  // The rank in a name binds nobody: programs exist whose shapes have another.
  %u = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64, 3 : i64]
  // expected-error @+1 {{has too many elements to count}}
  %v = tfrt_dht.create_uninitialized_tensor.i32.2 [4294967296 : i64, 4294967296 : i64]
  %s = "tfrt_sht.create_tensor"() {shape = [1], values = ["text"]} : () -> !t.tensor
  // expected-error @+1 {{argument 0 should be of type !t.tensor (DenseHostTensor), got !t.tensor}}
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %s, %ch0 1.0 : f32
  tfrt.return
}
