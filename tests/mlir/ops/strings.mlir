// Ops on strings: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'join'
func @join() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_string_tensor {shape = [2], value = ["a", "b"]}
  %y = corert.const_string_tensor {shape = [], value = ["-"]}
  %z = corert.const_string_tensor {shape = [2, 2], value = ["a", "b", "c", "d"]}
  %axes = corert.const_dense_tensor dense<[1, 0]> : tensor<2xi32>
  %joined = corert.executeop(%cpu) "tf.StringJoin"(%x, %y, %x) { separator = "+" } : 1
  %reduced = corert.executeop(%cpu) "tf.ReduceJoin"(%z, %axes) { keep_dims = true, separator = "," } : 1
  %sum = corert.executeop(%cpu) "tf.Add"(%z, %x) : 1
  // CHECK: StringHostTensor shape = [2], values = ["a+-+a", "b+-+b"]
  %ch1 = "corert.print_tensorhandle"(%joined, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [1, 1], values = ["a,b,c,d"]
  %ch2 = "corert.print_tensorhandle"(%reduced, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [2, 2], values = ["aa", "bb", "ca", "db"]
  %ch3 = "corert.print_tensorhandle"(%sum, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'parts'
func @parts() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_string_tensor {shape = [2], value = [" Ab c ", "XYZ"]}
  // An empty separator stands for spaces.
  %spaces = corert.const_string_tensor {shape = [], value = [""]}
  %pos = corert.const_dense_tensor dense<[-3, 1]> : tensor<2xi32>
  %len = corert.const_dense_tensor dense<[9, 1]> : tensor<2xi32>
  %part = corert.executeop(%cpu) "tf.Substr"(%x, %pos, %len) { unit = "BYTE" } : 1
  %length = corert.executeop(%cpu) "tf.StringLength"(%x) { unit = "UTF8_CHAR" } : 1
  %strip = corert.executeop(%cpu) "tf.StringStrip"(%x) : 1
  %lower = corert.executeop(%cpu) "tf.StringLower"(%x) : 1
  %upper = corert.executeop(%cpu) "tf.StringUpper"(%x) { encoding = "utf-8" } : 1
  %indices, %values, %shape = corert.executeop(%cpu) "tf.StringSplitV2"(%x, %spaces) { maxsplit = -1 : i64 } : 3
  // CHECK: StringHostTensor shape = [2], values = [" c ", "Y"]
  %ch1 = "corert.print_tensorhandle"(%part, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [2], values = [6, 3]
  %ch2 = "corert.print_tensorhandle"(%length, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [2], values = ["Ab c", "XYZ"]
  %ch3 = "corert.print_tensorhandle"(%strip, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [2], values = [" ab c ", "xyz"]
  %ch4 = "corert.print_tensorhandle"(%lower, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [2], values = [" AB C ", "XYZ"]
  %ch5 = "corert.print_tensorhandle"(%upper, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [3, 2], values = [0, 0, 0, 1, 1, 0]
  %ch6 = "corert.print_tensorhandle"(%indices, %ch5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [3], values = ["Ab", "c", "XYZ"]
  %ch7 = "corert.print_tensorhandle"(%values, %ch6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
  %ch8 = "corert.print_tensorhandle"(%shape, %ch7) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch8 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'numbers'
func @numbers() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1.5, -0.25]> : tensor<2xf32>
  %text = corert.executeop(%cpu) "tf.AsString"(%x) { precision = 3 : i64, width = 8 : i64, fill = "0" } : 1
  %back = corert.executeop(%cpu) "tf.StringToNumber"(%text) { out_type = f64 } : 1
  %both = corert.executeop(%cpu) "tf.StringFormat"(%x, %text) { template = "{} is {}", placeholder = "{}" } : 1
  // CHECK: StringHostTensor shape = [2], values = ["0001.500", "-000.250"]
  %ch1 = "corert.print_tensorhandle"(%text, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = F64, shape = [2], values = [1.500000e+00, -2.500000e-01]
  %ch2 = "corert.print_tensorhandle"(%back, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [], values = ["[1.5 -0.25] is ["0001.500" "-000.250"]"]
  %ch3 = "corert.print_tensorhandle"(%both, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// What there is no memory for is an error of the program, and not its end.
// CHECK-LABEL: --- Running 'too_many_strings'
func @too_many_strings() {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  // expected-error @+1 {{runtime error: Cannot allocate a list of 1099511627776 items}}
  %x = corert.const_string_tensor {shape = [1099511627776], value = ["a"]}
  tfrt.return
}
