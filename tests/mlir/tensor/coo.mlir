// Sparse tensors: converted to and fro, compared, printed.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'keeps_what_is_not_zero'
func @keeps_what_is_not_zero() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch0 [0 : i32, 4 : i32, 0 : i32, 5 : i32]
  %sparse, %ch2 = coo.convert_dht_to_coo.i32.2 %dense, %ch1
  // CHECK-NEXT: CooHostTensor dtype = I32, shape = [2, 2], indices = [0, 1, 1, 1], values = [4, 5]
  %ch3 = tfrt_dht.print_tensor %sparse, %ch2
  %back, %ch4 = coo.convert_coo_to_dht.i32.2 %sparse, %ch3
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 2], values = [0, 4, 0, 5]
  %ch5 = tfrt_dht.print_tensor %back, %ch4
  %again, %ch6 = coo.convert_dht_to_coo.i32.2 %back, %ch5
  %same, %ch7 = coo.tensor_equal.i32.2 %sparse, %again, %ch6
  // CHECK-NEXT: int1 = 1
  %ch8 = tfrt.print.i1 %same, %ch7
  tfrt.return
}

// CHECK-LABEL: --- Running 'round_trips_unequal_extents'
func @round_trips_unequal_extents() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 3 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch0
    [0.0 : f32, 1.0 : f32, 2.0 : f32, 0.0 : f32, 0.0 : f32, 3.0 : f32]
  %sparse, %ch2 = coo.convert_dht_to_coo.f32.3 %dense, %ch1
  %back, %ch3 = coo.convert_coo_to_dht.f32.3 %sparse, %ch2
  %same, %ch4 = tfrt_dht.tensor_equal.f32 %dense, %back, %ch3
  // CHECK-NEXT: int1 = 1
  %ch5 = tfrt.print.i1 %same, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %ch0 = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  // expected-error @+1 {{expected a tensor of dtype I32 and rank 2, got I32 [2]}}
  %sparse, %ch1 = coo.convert_dht_to_coo.i32.2 %dense, %ch0
  // expected-error @+1 {{argument 0 should be of type !t.tensor (CooHostTensor)}}
  %back, %ch2 = coo.convert_coo_to_dht.i32.1 %dense, %ch0
  tfrt.return
}
