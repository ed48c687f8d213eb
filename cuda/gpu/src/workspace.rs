//! Scratch memory for cuBLAS and cuDNN. Each stream has one workspace, because two kernels on one
//! stream never overlap. Each capture also has one, because its graph may be launched at any time
//! on any stream. The workspaces of streams are released when the device has no other memory left.
//!
//! A workspace is freed once an event shows that no queued work uses it. The driver does not
//! promise to wait for such work.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use tfrt_device::error::{Result, Status};
use tfrt_device::hal::Promised;

use super::context::Shared;
use super::event::Event;
use super::memory::{allocate_device, free_device};
use super::stream::{Handle, Stream};

/// The user of a workspace.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct User {
    stream: u64,
    capture: Option<u64>,
    purpose: Purpose,
}

/// The purpose of a workspace. One call may use one of each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// Scratch memory of a kernel.
    Scratch,
    /// An intermediate result.
    Result,
}

struct Block {
    address: u64,
    bytes: u64,
    /// The announcement that the workspace will be released, from the decision until the release.
    promised: OnceLock<Promised>,
}

/// The workspaces of one user.
struct Kept {
    stream: Weak<Handle>,
    /// The blocks, the last of which is in use. Outgrown blocks stay until the user is gone,
    /// because queued work may still write to them.
    blocks: Vec<Arc<Block>>,
}

/// The workspaces of a context.
#[derive(Default)]
pub(super) struct Workspaces {
    kept: Mutex<HashMap<User, Kept>>,
    /// Blocks whose last use is unknown. They stay until the device's last context is destroyed,
    /// which waits for all work.
    left: Mutex<Vec<Block>>,
}

/// A workspace for the work that is queued before this is dropped. If the owner gives it up
/// meanwhile, the block is freed after that work.
pub(super) struct Lent<'a> {
    /// The address, or zero for an empty workspace.
    pub(super) address: u64,
    block: Option<Arc<Block>>,
    stream: &'a Stream,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take().and_then(Arc::into_inner) {
            let handle = self.stream.handle();
            handle.shared().give_back(vec![block], || LastUse::on(handle));
        }
    }
}

/// The point after which no queued work uses a workspace.
pub(super) enum LastUse {
    /// No work uses it.
    Over,
    /// Work may use it until this event is reached.
    Before(Event),
    Unknown,
}

impl LastUse {
    /// Returns the point after all work queued on the stream, which is unknown while it is captured.
    pub(super) fn on(stream: &Handle) -> Self {
        match Event::after_queued_work(stream) {
            Ok(Some(event)) => Self::Before(event),
            // The device does no more work.
            Err(error) if error.is_sticky() => Self::Over,
            Ok(None) | Err(_) => Self::Unknown,
        }
    }

    /// Returns whether waiting would return immediately.
    fn is_past(&self) -> bool {
        match self {
            Self::Over | Self::Unknown => true,
            Self::Before(event) => event.query().unwrap_or(true),
        }
    }

    /// Waits for the point. Returns false if it is unknown.
    fn wait(&self) -> bool {
        match self {
            Self::Over => true,
            Self::Before(event) => event.wait().map_or_else(|error| error.is_sticky(), |()| true),
            Self::Unknown => false,
        }
    }
}

impl Workspaces {
    /// Returns a workspace of at least `bytes` bytes for work that is queued on the stream next. A
    /// size of zero returns an empty workspace. The context must be current.
    pub(super) fn get<'a>(&self, stream: &'a Stream, purpose: Purpose, bytes: u64) -> Result<Lent<'a>> {
        let block = if bytes == 0 { None } else { Some(self.block(stream, purpose, bytes)?) };
        Ok(Lent { address: block.as_ref().map_or(0, |block| block.address), block, stream })
    }

    /// Returns a workspace like [`Self::get`], or `None` if the device is short of memory.
    pub(super) fn try_get<'a>(
        &self,
        stream: &'a Stream,
        purpose: Purpose,
        bytes: u64,
    ) -> Result<Option<Lent<'a>>> {
        match self.get(stream, purpose, bytes) {
            Err(error) if error.status == Status::OutOfMemory => Ok(None),
            workspace => workspace.map(Some),
        }
    }

    fn block(&self, stream: &Stream, purpose: Purpose, bytes: u64) -> Result<Arc<Block>> {
        let user = User { stream: stream.id(), capture: stream.capture()?, purpose };
        let mut kept = self.kept.lock();
        if let Some(block) = kept.get(&user).and_then(|kept| kept.blocks.last())
            && block.bytes >= bytes
        {
            return Ok(Arc::clone(block));
        }
        let address = allocate_device(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let block = Arc::new(Block { address, bytes, promised: OnceLock::new() });
        let none = || Kept { stream: Arc::downgrade(stream.handle()), blocks: Vec::new() };
        kept.entry(user).or_insert_with(none).blocks.push(Arc::clone(&block));
        Ok(block)
    }

    /// Returns whether a graph of this capture uses any workspaces.
    pub(super) fn has_capture_workspaces(&self, capture: Option<u64>) -> bool {
        capture.is_some() && self.kept.lock().keys().any(|user| user.capture == capture)
    }

    /// Removes and returns the workspaces of the selected users.
    fn take_where(&self, mut goes: impl FnMut(&User, &Kept) -> bool) -> Vec<Kept> {
        self.kept.lock().extract_if(|user, kept| goes(user, kept)).map(|(_, kept)| kept).collect()
    }

    fn leave(&self, mut blocks: Vec<Block>) {
        // They are in use again and will not be released soon.
        blocks.iter_mut().for_each(|block| drop(block.promised.take()));
        self.left.lock().append(&mut blocks);
    }
}

