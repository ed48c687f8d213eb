// Numbers of gamma and Poisson distributions: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'gamma'
func @gamma() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[2]> : tensor<1xi32>
  %x1 = corert.const_dense_tensor dense<[0.5, 1.0]> : tensor<2xf32>
  %y0 = corert.executeop(%cpu) "tf.RandomGamma"(%x0, %x1) { seed = 3 : i64, seed2 = 5 : i64 } : 1
  // CHECK: dtype = F32, shape = [2, 2], values = [
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gamma_of_a_seed'
func @gamma_of_a_seed() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1, 3]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[3, 7]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[0.3, 1.0, 7.5]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.StatelessRandomGammaV2"(%x0, %x1, %x2) : 1
  // CHECK: dtype = F32, shape = [1, 3], values = [1.19
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'gamma_of_a_key'
func @gamma_of_a_key() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3]> : tensor<1xi32>
  %x1 = corert.const_dense_tensor dense<[5]> : tensor<1xui64>
  %x2 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xui64>
  %x3 = corert.const_dense_tensor dense<1> : tensor<i32>
  %x4 = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %y0 = corert.executeop(%cpu) "tf.StatelessRandomGammaV3"(%x0, %x1, %x2, %x3, %x4) : 1
  // CHECK: dtype = F32, shape = [3], values = [
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'poisson'
func @poisson() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3]> : tensor<1xi32>
  %x1 = corert.const_dense_tensor dense<20.0> : tensor<f32>
  %y0 = corert.executeop(%cpu) "tf.RandomPoissonV2"(%x0, %x1) { seed = 3 : i64, seed2 = 5 : i64, dtype = i32 } : 1
  // CHECK: dtype = I32, shape = [3], values = [
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'poisson_of_a_seed'
func @poisson_of_a_seed() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[6, 3]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[3, 7]> : tensor<2xi32>
  %x2 = corert.const_dense_tensor dense<[0.5, 9.0, 40.0]> : tensor<3xf32>
  %y0 = corert.executeop(%cpu) "tf.StatelessRandomPoisson"(%x0, %x1, %x2) { dtype = i64 } : 1
  // CHECK: dtype = I64, shape = [6, 3], values = [1, 11, 40, 0, 7, 46, 1, 8, 40, 0, 13, 50, 0, 7, 27, 0, 4, 42]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
