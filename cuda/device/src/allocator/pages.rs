//! Memory in pages: pages of free blocks become a new segment if no block fits but their pages
//! suffice.
//!
//! A device that can map any page at any address ([`Pages`](super::backing::Pages)) avoids most of
//! the cost of fragmentation. Whole pages are taken out of free blocks, wherever these are, and
//! mapped contiguously at new addresses. The place they leave is a *hole*, a block without memory.
//! Nothing is copied and no host thread waits. The old addresses stay mapped until the streams that
//! may still use them have passed. The stream that receives the new segment waits on the device for
//! the streams it would otherwise overtake. Addresses are not scarce, so a hole is never filled
//! again; it is released with its segment.

use tfrt_host::{Diagnostic, ErrorCode};

use super::backing::{Backing, Pages};
use super::blocks::{Kind, NONE, State};
use super::pool::{Pool, Segment};
use super::streams::Mark;
use super::timeline::EventKind;

/// The entry for a missing page of a segment.
const NO_PAGE: u64 = u64::MAX;

/// A page, and the streams that may still use it through an old address.
#[derive(Debug, Clone)]
pub(super) struct Page {
    handle: u64,
    marks: Vec<Mark>,
}

/// Addresses whose pages were taken, until they can be unmapped.
#[derive(Debug)]
struct Retired {
    segment: u32,
    address: u64,
    bytes: u64,
    marks: Vec<Mark>,
}

/// The pages that may become a segment, besides new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// Only pages in no segment.
    Fresh,
    /// Also pages that are available without a wait.
    Done,
    /// Also pages for which the stream must wait.
    All,
}

/// The pages of a pool that lie in no segment.
#[derive(Debug, Default)]
pub(super) struct LoosePages {
    /// Pages in no segment.
    spare: Vec<Page>,
    retired: Vec<Retired>,
    /// The segments that may consist only of a hole.
    hollow: Vec<u32>,
    /// Reserved ranges that could not be used: start and size in bytes.
    ranges: Vec<(u64, u64)>,
    /// The device's error when it had no more memory.
    pub(super) refusal: Option<Diagnostic>,
}

/// A free block that contains whole pages.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    id: u32,
    pages: u64,
    /// Whether its pages are available without a wait.
    done: bool,
}

/// Merges marks. Of each stream, the latest counts.
pub(super) fn merge_marks(into: &mut Vec<Mark>, marks: impl IntoIterator<Item = Mark>) {
    for mark in marks {
        match into.iter_mut().find(|known| known.stream == mark.stream) {
            Some(known) => known.point = known.point.max(mark.point),
            None => into.push(mark),
        }
    }
}

impl<B: Backing> Pool<B> {
    fn pages(&self) -> Result<&dyn Pages, Diagnostic> {
        self.backing.pages().ok_or_else(|| Diagnostic::internal("the device has no pages"))
    }

    /// Creates a segment for `bytes` bytes from free pages and at most `fresh_max` new ones. The
    /// stream waits for all streams that may still use the pages. Returns `None` if there are not
    /// enough.
    pub(super) fn stitch(
        &mut self,
        slot: u32,
        bytes: u64,
        take: Take,
        fresh_max: u64,
    ) -> Result<Option<u32>, Diagnostic> {
        let waits = take == Take::All;
        let Some(page_bytes) = self.page_bytes else { return Ok(None) };
        let wanted = bytes.div_ceil(page_bytes);
        let candidates = if take == Take::Fresh { Vec::new() } else { self.candidates(slot, waits) };
        let spare = self.usable_spares(slot, waits);
        let found = spare + candidates.iter().map(|candidate| candidate.pages).sum::<u64>();
        if found.saturating_add(fresh_max) < wanted {
            return Ok(None);
        }
        let address = match self.pages()?.reserve_range(wanted * page_bytes) {
            Ok(address) => address,
            Err(error) => return self.refuse(error),
        };
        let made = self.create_pages(wanted.saturating_sub(found));
        let pages = match made {
            Ok(true) => self.take_pages(slot, wanted, waits, &candidates),
            Ok(false) => return self.give_up_range(address, wanted * page_bytes, Ok(None)),
            Err(error) => return self.give_up_range(address, wanted * page_bytes, Err(error)),
        };
        let handles: Vec<u64> = pages.iter().map(|page| page.handle).collect();
        if let Err(error) = self.pages()?.map(address, &handles) {
            self.loose.spare.extend(pages);
            let outcome = self.refuse(error);
            return self.give_up_range(address, wanted * page_bytes, outcome);
        }
        let kind = Kind::of(bytes);
        let segment = Segment { address, bytes: wanted * page_bytes, first: NONE, pages: handles };
        let mut marks = Vec::new();
        merge_marks(&mut marks, pages.into_iter().flat_map(|page| page.marks));
        let first = self.insert_segment(segment, kind, slot, marks);
        self.wait_for_block(slot, first)?;
        Ok(Some(first))
    }

