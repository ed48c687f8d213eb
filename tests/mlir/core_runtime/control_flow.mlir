// Functions chosen and repeated by what tensors hold, also by tensors that are still computed.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func @first(%ch: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  tfrt.return %ch, %x : !tfrt.chain, !corert.tensorhandle
}

func @second(%ch: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  tfrt.return %ch, %y : !tfrt.chain, !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'conditional'
func @conditional() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %one = corert.create_dense_tensor.i32 { shape = [1], value = [1 : i32] }
  %zero = corert.create_dense_tensor.i32 { shape = [1], value = [0 : i32] }
  %text = corert.const_string_tensor { shape = [1], value = [""] }
  %later = corert.executeop(%cpu) "tfrt_test.async.noop"(%one) : 1
  %a:2 = corert.cond %one @first @second (%ch0, %one, %zero) : (!corert.tensorhandle)
  // CHECK-NEXT: values = [1]
  %ch1 = "corert.print_tensorhandle"(%a#1, %a#0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %b:2 = corert.cond %text @first @second (%ch1, %one, %zero) : (!corert.tensorhandle)
  // CHECK-NEXT: values = [0]
  %ch2 = "corert.print_tensorhandle"(%b#1, %b#0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c:2 = corert.cond %later @second @first (%ch2, %one, %zero) : (!corert.tensorhandle)
  // CHECK-NEXT: values = [0]
  %ch3 = "corert.print_tensorhandle"(%c#1, %c#0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// Whether the counter is not yet 100.
func @unfinished(%ch: !tfrt.chain, %n: !corert.tensorhandle, %sum: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  %end = corert.create_dense_tensor.i32 { shape = [1], value = [100 : i32] }
  %ended = corert.executeop(%cpu) "tfrt_test.equal"(%n, %end) : 1
  %zero = corert.create_dense_tensor.i32 { shape = [1], value = [0 : i32] }
  %more = corert.executeop(%cpu) "tfrt_test.equal"(%ended, %zero) : 1
  %later = corert.executeop(%cpu) "tfrt_test.async.noop"(%more) : 1
  tfrt.return %ch, %later : !tfrt.chain, !corert.tensorhandle
}

func @step(%ch: !tfrt.chain, %n: !corert.tensorhandle, %sum: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  %one = corert.create_dense_tensor.i32 { shape = [1], value = [1 : i32] }
  %next = corert.executeop(%cpu) "tfrt_test.add"(%n, %one) : 1
  %more = corert.executeop(%cpu) "tfrt_test.add"(%sum, %next) : 1
  tfrt.return %ch, %next, %more : !tfrt.chain, !corert.tensorhandle, !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'repeated'
func @repeated() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %zero = corert.create_dense_tensor.i32 { shape = [1], value = [0 : i32] }
  %r:3 = corert.while @unfinished @step (%ch0, %zero, %zero) : (!corert.tensorhandle, !corert.tensorhandle)
  // CHECK-NEXT: values = [5050]
  %ch1 = "corert.print_tensorhandle"(%r#2, %r#0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong'
func @wrong() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %two = corert.create_dense_tensor.i32 { shape = [2], value = [1 : i32] }
  // expected-error @+1 {{a condition must be a tensor of one element, not of 2}}
  %a:2 = corert.cond %two @first @second (%ch0, %two, %two) : (!corert.tensorhandle)
  tfrt.return %a#1 : !corert.tensorhandle
}

func @twice(%ch: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  %sum = corert.executeop(%cpu) "tfrt_test.add"(%x, %x) : 1
  tfrt.return %ch, %sum : !tfrt.chain, !corert.tensorhandle
}

// A Switch of the first argument by the second one, an island behind its true output, and a Merge of both branches.
// CHECK-LABEL: --- Running 'live_and_dead'
func @live_and_dead() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %three = corert.create_dense_tensor.i32 { shape = [1], value = [3 : i32] }
  %zero = corert.create_dense_tensor.i32 { shape = [1], value = [0 : i32] }
  %a:2 = "corert.execute_graph"(%ch0, %three, %three) {islands = [@twice], plan = [3, 2, 0, 0, 0, 2, 2, -1, 0, -1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 4, 0, 0, 0, 2, 2, 0, 0, 1, 0, 0, 1, 0, 1, 1, 2, 0, 0], texts = ["switch", "island", "merge", "fetch"]} : (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
  // CHECK-NEXT: values = [6]
  %ch1 = "corert.print_tensorhandle"(%a#1, %a#0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %b:2 = "corert.execute_graph"(%ch1, %three, %zero) {islands = [@twice], plan = [3, 2, 0, 0, 0, 2, 2, -1, 0, -1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 4, 0, 0, 0, 2, 2, 0, 0, 1, 0, 0, 1, 0, 1, 1, 2, 0, 0], texts = ["switch", "island", "merge", "fetch"]} : (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
  // CHECK-NEXT: values = [3]
  %ch2 = "corert.print_tensorhandle"(%b#1, %b#0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
