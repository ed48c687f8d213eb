// Collectives of a process that is alone: each copies what it sends.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'f16'
func @f16() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %key = tfrt_test.get_string {value = "key"}
  %own = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %axis = tfrt.constant.ui64 0
  %in = tfrt_dht_sync.create_dense_tensor.f16 {shape = [2], values = [1.0 : f16, 2.0 : f16]}
  %out = tfrt_dht.create_uninitialized_tensor.f16.1 [2 : i64]
  %ch1 = tfrt_dist.cpu.allreduce.f16 %ctx, %group, %key, %in, %out, %ch0 {reduction_fn = "mean"}
  // CHECK: shape = [2]
  %ch2 = tfrt_dht.print_tensor %out, %ch1
  %ch3 = tfrt_dist.cpu.allreduce.f16 %ctx, %group, %key, %out, %out, %ch2 {reduction_fn = "max"}
  %ch4 = tfrt_dist.cpu.broadcast.f16 %ctx, %group, %key, %out, %own, %ch3
  %ch5 = tfrt_dist.cpu.allgather_fixed_shape.f16 %ctx, %group, %key, %in, %out, %axis, %ch4
  %ch6, %joined = tfrt_dist.cpu.allgather_any_shape.f16 %ctx, %group, %key, %in, %axis, %ch5
  // CHECK: shape = [2]
  %ch7 = tfrt_dht.print_tensor %joined, %ch6
  %ch8 = tfrt_dist.cpu.reduce_scatter.f16 %ctx, %group, %key, %in, %out, %ch7 {reduction_fn = "min"}
  %ch9 = tfrt_dist.cpu.all_to_all.f16 %ctx, %group, %key, %in, %out, %ch8
  // CHECK: shape = [2]
  %ch10 = tfrt_dht.print_tensor %out, %ch9
  %ch11 = tfrt_dist.cpu.barrier %ctx, %group, %key, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bf16'
func @bf16() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %key = tfrt_test.get_string {value = "key"}
  %own = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %axis = tfrt.constant.ui64 0
  %in = tfrt_dht_sync.create_dense_tensor.bf16 {shape = [2], values = [1.0 : bf16, 2.0 : bf16]}
  %out = tfrt_dht.create_uninitialized_tensor.bf16.1 [2 : i64]
  %ch1 = tfrt_dist.cpu.allreduce.bf16 %ctx, %group, %key, %in, %out, %ch0 {reduction_fn = "mean"}
  // CHECK: shape = [2]
  %ch2 = tfrt_dht.print_tensor %out, %ch1
  %ch3 = tfrt_dist.cpu.allreduce.bf16 %ctx, %group, %key, %out, %out, %ch2 {reduction_fn = "max"}
  %ch4 = tfrt_dist.cpu.broadcast.bf16 %ctx, %group, %key, %out, %own, %ch3
  %ch5 = tfrt_dist.cpu.allgather_fixed_shape.bf16 %ctx, %group, %key, %in, %out, %axis, %ch4
  %ch6, %joined = tfrt_dist.cpu.allgather_any_shape.bf16 %ctx, %group, %key, %in, %axis, %ch5
  // CHECK: shape = [2]
  %ch7 = tfrt_dht.print_tensor %joined, %ch6
  %ch8 = tfrt_dist.cpu.reduce_scatter.bf16 %ctx, %group, %key, %in, %out, %ch7 {reduction_fn = "min"}
  %ch9 = tfrt_dist.cpu.all_to_all.bf16 %ctx, %group, %key, %in, %out, %ch8
  // CHECK: shape = [2]
  %ch10 = tfrt_dht.print_tensor %out, %ch9
  %ch11 = tfrt_dist.cpu.barrier %ctx, %group, %key, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'f32'
func @f32() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %key = tfrt_test.get_string {value = "key"}
  %own = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %axis = tfrt.constant.ui64 0
  %in = tfrt_dht_sync.create_dense_tensor.f32 {shape = [2], values = [1.0 : f32, 2.0 : f32]}
  %out = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch1 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %key, %in, %out, %ch0 {reduction_fn = "mean"}
  // CHECK: shape = [2]
  %ch2 = tfrt_dht.print_tensor %out, %ch1
  %ch3 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %key, %out, %out, %ch2 {reduction_fn = "max"}
  %ch4 = tfrt_dist.cpu.broadcast.f32 %ctx, %group, %key, %out, %own, %ch3
  %ch5 = tfrt_dist.cpu.allgather_fixed_shape.f32 %ctx, %group, %key, %in, %out, %axis, %ch4
  %ch6, %joined = tfrt_dist.cpu.allgather_any_shape.f32 %ctx, %group, %key, %in, %axis, %ch5
  // CHECK: shape = [2]
  %ch7 = tfrt_dht.print_tensor %joined, %ch6
  %ch8 = tfrt_dist.cpu.reduce_scatter.f32 %ctx, %group, %key, %in, %out, %ch7 {reduction_fn = "min"}
  %ch9 = tfrt_dist.cpu.all_to_all.f32 %ctx, %group, %key, %in, %out, %ch8
  // CHECK: shape = [2]
  %ch10 = tfrt_dht.print_tensor %out, %ch9
  %ch11 = tfrt_dist.cpu.barrier %ctx, %group, %key, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'f64'
