//! Tests of the multi-threaded queue.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};

use super::*;

fn queue(threads: usize) -> Arc<MultiThreadedWorkQueue> {
    Arc::new(MultiThreadedWorkQueue::new(threads, 4).expect("threads"))
}

fn counted(counter: &Arc<AtomicUsize>) -> Task {
    let counter = counter.clone();
    Task::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    })
}

/// Returns `count`, or less under Miri, which is a thousand times slower.
const fn times(count: usize) -> usize {
    if cfg!(miri) { count.div_ceil(20) } else { count }
}

/// Adds a binary tree of tasks, each of which counts.
fn grow(queue: &Arc<MultiThreadedWorkQueue>, counter: &Arc<AtomicUsize>, depth: u32) {
    let (inner, counter) = (queue.clone(), counter.clone());
    queue.add_task(Task::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            grow(&inner, &counter, depth - 1);
            grow(&inner, &counter, depth - 1);
        }
    }));
}

#[test]
fn all_tasks_run_with_any_number_of_threads() {
    for threads in [1, 2, 5] {
        let queue = queue(threads);
        let counter = Arc::new(AtomicUsize::new(0));
        for round in 1..=times(20) {
            for _ in 0..times(200) {
                queue.add_task(counted(&counter));
            }
            queue.quiesce();
            assert_eq!(counter.load(Ordering::Relaxed), round * times(200));
        }
    }
}

#[test]
fn tasks_may_add_tasks() {
    const DEPTH: u32 = if cfg!(miri) { 2 } else { 12 };
    for threads in [1, 3] {
        let queue = queue(threads);
        let counter = Arc::new(AtomicUsize::new(0));
        grow(&queue, &counter, DEPTH);
        queue.quiesce();
        assert_eq!(counter.load(Ordering::Relaxed), (2 << DEPTH) - 1);
    }
}

#[test]
fn a_chain_that_sleeps_between_its_links_is_never_lost() {
    // Each task adds the next one from a thread outside the queue, so that workers keep going to
    // sleep.
    let queue = queue(2);
    for _ in 0..times(300) {
        let latch = Arc::new(Latch::new(1));
        let counted = latch.clone();
        queue.add_task(Task::new(move || counted.count_down()));
        // Without helping, so that the workers must wake.
        latch.wait();
    }
}

#[test]
fn threads_that_wait_leave_loops_to_the_workers() {
    let queue = queue(2);
    queue.begin_loop();
    let others = Arc::new(AtomicUsize::new(0));
    for _ in 0..times(50) {
        let latch = Arc::new(Latch::new(8));
        for _ in 0..8 {
            let (latch, others) = (latch.clone(), others.clone());
            queue.add_task(Task::new(move || {
                let thread = thread::current();
                if !thread.name().is_some_and(|name| name.starts_with("tfrt-worker")) {
                    others.fetch_add(1, Ordering::Relaxed);
                }
                latch.count_down();
            }));
        }
        queue.await_latch(&latch);
    }
    queue.end_loop();
    queue.quiesce();
    assert_eq!((others.load(Ordering::Relaxed), queue.take_panics()), (0, vec![]));
}

#[test]
fn tasks_of_a_thread_that_waits_are_not_lost_in_loops() {
    let queue = queue(1);
    for _ in 0..times(200) {
        let latch = Arc::new(Latch::new(4));
        let mut body = || {
            queue.begin_loop();
            for _ in 0..4 {
                let latch = latch.clone();
                queue.add_task(Task::new(move || latch.count_down()));
            }
        };
        queue.run_and_await(&mut body, &latch);
        queue.end_loop();
    }
}

#[test]
fn workers_alone_do_the_work_when_nobody_waits() {
    let queue = queue(1);
    let (sender, receiver) = mpsc::channel();
    for i in 0..times(100) {
        let sender = sender.clone();
        queue.add_task(Task::new(move || sender.send(i).unwrap()));
    }
    let mut received: Vec<_> = receiver.iter().take(times(100)).collect();
    received.sort_unstable();
    assert_eq!(received, (0..times(100)).collect::<Vec<_>>());
}

