//! Average pooling.

use std::marker::PhantomData;

use super::{Frame, PoolShape};
use crate::error::check_len;
use crate::simd::vectorize;
use crate::{BlockOp, Number, ShapeError};

/// The mean of the elements under each window, for each channel.
#[derive(Debug, Clone)]
pub struct AvgPool<T> {
    frame: Frame,
    /// The divisor of every window, if elements beyond the border count.
    divisor: Option<usize>,
    element: PhantomData<fn(T) -> T>,
}

/// The gradient of average pooling: each output's gradient is shared equally by the elements under
/// its window.
#[derive(Debug, Clone)]
pub struct AvgPoolBackward<T>(AvgPool<T>);

impl<T: Number> AvgPool<T> {
    /// Plans the pooling of this shape. With `count_padding`, elements beyond the border count as
    /// zeros; otherwise (as in TensorFlow) the mean is over the elements inside.
    pub fn new(shape: &PoolShape, count_padding: bool) -> Result<Self, ShapeError> {
        let divisor = count_padding.then(|| shape.window.height.saturating_mul(shape.window.width));
        Ok(Self { frame: Frame::new(shape)?, divisor, element: PhantomData })
    }

    /// The divisor of a window with this many elements inside its image.
    fn divisor(&self, inside: usize) -> T::Acc {
        T::Acc::from_count(self.divisor.unwrap_or(inside).max(1))
    }
}

impl<T: Number> AvgPoolBackward<T> {
    /// Plans the gradient of the pooling of this shape.
    pub fn new(shape: &PoolShape, count_padding: bool) -> Result<Self, ShapeError> {
        Ok(Self(AvgPool::new(shape, count_padding)?))
    }
}

impl<T: Number> BlockOp for AvgPool<T> {
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
        let (channels, pixels) = (frame.channels, frame.pixels());
        let (mut line, mut sums) = (vec![T::Acc::ZERO; frame.line_len()], vec![T::Acc::ZERO; channels]);
        // First the lines of a row's windows are added, whole lines at a time, and then their
        // pixels.
        for (row, out) in rows.zip(piece.chunks_exact_mut((pixels.len() * channels).max(1))) {
            let lines = frame.lines(row);
            let height = lines.len();
            line.fill(T::Acc::ZERO);
            for first in lines {
                let line = line.iter_mut().zip(&x[first..]);
                vectorize(|| line.for_each(|(sum, &x)| *sum = sum.plus(x.to_acc())));
            }
            for (cols, out) in pixels.iter().zip(out.chunks_exact_mut(channels.max(1))) {
                let divisor = self.divisor(height * cols.len());
                vectorize(|| {
                    sums.fill(T::Acc::ZERO);
                    for col in cols.clone() {
                        let pixel = &line[col * channels..][..channels];
                        sums.iter_mut().zip(pixel).for_each(|(sum, &x)| *sum = sum.plus(x));
                    }
                    out.iter_mut().zip(&sums).for_each(|(o, &sum)| *o = T::from_acc(sum.over(divisor)));
                });
            }
        }
        Ok(())
    }
}

impl<T: Number> BlockOp for AvgPoolBackward<T> {
    /// The output's gradient.
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.0.frame.images.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.0.frame.images.split(output)
    }

    fn run_block(&self, block: usize, dy: &[T], piece: &mut [T]) -> Result<(), ShapeError> {
        let frame = &self.0.frame;
        let images = frame.images.units_of(block, piece.len())?;
        check_len("output gradient", frame.output_len, dy.len())?;
        piece.fill(T::ZERO);
        let height = frame.window.y.output;
        for (image, dx) in images.zip(piece.chunks_exact_mut(frame.image_len)) {
            frame.each_window(image * height..(image + 1) * height, |start, taps| {
                let dy = &dy[image * frame.pooled_len + start..][..frame.channels];
                let divisor = self.0.divisor(taps.count());
                for position in taps.positions(frame.channels) {
                    for (dx, &dy) in dx[position..].iter_mut().zip(dy) {
                        *dx = dx.plus(T::from_acc(dy.to_acc().over(divisor)));
                    }
                }
            });
        }
        Ok(())
    }
}
