// Ops of ONNX for networks: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// The first tap reads one row further down.
//
// CHECK-LABEL: --- Running 'deform_conv'
func @deform_conv() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]]]> : tensor<1x1x3x3xf32>
  %w = corert.const_dense_tensor dense<1.0> : tensor<1x1x2x2xf32>
  %offset = corert.const_dense_tensor dense<[[[[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]]> : tensor<1x8x2x2xf32>
  %b = corert.const_dense_tensor dense<[1.0]> : tensor<1xf32>
  %y = corert.executeop(%cpu) "onnx.DeformConv"(%x, %w, %offset, %b) : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [1.2{{0*}}e+01, 1.6{{0*}}e+01, 2.4{{0*}}e+01, 2.8{{0*}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'linear_attention'
func @linear_attention() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %q = corert.const_dense_tensor dense<[[[1.0, 0.0], [1.0, 1.0]]]> : tensor<1x2x2xf32>
  %k = corert.const_dense_tensor dense<[[[1.0, 0.0], [0.0, 1.0]]]> : tensor<1x2x2xf32>
  %v = corert.const_dense_tensor dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %y:2 = corert.executeop(%cpu) "onnx.LinearAttention"(%q, %k, %v) { kv_num_heads = 1 : i64, q_num_heads = 1 : i64, scale = 1.0 : f32, update_rule = "linear" } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 2, 2], values = [1.0{{0*}}e+00, 2.0{{0*}}e+00, 4.0{{0*}}e+00, 6.0{{0*}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [1.0{{0*}}e+00, 2.0{{0*}}e+00, 3.0{{0*}}e+00, 4.0{{0*}}e+00]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
