//! Maximum pooling.

use std::{marker::PhantomData, ops::Range};

use super::{Frame, PoolShape};
use crate::error::check_len;
use crate::simd::vectorize;
use crate::{BlockOp, Number, ShapeError, ops};

/// The greatest element under each window, for each channel; NaN if there is one, but for
/// [`MaxPool::of_numbers`].
#[derive(Debug, Clone)]
pub struct MaxPool<T> {
    frame: Frame,
    of_numbers: bool,
    element: PhantomData<fn(T) -> T>,
}

/// [`MaxPool`] that also gives where each maximum stands: its position within its image, as `(y ·
/// width + x) · channels + channel`. Ties go to the first, and so does NaN. Outputs: maxima,
/// positions.
///
/// A window wholly beyond the border has the position `u32::MAX`, which the gradient skips.
#[derive(Debug, Clone)]
pub struct MaxPoolWithArgmax<T>(MaxPool<T>);

/// The gradient of maximum pooling: each output's gradient goes to the element that won.
#[derive(Debug, Clone)]
pub struct MaxPoolBackward<T>(MaxPool<T>);

impl<T: Number> MaxPool<T> {
    /// Plans the pooling of this shape.
    pub fn new(shape: &PoolShape) -> Result<Self, ShapeError> {
        Ok(Self { frame: Frame::new(shape)?, of_numbers: false, element: PhantomData })
    }

    /// As [`MaxPool::new`], but NaN loses, and where nothing is greater the result is
    /// [`Number::LEAST_FINITE`]: what TensorFlow's `MaxPool` gives.
    pub fn of_numbers(shape: &PoolShape) -> Result<Self, ShapeError> {
        Ok(Self { of_numbers: true, ..Self::new(shape)? })
    }
}

impl<T: Number> MaxPoolWithArgmax<T> {
    /// Plans the pooling of this shape, whose images must have fewer than `u32::MAX` elements.
    pub fn new(shape: &PoolShape) -> Result<Self, ShapeError> {
        let pool = MaxPool::new(shape)?;
        match u32::try_from(pool.frame.image_len) {
            Ok(len) if len < u32::MAX => Ok(Self(pool)),
            _ => Err(ShapeError::TooLarge),
        }
    }
}

impl<T: Number> MaxPoolBackward<T> {
    /// Plans the gradient of the pooling of this shape.
    pub fn new(shape: &PoolShape) -> Result<Self, ShapeError> {
        Ok(Self(MaxPoolWithArgmax::new(shape)?.0))
    }
}

impl<T: Number> BlockOp for MaxPool<T> {
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.frame.output_rows.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.frame.output_rows.split(output)
    }

    fn run_block(&self, block: usize, x: &[T], piece: &mut [T]) -> Result<(), ShapeError> {
        let frame = &self.frame;
        let rows = frame.output_rows.units_of(block, piece.len())?;
        check_len("images", frame.input_len, x.len())?;
        if self.of_numbers {
            fold_rows(frame, rows, (x, T::LEAST_FINITE), piece, |max, x| if x > max { x } else { max });
        } else {
            fold_rows(frame, rows, (x, T::LOWEST), piece, |max, x| ops::maximum(x, max));
        }
        Ok(())
    }
}

/// The number of channels whose maxima are kept in registers.
const LANES: usize = 16;
/// The greatest number of elements under a window that are compared one after another. Windows with
/// more share most of them with their neighbours.
const MAX_DIRECT_TAPS: usize = 12;

/// Combines the elements under each window of some rows of the output, starting from `start`.
/// Nothing is less than `start`.
fn fold_rows<T: Number>(
    frame: &Frame,
    rows: Range<usize>,
    (x, start): (&[T], T),
    out: &mut [T],
    f: impl Fn(T, T) -> T + Copy,
) {
    let taps = frame.window.y.window * frame.window.x.window;
    if frame.channels >= LANES && taps <= MAX_DIRECT_TAPS {
        fold_windows(frame, rows, (x, start), out, f);
    } else {
        fold_lines(frame, rows, (x, start), out, f);
    }
}

/// [`fold_rows`], window by window. There are at least [`LANES`] channels.
fn fold_windows<T: Number>(
    frame: &Frame,
    rows: Range<usize>,
    (x, start): (&[T], T),
    out: &mut [T],
    f: impl Fn(T, T) -> T + Copy,
) {
    let (channels, line_len) = (frame.channels, frame.line_len());
    let pixels = frame.pixels();
    for (row, out) in rows.zip(out.chunks_exact_mut((pixels.len() * channels).max(1))) {
        let lines = frame.lines(row);
        let (count, first) = (lines.len(), lines.min().unwrap_or(0));
        let lines = &x[first..][..count * line_len];
        vectorize(|| {
            for (cols, out) in pixels.iter().zip(out.chunks_exact_mut(channels)) {
                // The last lanes have channels of the ones before, too, which are computed twice.
                let last = channels - LANES;
                for at in (0..last).step_by(LANES).chain([last]) {
                    let mut most = [start; LANES];
                    for line in lines.chunks_exact(line_len.max(1)) {
                        for pixel in line.chunks_exact(channels).take(cols.end).skip(cols.start) {
                            let pixel = &pixel[at..at + LANES];
                            most.iter_mut().zip(pixel).for_each(|(max, &x)| *max = f(*max, x));
                        }
                    }
                    out[at..at + LANES].copy_from_slice(&most);
                }
            }
        });
    }
}

