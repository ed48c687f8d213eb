// Ops of networks that are named as in ONNX.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'conv'
func @conv() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %x1 = corert.const_dense_tensor dense<[[[[1.0, 1.0], [1.0, 1.0]]]]> : tensor<1x1x2x2xf32>
  %x2 = corert.const_dense_tensor dense<[1.0]> : tensor<1xf32>
  %y = corert.executeop(%cpu) "onnx.Conv"(%x0, %x1, %x2) { strides = [2 : i64, 2 : i64], pads = [1 : i64, 1 : i64, 0 : i64, 0 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [2.000000e+00, 6.000000e+00, 1.200000e+01, 2.900000e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'conv_transpose'
func @conv_transpose() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0], [4.0, 5.0]]]]> : tensor<1x1x2x2xf32>
  %x1 = corert.const_dense_tensor dense<[[[[1.0, 1.0], [1.0, 1.0]]]]> : tensor<1x1x2x2xf32>
  %y = corert.executeop(%cpu) "onnx.ConvTranspose"(%x0, %x1) { strides = [2 : i64, 2 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 4, 4], values = [1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 4.000000e+00, 4.000000e+00, 5.000000e+00, 5.000000e+00, 4.000000e+00, 4.000000e+00, 5.000000e+00, 5.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'max_pool'
func @max_pool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %y:2 = corert.executeop(%cpu) "onnx.MaxPool"(%x0) { kernel_shape = [2 : i64, 2 : i64], result_segment_sizes = [1 : i64, 1 : i64] } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [5.000000e+00, 6.000000e+00, 8.000000e+00, 9.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [1, 1, 2, 2], values = [4, 5, 7, 8]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'max_unpool'
func @max_unpool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[5.0, 6.0], [8.0, 9.0]]]]> : tensor<1x1x2x2xf32>
  %x1 = corert.const_dense_tensor dense<[[[[4, 5], [7, 8]]]]> : tensor<1x1x2x2xi64>
  %y = corert.executeop(%cpu) "onnx.MaxUnpool"(%x0, %x1) { kernel_shape = [2 : i64, 2 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 3, 3], values = [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00, 8.000000e+00, 9.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'average_pool'
func @average_pool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %y = corert.executeop(%cpu) "onnx.AveragePool"(%x0) { kernel_shape = [2 : i64, 2 : i64], pads = [1 : i64, 1 : i64, 0 : i64, 0 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 3, 3], values = [1.000000e+00, 1.500000e+00, 2.500000e+00, 2.500000e+00, 3.000000e+00, 4.000000e+00, 5.500000e+00, 6.000000e+00, 7.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'lp_pool'
func @lp_pool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %y = corert.executeop(%cpu) "onnx.LpPool"(%x0) { kernel_shape = [2 : i64, 2 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [6.782{{[0-9]+}}e+00, 8.602{{[0-9]+}}e+00, 1.240{{[0-9]+}}e+01, 1.435{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'global_average_pool'
func @global_average_pool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %y = corert.executeop(%cpu) "onnx.GlobalAveragePool"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 1], values = [5.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'global_max_pool'
func @global_max_pool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %y = corert.executeop(%cpu) "onnx.GlobalMaxPool"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 1], values = [9.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'global_lp_pool'
func @global_lp_pool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %y = corert.executeop(%cpu) "onnx.GlobalLpPool"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 1], values = [1.688{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'resize'
func @resize() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0], [4.0, 5.0]]]]> : tensor<1x1x2x2xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %y = corert.executeop(%cpu) "onnx.Resize"(%x0, %x1) { mode = "linear", operand_segment_sizes = [1 : i64, 0 : i64, 1 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 4, 4], values = [1.000000e+00, 1.250000e+00, 1.750000e+00, 2.000000e+00, 1.750000e+00, 2.000000e+00, 2.500000e+00, 2.750000e+00, 3.250000e+00, 3.500000e+00, 4.000000e+00, 4.250000e+00, 4.000000e+00, 4.250000e+00, 4.750000e+00, 5.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// The extents and the nearest elements are those of f32 arithmetic: 10 * 0.7 is 7 and 3 / 0.6 is 5.
// CHECK-LABEL: --- Running 'resize_in_f32'
func @resize_in_f32() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<10xf32>
  %x1 = corert.const_dense_tensor dense<[0.7]> : tensor<1xf32>
  %y1 = corert.executeop(%cpu) "onnx.Resize"(%x0, %x1) { coordinate_transformation_mode = "asymmetric", nearest_mode = "floor", operand_segment_sizes = [1 : i64, 0 : i64, 1 : i64] } : 1
  // CHECK: shape = [7], values = [0.000000e+00, 1.000000e+00, 2.000000e+00, 4.000000e+00, 5.000000e+00, 7.000000e+00, 8.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y1, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %x2 = corert.const_dense_tensor dense<[0.6]> : tensor<1xf32>
  %y2 = corert.executeop(%cpu) "onnx.Resize"(%x0, %x2) { coordinate_transformation_mode = "asymmetric", nearest_mode = "floor", operand_segment_sizes = [1 : i64, 0 : i64, 1 : i64] } : 1
  // CHECK: shape = [6], values = [0.000000e+00, 1.000000e+00, 3.000000e+00, 5.000000e+00, 6.000000e+00, 8.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%y2, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'pad'
func @pad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %x1 = corert.const_dense_tensor dense<[0, 1, 1, 2]> : tensor<4xi64>
  %y = corert.executeop(%cpu) "onnx.Pad"(%x0, %x1) { mode = "reflect" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 6], values = [2.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 2.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'col2_im'
func @col2_im() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]]]> : tensor<1x4x4xf32>
  %x1 = corert.const_dense_tensor dense<[3, 3]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %y = corert.executeop(%cpu) "onnx.Col2Im"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 3, 3], values = [1.000000e+00, 7.000000e+00, 6.000000e+00, 1.200000e+01, 3.400000e+01, 2.200000e+01, 1.100000e+01, 2.700000e+01, 1.600000e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'roi_align'
func @roi_align() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0.0, 0.0, 2.0, 2.0]]> : tensor<1x4xf32>
  %x2 = corert.const_dense_tensor dense<[0]> : tensor<1xi64>
  %y = corert.executeop(%cpu) "onnx.RoiAlign"(%x0, %x1, %x2) { output_height = 2 : i64, output_width = 2 : i64, sampling_ratio = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [1.000000e+00, 2.000000e+00, 4.000000e+00, 5.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'max_roi_pool'
func @max_roi_pool() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0.0, 0.0, 0.0, 2.0, 2.0]]> : tensor<1x5xf32>
  %y = corert.executeop(%cpu) "onnx.MaxRoiPool"(%x0, %x1) { pooled_shape = [1 : i64, 2 : i64] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 2], values = [8.000000e+00, 9.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'grid_sample'
func @grid_sample() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %x1 = corert.const_dense_tensor dense<[[[[-1.0, -1.0], [0.0, 0.0], [1.0, 0.5]]]]> : tensor<1x1x3x2xf32>
  %y = corert.executeop(%cpu) "onnx.GridSample"(%x0, %x1) { align_corners = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 3], values = [1.000000e+00, 5.000000e+00, 7.500000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'affine_grid'
func @affine_grid() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]]]> : tensor<1x2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1, 1, 2, 2]> : tensor<4xi64>
  %y = corert.executeop(%cpu) "onnx.AffineGrid"(%x0, %x1) { align_corners = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2, 2], values = [-5.000000e-01, -2.000000e+00, 1.500000e+00, -2.000000e+00, -5.000000e-01, 2.000000e+00, 1.500000e+00, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'layer_normalization'
func @layer_normalization() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 1.0, 2.0]> : tensor<3xf32>
  %x2 = corert.const_dense_tensor dense<[0.0, 1.0, 0.0]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "onnx.LayerNormalization"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-1.069{{[0-9]+}}e+00, 7.327{{[0-9]+}}e-01, 2.672{{[0-9]+}}e+00, -7.071{{[0-9]+}}e-01, 2.928{{[0-9]+}}e-01, 2.828{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rmsnormalization'
func @rmsnormalization() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 1.0, 2.0]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "onnx.RMSNormalization"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [3.779{{[0-9]+}}e-01, 7.559{{[0-9]+}}e-01, 3.023{{[0-9]+}}e+00, 6.030{{[0-9]+}}e-01, 6.030{{[0-9]+}}e-01, 3.015{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'instance_normalization'
func @instance_normalization() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]]> : tensor<1x2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %x2 = corert.const_dense_tensor dense<[0.0, 1.0]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "onnx.InstanceNormalization"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3], values = [-1.069{{[0-9]+}}e+00, -2.672{{[0-9]+}}e-01, 1.336{{[0-9]+}}e+00, -4.142{{[0-9]+}}e-01, -4.142{{[0-9]+}}e-01, 3.828{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'group_normalization'
func @group_normalization() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]]> : tensor<1x2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %x2 = corert.const_dense_tensor dense<[0.0, 1.0]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "onnx.GroupNormalization"(%x0, %x1, %x2) { num_groups = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3], values = [-1.212{{[0-9]+}}e+00, -4.850{{[0-9]+}}e-01, 9.701{{[0-9]+}}e-01, 2.98{{[0-9]+}}e-02, 2.98{{[0-9]+}}e-02, 4.395{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'batch_normalization'
func @batch_normalization() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[1.0, 1.0, 2.0]> : tensor<3xf32>
  %x2 = corert.const_dense_tensor dense<[0.0, 1.0, 0.0]> : tensor<3xf32>
  %x3 = corert.const_dense_tensor dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x4 = corert.const_dense_tensor dense<[1.0, 4.0, 1.0]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "onnx.BatchNormalization"(%x0, %x1, %x2, %x3, %x4) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [0.000000e+00, 1.000000e+00, 1.999{{[0-9]+}}e+00, 9.999{{[0-9]+}}e-01, 1.000000e+00, 3.999{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'lrn'
func @lrn() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0], [2.0], [4.0]], [[2.0], [2.0], [5.0]]]]> : tensor<1x2x3x1xf32>
  %y = corert.executeop(%cpu) "onnx.LRN"(%x0) { size = 3 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 3, 1], values = [9.998{{[0-9]+}}e-01, 1.999{{[0-9]+}}e+00, 3.995{{[0-9]+}}e+00, 1.999{{[0-9]+}}e+00, 1.999{{[0-9]+}}e+00, 4.994{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'softmax'
func @softmax() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "onnx.Softmax"(%x0) { axis = 0 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [2.689{{[0-9]+}}e-01, 5.000000e-01, 2.689{{[0-9]+}}e-01, 7.310{{[0-9]+}}e-01, 5.000000e-01, 7.310{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'log_softmax'
func @log_softmax() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "onnx.LogSoftmax"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [-3.169{{[0-9]+}}e+00, -2.169{{[0-9]+}}e+00, -1.698{{[0-9]+}}e-01, -3.094{{[0-9]+}}e+00, -3.094{{[0-9]+}}e+00, -9.492{{[0-9]+}}e-02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'hardmax'
func @hardmax() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %y = corert.executeop(%cpu) "onnx.Hardmax"(%x0) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'attention'
func @attention() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 0.0], [0.0, 1.0]]]]> : tensor<1x1x2x2xf32>
  %x1 = corert.const_dense_tensor dense<[[[[1.0, 0.0], [0.0, 1.0]]]]> : tensor<1x1x2x2xf32>
  %x2 = corert.const_dense_tensor dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %y = corert.executeop(%cpu) "onnx.Attention"(%x0, %x1, %x2) { is_causal = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [1.000000e+00, 2.000000e+00, 2.339{{[0-9]+}}e+00, 3.339{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rotary_embedding'
func @rotary_embedding() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1.0, 0.0], [0.0, 1.0]]]]> : tensor<1x1x2x2xf32>
  %x1 = corert.const_dense_tensor dense<[[0.5], [1.0]]> : tensor<2x1xf32>
  %x2 = corert.const_dense_tensor dense<[[1.0], [0.0]]> : tensor<2x1xf32>
  %x3 = corert.const_dense_tensor dense<[[0, 1]]> : tensor<1x2xi64>
  %y = corert.executeop(%cpu) "onnx.RotaryEmbedding"(%x0, %x1, %x2, %x3) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [5.000000e-01, 1.000000e+00, 0.000000e+00, 1.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'rnn'
func @rnn() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0]], [[-1.0, 0.5]]]> : tensor<2x1x2xf32>
  %x1 = corert.const_dense_tensor dense<[[[-0.5, -0.375], [-0.25, -0.125]]]> : tensor<1x2x2xf32>
  %x2 = corert.const_dense_tensor dense<[[[-0.5, -0.375], [-0.25, -0.125]]]> : tensor<1x2x2xf32>
  %y:2 = corert.executeop(%cpu) "onnx.RNN"(%x0, %x1, %x2) { hidden_size = 2 : i64, result_segment_sizes = [1 : i64, 1 : i64] } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 1, 1, 2], values = [-8.482{{[0-9]+}}e-01, -4.621{{[0-9]+}}e-01, 7.211{{[0-9]+}}e-01, 4.279{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2], values = [7.211{{[0-9]+}}e-01, 4.279{{[0-9]+}}e-01]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gru'
func @gru() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0]], [[-1.0, 0.5]]]> : tensor<2x1x2xf32>
  %x1 = corert.const_dense_tensor dense<[[[-0.5, -0.375], [-0.25, -0.125], [0.0, 0.125], [0.25, 0.375], [0.5, 0.625], [0.75, 0.875]]]> : tensor<1x6x2xf32>
  %x2 = corert.const_dense_tensor dense<[[[-0.5, -0.375], [-0.25, -0.125], [0.0, 0.125], [0.25, 0.375], [0.5, 0.625], [0.75, 0.875]]]> : tensor<1x6x2xf32>
  %y:2 = corert.executeop(%cpu) "onnx.GRU"(%x0, %x1, %x2) { hidden_size = 2 : i64, result_segment_sizes = [1 : i64, 1 : i64] } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 1, 1, 2], values = [7.317{{[0-9]+}}e-01, 6.141{{[0-9]+}}e-01, 4.450{{[0-9]+}}e-01, 4.451{{[0-9]+}}e-01]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2], values = [4.450{{[0-9]+}}e-01, 4.451{{[0-9]+}}e-01]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'lstm'
