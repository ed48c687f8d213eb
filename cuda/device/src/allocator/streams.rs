//! The progress of each stream, for the purposes of memory.
//!
//! Time on a stream is counted in **points**: each released block takes the next point of each
//! stream that may still use it. A point is *reached* when all work queued on the stream before it
//! is done. A fence that is recorded after a point covers it. So fences are recorded only when
//! somebody asks whether a point is reached or wants to wait for it. A program with one stream that
//! reuses its own free blocks needs none.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use tfrt_host::Diagnostic;

use super::backing::{Backing, End};
use super::bins::Bins;
use super::blocks::{BlockTable, Kind};
use super::free_list::FreeList;
use super::hash::MultiplyHasher;

/// The most outstanding fences of one stream that serve only to learn its progress.
const MAX_FENCES: usize = 64;

/// A point of a stream: the stream's slot and the point's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) stream: u32,
    pub(super) point: u64,
}

struct Fence<F> {
    /// Points up to this one precede the fence.
    covers: u64,
    fence: Arc<F>,
}

/// A stream, or a forgotten stream whose last fence may not be reached yet.
struct Slot<B: Backing> {
    stream: Option<B::Stream>,
    /// A forgotten stream whose last fence could not be recorded.
    unmarked: Option<B::Stream>,
    /// The free blocks that the stream used last: in bins the latest released, and the others by
    /// kind.
    bins: Bins,
    free: [FreeList; 2],
    /// The last point taken.
    point: u64,
    /// Points up to this one are reached.
    reached: u64,
    /// Fences not known to be reached, oldest first.
    fences: VecDeque<Fence<B::Fence>>,
    /// For each slot, the last of its points that this stream waits for.
    waited: Vec<u64>,
    /// The last point that somebody watches.
    watched: u64,
}

/// The streams of one allocator. A slot's number identifies its stream until the stream is
/// forgotten.
pub(super) struct Streams<B: Backing> {
    slots: Vec<Slot<B>>,
    by_stream: HashMap<B::Stream, u32, BuildHasherDefault<MultiplyHasher>>,
    /// The slot of the last lookup, which is usually looked up again.
    last: u32,
}