#[test]
fn one_thread_serves_old_tasks_while_one_task_keeps_adding_another() {
    // The polling task ends when the old one has run. A single worker that takes only its newest
    // task would never run the old one.
    let queue = queue(1);
    let latch = Arc::new(Latch::new(1));
    fn poll(queue: &Arc<MultiThreadedWorkQueue>, latch: &Arc<Latch>) {
        if !latch.is_open() {
            let (inner, latch) = (queue.clone(), latch.clone());
            queue.add_task(Task::new(move || poll(&inner, &latch)));
        }
    }
    let (inner, old) = (queue.clone(), latch.clone());
    queue.add_task(Task::new(move || {
        let poller = (inner.clone(), old.clone());
        inner.add_task(Task::new(move || old.count_down()));
        inner.add_task(Task::new(move || poll(&poller.0, &poller.1)));
    }));
    latch.wait();
    queue.quiesce();
}

#[test]
fn many_threads_wait_and_help_at_once() {
    // More threads than there are places for guests.
    let queue = queue(2);
    let counter = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                for _ in 0..times(20) {
                    let latch = Arc::new(Latch::new(times(10)));
                    for _ in 0..times(10) {
                        let (counter, latch) = (counter.clone(), latch.clone());
                        queue.add_task(Task::new(move || {
                            counter.fetch_add(1, Ordering::Relaxed);
                            latch.count_down();
                        }));
                    }
                    queue.await_latch(&latch);
                    queue.quiesce();
                }
            });
        }
    });
    assert_eq!(counter.load(Ordering::Relaxed), 12 * times(20) * times(10));
}

#[test]
fn a_body_adds_its_tasks_as_a_worker_would() {
    let queue = queue(2);
    for _ in 0..times(100) {
        let latch = Arc::new(Latch::new(times(50)));
        queue.run_and_await(
            &mut || {
                assert!(queue.is_worker_thread());
                for _ in 0..times(50) {
                    let latch = latch.clone();
                    queue.add_task(Task::new(move || latch.count_down()));
                }
            },
            &latch,
        );
        assert!(latch.is_open());
    }
    let panicking =
        std::panic::AssertUnwindSafe(|| queue.run_and_await(&mut || panic!("mine"), &Latch::new(1)));
    assert!(std::panic::catch_unwind(panicking).is_err());
    assert!(!queue.is_worker_thread());
    queue.quiesce();
}

#[test]
fn a_waiting_task_keeps_its_thread_useful() {
    let queue = queue(1);
    let (latch, done) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    let (inner, inner_latch, inner_done) = (queue.clone(), latch.clone(), done.clone());
    queue.add_task(Task::new(move || {
        assert!(inner.is_worker_thread());
        let open = inner_latch.clone();
        inner.add_task(Task::new(move || open.count_down()));
        inner.core.wait(&inner_latch);
        inner_done.count_down();
    }));
    done.wait();
    assert!(latch.is_open() && !queue.is_worker_thread());
}

#[test]
#[cfg(debug_assertions)]
fn waiting_in_a_compute_task_is_reported_in_debug_builds() {
    let queue = queue(1);
    let inner = queue.clone();
    queue.add_task(Task::new(move || inner.await_latch(&Latch::new(1))));
    queue.quiesce();
    assert!(queue.take_panics()[0].message.contains("blocks a compute thread"));
}

#[test]
fn panics_are_kept_and_quiesce_returns() {
    let queue = queue(2);
    for i in 0..10 {
        queue.add_task(Task::new(move || panic!("task {i}")));
    }
    assert!(queue.add_blocking_task(Task::new(|| panic!("blocking")), true).is_ok());
    queue.quiesce();
    let mut messages: Vec<_> = queue.take_panics().into_iter().map(|panic| panic.message).collect();
    messages.sort();
    assert_eq!(messages.len(), 11);
    assert_eq!((&*messages[0], &*messages[1]), ("blocking", "task 0"));
    let counter = Arc::new(AtomicUsize::new(0));
    queue.add_task(counted(&counter));
    queue.quiesce();
    assert_eq!(counter.load(Ordering::Relaxed), 1, "the workers live on");
}

#[test]
fn blocking_tasks_that_wait_for_each_other_all_get_threads() {
    let queue = queue(1);
    for _ in 0..3 {
        let barrier = Arc::new(Barrier::new(4));
        for _ in 0..4 {
            let barrier = barrier.clone();
            let task = Task::new(move || {
                barrier.wait();
            });
            assert!(queue.add_blocking_task(task, false).is_ok());
        }
        // The queue may see the tasks end before their threads are idle. The next round needs all
        // four.
        queue.quiesce();
        while queue.blocking.idle_count() != 4 {
            std::thread::yield_now();
        }
    }
}

