// Ops on elements and indices that are named as in ONNX.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'gather_elements'
func @gather_elements() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[[2, 0], [-1, 1]]> : tensor<2x2xi64>
  %y = corert.executeop(%cpu) "onnx.GatherElements"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [5.000000e+00, 2.000000e+00, 5.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'scatter_elements'
func @scatter_elements() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[[2, 0]]> : tensor<1x2xi64>
  %x2 = corert.const_dense_tensor dense<[[10.0, 20.0]]> : tensor<1x2xf32>
  %y = corert.executeop(%cpu) "onnx.ScatterElements"(%x0, %x1, %x2) { reduction = "add" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 2], values = [1.000000e+00, 2.200000e+01, 3.000000e+00, 4.000000e+00, 1.500000e+01, 6.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gather_nd'
func @gather_nd() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>
  %y = corert.executeop(%cpu) "onnx.GatherND"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [6.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'scatter_nd'
func @scatter_nd() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[[1]]> : tensor<1x1xi64>
  %x2 = corert.const_dense_tensor dense<[[7.0, 8.0]]> : tensor<1x2xf32>
  %y = corert.executeop(%cpu) "onnx.ScatterND"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 2], values = [1.000000e+00, 2.000000e+00, 7.000000e+00, 8.000000e+00, 5.000000e+00, 6.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'top_k'
func @top_k() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[2]> : tensor<1xi64>
  %y:2 = corert.executeop(%cpu) "onnx.TopK"(%x0, %x1) { axis = 0 : i64 } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [5.000000e+00, 6.000000e+00, 3.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2, 2], values = [2, 2, 1, 1]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unique'
func @unique() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3, 1, 3, 2]> : tensor<4xi64>
  %y:4 = corert.executeop(%cpu) "onnx.Unique"(%x0) { result_segment_sizes = [1 : i64, 1 : i64, 1 : i64, 1 : i64] } : 4
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [1, 2, 3]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [1, 3, 0]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [4], values = [2, 0, 2, 1]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [1, 1, 2]
  %ch4 = "corert.print_tensorhandle"(%y#3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'non_max_suppression'
func @non_max_suppression() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.8999999761581421], [2.0, 2.0, 3.0, 3.0]]]> : tensor<1x3x4xf32>
  %x1 = corert.const_dense_tensor dense<[[[0.5, 0.8999999761581421, 0.699999988079071]]]> : tensor<1x1x3xf32>
  %x2 = corert.const_dense_tensor dense<[3]> : tensor<1xi64>
  %x3 = corert.const_dense_tensor dense<[0.5]> : tensor<1xf32>
  %y = corert.executeop(%cpu) "onnx.NonMaxSuppression"(%x0, %x1, %x2, %x3) : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [2, 3], values = [0, 0, 1, 0, 0, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'compress'
func @compress() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[true, false, true]> : tensor<3xi1>
  %y = corert.executeop(%cpu) "onnx.Compress"(%x0, %x1) { axis = 0 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [1.000000e+00, 2.000000e+00, 5.000000e+00, 6.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'one_hot'
func @one_hot() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0, 2]> : tensor<2xi64>
  %x1 = corert.const_dense_tensor dense<[3]> : tensor<1xi64>
  %x2 = corert.const_dense_tensor dense<[0.0, 5.0]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "onnx.OneHot"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [5.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'trilu'
func @trilu() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = corert.executeop(%cpu) "onnx.Trilu"(%x0) { upper = 0 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 2], values = [1.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'cum_sum'
func @cum_sum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<0> : tensor<i64>
  %y = corert.executeop(%cpu) "onnx.CumSum"(%x0, %x1) { reverse = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 2], values = [9.000000e+00, 1.200000e+01, 8.000000e+00, 1.000000e+01, 5.000000e+00, 6.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'center_crop_pad'
func @center_crop_pad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[1, 4]> : tensor<2xi64>
  %y = corert.executeop(%cpu) "onnx.CenterCropPad"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 4], values = [0.000000e+00, 3.000000e+00, 4.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'det'
func @det() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%cpu) "onnx.Det"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [], values = [-2.000{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bit_shift'
func @bit_shift() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 200, 3]> : tensor<3xui8>
  %x1 = corert.const_dense_tensor dense<[1, 1, 9]> : tensor<3xui8>
  %y = corert.executeop(%cpu) "onnx.BitShift"(%x0, %x1) { direction = "LEFT" } : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [3], values = [2, 144, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'mod'
func @mod() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[7, -7]> : tensor<2xi64>
  %x1 = corert.const_dense_tensor dense<[3, 3]> : tensor<2xi64>
  %y = corert.executeop(%cpu) "onnx.Mod"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [1, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'is_inf'
func @is_inf() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "onnx.IsInf"(%x0) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [2], values = [0, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