impl Kept {
    /// Returns the blocks, except lent ones, which their borrowers release.
    fn give_up(self) -> Vec<Block> {
        self.blocks.into_iter().filter_map(Arc::into_inner).collect()
    }
}

impl Block {
    fn free(self) {
        // A failure could not be returned to a caller.
        let _ = free_device(self.address);
    }
}

impl Shared {
    /// Frees all workspaces of a context that is no longer used and is current. Blocks whose last
    /// use is unknown are handed to another context of the device. If there is none, this waits for
    /// all work.
    pub(super) fn free_workspaces(&self, other: Option<&Self>) {
        let kept = self.workspaces.take_where(|_, _| true);
        kept.into_iter().flat_map(Kept::give_up).for_each(Block::free);
        let left = std::mem::take(&mut *self.workspaces.left.lock());
        if left.is_empty() {
            return;
        }
        match other {
            Some(other) => other.workspaces.leave(left),
            None => {
                self.synchronize_current();
                left.into_iter().for_each(Block::free);
            }
        }
    }

    /// Frees the workspaces that a destroyed stream used outside of captures, after its work.
    pub(super) fn free_stream_workspaces(self: &Arc<Self>, id: u64, stream: &Handle) {
        let gone = self.workspaces.take_where(|user, _| user.stream == id && user.capture.is_none());
        self.give_back(gone.into_iter().flat_map(Kept::give_up).collect(), || LastUse::on(stream));
    }

    /// Frees the workspaces of a capture, if there was one, after the last launch of its graph.
    pub(super) fn free_capture_workspaces(self: &Arc<Self>, capture: Option<u64>, last_launch: LastUse) {
        let gone = self.workspaces.take_where(|user, _| capture.is_some() && user.capture == capture);
        self.give_back(gone.into_iter().flat_map(Kept::give_up).collect(), || last_launch);
    }

    /// Releases all workspaces except those of captures. A stream's workspaces are freed after its
    /// queued work, including calls that are being queued; the next call allocates new ones. Adds
    /// the released workspaces to `going`, and returns whether there were any.
    pub(super) fn trim_workspaces(self: &Arc<Self>, going: &mut Vec<Going>) -> bool {
        if self.make_current().is_err() {
            return false;
        }
        let mut streams = Vec::new();
        let gone = self.workspaces.take_where(|user, kept| {
            // The work of a stream before an ongoing capture cannot be waited for.
            let is_free =
                |stream: &Arc<Handle>| user.capture.is_none() && matches!(stream.capture(), Ok(None));
            let stream = kept.stream.upgrade().filter(is_free);
            let goes = stream.is_some();
            streams.extend(stream);
            goes
        });
        let is_something = !gone.is_empty();
        for (kept, stream) in gone.into_iter().zip(streams) {
            // Announces the release to callers that wait for memory.
            kept.blocks.iter().for_each(|block| drop(block.promised.set(self.promise())));
            let blocks = kept.give_up();
            if !blocks.is_empty() {
                going.push(Going { shared: Arc::clone(self), blocks, last_use: LastUse::on(&stream) });
            }
        }
        is_something
    }

    /// Frees blocks that have no other owner once queued work no longer uses them.
    fn give_back(self: &Arc<Self>, blocks: Vec<Block>, last_use: impl FnOnce() -> LastUse) {
        if !blocks.is_empty() {
            let going = Going { shared: Arc::clone(self), blocks, last_use: last_use() };
            going.free_when_done();
        }
    }
}

/// Workspaces that are being released.
pub(super) struct Going {
    shared: Arc<Shared>,
    blocks: Vec<Block>,
    last_use: LastUse,
}

impl Going {
    /// Frees the workspaces once queued work no longer uses them.
    pub(super) fn free_when_done(self) {
        let (shared, mut going) = (Arc::clone(&self.shared), Some(self));
        shared.hand_over_until(move || {
            let done = going.take_if(|going| going.last_use.is_past());
            done.into_iter().for_each(Self::wait_and_free);
            going.is_none()
        });
    }

    fn wait_and_free(self) {
        if self.last_use.wait() {
            self.blocks.into_iter().for_each(Block::free);
        } else {
            self.shared.workspaces.leave(self.blocks);
        }
    }
}