func @lstm() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1.0, 2.0]], [[-1.0, 0.5]]]> : tensor<2x1x2xf32>
  %x1 = corert.const_dense_tensor dense<[[[-0.5, -0.375], [-0.25, -0.125], [0.0, 0.125], [0.25, 0.375], [0.5, 0.625], [0.75, 0.875], [1.0, 1.125], [1.25, 1.375]]]> : tensor<1x8x2xf32>
  %x2 = corert.const_dense_tensor dense<[[[-0.5, -0.375], [-0.25, -0.125], [0.0, 0.125], [0.25, 0.375], [0.5, 0.625], [0.75, 0.875], [1.0, 1.125], [1.25, 1.375]]]> : tensor<1x8x2xf32>
  %y:3 = corert.executeop(%cpu) "onnx.LSTM"(%x0, %x1, %x2) { hidden_size = 2 : i64, result_segment_sizes = [1 : i64, 1 : i64, 1 : i64] } : 3
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 1, 1, 2], values = [1.228{{[0-9]+}}e-01, 2.634{{[0-9]+}}e-01, 5.391{{[0-9]+}}e-02, 8.439{{[0-9]+}}e-02]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2], values = [5.391{{[0-9]+}}e-02, 8.439{{[0-9]+}}e-02]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2], values = [1.032{{[0-9]+}}e-01, 1.647{{[0-9]+}}e-01]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}
