//! The calls that nest on a thread's stack, and the bounds on calls.

#![expect(unsafe_code, reason = "contexts of calls further down the stack are read through pointers")]

use std::{cell::Cell, ptr};

use crate::{
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
};

/// Nested calls on one thread's stack before a call continues on the work queue.
pub const MAX_STACK_DEPTH: u32 = 64;
/// Nested calls in all.
// Under Miri, which is a thousand times slower, it is reached too.
pub const MAX_CALL_DEPTH: u32 = if cfg!(miri) { 500 } else { 100_000 };

/// Callers that an error names.
const MAX_NAMED_CALLERS: u32 = 8;

struct Stack {
    depth: Cell<u32>,
    /// The contexts that the nested calls were called from. The first `depth` of them exist.
    callers: [Cell<*const ExecutionContext>; MAX_STACK_DEPTH as usize],
}

thread_local!(static STACK: Stack = const {
    Stack { depth: Cell::new(0), callers: [const { Cell::new(ptr::null()) }; MAX_STACK_DEPTH as usize] }
});

/// Returns how many calls nest on this thread's stack.
#[inline(always)]
pub(super) fn stack_depth() -> u32 {
    STACK.with(|stack| stack.depth.get())
}

/// Runs a call from `caller` on this thread's stack.
///
/// # Safety
/// `depth` is [`stack_depth`], and below [`MAX_STACK_DEPTH`].
#[inline(always)]
pub(super) unsafe fn nest(caller: &ExecutionContext, depth: u32, run: impl FnOnce()) {
    /// Ends the call, also if `run` panics.
    struct Nested(u32);
    impl Drop for Nested {
        #[inline(always)]
        fn drop(&mut self) {
            STACK.with(|stack| stack.depth.set(self.0));
        }
    }
    STACK.with(|stack| {
        stack.callers[depth as usize].set(caller);
        stack.depth.set(depth + 1);
    });
    let nested = Nested(depth);
    run();
    drop(nested);
}

/// Returns the error of a call that is too deep.
#[cold]
pub(super) fn too_deep() -> Diagnostic {
    let message = format!("calls nest deeper than {MAX_CALL_DEPTH}");
    with_callers(Diagnostic::new(ErrorCode::ResourceExhausted, message))
}

/// Cancels a request that has more calls pending than it may have.
#[cold]
pub(super) fn refuse_more_calls(cx: &ExecutionContext) {
    let request = cx.request();
    if request.is_cancelled() {
        return;
    }
    let message = format!("more than {} calls of functions are pending", request.host().max_pending_calls());
    let error = with_callers(Diagnostic::new(ErrorCode::ResourceExhausted, message));
    request.cancel_with((*cx.emit(error)).clone());
}

/// Adds the places of the innermost calls on this thread's stack.
fn with_callers(mut error: Diagnostic) -> Diagnostic {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        let named = depth.saturating_sub(MAX_NAMED_CALLERS)..depth;
        for caller in stack.callers[named.start as usize..named.end as usize].iter().rev() {
            // SAFETY: `nest` stored the pointer for a call that has not ended, because `depth` counts it. For as long as it
            // has not, `nest` borrows the context.
            let caller = unsafe { &*caller.get() };
            error.notes.push(match (caller.location(), caller.kernel_name()) {
                (Some(place), _) => format!("called at {place}"),
                (None, Some(kernel)) => format!("called by kernel '{kernel}'"),
                (None, None) => "called by the host".to_owned(),
            });
        }
        if named.start > 0 {
            error.notes.push(format!("{} more calls on this thread", named.start));
        }
    });
    error
}
