// Dense tensors of every data type and rank in functions without chains. No kernel writes complex elements: what is
// in them when they are made is not said.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'bool'
func @bool() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.bool.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.bool %r0 [1 : i1]
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.bool.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bool %r1 [1 : i1, 1 : i1]
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [1, 1]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.bool.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bool %r2 [1 : i1, 1 : i1]
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [1, 2], values = [1, 1]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.bool.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bool %r3 [1 : i1, 1 : i1]
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2, 1, 1], values = [1, 1]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.bool.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bool %r4 [1 : i1, 1 : i1]
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [1, 2, 1, 1], values = [1, 1]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'i8'
func @i8() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.i8.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.i8 %r0 [1 : i8]
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.i8.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i8 %r1 [2 : i8, 2 : i8]
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.i8.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i8 %r2 [3 : i8, 3 : i8]
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.i8.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i8 %r3 [4 : i8, 4 : i8]
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.i8.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i8 %r4 [5 : i8, 5 : i8]
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'i16'
func @i16() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.i16.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.i16 %r0 [1 : i16]
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.i16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i16 %r1 [2 : i16, 2 : i16]
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.i16.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i16 %r2 [3 : i16, 3 : i16]
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.i16.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i16 %r3 [4 : i16, 4 : i16]
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.i16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i16 %r4 [5 : i16, 5 : i16]
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'i32'
func @i32() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.i32.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %r0 [1 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.i32.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %r1 [2 : i32, 2 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %r2 [3 : i32, 3 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.i32.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %r3 [4 : i32, 4 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.i32.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %r4 [5 : i32, 5 : i32]
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'i64'
func @i64() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.i64.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.i64 %r0 [1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.i64.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i64 %r1 [2 : i64, 2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.i64.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i64 %r2 [3 : i64, 3 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.i64.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i64 %r3 [4 : i64, 4 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.i64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.i64 %r4 [5 : i64, 5 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui8'
func @ui8() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.ui8.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %r0 [1 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.ui8.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %r1 [2 : ui8, 2 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.ui8.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %r2 [3 : ui8, 3 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.ui8.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %r3 [4 : ui8, 4 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.ui8.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %r4 [5 : ui8, 5 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui16'
func @ui16() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.ui16.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.ui16 %r0 [1 : ui16]
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.ui16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui16 %r1 [2 : ui16, 2 : ui16]
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.ui16.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui16 %r2 [3 : ui16, 3 : ui16]
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.ui16.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui16 %r3 [4 : ui16, 4 : ui16]
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.ui16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui16 %r4 [5 : ui16, 5 : ui16]
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui32'
func @ui32() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.ui32.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %r0 [1 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.ui32.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %r1 [2 : ui32, 2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.ui32.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %r2 [3 : ui32, 3 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.ui32.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %r3 [4 : ui32, 4 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.ui32.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %r4 [5 : ui32, 5 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'ui64'
func @ui64() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.ui64.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.ui64 %r0 [1 : ui64]
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [], values = [1]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.ui64.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui64 %r1 [2 : ui64, 2 : ui64]
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.ui64.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui64 %r2 [3 : ui64, 3 : ui64]
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [1, 2], values = [3, 3]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.ui64.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui64 %r3 [4 : ui64, 4 : ui64]
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2, 1, 1], values = [4, 4]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.ui64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui64 %r4 [5 : ui64, 5 : ui64]
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [1, 2, 1, 1], values = [5, 5]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'f16'
func @f16() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.f16.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.f16 %r0 [1.0 : f16]
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [], values = [1.000000e+00]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.f16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f16 %r1 [2.0 : f16, 2.0 : f16]
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.f16.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f16 %r2 [3.0 : f16, 3.0 : f16]
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.f16.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f16 %r3 [4.0 : f16, 4.0 : f16]
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.f16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f16 %r4 [5.0 : f16, 5.0 : f16]
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'bf16'
func @bf16() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.bf16.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %r0 [1.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [], values = [1.000000e+00]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.bf16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %r1 [2.0 : bf16, 2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.bf16.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %r2 [3.0 : bf16, 3.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.bf16.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %r3 [4.0 : bf16, 4.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.bf16.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %r4 [5.0 : bf16, 5.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'f32'
func @f32() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.f32.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %r0 [1.0 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [1.000000e+00]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %r1 [2.0 : f32, 2.0 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %r2 [3.0 : f32, 3.0 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.f32.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %r3 [4.0 : f32, 4.0 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %r4 [5.0 : f32, 5.0 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'f64'
func @f64() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.f64.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %r0 [1.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [], values = [1.000000e+00]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.f64.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %r1 [2.0 : f64, 2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.f64.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %r2 [3.0 : f64, 3.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2], values = [3.000000e+00, 3.000000e+00]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.f64.3 [2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %r3 [4.0 : f64, 4.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2, 1, 1], values = [4.000000e+00, 4.000000e+00]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.f64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %r4 [5.0 : f64, 5.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [1, 2, 1, 1], values = [5.000000e+00, 5.000000e+00]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex64'
func @complex64() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.complex64.0 []
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [], values = [({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.complex64.1 [2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.complex64.2 [1 : i64, 2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [1, 2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.complex64.3 [2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.complex64.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [1, 2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}

// CHECK-LABEL: --- Running 'complex128'
func @complex128() attributes {tfrt.sync} {
  %r0 = tfrt_dht_sync.create_uninitialized_tensor.complex128.0 []
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [], values = [({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r0
  %r1 = tfrt_dht_sync.create_uninitialized_tensor.complex128.1 [2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r1
  %r2 = tfrt_dht_sync.create_uninitialized_tensor.complex128.2 [1 : i64, 2 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [1, 2], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r2
  %r3 = tfrt_dht_sync.create_uninitialized_tensor.complex128.3 [2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r3
  %r4 = tfrt_dht_sync.create_uninitialized_tensor.complex128.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [1, 2, 1, 1], values = [({{.*}},{{.*}}), ({{.*}},{{.*}})]
  tfrt_dht_sync.print_tensor %r4
  tfrt.return
}
