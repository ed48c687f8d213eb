// Ops that compiled models need: conditions, tables and regular expressions.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'lookup'
func @lookup() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %keys = corert.const_string_tensor {shape = [3], value = ["a", "b", "a"]}
  %values = corert.const_dense_tensor dense<[10, 20, 30]> : tensor<3xi64>
  %queries = corert.const_string_tensor {shape = [2, 2], value = ["b", "c", "a", ""]}
  %default = corert.const_dense_tensor dense<-1> : tensor<i64>
  %y = corert.executeop(%cpu) "tfrt.Lookup"(%keys, %values, %queries, %default) : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [2, 2], values = [20, -1, 30, -1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %none = corert.const_string_tensor {shape = [], value = ["?"]}
  %numbers = corert.const_dense_tensor dense<[30, 40]> : tensor<2xi64>
  %z = corert.executeop(%cpu) "tfrt.Lookup"(%values, %keys, %numbers, %none) : 1
  // CHECK: StringHostTensor shape = [2], values = ["a", "?"]
  %ch2 = "corert.print_tensorhandle"(%z, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'require'
func @require() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %true = corert.const_dense_tensor dense<true> : tensor<i1>
  %y = corert.executeop(%cpu) "tfrt.Require"(%x, %true) { message = "no" } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2], values = [1, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'require_fails'
func @require_fails() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %false = corert.const_dense_tensor dense<false> : tensor<i1>
  // CHECK: 'require_fails' returned <<error: assertion failed: x is small>>
  // expected-error @+1 {{runtime error: assertion failed: x is small}}
  %y = corert.executeop(%cpu) "tfrt.Require"(%x, %false) { message = "assertion failed: x is small" } : 1
  tfrt.return %y : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'regular_expressions'
func @regular_expressions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_string_tensor {shape = [3], value = ["a-b-c", "abc", "$1-2"]}
  %y0 = corert.executeop(%cpu) "tf.StaticRegexReplace"(%x) { pattern = "(\\w)-(\\w)", rewrite = "\\2-\\1" } : 1
  // CHECK: StringHostTensor shape = [3], values = ["b-a-c", "abc", "$2-1"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %pattern = corert.const_string_tensor {shape = [], value = ["[a-c]"]}
  %rewrite = corert.const_string_tensor {shape = [], value = ["$"]}
  %y1 = corert.executeop(%cpu) "tf.RegexReplace"(%x, %pattern, %rewrite) { replace_global = false } : 1
  // CHECK: StringHostTensor shape = [3], values = ["$-b-c", "$bc", "$1-2"]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %y2 = corert.executeop(%cpu) "tf.StaticRegexFullMatch"(%x) { pattern = "a.*c" } : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [3], values = [1, 1, 0]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %y3 = corert.executeop(%cpu) "tf.RegexFullMatch"(%x, %pattern) : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [3], values = [0, 0, 0]
  %ch4 = "corert.print_tensorhandle"(%y3, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}
