// A model in two stages on two workers: each task compiles its op graph, and the first task sends its activations to the second.
//
// WORKERS: 2 4 8

func @main() -> !t.tensor {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %a = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %b = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %on_a = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %on_b = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %first = tfrt_dist.register_tf_function(%c0, %ctx, %a) "first" "<first>"
  %second = tfrt_dist.register_tf_function(%c0, %ctx, %b) "second" "<second>"
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %a) "input" "<input>"
  %c2 = tfrt_dist.register_tfrt_function(%c0, %ctx, %a) "send" "<send>"
  %c3 = tfrt_dist.register_tfrt_function(%c0, %ctx, %b) "receive" "<receive>"
  // All calls are made at once; ids say what depends on what, and chains order the registrations.
  %ready = tfrt.merge.chains %c1, %c2, %c3
  %d1, %x = tfrt_dist.remote_execute[%ready, %ctx, %a, %on_a] "input"() : () -> (!tfrt_dist.remote_object_id)
  %d2, %h = tfrt_dist.remote_execute[%ready, %ctx, %a, %first] "first"(%x) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %d3, %sent = tfrt_dist.remote_execute[%ready, %ctx, %a, %on_a] "send"(%h) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %d4, %i = tfrt_dist.remote_execute[%ready, %ctx, %b, %on_b] "receive"() : () -> (!tfrt_dist.remote_object_id)
  %d5, %y = tfrt_dist.remote_execute[%ready, %ctx, %b, %second] "second"(%i) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %t = tfrt_dist.fetch_remote_object %ready, %ctx, %b, %y
  tfrt.return %t : !t.tensor
}

// ----- first
func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %y = "tf.AddV2"(%x, %x) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  tfrt.return %y : tensor<1x2xf32>
}
// ----- second
func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %y = "tf.Relu"(%x) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  tfrt.return %y : tensor<1x2xf32>
}
// ----- input
func @input() -> !t.tensor {
  %c0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %c0 [-1.5 : f32, 2.5 : f32]
  tfrt.return %t : !t.tensor
}
// ----- send
func @send(%ctx: !tfrt_dist.dist_context, %h: !t.tensor) -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %to = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  %key = tfrt_test.get_string {value = "activations"}
  %p = tfrt_dist.serialize %h, %c0
  %c1 = tfrt_dist.send_bytes %ctx, %to, %key, %p
  tfrt.return %c1 : !tfrt.chain
}
// ----- receive
func @receive(%ctx: !tfrt_dist.dist_context) -> !t.tensor {
  %from = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string {value = "activations"}
  %p = tfrt_dist.recv_bytes %ctx, %from, %key
  %t = tfrt_dist.deserialize %p
  tfrt.return %t : !t.tensor
}

// OUT: result 0: !t.tensor = DenseHostTensor dtype = F32, shape = [1, 2], values = [0.000000e+00, 5.000000e+00]
