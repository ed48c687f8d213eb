//! The search for a block when the stream's own free list has none: other streams' blocks, new segments, waits, trims.
//!
//! In order:
//! 1. what other streams have used and are known to be done with;
//! 2. a new segment, as long as the memory reserved stays near the most that was ever in use (by a sixteenth): until then
//!    streams remain independent of each other;
//! 3. by the page, a segment made of free pages that can be had without a wait ([`super::pages`]);
//! 4. what other streams have given back but may still be using: the requesting stream is made to wait for them, on the
//!    device; by the page, a segment made of their pages;
//! 5. cached segments that nobody uses are given back, and then a new segment: by the page, of what free pages do not
//!    make up.
//!
//! If the device has no more memory, waits are preferred to everything (first joining what different streams have given
//! back), then all cached segments are given back, those still in use as soon as they no longer are, and the device is
//! asked again. Only then is the request refused. By the page waits are enough, as any page will do.

use std::mem;
use std::sync::Arc;

use tfrt_host::{Diagnostic, ErrorCode};

use super::backing::Backing;
use super::blocks::{Kind, NONE, State};
use super::origin::Origin;
use super::out_of_memory::out_of_memory;
use super::pages::Take;
use super::pool::{Joining, Pool, Segment};
use super::streams::Mark;
use super::timeline::EventKind;
use super::{ALIGNMENT, Allocation, GRANULE};

/// Reserved memory may exceed the peak in use by one part in this many before waits and trims are preferred to new
/// segments.
const SLACK_DIVISOR: u64 = 16;
/// While this little is reserved, nobody counts.
const MIN_SLACK_BYTES: u64 = 16 << 20;
/// A segment is at least this part of what is reserved, so that their number grows slowly.
const GROWTH_DIVISOR: u64 = 32;
/// But not larger, if the request is not.
const MAX_GROWTH_BYTES: u64 = 256 << 20;

/// Who asks, and what was done for the request already.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) origin: Origin,
    /// The device's libraries gave back what they could. Once is enough: they take it anew while the request waits.
    pub(super) has_trimmed: bool,
}

impl Asking {
    /// For the first time.
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, has_trimmed: false }
    }
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Outcome<F> {
    /// Here it is.
    Granted(Allocation),
    /// Not now: then try again, with this.
    Wait(Until<F>, Asking),
    /// Never.
    Failed(Diagnostic),
}

/// What a request waits for.
#[derive(Debug)]
pub(super) struct Until<F> {
    /// Any of these is reached. Others may have been asked for before.
    pub(super) fences: Vec<Arc<F>>,
    /// Memory on its way back has come to the device, since it had come so often.
    pub(super) given_back: Option<u64>,
}

/// What the search came to.
enum Found<F> {
    Block(u32),
    Wait(Until<F>),
    /// The device has no more memory; this is what it said, if it was asked.
    Nothing(Option<Diagnostic>),
}

/// What became of asking the device.
enum Grown {
    Block(u32),
    Refused(Option<Diagnostic>),
}

impl<B: Backing> Pool<B> {
    /// Serves a request from what the stream gave back last, if there is a block of just that size.
    #[inline(always)]
    pub(super) fn allocate_cached(
        &mut self,
        slot: u32,
        requested: u64,
        origin: &mut Origin,
    ) -> Option<Allocation> {
        let bytes = self.block_bytes(requested)?;
        let id = self.streams.bins_mut(slot).take(&self.blocks, bytes)?;
        Some(self.grant(id, slot, bytes, requested, mem::take(origin)))
    }

    /// Serves a request now, if that can be.
    pub(super) fn allocate(&mut self, slot: u32, requested: u64, mut asking: Asking) -> Outcome<B::Fence> {
        if let Some(allocation) = self.allocate_cached(slot, requested, &mut asking.origin) {
            return Outcome::Granted(allocation);
        }
        self.empty_bins(slot);
        if let Some(bytes) = self.block_bytes(requested)
            && let Some(id) = self.streams.free(slot, Kind::of(bytes)).best_fit(&self.blocks, bytes)
        {
            return Outcome::Granted(self.hand_out(id, slot, bytes, requested, asking.origin));
        }
        self.allocate_slowly(slot, requested, asking)
    }

