// RUN: tfrt_opt --insert-chains --check-chains %s | FileCheck %s

// A program without chains gets those that it needs: through functions, and as few as possible.

// CHECK-LABEL: func @main()
func @main() {
  // CHECK-NEXT: [[NEW:%[0-9]+]] = tfrt.new.chain
  // CHECK-NEXT: [[X:%[0-9]+]] = tfrt_dht.create
  %x = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  // CHECK-NEXT: [[X_DONE:%[0-9]+]] = tfrt_dht.fill_tensor_with_constant.f32 [[X]], [[NEW]] 1.0
  tfrt_dht.fill_tensor_with_constant.f32 %x 1.0 : f32
  // CHECK-NEXT: [[Y:%[0-9]+]] = tfrt_dht.create
  %y = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  // The two tensors may be filled at the same time.
  // CHECK-NEXT: [[Y_DONE:%[0-9]+]] = tfrt_dht.fill_tensor_with_constant.f32 [[Y]], [[NEW]] 2.0
  tfrt_dht.fill_tensor_with_constant.f32 %y 2.0 : f32
  // CHECK-NEXT: [[BOTH:%[0-9]+]] = tfrt.merge.chains [[X_DONE]], [[Y_DONE]]
  // CHECK-NEXT: [[SAME:%[0-9]+]]:2 = tfrt_dht.tensor_equal.f32 [[X]], [[Y]], [[BOTH]]
  %same = tfrt_dht.tensor_equal.f32 %x, %y
  // CHECK-NEXT: [[PRINTED:%[0-9]+]] = tfrt.print.i1 [[SAME]]#0, [[NEW]]
  tfrt.print.i1 %same
  // CHECK-NEXT: tfrt.call @show([[Y]], [[PRINTED]]) : (!t.tensor, !tfrt.chain) -> ()
  tfrt.call @show(%y) : (!t.tensor) -> ()
  tfrt.return
}

// CHECK-LABEL: func @show(%arg0: !t.tensor, %arg1: !tfrt.chain)
func @show(%t: !t.tensor) {
  // CHECK-NEXT: tfrt_dht.print_tensor %arg0, %arg1
  tfrt_dht.print_tensor %t
  tfrt.return
}
