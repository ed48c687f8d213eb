//! The bytes of global memory that a launch reads and writes, for callers that order launches.
//!
//! Each worker records, in pages with one bit for each byte, which bytes it reads before it writes
//! them and which bytes it writes. If one worker reads a byte and another writes it, the byte may
//! have been handed over within the launch, so it counts as written only.

use std::collections::{BTreeMap, HashMap};

use super::AccessKind;
use super::handover::{Handover, Handovers};

/// The size of a page in bytes, as a power of two.
const PAGE_SHIFT: u32 = 12;
const WORDS: usize = 1 << (PAGE_SHIFT - 6);

/// A range of global memory that a launch touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The address of the first byte.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// What the launch did with them.
    pub kind: TouchKind,
}

/// What a launch did with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchKind {
    /// It read the previous contents.
    Read,
    /// It wrote them, and perhaps read them as well.
    Written,
    /// All its accesses were atomic operations, or stores that threads synchronize by, such as
    /// volatile ones.
    Atomic,
    /// It read them by loads that threads synchronize by, and did nothing else.
    Polled,
}

/// One bit for each byte of a page.
#[derive(Clone, Debug)]
struct Page {
    read: [u64; WORDS],
    written: [u64; WORDS],
    /// The bytes that were accessed other than by operations that threads synchronize by.
    plain: [u64; WORDS],
}

impl Page {
    const UNTOUCHED: Page = Page { read: [0; WORDS], written: [0; WORDS], plain: [0; WORDS] };
}

/// The size of a granule in bytes, as a power of two. The first access is recorded for each
/// granule.
const GRANULE_SHIFT: u32 = 2;
const GRANULES: usize = 1 << (PAGE_SHIFT - GRANULE_SHIFT);

/// The first accesses of the granules of a page: the instant, counted from 1, and the thread within
/// the block.
#[derive(Clone, Debug)]
struct First {
    instants: [u32; GRANULES],
    threads: [u16; GRANULES],
}

impl First {
    const NOBODY: First = First { instants: [0; GRANULES], threads: [0; GRANULES] };

    fn note(&mut self, address: u64, (instant, thread): (u32, u16)) {
        let granule = (address >> GRANULE_SHIFT) as usize % GRANULES;
        if self.instants[granule] == 0 {
            self.instants[granule] = instant;
            self.threads[granule] = thread;
        }
    }
}

/// A worker's record of a page.
#[derive(Clone, Debug)]
struct Touches {
    page: Page,
    /// The first reads of previous contents, and the first writes.
    first: [First; 2],
}

/// An instruction, by its position in the program, and the block that ran it.
type Instant = (u32, u64);

/// The bytes that one worker accesses.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    pages: HashMap<u64, Box<Touches>>,
    /// The instants of first accesses, in the order in which they ran.
    instants: Vec<Instant>,
    /// What the worker hands over to other launches, if instructions of the kernel can.
    handovers: Option<Handovers>,
}

/// The thread and instruction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accessor {
    /// The instruction, by its position in the program.
    pub(crate) pc: u32,
    /// The block within the grid, as a number.
    pub(crate) block: u64,
    /// The thread within the block.
    pub(crate) thread: u32,
}

impl Footprint {
    /// Makes the footprint of a worker, whose kernel may synchronize with other launches or not.
    pub(crate) fn new(synchronizes: bool) -> Footprint {
        Footprint { handovers: synchronizes.then(Handovers::default), ..Footprint::default() }
    }

    /// Records a fence.
    pub(crate) fn fence(&mut self) {
        if let Some(handovers) = &mut self.handovers {
            handovers.fence();
        }
    }

