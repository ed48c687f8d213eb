// The 16 bytes of the F32 numbers 1, -2.5, 0 and 1.875, seen through tensors of every data type over one buffer. Bytes
// that are neither 0 nor 1 are no booleans.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'numbers'
func @numbers() {
  %ch0 = tfrt.new.chain
  %size = tfrt.constant.i64 16
  %buffer = tfrt_dht.allocate_buffer %size, %size
  %sixteen = ts.build_shape [16 : i64]
  %eight = ts.build_shape [8 : i64]
  %four = ts.build_shape [4 : i64]
  %two = ts.build_shape [2 : i64]
  %one = ts.build_shape [1 : i64]
  %f32, %ch1 = tfrt_dht.make_tensor.f32 %buffer, %four, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.f32 %f32, %ch1 [1.0 : f32, -2.5 : f32, 0.0 : f32, 1.875 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [4], values = [1.000000e+00, -2.500000e+00, 0.000000e+00, 1.875000e+00]
  %ch3 = tfrt_dht.print_tensor %f32, %ch2
  %i8, %ch4 = tfrt_dht.make_tensor.i8 %buffer, %sixteen, %ch3
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [16], values = [0, 0, -128, 63, 0, 0, 32, -64, 0, 0, 0, 0, 0, 0, -16, 63]
  %ch5 = tfrt_dht.print_tensor %i8, %ch4
  %i16, %ch6 = tfrt_dht.make_tensor.i16 %buffer, %eight, %ch5
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [8], values = [0, 16256, 0, -16352, 0, 0, 0, 16368]
  %ch7 = tfrt_dht.print_tensor %i16, %ch6
  %i32, %ch8 = tfrt_dht.make_tensor.i32 %buffer, %four, %ch7
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [4], values = [1065353216, -1071644672, 0, 1072693248]
  %ch9 = tfrt_dht.print_tensor %i32, %ch8
  %i64, %ch10 = tfrt_dht.make_tensor.i64 %buffer, %two, %ch9
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [-4602678818107293696, 4607182418800017408]
  %ch11 = tfrt_dht.print_tensor %i64, %ch10
  %ui8, %ch12 = tfrt_dht.make_tensor.ui8 %buffer, %sixteen, %ch11
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [16], values = [0, 0, 128, 63, 0, 0, 32, 192, 0, 0, 0, 0, 0, 0, 240, 63]
  %ch13 = tfrt_dht.print_tensor %ui8, %ch12
  %ui16, %ch14 = tfrt_dht.make_tensor.ui16 %buffer, %eight, %ch13
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [8], values = [0, 16256, 0, 49184, 0, 0, 0, 16368]
  %ch15 = tfrt_dht.print_tensor %ui16, %ch14
  %ui32, %ch16 = tfrt_dht.make_tensor.ui32 %buffer, %four, %ch15
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [4], values = [1065353216, 3223322624, 0, 1072693248]
  %ch17 = tfrt_dht.print_tensor %ui32, %ch16
  %ui64, %ch18 = tfrt_dht.make_tensor.ui64 %buffer, %two, %ch17
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [13844065255602257920, 4607182418800017408]
  %ch19 = tfrt_dht.print_tensor %ui64, %ch18
  %f16, %ch20 = tfrt_dht.make_tensor.f16 %buffer, %eight, %ch19
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [8], values = [0.000000e+00, 1.875000e+00, 0.000000e+00, -2.062500e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.984375e+00]
  %ch21 = tfrt_dht.print_tensor %f16, %ch20
  %bf16, %ch22 = tfrt_dht.make_tensor.bf16 %buffer, %eight, %ch21
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [8], values = [0.000000e+00, 1.000000e+00, 0.000000e+00, -2.500000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.875000e+00]
  %ch23 = tfrt_dht.print_tensor %bf16, %ch22
  %f64, %ch24 = tfrt_dht.make_tensor.f64 %buffer, %two, %ch23
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [-8.000002e+00, 1.000000e+00]
  %ch25 = tfrt_dht.print_tensor %f64, %ch24
  %complex64, %ch26 = tfrt_dht.make_tensor.complex64 %buffer, %two, %ch25
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2], values = [(1.000000e+00,-2.500000e+00), (0.000000e+00,1.875000e+00)]
  %ch27 = tfrt_dht.print_tensor %complex64, %ch26
  %complex128, %ch28 = tfrt_dht.make_tensor.complex128 %buffer, %one, %ch27
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [1], values = [(-8.000002e+00,1.000000e+00)]
  %ch29 = tfrt_dht.print_tensor %complex128, %ch28
  tfrt.return
}

// CHECK-LABEL: --- Running 'booleans'
func @booleans() {
  %ch0 = tfrt.new.chain
  %size = tfrt.constant.i64 2
  %buffer = tfrt_dht.allocate_buffer %size, %size
  %two = ts.build_shape [2 : i64]
  %bytes, %ch1 = tfrt_dht.make_tensor.ui8 %buffer, %two, %ch0
  %ch2 = tfrt_dht.set_tensor_with_constant_values.ui8 %bytes, %ch1 [1 : ui8, 0 : ui8]
  %truths, %ch3 = tfrt_dht.make_tensor.bool %buffer, %two, %ch2
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [1, 0]
  %ch4 = tfrt_dht.print_tensor %truths, %ch3
  %ch5 = tfrt_dht.set_tensor_with_constant_values.ui8 %bytes, %ch4 [1 : ui8, 2 : ui8]
  // expected-error @+1 {{the buffer's bytes are not values of dtype I1}}
  %ch6 = tfrt_dht.print_tensor %truths, %ch5
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_numbers'
func @sync_numbers() attributes {tfrt.sync} {
  %size = tfrt.constant_s.i64 32
  %half = tfrt.constant_s.i64 16
  %whole = tfrt_dht_sync.allocate_buffer %size, %size
  // The upper half of the buffer, which the slice shares.
  %buffer = tfrt_dht_sync.get_buffer_slice %whole, %half, %half
  %sixteen = ts_sync.build_shape [16 : i64]
  %eight = ts_sync.build_shape [8 : i64]
  %four = ts_sync.build_shape [4 : i64]
  %two = ts_sync.build_shape [2 : i64]
  %one = ts_sync.build_shape [1 : i64]
  %f32 = tfrt_dht_sync.make_tensor.f32 %buffer, %four
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %f32 [1.0 : f32, -2.5 : f32, 0.0 : f32, 1.875 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [4], values = [1.000000e+00, -2.500000e+00, 0.000000e+00, 1.875000e+00]
  tfrt_dht_sync.print_tensor %f32
  %i8 = tfrt_dht_sync.make_tensor.i8 %buffer, %sixteen
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [16], values = [0, 0, -128, 63, 0, 0, 32, -64, 0, 0, 0, 0, 0, 0, -16, 63]
  tfrt_dht_sync.print_tensor %i8
  %i16 = tfrt_dht_sync.make_tensor.i16 %buffer, %eight
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [8], values = [0, 16256, 0, -16352, 0, 0, 0, 16368]
  tfrt_dht_sync.print_tensor %i16
  %i32 = tfrt_dht_sync.make_tensor.i32 %buffer, %four
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [4], values = [1065353216, -1071644672, 0, 1072693248]
  tfrt_dht_sync.print_tensor %i32
  %i64 = tfrt_dht_sync.make_tensor.i64 %buffer, %two
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [-4602678818107293696, 4607182418800017408]
  tfrt_dht_sync.print_tensor %i64
  %ui8 = tfrt_dht_sync.make_tensor.ui8 %buffer, %sixteen
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [16], values = [0, 0, 128, 63, 0, 0, 32, 192, 0, 0, 0, 0, 0, 0, 240, 63]
  tfrt_dht_sync.print_tensor %ui8
  %ui16 = tfrt_dht_sync.make_tensor.ui16 %buffer, %eight
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [8], values = [0, 16256, 0, 49184, 0, 0, 0, 16368]
  tfrt_dht_sync.print_tensor %ui16
  %ui32 = tfrt_dht_sync.make_tensor.ui32 %buffer, %four
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [4], values = [1065353216, 3223322624, 0, 1072693248]
  tfrt_dht_sync.print_tensor %ui32
  %ui64 = tfrt_dht_sync.make_tensor.ui64 %buffer, %two
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [13844065255602257920, 4607182418800017408]
  tfrt_dht_sync.print_tensor %ui64
  %f16 = tfrt_dht_sync.make_tensor.f16 %buffer, %eight
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [8], values = [0.000000e+00, 1.875000e+00, 0.000000e+00, -2.062500e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.984375e+00]
  tfrt_dht_sync.print_tensor %f16
  %bf16 = tfrt_dht_sync.make_tensor.bf16 %buffer, %eight
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [8], values = [0.000000e+00, 1.000000e+00, 0.000000e+00, -2.500000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.875000e+00]
  tfrt_dht_sync.print_tensor %bf16
  %f64 = tfrt_dht_sync.make_tensor.f64 %buffer, %two
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [-8.000002e+00, 1.000000e+00]
  tfrt_dht_sync.print_tensor %f64
  %complex64 = tfrt_dht_sync.make_tensor.complex64 %buffer, %two
  // CHECK-NEXT: DenseHostTensor dtype = Complex64, shape = [2], values = [(1.000000e+00,-2.500000e+00), (0.000000e+00,1.875000e+00)]
  tfrt_dht_sync.print_tensor %complex64
  %complex128 = tfrt_dht_sync.make_tensor.complex128 %buffer, %one
  // CHECK-NEXT: DenseHostTensor dtype = Complex128, shape = [1], values = [(-8.000002e+00,1.000000e+00)]
  tfrt_dht_sync.print_tensor %complex128
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_booleans'
func @sync_booleans() attributes {tfrt.sync} {
  %size = tfrt.constant_s.i64 2
  %buffer = tfrt_dht_sync.allocate_buffer %size, %size
  %two = ts_sync.build_shape [2 : i64]
  %bytes = tfrt_dht_sync.make_tensor.ui8 %buffer, %two
  tfrt_dht_sync.set_tensor_with_constant_values.ui8 %bytes [0 : ui8, 1 : ui8]
  %truths = tfrt_dht_sync.make_tensor.bool %buffer, %two
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [0, 1]
  tfrt_dht_sync.print_tensor %truths
  tfrt.return
}
