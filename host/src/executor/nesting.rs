//! Tracks the calls that nest on a thread's stack, and limits them.

#![expect(unsafe_code, reason = "contexts of calls further down the stack are read through pointers")]

use std::{cell::Cell, ptr};

use crate::{
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
};

/// The most nested calls on one thread's stack. Further calls continue on the work queue.
pub const MAX_STACK_DEPTH: u32 = 64;
/// The most nested calls in all.
// Lower under Miri, which is a thousand times slower, so that tests reach it there too.
pub const MAX_CALL_DEPTH: u32 = if cfg!(miri) { 500 } else { 100_000 };

/// The most callers that an error names.
const MAX_NAMED_CALLERS: u32 = 8;

struct Stack {
    depth: Cell<u32>,
    /// The contexts from which the nested calls were made. The first `depth` entries are valid.
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
/// `depth` equals [`stack_depth`] and is below [`MAX_STACK_DEPTH`].
#[inline(always)]
pub(super) unsafe fn nest(caller: &ExecutionContext, depth: u32, run: impl FnOnce()) {
    /// Ends the call when dropped, also if `run` panics.
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

/// Cancels a request whose pending calls have reached the limit.
#[cold]
pub(super) fn refuse_more_calls(cx: &ExecutionContext) {
    let request = cx.request();
    if request.is_cancelled() {
        return;
    }
    let message = format!("more than {} function calls are pending", request.host().max_pending_calls());
    let error = cx.placed(with_callers(Diagnostic::new(ErrorCode::ResourceExhausted, message)));
    // Several threads may reach the limit at once.
    if request.cancel_first_with(error.clone()) {
        request.host().report(&error);
    }
}

/// Adds the locations of the innermost calls on this thread's stack.
fn with_callers(mut error: Diagnostic) -> Diagnostic {
    STACK.with(|stack| {
        let depth = stack.depth.get();
        let named = depth.saturating_sub(MAX_NAMED_CALLERS)..depth;
        for caller in stack.callers[named.start as usize..named.end as usize].iter().rev() {
            // SAFETY: `nest` stored the pointer, and borrows the context until the call ends.
            // `depth` counts the call, so it has not ended.
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
