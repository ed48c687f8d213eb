// What data-parallel training needs besides collectives.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'alone'
func @alone() -> (i32, i32, i32) {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %rank, %ranks = tfrt_dist.group_rank %ctx, %group
  %step = tfrt.constant.i32 7
  %ch1 = tfrt_dist.set_step %ctx, %step, %ch0
  %labels = tfrt_dist.create_shard.i32 %ctx, %group {shape = [3 : i64]}
  // CHECK-NEXT: shape = [3]
  %ch2 = tfrt_dht.print_tensor %labels, %ch1
  // Without a folder of checkpoints nothing is written.
  %ch3 = "tfrt_dist.save_checkpoint"(%ctx, %group, %step, %ch2, %labels) {every = 1 : i64, names = "labels"}
    : (!tfrt_dist.dist_context, !tfrt.string, i32, !tfrt.chain, !t.tensor) -> !tfrt.chain
  %restored, %ch4 = "tfrt_dist.restore_checkpoint"(%ctx, %group, %ch3, %labels) {names = "labels"}
    : (!tfrt_dist.dist_context, !tfrt.string, !tfrt.chain, !t.tensor) -> (i32, !tfrt.chain)
  // CHECK: returned 0,1,0
  tfrt.return %rank, %ranks, %restored : i32, i32, i32
}

// CHECK-LABEL: --- Running 'bucket'
func @bucket() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %bucket = tfrt_dist.create_shard.f32 %ctx, %group {shape = [5 : i64]}
  %part = tfrt_dist.bucket_part %bucket {offset = 1 : i64, shape = [2 : i64, 1 : i64]}
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %part, %ch0 3.0 : f32
  // CHECK-NEXT: values = [0.000000e+00, 3.000000e+00, 3.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch2 = tfrt_dht.print_tensor %bucket, %ch1
  %rank = tfrt.constant.i32 0
  // CHECK-NEXT: step 0: loss 1.2000000
  %ch3 = "tfrt_mnist.report_loss"(%rank, %rank, %bucket, %ch2) {every = 10 : i64}
    : (i32, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'outside'
func @outside() -> !t.tensor {
  %bucket = tfrt_dht.create_uninitialized_tensor.f32.1 [5 : i64]
  // expected-error @+1 {{is not within a bucket of 5 elements}}
  %part = tfrt_dist.bucket_part %bucket {offset = 4 : i64, shape = [2 : i64]}
  tfrt.return %part : !t.tensor
}

// CHECK-LABEL: --- Running 'names'
func @names() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %step = tfrt.constant.i32 7
  // expected-error @+1 {{2 names for 0 tensors}}
  %ch1 = "tfrt_dist.save_checkpoint"(%ctx, %group, %step, %ch0) {every = 1 : i64, names = "a,b"}
    : (!tfrt_dist.dist_context, !tfrt.string, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
