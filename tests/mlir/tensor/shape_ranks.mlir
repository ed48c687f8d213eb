// Shapes of each rank known to the program, and shapes in functions without chains.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'ranks'
func @ranks() {
  %ch0 = tfrt.new.chain
  %scalar = ts.build_shape []
  %fixed0 = ts.as_fixed_rank_shape.0 %scalar
  // CHECK-NEXT: fixed_rank_shape = []
  %ch1 = ts.print_fixed_rank_shape.0 %fixed0, %ch0
  %vector = ts.build_shape [5 : i64]
  %fixed1 = ts.as_fixed_rank_shape.1 %vector
  // CHECK-NEXT: fixed_rank_shape = [5]
  %ch2 = ts.print_fixed_rank_shape.1 %fixed1, %ch1
  %matrix = ts.build_shape [6 : i64, 0 : i64]
  %fixed2 = ts.as_fixed_rank_shape.2 %matrix
  // CHECK-NEXT: fixed_rank_shape = [6, 0]
  %ch3 = ts.print_fixed_rank_shape.2 %fixed2, %ch2
  %cube = ts.build_shape [7 : i64, 8 : i64, 9 : i64]
  %fixed3 = ts.as_fixed_rank_shape.3 %cube
  // CHECK-NEXT: fixed_rank_shape = [7, 8, 9]
  %ch4 = ts.print_fixed_rank_shape.3 %fixed3, %ch3
  %images = ts.build_shape [1 : i64, 28 : i64, 28 : i64, 3 : i64]
  %fixed4 = ts.as_fixed_rank_shape.4 %images
  // CHECK-NEXT: fixed_rank_shape = [1, 28, 28, 3]
  %ch5 = ts.print_fixed_rank_shape.4 %fixed4, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'other_ranks'
func @other_ranks() {
  %vector = ts.build_shape [5 : i64]
  // expected-error @+1 {{expected a shape of rank 0, got [5] of rank 1}}
  %a = ts.as_fixed_rank_shape.0 %vector
  // expected-error @+1 {{expected a shape of rank 2, got [5] of rank 1}}
  %b = ts.as_fixed_rank_shape.2 %vector
  // expected-error @+1 {{expected a shape of rank 4, got [5] of rank 1}}
  %c = ts.as_fixed_rank_shape.4 %vector
  %matrix = ts.build_shape [5 : i64, 1 : i64]
  // expected-error @+1 {{expected a shape of rank 1, got [5, 1] of rank 2}}
  %d = ts.as_fixed_rank_shape.1 %matrix
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_count'
func @sync_count() -> i64 attributes {tfrt.sync} {
  %shape = ts_sync.build_shape [100000 : i64, 100000 : i64]
  %count = ts_sync.get_num_elements %shape
  // CHECK-NEXT: 'sync_count' returned 10000000000
  tfrt.return %count : i64
}

// CHECK-LABEL: --- Running 'sync_partial'
func @sync_partial() -> (!ts.shape, !ts.partial_shape) attributes {tfrt.sync} {
  %known = ts_sync.build_partial_shape [7 : i64, 8 : i64]
  %shape = ts_sync.to_shape %known
  %back = ts_sync.to_partial_shape %shape
  tfrt.return %shape, %back : !ts.shape, !ts.partial_shape
}

// CHECK-LABEL: --- Running 'sync_holes'
func @sync_holes() -> !ts.partial_shape attributes {tfrt.sync} {
  %holes = ts_sync.build_partial_shape [-1 : i64, 8 : i64]
  tfrt.return %holes : !ts.partial_shape
}

// CHECK-LABEL: --- Running 'sync_shape_of'
func @sync_shape_of() -> !ts.shape attributes {tfrt.sync} {
  %t = tfrt_dht_sync.create_uninitialized_tensor.i8.3 [4 : i64, 5 : i64, 6 : i64]
  %shape = tfrt_dht_sync.get_tensor_shape %t
  tfrt.return %shape : !ts.shape
}

// CHECK-LABEL: --- Running 'prints'
func @prints() {
  %ch0 = tfrt.new.chain
  %shape, %partial = tfrt.call @sync_partial() : () -> (!ts.shape, !ts.partial_shape)
  // CHECK-NEXT: shape = [7, 8]
  %ch1 = ts.print_shape %shape, %ch0
  // CHECK-NEXT: partial_tensor_shape = [7, 8]
  %ch2 = ts.print_partial_shape %partial, %ch1
  %holes = tfrt.call @sync_holes() : () -> !ts.partial_shape
  // CHECK-NEXT: partial_tensor_shape = [-1, 8]
  %ch3 = ts.print_partial_shape %holes, %ch2
  %whole = tfrt.call @sync_shape_of() : () -> !ts.shape
  // CHECK-NEXT: shape = [4, 5, 6]
  %ch4 = ts.print_shape %whole, %ch3
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_unknown'
func @sync_unknown() attributes {tfrt.sync} {
  %holes = ts_sync.build_partial_shape [-1 : i64, 8 : i64]
  // expected-error @+1 {{Unknown dimensions at following indices = }}
  %shape = ts_sync.to_shape %holes
  tfrt.return
}
