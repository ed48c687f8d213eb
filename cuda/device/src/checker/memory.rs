//! The buffers that contain each byte: those of allocators, and raw memory that no allocator
//! splits.

use std::collections::BTreeMap;

use super::report::Mistake;
use crate::observer::Access;
use crate::origin::Origin;

/// A range that was granted to somebody.
#[derive(Debug, Clone)]
pub(super) struct Buffer {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) granted: Origin,
    /// The time of the grant; see `Operation::sequence`.
    pub(super) granted_at: u64,
    /// The origin and the time of the release, if it was released.
    pub(super) released: Option<(Origin, u64)>,
}

/// Memory as the device allocated it.
#[derive(Debug)]
struct Raw {
    bytes: u64,
    origin: Origin,
    /// Whether an allocator hands out parts of it.
    is_segment: bool,
}

/// The buffers and the raw memory; see the module documentation.
#[derive(Debug, Default)]
pub(super) struct Memory {
    raw: BTreeMap<u64, Raw>,
    /// The live buffers, and released ones whose bytes were not granted again.
    buffers: BTreeMap<u64, Buffer>,
}

/// A mistake, its message, and the other call involved, with the word for what that call did.
pub(super) type Found = (Mistake, String, Option<(&'static str, Origin)>);

/// The place of a range, from the view of an operation that was queued at some time.
#[derive(Debug)]
pub(super) enum Place {
    /// In a buffer, or in unknown memory.
    Fine,
    /// In a buffer that was released before.
    Freed(Buffer),
    /// Partly or wholly outside of the nearest buffer, if there is one.
    Outside(Option<Buffer>),
}

impl Place {
    /// Returns the mistake of an operation that accesses such a range: its message, and the other
    /// call involved.
    pub(super) fn mistake(self, operation: &str, access: &Access) -> Option<Found> {
        let &Access { address, bytes, .. } = access;
        Some(match self {
            Place::Fine => return None,
            Place::Freed(buffer) => (
                Mistake::UseAfterFree,
                format!("{operation} uses a buffer that was released"),
                buffer.released.map(|(origin, _)| ("released", origin)),
            ),
            Place::Outside(Some(buffer)) => {
                let (at, size) = (address - buffer.address, buffer.bytes);
                let message =
                    format!("{operation} accesses {bytes} bytes from byte {at} of a buffer of {size} bytes");
                (Mistake::OutOfBounds, message, Some(("allocated", buffer.granted)))
            }
            Place::Outside(None) => {
                let message =
                    format!("{operation} accesses {bytes} bytes at {address:#x}, where there is no buffer");
                (Mistake::OutOfBounds, message, None)
            }
        })
    }
}

impl Memory {
    pub(super) fn allocated(&mut self, address: u64, bytes: u64, origin: Origin) {
        self.raw.insert(address, Raw { bytes, origin, is_segment: false });
    }

    /// Returns the size of the raw memory that begins there, or 0 if none does.
    pub(super) fn size_of_raw(&self, address: u64) -> u64 {
        self.raw.get(&address).map_or(0, |raw| raw.bytes)
    }

    /// Forgets raw memory and the buffers in it.
    pub(super) fn freed(&mut self, address: u64) {
        let Some(raw) = self.raw.remove(&address) else { return };
        let inside: Vec<u64> = self.buffers.range(address..address + raw.bytes).map(|(&a, _)| a).collect();
        inside.iter().for_each(|address| drop(self.buffers.remove(address)));
    }

    /// Returns the buffer that contains an address, or contained it last.
    pub(super) fn holder(&self, address: u64) -> Option<&Buffer> {
        let (_, buffer) = self.buffers.range(..=address).next_back()?;
        (address < buffer.address + buffer.bytes).then_some(buffer)
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

    /// Returns the live buffers.
    pub(super) fn live(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.values().filter(|buffer| buffer.released.is_none())
    }

    /// Returns live raw memory that does not belong to an allocator.
    pub(super) fn live_raw(&self) -> impl Iterator<Item = (u64, &Origin)> {
        self.raw.values().filter(|raw| !raw.is_segment).map(|raw| (raw.bytes, &raw.origin))
    }

    /// Returns whether the device allocated the memory at this address. If not, it is a variable of
    /// a module.
    pub(super) fn knows(&self, address: u64) -> bool {
        let raw = self.raw.range(..=address).next_back();
        raw.is_some_and(|(start, raw)| address < *start + raw.bytes)
    }

    /// Splits an access at the boundaries of buffers.
    pub(super) fn pieces(&self, access: &Access) -> Vec<Access> {
        let end = access.address.saturating_add(access.bytes);
        let before = self.buffers.range(..=access.address).next_back();
        let buffers =
            before.into_iter().chain(self.buffers.range(access.address.saturating_add(1)..end.max(1)));
        let mut pieces = Vec::new();
        let mut start = access.address;
        for cut in buffers.flat_map(|(_, buffer)| [buffer.address, buffer.address + buffer.bytes]) {
            if start < cut && cut < end {
                pieces.push(Access { address: start, bytes: cut - start, ..*access });
                start = cut;
            }
        }
        pieces.push(Access { address: start, bytes: end - start, ..*access });
        pieces
    }

    /// Returns the place of the bytes for an operation queued `at`.
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
            // It may have been granted to another owner after the operation was queued; then it is
            // assumed valid.
            _ if within || buffer.granted_at > at => Place::Fine,
            _ => Place::Outside(Some(buffer.clone())),
        }
    }
}
