//! The context of a kernel call.

#![expect(unsafe_code, reason = "calls share their caller's context without counting references")]

use std::{
    fmt,
    marker::PhantomData,
    mem::{self, ManuallyDrop},
    ops::{Deref, DerefMut},
    panic::{self, AssertUnwindSafe},
    ptr,
    sync::Arc,
};

use super::{HostContext, RequestContext, ResourceContext};
use crate::{
    async_value::{AsyncValue, AsyncValueRef, Promise},
    diagnostic::{Diagnostic, ErrorCode, SourceLocation},
    panics::kernel_panic,
    program::BefFile,
    value::Value,
    work_queue::Task,
};

/// The context of one kernel call: its request, and its place in the program.
///
/// It is cheap to clone. Asynchronous kernels keep a clone.
#[derive(Clone)]
pub struct ExecutionContext {
    shared: Arc<Shared>,
    /// Offset of the current kernel's position, see `VerifiedBef::location`.
    pub(crate) location: u32,
    /// Number of the current kernel in the program's kernel table; [`NO_KERNEL`] outside of one.
    pub(crate) kernel: u32,
    /// How many function calls lead here.
    pub(crate) depth: u32,
}

/// What all calls in one program on behalf of one request have in common.
struct Shared {
    request: Arc<RequestContext>,
    program: Arc<BefFile>,
}

/// The place of a kernel call, for errors that are found later. It keeps the program alive, and not
/// the request.
#[derive(Clone)]
pub struct CallSite {
    program: Arc<BefFile>,
    location: u32,
    kernel: u32,
}

impl CallSite {
    /// Returns the place in the source, if the program has locations.
    pub fn location(&self) -> Option<SourceLocation> {
        self.program.source_location(self.location)
    }

    /// Returns the kernel's name.
    pub fn kernel_name(&self) -> Option<&str> {
        self.program.kernel_name(self.kernel)
    }
}

impl fmt::Debug for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallSite")
            .field("kernel", &self.kernel_name())
            .field("location", &self.location())
            .finish()
    }
}

/// The kernel number of a context that is in no kernel.
const NO_KERNEL: u32 = u32::MAX;

/// The position of a context that is at no particular place.
const NO_LOCATION: u32 = u32::MAX;

impl ExecutionContext {
    /// Makes a context at no particular place in `program`.
    pub fn new(request: Arc<RequestContext>, program: Arc<BefFile>) -> Self {
        Self {
            shared: Arc::new(Shared { request, program }),
            location: NO_LOCATION,
            kernel: NO_KERNEL,
            depth: 0,
        }
    }

    /// Returns the host.
    pub fn host(&self) -> &Arc<HostContext> {
        self.shared.request.host()
    }

    /// Returns the request.
    #[inline]
    pub fn request(&self) -> &Arc<RequestContext> {
        &self.shared.request
    }

    /// Returns what the request's kernels share by name.
    pub fn resources(&self) -> &Arc<ResourceContext> {
        self.shared.request.resources()
    }

    #[inline]
    pub(crate) fn program(&self) -> &Arc<BefFile> {
        &self.shared.program
    }

    /// Returns the current kernel's place in the source, if the program has locations.
    pub fn location(&self) -> Option<SourceLocation> {
        self.shared.program.source_location(self.location)
    }

    /// Returns a number that identifies the current kernel's place within its program, also if the
    /// source is not known.
    pub fn location_id(&self) -> u32 {
        self.location
    }

    /// Returns the current kernel's place for later use, or `None` if the context is at no place of
    /// a program.
    #[inline]
    pub fn call_site(&self) -> Option<CallSite> {
        if self.kernel == NO_KERNEL && self.location == NO_LOCATION {
            return None;
        }
        Some(CallSite { program: self.shared.program.clone(), location: self.location, kernel: self.kernel })
    }

    /// Returns the current kernel's name.
    pub fn kernel_name(&self) -> Option<&str> {
        self.shared.program.kernel_name(self.kernel)
    }

    /// Makes an error final: gives it the current place and kernel, tells the host's diagnostic
    /// handler, and shares it. An error that has a place already was told before and passes
    /// unchanged.
    #[cold]
    pub fn emit(&self, mut error: Diagnostic) -> Arc<Diagnostic> {
        if error.location.is_none() {
            error = self.placed(error);
            self.host().report(&error);
        }
        Arc::new(error)
    }

    /// Gives an error the current place and kernel.
    pub(crate) fn placed(&self, mut error: Diagnostic) -> Diagnostic {
        error.location = self.location();
        if let Some(name) = self.kernel_name() {
            error.notes.push(format!("in kernel '{name}'"));
        }
        error
    }

