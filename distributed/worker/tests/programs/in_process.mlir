// A cluster in one process: servers of tests, which execute a function when they are told to, and a compiler pass of tests. It
// needs no worker.
//
// WORKERS: 0

func @main() -> (!t.tensor, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %configurations:2 = "tfrt_dist.test_create_configurations"() : () -> (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration)
  %device = tfrt_test.get_string {value = "CPU:0"}
  %c1 = "tfrt_dist.test_register_fake_compiler_pass"(%device) {compiled_program = "<compiled>", compiler_pass_name = "tf"} : (!tfrt.string) -> !tfrt.chain
  %ctx, %server = "tfrt_dist.test_create_distributed_context"(%configurations#0, %configurations#1) : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %t = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %spec = tfrt_dist.register_tf_function(%c1, %ctx, %t) "model" "any op graph"
  %c2 = tfrt_dist.test_print_remote_execute_spec %spec, %c0
  // The call waits for the server, and the server for the next line.
  %c3, %id = tfrt_dist.remote_execute[%c2, %ctx, %t, %spec] "model"() : () -> (!tfrt_dist.remote_object_id)
  %processed = "tfrt_dist.test_process_next_request"(%server) : (!tfrt_dist.dist_context) -> !tfrt.chain
  %tensor = tfrt_dist.fetch_remote_object %c3, %ctx, %t, %id
  %shown = tfrt_dht.print_tensor %tensor, %processed
  %c4 = "tfrt_dist.test_close_distributed_context"(%ctx, %shown) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %c5 = "tfrt_dist.test_close_distributed_context"(%server, %c4) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %tensor, %c5 : !t.tensor, !tfrt.chain
}

// ----- compiled
func @model() -> !t.tensor {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %c0 [4 : i32, 5 : i32]
  tfrt.return %a : !t.tensor
}

// OUT: RemoteExecuteSpec:[ /job:worker/task:1/device:CPU:0 ]
// OUT: DenseHostTensor dtype = I32, shape = [2], values = [4, 5]
// OUT: result 0: !t.tensor = DenseHostTensor dtype = I32, shape = [2], values = [4, 5]
