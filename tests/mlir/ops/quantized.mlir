// What the compiler makes of computations on dequantized tensors.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'quantized_matmul'
func @quantized_matmul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.const_dense_tensor dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %scale = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %a_zero = corert.const_dense_tensor dense<1> : tensor<ui8>
  %b = corert.const_dense_tensor dense<[[5, 6], [7, 8]]> : tensor<2x2xi8>
  %b_zero = corert.const_dense_tensor dense<5> : tensor<i8>
  %y = corert.executeop(%cpu) "tfrt.QuantizedMatMul"(%a, %scale, %a_zero, %b, %scale, %b_zero) : 1
  // CHECK: dtype = F32, shape = [2, 2], values = [5.000000e-01, 7.500000e-01, 1.500000e+00, 2.750000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %bias = corert.const_dense_tensor dense<[1.0, -1.0]> : tensor<2xf32>
  %y_scale = corert.const_dense_tensor dense<0.25> : tensor<f32>
  %y_zero = corert.const_dense_tensor dense<10> : tensor<ui8>
  %q = corert.executeop(%cpu) "tfrt.QuantizedMatMul"(%a, %scale, %a_zero, %b, %scale, %b_zero, %bias, %y_scale, %y_zero) : 1
  // CHECK: dtype = UI8, shape = [2, 2], values = [16, 9, 20, 17]
  %ch2 = "corert.print_tensorhandle"(%q, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// Each output channel has a scale and a zero.

// CHECK-LABEL: --- Running 'quantized_convolution'
func @quantized_convolution() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1], [2]], [[3], [4]]]]> : tensor<1x2x2x1xui8>
  %scale = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %zero = corert.const_dense_tensor dense<1> : tensor<ui8>
  %w = corert.const_dense_tensor dense<[[[[2, -2]]]]> : tensor<1x1x1x2xi8>
  %scales = corert.const_dense_tensor dense<[0.5, 1.0]> : tensor<2xf32>
  %zeros = corert.const_dense_tensor dense<[0, 1]> : tensor<2xi8>
  %y = corert.executeop(%cpu) "tfrt.QuantizedConv2D"(%x, %scale, %zero, %w, %scales, %zeros) { padding = "VALID", strides = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 1
  // CHECK: shape = [1, 2, 2, 2], values = [0.000000e+00, 0.000000e+00, 5.000000e-01, -1.500000e+00, 1.000000e+00, -3.000000e+00, 1.500000e+00, -4.500000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Each column has two blocks of 16 integers, all of them 9 or 10. One stands for zero in the first
// column, and 8 in all blocks of the second call.

// CHECK-LABEL: --- Running 'narrow_matmul'
func @narrow_matmul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.const_dense_tensor dense<1.0> : tensor<1x32xf32>
  %matrix = corert.const_dense_tensor dense<"0x99999999999999999999999999999999AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"> : tensor<2x16xui8>
  %scales = corert.const_dense_tensor dense<[[0.5, 0.25], [1.0, 2.0]]> : tensor<2x2xf32>
  %zeros = corert.const_dense_tensor dense<[17, 168]> : tensor<2xui8>
  %bias = corert.const_dense_tensor dense<[1.0, -1.0]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "tfrt.NarrowMatMul"(%a, %matrix, %scales, %zeros, %bias) { bits = 4 : i64, block_size = 16 : i64 } : 1
  // CHECK: dtype = F32, shape = [1, 2], values = [9.700000e+01, 3.100000e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %z = corert.executeop(%cpu) "tfrt.NarrowMatMul"(%a, %matrix, %scales) { bits = 4 : i64, block_size = 16 : i64, rounded = true } : 1
  // CHECK: dtype = F32, shape = [1, 2], values = [1.200000e+01, 9.600000e+01]
  %ch2 = "corert.print_tensorhandle"(%z, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// The table has the bytes from 255 down.

// CHECK-LABEL: --- Running 'byte_table'
func @byte_table() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[0, 1, 255]> : tensor<3xui8>
  %table = corert.const_dense_tensor dense<"0xFFFEFDFCFBFAF9F8F7F6F5F4F3F2F1F0EFEEEDECEBEAE9E8E7E6E5E4E3E2E1E0DFDEDDDCDBDAD9D8D7D6D5D4D3D2D1D0CFCECDCCCBCAC9C8C7C6C5C4C3C2C1C0BFBEBDBCBBBAB9B8B7B6B5B4B3B2B1B0AFAEADACABAAA9A8A7A6A5A4A3A2A1A09F9E9D9C9B9A999897969594939291908F8E8D8C8B8A898887868584838281807F7E7D7C7B7A797877767574737271706F6E6D6C6B6A696867666564636261605F5E5D5C5B5A595857565554535251504F4E4D4C4B4A494847464544434241403F3E3D3C3B3A393837363534333231302F2E2D2C2B2A292827262524232221201F1E1D1C1B1A191817161514131211100F0E0D0C0B0A09080706050403020100"> : tensor<256xui8>
  %y = corert.executeop(%cpu) "tfrt.ByteTable"(%x, %table) : 1
  // CHECK: dtype = UI8, shape = [3], values = [255, 254, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// The second operand of the product repeats.

// CHECK-LABEL: --- Running 'quantized_elements'
func @quantized_elements() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.const_dense_tensor dense<[[10, 20]]> : tensor<1x2xui8>
  %a_scale = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %a_zero = corert.const_dense_tensor dense<10> : tensor<ui8>
  %b = corert.const_dense_tensor dense<[[3, -4]]> : tensor<1x2xi8>
  %b_scale = corert.const_dense_tensor dense<1.0> : tensor<f32>
  %b_zero = corert.const_dense_tensor dense<0> : tensor<i8>
  %y_scale = corert.const_dense_tensor dense<0.25> : tensor<f32>
  %y_zero = corert.const_dense_tensor dense<1> : tensor<ui8>
  %sum = corert.executeop(%cpu) "tfrt.QuantizedAdd"(%a, %a_scale, %a_zero, %b, %b_scale, %b_zero, %y_scale, %y_zero) : 1
  // CHECK: dtype = UI8, shape = [1, 2], values = [13, 5]
  %ch1 = "corert.print_tensorhandle"(%sum, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c = corert.const_dense_tensor dense<[[-2]]> : tensor<1x1xi8>
  %c_zero = corert.const_dense_tensor dense<100> : tensor<i8>
  %product = corert.executeop(%cpu) "tfrt.QuantizedMul"(%a, %a_scale, %a_zero, %c, %b_scale, %b_zero, %y_scale, %c_zero) : 1
  // CHECK: dtype = I8, shape = [1, 2], values = [100, 60]
  %ch2 = "corert.print_tensorhandle"(%product, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'quantized_mean'
func @quantized_mean() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[1, 9], [2, 9]], [[3, 9], [4, 9]]]]> : tensor<1x2x2x2xui8>
  %scale = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %zero = corert.const_dense_tensor dense<1> : tensor<ui8>
  %y_scale = corert.const_dense_tensor dense<0.25> : tensor<f32>
  %y_zero = corert.const_dense_tensor dense<-5> : tensor<i8>
  %y = corert.executeop(%cpu) "tfrt.QuantizedMean"(%x, %scale, %zero, %y_scale, %y_zero) : 1
  // CHECK: dtype = I8, shape = [1, 2], values = [-2, 11]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %z = corert.executeop(%cpu) "tfrt.QuantizedMean"(%x, %scale, %zero, %y_scale, %y_zero) { keep_dims = true } : 1
  // CHECK: dtype = I8, shape = [1, 1, 1, 2], values = [-2, 11]
  %ch2 = "corert.print_tensorhandle"(%z, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
