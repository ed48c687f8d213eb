// Ops on quantized numbers, signals and random numbers that are named as in ONNX.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'quantize_linear'
func @quantize_linear() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.0, 2.0, -300.0, 300.0]> : tensor<4xf32>
  %x1 = corert.const_dense_tensor dense<2.0> : tensor<f32>
  %x2 = corert.const_dense_tensor dense<128> : tensor<ui8>
  %y = corert.executeop(%cpu) "onnx.QuantizeLinear"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [4], values = [128, 129, 0, 255]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dequantize_linear'
func @dequantize_linear() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0, 128, 255]> : tensor<3xui8>
  %x1 = corert.const_dense_tensor dense<2.0> : tensor<f32>
  %x2 = corert.const_dense_tensor dense<128> : tensor<ui8>
  %y = corert.executeop(%cpu) "onnx.DequantizeLinear"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [-2.560000e+02, 0.000000e+00, 2.540000e+02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dynamic_quantize_linear'
func @dynamic_quantize_linear() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.0, 255.0, 51.0]> : tensor<3xf32>
  %y:3 = corert.executeop(%cpu) "onnx.DynamicQuantizeLinear"(%x0) : 3
  // CHECK: DenseHostTensor dtype = UI8, shape = [3], values = [0, 255, 51]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [1.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = UI8, shape = [], values = [0]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'mat_mul_integer'
func @mat_mul_integer() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %x1 = corert.const_dense_tensor dense<[[5, 6], [7, 8]]> : tensor<2x2xui8>
  %x2 = corert.const_dense_tensor dense<1> : tensor<ui8>
  %x3 = corert.const_dense_tensor dense<5> : tensor<ui8>
  %y = corert.executeop(%cpu) "onnx.MatMulInteger"(%x0, %x1, %x2, %x3) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 2], values = [2, 3, 6, 11]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'qlinear_mat_mul'
func @qlinear_mat_mul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %x1 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %x2 = corert.const_dense_tensor dense<1> : tensor<ui8>
  %x3 = corert.const_dense_tensor dense<[[5, 6], [7, 8]]> : tensor<2x2xui8>
  %x4 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %x5 = corert.const_dense_tensor dense<5> : tensor<ui8>
  %x6 = corert.const_dense_tensor dense<0.25> : tensor<f32>
  %x7 = corert.const_dense_tensor dense<10> : tensor<ui8>
  %y = corert.executeop(%cpu) "onnx.QLinearMatMul"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7) : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [2, 2], values = [12, 13, 16, 21]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'conv_integer'
func @conv_integer() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]> : tensor<1x1x3x3xui8>
  %x1 = corert.const_dense_tensor dense<[[[[1, 1], [1, 1]]]]> : tensor<1x1x2x2xui8>
  %x2 = corert.const_dense_tensor dense<1> : tensor<ui8>
  %y = corert.executeop(%cpu) "onnx.ConvInteger"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 1, 2, 2], values = [8, 12, 20, 24]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'qlinear_conv'
func @qlinear_conv() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]> : tensor<1x1x3x3xui8>
  %x1 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %x2 = corert.const_dense_tensor dense<1> : tensor<ui8>
  %x3 = corert.const_dense_tensor dense<[[[[1, 1], [1, 1]]]]> : tensor<1x1x2x2xui8>
  %x4 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %x5 = corert.const_dense_tensor dense<0> : tensor<ui8>
  %x6 = corert.const_dense_tensor dense<0.25> : tensor<f32>
  %x7 = corert.const_dense_tensor dense<10> : tensor<ui8>
  %y = corert.executeop(%cpu) "onnx.QLinearConv"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7) : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [1, 1, 2, 2], values = [18, 22, 30, 34]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dft'
func @dft() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0], [2.0], [3.0], [5.0]]]> : tensor<1x4x1xf32>
  %y = corert.executeop(%cpu) "onnx.DFT"(%x0) { onesided = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3, 2], values = [1.100000e+01, {{[^,]*}}, -{{(1[.]999|2[.]000)[0-9]+}}e+00, 3.000{{[0-9]+}}e+00, -3.000{{[0-9]+}}e+00, {{[^,]*}}]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stft'
