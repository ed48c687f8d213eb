//! Which bytes are in a buffer: those of allocators, and raw memory that no allocator cuts up.

use std::collections::BTreeMap;

use crate::origin::Origin;

/// A range somebody was given.
#[derive(Debug, Clone)]
pub(super) struct Buffer {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) granted: Origin,
    /// When: see `Operation::sequence`.
    pub(super) granted_at: u64,
    /// Where and when it was given back, if it was.
    pub(super) released: Option<(Origin, u64)>,
}

/// Memory as the device gave it.
#[derive(Debug)]
struct Raw {
    bytes: u64,
    origin: Origin,
    /// Whether an allocator hands out parts of it.
    is_segment: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Memory {
    raw: BTreeMap<u64, Raw>,
    /// Live ones, and those given back whose bytes nobody else was given yet.
    buffers: BTreeMap<u64, Buffer>,
}

/// What a range is to an operation that was queued at some time.
#[derive(Debug)]
pub(super) enum Place {
    /// In a buffer, or in memory we do not know.
    Fine,
    /// In a buffer that had been given back.
    Freed(Buffer),
    /// Partly or wholly outside of the buffer next to it, if there is one.
    Outside(Option<Buffer>),
}

impl Memory {
    pub(super) fn allocated(&mut self, address: u64, bytes: u64, origin: Origin) {
        self.raw.insert(address, Raw { bytes, origin, is_segment: false });
    }

    /// How many bytes are gone.
    pub(super) fn freed(&mut self, address: u64) -> u64 {
        let Some(raw) = self.raw.remove(&address) else { return 0 };
        let inside: Vec<u64> = self.buffers.range(address..address + raw.bytes).map(|(&a, _)| a).collect();
        inside.iter().for_each(|address| drop(self.buffers.remove(address)));
        raw.bytes
    }

    pub(super) fn granted(&mut self, buffer: Buffer) {
        let end = buffer.address + buffer.bytes.max(1);
        if let Some((_, raw)) = self.raw.range_mut(..=buffer.address).next_back() {
            raw.is_segment = true;
        }
        let before = self.buffers.range(..buffer.address).next_back();
        let overlapped =
            before.filter(|(_, b)| b.address + b.bytes > buffer.address).map(|(&address, _)| address);
        let inside = self.buffers.range(buffer.address..end).map(|(&address, _)| address);
        let gone: Vec<u64> = overlapped.into_iter().chain(inside).collect();
        gone.iter().for_each(|address| drop(self.buffers.remove(address)));
        self.buffers.insert(buffer.address, buffer);
    }

    pub(super) fn released(&mut self, address: u64, origin: Origin, at: u64) {
        if let Some(buffer) = self.buffers.get_mut(&address) {
            buffer.released.get_or_insert((origin, at));
        }
    }

    /// Buffers that are alive.
    pub(super) fn live(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.values().filter(|buffer| buffer.released.is_none())
    }

    /// Raw memory that is alive and not an allocator's.
    pub(super) fn live_raw(&self) -> impl Iterator<Item = (u64, &Origin)> {
        self.raw.values().filter(|raw| !raw.is_segment).map(|raw| (raw.bytes, &raw.origin))
    }

    /// Whether the address is in memory that the device gave. Else it is a module's variable.
    pub(super) fn knows(&self, address: u64) -> bool {
        let raw = self.raw.range(..=address).next_back();
        raw.is_some_and(|(start, raw)| address < *start + raw.bytes)
    }

    /// What the bytes are to an operation queued `at`.
    pub(super) fn place(&self, address: u64, bytes: u64, at: u64) -> Place {
        let end = address.saturating_add(bytes);
        let raw = self.raw.range(..=address).next_back().filter(|(start, raw)| address < *start + raw.bytes);
        let Some((&start, raw)) = raw else { return Place::Fine };
        if !raw.is_segment {
            return if end <= start + raw.bytes { Place::Fine } else { Place::Outside(None) };
        }
        let Some((_, buffer)) = self.buffers.range(..=address).next_back() else {
            return Place::Outside(None);
        };
        let within = end <= buffer.address + buffer.bytes;
        let touches = address < buffer.address + buffer.bytes;
        match &buffer.released {
            Some((_, released)) if touches && *released <= at => Place::Freed(buffer.clone()),
            // If it was given to somebody else after the operation was queued, it was fine then for all we know.
            _ if within || buffer.granted_at > at => Place::Fine,
            _ => Place::Outside(Some(buffer.clone())),
        }
    }
}
