//! Large copies of pageable memory that the device cannot access: piece by piece through two blocks
//! of pinned memory.
//!
//! Each stream has a second one beside it, on which host callbacks copy pieces between the
//! program's memory and the blocks, while the stream itself copies the piece before between its
//! block and the device. Events order the two, in both directions: the second stream starts when
//! the stream reaches the copy, and the stream's later work comes after all pieces. So no more than
//! two pieces are pinned, no host thread waits, and both copies go on at once. The program's memory
//! is held until the stream has passed the last piece.

#![expect(unsafe_code, reason = "host memory is handed to the device, held until the copy is done")]

use std::sync::Arc;

use tfrt_host::Diagnostic;

use super::context::Context;
use super::host_hold::Hold;
use super::managed::Queueing;
use super::stream::Stream;
use super::transfer::{Extent, Staging, Transferred, copy_rows};
use crate::error::Result;
use crate::hal::{Endpoint, Erased, EventOptions, ReleasedOnDrop, StreamOptions};

/// Larger copies are split into pieces, because pinning takes as long as copying.
pub(super) const MAX_WHOLE_BYTES: u64 = 16 << 20;
/// The size of a piece, in bytes. Nothing overlaps with the first and the last one, and each costs
/// a callback.
const PIECE_BYTES: u64 = 4 << 20;

/// The resources of a copy in pieces.
struct Kept {
    blocks: [Staging; 2],
    _hold: Arc<Hold>,
}

/// The second stream of a stream, with the events that order the two.
pub(super) struct Side {
    stream: ReleasedOnDrop<Erased>,
    /// The stream has reached the copy.
    start: ReleasedOnDrop<Erased>,
    /// The stream is done with a block, and the second stream is.
    done: [[ReleasedOnDrop<Erased>; 2]; 2],
}

/// A place in [`Side::done`].
const STREAM: usize = 0;
const SIDE: usize = 1;

