//! Large copies of pageable memory that the device does not reach: piece by piece through one block of pinned memory.
//!
//! The stream itself takes turns: a host callback copies a piece between the program's memory and the block, and a copy
//! between the block and the device. So no more is pinned than one piece, no thread of the host's waits, and what is queued
//! behind comes behind all pieces. The program's memory is held until the stream has passed the last one.

#![expect(unsafe_code, reason = "host memory is handed to the device, held until the copy is done")]

use std::sync::Arc;

use tfrt_host::Diagnostic;

use super::host_hold::Hold;
use super::managed::Queueing;
use super::stream::Stream;
use super::transfer::{Extent, Staging, Transferred, copy_rows};
use crate::error::Result;
use crate::hal::Endpoint;

/// Copies of more bytes go in pieces of so many: pinning takes as long as copying does.
pub(super) const PIECE_BYTES: u64 = 16 << 20;

/// What a copy in pieces keeps.
struct Kept {
    staging: Staging,
    _hold: Arc<Hold>,
}

/// A part of the rows.
#[derive(Clone, Copy, Debug)]
struct Piece {
    row: u64,
    column: u64,
    extent: Extent,
}

/// Parts of at most so many bytes that make up the whole.
fn pieces(whole: Extent, most: u64) -> impl Iterator<Item = Piece> {
    let width = whole.width.clamp(1, most);
    let rows = (most / width).max(1);
    let starts = |end: u64, step: u64| (0..end.div_ceil(step)).map(move |number| number * step);
    starts(whole.height, rows).flat_map(move |row| {
        starts(whole.width, width).map(move |column| {
            let extent =
                Extent { width: width.min(whole.width - column), height: rows.min(whole.height - row) };
            Piece { row, column, extent }
        })
    })
}

impl Stream {
    /// Queues a copy of rows between device memory and pageable host memory, which lies in what `hold` holds: for reading if
    /// it is the source, else for writing.
    ///
    /// # Errors
    /// The device's.
    ///
    /// # Safety
    /// The rows lie in their memory on both sides.
    pub(super) unsafe fn copy_in_pieces(
        &self,
        dst: (Endpoint, u64),
        src: (Endpoint, u64),
        extent: Extent,
        hold: Arc<Hold>,
        queueing: Queueing<'_>,
    ) -> Result<Transferred, Diagnostic> {
        let staging = Staging::new(self.context(), PIECE_BYTES as usize)?;
        let kept = Arc::new(Kept { staging, _hold: hold });
        let mut all = pieces(extent, PIECE_BYTES);
        // SAFETY: each piece is a part of the rows.
        let queued = all.try_for_each(|piece| unsafe { self.queue_piece(dst, src, piece, &kept) });
        drop(queueing);
        if let Err(error) = queued {
            // The pieces that were queued use the memory.
            self.after(Some(Box::new(move || drop(kept))), None)?;
            return Err(error.into());
        }
        self.finish(Box::new(move || drop(kept)), false)
    }

    /// # Safety
    /// As for [`Stream::copy_in_pieces`]; the piece is a part of the rows.
    unsafe fn queue_piece(
        &self,
        (dst, dst_pitch): (Endpoint, u64),
        (src, src_pitch): (Endpoint, u64),
        Piece { row, column, extent }: Piece,
        kept: &Arc<Kept>,
    ) -> Result<()> {
        let at = |end: Endpoint, pitch: u64| match end {
            Endpoint::Device(address) => Endpoint::Device(address + row * pitch + column),
            // SAFETY: within the rows.
            Endpoint::Host(memory) => Endpoint::Host(unsafe { memory.add((row * pitch + column) as usize) }),
        };
        let (dst, src) = (at(dst, dst_pitch), at(src, src_pitch));
        let block = (Endpoint::Host(kept.staging.memory()), extent.width);
        let on_host = |memory: *mut u8, pitch: u64, to_block: bool| {
            let (memory, kept) = (memory.expose_provenance(), kept.clone());
            let callback = move || {
                let memory = std::ptr::with_exposed_provenance_mut::<u8>(memory);
                let (block, width) = (kept.staging.memory(), extent.width);
                // SAFETY: the stream has passed the piece before, and begins what uses the block next when this is done; the
                // program's memory is held by `kept`, and the block has room for a piece's rows side by side.
                unsafe {
                    if to_block {
                        copy_rows((block, width), (memory.cast_const(), pitch), extent);
                    } else {
                        copy_rows((memory, pitch), (block.cast_const(), width), extent);
                    }
                }
            };
            self.context().hal().host_callback(self.hal(), Box::new(callback))
        };
        // SAFETY (of both copies): the block is kept until the stream has passed the release, which comes behind all pieces.
        match (dst, src) {
            (_, Endpoint::Host(memory)) => {
                on_host(memory, src_pitch, true)?;
                // SAFETY: as above.
                unsafe { self.queue_rows(&extent.copy((dst, dst_pitch), block)) }
            }
            (Endpoint::Host(memory), _) => {
                // SAFETY: as above.
                unsafe { self.queue_rows(&extent.copy(block, (src, src_pitch)))? };
                on_host(memory, dst_pitch, false)
            }
            // SAFETY: neither end is on the host.
            _ => unsafe { self.queue_rows(&extent.copy((dst, dst_pitch), (src, src_pitch))) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_small_and_make_up_the_whole() {
        for (width, height, most) in [
            (1, 1, 4),
            (10, 1, 4),
            (10, 3, 4),
            (4, 5, 4),
            (3, 7, 10),
            (2, 1, 4),
            (5, 2, 100),
            (7, 0, 3),
            (0, 7, 3),
        ] {
            let mut seen = vec![0; (width * height) as usize];
            for Piece { row, column, extent } in pieces(Extent { width, height }, most) {
                assert!(extent.width * extent.height <= most, "{width} {height} {most}");
                for y in row..row + extent.height {
                    for x in column..column + extent.width {
                        seen[(y * width + x) as usize] += 1;
                    }
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{width} {height} {most}: {seen:?}");
        }
    }
}
