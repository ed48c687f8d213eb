// Shapes: whole, of fixed rank and with unknown parts.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'prints'
func @prints() {
  %ch0 = tfrt.new.chain
  %scalar = ts.build_shape []
  // CHECK-NEXT: shape = []
  %ch1 = ts.print_shape %scalar, %ch0
  %short = ts.build_shape [2 : i64, 0 : i64, 5000000000 : i64]
  // CHECK-NEXT: shape = [2, 0, 5000000000]
  %ch2 = ts.print_shape %short, %ch1
  %long = ts.build_shape [1 : i64, 2 : i64, 3 : i64, 4 : i64, 5 : i64, 6 : i64]
  // CHECK-NEXT: shape = [1, 2, 3, 4, 5, 6]
  %ch3 = ts.print_shape %long, %ch2
  %fixed = ts.as_fixed_rank_shape.3 %short
  // CHECK-NEXT: fixed_rank_shape = [2, 0, 5000000000]
  %ch4 = ts.print_fixed_rank_shape.3 %fixed, %ch3
  tfrt.return
}

// CHECK-LABEL: --- Running 'counts'
func @counts() {
  %ch0 = tfrt.new.chain
  %shape = ts.build_shape [3 : i64, 4 : i64, 5 : i64]
  %count = ts.get_num_elements %shape
  // CHECK-NEXT: int64 = 60
  %ch1 = tfrt.print.i64 %count, %ch0
  %one = tfrt.constant.i32 1
  %dim = ts.get_dimension %shape, %one
  // CHECK-NEXT: int64 = 4
  %ch2 = tfrt.print.i64 %dim, %ch1
  tfrt.return
}

// CHECK-LABEL: --- Running 'compares'
func @compares() {
  %ch0 = tfrt.new.chain
  %a = ts.build_shape [3 : i64, 4 : i64]
  %b = ts.build_shape [3 : i64, 4 : i64]
  %c = ts.build_shape [4 : i64, 3 : i64]
  %same = ts.equal_shape %a, %b
  // CHECK-NEXT: int1 = 1
  %ch1 = tfrt.print.i1 %same, %ch0
  %other = ts.equal_shape %a, %c
  // CHECK-NEXT: int1 = 0
  %ch2 = tfrt.print.i1 %other, %ch1
  tfrt.return
}

// CHECK-LABEL: --- Running 'partial'
func @partial() {
  %ch0 = tfrt.new.chain
  %known = ts.build_partial_shape [7 : i64, 8 : i64]
  // CHECK-NEXT: partial_tensor_shape = [7, 8]
  %ch1 = ts.print_partial_shape %known, %ch0
  %shape = ts.to_shape %known
  // CHECK-NEXT: shape = [7, 8]
  %ch2 = ts.print_shape %shape, %ch1
  %back = ts.to_partial_shape %shape
  // CHECK-NEXT: partial_tensor_shape = [7, 8]
  %ch3 = ts.print_partial_shape %back, %ch2
  %holes = ts.build_partial_shape [-1 : i64, 8 : i64]
  // CHECK-NEXT: partial_tensor_shape = [-1, 8]
  %ch4 = ts.print_partial_shape %holes, %ch3
  %nothing = ts.build_unranked_partial_shape
  // CHECK-NEXT: partial_tensor_shape = Unknown rank
  %ch5 = ts.print_partial_shape %nothing, %ch4
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  // expected-error @+1 {{negative dimension -2 in shape [3, -2]}}
  %a = ts.build_shape [3 : i64, -2 : i64]
  %holes = ts.build_partial_shape [-1 : i64, 8 : i64, -1 : i64]
  // expected-error @+1 {{Unknown dimensions at following indices = [0, 2]}}
  %b = ts.to_shape %holes
  %huge = ts.build_shape [4294967296 : i64, 4294967296 : i64]
  // expected-error @+1 {{shape [4294967296, 4294967296] has too many elements to count}}
  %c = ts.get_num_elements %huge
  %two = tfrt.constant.i32 2
  // expected-error @+1 {{dimension 2 of shape [4294967296, 4294967296] does not exist}}
  %d = ts.get_dimension %huge, %two
  // expected-error @+1 {{expected a shape of rank 3, got [4294967296, 4294967296] of rank 2}}
  %e = ts.as_fixed_rank_shape.3 %huge
  tfrt.return
}
