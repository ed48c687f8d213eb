//! The value's protocol under every interleaving of small programs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::sync::thread;

struct Counted(Arc<AtomicUsize>);
crate::value_type!(Counted, "!test.counted");
impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counter() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}

#[test]
fn loom_a_waiter_runs_once_and_sees_the_payload() {
    loom::model(|| {
        let (promise, value) = Promise::<u64>::new();
        let ran = counter();
        let producer = thread::spawn(move || promise.emplace(7));
        let (seen, count) = (value.clone(), ran.clone());
        value.and_then(move || {
            assert_eq!(seen.get().unwrap().unwrap(), &7);
            count.fetch_add(1, Ordering::Relaxed);
        });
        producer.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn loom_waiters_of_two_threads_all_run() {
    loom::model(|| {
        let (promise, value) = Promise::<u64>::new();
        let ran = counter();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (value, count) = (value.clone(), ran.clone());
                thread::spawn(move || {
                    value.and_then(move || {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                })
            })
            .collect();
        promise.emplace(1);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(ran.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn loom_the_last_handle_destroys_the_payload_once() {
    loom::model(|| {
        let drops = counter();
        let (promise, value) = Promise::new();
        let (other, dropped) = (value.clone(), drops.clone());
        let producer = thread::spawn(move || promise.emplace(Counted(dropped)));
        let reader = thread::spawn(move || drop(other));
        drop(value);
        producer.join().unwrap();
        reader.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn loom_forwarding_meets_production() {
    loom::model(|| {
        let (inner, target) = Promise::<u64>::new();
        let (promise, value) = IndirectPromise::new();
        let ran = counter();
        let (seen, count) = (value.clone(), ran.clone());
        value.and_then(move || {
            assert_eq!(seen.get::<u64>(), Some(&3));
            count.fetch_add(1, Ordering::Relaxed);
        });
        let producer = thread::spawn(move || inner.emplace(3));
        promise.forward_to(target.into_untyped());
        producer.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn loom_an_abandoned_value_wakes_its_waiters() {
    loom::model(|| {
        let (promise, value) = Promise::<u64>::new();
        let ran = counter();
        let producer = thread::spawn(move || drop(promise));
        let (seen, count) = (value.clone(), ran.clone());
        value.and_then(move || {
            assert_eq!(seen.status(), Status::Failed);
            count.fetch_add(1, Ordering::Relaxed);
        });
        producer.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    });
}
