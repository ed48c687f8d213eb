//! The search for a block if the stream's own free list has none: blocks of other streams, new
//! segments, waits and trims.
//!
//! In order:
//! 1. Blocks that other streams have used and are known to be done with.
//! 2. A new segment, as long as the reserved memory stays near the peak in use (by a sixteenth).
//!    Until then, streams remain independent of each other.
//! 3. With pages, a segment of free pages that are available without a wait ([`super::pages`]).
//! 4. Blocks that other streams have released but may still be using. The requesting stream waits
//!    for them on the device. With pages, a segment of their pages.
//! 5. Unused cached segments are released, and then a new segment is requested; with pages, only
//!    the part that free pages do not cover.
//!
//! If the device has no more memory, waits are preferred over everything else, after joining the
//! released blocks of different streams. Then all cached segments are released, those in use as
//! soon as possible, and the device is asked again. Only then is the request refused. With pages,
//! waits suffice because any page will do.

use std::mem;
use std::sync::Arc;

use tfrt_host::{Diagnostic, ErrorCode};

use super::backing::{Backing, End};
use super::blocks::{Kind, NONE, State};
use super::origin::Origin;
use super::out_of_memory::out_of_memory;
use super::pages::Take;
use super::pool::{Joining, Pool, Segment};
use super::streams::Mark;
use super::timeline::EventKind;
use super::{ALIGNMENT, Allocation, GRANULE};

/// While reserved memory exceeds the peak in use by at most one part in this many, new segments are
/// preferred over waits and trims.
const SLACK_DIVISOR: u64 = 16;
/// Below this many reserved bytes, new segments are always preferred.
const MIN_SLACK_BYTES: u64 = 16 << 20;
/// A segment is at least this part of the reserved memory, so that the number of segments grows
/// slowly.
const GROWTH_DIVISOR: u64 = 32;
/// The largest segment that this rule gives, unless the request is larger.
const MAX_GROWTH_BYTES: u64 = 256 << 20;

/// A requester, and what was already done for the request.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) origin: Origin,
    /// Whether the device's libraries have released their caches. Once is enough, because they
    /// allocate again while the request waits.
    pub(super) has_trimmed: bool,
}

impl Asking {
    /// Creates the state of a new request.
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, has_trimmed: false }
    }
}

/// The outcome of a request.
#[derive(Debug)]
pub(super) enum Outcome<F> {
    /// The memory.
    Granted(Allocation),
    /// Wait, then try again with this state.
    Wait(Until<F>, Asking),
    /// The request cannot be served.
    Failed(Diagnostic),
}

/// What a request waits for.
#[derive(Debug)]
pub(super) struct Until<F> {
    /// Any of these fences. Others may have been watched before.
    pub(super) fences: Vec<Arc<F>>,
    /// The arrival of released memory at the device, beyond this number of arrivals.
    pub(super) given_back: Option<u64>,
}

/// The result of a search.
enum Found<F> {
    Block(u32),
    Wait(Until<F>),
    /// The device has no more memory; its error, if it was asked.
    Nothing(Option<Diagnostic>),
}

/// The result of a request to the device.
enum Grown {
    Block(u32),
    Refused(Option<Diagnostic>),
}

impl<B: Backing> Pool<B> {
    /// Serves a request from the stream's bins, if there is a block of exactly that size.
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

    /// Serves a request now, if possible.
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
        // Counted before the device is asked, because memory that arrives later may be what is
        // missing.
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
            // Neighbours that different streams released were joined only if both were done with.
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

    /// Tries everything that reserves at most `allowed` bytes.
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

    /// Returns a block that the stream may use if it waits for others: an existing one, or pages
    /// with at most `fresh_max` new ones.
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

    /// Searches after the device has refused more memory.
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
            // Every page that some stream is known to have released was available.
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

    /// Returns whether a retry makes sense although the device refuses: its libraries may release
    /// memory, or memory has just arrived.
    fn may_be_given(&self, bytes: u64, times: u64, asking: &mut Asking) -> bool {
        let trims = !mem::replace(&mut asking.has_trimmed, true);
        trims && self.backing.trim_libraries(bytes) || self.is_given_back_since(times)
    }

    /// Returns whether memory is on its way to the device, or has arrived since the count was
    /// `times`.
    fn is_given_back_since(&self, times: u64) -> bool {
        self.backing.is_giving_back() || self.backing.times_given_back() != times
    }

    /// Records fences for the streams of free blocks, so that it will be known when they are done.
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

    /// Returns the smallest fitting block that the stream may use without waiting.
    fn find_done(&self, slot: u32, bytes: u64) -> Option<u32> {
        let fits = self.streams.slots().filter_map(|owner| {
            self.streams.free(owner, Kind::of(bytes)).best_fit_where(&self.blocks, bytes, |id| {
                let point = self.blocks.get(id).point;
                self.streams.is_before(Mark { stream: owner, point }, slot)
            })
        });
        fits.min_by_key(|&id| self.blocks.get(id).bytes)
    }

    /// Returns the smallest fitting block that the stream may use if it waits for others, and
    /// queues the waits.
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

    /// Makes the stream wait for all streams that may still use a block that is not live.
    pub(super) fn wait_for_block(&mut self, slot: u32, id: u32) -> Result<(), Diagnostic> {
        for mark in self.marks(id) {
            self.statistics.num_waits += u64::from(self.streams.wait(&self.backing, slot, mark)?);
        }
        Ok(())
    }

