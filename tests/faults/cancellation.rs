//! Requests that end early.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tfrt::host::{AsyncValue, ErrorCode, ExecutionContext};

use crate::support::{Census, QUEUES, builder, leak_check, load};

/// Kernels side by side, and those of them that run before the one that cancels.
const WIDTH: usize = 400;
const CANCEL_AT: usize = 50;

/// `WIDTH` asynchronous kernels, each of which makes a tensor and is followed by a kernel that
/// waits for it.
fn wide_program() -> String {
    let mut text = String::from("func @main() -> !tfrt.chain {\n  %x = tfrt.constant.i32 1\n");
    let mut chains = Vec::new();
    for i in 0..WIDTH {
        text += &format!(
            "  %late{i} = \"fault.step\"(%x) : (i32) -> i32
  %more{i} = \"tfrt_test.async_add.i32\"(%late{i}, %x) : (i32, i32) -> i32
  %t{i} = tfrt_dht.create_uninitialized_tensor.f32.1 [16 : i64]
  %ch{i} = \"tfrt_test.as_chain\"(%more{i}, %t{i}) : (i32, !t.tensor) -> !tfrt.chain\n"
        );
        chains.push(format!("%ch{i}"));
    }
    let types = vec!["!tfrt.chain"; WIDTH].join(", ");
    text += &format!(
        "  %all = \"tfrt_test.as_chain\"({}) : ({types}) -> !tfrt.chain\n  tfrt.return %all : !tfrt.chain\n}}\n",
        chains.join(", ")
    );
    text
}

#[test]
fn cancelling_parallel_work_leaves_nothing_alive() {
    let text = wide_program();
    for queue in QUEUES {
        let census = Census::take();
        let allocator = leak_check();
        let started = Arc::new(AtomicUsize::new(0));
        let steps = started.clone();
        let runtime = builder(queue)
            .allocator(allocator.clone())
            .kernels(move |registry| {
                registry.add("fault.step", move |x: i32, cx: &ExecutionContext| {
                    let (steps, request) = (steps.clone(), cx.request().clone());
                    cx.spawn(move || {
                        if steps.fetch_add(1, Ordering::Relaxed) == CANCEL_AT {
                            request.cancel();
                        }
                        Ok(x)
                    })
                });
            })
            .build()
            .expect("a runtime");
        let results = load(&runtime, &text).call("main", []).expect("main");
        assert_eq!(results[0].error().expect("cancelled").code, ErrorCode::Cancelled, "on {queue}");
        runtime.host().quiesce().expect("not on a compute thread");
        assert!(started.load(Ordering::Relaxed) > CANCEL_AT);
        drop(results);
        assert_eq!(census.newly_alive(), (0, 0), "on {queue}");
        assert!(!allocator.report().expect("it counts").has_leak());
    }
}

#[test]
fn a_deadline_ends_a_loop_that_would_run_for_minutes() {
    let text = "func @main(%count: i32) -> i32 {
      %one = tfrt.constant.i32 1
      %sum = tfrt.repeat.i32 %count, %one : i32 {
        %next = \"tfrt_test.async_add.i32\"(%one, %one) : (i32, i32) -> i32
        tfrt.return %next : i32
      }
      tfrt.return %sum : i32
    }";
    for queue in QUEUES {
        let census = Census::take();
        let runtime = builder(queue).build().expect("a runtime");
        let program = load(&runtime, text);
        let request = runtime.request();
        request.set_deadline(Duration::from_millis(20)).expect("a timer");
        let results = program.call_in(&request, "main", [AsyncValue::new(i32::MAX)]).expect("main");
        assert_eq!(results[0].error().expect("too late").code, ErrorCode::DeadlineExceeded, "on {queue}");
        runtime.host().quiesce().expect("not on a compute thread");
        drop(results);
        assert_eq!(census.newly_alive(), (0, 0), "on {queue}");
    }
}

#[test]
fn a_cancelled_request_does_not_touch_another() {
    let text = "func @main() -> i32 {
      %one = tfrt.constant.i32 1
      %two = \"tfrt_test.async_add.i32\"(%one, %one) : (i32, i32) -> i32
      tfrt.return %two : i32
    }";
    for queue in QUEUES {
        let _census = Census::take();
        let runtime = builder(queue).build().expect("a runtime");
        let program = load(&runtime, text);
        let (cancelled, other) = (runtime.request(), runtime.request());
        cancelled.cancel();
        let failed = program.call_in(&cancelled, "main", []).expect("main");
        let fine = program.call_in(&other, "main", []).expect("main");
        assert_eq!(failed[0].error().expect("cancelled").code, ErrorCode::Cancelled);
        assert_eq!(fine[0].get(), Some(&2));
    }
}