    #[cold]
    fn allocate_slowly(&mut self, slot: u32, requested: u64, mut asking: Asking) -> Outcome<B::Fence> {
        // Counted before the device is asked: what comes to it later may be what is missing.
        let times = self.backing.times_given_back();
        let found = match self.block_bytes(requested) {
            Some(bytes) => self.search(slot, bytes, times).map(|found| (found, bytes)),
            None => Ok((Found::Nothing(None), 0)),
        };
        match found {
            Ok((Found::Block(id), bytes)) => {
                Outcome::Granted(self.hand_out(id, slot, bytes, requested, asking.origin))
            }
            Ok((Found::Wait(until), _)) => Outcome::Wait(until, asking),
            Ok((Found::Nothing(Some(_)), bytes)) if self.may_be_given(bytes, times, &mut asking) => {
                Outcome::Wait(Until { fences: Vec::new(), given_back: Some(times) }, asking)
            }
            Ok((Found::Nothing(device), _)) => {
                let statistics = self.statistics();
                let live = self.live_blocks();
                Outcome::Failed(out_of_memory(requested, &asking.origin, &statistics, live, device.as_ref()))
            }
            Err(error) => Outcome::Failed(error),
        }
    }

    fn search(&mut self, slot: u32, bytes: u64, times: u64) -> Result<Found<B::Fence>, Diagnostic> {
        self.empty_all_bins();
        self.cover_free_blocks()?;
        self.poll()?;
        if self.backing.is_cached() {
            self.release_unused()?;
        }
        if let Some(id) = self.find_done(slot, bytes) {
            return Ok(Found::Block(id));
        }
        if self.streams.len() > 1 {
            // Neighbours that different streams gave back were joined only if they were done with then.
            self.join_neighbours(Joining::Done);
            if let Some(id) = self.find_done(slot, bytes) {
                return Ok(Found::Block(id));
            }
        }
        let allowed = self.reserve_allowed(bytes);
        let free_to_grow =
            self.statistics.bytes_reserved.saturating_add(self.segment_bytes(bytes)) <= allowed;
        if !free_to_grow && let Some(id) = self.find_without_growing(slot, bytes, allowed)? {
            return Ok(Found::Block(id));
        }
        let grown = match self.page_bytes {
            Some(page_bytes) => self.grow_by_pages(slot, bytes, allowed, page_bytes)?,
            None => self.grow(slot, bytes, allowed)?,
        };
        match grown {
            Grown::Block(id) => Ok(Found::Block(id)),
            Grown::Refused(refusal) => self.search_under_pressure(slot, bytes, times, refusal),
        }
    }

    /// What there is to be tried before more than `allowed` bytes are reserved.
    fn find_without_growing(
        &mut self,
        slot: u32,
        bytes: u64,
        allowed: u64,
    ) -> Result<Option<u32>, Diagnostic> {
        let fresh_max = self.fresh_pages_max(allowed);
        if let Some(id) = self.stitch(slot, bytes, Take::Done, fresh_max)? {
            return Ok(Some(id));
        }
        if let Some(id) = self.find_by_waiting(slot, bytes, fresh_max)? {
            return Ok(Some(id));
        }
        self.release_down_to(allowed.saturating_sub(self.segment_bytes(bytes)))?;
        Ok(None)
    }

    /// A block, or pages and at most `fresh_max` new ones, that the stream may have if it waits for others.
    fn find_by_waiting(&mut self, slot: u32, bytes: u64, fresh_max: u64) -> Result<Option<u32>, Diagnostic> {
        let kind = Kind::of(bytes);
        if let Some(id) = self.find_and_wait(slot, bytes, kind)? {
            return Ok(Some(id));
        }
        if self.streams.len() > 1 {
            self.join_neighbours(Joining::All);
            if let Some(id) = self.find_and_wait(slot, bytes, kind)? {
                return Ok(Some(id));
            }
        }
        if let Some(id) = self.stitch(slot, bytes, Take::All, fresh_max)? {
            return Ok(Some(id));
        }
        self.find_and_wait(slot, bytes, kind.other())
    }

    /// The device has no more memory.
    fn search_under_pressure(
        &mut self,
        slot: u32,
        bytes: u64,
        times: u64,
        refusal: Option<Diagnostic>,
    ) -> Result<Found<B::Fence>, Diagnostic> {
        if let Some(id) = self.find_by_waiting(slot, bytes, 0)? {
            return Ok(Found::Block(id));
        }
        if self.page_bytes.is_some() {
            // Every page that anybody is known to give up could have been had.
            return Ok(Found::Nothing(refusal));
        }
        self.cover_free_blocks()?;
        self.poll()?;
        let mut refusal = refusal;
        if self.release_down_to(0)? > 0 {
            match self.grow(slot, bytes, 0)? {
                Grown::Block(id) => return Ok(Found::Block(id)),
                Grown::Refused(again) => refusal = again.or(refusal),
            }
        }
        Ok(match self.watch_cached_segments()? {
            Some(fences) => {
                let given_back = self.is_given_back_since(times).then_some(times);
                Found::Wait(Until { fences, given_back })
            }
            None => Found::Nothing(refusal),
        })
    }

