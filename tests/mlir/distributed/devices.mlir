// The id of a communicator travels to all ranks; here there is one.
//
// RUN: bef_executor --device=cpu $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'id'
func @id() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %rank, %ranks = tfrt_dist.group_rank %ctx, %group
  %ch1 = tfrt_cuda.init %ch0
  %device, %ch2 = tfrt_cuda.device.get %rank, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %id, %ch5 = tfrt_dist.ccl_id %ctx, %group, %group, %context, %ch4
  %ccl, %ch6 = "tfrt_cuda.ccl.create"(%context, %id, %ranks, %rank, %ch5) {timeout_ms = 60000 : i64}
    : (!tfrt_cuda.context, !tfrt_cuda.ccl_id, i32, i32, !tfrt.chain) -> (!tfrt_cuda.ccl_communicator, !tfrt.chain)
  // CHECK-NEXT: int32 = 1
  %ch7 = tfrt.print.i32 %ranks, %ch6
  %ch8 = tfrt_cuda.ccl.destroy %ccl, %stream, %ch7
  tfrt.return %ch8 : !tfrt.chain
}
