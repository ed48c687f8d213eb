//! Hosts that go away with work under way.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};
use std::time::Duration;

use tfrt::host::{
    AsyncValue, ErrorCode, ExecutionContext, Promise,
    work_queue::{self, Task},
};

use crate::support::{Census, QUEUES, builder, load};

/// Counts itself when it goes, run or not.
struct Ticket(Arc<AtomicUsize>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_queue_that_goes_away_drops_or_runs_every_task() {
    const TASKS: usize = 10_000;
    for queue in QUEUES {
        let gone = Arc::new(AtomicUsize::new(0));
        let queue = work_queue::from_str(queue).expect("a queue");
        for _ in 0..TASKS {
            let ticket = Ticket(gone.clone());
            queue.add_task(Task::new(move || drop(ticket)));
        }
        drop(queue);
        assert_eq!(gone.load(Ordering::Relaxed), TASKS);
    }
}

#[test]
fn values_of_tasks_that_never_ran_are_abandoned() {
    let census = Census::take();
    let queue = work_queue::from_str("s").expect("a queue");
    let (promise, value) = Promise::<i32>::new();
    queue.add_task(Task::new(move || promise.emplace(1)));
    drop(queue);
    assert_eq!(value.as_untyped().error().expect("never produced").code, ErrorCode::Abandoned);
    drop(value);
    assert_eq!(census.newly_alive(), (0, 0));
}

#[test]
fn the_last_handle_to_a_host_may_go_away_on_its_own_thread() {
    let text = "func @main() -> i32 {
      %one = tfrt.constant.i32 1
      %two = \"fault.late\"(%one) : (i32) -> i32
      %four = \"tfrt_test.async_add.i32\"(%two, %two) : (i32, i32) -> i32
      tfrt.return %four : i32
    }";
    let census = Census::take();
    let (go, wait) = mpsc::channel::<()>();
    let (done, finished) = mpsc::channel();
    let runtime = builder("mstd:2")
        .kernels(move |registry| {
            let wait = std::sync::Mutex::new(wait);
            let wait = Arc::new(wait);
            registry.add("fault.late", move |x: i32, cx: &ExecutionContext| {
                let wait = wait.clone();
                cx.spawn_blocking(move || {
                    // Waits until nobody else has the host.
                    let _ = wait.lock().map(|wait| wait.recv());
                    Ok(x + 1)
                })
            });
        })
        .build()
        .expect("a runtime");
    let program = load(&runtime, text);
    let request = runtime.request();
    let cx = ExecutionContext::new(request, program.file().clone());
    let results = program.file().function("main").expect("main").execute(&cx, []);
    let result = results[0].clone();
    results[0].and_then(move || done.send(()).expect("the test waits"));
    drop((cx, program, runtime, results));
    go.send(()).expect("the kernel waits");
    finished.recv().expect("the result comes");
    assert_eq!(sum_or_abandoned(&result), None);
    drop(result);
    // The queue's threads may still be about to drop what they ran.
    for _ in 0..10_000 {
        if census.newly_alive() == (0, 0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(census.newly_alive(), (0, 0));
}

/// Both are right for work that a vanishing host may or may not have run; anything else is given.
fn sum_or_abandoned(value: &AsyncValue) -> Option<String> {
    match value.error() {
        None => (value.get() != Some(&4)).then(|| format!("{value:?}")),
        Some(error) => (error.code != ErrorCode::Abandoned).then(|| error.to_string()),
    }
}
