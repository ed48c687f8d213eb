//! The safe device front: what kernels, and other crates, reach devices with.
//!
//! Sizes, ranges, alignments, launch dimensions, parameter types, handles that are destroyed or of another context are checked
//! here, and below only what one backend lacks. So every backend answers the same misuse with the same [`DeviceError`].
//!
//! The rules, which are those of the CUDA runtime that this stands for:
//! - Streams have no predefined purpose and are never chosen here; whoever queues work names its stream.
//! - Memory is allocated on demand and cached. Requests are granted in order. A request may have to wait, and then its
//!   buffer becomes available later; no thread waits for it.
//! - Raw addresses are not hidden: [`DeviceBuffer::address`].
//! - Launching is synchronous and launched work is not tracked: a call returns when the driver has taken it.
//! - The program orders accesses across streams. What is inserted here is exactly what makes *reuse* of memory safe.
//! - A buffer may be dropped as soon as its last use is queued, on whatever stream.
//!
//! Handles are cheap to clone and keep alive what they need. When a device has failed, its calls fail; the next
//! [`Device::primary_context`] is a new one, where the driver allows that.

mod blas;
mod buffer;
mod collectives;
mod completion;
mod context;
mod dnn;
mod event;
mod graph;
mod host_hold;
mod host_kernel;
mod launch;
mod library;
mod managed;
mod memory_timeline;
mod module;
mod pieces;
mod platform;
mod stream;
mod transfer;

pub use blas::{Blas, BlasHandle, GemmArguments, Matrix};
pub use buffer::{DeviceAllocator, DeviceBuffer};
pub use collectives::{CollectiveGroup, Communicator, CommunicatorId};
pub use context::{Context, LiveCounts};
pub use dnn::{Dnn, DnnHandle, DnnTensor};
pub use event::Event;
pub use graph::Graph;
pub use launch::Argument;
pub use library::{Library, LibraryHandle};
pub use memory_timeline::MemoryTimeline;
pub use module::{Function, Module};
pub use platform::{Device, Platform, PlatformOptions};
pub use stream::Stream;
pub use transfer::{Then, Transferred};

use crate::error::{DeviceError, Result, Status};

/// Something that belongs to a context and may have been destroyed.
pub(crate) trait Owned {
    /// What it is, for messages.
    const KIND: &'static str;
    /// Its context.
    fn context(&self) -> &Context;
    /// Whether it was destroyed.
    fn is_destroyed(&self) -> bool {
        false
    }
}

/// That a resource may be used with what belongs to `context`.
#[inline]
fn check<T: Owned>(resource: &T, context: &Context) -> Result<()> {
    if resource.is_destroyed() {
        return Err(destroyed(T::KIND));
    }
    if resource.context().id() != context.id() {
        return Err(misplaced(T::KIND, resource.context(), context));
    }
    Ok(())
}

#[cold]
fn destroyed(kind: &str) -> DeviceError {
    DeviceError::new(Status::InvalidHandle, format!("the {kind} was destroyed"))
}

#[cold]
fn misplaced(kind: &str, own: &Context, other: &Context) -> DeviceError {
    let detail = format!(
        "the {kind} belongs to device {}, and is used with device {}",
        own.device().describe_context(own.id()),
        other.device().describe_context(other.id()),
    );
    DeviceError::new(Status::InvalidContext, detail)
}
