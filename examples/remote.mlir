// Two tasks compute, and this program fetches the result: task 0 makes a tensor and sends it to task 1, which receives
// and prints it. distributed/README.md shows how to start the tasks.
//
// WORKERS: 2

func @main() -> !t.tensor {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %sender = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %receiver = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}

  // A task gets a function as the text of a program. Lines end in \0A.
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %sender) "send" "func @send(%ctx: !tfrt_dist.dist_context) {\0A  %c0 = tfrt.new.chain\0A  %to = tfrt_dist.get_task_handle %ctx {task_name = \"/job:worker/task:1\"}\0A  %key = tfrt_test.get_string {value = \"numbers\"}\0A  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]\0A  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %c0 [1.5 : f32, 2.5 : f32]\0A  %p = tfrt_dist.serialize %t, %c1\0A  %c2 = tfrt_dist.send_bytes %ctx, %to, %key, %p\0A  tfrt.return\0A}"
  %c2 = tfrt_dist.register_tfrt_function(%c0, %ctx, %receiver) "receive" "func @receive(%ctx: !tfrt_dist.dist_context) -> !t.tensor {\0A  %c0 = tfrt.new.chain\0A  %from = tfrt_dist.get_task_handle %ctx {task_name = \"/job:worker/task:0\"}\0A  %key = tfrt_test.get_string {value = \"numbers\"}\0A  %p = tfrt_dist.recv_bytes %ctx, %from, %key\0A  %t = tfrt_dist.deserialize %p\0A  %c1 = tfrt_dht.print_tensor %t, %c0\0A  tfrt.return %t : !t.tensor\0A}"

  // The tasks are called at the same time: the receiver waits for the data.
  %nothing = tfrt_dist.create_remote_execute_spec %ctx {output_devices = []}
  %on_receiver = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %sent = tfrt_dist.remote_execute[%c1, %ctx, %sender, %nothing] "send"() : () -> ()
  %received, %id = tfrt_dist.remote_execute[%c2, %ctx, %receiver, %on_receiver] "receive"() : () -> (!tfrt_dist.remote_object_id)
  %tensor = tfrt_dist.fetch_remote_object %received, %ctx, %receiver, %id
  tfrt.return %tensor : !t.tensor
}

// OUT: DenseHostTensor dtype = F32, shape = [2], values = [1.500000e+00, 2.500000e+00]
// OUT: result 0: !t.tensor = DenseHostTensor dtype = F32, shape = [2], values = [1.500000e+00, 2.500000e+00]
