// Rows that are multiplied by the matrices of experts, and their sums with biases.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// The second expert has the first row, the first one the others.

// CHECK-LABEL: --- Running 'expert_matmul'
func @expert_matmul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %experts = corert.const_dense_tensor dense<[1, 0, 0]> : tensor<3xi64>
  %weights = corert.const_dense_tensor dense<[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]]]> : tensor<2x2x2xf32>
  %bias = corert.const_dense_tensor dense<[[0.0, 0.5], [10.0, 20.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%cpu) "tfrt.ExpertMatMul"(%x, %experts, %weights, %bias) : 1
  // CHECK: dtype = F32, shape = [3, 2], values = [1.300000e+01, 1.900000e+01, 3.000000e+00, 4.500000e+00, 5.000000e+00, 6.500000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Each expert has one column of a block of 16 integers, 9 and 10, of which 8 stands for zero.

// CHECK-LABEL: --- Running 'narrow_expert_matmul'
func @narrow_expert_matmul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<2x16xf32>
  %experts = corert.const_dense_tensor dense<[1, 0]> : tensor<2xi64>
  %matrix = corert.const_dense_tensor dense<"0x9999999999999999AAAAAAAAAAAAAAAA"> : tensor<2x1x8xui8>
  %scales = corert.const_dense_tensor dense<[[[0.5]], [[2.0]]]> : tensor<2x1x1xf32>
  %y = corert.executeop(%cpu) "tfrt.NarrowExpertMatMul"(%x, %experts, %matrix, %scales) { bits = 4 : i64, block_size = 16 : i64 } : 1
  // CHECK: dtype = F32, shape = [2, 1], values = [6.400000e+01, 8.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
