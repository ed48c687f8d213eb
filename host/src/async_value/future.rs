//! Values as futures of Rust's `async` code.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;

use super::{AsyncValue, AsyncValueRef};
use crate::{diagnostic::Diagnostic, value::Value};

/// A future that completes when a value is available, whether it is a payload or an error.
///
/// `value.await` creates it. It needs no particular async runtime. The work queue of the value's
/// producer must have threads that run without being waited for; the single-threaded queue has
/// none.
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct ValueFuture {
    value: AsyncValue,
    /// The waker of the latest poll, once the value knows about this future.
    waker: Option<Arc<Mutex<Option<Waker>>>>,
}

impl Future for ValueFuture {
    type Output = AsyncValue;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<AsyncValue> {
        if self.value.is_available() {
            return Poll::Ready(self.value.clone());
        }
        match &self.waker {
            Some(waker) => *waker.lock() = Some(cx.waker().clone()),
            None => {
                let waker = Arc::new(Mutex::new(Some(cx.waker().clone())));
                let registered = waker.clone();
                self.value.and_then(move || {
                    // Wakers run foreign code, so the lock is released first.
                    let waker = registered.lock().take();
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                });
                self.waker = Some(waker);
            }
        }
        // The value may have become available before the new waker was stored. Nobody wakes that
        // one.
        if self.value.is_available() { Poll::Ready(self.value.clone()) } else { Poll::Pending }
    }
}

impl IntoFuture for AsyncValue {
    type Output = Self;
    type IntoFuture = ValueFuture;

    fn into_future(self) -> ValueFuture {
        ValueFuture { value: self, waker: None }
    }
}

/// A future that completes with a value's payload or its error. `value.await` creates it, see
/// [`ValueFuture`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct PayloadFuture<T: Value + Clone> {
    value: AsyncValueRef<T>,
    future: ValueFuture,
}

// Nothing in the future points into it.
impl<T: Value + Clone> Unpin for PayloadFuture<T> {}

impl<T: Value + Clone> Future for PayloadFuture<T> {
    type Output = Result<T, Arc<Diagnostic>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if Pin::new(&mut self.future).poll(cx).is_pending() {
            return Poll::Pending;
        }
        match self.value.get() {
            Some(payload) => Poll::Ready(payload.cloned()),
            None => Poll::Pending,
        }
    }
}

impl<T: Value + Clone> IntoFuture for AsyncValueRef<T> {
    type Output = Result<T, Arc<Diagnostic>>;
    type IntoFuture = PayloadFuture<T>;

    fn into_future(self) -> PayloadFuture<T> {
        let future = self.as_untyped().clone().into_future();
        PayloadFuture { value: self, future }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::{
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
        thread,
    };

    use super::*;
    use crate::async_value::Promise;

    /// Wakes the thread that polls, and counts.
    struct Unparker(thread::Thread, AtomicUsize);

    impl Wake for Unparker {
        fn wake(self: Arc<Self>) {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.unpark();
        }
    }

    fn block_on<F: IntoFuture>(future: F) -> F::Output {
        let waker = Waker::from(Arc::new(Unparker(thread::current(), AtomicUsize::new(0))));
        let mut future = pin!(future.into_future());
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => thread::park(),
            }
        }
    }

    #[test]
    fn values_are_awaited() {
        assert_eq!(block_on(AsyncValue::new(7)).get(), Some(&7));
        for _ in 0..if cfg!(miri) { 5 } else { 500 } {
            let (promise, value) = Promise::<String>::new();
            let producer = thread::spawn(move || promise.emplace("there".to_owned()));
            assert_eq!(block_on(async { value.await }).unwrap(), "there");
            producer.join().unwrap();
        }
    }

    #[test]
    fn errors_are_results() {
        let (promise, value) = Promise::<i32>::new();
        let untyped = value.as_untyped().clone();
        promise.set_error(Diagnostic::internal("broken"));
        assert_eq!(&*block_on(value).unwrap_err().message, "broken");
        assert_eq!(&*block_on(untyped).error().unwrap().message, "broken");
        let other = AsyncValueRef::<i64>::from_untyped(AsyncValue::new(1_i32));
        assert!(block_on(other).unwrap_err().message.contains("expected a value of type"));
    }

    #[test]
    fn only_the_waker_of_the_latest_poll_is_called() {
        let (promise, value) = Promise::<i32>::new();
        let mut future = pin!(value.into_future());
        let counters = [(); 3].map(|()| Arc::new(Unparker(thread::current(), AtomicUsize::new(0))));
        for counter in &counters {
            let waker = Waker::from(counter.clone());
            assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        promise.emplace(5);
        assert_eq!(counters.map(|counter| counter.1.load(Ordering::Relaxed)), [0, 0, 1]);
        assert_eq!(block_on(future).unwrap(), 5);
    }
}
