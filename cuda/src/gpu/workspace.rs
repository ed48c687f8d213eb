//! Scratch memory for cuBLAS and cuDNN: one workspace for each stream, because two kernels on one stream never overlap,
//! and one for each capture, because a graph uses its own whenever and wherever it is launched. The streams' own are given back
//! where the device has no other memory left.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use super::context::Shared;
use super::memory::{allocate_device, free_device};
use super::stream::Stream;
use crate::error::{Result, Status};

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
pub(super) struct Workspaces {
    blocks: Mutex<HashMap<User, Vec<Block>>>,
    /// Held by all who know an address and have not queued the work that uses it.
    lent: RwLock<()>,
}

/// A workspace for the work that is queued before this is dropped.
pub(super) struct Lent<'a> {
    /// Zero for none.
    pub(super) address: u64,
    _lent: RwLockReadGuard<'a, ()>,
}

impl Workspaces {
    /// At least so many bytes, if any, for work that is queued on the stream next. The context is current.
    pub(super) fn get(&self, stream: &Stream, purpose: Purpose, bytes: u64) -> Result<Lent<'_>> {
        // Whoever has one may want another.
        let lent = self.lent.read_recursive();
        let address = if bytes == 0 { 0 } else { self.address(stream, purpose, bytes)? };
        Ok(Lent { address, _lent: lent })
    }

    /// As [`Self::get`], for those who can do without: nothing if the device is short of memory.
    pub(super) fn get_if_there(
        &self,
        stream: &Stream,
        purpose: Purpose,
        bytes: u64,
    ) -> Result<Option<Lent<'_>>> {
        match self.get(stream, purpose, bytes) {
            Err(error) if error.status == Status::OutOfMemory => Ok(None),
            workspace => workspace.map(Some),
        }
    }

    fn address(&self, stream: &Stream, purpose: Purpose, bytes: u64) -> Result<u64> {
        let user = User { stream: stream.id(), capture: stream.capture()?, purpose };
        let mut workspaces = self.blocks.lock();
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
        self.blocks.lock().retain(|user, blocks| {
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

    /// Frees all but what captures use, when the device is short of memory and no call is being queued: the next one takes what
    /// it needs anew. Whether there was something to free.
    pub(super) fn trim_workspaces(self: &Arc<Self>) -> bool {
        let none_is_lent = self.workspaces.lent.try_write();
        none_is_lent.is_some() && self.free_workspaces(|user| user.capture.is_none())
    }

    fn free_workspaces(self: &Arc<Self>, goes: impl Fn(&User) -> bool) -> bool {
        let gone = self.workspaces.take_where(goes);
        let is_something = !gone.is_empty();
        if is_something {
            self.hand_over(move || {
                free(gone);
                Ok(())
            });
        }
        is_something
    }
}
