//! The safe front: how kernels and other crates use devices.
//!
//! The front checks sizes, ranges, alignments, launch dimensions, parameter types, and handles that
//! were destroyed or belong to another context. A backend checks only what the front cannot know,
//! so every backend returns the same [`DeviceError`] for the same misuse.
//!
//! These rules hold on every backend:
//! - No stream is predefined, and none is chosen here. Each call that queues work names its stream.
//! - Memory is allocated on demand and cached. Requests are granted in order. If a request must
//!   wait, its buffer becomes available later; no thread waits for it.
//! - Raw addresses are not hidden: [`DeviceBuffer::address`].
//! - Launching is synchronous: a call returns when the driver has queued the work. Launched work is
//!   not tracked.
//! - The program orders accesses across streams. The front inserts exactly what makes *reuse* of
//!   memory safe.
//! - A buffer may be dropped as soon as its last use is queued, on any stream.
//!
//! Handles are cheap to clone and keep alive what they need. After a fault, every call of the
//! context fails. The CPU device then gives a new context to [`Device::primary_context`]. A GPU
//! does not recover within the process, but other devices and the host remain usable.

mod attention;
mod backing;
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
mod pace;
mod pieces;
mod platform;
mod stream;
mod trace;
mod transfer;

pub use attention::{Attention, AttentionMask, AttentionRows};
pub use blas::{Blas, BlasHandle, GemmArguments, GemmEpilogue, Matrix};
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

/// A resource that belongs to a context and may have been destroyed.
pub(crate) trait Owned {
    /// The name of its kind in messages.
    const KIND: &'static str;
    /// Returns its context.
    fn context(&self) -> &Context;
    /// Returns whether it was destroyed.
    fn is_destroyed(&self) -> bool {
        false
    }
}

/// Checks that a resource may be used with resources of `context`.
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
        "the {kind} belongs to device {}, but is used with device {}",
        own.device().describe_context(own.id()),
        other.device().describe_context(other.id()),
    );
    DeviceError::new(Status::InvalidContext, detail)
}
