// A handler that tells of every op, its arguments and its results, before the one behind it runs it.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'logged'
func @logged() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %log = "corert.create_logging_op_handler"(%cpu) { sync_log_results = 1 } : (!corert.ophandler) -> !corert.ophandler
  // CHECK: [0] dispatch 'tfrt_test.create_dense_tensor' 0 arguments, 1 result, OpAttrs contains 2 entries:
  // CHECK-NEXT: 'shape' type=I64 value=[2]
  // CHECK-NEXT: 'values' type=I32 value=[3, 4]
  // CHECK: Outputs for [0]: 'tfrt_test.create_dense_tensor':
  // CHECK-NEXT: Output for [0] tensor 0: DenseHostTensor dtype = I32, shape = [2], values = [3, 4]
  %a = corert.executeop(%log) "tfrt_test.create_dense_tensor"() { shape = [2], values = [3 : i32, 4 : i32] } : 1
  // CHECK: [1] dispatch 'tfrt_test.odd_collector' 1 argument, 1 result, no attributes
  // CHECK: Input for [1] tensor 0: DenseHostTensor dtype = I32, shape = [2], values = [3, 4]
  // CHECK: Output for [1] tensor 0: DenseHostTensor dtype = I32, shape = [1], values = [3]
  %b = corert.executeop(%log) "tfrt_test.odd_collector"(%a) : 1
  tfrt.return %ch0 : !tfrt.chain
}
