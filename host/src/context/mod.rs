//! The surroundings of a kernel, from the host down to one call.
//!
//! [`HostContext`] is one computer's runtime; [`RequestContext`] one request to it; [`ExecutionContext`] one
//! kernel call of a request.

mod execution;
mod host;
mod request;
mod resource;
mod timer;

pub(crate) use execution::BorrowedContext;
pub use execution::{CallSite, ExecutionContext};
pub use host::{DiagnosticHandler, ExternalWork, HostContext, HostContextBuilder};
pub use request::{CancellationHook, RequestContext};
pub use resource::ResourceContext;
