// Workers send data to each other in both orders: the receiver waits, or the data does. Each function may get the context of its
// own task.
//
// WORKERS: 2 4 8

func @main() -> (!t.tensor, !t.tensor) {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %a = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %b = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %none = tfrt_dist.create_remote_execute_spec %ctx {output_devices = []}
  %on_b = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %a) "send_early" "<send_early>"
  %c2 = tfrt_dist.register_tfrt_function(%c0, %ctx, %a) "send_late" "<send_late>"
  %c3 = tfrt_dist.register_tfrt_function(%c0, %ctx, %b) "recv_early" "<recv_early>"
  %c4 = tfrt_dist.register_tfrt_function(%c0, %ctx, %b) "recv_late" "<recv_late>"
  %ready = tfrt.merge.chains %c1, %c2, %c3, %c4
  // The data waits for its receiver.
  %s1 = tfrt_dist.remote_execute[%ready, %ctx, %a, %none] "send_early"() : () -> ()
  %r1, %id1 = tfrt_dist.remote_execute[%s1, %ctx, %b, %on_b] "recv_late"() : () -> (!tfrt_dist.remote_object_id)
  %t1 = tfrt_dist.fetch_remote_object %r1, %ctx, %b, %id1
  // The receiver is called first, and the result is read before it exists.
  %r2, %id2 = tfrt_dist.remote_execute[%r1, %ctx, %b, %on_b] "recv_early"() : () -> (!tfrt_dist.remote_object_id)
  %t2 = tfrt_dist.fetch_remote_object %r1, %ctx, %b, %id2
  %s2 = tfrt_dist.remote_execute[%r1, %ctx, %a, %none] "send_late"() : () -> ()
  tfrt.return %t1, %t2 : !t.tensor, !t.tensor
}

// ----- send_early
func @send_early(%ctx: !tfrt_dist.dist_context) {
  %c0 = tfrt.new.chain
  %to = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %key = tfrt_test.get_string {value = "early"}
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %c0 [1.5 : f32, 2.5 : f32]
  %p = tfrt_dist.serialize %t, %c1
  %c2 = tfrt_dist.send_bytes %ctx, %to, %key, %p
  tfrt.return
}
// ----- send_late
func @send_late(%ctx: !tfrt_dist.dist_context) {
  %c0 = tfrt.new.chain
  %to = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %key = tfrt_test.get_string {value = "late"}
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %c0 [3.5 : f32, 4.5 : f32]
  %p = tfrt_dist.serialize %t, %c1
  %c2 = tfrt_dist.send_bytes %ctx, %to, %key, %p
  tfrt.return
}
// ----- recv_late
func @recv_late(%ctx: !tfrt_dist.dist_context) -> !t.tensor {
  %from = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string {value = "early"}
  %p = tfrt_dist.recv_bytes %ctx, %from, %key
  %t = tfrt_dist.deserialize %p
  tfrt.return %t : !t.tensor
}
// ----- recv_early
func @recv_early(%ctx: !tfrt_dist.dist_context) -> !t.tensor {
  %from = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string {value = "late"}
  %p = tfrt_dist.recv_bytes %ctx, %from, %key
  %t = tfrt_dist.deserialize %p
  tfrt.return %t : !t.tensor
}

// OUT: result 0: !t.tensor = DenseHostTensor dtype = F32, shape = [2], values = [1.500000e+00, 2.500000e+00]
// OUT: result 1: !t.tensor = DenseHostTensor dtype = F32, shape = [2], values = [3.500000e+00, 4.500000e+00]
