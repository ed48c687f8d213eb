// Tensors padded, repeated and turned: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'broadcast_to'
func @broadcast_to() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.3088, -1.3248, 1.4337], [2.0121, 2.382, 2.0193]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.BroadcastTo"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [3.088000e-01, -1.324800e+00, 1.433700e+00, 2.012100e+00, 2.382000e+00, 2.019300e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'mirror_pad'
func @mirror_pad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.3088, -1.3248, 1.4337], [2.0121, 2.382, 2.0193]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0, 0], [0, 2]]> : tensor<2x2xi32>
  %y = corert.executeop(%cpu) "tf.MirrorPad"(%x0, %x1) { mode = "REFLECT" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [3.088000e-01, -1.324800e+00, 1.433700e+00, -1.324800e+00, 3.088000e-01, 2.012100e+00, 2.382000e+00, 2.019300e+00, 2.382000e+00, 2.012100e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'pad_v2'
func @pad_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.3088, -1.3248, 1.4337], [2.0121, 2.382, 2.0193]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>
  %x2 = corert.const_dense_tensor dense<7.5> : tensor<f32>
  %y = corert.executeop(%cpu) "tf.PadV2"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [3.088000e-01, -1.324800e+00, 1.433700e+00, 2.012100e+00, 2.382000e+00, 2.019300e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'reverse_v2'
func @reverse_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.0068, 0.6452], [-3.3966, -0.0427]]> : tensor<2x2xf32>
  %x1 = corert.const_dense_tensor dense<[0]> : tensor<1xi32>
  %y = corert.executeop(%cpu) "tf.ReverseV2"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [-3.396600e+00, -4.270000e-02, 2.006800e+00, 6.452000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tile'
func @tile() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[2.0068, 0.6452], [-3.3966, -0.0427]]> : tensor<2x2xf32>
  %x1 = corert.const_dense_tensor dense<[2, 1]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.Tile"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [4, 2], values = [2.006800e+00, 6.452000e-01, -3.396600e+00, -4.270000e-02, 2.006800e+00, 6.452000e-01, -3.396600e+00, -4.270000e-02]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'space_to_batch_nd'
func @space_to_batch_nd() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1], [2], [3]]]> : tensor<1x3x1xi32>
  %x1 = corert.const_dense_tensor dense<[2]> : tensor<1xi32>
  %x2 = corert.const_dense_tensor dense<[[1, 0]]> : tensor<1x2xi32>
  %y = corert.executeop(%cpu) "tf.SpaceToBatchND"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 2, 1], values = [0, 2, 1, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'batch_to_space_nd'
func @batch_to_space_nd() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[0], [2]], [[1], [3]]]> : tensor<2x2x1xi32>
  %x1 = corert.const_dense_tensor dense<[2]> : tensor<1xi32>
  %x2 = corert.const_dense_tensor dense<[[1, 0]]> : tensor<1x2xi32>
  %y = corert.executeop(%cpu) "tf.BatchToSpaceND"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 3, 1], values = [1, 2, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'space_to_depth'
func @space_to_depth() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1], [2]], [[3], [4]]]]> : tensor<1x2x2x1xi32>
  %y = corert.executeop(%cpu) "tf.SpaceToDepth"(%x0) { block_size = 2 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 1, 1, 4], values = [1, 2, 3, 4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'depth_to_space'
func @depth_to_space() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[1, 2, 3, 4]]]]> : tensor<1x1x1x4xi32>
  %y = corert.executeop(%cpu) "tf.DepthToSpace"(%x0) { block_size = 2 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [1, 2, 2, 1], values = [1, 2, 3, 4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