    /// Records an access, by which threads may synchronize if it is strong.
    pub(crate) fn access(
        &mut self,
        (kind, is_strong): (AccessKind, bool),
        address: u64,
        bytes: u32,
        accessor: Accessor,
    ) {
        self.hand_over((kind, is_strong), address, bytes);
        let instant = (accessor.pc, accessor.block);
        if self.instants.last() != Some(&instant) && self.instants.len() < u32::MAX as usize {
            self.instants.push(instant);
        }
        // A block has at most 1024 threads.
        let who = (self.instants.len() as u32, accessor.thread as u16);
        for address in address..address.saturating_add(u64::from(bytes)) {
            let touches = self
                .pages
                .entry(address >> PAGE_SHIFT)
                .or_insert_with(|| Box::new(Touches { page: Page::UNTOUCHED, first: [First::NOBODY; 2] }));
            let Touches { page, first: [reader, writer] } = &mut **touches;
            let (word, bit) = ((address >> 6) as usize % WORDS, 1u64 << (address % 64));
            if !is_strong {
                page.plain[word] |= bit;
            }
            if kind != AccessKind::Write && page.written[word] & bit == 0 {
                page.read[word] |= bit;
                reader.note(address, who);
            }
            if kind != AccessKind::Read {
                page.written[word] |= bit;
                writer.note(address, who);
            }
        }
    }

    fn hand_over(&mut self, (kind, is_strong): (AccessKind, bool), address: u64, bytes: u32) {
        let Some(handovers) = &mut self.handovers else { return };
        if is_strong {
            if kind != AccessKind::Read {
                handovers.tell(address);
            }
            if kind != AccessKind::Write {
                handovers.hear(address);
            }
            return;
        }
        for address in address..address.saturating_add(u64::from(bytes)) {
            handovers.access(address >> 6, 1 << (address % 64));
        }
    }

    /// Returns the first access in which this worker wrote the byte, or read its contents from
    /// before the launch. The access may be to one of the other three bytes of the granule.
    pub(crate) fn first(&self, address: u64, written: bool) -> Option<Accessor> {
        let first = &self.pages.get(&(address >> PAGE_SHIFT))?.first[usize::from(written)];
        let granule = (address >> GRANULE_SHIFT) as usize % GRANULES;
        let instant = (first.instants[granule] as usize).checked_sub(1)?;
        let &(pc, block) = self.instants.get(instant)?;
        Some(Accessor { pc, block, thread: first.threads[granule].into() })
    }
}

/// Merges the footprints of all workers of a launch. Returns the ranges that are read, then those
/// that are written, those accessed only by operations that threads synchronize by, and those only
/// read by such, each sorted by address.
pub(crate) fn merge(footprints: &[Footprint]) -> Vec<Touched> {
    let mut pages: BTreeMap<u64, Page> = BTreeMap::new();
    for footprint in footprints {
        for (&number, touches) in &footprint.pages {
            let page = &touches.page;
            let sum = pages.entry(number).or_insert(Page::UNTOUCHED);
            for word in 0..WORDS {
                // Bytes that one side wrote without reading them and the other read were handed
                // over.
                let (here, there) =
                    (page.written[word] & !page.read[word], sum.written[word] & !sum.read[word]);
                sum.read[word] = sum.read[word] & !here | page.read[word] & !there;
                sum.written[word] |= page.written[word];
                sum.plain[word] |= page.plain[word];
            }
        }
    }
    let mut touched = ranges(&pages, |page, word| page.read[word] & page.plain[word], TouchKind::Read);
    touched.extend(ranges(&pages, |page, word| page.written[word] & page.plain[word], TouchKind::Written));
    touched.extend(ranges(&pages, |page, word| page.written[word] & !page.plain[word], TouchKind::Atomic));
    let polled = |page: &Page, word: usize| page.read[word] & !page.written[word] & !page.plain[word];
    touched.extend(ranges(&pages, polled, TouchKind::Polled));
    touched
}

/// Returns what a launch hands over to others; `None` if it synchronizes with nobody.
pub(crate) fn handover(footprints: &[Footprint]) -> Option<Handover> {
    Handovers::merge(footprints.iter().filter_map(|footprint| footprint.handovers.as_ref()))
}

