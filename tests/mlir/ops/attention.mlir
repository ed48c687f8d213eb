// Attention that a compiler fused, on the host and on a device.
//
// RUN: bef_executor --device=cpu --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  %zero = tfrt.constant.i32 0
  %gpu = "corert.create_gpu_op_handler"(%zero, %null) : (i32, !corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %gpu "gpu"
  tfrt.return
}

// The scores of equal keys are equal: each result is the mean of the values that the mask leaves.
func @both(%handler: !corert.ophandler, %cpu: !corert.ophandler, %ch0: !tfrt.chain) -> !tfrt.chain {
  // One query of one head, three keys, and values whose rows are their last dimension.
  %q = corert.const_dense_tensor dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %k = corert.const_dense_tensor dense<[[[1.0, 0.5], [1.0, 0.5], [1.0, 0.5]]]> : tensor<1x3x2xf32>
  %v = corert.const_dense_tensor dense<[[[1.0, 2.0, 6.0], [-1.0, -2.0, 9.0]]]> : tensor<1x2x3xf32>
  %mean = corert.executeop(%handler) "tfrt.FusedAttention"(%q, %k, %v) { key_order = [0 : i64, 1 : i64, 2 : i64], output_order = [1 : i64, 0 : i64, 2 : i64], query_order = [0 : i64, 1 : i64, 2 : i64], scale = 0.5 : f32, value_order = [0 : i64, 2 : i64, 1 : i64] } : 1
  %mean_here = corert.executeop(%cpu) "tf.Identity"(%mean) : 1
  %ch1 = "corert.print_tensorhandle"(%mean_here, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %mask = corert.const_dense_tensor dense<[0.0, 0.0, -1000.0]> : tensor<3xf32>
  %first = corert.executeop(%handler) "tfrt.FusedAttention"(%q, %k, %v, %mask) { key_order = [0 : i64, 1 : i64, 2 : i64], output_order = [0 : i64, 1 : i64, 2 : i64], query_order = [0 : i64, 1 : i64, 2 : i64], scale = 0.5 : f32, value_order = [0 : i64, 2 : i64, 1 : i64] } : 1
  %first_here = corert.executeop(%cpu) "tf.Identity"(%first) : 1
  %ch2 = "corert.print_tensorhandle"(%first_here, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'attention'
func @attention() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  // CHECK: shape = [1, 1, 2], values = [3.000000e+00, 2.000000e+00]
  // CHECK: shape = [1, 1, 2], values = [1.500000e+00, -1.500000e+00]
  %ch1 = tfrt.call @both(%cpu, %cpu, %ch0) : (!corert.ophandler, !corert.ophandler, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'attention_on_device'
func @attention_on_device() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %gpu = corert.get_op_handler %ch0 "gpu"
  // CHECK: shape = [1, 1, 2], values = [3.000000e+00, 2.000000e+00]
  // CHECK: shape = [1, 1, 2], values = [1.500000e+00, -1.500000e+00]
  %ch1 = tfrt.call @both(%gpu, %cpu, %ch0) : (!corert.ophandler, !corert.ophandler, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
