use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{diagnostic::ErrorCode, value::Chain};

struct Counted(Arc<AtomicUsize>);
crate::value_type!(Counted, "!test.counted");
impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn scalars_live_in_the_handle() {
    let v = AsyncValue::new(42i32);
    assert!(v.is_inline());
    assert_eq!(v.get::<i32>(), Some(&42));
    assert_eq!(v.get::<i64>(), None);
    assert_eq!(v.clone().get::<i32>(), Some(&42));
    assert_eq!(AsyncValue::new(Chain).get::<Chain>(), Some(&Chain));
    assert_eq!(AsyncValue::new(true).type_name(), "i1");
}

#[test]
fn payload_is_destroyed_with_the_last_handle() {
    let drops = Arc::new(AtomicUsize::new(0));
    let v = AsyncValue::new(Counted(drops.clone()));
    let w = v.clone();
    assert!(!v.is_unique());
    drop(v);
    assert!(w.is_unique());
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    drop(w);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_forwarded_to_may_have_other_handles() {
    let (promise, value) = IndirectPromise::new();
    assert!(!value.is_unique(), "nobody knows what it will be");
    let payload = AsyncValue::new(String::from("shared"));
    promise.forward_to(payload.clone());
    assert!(!value.is_unique());
    drop(payload);
    assert!(value.is_unique());
    let other = value.clone();
    assert!(!value.is_unique() && !other.is_unique());
    drop(value);
    assert!(other.is_unique());
}

#[test]
fn waiters_run_in_order_when_produced() {
    let (promise, value) = Promise::<String>::new();
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    for i in 0..3 {
        let log = log.clone();
        value.and_then(move || log.lock().unwrap().push(i));
    }
    assert_eq!(value.status(), Status::Pending);
    promise.emplace("x".into());
    assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
    assert_eq!(value.get().unwrap().unwrap(), "x");
}

#[test]
fn a_dropped_producer_is_an_error() {
    let (promise, value) = Promise::<i32>::new();
    drop(promise);
    assert_eq!(value.get().unwrap().unwrap_err().code, ErrorCode::Abandoned);
    let (promise, value) = IndirectPromise::new();
    drop(promise);
    assert_eq!(value.error().unwrap().code, ErrorCode::Abandoned);
    let drops = Arc::new(AtomicUsize::new(0));
    let (promise, value) = Promise::new();
    drop(promise.construct(Counted(drops.clone())));
    assert_eq!(drops.load(Ordering::Relaxed), 1);
    assert_eq!(value.status(), Status::Failed);
}

#[test]
fn constructed_payload_can_change_until_available() {
    let (promise, value) = Promise::new();
    let mut constructed = promise.construct(String::from("a"));
    constructed.push('b');
    assert_eq!(value.status(), Status::Pending);
    constructed.set_available();
    assert_eq!(value.get().unwrap().unwrap(), "ab");
}

#[test]
fn forwarding_follows_values_and_errors() {
    let (promise, value) = IndirectPromise::new();
    let (inner, target) = Promise::<String>::new();
    promise.forward_to(target.into_untyped());
    assert_eq!(value.status(), Status::Pending);
    inner.emplace("late".into());
    assert_eq!(value.get::<String>().unwrap(), "late");

    let (promise, value) = IndirectPromise::new();
    promise.emplace(7i64);
    assert_eq!(value.get::<i64>(), Some(&7));
    assert_eq!(value.type_name(), "i64");

    let (promise, value) = IndirectPromise::new();
    promise.forward_to(AsyncValue::from_error(Diagnostic::invalid_argument("no")));
    assert_eq!(value.error().unwrap().message, "no");

    let (promise, value) = IndirectPromise::new();
    promise.forward_to(value.clone());
    assert_eq!(value.error().unwrap().code, ErrorCode::Internal);
}

#[test]
fn typed_handle_reports_another_type() {
    let value = AsyncValueRef::<i32>::from_untyped(AsyncValue::new(1.5f32));
    let error = value.get().unwrap().unwrap_err();
    assert_eq!(error.message, "expected a value of type i32, got f32");
}

/// Miri is a thousand times slower.
const MANY: usize = if cfg!(miri) { 200 } else { 1_000_000 };

#[test]
fn a_million_forwards_resolve_in_bounded_stack() {
    let (first, mut last) = IndirectPromise::new();
    for _ in 0..MANY {
        let (promise, value) = IndirectPromise::new();
        promise.forward_to(last);
        last = value;
    }
    first.emplace(5i32);
    assert_eq!(last.get::<i32>(), Some(&5));
}

#[test]
fn a_million_abandoned_links_end_in_bounded_stack() {
    let (first, mut last) = IndirectPromise::new();
    for _ in 0..MANY {
        let (promise, value) = IndirectPromise::new();
        promise.forward_to(last);
        last = value;
    }
    drop(first);
    assert_eq!(last.error().unwrap().code, ErrorCode::Abandoned);
}

#[test]
fn a_panicking_waiter_does_not_stop_the_others() {
    let (promise, value) = Promise::<i32>::new();
    let ran = Arc::new(AtomicUsize::new(0));
    value.and_then(|| panic!("first"));
    let seen = ran.clone();
    value.and_then(move || {
        seen.fetch_add(1, Ordering::Relaxed);
    });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| promise.emplace(1)));
    assert!(caught.is_err());
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    assert_eq!(value.get().unwrap().unwrap(), &1);
}

#[test]
fn producing_and_waiting_race() {
    let rounds = if cfg!(miri) { 3 } else { 200 };
    for _ in 0..rounds {
        let (promise, value) = Promise::<u64>::new();
        let ran = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let (ran, seen) = (ran.clone(), value.clone());
                        value.and_then(move || {
                            assert_eq!(seen.get().unwrap().unwrap(), &9);
                            ran.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
            scope.spawn(|| promise.emplace(9));
        });
        assert_eq!(ran.load(Ordering::Relaxed), 20);
    }
}
