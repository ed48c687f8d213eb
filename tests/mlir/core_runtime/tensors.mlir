// Tensor handles of every data type, and on their way to and from host tensors.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'types'
func @types() -> !tfrt.chain {
  %ch = tfrt.new.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [2], values = [200, 200]
  %x0 = corert.create_dense_tensor.ui8 { shape = [2], value = [200 : ui8] }
  %ch0 = "corert.print_tensorhandle"(%x0, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [2], values = [60000, 60000]
  %x1 = corert.create_dense_tensor.ui16 { shape = [2], value = [60000 : ui16] }
  %ch1 = "corert.print_tensorhandle"(%x1, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [2], values = [4000000000, 4000000000]
  %x2 = corert.create_dense_tensor.ui32 { shape = [2], value = [4000000000 : ui32] }
  %ch2 = "corert.print_tensorhandle"(%x2, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [2], values = [5, 5]
  %x3 = corert.create_dense_tensor.ui64 { shape = [2], value = [5 : ui64] }
  %ch3 = "corert.print_tensorhandle"(%x3, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [2], values = [1, 1]
  %x4 = corert.create_dense_tensor.i1 { shape = [2], value = [true] }
  %ch4 = "corert.print_tensorhandle"(%x4, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [2], values = [-3, -3]
  %x5 = corert.create_dense_tensor.i8 { shape = [2], value = [-3 : i8] }
  %ch5 = "corert.print_tensorhandle"(%x5, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [2], values = [-300, -300]
  %x6 = corert.create_dense_tensor.i16 { shape = [2], value = [-300 : i16] }
  %ch6 = "corert.print_tensorhandle"(%x6, %ch5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [-70000, -70000]
  %x7 = corert.create_dense_tensor.i32 { shape = [2], value = [-70000 : i32] }
  %ch7 = "corert.print_tensorhandle"(%x7, %ch6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2], values = [-5000000000, -5000000000]
  %x8 = corert.create_dense_tensor.i64 { shape = [2], value = [-5000000000 : i64] }
  %ch8 = "corert.print_tensorhandle"(%x8, %ch7) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [2], values = [Does not support printing fp16.]
  %x9 = corert.create_dense_tensor.f16 { shape = [2], value = [0.5 : f16] }
  %ch9 = "corert.print_tensorhandle"(%x9, %ch8) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [2], values = [Does not support printing bf16.]
  %x10 = corert.create_dense_tensor.bf16 { shape = [2], value = [0.5 : bf16] }
  %ch10 = "corert.print_tensorhandle"(%x10, %ch9) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [5.000000e-01, 5.000000e-01]
  %x11 = corert.create_dense_tensor.f32 { shape = [2], value = [0.5 : f32] }
  %ch11 = "corert.print_tensorhandle"(%x11, %ch10) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [2], values = [2.500000e-01, 2.500000e-01]
  %x12 = corert.create_dense_tensor.f64 { shape = [2], value = [0.25 : f64] }
  %ch12 = "corert.print_tensorhandle"(%x12, %ch11) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch12 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'types_sync'
func @types_sync() attributes { tfrt.sync } {
  // CHECK-NEXT: DenseHostTensor dtype = UI8, shape = [], values = [200]
  %x0 = corert_sync.create_dense_tensor.ui8 { shape = [], value = [200 : ui8] }
  "corert_sync.print_tensorhandle"(%x0) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = UI16, shape = [], values = [60000]
  %x1 = corert_sync.create_dense_tensor.ui16 { shape = [], value = [60000 : ui16] }
  "corert_sync.print_tensorhandle"(%x1) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = UI32, shape = [], values = [4000000000]
  %x2 = corert_sync.create_dense_tensor.ui32 { shape = [], value = [4000000000 : ui32] }
  "corert_sync.print_tensorhandle"(%x2) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = UI64, shape = [], values = [5]
  %x3 = corert_sync.create_dense_tensor.ui64 { shape = [], value = [5 : ui64] }
  "corert_sync.print_tensorhandle"(%x3) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = I1, shape = [], values = [1]
  %x4 = corert_sync.create_dense_tensor.i1 { shape = [], value = [true] }
  "corert_sync.print_tensorhandle"(%x4) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = I8, shape = [], values = [-3]
  %x5 = corert_sync.create_dense_tensor.i8 { shape = [], value = [-3 : i8] }
  "corert_sync.print_tensorhandle"(%x5) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = I16, shape = [], values = [-300]
  %x6 = corert_sync.create_dense_tensor.i16 { shape = [], value = [-300 : i16] }
  "corert_sync.print_tensorhandle"(%x6) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [], values = [-70000]
  %x7 = corert_sync.create_dense_tensor.i32 { shape = [], value = [-70000 : i32] }
  "corert_sync.print_tensorhandle"(%x7) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [], values = [-5000000000]
  %x8 = corert_sync.create_dense_tensor.i64 { shape = [], value = [-5000000000 : i64] }
  "corert_sync.print_tensorhandle"(%x8) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = F16, shape = [], values = [Does not support printing fp16.]
  %x9 = corert_sync.create_dense_tensor.f16 { shape = [], value = [0.5 : f16] }
  "corert_sync.print_tensorhandle"(%x9) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = BF16, shape = [], values = [Does not support printing bf16.]
  %x10 = corert_sync.create_dense_tensor.bf16 { shape = [], value = [0.5 : bf16] }
  "corert_sync.print_tensorhandle"(%x10) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [], values = [5.000000e-01]
  %x11 = corert_sync.create_dense_tensor.f32 { shape = [], value = [0.5 : f32] }
  "corert_sync.print_tensorhandle"(%x11) : (!corert.tensorhandle) -> ()
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [], values = [2.500000e-01]
  %x12 = corert_sync.create_dense_tensor.f64 { shape = [], value = [0.25 : f64] }
  "corert_sync.print_tensorhandle"(%x12) : (!corert.tensorhandle) -> ()
  tfrt.return
}

// CHECK-LABEL: --- Running 'conversions'
func @conversions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x = corert.const_dense_tensor dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %shape = "corert.tensorhandle_to_shape"(%x, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !ts.shape
  // CHECK-NEXT: shape = [2, 2]
  %ch1 = "ts.print_shape"(%shape, %ch0) : (!ts.shape, !tfrt.chain) -> !tfrt.chain
  %tensor = "corert.tensorhandle_to_ht"(%x, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !t.tensor
  %y = "corert.ht_to_tensorhandle"(%tensor, %ch1) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2, 2], values = [1, 2, 3, 4]
  %ch2 = "corert.print_tensorhandle"(%y, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %device = "tfrt.get_device"(%ch0) { device_name = "CPU:0" } : (!tfrt.chain) -> !tfrt.device
  %z = "corert.transfer"(%y, %device) { dst_tensor_type_name = "DenseHost" } : (!corert.tensorhandle, !tfrt.device) -> !corert.tensorhandle
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2, 2], values = [1, 2, 3, 4]
  %ch3 = "corert.print_tensorhandle"(%z, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %strings = corert.const_string_tensor { shape = [2], value = ["a", "b"] }
  // CHECK-NEXT: StringHostTensor shape = [2], values = ["a", "b"]
  %ch4 = "corert.print_tensorhandle"(%strings, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// Frozen tensors are copies that nothing can write; what is read-only already is passed on, and so is a tensor of strings.
// CHECK-LABEL: --- Running 'frozen'
func @frozen() -> (!tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %x, %ch0 7 : i32
  %handle = "corert.ht_to_tensorhandle"(%x, %ch1) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %copy = corert.freeze %handle
  %same = corert.freeze %copy
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [3], values = [7, 7, 7]
  %ch2 = "corert.print_tensorhandle"(%same, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %tensor = "corert.tensorhandle_to_ht"(%same, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !t.tensor
  // expected-error @+1 {{its memory is read-only}}
  %ch3 = tfrt_dht.fill_tensor_with_constant.i32 %tensor, %ch2 8 : i32
  %strings = corert.const_string_tensor { shape = [2], value = ["a", "b"] }
  %frozen_strings = corert.freeze %strings
  // CHECK-NEXT: StringHostTensor shape = [2], values = ["a", "b"]
  %ch4 = "corert.print_tensorhandle"(%frozen_strings, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3, %ch4 : !tfrt.chain, !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong'
func @wrong() -> (!tfrt.device, !corert.tensorhandle, !ts.shape) {
  %ch0 = tfrt.new.chain
  // expected-error @+1 {{no device is called 'TPU:7'}}
  %none = "tfrt.get_device"(%ch0) { device_name = "TPU:7" } : (!tfrt.chain) -> !tfrt.device
  // expected-error @+1 {{3 values do not fill a tensor of 2 elements}}
  %x = corert.create_dense_tensor.i32 { shape = [2], value = [1 : i32, 2 : i32, 3 : i32] }
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  // expected-error @+1 {{invalid tensor metadata}}
  %y = "tfrt_test.tensorhandle_with_error_metadata"(%tensor, %ch0) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %shape = "corert.tensorhandle_to_shape"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !ts.shape
  tfrt.return %none, %x, %shape : !tfrt.device, !corert.tensorhandle, !ts.shape
}
