// Along one dimension: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'arg_max'
func @arg_max() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.6655, -2.9596, -2.1825, 0.949], [-3.1733, 1.5244, -0.3054, 2.6126], [3.7169, -0.3688, 0.7156, 1.2098]]> : tensor<3x4xf32>
  %x1 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.ArgMax"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [3, 3, 0]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'arg_min'
func @arg_min() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-1.806, 0.6735, 3.6679, -1.8796], [0.5775, 3.2494, 2.49, -2.6522], [0.8272, -2.05, 2.6178, -0.1727]]> : tensor<3x4xf32>
  %x1 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.ArgMin"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [3, 3, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'cumprod'
func @cumprod() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.1716, 0.1331, -0.5101], [-0.792, -1.376, 0.9507]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.Cumprod"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [1.716000e-01, 2.2839{{[0-9]+}}e-02, -1.1650{{[0-9]+}}e-02, -7.920000e-01, 1.0897{{[0-9]+}}e+00, 1.0360{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'cumsum'
func @cumsum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.8017, -0.8678, -1.5374], [1.8004, -1.3411, -0.6139]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.Cumsum"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [1.801700e+00, 9.339000e-01, -6.035000e-01, 1.800400e+00, 4.593000e-01, -1.546000e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'top_kv2'
func @top_kv2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[0.0389, -1.3098, 0.3692, 0.0223, 2.5596, -1.4894]> : tensor<6xf32>
  %x1 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y:2 = corert.executeop(%cpu) "tf.TopKV2"(%x0, %x1) : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [1], values = [2.559600e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [1], values = [4]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
