//! A call that may still run: to be waited for, or awaited.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;
use tfrt_host::{AsyncValue, CancellationHook, Diagnostic, RequestContext, ValueFuture, check_mapped_files};

/// A call of a function. Its results may be pending.
///
/// [`Call::wait`] blocks the thread until they are available, and `call.await` does the same in
/// `async` code. Once the request is cancelled or its deadline has passed, results that are still
/// pending are that error. Dropping a call does not end it; [`RequestContext::cancel`] does.
#[must_use = "the results of a call may be errors"]
#[derive(Debug)]
pub struct Call {
    request: Arc<RequestContext>,
    results: Vec<AsyncValue>,
}

impl Call {
    pub(crate) fn new(request: Arc<RequestContext>, results: Vec<AsyncValue>) -> Self {
        Self { request, results }
    }

    /// Returns the results, available or pending.
    pub fn results(&self) -> &[AsyncValue] {
        &self.results
    }

    /// Returns the request that the call belongs to.
    pub fn request(&self) -> &Arc<RequestContext> {
        &self.request
    }

    /// Waits for the results. Each result may be an error.
    ///
    /// # Errors
    /// [`tfrt_host::ErrorCode::FailedPrecondition`] on a compute thread of the runtime, which must
    /// not wait, and [`tfrt_host::ErrorCode::Io`] if a mapped file, such as one of weights, has become
    /// shorter.
    pub fn wait(self) -> Result<Vec<AsyncValue>, Diagnostic> {
        let results = self.request.await_values(self.results)?;
        check_mapped_files().map(|()| results)
    }
}

impl IntoFuture for Call {
    type Output = Vec<AsyncValue>;
    type IntoFuture = CallFuture;

    fn into_future(self) -> CallFuture {
        CallFuture { call: self, position: 0, awaited: None, cancellation: None }
    }
}

/// The future of a [`Call`]: completes with its results, each of which may be an error.
///
/// It needs no particular async runtime, but a work queue with threads: the single-threaded queue
/// runs tasks only while a thread waits for it.
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct CallFuture {
    call: Call,
    /// The results before this position are available.
    position: usize,
    /// The result at the position.
    awaited: Option<ValueFuture>,
    /// Wakes the task of the latest poll when the request is cancelled.
    cancellation: Option<(Arc<Mutex<Option<Waker>>>, CancellationHook)>,
}

impl CallFuture {
    fn wake_when_cancelled(&mut self, waker: &Waker) {
        if let Some((latest, _)) = &self.cancellation {
            *latest.lock() = Some(waker.clone());
            return;
        }
        let latest = Arc::new(Mutex::new(Some(waker.clone())));
        let shared = latest.clone();
        let hook = self.call.request.when_cancelled(move |_| {
            // Wakers run foreign code, so the lock is released first.
            let waker = shared.lock().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        self.cancellation = Some((latest, hook));
    }
}

impl Future for CallFuture {
    type Output = Vec<AsyncValue>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Vec<AsyncValue>> {
        let this = &mut *self;
        loop {
            if let Some(awaited) = &mut this.awaited {
                if Pin::new(awaited).poll(cx).is_pending() {
                    this.wake_when_cancelled(cx.waker());
                    // Asked for after the waker is stored, so that no cancellation is missed.
                    let Some(reason) = this.call.request.cancellation() else { return Poll::Pending };
                    fail_pending(&mut this.call.results, reason);
                }
                this.awaited = None;
                this.position += 1;
            }
            match this.call.results.get(this.position) {
                Some(next) => this.awaited = Some(next.clone().into_future()),
                None => return Poll::Ready(finish(std::mem::take(&mut this.call.results))),
            }
        }
    }
}

/// Replaces results that may have been computed from the lost part of a mapped file by an error.
fn finish(results: Vec<AsyncValue>) -> Vec<AsyncValue> {
    match check_mapped_files() {
        Ok(()) => results,
        Err(error) => {
            let error = Arc::new(error);
            results.iter().map(|_| AsyncValue::from_error(error.clone())).collect()
        }
    }
}

/// Replaces pending values by an error.
fn fail_pending(values: &mut [AsyncValue], reason: &Arc<Diagnostic>) {
    for value in values.iter_mut().filter(|value| !value.is_available()) {
        *value = AsyncValue::from_error(reason.clone());
    }
}

#[cfg(all(test, feature = "full"))]
mod tests {
    use std::{task::Wake, thread, time::Duration};

    use tfrt_host::{ErrorCode, IndirectPromise};

    use super::*;
    use crate::{Errors, Program, Runtime};

    struct Unparker(thread::Thread);

    impl Wake for Unparker {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn block_on<F: IntoFuture>(future: F) -> F::Output {
        let waker = Waker::from(Arc::new(Unparker(thread::current())));
        let mut future = std::pin::pin!(future.into_future());
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => thread::park(),
            }
        }
    }

    /// A program that adds 1 to its argument.
    fn program() -> Result<Program, Errors> {
        let text = "func @main(%x: i32) -> (i32, i32) {
                      %one = tfrt.constant.i32 1
                      %y = tfrt.add.i32 %x, %one
                      tfrt.return %one, %y : i32, i32
                    }";
        Runtime::builder().build()?.load("add.mlir", text.as_bytes().to_vec())
    }

    #[test]
    fn calls_are_awaited() {
        let (promise, argument) = IndirectPromise::new();
        let call = program().unwrap().start("main", [argument]).unwrap();
        assert!(call.results()[0].is_available() && !call.results()[1].is_available());
        let producer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            promise.emplace(41);
        });
        let results = block_on(async { call.await });
        assert_eq!([results[0].get(), results[1].get()], [Some(&1), Some(&42)]);
        producer.join().unwrap();
    }

    #[test]
    fn cancelling_completes_a_call() {
        let (promise, argument) = IndirectPromise::new();
        let call = program().unwrap().start("main", [argument]).unwrap();
        let request = call.request().clone();
        let canceller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            request.cancel();
        });
        let results = block_on(call);
        assert_eq!(results[0].get(), Some(&1));
        assert_eq!(results[1].error().unwrap().code, ErrorCode::Cancelled);
        canceller.join().unwrap();
        promise.emplace(1);
    }
}
