// Remote execution with outputs whose ids exist before.
//
// WORKERS: 1 2 4 8

func @main() -> !t.tensor {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %w = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %chains = tfrt_dist.test_create_remote_chain_manager %ctx
  %one = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w) "make" "<make>"
  %out = tfrt_dist.allocate_remote_object_id %ctx {device_name = "/job:worker/task:0/device:CPU:0"}
  // The first chain of the task is an input that is available there.
  %in = tfrt_dist.get_chain_for_task_handle %c1, %chains, %w
  %c2, %th = tfrt_dist.remote_execute_th_preallocated[%c1, %ctx, %w, %one, 1 : i32, 1 : i32] "make"(%in, %out) : (!tfrt_dist.remote_object_id, !tfrt_dist.remote_object_id) -> (!corert.tensorhandle)
  %c3 = tfrt_dist.set_chain_for_task_handle %c2, %chains, %w, %in
  %t = tfrt_dist.fetch_remote_object %c3, %ctx, %w, %out
  tfrt.return %t : !t.tensor
}

// ----- make
func @make(%c0: !tfrt.chain) -> !t.tensor {
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %c0 [7 : i32, 8 : i32]
  tfrt.return %a : !t.tensor
}

// OUT: result 0: !t.tensor = DenseHostTensor dtype = I32, shape = [2], values = [7, 8]
