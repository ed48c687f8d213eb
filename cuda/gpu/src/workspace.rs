//! Scratch memory for cuBLAS and cuDNN: one workspace for each stream, because two kernels on one stream never overlap,
//! and one for each capture, because a graph uses its own whenever and wherever it is launched. The streams' own are given back
//! where the device has no other memory left.
//!
//! Memory goes when an event says that no queued work uses it any more: that freeing it waits for such work is nothing the
//! driver promises.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use tfrt_device::error::{Result, Status};
use tfrt_device::hal::Promised;

use super::context::Shared;
use super::event::Event;
use super::memory::{allocate_device, free_device};
use super::stream::{Handle, Stream};

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
    /// Says that it will be given back, from when that was decided until it is.
    promised: OnceLock<Promised>,
}

/// What a user has.
struct Kept {
    stream: Weak<Handle>,
    /// The last is the one in use. An outgrown one stays until its user goes: queued work still writes there.
    blocks: Vec<Arc<Block>>,
}

/// The workspaces of a context.
#[derive(Default)]
pub(super) struct Workspaces {
    kept: Mutex<HashMap<User, Kept>>,
    /// Those of which nobody could say when queued work is done with them. They stay until the device's last context goes,
    /// which waits for all work.
    left: Mutex<Vec<Block>>,
}

/// A workspace for the work that is queued before this is dropped. Whoever lends it out may give it up meanwhile: it then goes
/// behind that work.
pub(super) struct Lent<'a> {
    /// Zero for none.
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

/// When queued work is done with a workspace.
pub(super) enum LastUse {
    /// None uses it.
    Over,
    /// When this is reached.
    Before(Event),
    Unknown,
}

impl LastUse {
    /// By what the stream was given.
    fn on(stream: &Handle) -> Self {
        match Event::behind(stream) {
            Ok(Some(event)) => Self::Before(event),
            // The device does no work any more.
            Err(error) if error.is_sticky() => Self::Over,
            Ok(None) | Err(_) => Self::Unknown,
        }
    }

    /// Whether nobody would have to wait for it.
    fn is_past(&self) -> bool {
        match self {
            Self::Over | Self::Unknown => true,
            Self::Before(event) => event.query().unwrap_or(true),
        }
    }

    /// Waits for it. False if that is not known.
    fn wait(&self) -> bool {
        match self {
            Self::Over => true,
            Self::Before(event) => event.wait().map_or_else(|error| error.is_sticky(), |()| true),
            Self::Unknown => false,
        }
    }
}

impl Workspaces {
    /// At least so many bytes, if any, for work that is queued on the stream next. The context is current.
    pub(super) fn get<'a>(&self, stream: &'a Stream, purpose: Purpose, bytes: u64) -> Result<Lent<'a>> {
        let block = if bytes == 0 { None } else { Some(self.block(stream, purpose, bytes)?) };
        Ok(Lent { address: block.as_ref().map_or(0, |block| block.address), block, stream })
    }

    /// As [`Self::get`], for those who can do without: nothing if the device is short of memory.
    pub(super) fn get_if_there<'a>(
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

    /// Whether a graph of this capture uses any.
    pub(super) fn has_of_capture(&self, capture: Option<u64>) -> bool {
        capture.is_some() && self.kept.lock().keys().any(|user| user.capture == capture)
    }

    /// Takes away what is kept for some.
    fn take_where(&self, mut goes: impl FnMut(&User, &Kept) -> bool) -> Vec<Kept> {
        self.kept.lock().extract_if(|user, kept| goes(user, kept)).map(|(_, kept)| kept).collect()
    }

    fn leave(&self, mut blocks: Vec<Block>) {
        // They do not come back for a long time.
        blocks.iter_mut().for_each(|block| drop(block.promised.take()));
        self.left.lock().append(&mut blocks);
    }
}

impl Kept {
    /// The blocks, but for those that are lent: whoever has one gives it back.
    fn give_up(self) -> Vec<Block> {
        self.blocks.into_iter().filter_map(Arc::into_inner).collect()
    }
}

impl Block {
    fn free(self) {
        // Nobody could be told of a failure.
        let _ = free_device(self.address);
    }
}

impl Shared {
    /// Frees everything: nobody uses the context any more, and it is current. What queued work may use, of which nobody could
    /// say when it is done, another context of the device takes over; where there is none, all work is waited for.
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

    /// Frees what a stream used outside of captures, when its work is done. It is given no more.
    pub(super) fn free_stream_workspaces(self: &Arc<Self>, id: u64, stream: &Handle) {
        let gone = self.workspaces.take_where(|user, _| user.stream == id && user.capture.is_none());
        self.give_back(gone.into_iter().flat_map(Kept::give_up).collect(), || LastUse::on(stream));
    }

    /// Frees what a capture used, if there was one, when its graph's last launch is done.
    pub(super) fn free_capture_workspaces(self: &Arc<Self>, capture: Option<u64>, last_launch: LastUse) {
        let gone = self.workspaces.take_where(|user, _| capture.is_some() && user.capture == capture);
        self.give_back(gone.into_iter().flat_map(Kept::give_up).collect(), || last_launch);
    }

    /// Takes away all but what captures use: a stream's goes as soon as its work is done, of which calls that are being queued
    /// are a part, and the next call takes what it needs anew. Adds what can go now to `going`; whether there was anything.
    pub(super) fn trim_workspaces(self: &Arc<Self>, going: &mut Vec<Going>) -> bool {
        if self.make_current().is_err() {
            return false;
        }
        let mut streams = Vec::new();
        let gone = self.workspaces.take_where(|user, kept| {
            // What a stream did before a capture that goes on cannot be waited for.
            let is_free =
                |stream: &Arc<Handle>| user.capture.is_none() && matches!(stream.capture(), Ok(None));
            let stream = kept.stream.upgrade().filter(is_free);
            let goes = stream.is_some();
            streams.extend(stream);
            goes
        });
        let is_something = !gone.is_empty();
        for (kept, stream) in gone.into_iter().zip(streams) {
            // Whoever asks for memory is to know that it comes.
            kept.blocks.iter().for_each(|block| drop(block.promised.set(self.promise())));
            let blocks = kept.give_up();
            if !blocks.is_empty() {
                going.push(Going { shared: Arc::clone(self), blocks, last_use: LastUse::on(&stream) });
            }
        }
        is_something
    }

    /// Frees blocks that nobody has any more when queued work is done with them.
    fn give_back(self: &Arc<Self>, blocks: Vec<Block>, last_use: impl FnOnce() -> LastUse) {
        if !blocks.is_empty() {
            let going = Going { shared: Arc::clone(self), blocks, last_use: last_use() };
            going.free_when_done();
        }
    }
}

/// Workspaces on their way back.
pub(super) struct Going {
    shared: Arc<Shared>,
    blocks: Vec<Block>,
    last_use: LastUse,
}

impl Going {
    /// Frees them when queued work is done with them.
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
