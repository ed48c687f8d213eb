// Each rank adds its number to those of the others and prints the sum. `ci/mpi` starts it by each
// launcher.
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string {value = "world"}
  %key = tfrt_test.get_string {value = "numbers"}
  %rank, %ranks = tfrt_dist.group_rank %ctx, %group
  %sum = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch1 = "tfrt_dht.set_tensor_with_values.i32"(%sum, %ch0, %rank) : (!t.tensor, !tfrt.chain, i32) -> !tfrt.chain
  %ch2 = tfrt_dist.cpu.allreduce.i32 %ctx, %group, %key, %sum, %sum, %ch1 {reduction_fn = "sum"}
  %ch3 = tfrt_dht.print_tensor %sum, %ch2
  tfrt.return %ch3 : !tfrt.chain
}