impl Side {
    fn new(context: &Context) -> Result<Self> {
        let event = || -> Result<_> {
            let options = EventOptions { internal: true, ..EventOptions::default() };
            Ok(context.owned(context.hal().create_event(options)?))
        };
        Ok(Self {
            stream: context.owned(context.hal().create_stream(StreamOptions::default())?),
            start: event()?,
            done: [[event()?, event()?], [event()?, event()?]],
        })
    }
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
        let block = || Staging::new(self.context(), PIECE_BYTES as usize);
        let kept = Arc::new(Kept { blocks: [block()?, block()?], _hold: hold });
        let ends = Ends { dst, src, kept: Arc::clone(&kept) };
        // SAFETY: the rows lie within their memory, as this function requires.
        let queued = unsafe { self.queue_pieces(&ends, extent) };
        drop((queueing, ends));
        if let Err(error) = queued {
            // The pieces that were queued use the memory. Callbacks keep it themselves.
            self.release_after(Some(Box::new(move || drop(kept))), None)?;
            return Err(error.into());
        }
        self.finish(Box::new(move || drop(kept)), false)
    }

    /// Queues all pieces, and lets the stream wait for the second one.
    ///
    /// # Safety
    /// The requirements of [`Stream::copy_in_pieces`] hold.
    unsafe fn queue_pieces(&self, ends: &Ends, extent: Extent) -> Result<()> {
        let hal = self.context().hal();
        // Locked, so that the pieces of two copies are not mixed.
        let mut side = self.side();
        let side = match &mut *side {
            Some(side) => side,
            none => none.insert(Side::new(self.context())?),
        };
        hal.record_event(&side.start, self.hal())?;
        hal.wait_event(&side.stream, &side.start)?;
        let mut count = 0;
        for (number, piece) in pieces(extent, PIECE_BYTES).enumerate() {
            // SAFETY: the piece is a part of the rows.
            unsafe { self.queue_piece(side, ends, piece, number)? };
            count = number + 1;
        }
        // What was copied to the host comes after the last callbacks.
        (0..count.min(2)).try_for_each(|block| hal.wait_event(self.hal(), &side.done[SIDE][block]))
    }

    /// Queues one piece.
    ///
    /// # Safety
    /// The requirements of [`Stream::copy_in_pieces`] hold, and the piece is a part of the rows.
    unsafe fn queue_piece(&self, side: &Side, ends: &Ends, piece: Piece, number: usize) -> Result<()> {
        let (hal, block) = (self.context().hal(), number % 2);
        let (dst, src) = (
            // SAFETY: the piece is within the rows, as this function requires.
            unsafe { piece.at(ends.dst) },
            // SAFETY: the piece is within the rows of the source, too.
            unsafe { piece.at(ends.src) },
        );
        let (width, is_reused) = (piece.extent.width, number >= 2);
        let memory = (Endpoint::Host(ends.kept.blocks[block].memory()), width);
        let [by_stream, by_side] = [&side.done[STREAM][block], &side.done[SIDE][block]];
        if matches!(src.0, Endpoint::Host(_)) {
            if is_reused {
                hal.wait_event(&side.stream, by_stream)?;
            }
            hal.host_callback(&side.stream, ends.callback(src, piece.extent, block, true))?;
            hal.record_event(by_side, &side.stream)?;
            hal.wait_event(self.hal(), by_side)?;
            // SAFETY: the block is kept until the stream has passed the release, which comes after
            // all pieces, and it has room for the rows of a piece without gaps.
            unsafe { self.queue_rows(&piece.extent.copy(dst, memory))? };
            return hal.record_event(by_stream, self.hal());
        }
        if is_reused {
            hal.wait_event(self.hal(), by_side)?;
        }
        // SAFETY: the block is kept until the stream has passed the release, which comes after all
        // pieces, and it has room for the rows of a piece without gaps.
        unsafe { self.queue_rows(&piece.extent.copy(memory, src))? };
        hal.record_event(by_stream, self.hal())?;
        hal.wait_event(&side.stream, by_stream)?;
        hal.host_callback(&side.stream, ends.callback(dst, piece.extent, block, false))?;
        hal.record_event(by_side, &side.stream)
    }
}

impl Piece {
    /// Returns the place of the piece in rows at an end.
    ///
    /// # Safety
    /// The piece is a part of the rows, which lie within their memory.
    unsafe fn at(&self, (end, pitch): (Endpoint, u64)) -> (Endpoint, u64) {
        let offset = self.row * pitch + self.column;
        let place = match end {
            Endpoint::Device(address) => Endpoint::Device(address + offset),
            // SAFETY: the piece is within the rows, as this function requires.
            Endpoint::Host(memory) => Endpoint::Host(unsafe { memory.add(offset as usize) }),
        };
        (place, pitch)
    }
}

/// The ends of a copy, with their pitches.
struct Ends {
    dst: (Endpoint, u64),
    src: (Endpoint, u64),
    kept: Arc<Kept>,
}

impl Ends {
    /// Returns the callback that copies a piece between the program's memory and a block.
    fn callback(
        &self,
        (end, pitch): (Endpoint, u64),
        extent: Extent,
        block: usize,
        to_block: bool,
    ) -> Box<dyn FnOnce() + Send> {
        let Endpoint::Host(memory) = end else { return Box::new(|| ()) };
        let (memory, kept) = (memory.expose_provenance(), Arc::clone(&self.kept));
        Box::new(move || {
            let memory = std::ptr::with_exposed_provenance_mut::<u8>(memory);
            let (block, width) = (kept.blocks[block].memory(), extent.width);
            // SAFETY: the events of the two streams let nobody else use the block, which has room
            // for the piece's rows without gaps. `kept` holds the program's memory.
            unsafe {
                if to_block {
                    copy_rows((block, width), (memory.cast_const(), pitch), extent);
                } else {
                    copy_rows((memory, pitch), (block.cast_const(), width), extent);
                }
            }
        })
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
