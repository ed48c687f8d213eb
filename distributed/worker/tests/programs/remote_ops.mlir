// Ops of the core runtime on another task: 'corert.executeop' is as for a handler here. An argument in this host's memory is sent
// there, and a result that is printed or used here is copied back.
//
// WORKERS: 1 2 4 8

func @main() -> (!t.tensor, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %chains = tfrt_dist.test_create_remote_chain_manager %ctx
  %device = tfrt_dist.test_get_remote_device %ctx {device_name = "/job:worker/task:0/device:CPU:0"}
  %remote = tfrt_dist.create_remote_op_handler %ctx, %chains, %device
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %x = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = corert.executeop(%remote) "tf.MatMul"(%x, %x) {transpose_a = false, transpose_b = true} : 1
  %z = corert.executeop(%remote) "tf.AddV2"(%y, %x) : 1
  // Here again: the remote tensor is copied.
  %w = corert.executeop(%cpu) "tf.Relu"(%z) : 1
  %ht = "corert.tensorhandle_to_ht"(%w) : (!corert.tensorhandle) -> !t.tensor
  // An error of the op's metadata function is the remote task's.
  %v = corert.const_dense_tensor dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %bad = corert.executeop(%remote) "tf.MatMul"(%x, %v) {transpose_a = false, transpose_b = false} : 1
  %c1 = "corert.print_tensorhandle"(%bad, %c0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ht, %c1 : !t.tensor, !tfrt.chain
}

// OUT: result 0: !t.tensor = DenseHostTensor dtype = F32, shape = [2, 2], values = [6.000000e+00, 1.300000e+01, 1.400000e+01, 2.900000e+01]
// OUT: error: RemoteExecuteOp on /job:worker/task:0 (ADDRESS0): argument 1 of matmul op is not a rank-2 tensor. Actual rank is 1
// OUT:    ┌─ PROGRAM:22:10
// OUT:    │
// OUT: 22 │   %bad = corert.executeop(%remote) "tf.MatMul"(%x, %v) {transpose_a = false, transpose_b = false} : 1
// OUT:    │          ^^^^^^^^^^^^^^^^
// OUT:   = in op 'tf.MatMul'
// OUT:   = in kernel 'corert.executeop'
// OUT:
