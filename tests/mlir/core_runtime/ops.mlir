// Ops run by name on a handler, one after another or ordered by chains, and as ops that were looked up before.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'run'
func @run() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [2, 2], values = [1 : i32, 2 : i32, 3 : i32, 4 : i32] } : 1
  %b = corert.executeop(%cpu) "tfrt_test.matmul"(%a, %a) { transpose_a = false, transpose_b = true } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 2], values = [5, 11, 11, 25]
  %ch1 = "corert.print_tensorhandle"(%b, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // The prints come in the order of the chain, although their tensors come later and in another.
  %c = corert.executeop(%cpu) "tfrt_test.async.noop"(%b) : 1
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%c) : 0
  // CHECK: values = [5, 11, 11, 25]
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%a) : 0
  // CHECK: values = [1, 2, 3, 4]
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'looked_up'
func @looked_up() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [3], values = [-1.0 : f32, 0.5 : f32, 2.0 : f32] } : 1
  %relu = corert.make_op %cpu "tfrt_test.relu"
  %b = "corert.execute_crt_op"(%relu, %a) { op_attrs = [], op_func_attrs = [] } : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle
  // CHECK: values = [0.000000e+00, 5.000000e-01, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%b, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @twice(%ch: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  %y = corert.executeop(%cpu) "tfrt_test.add"(%x, %x) : 1
  tfrt.return %ch, %y : !tfrt.chain, !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'composite'
func @composite() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_from_scalar"() { shape = [2], value = 21 : i32 } : 1
  %op = "corert.make_composite_op"() { fn = @twice } : () -> !corert.op
  %b = "corert.execute_crt_op"(%op, %a) { op_attrs = [], op_func_attrs = [] } : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle
  // CHECK: ScalarHostTensor dtype = I32, shape = [2], value = 42
  %ch1 = "corert.print_tensorhandle"(%b, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'synchronous'
func @synchronous() attributes { tfrt.sync } {
  %cpu = corert_sync.get_op_handler "cpu"
  corert_sync.register_op_handler %cpu "the same"
  %same = corert_sync.get_op_handler "the same"
  %a = corert_sync.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %b = corert_sync.executeop(%same) "tfrt_test.add"(%a, %a) : 1
  // CHECK: values = [2, 4, 6]
  "corert_sync.print_tensorhandle"(%b) : (!corert.tensorhandle) -> ()
  tfrt.return
}

// CHECK-LABEL: --- Running 'wrong'
func @wrong() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [2, 3], values = [1 : i32] } : 1
  // expected-error @+1 {{matmul arguments have incompatible shapes: [2, 3] and [2, 3]}}
  %b = corert.executeop(%cpu) "tfrt_test.matmul"(%a, %a) { transpose_a = false, transpose_b = false } : 1
  // expected-error @+1 {{attribute 'axis' is missing}}
  %c = corert.executeop(%cpu) "tfrt_test.argmax"(%a) : 1
  // expected-error @+1 {{'tfrt_test.relu' gives 1 results, expected 2}}
  %d:2 = corert.executeop(%cpu) "tfrt_test.relu"(%a) : 2
  tfrt.return %b, %c, %d#1 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}