    /// The device refuses, and there is nothing of ours to be tried; but it may be given memory of its libraries', or just now.
    fn may_be_given(&self, bytes: u64, times: u64, asking: &mut Asking) -> bool {
        let trims = !mem::replace(&mut asking.has_trimmed, true);
        trims && self.backing.trim_libraries(bytes) || self.is_given_back_since(times)
    }

    /// Whether memory is on its way to the device, or has come there since it had come so often.
    fn is_given_back_since(&self, times: u64) -> bool {
        self.backing.is_giving_back() || self.backing.times_given_back() != times
    }

    /// Sees to it that the streams' fences will tell when their free blocks are done with.
    fn cover_free_blocks(&mut self) -> Result<(), Diagnostic> {
        for slot in self.streams.slots() {
            if self.streams.free_bytes(slot) > 0 {
                self.streams.cover(&self.backing, slot)?;
            }
        }
        for mark in self.pending.values().flatten() {
            self.streams.cover(&self.backing, mark.stream)?;
        }
        Ok(())
    }

    /// The smallest fitting block that the stream may have without waiting.
    fn find_done(&self, slot: u32, bytes: u64) -> Option<u32> {
        let fits = self.streams.slots().filter_map(|owner| {
            self.streams.free(owner, Kind::of(bytes)).best_fit_where(&self.blocks, bytes, |id| {
                let point = self.blocks.get(id).point;
                self.streams.is_before(Mark { stream: owner, point }, slot)
            })
        });
        fits.min_by_key(|&id| self.blocks.get(id).bytes)
    }

    /// The smallest fitting block that the stream may have if it waits for others; the waits are queued.
    fn find_and_wait(&mut self, slot: u32, bytes: u64, kind: Kind) -> Result<Option<u32>, Diagnostic> {
        let listed = self.streams.slots().filter_map(|owner| {
            self.streams.free(owner, kind).best_fit_where(&self.blocks, bytes, |id| self.can_wait_for(id))
        });
        let fits = |id: &u32| {
            let block = self.blocks.get(*id);
            block.bytes >= bytes && block.kind == kind && self.can_wait_for(*id)
        };
        let pending = self.pending.keys().copied().filter(fits);
        let Some(id) = listed.chain(pending).min_by_key(|&id| (self.blocks.get(id).bytes, id)) else {
            return Ok(None);
        };
        self.wait_for_block(slot, id)?;
        Ok(Some(id))
    }

    /// Lets the stream wait for all that may still use a block that is not live.
    pub(super) fn wait_for_block(&mut self, slot: u32, id: u32) -> Result<(), Diagnostic> {
        for mark in self.marks(id) {
            self.statistics.num_waits += u64::from(self.streams.wait(&self.backing, slot, mark)?);
        }
        Ok(())
    }

    /// False if a block was used by a stream that went away with a failing device: nobody can tell when it is done.
    pub(super) fn can_wait_for(&self, id: u32) -> bool {
        match self.pending.get(&id) {
            Some(marks) => marks.iter().all(|&mark| self.streams.can_wait_for(mark)),
            None => {
                let block = self.blocks.get(id);
                self.streams.can_wait_for(Mark { stream: block.stream, point: block.point })
            }
        }
    }

    /// How much may be reserved, once a request of `bytes` bytes is granted, without waiting or trimming first.
    fn reserve_allowed(&self, bytes: u64) -> u64 {
        let peak = self.statistics.peak_bytes_in_use.max(self.statistics.bytes_in_use.saturating_add(bytes));
        peak.saturating_add(peak / SLACK_DIVISOR).max(MIN_SLACK_BYTES)
    }

