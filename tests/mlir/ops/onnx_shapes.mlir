// ONNX's ops on shapes and caches: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'reshape'
func @reshape() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[0, -1, 1]> : tensor<3xi64>
  %y0 = corert.executeop(%cpu) "onnx.Reshape"(%x0, %x1) { allowzero = 0 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3, 1], values = [1, 2, 3, 4, 5, 6]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// The zeros of an empty tensor are those of the shape, and -1 follows from the other extents.
// CHECK-LABEL: --- Running 'reshape_of_nothing'
func @reshape_of_nothing() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[]> : tensor<0x2x12xi32>
  %x1 = corert.const_dense_tensor dense<[0, 2, -1, 4]> : tensor<4xi64>
  %y0 = corert.executeop(%cpu) "onnx.Reshape"(%x0, %x1) { allowzero = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [0, 2, 3, 4], values = []
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'expand'
func @expand() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1], [2]]> : tensor<2x1xi32>
  %x1 = corert.const_dense_tensor dense<[2, 1, 3]> : tensor<3xi64>
  %y0 = corert.executeop(%cpu) "onnx.Expand"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 2, 3], values = [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'slice'
func @slice() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[-1]> : tensor<1xi64>
  %x2 = corert.const_dense_tensor dense<[-9]> : tensor<1xi64>
  %x3 = corert.const_dense_tensor dense<[1]> : tensor<1xi64>
  %x4 = corert.const_dense_tensor dense<[-2]> : tensor<1xi64>
  %y0 = corert.executeop(%cpu) "onnx.Slice"(%x0, %x1, %x2, %x3, %x4) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 2], values = [3, 1, 6, 4]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'slice_without_axes'
func @slice_without_axes() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[1, 0]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %x3 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y0 = corert.executeop(%cpu) "onnx.Slice"(%x0, %x1, %x2, %x3) { operand_segment_sizes = [1, 1, 1, 0, 1] } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2], values = [4, 6]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'squeeze'
func @squeeze() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1, 2]]]> : tensor<1x1x2xi32>
  %x1 = corert.const_dense_tensor dense<[-2]> : tensor<1xi64>
  %y0 = corert.executeop(%cpu) "onnx.Squeeze"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2], values = [1, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unsqueeze'
func @unsqueeze() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[-1, 0]> : tensor<2xi64>
  %y0 = corert.executeop(%cpu) "onnx.Unsqueeze"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2, 1], values = [1, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tensor_scatter'
func @tensor_scatter() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0], [1], [2]], [[3], [4], [5]]]> : tensor<2x3x1xi32>
  %x1 = corert.const_dense_tensor dense<[[[7], [8]], [[9], [10]]]> : tensor<2x2x1xi32>
  %x2 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi64>
  %y0 = corert.executeop(%cpu) "onnx.TensorScatter"(%x0, %x1, %x2) { axis = -2 : i64, mode = "circular" } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3, 1], values = [0, 7, 8, 10, 4, 9]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
