// Arrays of tensors with gradients, stacks of tensors, and what they refuse.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'gradient'
func @gradient() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %array = corert.const_string_tensor {shape = [], value = ["array"]}
  %back = corert.const_string_tensor {shape = [], value = ["back"]}
  %two = corert.const_dense_tensor dense<2> : tensor<i32>
  %zero = corert.const_dense_tensor dense<0> : tensor<i32>
  %one = corert.const_dense_tensor dense<1> : tensor<i32>
  %both = corert.const_dense_tensor dense<[0, 1]> : tensor<2xi32>
  %x = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %c1, %f1 = corert.executeop.seq(%cpu, %ch0) "tfrt.Array"(%array, %two) { dtype = f32 } : 1
  %c2, %f2 = corert.executeop.seq(%cpu, %c1) "tfrt.ArrayWrite"(%array, %zero, %x, %f1) : 1
  %c3, %f3 = corert.executeop.seq(%cpu, %c2) "tfrt.ArrayWrite"(%array, %one, %x, %f2) : 1
  %c4, %all = corert.executeop.seq(%cpu, %c3) "tfrt.ArrayGather"(%array, %both, %f3) { dtype = f32 } : 1
  // CHECK-NEXT: shape = [2, 2], values = [1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00]
  %c5 = "corert.print_tensorhandle"(%all, %c4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // What is written to a gradient is added up, and the rest of it is zero.
  %c6, %g1 = corert.executeop.seq(%cpu, %c5) "tfrt.ArrayGradient"(%array, %back, %f3) : 1
  %c7, %g2 = corert.executeop.seq(%cpu, %c6) "tfrt.ArrayWrite"(%back, %one, %x, %g1) : 1
  %c8, %g3 = corert.executeop.seq(%cpu, %c7) "tfrt.ArrayGradient"(%array, %back, %g2) : 1
  %c9, %g4 = corert.executeop.seq(%cpu, %c8) "tfrt.ArrayWrite"(%back, %one, %x, %g3) : 1
  %c10, %read = corert.executeop.seq(%cpu, %c9) "tfrt.ArrayRead"(%back, %one, %g4) { dtype = f32 } : 1
  // CHECK-NEXT: shape = [2], values = [2.000000e+00, 4.000000e+00]
  %c11 = "corert.print_tensorhandle"(%read, %c10) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c12, %joined:2 = corert.executeop.seq(%cpu, %c11) "tfrt.ArrayConcat"(%back, %g4) { dtype = f32 } : 2
  // CHECK-NEXT: shape = [4], values = [0.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00]
  %c13 = "corert.print_tensorhandle"(%joined#0, %c12) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: dtype = I64, shape = [2], values = [2, 2]
  %c14 = "corert.print_tensorhandle"(%joined#1, %c13) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c14 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'parts'
func @parts() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %array = corert.const_string_tensor {shape = [], value = ["parts"]}
  %zero = corert.const_dense_tensor dense<0> : tensor<i32>
  %one = corert.const_dense_tensor dense<1> : tensor<i32>
  %places = corert.const_dense_tensor dense<[2, 0]> : tensor<2xi32>
  %lengths = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi64>
  %x = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  %rows = corert.const_dense_tensor dense<[[4], [5]]> : tensor<2x1xi32>
  %c1, %f1 = corert.executeop.seq(%cpu, %ch0) "tfrt.Array"(%array, %zero) { dtype = i32, dynamic_size = true } : 1
  %c2, %f2 = corert.executeop.seq(%cpu, %c1) "tfrt.ArraySplit"(%array, %x, %lengths, %f1) : 1
  %c3, %read = corert.executeop.seq(%cpu, %c2) "tfrt.ArrayRead"(%array, %one, %f2) { dtype = i32 } : 1
  // CHECK-NEXT: shape = [2], values = [2, 3]
  %c4 = "corert.print_tensorhandle"(%read, %c3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c5, %f3 = corert.executeop.seq(%cpu, %c4) "tfrt.ArrayScatter"(%array, %places, %rows, %f2) : 1
  %c6, %size = corert.executeop.seq(%cpu, %c5) "tfrt.ArraySize"(%array, %f3) : 1
  // CHECK-NEXT: dtype = I32, shape = [], values = [3]
  %c7 = "corert.print_tensorhandle"(%size, %c6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c8, %joined:2 = corert.executeop.seq(%cpu, %c7) "tfrt.ArrayConcat"(%array, %f3) { dtype = i32 } : 2
  // CHECK-NEXT: shape = [4], values = [5, 2, 3, 4]
  %c9 = "corert.print_tensorhandle"(%joined#0, %c8) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c9 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unset'
func @unset() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %array = corert.const_string_tensor {shape = [], value = ["unset"]}
  %one = corert.const_dense_tensor dense<1> : tensor<i32>
  %zero = corert.const_dense_tensor dense<0> : tensor<i32>
  %c1, %f1 = corert.executeop.seq(%cpu, %ch0) "tfrt.Array"(%array, %one) { dtype = f32 } : 1
  // expected-error @+1 {{Could not read index 0: it has not been written to}}
  %c2, %read = corert.executeop.seq(%cpu, %c1) "tfrt.ArrayRead"(%array, %zero, %f1) { dtype = f32 } : 1
  tfrt.return %read : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'stack'
func @stack() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %stack = corert.const_string_tensor {shape = [], value = ["stack"]}
  %x = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y = corert.const_dense_tensor dense<3> : tensor<i32>
  %c1 = corert.executeop.seq(%cpu, %ch0) "tfrt.StackPush"(%stack, %x) : 0
  %c2 = corert.executeop.seq(%cpu, %c1) "tfrt.StackPush"(%stack, %y) : 0
  %c3, %last = corert.executeop.seq(%cpu, %c2) "tfrt.StackPop"(%stack) { dtype = i32 } : 1
  // CHECK-NEXT: shape = [], values = [3]
  %c4 = "corert.print_tensorhandle"(%last, %c3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c5, %first = corert.executeop.seq(%cpu, %c4) "tfrt.StackPop"(%stack) { dtype = i32 } : 1
  // CHECK-NEXT: shape = [2], values = [1, 2]
  %c6 = "corert.print_tensorhandle"(%first, %c5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c6 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'empty'
func @empty() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %stack = corert.const_string_tensor {shape = [], value = ["nothing"]}
  // expected-error @+1 {{Stack is empty when calling Pop().}}
  %c1, %last = corert.executeop.seq(%cpu, %ch0) "tfrt.StackPop"(%stack) { dtype = i32 } : 1
  tfrt.return %last : !corert.tensorhandle
}