    /// Asks the device for a segment: a large one, if that leaves `allowed` bytes reserved, else a smaller one.
    fn grow(&mut self, slot: u32, bytes: u64, allowed: u64) -> Result<Grown, Diagnostic> {
        let exact = self.segment_bytes(bytes);
        let mut sizes = [self.growth_bytes(bytes, allowed), exact, bytes];
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut refusal = None;
        let mut last = None;
        for size in sizes {
            let over_limit = self.options.bytes_limit.is_some_and(|limit| {
                // Red zones do not count, and neither does what segments lose because blocks have them.
                let (held, more) = match self.options.red_zone_bytes {
                    0 => (self.statistics.bytes_reserved, size),
                    red_zone => (self.statistics.bytes_requested, bytes - red_zone.min(bytes)),
                };
                held.checked_add(more).is_none_or(|sum| sum > limit)
            });
            if over_limit || last == Some(size) {
                continue;
            }
            last = Some(size);
            match self.backing.allocate(size) {
                Ok(address) => {
                    return self.add_segment(slot, Kind::of(bytes), address, size).map(Grown::Block);
                }
                Err(error) if error.code == ErrorCode::OutOfMemory => refusal = Some(error),
                Err(error) => return Err(error),
            }
        }
        Ok(Grown::Refused(refusal))
    }

    /// As [`Self::grow`] by the page. Beyond what is allowed, only what free pages do not make up is asked for.
    fn grow_by_pages(
        &mut self,
        slot: u32,
        bytes: u64,
        allowed: u64,
        page_bytes: u64,
    ) -> Result<Grown, Diagnostic> {
        let large = self.growth_bytes(bytes, allowed);
        let fresh_max = self.fresh_pages_max(allowed);
        for (size, take, fresh_max) in [
            (large, Take::Fresh, fresh_max),
            (bytes, Take::Fresh, fresh_max),
            (bytes, Take::All, self.fresh_pages_max(u64::MAX).min(bytes.div_ceil(page_bytes))),
        ] {
            if let Some(id) = self.stitch(slot, size, take, fresh_max)? {
                return Ok(Grown::Block(id));
            }
        }
        Ok(Grown::Refused(self.loose.refusal.take()))
    }

    /// How large a segment to ask for: enough, and more if that leaves `allowed` bytes reserved.
    fn growth_bytes(&self, bytes: u64, allowed: u64) -> u64 {
        let exact = self.segment_bytes(bytes);
        if self.is_source_cached {
            return exact;
        }
        let reserved = self.statistics.bytes_reserved;
        let large = self.segment_bytes((reserved / GROWTH_DIVISOR).min(MAX_GROWTH_BYTES));
        if reserved.saturating_add(large) <= allowed { large.max(exact) } else { exact }
    }

    /// How many pages may be made without more than `allowed` bytes being reserved, or the limit.
    fn fresh_pages_max(&self, allowed: u64) -> u64 {
        let most = self.options.bytes_limit.map_or(allowed, |limit| limit.min(allowed));
        self.page_bytes.map_or(0, |page| most.saturating_sub(self.statistics.bytes_reserved) / page)
    }

    fn add_segment(&mut self, slot: u32, kind: Kind, address: u64, bytes: u64) -> Result<u32, Diagnostic> {
        if !address.is_multiple_of(ALIGNMENT) || address.checked_add(bytes).is_none() {
            self.backing.free(address, bytes)?;
            return Err(Diagnostic::internal(format!("the device gave memory at {address:#x}, misaligned")));
        }
        self.statistics.reserved(bytes);
        self.statistics.num_device_allocs += 1;
        let segment = Segment { address, bytes, first: NONE, pages: Vec::new() };
        Ok(self.insert_segment(segment, kind, slot, Vec::new()))
    }

    /// Takes a segment in, whose memory the streams of `marks` may still use; returns its one block, which is free.
    pub(super) fn insert_segment(
        &mut self,
        mut segment: Segment,
        kind: Kind,
        slot: u32,
        marks: Vec<Mark>,
    ) -> u32 {
        let number = match self.segments.iter().position(Option::is_none) {
            Some(vacant) => vacant,
            None => {
                self.segments.push(None);
                self.segments.len() - 1
            }
        };
        let (address, bytes) = (segment.address, segment.bytes);
        let first = self.blocks.insert_segment(number as u32, kind, address, bytes, slot);
        segment.first = first;
        self.segments[number] = Some(segment);
        self.statistics.num_segments += 1;
        self.record(EventKind::Reserved { address, bytes });
        self.file(first, marks);
        first
    }

