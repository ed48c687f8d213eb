// An op graph is compiled by the task that executes it, which says where the results are.
//
// WORKERS: 1

func @main() -> !t.tensor {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %w = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %one = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %spec = tfrt_dist.register_tf_function(%c0, %ctx, %w) "model" "<model>"
  %c1 = tfrt_dist.test_print_remote_execute_spec %spec, %c0
  %c2 = tfrt_dist.register_tfrt_function(%c1, %ctx, %w) "input" "<input>"
  %c3, %x = tfrt_dist.remote_execute[%c2, %ctx, %w, %one] "input"() : () -> (!tfrt_dist.remote_object_id)
  %c4, %y = tfrt_dist.remote_execute[%c3, %ctx, %w, %spec] "model"(%x) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %t = tfrt_dist.fetch_remote_object %c4, %ctx, %w, %y
  tfrt.return %t : !t.tensor
}

// ----- model
func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = "tf.MatMul"(%x, %x) {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = "tf.Relu"(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  tfrt.return %z : tensor<2x2xf32>
}
// ----- input
func @input() -> !t.tensor {
  %c0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %c0 [1.0 : f32, -2.0 : f32, 3.0 : f32, 4.0 : f32]
  tfrt.return %t : !t.tensor
}

// OUT: RemoteExecuteSpec:[ /job:worker/task:0/device:CPU:0 ]
// OUT: result 0: !t.tensor = DenseHostTensor dtype = F32, shape = [2, 2], values = [0.000000e+00, 0.000000e+00, 1.500000e+01, 1.000000e+01]
