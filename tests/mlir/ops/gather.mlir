// Elements chosen by indices: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'gather'
func @gather() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.3326, 1.6701], [-0.9692, 2.5766], [1.5214, 0.2275]]> : tensor<3x2xf32>
  %x1 = corert.const_dense_tensor dense<[2, 0]> : tensor<2xi64>
  %y = corert.executeop(%cpu) "tf.Gather"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 2], values = [1.521400e+00, 2.275000e-01, -1.332600e+00, 1.670100e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gather_nd'
func @gather_nd() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-3.6614, 0.6435], [-3.0305, -2.3644], [-3.5191, -0.2303]], [[-1.2511, 3.3623], [-3.2567, 0.3404], [2.097, 2.4235]], [[2.9468, 1.4033], [1.6011, 0.8077], [-0.8593, 1.7131]], [[1.7826, -0.2564], [-3.2105, -3.0733], [0.2142, -2.0815]]]> : tensor<4x3x2xf32>
  %x1 = corert.const_dense_tensor dense<[[[0, 1, 1]]]> : tensor<1x1x3xi32>
  %y = corert.executeop(%cpu) "tf.GatherNd"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1], values = [-2.364400e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gather_v2'
func @gather_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[-3.6614, 0.6435], [-3.0305, -2.3644], [-3.5191, -0.2303]], [[-1.2511, 3.3623], [-3.2567, 0.3404], [2.097, 2.4235]], [[2.9468, 1.4033], [1.6011, 0.8077], [-0.8593, 1.7131]], [[1.7826, -0.2564], [-3.2105, -3.0733], [0.2142, -2.0815]]]> : tensor<4x3x2xf32>
  %x1 = corert.const_dense_tensor dense<1> : tensor<i64>
  %x2 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.GatherV2"(%x0, %x1, %x2) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [4, 2], values = [-3.030500e+00, -2.364400e+00, -3.256700e+00, 3.404000e-01, 1.601100e+00, 8.077000e-01, -3.210500e+00, -3.073300e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