#[test]
fn blocking_tasks_queue_or_come_back_when_all_threads_are_busy() {
    let queue = queue(1);
    let (started, release) = (Arc::new(Barrier::new(5)), Arc::new(Latch::new(1)));
    for _ in 0..4 {
        let (started, release) = (started.clone(), release.clone());
        let task = Task::new(move || {
            started.wait();
            release.wait();
        });
        assert!(queue.add_blocking_task(task, false).is_ok());
    }
    started.wait();
    let counter = Arc::new(AtomicUsize::new(0));
    let refused = queue.add_blocking_task(counted(&counter), false).unwrap_err();
    for _ in 0..times(50) {
        assert!(queue.add_blocking_task(counted(&counter), true).is_ok());
    }
    refused.run();
    assert_eq!(counter.load(Ordering::Relaxed), 1);
    release.count_down();
    queue.quiesce();
    assert_eq!(counter.load(Ordering::Relaxed), 1 + times(50));
}

#[test]
fn idle_blocking_threads_end_and_new_ones_start() {
    let queue = MultiThreadedWorkQueue::with_idle_time(1, 2, Duration::ZERO).unwrap();
    let counter = Arc::new(AtomicUsize::new(0));
    for i in 1..=times(50) {
        assert!(queue.add_blocking_task(counted(&counter), true).is_ok());
        queue.quiesce();
        assert_eq!(counter.load(Ordering::Relaxed), i);
    }
}

#[test]
fn compute_and_blocking_tasks_add_each_other() {
    let queue = queue(2);
    let counter = Arc::new(AtomicUsize::new(0));
    fn hop(queue: &Arc<MultiThreadedWorkQueue>, counter: &Arc<AtomicUsize>, hops: u32) {
        counter.fetch_add(1, Ordering::Relaxed);
        if hops == 0 {
            return;
        }
        let (inner, inner_counter) = (queue.clone(), counter.clone());
        let task = Task::new(move || hop(&inner, &inner_counter, hops - 1));
        if hops.is_multiple_of(2) {
            queue.add_task(task);
        } else {
            assert!(queue.add_blocking_task(task, true).is_ok());
        }
    }
    for _ in 0..times(10) {
        hop(&queue, &counter, 40);
    }
    queue.quiesce();
    assert_eq!(counter.load(Ordering::Relaxed), times(10) * 41);
}

#[test]
fn dropping_the_queue_drops_what_has_not_begun() {
    let (begun, release) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    let counter = Arc::new(AtomicUsize::new(0));
    let queue = queue(1);
    let (inner_begun, inner_release) = (begun.clone(), release.clone());
    queue.add_task(Task::new(move || {
        inner_begun.count_down();
        inner_release.wait();
    }));
    begun.wait();
    for _ in 0..100 {
        queue.add_task(counted(&counter));
    }
    queue.core.shut_down();
    release.count_down();
    drop(queue);
    assert_eq!(Arc::strong_count(&counter), 1);
    assert_eq!(counter.load(Ordering::Relaxed), 0);
}

#[test]
fn a_task_may_hold_the_last_handle() {
    for blocking in [false, true] {
        let queue = queue(1);
        let (sender, receiver) = mpsc::channel();
        let hold = Arc::new(Latch::new(1));
        let (inner, inner_hold) = (queue.clone(), hold.clone());
        let task = Task::new(move || {
            inner_hold.wait();
            drop(inner);
            sender.send(()).unwrap();
        });
        if blocking {
            assert!(queue.add_blocking_task(task, true).is_ok());
        } else {
            queue.add_task(task);
        }
        drop(queue);
        hold.count_down();
        receiver.recv().unwrap();
    }
}

#[test]
fn threads_are_named() {
    let queue = queue(1);
    let (sender, receiver) = mpsc::channel();
    let inner = sender.clone();
    let name = || std::thread::current().name().unwrap().to_owned();
    queue.add_task(Task::new(move || sender.send(name()).unwrap()));
    assert_eq!(receiver.recv().unwrap(), "tfrt-worker-0");
    assert!(queue.add_blocking_task(Task::new(move || inner.send(name()).unwrap()), true).is_ok());
    assert_eq!(receiver.recv().unwrap(), "tfrt-block-0");
}