func @f64() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %key = tfrt_test.get_string {value = "key"}
  %own = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %axis = tfrt.constant.ui64 0
  %in = tfrt_dht_sync.create_dense_tensor.f64 {shape = [2], values = [1.0 : f64, 2.0 : f64]}
  %out = tfrt_dht.create_uninitialized_tensor.f64.1 [2 : i64]
  %ch1 = tfrt_dist.cpu.allreduce.f64 %ctx, %group, %key, %in, %out, %ch0 {reduction_fn = "mean"}
  // CHECK: shape = [2]
  %ch2 = tfrt_dht.print_tensor %out, %ch1
  %ch3 = tfrt_dist.cpu.allreduce.f64 %ctx, %group, %key, %out, %out, %ch2 {reduction_fn = "max"}
  %ch4 = tfrt_dist.cpu.broadcast.f64 %ctx, %group, %key, %out, %own, %ch3
  %ch5 = tfrt_dist.cpu.allgather_fixed_shape.f64 %ctx, %group, %key, %in, %out, %axis, %ch4
  %ch6, %joined = tfrt_dist.cpu.allgather_any_shape.f64 %ctx, %group, %key, %in, %axis, %ch5
  // CHECK: shape = [2]
  %ch7 = tfrt_dht.print_tensor %joined, %ch6
  %ch8 = tfrt_dist.cpu.reduce_scatter.f64 %ctx, %group, %key, %in, %out, %ch7 {reduction_fn = "min"}
  %ch9 = tfrt_dist.cpu.all_to_all.f64 %ctx, %group, %key, %in, %out, %ch8
  // CHECK: shape = [2]
  %ch10 = tfrt_dht.print_tensor %out, %ch9
  %ch11 = tfrt_dist.cpu.barrier %ctx, %group, %key, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'i32'
func @i32() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %key = tfrt_test.get_string {value = "key"}
  %own = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %axis = tfrt.constant.ui64 0
  %in = tfrt_dht_sync.create_dense_tensor.i32 {shape = [2], values = [1 : i32, 2 : i32]}
  %out = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch1 = tfrt_dist.cpu.allreduce.i32 %ctx, %group, %key, %in, %out, %ch0 {reduction_fn = "mean"}
  // CHECK: shape = [2]
  %ch2 = tfrt_dht.print_tensor %out, %ch1
  %ch3 = tfrt_dist.cpu.allreduce.i32 %ctx, %group, %key, %out, %out, %ch2 {reduction_fn = "max"}
  %ch4 = tfrt_dist.cpu.broadcast.i32 %ctx, %group, %key, %out, %own, %ch3
  %ch5 = tfrt_dist.cpu.allgather_fixed_shape.i32 %ctx, %group, %key, %in, %out, %axis, %ch4
  %ch6, %joined = tfrt_dist.cpu.allgather_any_shape.i32 %ctx, %group, %key, %in, %axis, %ch5
  // CHECK: shape = [2]
  %ch7 = tfrt_dht.print_tensor %joined, %ch6
  %ch8 = tfrt_dist.cpu.reduce_scatter.i32 %ctx, %group, %key, %in, %out, %ch7 {reduction_fn = "min"}
  %ch9 = tfrt_dist.cpu.all_to_all.i32 %ctx, %group, %key, %in, %out, %ch8
  // CHECK: shape = [2]
  %ch10 = tfrt_dht.print_tensor %out, %ch9
  %ch11 = tfrt_dist.cpu.barrier %ctx, %group, %key, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'i64'
func @i64() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %key = tfrt_test.get_string {value = "key"}
  %own = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %axis = tfrt.constant.ui64 0
  %in = tfrt_dht_sync.create_dense_tensor.i64 {shape = [2], values = [1 : i64, 2 : i64]}
  %out = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %ch1 = tfrt_dist.cpu.allreduce.i64 %ctx, %group, %key, %in, %out, %ch0 {reduction_fn = "mean"}
  // CHECK: shape = [2]
  %ch2 = tfrt_dht.print_tensor %out, %ch1
  %ch3 = tfrt_dist.cpu.allreduce.i64 %ctx, %group, %key, %out, %out, %ch2 {reduction_fn = "max"}
  %ch4 = tfrt_dist.cpu.broadcast.i64 %ctx, %group, %key, %out, %own, %ch3
  %ch5 = tfrt_dist.cpu.allgather_fixed_shape.i64 %ctx, %group, %key, %in, %out, %axis, %ch4
  %ch6, %joined = tfrt_dist.cpu.allgather_any_shape.i64 %ctx, %group, %key, %in, %axis, %ch5
  // CHECK: shape = [2]
  %ch7 = tfrt_dht.print_tensor %joined, %ch6
  %ch8 = tfrt_dist.cpu.reduce_scatter.i64 %ctx, %group, %key, %in, %out, %ch7 {reduction_fn = "min"}
  %ch9 = tfrt_dist.cpu.all_to_all.i64 %ctx, %group, %key, %in, %out, %ch8
  // CHECK: shape = [2]
  %ch10 = tfrt_dht.print_tensor %out, %ch9
  %ch11 = tfrt_dist.cpu.barrier %ctx, %group, %key, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_type'
func @wrong_type() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  // expected-error @+1 {{the input is a tensor of I32, but the kernel takes F32}}
  %ch1 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %group, %t, %t, %ch0 {reduction_fn = "sum"}
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_reduction'
func @wrong_reduction() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  // expected-error @+1 {{'product' is none of sum, mean, min, max}}
  %ch1 = tfrt_dist.cpu.allreduce.f32 %ctx, %group, %group, %t, %t, %ch0 {reduction_fn = "product"}
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_group'
func @wrong_group() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "half"}
  // expected-error @+1 {{the cluster has no group 'half'; its groups are ["world"]}}
  %ch1 = tfrt_dist.cpu.barrier %ctx, %group, %group, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_axis'
func @wrong_axis() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %axis = tfrt.constant.ui64 1
  // expected-error @+1 {{a tensor of rank 1 has no axis 1}}
  %ch1 = tfrt_dist.cpu.allgather_fixed_shape.f32 %ctx, %group, %group, %t, %t, %axis, %ch0
  tfrt.return %ch1 : !tfrt.chain
}