    /// Releases an unused range of addresses. If that fails it is retried later, because one error
    /// is enough to report.
    fn give_up_range<T>(
        &mut self,
        address: u64,
        bytes: u64,
        outcome: Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        self.loose.ranges.push((address, bytes));
        let released = self.release_ranges();
        outcome.and_then(|value| released.map(|()| value))
    }

    fn release_ranges(&mut self) -> Result<(), Diagnostic> {
        while let Some(&(address, bytes)) = self.loose.ranges.last() {
            self.pages()?.release_range(address, bytes)?;
            self.loose.ranges.pop();
        }
        Ok(())
    }

    /// Records that the device has no more memory, which is not an error yet.
    fn refuse<T>(&mut self, error: Diagnostic) -> Result<Option<T>, Diagnostic> {
        if error.code != ErrorCode::OutOfMemory {
            return Err(error);
        }
        self.loose.refusal = Some(error);
        Ok(None)
    }

    /// Returns free blocks with whole pages in the order in which to take them. Blocks without
    /// waits come before others, and small blocks, which serve few requests, before large ones.
    fn candidates(&self, slot: u32, waits: bool) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = self
            .blocks
            .iter()
            .filter(|(_, block)| matches!(block.state, State::Free | State::Pending))
            .filter_map(|(id, block)| {
                let range = self.whole_pages(block.segment, block.address, block.bytes)?;
                let done = self.marks(id).iter().all(|&mark| self.streams.is_before(mark, slot));
                Some(Candidate { id, pages: range.1, done })
            })
            .filter(|candidate| candidate.done || waits && self.can_wait_for(candidate.id))
            .collect();
        candidates.sort_unstable_by_key(|candidate| (!candidate.done, candidate.pages, candidate.id));
        candidates
    }

    /// Returns the address and number of the whole pages in a range of a segment, if there are any.
    fn whole_pages(&self, segment: u32, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let page_bytes = self.page_bytes?;
        let segment = self.segments[segment as usize].as_ref().filter(|segment| !segment.pages.is_empty())?;
        let offset = address - segment.address;
        let (first, end) = (offset.div_ceil(page_bytes), (offset + bytes) / page_bytes);
        (first < end).then(|| (segment.address + first * page_bytes, end - first))
    }

    fn is_usable(&self, page: &Page, slot: u32, waits: bool) -> bool {
        page.marks
            .iter()
            .all(|&mark| self.streams.is_before(mark, slot) || waits && self.streams.can_wait_for(mark))
    }

    fn usable_spares(&self, slot: u32, waits: bool) -> u64 {
        self.loose.spare.iter().filter(|page| self.is_usable(page, slot, waits)).count() as u64
    }

    /// Creates spare pages. Returns false if the device has no more.
    fn create_pages(&mut self, count: u64) -> Result<bool, Diagnostic> {
        let page_bytes = self.page_bytes.unwrap_or(0);
        if count == 0 {
            return Ok(true);
        }
        match self.pages()?.create_pages(count) {
            Ok(handles) => {
                let pages = handles.into_iter().map(|handle| Page { handle, marks: Vec::new() });
                self.loose.spare.extend(pages);
                self.statistics.reserved(count * page_bytes);
                self.statistics.num_device_allocs += 1;
                Ok(true)
            }
            Err(error) => self.refuse::<()>(error).map(|_| false),
        }
    }

    /// Takes pages, first spare ones, then those of the candidates. The caller has checked that
    /// there are enough.
    fn take_pages(&mut self, slot: u32, wanted: u64, waits: bool, candidates: &[Candidate]) -> Vec<Page> {
        let mut pages = Vec::with_capacity(wanted as usize);
        for page in std::mem::take(&mut self.loose.spare) {
            if (pages.len() as u64) < wanted && self.is_usable(&page, slot, waits) {
                pages.push(page);
            } else {
                self.loose.spare.push(page);
            }
        }
        for candidate in candidates {
            let missing = wanted - pages.len() as u64;
            if missing == 0 {
                break;
            }
            self.make_hole(candidate.id, missing, &mut pages);
        }
        pages
    }

    /// Takes up to `count` whole pages from the end of a block that is not live. The rest of it is
    /// unchanged.
    fn make_hole(&mut self, id: u32, count: u64, pages: &mut Vec<Page>) {
        let page_bytes = self.page_bytes.unwrap_or(1);
        let block = *self.blocks.get(id);
        let Some((start, whole)) = self.whole_pages(block.segment, block.address, block.bytes) else {
            return;
        };
        let count = count.min(whole);
        let (start, bytes) = (start + (whole - count) * page_bytes, count * page_bytes);
        let marks = self.withdraw(id);
        let mut hole = id;
        if start > block.address {
            hole = self.blocks.split(id, start - block.address);
            self.refile(id, marks.clone());
        }
        if start + bytes < block.address + block.bytes {
            let back = self.blocks.split(hole, bytes);
            self.refile(back, marks.clone());
        }
        self.blocks.get_mut(hole).state = State::Hole;
        if let Some(segment) = &mut self.segments[block.segment as usize] {
            let place = ((start - segment.address) / page_bytes) as usize;
            for handle in &mut segment.pages[place..place + count as usize] {
                pages.push(Page { handle: std::mem::replace(handle, NO_PAGE), marks: marks.clone() });
            }
        }
        self.join_holes(hole);
        self.record(EventKind::Released { address: start, bytes });
        self.loose.retired.push(Retired { segment: block.segment, address: start, bytes, marks });
    }

    fn join_holes(&mut self, mut hole: u32) {
        let is_hole = |pool: &Self, id: u32| id != NONE && pool.blocks.get(id).state == State::Hole;
        let after = self.blocks.get(hole).after;
        if is_hole(self, after) {
            self.blocks.join(hole, after);
        }
        let before = self.blocks.get(hole).before;
        if is_hole(self, before) {
            self.blocks.join(before, hole);
            hole = before;
        }
        debug_assert_eq!(self.blocks.get(hole).state, State::Hole);
    }

    /// Unmaps addresses that nobody uses any more, and releases the addresses of segments that
    /// consist of a hole.
    pub(super) fn unmap_retired(&mut self) -> Result<(), Diagnostic> {
        let mut next = 0;
        while next < self.loose.retired.len() {
            let Retired { segment, address, bytes, ref marks } = self.loose.retired[next];
            if !marks.iter().all(|&mark| self.streams.is_reached(mark)) {
                next += 1;
                continue;
            }
            self.pages()?.unmap(address, bytes)?;
            self.loose.retired.swap_remove(next);
            self.loose.hollow.push(segment);
        }
        while let Some(&segment) = self.loose.hollow.last() {
            self.drop_hollow_segment(segment)?;
            self.loose.hollow.pop();
        }
        self.release_ranges()
    }

    fn drop_hollow_segment(&mut self, number: u32) -> Result<(), Diagnostic> {
        let Some(segment) = &self.segments[number as usize] else { return Ok(()) };
        let (address, bytes, first) = (segment.address, segment.bytes, segment.first);
        let block = self.blocks.get(first);
        let is_hollow = block.is_whole_segment() && block.state == State::Hole;
        if !is_hollow || self.loose.retired.iter().any(|retired| retired.segment == number) {
            return Ok(());
        }
        self.pages()?.release_range(address, bytes)?;
        self.blocks.remove_segment(first);
        self.segments[number as usize] = None;
        self.statistics.num_segments -= 1;
        Ok(())
    }

    /// Returns unused free pages to the device until at most `target` bytes are reserved. Returns
    /// their size in bytes.
    pub(super) fn release_pages_down_to(&mut self, target: u64) -> Result<u64, Diagnostic> {
        let Some(page_bytes) = self.page_bytes else { return Ok(0) };
        let excess = self.statistics.bytes_reserved.saturating_sub(target).div_ceil(page_bytes);
        let mut pages = Vec::new();
        for (id, reached) in self.reached_blocks() {
            let missing = excess.saturating_sub((pages.len() + self.loose.spare.len()) as u64);
            if missing > 0 && reached {
                self.make_hole(id, missing, &mut pages);
            }
        }
        self.loose.spare.append(&mut pages);
        self.unmap_retired()?;
        let mut released = 0;
        let mut next = 0;
        while self.statistics.bytes_reserved > target && next < self.loose.spare.len() {
            let Page { handle, ref marks } = self.loose.spare[next];
            if !marks.iter().all(|&mark| self.streams.is_reached(mark)) {
                next += 1;
                continue;
            }
            self.pages()?.destroy_page(handle)?;
            self.loose.spare.swap_remove(next);
            self.statistics.released(page_bytes);
            released += page_bytes;
        }
        Ok(released)
    }

    /// Returns the free blocks, and whether all streams are done with them.
    fn reached_blocks(&self) -> Vec<(u32, bool)> {
        let free = self.blocks.iter().filter(|(_, block)| block.state == State::Free);
        free.map(|(id, block)| {
            (id, self.streams.is_reached(Mark { stream: block.stream, point: block.point }))
        })
        .collect()
    }

    /// Returns the size of the pages in no segment, in bytes.
    #[cfg(test)]
    pub(super) fn spare_bytes(&self) -> u64 {
        self.loose.spare.len() as u64 * self.page_bytes.unwrap_or(0)
    }

    /// Releases all pages and addresses of a pool that ends, after all streams are done. Ranges
    /// that cannot be unmapped are kept.
    pub(super) fn tear_down_pages(&mut self, segments: &[Option<Segment>]) -> Result<(), Diagnostic> {
        let Some(page_bytes) = self.page_bytes else { return Ok(()) };
        let mut result = Ok(());
        let mut stuck = Vec::new();
        for Retired { segment, address, bytes, .. } in std::mem::take(&mut self.loose.retired) {
            let unmapped = self.pages()?.unmap(address, bytes);
            if unmapped.is_err() {
                stuck.push(segment);
            }
            result = result.and(unmapped);
        }
        for (number, segment) in (0..).zip(segments) {
            let Some(Segment { address, bytes, pages, .. }) = segment else { continue };
            let mut given_back = Ok(());
            for (place, &handle) in (0..).zip(pages).filter(|(_, handle)| **handle != NO_PAGE) {
                given_back = given_back.and(self.pages()?.unmap(address + place * page_bytes, page_bytes));
                result = result.and(self.pages()?.destroy_page(handle));
            }
            if given_back.is_ok() && !stuck.contains(&number) {
                given_back = self.pages()?.release_range(*address, *bytes);
            }
            result = result.and(given_back);
        }
        for Page { handle, .. } in std::mem::take(&mut self.loose.spare) {
            result = result.and(self.pages()?.destroy_page(handle));
        }
        result.and(self.release_ranges())
    }
}
