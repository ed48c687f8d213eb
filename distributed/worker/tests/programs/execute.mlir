// Registers a function, executes it remotely, and fetches its result. What it prints comes back, too.
//
// WORKERS: 1 2 4 8

func @main() -> !t.tensor {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %worker = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %spec = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %worker) "make" "<make>"
  %c2, %id = tfrt_dist.remote_execute[%c1, %ctx, %worker, %spec] "make"() : () -> (!tfrt_dist.remote_object_id)
  %tensor = tfrt_dist.fetch_remote_object %c2, %ctx, %worker, %id
  tfrt.return %tensor : !t.tensor
}

// ----- make
func @make() -> !t.tensor {
  %c0 = tfrt.new.chain
  %x = tfrt.constant.i32 42
  %c1 = tfrt.print.i32 %x, %c0
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.i32 %tensor, %c1 [1 : i32, 2 : i32, 3 : i32]
  %done = tfrt_dht.print_tensor %tensor, %c2
  tfrt.return %tensor : !t.tensor
}

// OUT: int32 = 42
// OUT: DenseHostTensor dtype = I32, shape = [3], values = [1, 2, 3]
// OUT: result 0: !t.tensor = DenseHostTensor dtype = I32, shape = [3], values = [1, 2, 3]