fn ranges(pages: &BTreeMap<u64, Page>, bits: impl Fn(&Page, usize) -> u64, kind: TouchKind) -> Vec<Touched> {
    let mut ranges: Vec<Touched> = Vec::new();
    for (&number, page) in pages {
        for (word, bits) in (0..WORDS).map(|word| (word, bits(page, word))) {
            let base = (number << PAGE_SHIFT) + 64 * word as u64;
            let mut rest = bits;
            while rest != 0 {
                let start = rest.trailing_zeros();
                let length = (rest >> start).trailing_ones();
                let address = base + u64::from(start);
                match ranges.last_mut() {
                    Some(last) if last.address + last.bytes == address => last.bytes += u64::from(length),
                    _ => ranges.push(Touched { address, bytes: length.into(), kind }),
                }
                rest &= !((u64::MAX >> (64 - length)) << start);
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessKind::{Atomic, Read, Write};
    use TouchKind::{Atomic as Atomically, Read as IsRead, Written};

    fn footprint(accesses: &[(AccessKind, u64, u32)]) -> Footprint {
        let mut footprint = Footprint::default();
        for (&(kind, address, bytes), pc) in accesses.iter().zip(0..) {
            let is_strong = kind == Atomic;
            footprint.access((kind, is_strong), address, bytes, Accessor { pc, block: 7, thread: 3 * pc });
        }
        footprint
    }

    fn touched(workers: &[&[(AccessKind, u64, u32)]]) -> Vec<(u64, u64, TouchKind)> {
        let footprints: Vec<_> = workers.iter().map(|accesses| footprint(accesses)).collect();
        merge(&footprints).iter().map(|t| (t.address, t.bytes, t.kind)).collect()
    }

    #[test]
    fn the_first_to_touch_a_byte_is_known() {
        let footprint = footprint(&[(Write, 64, 16), (Read, 64, 32), (Read, 4094, 4), (Write, 72, 16)]);
        let who = |address, written| footprint.first(address, written).map(|a| (a.pc, a.block, a.thread));
        assert_eq!(
            [64, 76, 80, 92].map(|address| who(address, true).map(|w| w.0)),
            [Some(0), Some(0), Some(3), None]
        );
        assert_eq!([64, 80, 92].map(|address| who(address, false)), [None, Some((1, 7, 3)), Some((1, 7, 3))]);
        assert_eq!(
            [4093, 4095, 4097, 4100].map(|a| who(a, false).map(|w| w.2)),
            [Some(6), Some(6), Some(6), None]
        );
    }

    #[test]
    fn neighbours_join_over_words_and_pages() {
        assert_eq!(
            touched(&[&[(Read, 4090, 4), (Read, 4094, 8), (Write, 8000, 200)]]),
            [(4090, 12, IsRead), (8000, 200, Written)]
        );
        assert_eq!(touched(&[&[(Write, 128, 64)], &[(Write, 192, 64)]]), [(128, 128, Written)]);
    }

    #[test]
    fn reads_after_own_writes_are_not_reads_of_old_contents() {
        assert_eq!(touched(&[&[(Write, 64, 4), (Read, 64, 8)]]), [(68, 4, IsRead), (64, 4, Written)]);
        assert_eq!(touched(&[&[(Read, 64, 4), (Write, 64, 4)]]), [(64, 4, IsRead), (64, 4, Written)]);
        assert_eq!(
            touched(&[&[(Atomic, 64, 4), (Read, 66, 1)]]),
            [(66, 1, IsRead), (66, 1, Written), (64, 2, Atomically), (67, 1, Atomically)]
        );
    }

    #[test]
    fn bytes_handed_over_between_workers_count_as_written() {
        let (producer, consumer): (&[_], &[_]) = (&[(Write, 64, 4)], &[(Read, 64, 4)]);
        assert_eq!(touched(&[producer, consumer]), [(64, 4, Written)]);
        assert_eq!(touched(&[consumer, producer]), [(64, 4, Written)]);
        assert_eq!(touched(&[&[(Atomic, 64, 4)], &[(Atomic, 64, 4)]]), [(64, 4, Atomically)]);
        assert_eq!(touched(&[&[(Read, 64, 4)], &[(Read, 64, 4)]]), [(64, 4, IsRead)]);
    }
}
