//! Scratch memory for cuBLAS and cuDNN: one workspace for each stream, because two kernels on one stream never overlap,
//! and one for each capture, because a graph uses its own whenever and wherever it is launched.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::context::Shared;
use super::memory::{allocate_device, free_device};
use super::stream::Stream;
use crate::error::Result;

/// Who uses a workspace.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct User {
    stream: u64,
    capture: Option<u64>,
    purpose: Purpose,
}

/// What for: a call may use one of each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// A kernel's own.
    Scratch,
    /// A result on its way.
    Result,
}

struct Block {
    address: u64,
    bytes: u64,
}

/// The workspaces of a context. An outgrown one stays until its user goes: queued work still writes there.
#[derive(Default)]
pub(super) struct Workspaces(Mutex<HashMap<User, Vec<Block>>>);

impl Workspaces {
    /// The address of at least so many bytes for work that is queued on the stream next; zero for none. The context is
    /// current.
    pub(super) fn get(&self, stream: &Stream, purpose: Purpose, bytes: u64) -> Result<u64> {
        if bytes == 0 {
            return Ok(0);
        }
        let user = User { stream: stream.id(), capture: stream.capture()?, purpose };
        let mut workspaces = self.0.lock();
        let blocks = workspaces.entry(user).or_default();
        if let Some(block) = blocks.last().filter(|block| block.bytes >= bytes) {
            return Ok(block.address);
        }
        let address = allocate_device(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        blocks.push(Block { address, bytes });
        Ok(address)
    }

    /// Frees everything. The context is current.
    pub(super) fn free_all(&self) {
        free(self.take_where(|_| true));
    }

    fn take_where(&self, goes: impl Fn(&User) -> bool) -> Vec<Block> {
        let mut gone = Vec::new();
        self.0.lock().retain(|user, blocks| {
            let stays = !goes(user);
            if !stays {
                gone.append(blocks);
            }
            stays
        });
        gone
    }
}

fn free(blocks: Vec<Block>) {
    for block in blocks {
        // It waits for work that uses the block. Nobody could be told of a failure.
        let _ = free_device(block.address);
    }
}

impl Shared {
    /// Frees what a stream used outside of captures, when its work is done.
    pub(super) fn free_stream_workspaces(self: &Arc<Self>, stream: u64) {
        self.free_workspaces(|user| user.stream == stream && user.capture.is_none());
    }

    /// Frees what a capture used, if there was one, when launches under way are done.
    pub(super) fn free_capture_workspaces(self: &Arc<Self>, capture: Option<u64>) {
        if capture.is_some() {
            self.free_workspaces(|user| user.capture == capture);
        }
    }

    fn free_workspaces(self: &Arc<Self>, goes: impl Fn(&User) -> bool) {
        let gone = self.workspaces.take_where(goes);
        if !gone.is_empty() {
            self.hand_over(move || {
                free(gone);
                Ok(())
            });
        }
    }
}
