// Activations and their gradients: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'gelu'
func @gelu() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1.2938, -0.0379, 3.3794, -0.2559, 1.7846], [0.1593, 3.0645, -2.7705, 1.1612, -3.9014]]> : tensor<2x5xf32>
  %y = corert.executeop(%cpu) "tf.Gelu"(%x0) { approximate = false } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 5], values = [1.1671{{[0-9]+}}e+00, -1.8377{{[0-9]+}}e-02, 3.3781{{[0-9]+}}e+00, -1.0210{{[0-9]+}}e-01, 1.7182{{[0-9]+}}e+00, 8.9731{{[0-9]+}}e-02, 3.0611{{[0-9]+}}e+00, -7.7532{{[0-9]+}}e-03, 1.0186{{[0-9]+}}e+00, -1.8656{{[0-9]+}}e-04]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
