//! Blocks, segments and streams combined: which request receives which block, and what happens to
//! released blocks.
//!
//! A free block is in a bin or in the free list of the stream that used it last, with the point of
//! that stream at which it was released. It is first put into a bin, unchanged. It moves to the
//! free list, joined with its neighbours, when a request finds no block of exactly its size. That
//! stream may reuse it at once, because work on a stream runs in order. Another stream may reuse it
//! once the point is reached, or if it waits for the point. A block that several streams may still
//! use is *pending*: it is in no list until all streams but one have passed their points.
//!
//! The pool is not thread-safe and has no queue of requests; [`super::CachingAllocator`] adds both.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use tfrt_host::{Diagnostic, tracing};

use super::backing::{Backing, Pages};
use super::blocks::{Block, BlockTable, NONE, State};
use super::hash::MultiplyHasher;
use super::origin::Origin;
use super::pages::{LoosePages, merge_marks};
use super::statistics::Statistics;
use super::streams::{Mark, Streams};
use super::timeline::{EventKind, Recorder};
use super::{Allocation, GRANULE, Options};

type ByBlock<T> = HashMap<u32, T, BuildHasherDefault<MultiplyHasher>>;

/// Memory held from the device.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// The block at its beginning. Its number stays the same as long as the segment.
    pub(super) first: u32,
    /// Its pages, if the device has memory in pages.
    pub(super) pages: Vec<u64>,
}

/// The neighbours to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joining {
    /// Neighbours of which one is no longer in use.
    Done,
    /// All neighbours, even if streams may still use them. A request for such a block waits for
    /// more streams.
    All,
}

/// Returns whether to take memory in pages. A limit of only a few pages needs the granularity of
/// bytes.
fn wants_pages(options: Options, page_bytes: u64) -> bool {
    const MIN_PAGES: u64 = 8;
    !options.in_segments && options.bytes_limit.is_none_or(|limit| limit / MIN_PAGES >= page_bytes)
}

/// Blocks, segments and streams; see the module documentation.
pub(super) struct Pool<B: Backing> {
    pub(super) backing: Arc<B>,
    pub(super) options: Options,
    pub(super) id: u32,
    pub(super) blocks: BlockTable,
    pub(super) streams: Streams<B>,
    /// By number; `None` for released ones.
    pub(super) segments: Vec<Option<Segment>>,
    /// Whether to release memory as soon as it is unused; see [`Backing::is_cached`].
    pub(super) is_source_cached: bool,
    /// The size of a page, if the device has memory in pages.
    pub(super) page_bytes: Option<u64>,
    pub(super) loose: LoosePages,
    /// What pending blocks wait for.
    pub(super) pending: ByBlock<Vec<Mark>>,
    /// The streams that use live blocks besides the stream they were granted for.
    users: ByBlock<Vec<u32>>,
    /// The origins of live blocks, by block.
    origins: Vec<Origin>,
    pub(super) statistics: Statistics,
    pub(super) recorder: Option<Recorder>,
    /// The track for the counters in the program's trace.
    track: Option<tracing::Track>,
}

impl<B: Backing> Pool<B> {
    pub(super) fn new(backing: Arc<B>, options: Options, id: u32) -> Self {
        let statistics = Statistics { bytes_limit: options.bytes_limit, ..Statistics::default() };
        Self {
            page_bytes: backing.pages().map(Pages::page_bytes).filter(|&page| wants_pages(options, page)),
            is_source_cached: backing.is_cached(),
            loose: LoosePages::default(),
            backing,
            options,
            id,
            blocks: BlockTable::default(),
            streams: Streams::new(),
            segments: Vec::new(),
            pending: HashMap::default(),
            users: HashMap::default(),
            origins: Vec::new(),
            statistics,
            recorder: None,
            track: None,
        }
    }

    /// Returns the size of the block that serves a request, with its red zone.
    #[inline]
    pub(super) fn block_bytes(&self, requested: u64) -> Option<u64> {
        const { assert!(GRANULE.is_power_of_two()) };
        let bytes = requested.max(1).checked_add(self.options.red_zone_bytes)?;
        Some(bytes.checked_add(GRANULE - 1)? & !(GRANULE - 1))
    }

