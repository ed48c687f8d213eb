// Random numbers and ranges: made on a device they are those that the host makes.
//
// RUN: bef_executor --device=cpu --test_init_function=register $(bef_name %s) 2>&1 | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  %zero = tfrt.constant.i32 0
  %gpu = "corert.create_gpu_op_handler"(%zero, %null) : (i32, !corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %gpu "gpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'generators'
func @generators() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %gpu = corert.get_op_handler %ch0 "gpu"
  %shape = corert.const_dense_tensor dense<[2, 3]> : tensor<2xi32>
  %seed = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi64>
  %low = corert.const_dense_tensor dense<-50> : tensor<i64>
  %high = corert.const_dense_tensor dense<50> : tensor<i64>
  // Key, counter and algorithm stay on the host, where the other op wants them.
  %of:3 = corert.executeop(%gpu) "tf.StatelessRandomGetKeyCounterAlg"(%seed) : 3
  %uniform = corert.executeop(%gpu) "tf.StatelessRandomUniformV2"(%shape, %of#0, %of#1, %of#2) { dtype = f32 } : 1
  %same = corert.executeop(%cpu) "tf.StatelessRandomUniformV2"(%shape, %of#0, %of#1, %of#2) { dtype = f32 } : 1
  %dice = corert.executeop(%gpu) "tf.StatelessRandomUniformInt"(%shape, %seed, %low, %high) : 1
  %fair = corert.executeop(%cpu) "tf.StatelessRandomUniformInt"(%shape, %seed, %low, %high) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%uniform) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 3], values = [[UNIFORM:.*]]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2, 3], values = [[UNIFORM]]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%same) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%dice) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 3], values = [[DICE:.*]]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h1) : 0
  // CHECK-NEXT: DenseHostTensor dtype = I64, shape = [2, 3], values = [[DICE]]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%fair) : 0
  tfrt.return %p3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'distributions'
func @distributions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  // A shape on the device comes to the host.
  %shape = corert.executeop(%gpu) "tf.Const"() { dtype = i32, value = dense<[5]> : tensor<1xi32> } : 1
  %a = corert.executeop(%gpu) "tf.RandomUniform"(%shape) { dtype = f16, seed = 12 : i64, seed2 = 345 : i64 } : 1
  %b = corert.executeop(%gpu) "tf.RandomStandardNormal"(%shape) { dtype = f32, seed = 12 : i64, seed2 = 345 : i64 } : 1
  %c = corert.executeop(%gpu) "tf.TruncatedNormal"(%shape) { dtype = f64, seed = 12 : i64, seed2 = 345 : i64 } : 1
  %wide = corert.executeop(%gpu) "tf.Cast"(%a) { SrcT = f16, DstT = f32 } : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%wide) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [5], values = [0.677734375, 0.412109375, 0.375, 0.42578125, 0.001953125]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [5], values = [0.6438{{[0-9]+}}, -1.6977{{[0-9]+}}, -1.6821{{[0-9]+}}, -3.8151{{[0-9]+}}, 0.02607{{[0-9]+}}]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F64, shape = [5], values = [0.0093852{{[0-9]+}}, 1.1121719{{[0-9]+}}, 0.0713027{{[0-9]+}}, -0.1446721{{[0-9]+}}, {{[^,]+}}]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ranges'
func @ranges() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %one = corert.const_dense_tensor dense<1> : tensor<i32>
  %ten = corert.const_dense_tensor dense<10> : tensor<i32>
  %three = corert.const_dense_tensor dense<3> : tensor<i32>
  %low = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %high = corert.const_dense_tensor dense<-1.0> : tensor<f32>
  %a = corert.executeop(%gpu) "tf.Range"(%one, %ten, %three) : 1
  %b = corert.executeop(%gpu) "tf.LinSpace"(%low, %high, %three) : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [3], values = [1, 4, 7]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [3], values = [0.5, -0.25, -1]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  tfrt.return %p1 : !tfrt.chain
}
