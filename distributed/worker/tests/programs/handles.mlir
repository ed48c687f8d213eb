// The forms of remote execution that return tensor handles: ids that the call allocates, and ids that come from an earlier
// call's inputs.
//
// WORKERS: 1 2 4 8

func @main() -> (!tfrt.chain, !t.tensor) {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %w = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %one = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %two = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0", "/job:worker/task:0/device:CPU:0"]}
  %p0 = tfrt_dist.test_print_remote_execute_spec %two, %c0
  %c1 = tfrt_dist.register_tfrt_function(%p0, %ctx, %w) "two" "<two>"
  %c2 = tfrt_dist.register_tfrt_function(%c1, %ctx, %w) "ids" "<ids>"
  %c3, %id0, %id1, %th = tfrt_dist.remote_execute_th[%c2, %ctx, %w, %two, 1 : i32] "two"() : () -> (!tfrt_dist.remote_object_id, !tfrt_dist.remote_object_id, !corert.tensorhandle)
  %c4 = "corert.print_tensorhandle"(%th, %c3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ht = "corert.tensorhandle_to_ht"(%th) : (!corert.tensorhandle) -> !t.tensor
  %same = tfrt_dist.get_remote_object_id_from_th %th
  %c5 = tfrt_dist.test_print_remote_object_id %same, %c4
  // The id of an output may be chosen by another call, and that output be read before.
  %c6, %id2 = tfrt_dist.remote_execute[%c5, %ctx, %w, %one] "ids"(%id0) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %c7 = tfrt_dist.delete_remote_object %c6, %ctx, %w, %id2
  tfrt.return %c7, %ht : !tfrt.chain, !t.tensor
}

// ----- two
func @two() -> (!t.tensor, !t.tensor) {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %c0 [1 : i32, 2 : i32]
  %b = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.i32 %b, %c1 [3 : i32, 4 : i32]
  tfrt.return %a, %b : !t.tensor, !t.tensor
}
// ----- ids
func @ids(%ctx: !tfrt_dist.dist_context, %out: !tfrt_dist.remote_object_id, %x: !t.tensor) -> !t.tensor {
  %c0 = tfrt.new.chain
  %c1 = tfrt_dist.test_print_remote_object_id %out, %c0
  %c2 = tfrt_dht.print_tensor %x, %c1
  tfrt.return %x : !t.tensor
}

// OUT: RemoteExecuteSpec:[ /job:worker/task:0/device:CPU:0 /job:worker/task:0/device:CPU:0 ]
// OUT: a tensor of another task: I32 [1, 2]
// OUT: remote object on /job:worker/task:0/device:CPU:0
// OUT: remote object on /job:worker/task:0/device:CPU:0
// OUT: DenseHostTensor dtype = I32, shape = [2], values = [1, 2]
// OUT: result 1: !t.tensor = DenseHostTensor dtype = I32, shape = [1, 2], values = [3, 4]
