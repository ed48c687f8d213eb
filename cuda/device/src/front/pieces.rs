//! Large copies of pageable memory that the device cannot access: piece by piece through one block
//! of pinned memory.
//!
//! The stream alternates between two steps. A host callback copies a piece between the program's
//! memory and the block, and a copy moves it between the block and the device. So no more than one
//! piece is pinned, no host thread waits, and later work comes after all pieces. The program's
//! memory is held until the stream has passed the last piece.

#![expect(unsafe_code, reason = "host memory is handed to the device, held until the copy is done")]

use std::sync::Arc;

use tfrt_host::Diagnostic;

use super::host_hold::Hold;
use super::managed::Queueing;
use super::stream::Stream;
use super::transfer::{Extent, Staging, Transferred, copy_rows};
use crate::error::Result;
use crate::hal::Endpoint;

/// Larger copies are split into pieces of this size in bytes, because pinning takes as long as
/// copying.
pub(super) const PIECE_BYTES: u64 = 16 << 20;

/// The resources of a copy in pieces.
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

/// Splits a copy into parts of at most `most` bytes.
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
    /// Queues a copy of rows between device memory and pageable host memory. `hold` holds the host
    /// memory: for reading if it is the source, else for writing.
    ///
    /// # Errors
    /// Any error of the device.
    ///
    /// # Safety
    /// The rows lie within their memory on both sides.
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
            self.release_after(Some(Box::new(move || drop(kept))), None)?;
            return Err(error.into());
        }
        self.finish(Box::new(move || drop(kept)), false)
    }

    /// Queues one piece.
    ///
    /// # Safety
    /// The requirements of [`Stream::copy_in_pieces`] hold, and the piece is a part of the rows.
    unsafe fn queue_piece(
        &self,
        (dst, dst_pitch): (Endpoint, u64),
        (src, src_pitch): (Endpoint, u64),
        Piece { row, column, extent }: Piece,
        kept: &Arc<Kept>,
    ) -> Result<()> {
        let at = |end: Endpoint, pitch: u64| match end {
            Endpoint::Device(address) => Endpoint::Device(address + row * pitch + column),
            // SAFETY: the piece is within the rows, as this function requires.
            Endpoint::Host(memory) => Endpoint::Host(unsafe { memory.add((row * pitch + column) as usize) }),
        };
        let (dst, src) = (at(dst, dst_pitch), at(src, src_pitch));
        let block = (Endpoint::Host(kept.staging.memory()), extent.width);
        let on_host = |memory: *mut u8, pitch: u64, to_block: bool| {
            let (memory, kept) = (memory.expose_provenance(), kept.clone());
            let callback = move || {
                let memory = std::ptr::with_exposed_provenance_mut::<u8>(memory);
                let (block, width) = (kept.staging.memory(), extent.width);
                // SAFETY: the stream has passed the previous piece, and starts the next user of the
                // block only after this callback. `kept` holds the program's memory, and the block
                // has room for the piece's rows without gaps.
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
        // SAFETY (of both copies): the block is kept until the stream has passed the release, which
        // comes after all pieces.
        match (dst, src) {
            (_, Endpoint::Host(memory)) => {
                on_host(memory, src_pitch, true)?;
                // SAFETY: see the comment at the start of this `match`: the block outlives the
                // copy.
                unsafe { self.queue_rows(&extent.copy((dst, dst_pitch), block)) }
            }
            (Endpoint::Host(memory), _) => {
                // SAFETY: see the comment at the start of this `match`: the block outlives the
                // copy.
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