    /// Grants a block that is free or in no list to the stream. The rest of the block keeps its
    /// state.
    #[inline]
    pub(super) fn hand_out(
        &mut self,
        id: u32,
        stream: u32,
        bytes: u64,
        requested: u64,
        origin: Origin,
    ) -> Allocation {
        let block = *self.blocks.get(id);
        if block.state == State::Free {
            self.unlist(id);
        }
        if block.bytes > bytes {
            let rest = self.blocks.split(id, bytes);
            match block.state {
                State::Free => self.list(rest),
                _ => self.pend(rest, self.pending.get(&id).cloned().unwrap_or_default()),
            }
        }
        if block.state == State::Pending {
            self.pending.remove(&id);
        }
        self.grant(id, stream, bytes, requested, origin)
    }

    /// Makes a block that is in no list live.
    #[inline(always)]
    pub(super) fn grant(
        &mut self,
        id: u32,
        stream: u32,
        bytes: u64,
        requested: u64,
        origin: Origin,
    ) -> Allocation {
        self.statistics.granted(bytes, requested);
        let serial = self.statistics.num_allocs;
        let live = self.blocks.get_mut(id);
        live.state = State::Live;
        live.stream = stream;
        live.requested = requested;
        live.serial = serial;
        live.shared = false;
        let allocation =
            Allocation { address: live.address, bytes: requested, serial, block: id, allocator: self.id };
        if self.is_watched() {
            self.record_grant(&allocation, stream, &origin);
        }
        if self.origins.len() <= id as usize {
            self.origins.resize(id as usize + 1, Origin::default());
        }
        self.origins[id as usize] = origin;
        allocation
    }

    #[cold]
    fn record_grant(&mut self, allocation: &Allocation, stream: u32, origin: &Origin) {
        let kind = EventKind::Granted {
            serial: allocation.serial,
            address: allocation.address,
            bytes: allocation.bytes,
            stream,
            origin: origin.clone(),
        };
        self.record(kind);
    }