impl<B: Backing> Streams<B> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), by_stream: HashMap::default(), last: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn slots(&self) -> std::ops::Range<u32> {
        0..self.slots.len() as u32
    }

    #[inline]
    fn slot(&self, slot: u32) -> &Slot<B> {
        &self.slots[slot as usize]
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut Slot<B> {
        &mut self.slots[slot as usize]
    }

    #[inline]
    pub(super) fn bins_mut(&mut self, slot: u32) -> &mut Bins {
        &mut self.slot_mut(slot).bins
    }

    #[inline]
    pub(super) fn free(&self, slot: u32, kind: Kind) -> &FreeList {
        &self.slot(slot).free[kind as usize]
    }

    /// Returns the size of the stream's free lists, in bytes.
    pub(super) fn free_bytes(&self, slot: u32) -> u64 {
        self.slot(slot).free.iter().map(FreeList::bytes).sum()
    }

    /// Returns the size of the stream's bins, in bytes.
    #[cfg(test)]
    pub(super) fn binned_bytes(&self, slot: u32, blocks: &BlockTable) -> u64 {
        self.slot(slot).bins.iter(blocks).map(|id| blocks.get(id).bytes).sum()
    }

    /// Returns the size of the largest block in the stream's free lists and bins.
    pub(super) fn largest_free(&self, slot: u32, blocks: &BlockTable) -> u64 {
        let Slot { free, bins, .. } = self.slot(slot);
        free.iter().map(|list| list.largest(blocks)).max().unwrap_or(0).max(bins.largest())
    }

    #[inline]
    pub(super) fn free_mut(&mut self, slot: u32, kind: Kind) -> &mut FreeList {
        &mut self.slot_mut(slot).free[kind as usize]
    }

    /// Returns the slot of a known stream.
    #[inline]
    pub(super) fn find(&mut self, stream: &B::Stream) -> Option<u32> {
        if self.slots.get(self.last as usize).is_some_and(|slot| slot.stream.as_ref() == Some(stream)) {
            return Some(self.last);
        }
        let slot = *self.by_stream.get(stream)?;
        self.last = slot;
        Some(slot)
    }

    /// Returns the slot of a stream, adding it if it is unknown.
    #[inline]
    pub(super) fn find_or_add(&mut self, stream: &B::Stream) -> u32 {
        match self.find(stream) {
            Some(slot) => slot,
            None => self.add(stream),
        }
    }

    #[cold]
    fn add(&mut self, stream: &B::Stream) -> u32 {
        // The slot of a forgotten stream can be reused when its work is done. Its points continue,
        // so marks of the old stream remain reached. But the new stream has not waited for
        // anything.
        let idle = |slot: &Slot<B>| slot.stream.is_none() && slot.reached == slot.point;
        let slot = match self.slots.iter().position(idle) {
            Some(slot) => {
                self.slots[slot].stream = Some(stream.clone());
                self.slots[slot].unmarked = None;
                self.slots[slot].waited.clear();
                slot as u32
            }
            None => {
                self.slots.push(Slot {
                    stream: Some(stream.clone()),
                    unmarked: None,
                    bins: Bins::new(),
                    free: [FreeList::new(), FreeList::new()],
                    point: 0,
                    reached: 0,
                    fences: VecDeque::new(),
                    waited: Vec::new(),
                    watched: 0,
                });
                self.slots.len() as u32 - 1
            }
        };
        self.by_stream.insert(stream.clone(), slot);
        slot
    }

    /// Records that the stream takes no more work. One last fence covers all its work.
    pub(super) fn forget(&mut self, backing: &B, stream: &B::Stream) -> Result<(), Diagnostic> {
        let Some(slot) = self.find(stream) else { return Ok(()) };
        // The stream may still use live blocks. The last fence covers a point for them.
        self.slot_mut(slot).point += 1;
        let recorded =
            if self.is_done(backing, slot) { Ok(()) } else { self.record(backing, slot).map(drop) };
        self.by_stream.remove(stream);
        let slot = self.slot_mut(slot);
        slot.stream = None;
        slot.unmarked = recorded.is_err().then(|| stream.clone());
        recorded
    }

    /// Takes the next point of a stream.
    #[inline]
    pub(super) fn take_point(&mut self, slot: u32) -> u64 {
        let slot = self.slot_mut(slot);
        // A forgotten stream takes no work, so all its work precedes its last point.
        slot.point += u64::from(slot.stream.is_some());
        slot.point
    }

    /// Returns true if the point is known to be reached.
    #[inline]
    pub(super) fn is_reached(&self, mark: Mark) -> bool {
        mark.point <= self.slot(mark.stream).reached
    }

    /// Returns true if work queued on `waiter` from now on is known to run after the point.
    pub(super) fn is_before(&self, mark: Mark, waiter: u32) -> bool {
        mark.stream == waiter
            || self.is_reached(mark)
            || self.slot(waiter).waited.get(mark.stream as usize).is_some_and(|&point| mark.point <= point)
    }

    /// Returns true unless the point belongs to a forgotten stream and no fence covers it.
    pub(super) fn can_wait_for(&self, mark: Mark) -> bool {
        let slot = self.slot(mark.stream);
        let covered = slot.fences.back().map_or(slot.reached, |fence| fence.covers);
        slot.stream.is_some() || mark.point <= covered
    }

    fn record(&mut self, backing: &B, slot: u32) -> Result<&Fence<B::Fence>, Diagnostic> {
        let slot = self.slot_mut(slot);
        let Some(stream) = &slot.stream else {
            return Err(Diagnostic::internal("a destroyed stream's last fence could not be recorded"));
        };
        let fence = Fence { covers: slot.point, fence: Arc::new(backing.record(stream)?) };
        slot.fences.push_back(fence);
        Ok(&slot.fences[slot.fences.len() - 1])
    }

    /// Returns the first fence that covers the point. Records it if there is none.
    fn fence(&mut self, backing: &B, mark: Mark) -> Result<&Fence<B::Fence>, Diagnostic> {
        let fences = &self.slot(mark.stream).fences;
        let first = fences.partition_point(|fence| fence.covers < mark.point);
        if first < fences.len() {
            return Ok(&self.slot(mark.stream).fences[first]);
        }
        self.record(backing, mark.stream)
    }

    /// Ensures that a fence covers every point of the stream taken so far, unless too many fences
    /// are outstanding.
    pub(super) fn cover(&mut self, backing: &B, slot: u32) -> Result<(), Diagnostic> {
        let Slot { stream, point, reached, fences, .. } = self.slot(slot);
        let covered = fences.back().map_or(*reached, |fence| fence.covers);
        if stream.is_some() && covered < *point && fences.len() < MAX_FENCES {
            self.record(backing, slot)?;
        }
        Ok(())
    }

    /// Returns a fence that covers every point of the stream taken so far, regardless of the number
    /// of outstanding fences. Returns `None` if all of them are known to be reached. For a
    /// forgotten stream it is the last fence.
    pub(super) fn fence_of_all(
        &mut self,
        backing: &B,
        slot: u32,
    ) -> Result<Option<Arc<B::Fence>>, Diagnostic> {
        let mark = Mark { stream: slot, point: self.slot(slot).point };
        if self.is_reached(mark) || !self.can_wait_for(mark) {
            return Ok(self.last_fence(slot));
        }
        Ok(Some(self.fence(backing, mark)?.fence.clone()))
    }

    /// Returns the last outstanding fence of the stream, if any.
    fn last_fence(&self, slot: u32) -> Option<Arc<B::Fence>> {
        self.slot(slot).fences.back().map(|fence| fence.fence.clone())
    }

    /// Updates which points of the stream are reached.
    pub(super) fn poll(&mut self, backing: &B, slot: u32) -> Result<(), Diagnostic> {
        let slot = self.slot_mut(slot);
        while let Some(oldest) = slot.fences.front() {
            if !backing.is_reached(&oldest.fence)? {
                break;
            }
            slot.reached = oldest.covers;
            slot.fences.pop_front();
        }
        Ok(())
    }

    /// Makes `waiter` wait for the point, unless it runs after it anyway. Returns true if that took
    /// a wait.
    pub(super) fn wait(&mut self, backing: &B, waiter: u32, mark: Mark) -> Result<bool, Diagnostic> {
        if self.is_before(mark, waiter) {
            return Ok(false);
        }
        let Fence { covers, fence } = self.fence(backing, mark)?;
        let (covers, fence) = (*covers, fence.clone());
        let waiter = self.slot_mut(waiter);
        let Some(stream) = &waiter.stream else {
            return Err(Diagnostic::internal("a destroyed stream cannot wait"));
        };
        backing.wait(stream, &fence)?;
        let index = mark.stream as usize;
        if waiter.waited.len() <= index {
            waiter.waited.resize(index + 1, 0);
        }
        waiter.waited[index] = covers;
        Ok(true)
    }

    /// Returns the fence to watch for the point on the host, or `None` if it is watched already.
    pub(super) fn watch(&mut self, backing: &B, mark: Mark) -> Result<Option<Arc<B::Fence>>, Diagnostic> {
        if mark.point <= self.slot(mark.stream).watched {
            return Ok(None);
        }
        let Fence { covers, fence } = self.fence(backing, mark)?;
        let (covers, fence) = (*covers, fence.clone());
        self.slot_mut(mark.stream).watched = covers;
        Ok(Some(fence))
    }

    /// Returns whether all work queued on the stream is done. If so, all points are reached.
    fn is_done(&mut self, backing: &B, slot: u32) -> bool {
        let slot = self.slot_mut(slot);
        if slot.stream.as_ref().is_some_and(|stream| backing.is_idle(stream)) {
            slot.reached = slot.point;
            slot.fences.clear();
        }
        slot.reached == slot.point
    }

    /// Returns the end of all work queued on the stream, unless that work is done.
    pub(super) fn end(&mut self, backing: &B, slot: u32) -> Option<End<B>> {
        if self.slot(slot).stream.is_some() {
            self.slot_mut(slot).point += 1;
        }
        if self.is_done(backing, slot) {
            return None;
        }
        match self.fence_at_end(backing, slot) {
            Ok(fence) => fence.map(End::Fence),
            Err(_) => {
                let Slot { stream, unmarked, .. } = self.slot(slot);
                stream.as_ref().or(unmarked.as_ref()).cloned().map(End::Unmarked)
            }
        }
    }

    fn fence_at_end(&mut self, backing: &B, slot: u32) -> Result<Option<Arc<B::Fence>>, Diagnostic> {
        let mark = Mark { stream: slot, point: self.slot(slot).point };
        let fence = self.fence(backing, mark)?.fence.clone();
        self.poll(backing, slot)?;
        Ok((!self.is_reached(mark)).then_some(fence))
    }
}
