// What ops of many results, fused products and gradients of normalization give, and ops that devices alone have.
//
// RUN: bef_executor --device=cpu --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  %zero = tfrt.constant.i32 0
  %gpu = "corert.create_gpu_op_handler"(%zero, %cpu) : (i32, !corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %gpu "gpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'identity_n'
func @identity_n() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %b = corert.const_dense_tensor dense<3.0> : tensor<f32>
  %y:2 = corert.executeop(%cpu) "tf.IdentityN"(%a, %b) : 2
  // CHECK: dtype = I32, shape = [2], values = [1, 2]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: dtype = F32, shape = [], values = [3.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'jit_fused_mat_mul'
func @jit_fused_mat_mul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.const_dense_tensor dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = corert.const_dense_tensor dense<[[1.0, -1.0], [1.0, -1.0]]> : tensor<2x2xf32>
  %bias = corert.const_dense_tensor dense<[0.5, 0.5]> : tensor<2xf32>
  %y = corert.executeop(%cpu) "tf._JitFusedMatMul"(%a, %b, %bias) { fusion = ["BiasAdd", "Relu"] } : 1
  // CHECK: shape = [1, 2], values = [3.500000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fused_batch_norm_grad_v3'
func @fused_batch_norm_grad_v3() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %dy = corert.const_dense_tensor dense<[[[[1.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>
  %x = corert.const_dense_tensor dense<[[[[-1.0]], [[1.0]]]]> : tensor<1x2x1x1xf32>
  %scale = corert.const_dense_tensor dense<2.0> : tensor<1xf32>
  %mean = corert.const_dense_tensor dense<0.0> : tensor<1xf32>
  %variance = corert.const_dense_tensor dense<1.0> : tensor<1xf32>
  %rest = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %y:5 = corert.executeop(%cpu) "tf.FusedBatchNormGradV3"(%dy, %x, %scale, %mean, %variance, %rest) { epsilon = 0.0 : f32, is_training = false } : 5
  // CHECK: shape = [1, 2, 1, 1], values = [2.000000e+00, 6.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: shape = [1], values = [2.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: shape = [1], values = [4.000000e+00]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: shape = [0], values = []
  %ch4 = "corert.print_tensorhandle"(%y#3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: shape = [0], values = []
  %ch5 = "corert.print_tensorhandle"(%y#4, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'folded_pad'
func @folded_pad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%gpu) "_tf.Pad"(%x) { paddings = dense<[[0, 0], [1, 0]]> : tensor<2x2xi32> } : 1
  %host = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%y) : 1
  // CHECK-NEXT: shape = [2, 3], values = [0, 1, 2, 0, 3, 4]
  %ch1 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%host) : 0
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'folded_transpose'
func @folded_transpose() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%gpu) "_tf.Transpose"(%x) { perm = dense<[1, 0]> : tensor<2xi32> } : 1
  %host = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%y) : 1
  // CHECK-NEXT: shape = [2, 2], values = [1, 3, 2, 4]
  %ch1 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%host) : 0
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'folded_mean'
func @folded_mean() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%gpu) "_tf.Mean"(%x) { reduction_indices = dense<[1]> : tensor<1xi32> } : 1
  %host = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%y) : 1
  // CHECK-NEXT: shape = [2], values = [1.5, 3.5]
  %ch1 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%host) : 0
  tfrt.return %ch1 : !tfrt.chain
}

// A loop that adds 5, 4, 3, 2 and 1: it counts the first scalar down and adds it to the second one.
// CHECK-LABEL: --- Running 'scalar_loop'
func @scalar_loop() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %count = corert.const_dense_tensor dense<5> : tensor<i32>
  %sum = corert.const_dense_tensor dense<0> : tensor<i32>
  %y:2 = corert.executeop(%cpu) "tfrt.ScalarLoop"(%count, %sum) { body = [20 : i64, 6 : i64, 1 : i64, 0 : i64, 0 : i64, 24 : i64, 5 : i64, 0 : i64, 3 : i64, 0 : i64], condition = [36 : i64, 4 : i64, 2 : i64, 0 : i64, 0 : i64], constants = [2 : i64, 0 : i64, 3 : i64, 1 : i64], decides = 4 : i64, next = [5 : i64, 6 : i64], registers = 7 : i64 } : 2
  // CHECK: dtype = I32, shape = [], values = [0]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: dtype = I32, shape = [], values = [15]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