    /// Makes an error that another host found final: keeps its place, notes the current one, tells
    /// this host's diagnostic handler, and shares it.
    #[cold]
    pub fn emit_remote(&self, mut error: Diagnostic) -> Arc<Diagnostic> {
        if error.location.is_none() {
            return self.emit(error);
        }
        let kernel = self.kernel_name().unwrap_or("a kernel");
        let place = self.location().map(|location| format!(" at {location}")).unwrap_or_default();
        error.notes.push(format!("called by '{kernel}'{place}"));
        self.host().report(&error);
        Arc::new(error)
    }

    /// Makes an error value at the current place.
    pub fn error(&self, code: ErrorCode, message: impl Into<String>) -> AsyncValue {
        AsyncValue::from_error(self.emit(Diagnostic::new(code, message)))
    }

    /// Makes a promised value available, or an error at the current place.
    pub fn settle<T: Value>(&self, promise: Promise<T>, result: Result<T, Diagnostic>) {
        match result {
            Ok(value) => promise.emplace(value),
            Err(error) => promise.set_error(self.emit(error)),
        }
    }

    /// Computes a value on the work queue. A panic in `work` makes the value an error at this
    /// place.
    pub fn spawn<T: Value>(
        &self,
        work: impl FnOnce() -> Result<T, Diagnostic> + Send + 'static,
    ) -> AsyncValueRef<T> {
        let (promise, value) = Promise::new();
        let cx = self.clone();
        self.host().add_task(Task::new(move || cx.settle(promise, catch(work))));
        value
    }

    /// Computes a value on the blocking pool, where `work` may wait. A panic in `work` makes the
    /// value an error at this place.
    ///
    /// If the request is cancelled meanwhile, the value is that error at once. `work` runs on, and
    /// its result is dropped.
    pub fn spawn_blocking<T: Value>(
        &self,
        work: impl FnOnce() -> Result<T, Diagnostic> + Send + 'static,
    ) -> AsyncValueRef<T> {
        let (promise, value) = Promise::new();
        let cx = self.clone();
        let promise = self.request().until_cancelled(promise, Promise::set_error);
        let task = Task::new(move || {
            let result = catch(work);
            if let Some(promise) = promise.take() {
                cx.settle(promise, result);
            }
        });
        // A task that is refused is dropped, which makes the value an error.
        drop(self.host().work_queue().add_blocking_task(task, true));
        value
    }
}

/// Calls `work`, and returns a panic as an error.
fn catch<T>(work: impl FnOnce() -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(kernel_panic(&*payload)))
}

/// The context of a called function, which shares what it can with its caller's without counting a
/// reference: calls are frequent, and the caller's context outlives them.
pub(crate) struct BorrowedContext<'c> {
    cx: ManuallyDrop<ExecutionContext>,
    /// Whether `cx` has a reference of its own.
    owned: bool,
    caller: PhantomData<&'c ExecutionContext>,
}

impl<'c> BorrowedContext<'c> {
    /// The context a function of `program` runs in when it is called from `caller`.
    #[inline]
    pub(crate) fn enter(caller: &'c ExecutionContext, program: &Arc<BefFile>) -> Self {
        let mut callee = Self::same(caller);
        callee.cx.kernel = NO_KERNEL;
        callee.cx.depth = caller.depth + 1;
        if !Arc::ptr_eq(&caller.shared.program, program) {
            let shared = Shared { request: caller.shared.request.clone(), program: program.clone() };
            // The borrowed reference is forgotten, the new one is owned.
            mem::forget(mem::replace(&mut callee.cx.shared, Arc::new(shared)));
            callee.owned = true;
        }
        callee
    }

    /// The caller's context as it is.
    pub(crate) fn same(caller: &'c ExecutionContext) -> Self {
        // SAFETY: the copy's reference is never released (`owned` is false), and the lifetime keeps
        // the caller's alive for as long as the copy is used.
        let cx = ManuallyDrop::new(unsafe { ptr::read(caller) });
        Self { cx, owned: false, caller: PhantomData }
    }
}

impl Deref for BorrowedContext<'_> {
    type Target = ExecutionContext;
    #[inline]
    fn deref(&self) -> &ExecutionContext {
        &self.cx
    }
}

impl DerefMut for BorrowedContext<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut ExecutionContext {
        &mut self.cx
    }
}

impl Drop for BorrowedContext<'_> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: owned, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.cx) };
        }
    }
}

impl fmt::Debug for ExecutionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionContext")
            .field("kernel", &self.kernel_name())
            .field("location", &self.location())
            .finish_non_exhaustive()
    }
}