    /// Gives cached segments that nobody uses back to the device, the largest first, until no more than `target` bytes
    /// are reserved. Says how many bytes that were.
    pub(super) fn release_down_to(&mut self, target: u64) -> Result<u64, Diagnostic> {
        if self.page_bytes.is_some() {
            return self.release_pages_down_to(target);
        }
        let mut unused: Vec<(u64, usize)> = self
            .segments
            .iter()
            .enumerate()
            .filter_map(|(number, segment)| segment.as_ref().map(|segment| (number, segment)))
            .filter(|(_, segment)| {
                let block = self.blocks.get(segment.first);
                block.is_whole_segment()
                    && block.state == State::Free
                    && self.streams.is_reached(Mark { stream: block.stream, point: block.point })
            })
            .map(|(number, segment)| (segment.bytes, number))
            .collect();
        unused.sort_unstable_by_key(|&(bytes, number)| (std::cmp::Reverse(bytes), number));
        let mut released = 0;
        for (bytes, number) in unused {
            if self.statistics.bytes_reserved <= target {
                break;
            }
            self.release(number)?;
            released += bytes;
        }
        Ok(released)
    }

    fn release(&mut self, number: usize) -> Result<(), Diagnostic> {
        let Some(Segment { address, bytes, first, .. }) = self.segments[number] else { return Ok(()) };
        self.backing.free(address, bytes)?;
        self.unlist(first);
        self.blocks.remove_segment(first);
        self.segments[number] = None;
        self.statistics.num_segments -= 1;
        self.statistics.released(bytes);
        self.record(EventKind::Released { address, bytes });
        Ok(())
    }

    /// If there are cached segments that streams may still be using: the fences that tell when they are done, except
    /// those that somebody was asked to tell of before.
    fn watch_cached_segments(&mut self) -> Result<Option<Vec<Arc<B::Fence>>>, Diagnostic> {
        let cached = |first: u32| {
            let block = self.blocks.get(first);
            block.is_whole_segment()
                && matches!(block.state, State::Free | State::Pending)
                && self.can_wait_for(first)
        };
        let firsts: Vec<u32> =
            self.segments.iter().flatten().map(|segment| segment.first).filter(|&id| cached(id)).collect();
        let mut fences = Vec::new();
        for &first in &firsts {
            for mark in self.marks(first) {
                if !self.streams.is_reached(mark) {
                    fences.extend(self.streams.watch(&self.backing, mark)?);
                }
            }
        }
        Ok((!firsts.is_empty()).then_some(fences))
    }

    /// Fences behind all that may still use free blocks.
    pub(super) fn last_fences(&mut self) -> Result<Vec<Arc<B::Fence>>, Diagnostic> {
        let (streams, backing) = (&mut self.streams, &*self.backing);
        let fences = streams.slots().map(|slot| streams.fence_of_all(backing, slot));
        fences.filter_map(Result::transpose).collect()
    }

    /// Gives back what nobody uses any more, and sees to it that the rest will be found out about.
    #[cold]
    pub(super) fn release_done(&mut self) -> Result<(), Diagnostic> {
        self.empty_all_bins();
        self.cover_free_blocks()?;
        self.release_unused().map(drop)
    }

    /// Gives back every cached segment that nobody uses.
    pub(super) fn release_unused(&mut self) -> Result<u64, Diagnostic> {
        self.empty_all_bins();
        self.poll()?;
        self.join_neighbours(Joining::All);
        self.release_down_to(0)
    }

    /// Fences behind everything queued so far that is not done, as far as the device still takes any.
    pub(super) fn ends(&mut self) -> Vec<Arc<B::Fence>> {
        let (streams, backing) = (&mut self.streams, &*self.backing);
        let slots = streams.slots();
        slots
            .filter_map(|slot| streams.end(backing, slot).unwrap_or_else(|_| streams.last_fence(slot)))
            .collect()
    }

    /// Gives everything back, live or not. All streams are done.
    pub(super) fn tear_down(&mut self) -> Result<(), Diagnostic> {
        let mut result = Ok(());
        let segments = mem::take(&mut self.segments);
        if self.page_bytes.is_some() {
            return result.and(self.tear_down_pages(&segments));
        }
        for Segment { address, bytes, .. } in segments.into_iter().flatten() {
            result = result.and(self.backing.free(address, bytes));
        }
        result
    }

    /// The size of the segment that a block of this size is asked for in.
    fn segment_bytes(&self, bytes: u64) -> u64 {
        /// Pages of the device.
        const PAGE: u64 = 2 << 20;
        const { assert!(PAGE.is_multiple_of(GRANULE)) };
        if self.is_source_cached {
            return bytes;
        }
        bytes.max(1).checked_next_multiple_of(PAGE).unwrap_or(bytes)
    }
}
