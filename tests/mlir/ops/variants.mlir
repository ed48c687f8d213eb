// Tensors that are held as strings, and compressed strings: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'there_and_back'
func @there_and_back() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[7]> : tensor<1xi32>
  %v = corert.executeop(%cpu) "tfrt.ToVariant"(%x0, %x1) : 1
  %y0 = corert.executeop(%cpu) "tfrt.FromVariant"(%v) { dtype = f32 } : 1
  %y1 = corert.executeop(%cpu) "tfrt.FromVariant"(%v) { dtype = i32, index = 1 : i64 } : 1
  // CHECK: dtype = F32, shape = [3], values = [1.000000e+00, 2.000000e+00, 3.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: dtype = I32, shape = [1], values = [7]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'never_set'
func @never_set() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %v = corert.const_string_tensor {shape = [], value = [""]}
  %y0 = corert.executeop(%cpu) "tfrt.FromVariant"(%v) { dtype = f32, shape = #corert.shape<2> } : 1
  // CHECK: dtype = F32, shape = [2], values = [0.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'split_and_joined'
func @split_and_joined() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[1, 0, 2]> : tensor<3xi64>
  %v = corert.executeop(%cpu) "tfrt.SplitVariants"(%x0, %x1) : 1
  %y0, %y1 = corert.executeop(%cpu) "tfrt.JoinVariants"(%v) { dtype = f32 } : 2
  // CHECK: dtype = F32, shape = [3], values = [1.000000e+00, 2.000000e+00, 3.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: dtype = I64, shape = [3], values = [1, 0, 2]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stacked'
func @stacked() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %x1 = corert.const_dense_tensor dense<[1, 1]> : tensor<2xi64>
  %v = corert.executeop(%cpu) "tfrt.SplitVariants"(%x0, %x1) : 1
  %y0 = corert.executeop(%cpu) "tfrt.StackVariants"(%v) { dtype = f32 } : 1
  // CHECK: dtype = F32, shape = [2, 1], values = [1.000000e+00, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ragged_rows'
func @ragged_rows() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x1 = corert.const_dense_tensor dense<[0, 1, 3]> : tensor<3xi64>
  %x2 = corert.const_dense_tensor dense<[0, 0, 2, 3]> : tensor<4xi64>
  %v = corert.executeop(%cpu) "tfrt.RaggedToVariants"(%x1, %x2, %x0) : 1
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.RaggedFromVariants"(%v) { dtype = f32, ragged_rank = 2 : i64 } : 3
  // CHECK: dtype = F32, shape = [3], values = [1.000000e+00, 2.000000e+00, 3.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: dtype = I64, shape = [3], values = [0, 1, 3]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: dtype = I64, shape = [4], values = [0, 0, 2, 3]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'not_compressed'
func @not_compressed() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["text"]}
  %y0 = corert.executeop(%cpu) "tf.DecodeCompressed"(%x0) : 1
  // CHECK: text
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'splits_beyond_the_values'
func @splits_beyond_the_values() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %splits = corert.const_dense_tensor dense<[0, 9223372036854775807]> : tensor<2xi64>
  %values = corert.const_dense_tensor dense<[1.0]> : tensor<1xf32>
  %row = corert.executeop(%cpu) "tfrt.ToVariant"(%splits, %values) : 1
  %axis = corert.const_dense_tensor dense<0> : tensor<i32>
  %rows = corert.executeop(%cpu) "tf.ExpandDims"(%row, %axis) : 1
  // CHECK-NEXT: 'splits_beyond_the_values' returned <<error: the splits of a row do not end where its inner rows do>>
  // expected-error @+1 {{runtime error: the splits of a row do not end where its inner rows do}}
  %y:3 = corert.executeop(%cpu) "tfrt.RaggedFromVariants"(%rows) { dtype = f32, ragged_rank = 2 : i64 } : 3
  tfrt.return %y#0 : !corert.tensorhandle
}