/// [`fold_rows`]: first the lines of a row's windows, whole lines at a time, and then the pixels of
/// the result.
fn fold_lines<T: Number>(
    frame: &Frame,
    rows: Range<usize>,
    (x, start): (&[T], T),
    out: &mut [T],
    f: impl Fn(T, T) -> T + Copy,
) {
    let channels = frame.channels;
    let pixels = frame.pixels();
    let mut line = vec![start; frame.line_len()];
    // Of an old maximum that is kept where it is, the compiler makes stores under a mask, which take
    // many times as long as others on AMD's processors. It does not see that no maximum is less
    // than this one, and stores each result.
    let least = std::hint::black_box(start);
    let f = |max: T, x| f(if max < least { least } else { max }, x);
    for (row, out) in rows.zip(out.chunks_exact_mut((pixels.len() * channels).max(1))) {
        line.fill(start);
        for first in frame.lines(row) {
            let line = line.iter_mut().zip(&x[first..]);
            vectorize(|| line.for_each(|(max, &x)| *max = f(*max, x)));
        }
        vectorize(|| {
            for (cols, out) in pixels.iter().zip(out.chunks_exact_mut(channels.max(1))) {
                out.fill(start);
                for col in cols.clone() {
                    let pixel = &line[col * channels..][..channels];
                    out.iter_mut().zip(pixel).for_each(|(max, &x)| *max = f(*max, x));
                }
            }
        });
    }
}

impl<T: Number> BlockOp for MaxPoolWithArgmax<T> {
    type Input<'a> = &'a [T];
    type Output<'a> = (&'a mut [T], &'a mut [u32]);
    type Piece<'a> = (&'a mut [T], &'a mut [u32]);

    fn block_count(&self) -> usize {
        self.0.frame.output_rows.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        let chunks = &self.0.frame.output_rows;
        Ok(chunks.split(output.0)?.into_iter().zip(chunks.split(output.1)?).collect())
    }

    fn run_block(
        &self,
        block: usize,
        x: &[T],
        (maxima, positions): Self::Piece<'_>,
    ) -> Result<(), ShapeError> {
        let frame = &self.0.frame;
        let rows = frame.output_rows.units_of(block, maxima.len())?;
        check_len("output block", maxima.len(), positions.len())?;
        check_len("images", frame.input_len, x.len())?;
        frame.each_window(rows, |start, taps| {
            let maxima = &mut maxima[start..start + frame.channels];
            let winners = &mut positions[start..start + frame.channels];
            maxima.fill(T::LOWEST);
            winners.fill(u32::MAX);
            for position in taps.positions(frame.channels) {
                let x = &x[taps.image + position..][..frame.channels];
                for (channel, ((max, winner), &x)) in
                    maxima.iter_mut().zip(winners.iter_mut()).zip(x).enumerate()
                {
                    if *winner == u32::MAX || x > *max || (x.is_nan() && !max.is_nan()) {
                        // The plan has checked that positions fit.
                        (*max, *winner) = (x, (position + channel) as u32);
                    }
                }
            }
        });
        Ok(())
    }
}

impl<T: Number> BlockOp for MaxPoolBackward<T> {
    /// The output's gradient, then the positions that [`MaxPoolWithArgmax`] gave.
    type Input<'a> = (&'a [T], &'a [u32]);
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.0.frame.images.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.0.frame.images.split(output)
    }

    fn run_block(
        &self,
        block: usize,
        (dy, positions): Self::Input<'_>,
        piece: &mut [T],
    ) -> Result<(), ShapeError> {
        let frame = &self.0.frame;
        let images = frame.images.units_of(block, piece.len())?;
        check_len("output gradient", frame.output_len, dy.len())?;
        check_len("positions", frame.output_len, positions.len())?;
        piece.fill(T::ZERO);
        for (image, dx) in images.zip(piece.chunks_exact_mut(frame.image_len)) {
            let first = image * frame.pooled_len;
            for at in first..first + frame.pooled_len {
                match dx.get_mut(positions[at] as usize) {
                    Some(dx) => *dx = dx.plus(dy[at]),
                    None if positions[at] == u32::MAX => {}
                    None => {
                        let value = i64::from(positions[at]);
                        return Err(ShapeError::Index {
                            operand: "positions",
                            position: at,
                            value,
                            bound: dx.len(),
                        });
                    }
                }
            }
        }
        Ok(())
    }
}
