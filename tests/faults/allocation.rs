//! Failing each allocation of a tensor program in turn.

use std::sync::Arc;

use tfrt::host::{
    AsyncValue, ErrorCode, Status,
    allocator::{FailingAllocator, HostAllocator, LeakCheckAllocator, SystemAllocator},
};

use crate::support::{Census, QUEUES, builder, run};

/// Makes tensors in three ways; every allocation is needed for some result.
const TENSORS: &str = r#"
func @main() -> (!t.tensor, !t.tensor, !t.tensor, i1, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %four = tfrt.constant.i64 4
  %eight = tfrt.constant.i64 8
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch0 0.5 : f32
  %b = "tfrt_test.const_dense_attr"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> !t.tensor
  %buffer = tfrt_dht.allocate_buffer %eight, %four
  %upper = tfrt_dht.get_buffer_slice %buffer, %four, %four
  %one = ts.build_shape [1 : i64]
  %c, %ch2 = tfrt_dht.make_tensor.i32 %upper, %one, %ch1
  %ch3 = tfrt_dht.fill_tensor_with_constant.i32 %c, %ch2 7 : i32
  %same, %ch4 = tfrt_dht.tensor_equal.f32 %a, %b, %ch3
  %ch5 = tfrt_dht.print_tensor %b, %ch4
  tfrt.return %a, %b, %c, %same, %ch5 : !t.tensor, !t.tensor, !t.tensor, i1, !tfrt.chain
}
"#;

/// Runs the program with the `n`-th allocation refused (none for 0); gives how many there were.
fn run_failing(queue: &str, n: u64) -> u64 {
    let census = Census::take();
    let allocator = Arc::new(FailingAllocator::new(n, LeakCheckAllocator::new(SystemAllocator)));
    let runtime = builder(queue).allocator(allocator.clone()).build().expect("a runtime");
    let results = run(&runtime, TENSORS);
    let failed = results.iter().filter(|value| value.status() == Status::Failed).count();
    assert_eq!(failed > 0, n > 0 && n <= allocator.allocations(), "allocation {n} on {queue}");
    for error in results.iter().filter_map(AsyncValue::error) {
        assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}");
        assert!(error.location.is_some(), "{error}");
    }
    drop((results, runtime));
    assert_eq!(census.newly_alive(), (0, 0), "allocation {n} on {queue}");
    assert!(!allocator.report().expect("it counts").has_leak(), "allocation {n} on {queue}");
    allocator.allocations()
}

#[test]
fn each_refused_allocation_is_an_error_value() {
    for queue in QUEUES {
        let count = run_failing(queue, 0);
        assert!(count >= 3, "{count} allocations");
        for n in 1..=count + 1 {
            run_failing(queue, n);
        }
    }
}
