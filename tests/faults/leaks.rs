//! Retained objects are counted as leaks, and released ones are not.

use crate::support::{Census, QUEUES, builder, leak_check, run};

const KEEPS: &str = r#"
func @main() -> (!t.tensor, i32, !tfrt.string) {
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %unused = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %one = tfrt.constant.i32 1
  %two = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
  %text = "tfrt_test.get_string"() {value = "text"} : () -> !tfrt.string
  tfrt.return %a, %two, %text : !t.tensor, i32, !tfrt.string
}
"#;

#[test]
fn kept_results_are_counted_until_they_are_dropped() {
    for queue in QUEUES {
        let census = Census::take();
        let allocator = leak_check();
        let runtime = builder(queue).allocator(allocator.clone()).build().expect("a runtime");
        let results = run(&runtime, KEEPS);
        // The sum lives in a cell because it was computed later.
        assert_eq!(census.newly_alive(), (3, 1), "on {queue}");
        assert!(allocator.report().expect("it counts").has_leak());
        drop(results);
        assert_eq!(census.newly_alive(), (0, 0), "on {queue}");
        assert!(!allocator.report().expect("it counts").has_leak());
    }
}

#[test]
fn memory_that_is_never_given_back_is_a_leak() {
    let text = r#"
      func @main() {
        "tfrt_test.memory_leak_one_int32"() : () -> ()
        tfrt.return
      }"#;
    let allocator = leak_check();
    let runtime = builder("s").allocator(allocator.clone()).build().expect("a runtime");
    drop((run(&runtime, text), runtime));
    let report = allocator.report().expect("it counts");
    assert!(report.has_leak());
    assert_eq!((report.allocations_current, report.bytes_current), (1, 4));
    assert!(report.to_string().contains("Memory leak detected: 1 alive allocations, 4 alive bytes"));
}
