// Batch normalization and its gradients: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'fused_batch_norm'
func @fused_batch_norm() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[3.5888, 2.5731]]]]> : tensor<1x1x1x2xf32>
  %x1 = corert.const_dense_tensor dense<[-2.8447, -2.9347]> : tensor<2xf32>
  %x2 = corert.const_dense_tensor dense<[-3.8342, 0.7406]> : tensor<2xf32>
  %x3 = corert.const_dense_tensor dense<[-1.1115, -1.5436]> : tensor<2xf32>
  %x4 = corert.const_dense_tensor dense<[2.2923, 0.8843]> : tensor<2xf32>
  %y:5 = corert.executeop(%cpu) "tf.FusedBatchNorm"(%x0, %x1, %x2, %x3, %x4) { epsilon = 0.001 : f32, is_training = false } : 5
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 1, 1, 2], values = [-1.2663{{[0-9]+}}e+01, -1.2099{{[0-9]+}}e+01]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [-1.111500e+00, -1.543600e+00]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [2.292300e+00, 8.843000e-01]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [-1.111500e+00, -1.543600e+00]
  %ch4 = "corert.print_tensorhandle"(%y#3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [2], values = [2.292300e+00, 8.843000e-01]
  %ch5 = "corert.print_tensorhandle"(%y#4, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fused_batch_norm_grad'
func @fused_batch_norm_grad() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[2.7192], [-1.207], [-3.8237], [-3.0497], [-2.8912]]], [[[-0.227], [2.44], [1.4102], [-1.8566], [0.287]]], [[[-1.9531], [-0.1232], [-0.0181], [-1.1044], [-3.7623]]]]> : tensor<3x1x5x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[[-1.8642], [2.4957], [3.551], [-0.7097], [2.1176]]], [[[-2.9117], [3.2972], [-3.2536], [-2.7056], [0.8779]]], [[[2.7433], [-1.755], [2.2431], [1.9824], [3.0832]]]]> : tensor<3x1x5x1xf32>
  %x2 = corert.const_dense_tensor dense<[-1.154]> : tensor<1xf32>
  %x3 = corert.const_dense_tensor dense<[0.6127733]> : tensor<1xf32>
  %x4 = corert.const_dense_tensor dense<[5.9179044]> : tensor<1xf32>
  %y:5 = corert.executeop(%cpu) "tf.FusedBatchNormGrad"(%x0, %x1, %x2, %x3, %x4) { epsilon = 0.001 : f32, is_training = true } : 5
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 1, 5, 1], values = [-1.3469{{[0-9]+}}e+00, -1.1656{{[0-9]+}}e-01, 9.7165{{[0-9]+}}e-01, 1.2221{{[0-9]+}}e+00, 7.3711{{[0-9]+}}e-01, 2.0241{{[0-9]+}}e-01, -1.9626{{[0-9]+}}e+00, -5.2460{{[0-9]+}}e-01, 9.4551{{[0-9]+}}e-01, -5.9071{{[0-9]+}}e-01, 2.0144{{[0-9]+}}e-01, -1.4487{{[0-9]+}}e-02, -6.4388{{[0-9]+}}e-01, -9.0825{{[0-9]+}}e-02, 1.0103{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1], values = [-1.1152{{[0-9]+}}e+01]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1], values = [-1.3159{{[0-9]+}}e+01]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [0], values = []
  %ch4 = "corert.print_tensorhandle"(%y#3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [0], values = []
  %ch5 = "corert.print_tensorhandle"(%y#4, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fused_batch_norm_grad_v2'
func @fused_batch_norm_grad_v2() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[[2.7192], [-1.207], [-3.8237], [-3.0497], [-2.8912]]], [[[-0.227], [2.44], [1.4102], [-1.8566], [0.287]]], [[[-1.9531], [-0.1232], [-0.0181], [-1.1044], [-3.7623]]]]> : tensor<3x1x5x1xf32>
  %x1 = corert.const_dense_tensor dense<[[[[-1.8642], [2.4957], [3.551], [-0.7097], [2.1176]]], [[[-2.9117], [3.2972], [-3.2536], [-2.7056], [0.8779]]], [[[2.7433], [-1.755], [2.2431], [1.9824], [3.0832]]]]> : tensor<3x1x5x1xf32>
  %x2 = corert.const_dense_tensor dense<[-1.154]> : tensor<1xf32>
  %x3 = corert.const_dense_tensor dense<[0.6127733]> : tensor<1xf32>
  %x4 = corert.const_dense_tensor dense<[5.9179044]> : tensor<1xf32>
  %y:5 = corert.executeop(%cpu) "tf.FusedBatchNormGradV2"(%x0, %x1, %x2, %x3, %x4) { epsilon = 0.001 : f32, is_training = true } : 5
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 1, 5, 1], values = [-1.3469{{[0-9]+}}e+00, -1.1656{{[0-9]+}}e-01, 9.7165{{[0-9]+}}e-01, 1.2221{{[0-9]+}}e+00, 7.3711{{[0-9]+}}e-01, 2.0241{{[0-9]+}}e-01, -1.9626{{[0-9]+}}e+00, -5.2460{{[0-9]+}}e-01, 9.4551{{[0-9]+}}e-01, -5.9071{{[0-9]+}}e-01, 2.0144{{[0-9]+}}e-01, -1.4487{{[0-9]+}}e-02, -6.4388{{[0-9]+}}e-01, -9.0825{{[0-9]+}}e-02, 1.0103{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1], values = [-1.1152{{[0-9]+}}e+01]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [1], values = [-1.3159{{[0-9]+}}e+01]
  %ch3 = "corert.print_tensorhandle"(%y#2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [0], values = []
  %ch4 = "corert.print_tensorhandle"(%y#3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [0], values = []
  %ch5 = "corert.print_tensorhandle"(%y#4, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}