func @stft() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]]> : tensor<1x6x1xf32>
  %x1 = corert.const_dense_tensor dense<2> : tensor<i64>
  %x2 = corert.const_dense_tensor dense<4> : tensor<i64>
  %y = corert.executeop(%cpu) "onnx.STFT"(%x0, %x1, %x2) { operand_segment_sizes = [1 : i64, 1 : i64, 0 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3, 2], values = [1.000000e+01, {{[^,]*}}, -2.000{{[0-9]+}}e+00, 2.000{{[0-9]+}}e+00, -2.000000e+00, {{[^,]*}}, 1.800000e+01, {{[^,]*}}, -{{(1[.]999|2[.]000)[0-9]+}}e+00, 2.000{{[0-9]+}}e+00, -2.000000e+00, {{[^,]*}}]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// A real signal may lack the dimension of its parts.
// CHECK-LABEL: --- Running 'stft_of_rows'
func @stft_of_rows() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<1x6xf32>
  %x1 = corert.const_dense_tensor dense<2> : tensor<i64>
  %x2 = corert.const_dense_tensor dense<4> : tensor<i64>
  %y = corert.executeop(%cpu) "onnx.STFT"(%x0, %x1, %x2) { operand_segment_sizes = [1 : i64, 1 : i64, 0 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3, 2], values = [1.000000e+01, {{[^,]*}}, -2.000{{[0-9]+}}e+00, 2.000{{[0-9]+}}e+00, -2.000000e+00, {{[^,]*}}, 1.800000e+01
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'hann_window'
func @hann_window() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<4> : tensor<i64>
  %y = corert.executeop(%cpu) "onnx.HannWindow"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [4], values = [{{[^,]*}}, 5.000000e-01, 1.000000e+00, 5.000000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'hamming_window'
func @hamming_window() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<4> : tensor<i64>
  %y = corert.executeop(%cpu) "onnx.HammingWindow"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [4], values = [8.695{{[0-9]+}}e-02, 5.434{{[0-9]+}}e-01, 1.000000e+00, 5.434{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'blackman_window'
func @blackman_window() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<4> : tensor<i64>
  %y = corert.executeop(%cpu) "onnx.BlackmanWindow"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [4], values = [{{[^,]*}}, 3.400{{[0-9]+}}e-01, 1.000000e+00, 3.400{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'mel_weight_matrix'
func @mel_weight_matrix() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<2> : tensor<i64>
  %x1 = corert.const_dense_tensor dense<8> : tensor<i64>
  %x2 = corert.const_dense_tensor dense<8192> : tensor<i64>
  %x3 = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %x4 = corert.const_dense_tensor dense<4096.0> : tensor<f32>
  %y = corert.executeop(%cpu) "onnx.MelWeightMatrix"(%x0, %x1, %x2, %x3, %x4) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [5, 2], values = [1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'random_normal'
func @random_normal() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %y = corert.executeop(%cpu) "onnx.RandomNormal"() { shape = [2 : i64, 2 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'random_uniform'
func @random_uniform() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %y = corert.executeop(%cpu) "onnx.RandomUniform"() { shape = [3 : i64], dtype = f64 } : 1
  // CHECK: DenseHostTensor dtype = F64, shape = [3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'random_normal_like'
func @random_normal_like() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = corert.executeop(%cpu) "onnx.RandomNormalLike"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'random_uniform_like'
func @random_uniform_like() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = corert.executeop(%cpu) "onnx.RandomUniformLike"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bernoulli'
func @bernoulli() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.0, 1.0, 1.0]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "onnx.Bernoulli"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [0.000000e+00, 1.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'multinomial'
func @multinomial() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.0, 1.0]]> : tensor<1x2xf32>
  %y = corert.executeop(%cpu) "onnx.Multinomial"(%x0) { sample_size = 3 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
