// Ops on devices: tensors in their memory, moved between them and the host, by ops and by transfer; what cannot be moved.
//
// RUN: bef_executor --device=cpu --cpu_devices=2 --test_init_function=register $(bef_name %s) 2>&1 | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  %zero = tfrt.constant.i32 0
  %gpu0 = "corert.create_gpu_op_handler"(%zero, %cpu) : (i32, !corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %gpu0 "gpu0"
  %one = tfrt.constant.i32 1
  %gpu1 = "corert.create_gpu_op_handler"(%one, %null) : (i32, !corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %gpu1 "gpu1"
  tfrt.return
}

// CHECK-LABEL: --- Running 'there_and_back'
func @there_and_back() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu0 = corert.get_op_handler %ch0 "gpu0"
  %a = corert.executeop(%gpu0) "tfrt_test.create_dense_tensor"() { shape = [3], values = [1.2 : f32, 1.0e-5 : f32, 3.0e10 : f32] } : 1
  // CHECK-NEXT: DenseGpuTensor<dtype=F32, shape=[3], pointer=0x{{[0-9a-f]+}} (CUDA)>
  %ch1 = "corert.print_tensorhandle"(%a, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %b = corert.executeop(%gpu0) "tfrt_test.synchronize"(%a) : 1
  %c = corert.executeop(%gpu0) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [3], values = [1.20000005, 9.99999975e-06, 3.0000001e+10]
  %ch2 = corert.executeop.seq(%gpu0, %ch1) "tfrt_test.print"(%c) : 0
  %d = corert.executeop(%gpu0) "tfrt_test.dht_to_gpu_tensor"(%c) : 1
  // CHECK-NEXT: DenseGpuTensor<dtype=F32, shape=[3], pointer=0x{{[0-9a-f]+}} (CUDA)>
  %ch3 = corert.executeop.seq(%gpu0, %ch2) "tfrt_test.print"(%d) : 0
  tfrt.return %ch3 : !tfrt.chain
}

// An op brings its arguments to where it runs: from the host, from another device, and, on the host, from a device.
// CHECK-LABEL: --- Running 'mixed_places'
func @mixed_places() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %gpu0 = corert.get_op_handler %ch0 "gpu0"
  %gpu1 = corert.get_op_handler %ch0 "gpu1"
  %host = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [2], values = [1 : i32, 2 : i32] } : 1
  %first = corert.executeop(%gpu0) "tfrt_test.create_dense_tensor"() { shape = [2], values = [10 : i32, 20 : i32] } : 1
  %second = corert.executeop(%gpu1) "tfrt_test.create_dense_tensor"() { shape = [2], values = [100 : i32, 200 : i32] } : 1
  %a = corert.executeop(%gpu0) "tfrt_test.add"(%host, %first) : 1
  %b = corert.executeop(%gpu0) "tfrt_test.add"(%a, %second) : 1
  // What an argument came from is as it was.
  %c = corert.executeop(%cpu) "tfrt_test.add"(%second, %b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [211, 422]
  %ch1 = "corert.print_tensorhandle"(%c, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // An op that devices do not have runs on the fall-back.
  %odd = corert.executeop(%gpu0) "tfrt_test.odd_collector"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [1], values = [111]
  %ch2 = "corert.print_tensorhandle"(%odd, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'transfers'
func @transfers() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu0 = corert.get_op_handler %ch0 "gpu0"
  %device0 = "tfrt.get_device"(%ch0) { device_name = "GPU:0" } : (!tfrt.chain) -> !tfrt.device
  %device1 = "tfrt.get_device"(%ch0) { device_name = "GPU:1" } : (!tfrt.chain) -> !tfrt.device
  %home = "tfrt.get_device"(%ch0) { device_name = "CPU:0" } : (!tfrt.chain) -> !tfrt.device
  %a = corert.executeop(%gpu0) "tfrt_test.create_dense_tensor"() { shape = [2], values = [5 : i32, 6 : i32] } : 1
  %b = "corert.transfer"(%a, %device1) { dst_tensor_type_name = "DenseGpu" } : (!corert.tensorhandle, !tfrt.device) -> !corert.tensorhandle
  %c = "corert.transfer"(%b, %home) { dst_tensor_type_name = "DenseHost" } : (!corert.tensorhandle, !tfrt.device) -> !corert.tensorhandle
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [5, 6]
  %ch1 = "corert.print_tensorhandle"(%c, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %d = "corert.transfer"(%c, %device0) { dst_tensor_type_name = "DenseGpu" } : (!corert.tensorhandle, !tfrt.device) -> !corert.tensorhandle
  // CHECK-NEXT: DenseGpuTensor<dtype=I32, shape=[2]
  %ch2 = "corert.print_tensorhandle"(%d, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // Whoever asks for a tensor of the host's gets one, wherever it was computed.
  %tensor = "corert.tensorhandle_to_ht"(%d) : (!corert.tensorhandle) -> !t.tensor
  %back = "corert.ht_to_tensorhandle"(%tensor, %ch2) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  // CHECK-NEXT: DenseHostTensor dtype = I32, shape = [2], values = [5, 6]
  %ch3 = "corert.print_tensorhandle"(%back, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{cannot find conversion function}}
  %e = "corert.transfer"(%d, %home) { dst_tensor_type_name = "StringHost" } : (!corert.tensorhandle, !tfrt.device) -> !corert.tensorhandle
  // CHECK: Error TensorHandle: 'cannot find conversion function for [DenseGpu]->[StringHost]'
  %ch4 = "corert.print_tensorhandle"(%e, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'several_results'
func @several_results() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu0 = corert.get_op_handler %ch0 "gpu0"
  %two:2 = corert.executeop(%gpu0) "tfrt_test.return_multiple_results"() : 2
  %last = corert.executeop(%gpu0) "tfrt_test.test_optional_arg"(%two#0, %two#1) : 1
  %second = corert.executeop(%gpu0) "tfrt_test.test_variadic_arg"(%two#0, %last, %last) : 1
  // CHECK-NEXT: DenseGpuTensor<dtype=F32, shape=[]
  %ch1 = "corert.print_tensorhandle"(%second, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'failing'
func @failing() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %gpu0 = corert.get_op_handler %ch0 "gpu0"
  // expected-error @+1 {{error from ReturnMultipleResultsWithError op}}
  %two:2 = corert.executeop(%gpu0) "tfrt_test.return_multiple_results_with_error"() : 2
  // CHECK: 'failing' returned <<error: error from ReturnMultipleResultsWithError op>>
  %sum = corert.executeop(%gpu0) "tfrt_test.add"(%two#0, %two#1) : 1
  tfrt.return %sum : !corert.tensorhandle
}
