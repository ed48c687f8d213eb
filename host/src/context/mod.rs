//! The surroundings of a kernel, from the host down to one call.
//!
//! A [`HostContext`] is one computer's runtime, a [`RequestContext`] is one request to it, and an
//! [`ExecutionContext`] is one kernel call of a request.

mod execution;
mod folders;
mod host;
mod request;
mod resource;
mod timer;

pub(crate) use execution::BorrowedContext;
pub use execution::{CallSite, ExecutionContext};
pub use host::{DiagnosticHandler, ExternalWork, HostContext, HostContextBuilder, MAX_PENDING_CALLS};
pub use request::{CancellationHook, RequestContext};
pub use resource::ResourceContext;