    /// Records an event in the recording and in the program's trace, if they are on.
    #[cold]
    pub(super) fn record(&mut self, kind: EventKind) {
        if let Some(recorder) = &mut self.recorder {
            recorder.record(kind);
        }
        if tracing::is_enabled() {
            let id = self.id;
            let track = self.track.get_or_insert_with(|| tracing::Track::new(&format!("device memory {id}")));
            track.count("memory", "device memory held", self.statistics.bytes_requested);
            track.count("memory", "device memory reserved", self.statistics.bytes_reserved);
        }
    }

    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        self.recorder.is_some() || tracing::is_enabled()
    }

    /// Starts a recording with the present state.
    pub(super) fn start_recording(&mut self) {
        if self.recorder.is_some() {
            return;
        }
        let mut recorder = Recorder::default();
        for Segment { address, bytes, .. } in self.segments.iter().flatten() {
            recorder.record(EventKind::Reserved { address: *address, bytes: *bytes });
        }
        for (_, block) in self.blocks.iter().filter(|(_, block)| block.state == State::Hole) {
            recorder.record(EventKind::Released { address: block.address, bytes: block.bytes });
        }
        for (id, block) in self.blocks.iter().filter(|(_, block)| block.state == State::Live) {
            recorder.record(EventKind::Granted {
                serial: block.serial,
                address: block.address,
                bytes: block.requested,
                stream: block.stream,
                origin: self.origins[id as usize].clone(),
            });
        }
        self.recorder = Some(recorder);
    }

    /// Returns whether an allocation belongs to this allocator and its block is live.
    #[inline]
    fn is_live(&self, allocation: &Allocation) -> bool {
        let is_its = |block: &Block| block.state == State::Live && block.serial == allocation.serial;
        allocation.allocator == self.id && self.blocks.find(allocation.block).is_some_and(is_its)
    }

    /// Records that a stream uses a live block besides the one it was granted for.
    pub(super) fn record_use(
        &mut self,
        allocation: &Allocation,
        stream: &B::Stream,
    ) -> Result<(), Diagnostic> {
        if !self.is_live(allocation) {
            return Err(not_live(allocation));
        }
        let id = allocation.block;
        let slot = self.streams.find_or_add(stream);
        if self.blocks.get(id).stream != slot {
            self.blocks.get_mut(id).shared = true;
            let users = self.users.entry(id).or_default();
            if !users.contains(&slot) {
                users.push(slot);
            }
        }
        Ok(())
    }

    /// Releases a live block. All work that uses it is queued. Usually the block moves to its
    /// stream's bins.
    #[inline]
    pub(super) fn give_back(&mut self, allocation: &Allocation) -> Result<(), Diagnostic> {
        if !self.is_live(allocation) {
            return Err(not_live(allocation));
        }
        let id = allocation.block;
        let block = self.blocks.get_mut(id);
        self.statistics.freed(block.bytes, block.requested);
        let origin = &mut self.origins[id as usize];
        if origin.location.is_some() {
            *origin = Origin::default();
        }
        let mark = Mark { stream: block.stream, point: self.streams.take_point(block.stream) };
        if block.shared {
            self.give_back_shared(id, mark);
        } else {
            block.state = State::Binned;
            block.point = mark.point;
            if !self.streams.bins_mut(mark.stream).put(block, id) {
                self.replace_in_bin(id, mark.stream);
            }
        }
        if self.is_watched() {
            self.record(EventKind::Freed { serial: allocation.serial });
        }
        Ok(())
    }

    /// Empties the bin of blocks with another size, and adds the block.
    #[cold]
    fn replace_in_bin(&mut self, id: u32, stream: u32) {
        let bytes = self.blocks.get(id).bytes;
        while let Some(rival) = self.streams.bins_mut(stream).take_rival(&self.blocks, bytes) {
            self.file_binned(rival);
        }
        let is_in = self.streams.bins_mut(stream).put(self.blocks.get_mut(id), id);
        debug_assert!(is_in, "the bin is empty");
    }

    /// Moves a stream's binned blocks to its free list, where they are joined and searched.
    pub(super) fn empty_bins(&mut self, stream: u32) {
        while let Some(id) = self.streams.bins_mut(stream).take_any(&self.blocks) {
            self.file_binned(id);
        }
    }

    /// Empties the bins of all streams; see [`Self::empty_bins`].
    pub(super) fn empty_all_bins(&mut self) {
        for stream in self.streams.slots() {
            self.empty_bins(stream);
        }
    }

    fn file_binned(&mut self, id: u32) {
        let Block { stream, point, .. } = *self.blocks.get(id);
        self.file_one(id, Mark { stream, point });
    }

    #[cold]
    fn give_back_shared(&mut self, id: u32, mark: Mark) {
        let mut marks = vec![mark];
        for stream in self.users.remove(&id).unwrap_or_default() {
            marks.push(Mark { stream, point: self.streams.take_point(stream) });
            // The fence belongs at this place of the other stream; later it would follow unrelated
            // work. If this fails, it is retried when the point is queried.
            let _ = self.streams.cover(&self.backing, stream);
        }
        self.file(id, marks);
    }

    /// Puts a block that is in no list where it belongs, depending on who may still use it.
    pub(super) fn file(&mut self, id: u32, mut marks: Vec<Mark>) {
        marks.retain(|mark| !self.streams.is_reached(*mark));
        match marks[..] {
            [] => self.file_one(id, Mark { stream: self.blocks.get(id).stream, point: 0 }),
            [mark] => self.file_one(id, mark),
            _ => self.pend(id, marks),
        }
    }

    fn pend(&mut self, id: u32, marks: Vec<Mark>) {
        self.blocks.get_mut(id).state = State::Pending;
        self.pending.insert(id, marks);
    }

    /// Puts a block that one stream may still use into that stream's free list, joined with its
    /// neighbours.
    #[inline]
    fn file_one(&mut self, id: u32, mark: Mark) {
        let (mut id, mut mark) = (id, mark);
        let &Block { before, after, .. } = self.blocks.get(id);
        if after != NONE
            && let Some(joined) = self.joined_mark(after, mark)
        {
            self.unlist(after);
            self.blocks.join(id, after);
            mark = joined;
        }
        if before != NONE
            && let Some(joined) = self.joined_mark(before, mark)
        {
            self.unlist(before);
            self.blocks.join(before, id);
            (id, mark) = (before, joined);
        }
        let block = self.blocks.get_mut(id);
        block.state = State::Free;
        block.stream = mark.stream;
        block.point = mark.point;
        self.list(id);
    }

    #[inline]
    fn list(&mut self, id: u32) {
        let &Block { stream, kind, .. } = self.blocks.get(id);
        self.streams.free_mut(stream, kind).insert(&mut self.blocks, id);
    }

    #[inline]
    pub(super) fn unlist(&mut self, id: u32) {
        let &Block { stream, kind, .. } = self.blocks.get(id);
        self.streams.free_mut(stream, kind).remove(&mut self.blocks, id);
    }

    /// Returns the owner of the block that a free neighbour and a block with `mark` would form
    /// together. Returns `None` if the neighbour is not free, or if the joined block would have to
    /// wait for two streams instead of one.
    #[inline]
    fn joined_mark(&self, neighbour: u32, mark: Mark) -> Option<Mark> {
        let block = self.blocks.get(neighbour);
        if block.state != State::Free {
            return None;
        }
        let theirs = Mark { stream: block.stream, point: block.point };
        if theirs.stream == mark.stream {
            Some(Mark { stream: mark.stream, point: mark.point.max(theirs.point) })
        } else if self.streams.is_reached(theirs) {
            Some(mark)
        } else if self.streams.is_reached(mark) {
            Some(theirs)
        } else {
            None
        }
    }

    /// Updates the reached points, and moves pending blocks accordingly.
    pub(super) fn poll(&mut self) -> Result<(), Diagnostic> {
        for slot in self.streams.slots() {
            self.streams.poll(&self.backing, slot)?;
        }
        if !self.pending.is_empty() {
            self.settle();
        }
        self.unmap_retired()
    }

    fn settle(&mut self) {
        let mut ids: Vec<u32> = self.pending.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            let settled = self.pending.get(&id).is_some_and(|marks| {
                marks.iter().filter(|mark| !self.streams.is_reached(**mark)).count() <= 1
            });
            if settled && let Some(marks) = self.pending.remove(&id) {
                self.file(id, marks);
            }
        }
    }

    /// Returns the marks of the streams that may still use a block that is not live.
    pub(super) fn marks(&self, id: u32) -> Vec<Mark> {
        match self.pending.get(&id) {
            Some(marks) => marks.clone(),
            None => {
                let block = self.blocks.get(id);
                vec![Mark { stream: block.stream, point: block.point }]
            }
        }
    }

    /// Removes a block that is not live from its list or map.
    pub(super) fn withdraw(&mut self, id: u32) -> Vec<Mark> {
        let marks = self.marks(id);
        if self.blocks.get(id).state == State::Free {
            self.unlist(id);
        } else {
            self.pending.remove(&id);
        }
        marks
    }

    /// Joins neighbours that are not live.
    pub(super) fn join_neighbours(&mut self, which: Joining) {
        let firsts: Vec<u32> = self.segments.iter().flatten().map(|segment| segment.first).collect();
        for first in firsts {
            let mut at = first;
            while at != NONE {
                let next = self.blocks.get(at).after;
                if next == NONE || !self.may_join(at, next, which) {
                    at = next;
                    continue;
                }
                let mut marks = self.withdraw(at);
                merge_marks(&mut marks, self.withdraw(next));
                self.blocks.join(at, next);
                self.refile(at, marks);
            }
        }
    }

    fn may_join(&self, front: u32, back: u32, which: Joining) -> bool {
        let (front, back) = (self.blocks.get(front), self.blocks.get(back));
        let mark = |block: &Block| Mark { stream: block.stream, point: block.point };
        let idle = |block: &Block| matches!(block.state, State::Free | State::Pending);
        match which {
            Joining::All => idle(front) && idle(back),
            Joining::Done => {
                front.state == State::Free
                    && back.state == State::Free
                    && (self.streams.is_reached(mark(front)) || self.streams.is_reached(mark(back)))
            }
        }
    }

    /// Does the same as [`Self::file`], but does not join neighbours.
    pub(super) fn refile(&mut self, id: u32, mut marks: Vec<Mark>) {
        marks.retain(|mark| !self.streams.is_reached(*mark));
        if marks.len() > 1 {
            return self.pend(id, marks);
        }
        let block = self.blocks.get_mut(id);
        let mark = marks.first().copied().unwrap_or(Mark { stream: block.stream, point: 0 });
        block.state = State::Free;
        block.stream = mark.stream;
        block.point = mark.point;
        self.list(id);
    }

    /// Returns the origins and sizes of live blocks.
    pub(super) fn live_blocks(&self) -> impl Iterator<Item = (&Origin, u64)> {
        let live = self.blocks.iter().filter(|(_, block)| block.state == State::Live);
        live.map(|(id, block)| (&self.origins[id as usize], block.bytes))
    }

    /// Returns the statistics, including those that are not counted incrementally.
    pub(super) fn statistics(&self) -> Statistics {
        let listed = self.streams.slots().map(|slot| self.streams.largest_free(slot, &self.blocks));
        let pending = self.pending.keys().map(|&id| self.blocks.get(id).bytes);
        let largest_free_block_bytes = listed.chain(pending).max().unwrap_or(0);
        Statistics { largest_free_block_bytes, ..self.statistics }
    }
}

#[cold]
fn not_live(allocation: &Allocation) -> Diagnostic {
    Diagnostic::invalid_argument(format!(
        "the memory at {:#x} does not belong to this allocator, or was released before",
        allocation.address
    ))
}
