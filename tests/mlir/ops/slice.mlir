// Parts of tensors: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'slice'
func @slice() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-0.095, -1.4688], [1.7702, 0.9731], [0.2913, 0.3241], [3.6808, 1.9194]], [[-2.492, -2.2241], [2.0633, -2.2729], [-3.3956, 3.0024], [3.1978, 1.3424]], [[0.9482, 2.0499], [0.105, -2.6525], [2.1356, -0.0396], [2.8429, 1.0023]]]> : tensor<3x4x2xf32>
  %x1 = corert.const_dense_tensor dense<[2, 3, 1]> : tensor<3xi32>
  %x2 = corert.const_dense_tensor dense<[1, 1, 1]> : tensor<3xi32>
  %y = corert.executeop(%cpu) "tf.Slice"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1], values = [1.002300e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'split'
func @split() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<0> : tensor<i32>
  %x1 = corert.const_dense_tensor dense<[[[-0.095, -1.4688], [1.7702, 0.9731], [0.2913, 0.3241], [3.6808, 1.9194]], [[-2.492, -2.2241], [2.0633, -2.2729], [-3.3956, 3.0024], [3.1978, 1.3424]], [[0.9482, 2.0499], [0.105, -2.6525], [2.1356, -0.0396], [2.8429, 1.0023]]]> : tensor<3x4x2xf32>
  %y:3 = corert.executeop(%cpu) "tf.Split"(%x0, %x1) { num_split = 3 : i64 } : 3
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 4, 2], values = [-9.500000e-02, -1.468800e+00, 1.770200e+00, 9.731000e-01, 2.913000e-01, 3.241000e-01, 3.680800e+00, 1.919400e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 4, 2], values = [-2.492000e+00, -2.224100e+00, 2.063300e+00, -2.272900e+00, -3.395600e+00, 3.002400e+00, 3.197800e+00, 1.342400e+00]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 4, 2], values = [9.482000e-01, 2.049900e+00, 1.050000e-01, -2.652500e+00, 2.135600e+00, -3.960000e-02, 2.842900e+00, 1.002300e+00]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'split_v'
func @split_v() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-0.095, -1.4688], [1.7702, 0.9731], [0.2913, 0.3241], [3.6808, 1.9194]], [[-2.492, -2.2241], [2.0633, -2.2729], [-3.3956, 3.0024], [3.1978, 1.3424]], [[0.9482, 2.0499], [0.105, -2.6525], [2.1356, -0.0396], [2.8429, 1.0023]]]> : tensor<3x4x2xf32>
  %x1 = corert.const_dense_tensor dense<[4]> : tensor<1xi32>
  %x2 = corert.const_dense_tensor dense<-2> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.SplitV"(%x0, %x1, %x2) { num_split = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 4, 2], values = [-9.500000e-02, -1.468800e+00, 1.770200e+00, 9.731000e-01, 2.913000e-01, 3.241000e-01, 3.680800e+00, 1.919400e+00, -2.492000e+00, -2.224100e+00, 2.063300e+00, -2.272900e+00, -3.395600e+00, 3.002400e+00, 3.197800e+00, 1.342400e+00, 9.482000e-01, 2.049900e+00, 1.050000e-01, -2.652500e+00, 2.135600e+00, -3.960000e-02, 2.842900e+00, 1.002300e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'strided_slice'
func @strided_slice() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi32>
  %x1 = corert.const_dense_tensor dense<[-1, 0]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[0, 0]> : tensor<2xi32>
  %x3 = corert.const_dense_tensor dense<[1, 1]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.StridedSlice"(%x0, %x1, %x2, %x3) { shrink_axis_mask = 3 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [4], values = [12, 13, 14, 15]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unpack'
func @unpack() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-0.095, -1.4688], [1.7702, 0.9731], [0.2913, 0.3241], [3.6808, 1.9194]], [[-2.492, -2.2241], [2.0633, -2.2729], [-3.3956, 3.0024], [3.1978, 1.3424]], [[0.9482, 2.0499], [0.105, -2.6525], [2.1356, -0.0396], [2.8429, 1.0023]]]> : tensor<3x4x2xf32>
  %y:3 = corert.executeop(%cpu) "tf.Unpack"(%x0) { axis = 0 : i64, num = 3 : i64 } : 3
  // CHECK: DenseHostTensor dtype = F32, shape = [4, 2], values = [-9.500000e-02, -1.468800e+00, 1.770200e+00, 9.731000e-01, 2.913000e-01, 3.241000e-01, 3.680800e+00, 1.919400e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [4, 2], values = [-2.492000e+00, -2.224100e+00, 2.063300e+00, -2.272900e+00, -3.395600e+00, 3.002400e+00, 3.197800e+00, 1.342400e+00]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [4, 2], values = [9.482000e-01, 2.049900e+00, 1.050000e-01, -2.652500e+00, 2.135600e+00, -3.960000e-02, 2.842900e+00, 1.002300e+00]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'strided_slice_grad'
func @strided_slice_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[0, 0]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %x3 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %x4 = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%cpu) "tf.StridedSliceGrad"(%x0, %x1, %x2, %x3, %x4) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [1.000000e+00, 0.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'reverse_sequence'
func @reverse_sequence() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %x1 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.ReverseSequence"(%x0, %x1) { seq_dim = 1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 3], values = [2, 1, 3, 6, 5, 4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
