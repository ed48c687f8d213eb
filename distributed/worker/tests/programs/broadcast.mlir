// The first worker sends a parameter to all others. The client's calls of the receivers do not wait for each other.
//
// WORKERS: 4 8

func @main() -> (!t.tensor, !t.tensor, !t.tensor) {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %w0 = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %on0 = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %r0 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w0) "broadcast" "<broadcast>"
  %w1 = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %on1 = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %r1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w1) "receive" "<receive>"
  %c1, %id1 = tfrt_dist.remote_execute[%r1, %ctx, %w1, %on1] "receive"() : () -> (!tfrt_dist.remote_object_id)
  %t1 = tfrt_dist.fetch_remote_object %c1, %ctx, %w1, %id1
  %w2 = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:2"}
  %on2 = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:2/device:CPU:0"]}
  %r2 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w2) "receive" "<receive>"
  %c2, %id2 = tfrt_dist.remote_execute[%r2, %ctx, %w2, %on2] "receive"() : () -> (!tfrt_dist.remote_object_id)
  %t2 = tfrt_dist.fetch_remote_object %c2, %ctx, %w2, %id2
  %w3 = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:3"}
  %on3 = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:3/device:CPU:0"]}
  %r3 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w3) "receive" "<receive>"
  %c3, %id3 = tfrt_dist.remote_execute[%r3, %ctx, %w3, %on3] "receive"() : () -> (!tfrt_dist.remote_object_id)
  %t3 = tfrt_dist.fetch_remote_object %c3, %ctx, %w3, %id3
  %sent, %done = tfrt_dist.remote_execute[%r0, %ctx, %w0, %on0] "broadcast"() : () -> (!tfrt_dist.remote_object_id)
  tfrt.return %t1, %t2, %t3 : !t.tensor, !t.tensor, !t.tensor
}

// ----- broadcast
func @broadcast(%ctx: !tfrt_dist.dist_context) -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %key = tfrt_test.get_string {value = "parameter"}
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %c0 [0.5 : f32, 1.5 : f32, 2.5 : f32]
  %p = tfrt_dist.serialize %t, %c1
  %to1 = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %s1 = tfrt_dist.send_bytes %ctx, %to1, %key, %p
  %to2 = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:2"}
  %s2 = tfrt_dist.send_bytes %ctx, %to2, %key, %p
  %to3 = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:3"}
  %s3 = tfrt_dist.send_bytes %ctx, %to3, %key, %p
  %done = tfrt.merge.chains %s1, %s2, %s3
  tfrt.return %done : !tfrt.chain
}
// ----- receive
func @receive(%ctx: !tfrt_dist.dist_context) -> !t.tensor {
  %from = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string {value = "parameter"}
  %p = tfrt_dist.recv_bytes %ctx, %from, %key
  %t = tfrt_dist.deserialize %p
  tfrt.return %t : !t.tensor
}

// OUT: result 0: !t.tensor = DenseHostTensor dtype = F32, shape = [3], values = [5.000000e-01, 1.500000e+00, 2.500000e+00]
// OUT: result 1: !t.tensor = DenseHostTensor dtype = F32, shape = [3], values = [5.000000e-01, 1.500000e+00, 2.500000e+00]
// OUT: result 2: !t.tensor = DenseHostTensor dtype = F32, shape = [3], values = [5.000000e-01, 1.500000e+00, 2.500000e+00]
