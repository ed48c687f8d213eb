// Softmax and cross-entropy: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'softmax_cross_entropy_with_logits'
func @softmax_cross_entropy_with_logits() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[-2.136, -0.8585, -1.0318, -2.1766], [-2.7678, 1.3508, -1.6921, -1.0466], [1.594, 1.0821, -2.0854, 2.9136]]> : tensor<3x4xf32>
  %x1 = corert.const_dense_tensor dense<[[0.0, 1.0, 0.0, 0.0]]> : tensor<1x4xf32>
  %y:2 = corert.executeop(%cpu) "tf.SoftmaxCrossEntropyWithLogits"(%x0, %x1) : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [8.7014{{[0-9]+}}e-01, 1.4402{{[0-9]+}}e-01, 2.1920{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 4], values = [1.1675{{[0-9]+}}e-01, -5.8111{{[0-9]+}}e-01, 3.5223{{[0-9]+}}e-01, 1.1211{{[0-9]+}}e-01, 1.4085{{[0-9]+}}e-02, -1.3413{{[0-9]+}}e-01, 4.1298{{[0-9]+}}e-02, 7.8753{{[0-9]+}}e-02, 1.8634{{[0-9]+}}e-01, -8.8831{{[0-9]+}}e-01, 4.7028{{[0-9]+}}e-03, 6.9727{{[0-9]+}}e-01]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sparse_softmax_cross_entropy_with_logits'
func @sparse_softmax_cross_entropy_with_logits() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[3.8548, -1.8191, -3.3307, 0.4978], [-1.5009, 2.0557, -2.4659, 1.4343], [3.1089, -0.2719, -1.9838, -1.3573]]> : tensor<3x4xf32>
  %x1 = corert.const_dense_tensor dense<[0, 3, 2]> : tensor<3xi32>
  %y:2 = corert.executeop(%cpu) "tf.SparseSoftmaxCrossEntropyWithLogits"(%x0, %x1) : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [3.8289{{[0-9]+}}e-02, 1.0766{{[0-9]+}}e+00, 5.1430{{[0-9]+}}e+00]
  %ch1 = "corert.print_tensorhandle"(%y#0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 4], values = [-3.7565{{[0-9]+}}e-02, 3.3054{{[0-9]+}}e-03, 7.2903{{[0-9]+}}e-04, 3.3530{{[0-9]+}}e-02, 1.8099{{[0-9]+}}e-02, 6.3427{{[0-9]+}}e-01, 6.8956{{[0-9]+}}e-03, -6.5927{{[0-9]+}}e-01, 9.5088{{[0-9]+}}e-01, 3.2349{{[0-9]+}}e-02, -9.9416{{[0-9]+}}e-01, 1.0926{{[0-9]+}}e-02]
  %ch2 = "corert.print_tensorhandle"(%y#1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