    /// Returns false if the block was used by a stream that was dropped with a failing device, so
    /// that its end cannot be known.
    pub(super) fn can_wait_for(&self, id: u32) -> bool {
        match self.pending.get(&id) {
            Some(marks) => marks.iter().all(|&mark| self.streams.can_wait_for(mark)),
            None => {
                let block = self.blocks.get(id);
                self.streams.can_wait_for(Mark { stream: block.stream, point: block.point })
            }
        }
    }

    /// Returns how much may be reserved for a request of `bytes` bytes without first waiting or
    /// trimming.
    fn reserve_allowed(&self, bytes: u64) -> u64 {
        let peak = self.statistics.peak_bytes_in_use.max(self.statistics.bytes_in_use.saturating_add(bytes));
        peak.saturating_add(peak / SLACK_DIVISOR).max(MIN_SLACK_BYTES)
    }

    /// Requests a segment from the device: a large one, if at most `allowed` bytes are then
    /// reserved, else a smaller one.
    fn grow(&mut self, slot: u32, bytes: u64, allowed: u64) -> Result<Grown, Diagnostic> {
        let exact = self.segment_bytes(bytes);
        let mut sizes = [self.growth_bytes(bytes, allowed), exact, bytes];
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut refusal = None;
        let mut last = None;
        for size in sizes {
            let over_limit = self.options.bytes_limit.is_some_and(|limit| {
                // Red zones do not count, and neither does the space that segments lose to them.
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

    /// Does the same as [`Self::grow`] with pages. Beyond `allowed` bytes, only the part that free
    /// pages do not cover is requested.
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

    /// Returns the size of the segment to request: enough, and more if at most `allowed` bytes are
    /// then reserved.
    fn growth_bytes(&self, bytes: u64, allowed: u64) -> u64 {
        let exact = self.segment_bytes(bytes);
        if self.is_source_cached {
            return exact;
        }
        let reserved = self.statistics.bytes_reserved;
        let large = self.segment_bytes((reserved / GROWTH_DIVISOR).min(MAX_GROWTH_BYTES));
        if reserved.saturating_add(large) <= allowed { large.max(exact) } else { exact }
    }

    /// Returns how many pages may be created without reserving more than `allowed` bytes or
    /// exceeding the limit.
    fn fresh_pages_max(&self, allowed: u64) -> u64 {
        let most = self.options.bytes_limit.map_or(allowed, |limit| limit.min(allowed));
        self.page_bytes.map_or(0, |page| most.saturating_sub(self.statistics.bytes_reserved) / page)
    }

    fn add_segment(&mut self, slot: u32, kind: Kind, address: u64, bytes: u64) -> Result<u32, Diagnostic> {
        if !address.is_multiple_of(ALIGNMENT) || address.checked_add(bytes).is_none() {
            self.backing.free(address, bytes)?;
            return Err(Diagnostic::internal(format!(
                "the device allocated memory at {address:#x}, which is misaligned"
            )));
        }
        self.statistics.reserved(bytes);
        self.statistics.num_device_allocs += 1;
        let segment = Segment { address, bytes, first: NONE, pages: Vec::new() };
        Ok(self.insert_segment(segment, kind, slot, Vec::new()))
    }

    /// Adds a segment whose memory the streams of `marks` may still use. Returns its only block,
    /// which is free.
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

    /// Releases unused cached segments to the device, the largest first, until at most `target`
    /// bytes are reserved. Returns their size in bytes.
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

    /// Returns the fences after which cached segments are no longer in use, except those that are
    /// watched already. Returns `None` if no cached segment is in use.
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

    /// Returns fences after all work that may still use free blocks.
    pub(super) fn last_fences(&mut self) -> Result<Vec<Arc<B::Fence>>, Diagnostic> {
        let (streams, backing) = (&mut self.streams, &*self.backing);
        let fences = streams.slots().map(|slot| streams.fence_of_all(backing, slot));
        fences.filter_map(Result::transpose).collect()
    }

    /// Releases unused memory, and arranges that the rest is noticed later.
    #[cold]
    pub(super) fn release_done(&mut self) -> Result<(), Diagnostic> {
        self.empty_all_bins();
        self.cover_free_blocks()?;
        self.release_unused().map(drop)
    }

    /// Releases every unused cached segment.
    pub(super) fn release_unused(&mut self) -> Result<u64, Diagnostic> {
        self.empty_all_bins();
        self.poll()?;
        self.join_neighbours(Joining::All);
        self.release_down_to(0)
    }

    /// Returns the ends of all unfinished work.
    pub(super) fn ends(&mut self) -> Vec<End<B>> {
        let (streams, backing) = (&mut self.streams, &*self.backing);
        streams.slots().filter_map(|slot| streams.end(backing, slot)).collect()
    }

    /// Releases everything, live or not. All streams are done.
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

    /// Returns the size of the segment to request for a block of this size.
    fn segment_bytes(&self, bytes: u64) -> u64 {
        /// The size of the device's pages.
        const PAGE: u64 = 2 << 20;
        const { assert!(PAGE.is_multiple_of(GRANULE)) };
        if self.is_source_cached {
            return bytes;
        }
        bytes.max(1).checked_next_multiple_of(PAGE).unwrap_or(bytes)
    }
}
