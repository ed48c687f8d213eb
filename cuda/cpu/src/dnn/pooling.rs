//! Pooling and its gradient.

use tfrt_device::error::Result;
use tfrt_device::hal::{NanPropagation, Pooling, PoolingMode, Scaling};
use tfrt_math::{
    AvgPool, AvgPoolBackward, BlockOp, Extent2, MaxPool, MaxPoolBackward, MaxPoolWithArgmax, Padding,
    PoolShape,
};

use super::shape_error;
use super::tensor::{Owned, Work};
use crate::bytes::Input;
use crate::operation::Run;

/// Returns the height and width in a list of one or two spatial extents.
pub(super) fn extent2(extents: &[u64], missing: usize) -> Extent2 {
    let at = |index: usize| extents.get(index).map_or(missing, |&e| e as usize);
    if extents.len() < 2 { Extent2::new(missing, at(0)) } else { Extent2::new(at(0), at(1)) }
}

fn shape(pooling: &Pooling, x: &Owned) -> Result<PoolShape> {
    let [batch, height, width, channels] = x.nhwc()?;
    let before = extent2(&pooling.padding, 0);
    Ok(PoolShape {
        batch,
        input: Extent2::new(height, width),
        channels,
        window: extent2(&pooling.window, 1),
        strides: extent2(&pooling.strides, 1),
        padding: Padding::Explicit {
            top: before.height,
            bottom: before.height,
            left: before.width,
            right: before.width,
        },
    })
}

/// Returns the images for a search of maxima. If NaN must not propagate, it is replaced by the least
/// number.
fn images<W: Work>(run: &Run<'_>, pooling: &Pooling, x: &Owned) -> Result<Input<W>> {
    if pooling.nan == NanPropagation::Propagate {
        return x.images(run, &[]);
    }
    let mut images = x.load::<W>(run)?;
    images.iter_mut().filter(|e| e.is_nan()).for_each(|e| *e = W::LOWEST);
    Ok(Input::Copied(images))
}

fn is_max(pooling: &Pooling) -> bool {
    matches!(pooling.mode, PoolingMode::Max | PoolingMode::MaxDeterministic)
}

pub(super) fn forward<W: Work>(
    run: &Run<'_>,
    pooling: &Pooling,
    scaling: Scaling,
    x: &Owned,
    y: &Owned,
) -> Result<()> {
    let (shape, parallel, written) = (shape(pooling, x)?, &run.shared.pool, y.write());
    let images = x.images::<W>(run, &[(written.address, written.bytes)])?;
    let compute = |result: &mut [W]| {
        if is_max(pooling) {
            let plan = match pooling.nan {
                NanPropagation::NotPropagate => MaxPool::<W>::of_numbers(&shape)?,
                NanPropagation::Propagate => MaxPool::<W>::new(&shape)?,
            };
            return plan.run(parallel, images.get(), result);
        }
        let counts_padding = pooling.mode == PoolingMode::AverageIncludePadding;
        AvgPool::<W>::new(&shape, counts_padding)?.run(parallel, images.get(), result)
    };
    if scaling == Scaling::ONE
        && let Some(mut y) = y.images_mut::<W>(run)?
    {
        return compute(y.get()).map_err(shape_error);
    }
    let mut result = vec![W::ZERO; y.layout.elements() as usize];
    compute(&mut result).map_err(shape_error)?;
    drop(images);
    y.store(run, &result, scaling)
}

pub(super) fn backward<W: Work>(
    run: &Run<'_>,
    pooling: &Pooling,
    scaling: Scaling,
    dy: &Owned,
    x: &Owned,
    dx: &Owned,
) -> Result<()> {
    let shape = shape(pooling, x)?;
    let gradient = dy.load::<W>(run)?;
    let mut result = vec![W::ZERO; dx.layout.elements() as usize];
    let parallel = &run.shared.pool;
    if is_max(pooling) {
        let images = images::<W>(run, pooling, x)?;
        let (mut maxima, mut positions) = (vec![W::ZERO; gradient.len()], vec![0u32; gradient.len()]);
        let winners = MaxPoolWithArgmax::<W>::new(&shape).map_err(shape_error)?;
        winners.run(parallel, images.get(), (&mut maxima[..], &mut positions[..])).map_err(shape_error)?;
        let plan = MaxPoolBackward::<W>::new(&shape).map_err(shape_error)?;
        plan.run(parallel, (&gradient, &positions), &mut result).map_err(shape_error)?;
    } else {
        let plan = AvgPoolBackward::<W>::new(&shape, pooling.mode == PoolingMode::AverageIncludePadding);
        plan.and_then(|plan| plan.run(parallel, &gradient, &mut result)).map_err(shape_error)?;
    }
    dx.store(run, &result, scaling)
}
