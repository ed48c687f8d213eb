// RUN: not tfrt run --check %s 2>&1 | FileCheck %s
// RUN: not tfrt_opt --check-chains %s 2>&1 | FileCheck %s --check-prefix=OPT
// RUN: tfrt run %s --check --function ordered

// A chain that is missing is an error in every run, whichever kernel comes first.

func @main() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch0 = tfrt.new.chain
  tfrt.call @fill(%t, %ch0) : (!t.tensor, !tfrt.chain) -> ()
  // CHECK: error: 'tfrt_dht.print_tensor' reads a !t.tensor that 'tfrt_dht.fill_tensor_with_constant.f32' writes, and no chain orders the two (!t.tensor made by 'tfrt_dht.create_uninitialized_tensor.f32.1' at {{.*}}missing_chain.mlir:[[@LINE-3]]:8)
  // CHECK: missing_chain.mlir:[[@LINE+4]]:3
  // CHECK: = written by 'tfrt_dht.fill_tensor_with_constant.f32' at {{.*}}missing_chain.mlir:[[@LINE+9]]:3
  // CHECK: = pass the chain of 'tfrt.call' at {{.*}}missing_chain.mlir:[[@LINE-4]]:3 to 'tfrt_dht.print_tensor' at {{.*}}missing_chain.mlir:[[@LINE+2]]:3
  // OPT: error: 'tfrt_dht.print_tensor' reads a !t.tensor that 'tfrt_dht.fill_tensor_with_constant.f32' writes
  tfrt_dht.print_tensor %t, %ch0
  tfrt.return
}

// The function gives no chain, so that nobody can wait for it.
func @fill(%t: !t.tensor, %ch: !tfrt.chain) {
  tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 1.0 : f32
  tfrt.return
}

func @ordered() {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch0 1.0 : f32
  %ch2 = tfrt_dht.print_tensor %t, %ch1
  tfrt.return
}
