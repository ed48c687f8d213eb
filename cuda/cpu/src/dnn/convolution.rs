//! Convolution and its gradients.

use std::sync::Arc;

use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{
    Activation, ActivationMode, Convolution, ConvolutionEpilogue, ConvolutionOperands, NanPropagation,
    Scaling,
};
use tfrt_device::observer::Access;
use tfrt_math::{
    Activation as Fused, BlockOp, Conv2d, Conv2dInput, Conv2dShape, ConvBackwardFilter, ConvBackwardInput,
    Extent2, PackedFilter, Padding,
};

use super::filters::Key;
use super::pointwise::activate;
use super::pooling::extent2;
use super::shape_error;
use super::tensor::{Owned, Work};
use crate::bytes::Input;
use crate::operation::Run;

/// A convolution or one of its gradients.
pub(super) struct Job {
    convolution: Convolution,
    scaling: Scaling,
    pub(super) x: Owned,
    pub(super) w: Owned,
    pub(super) y: Owned,
}

/// The order of a filter's dimensions (K, C, R, S) in which it is dense as `HWIO`.
const HWIO: [usize; 4] = [2, 3, 1, 0];

impl Job {
    pub(super) fn new(
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'_>,
    ) -> Result<Self> {
        let (x, w, y) = (Owned::new(operands.x), Owned::new(operands.w), Owned::new(operands.y));
        if w.layout.dims.len() > 4 {
            let detail = format!("filters of {} dimensions", w.layout.dims.len());
            return Err(DeviceError::new(Status::DnnNotSupported, detail));
        }
        Ok(Self { convolution: convolution.clone(), scaling, x, w, y })
    }

    /// Returns the job of one group of channels.
    fn group(&self, index: usize) -> Self {
        let groups = self.convolution.groups.max(1) as usize;
        Self {
            convolution: Convolution { groups: 1, ..self.convolution.clone() },
            scaling: self.scaling,
            x: self.x.part(1, index, groups),
            w: self.w.part(0, index, groups),
            y: self.y.part(1, index, groups),
        }
    }

    fn groups(&self) -> impl Iterator<Item = Self> {
        (0..self.convolution.groups.max(1) as usize).map(|index| self.group(index))
    }

    fn filter_extent(&self) -> Extent2 {
        if self.w.layout.dims.len() == 3 {
            Extent2::new(1, self.w.dim(2))
        } else {
            Extent2::new(self.w.dim(2), self.w.dim(3))
        }
    }

    fn shape(&self) -> Result<Conv2dShape> {
        let [batch, height, width, channels] = self.x.nhwc()?;
        let before = extent2(&self.convolution.padding, 0);
        let padding = Padding::Explicit {
            top: before.height,
            bottom: before.height,
            left: before.width,
            right: before.width,
        };
        let filter = (self.filter_extent(), self.w.dim(0));
        let mut shape = Conv2dShape::new((batch, Extent2::new(height, width), channels), filter, padding);
        shape.strides = extent2(&self.convolution.strides, 1);
        shape.dilations = extent2(&self.convolution.dilations, 1);
        shape.groups = self.convolution.groups.max(1) as usize;
        Ok(shape)
    }

    fn filter_order(&self) -> Vec<usize> {
        if self.w.layout.dims.len() == 3 { vec![2, 1, 0] } else { HWIO.to_vec() }
    }

    /// Flips a dense `HWIO` filter, as the mathematical convolution requires.
    fn flip<W: Work>(&self, filter: &mut [W]) {
        if self.convolution.cross_correlation {
            return;
        }
        let extent = self.filter_extent();
        let taps = extent.height * extent.width;
        let unit = filter.len() / taps.max(1);
        for tap in 0..taps / 2 {
            let (low, high) = filter.split_at_mut((taps - 1 - tap) * unit);
            low[tap * unit..(tap + 1) * unit].swap_with_slice(&mut high[..unit]);
        }
    }

    fn filter<W: Work>(&self, run: &Run<'_>) -> Result<Vec<W>> {
        let mut filter = self.w.load_ordered::<W>(run, &self.filter_order())?;
        self.flip(&mut filter);
        Ok(filter)
    }

    /// Returns the filter in the layout of `plan`, which was made for filters that are kept.
    fn packed<W: Work>(&self, run: &Run<'_>, plan: &Conv2d<W>) -> Result<Arc<PackedFilter<W>>> {
        let key = Key {
            address: self.w.address,
            layout: self.w.layout.clone(),
            flipped: !self.convolution.cross_correlation,
            groups: self.convolution.groups,
        };
        let bytes = self.w.bytes(run)?;
        let changes = run.shared.space.changes(self.w.address);
        run.shared.space.filters.get(key, (bytes.get(), changes), &run.shared.pool, || {
            let filter = self.filter::<W>(run)?;
            let packed = match self.convolution.groups {
                0 | 1 => {
                    let Extent2 { height, width } = self.filter_extent();
                    PackedFilter::new([height, width, self.w.dim(1), self.w.dim(0)], &filter)
                }
                _ => plan.pack_filter(&filter),
            };
            packed.map_err(shape_error)
        })
    }
}

/// The operations on the result before it is stored.
pub(super) struct Epilogue {
    bias: Option<Owned>,
    residual: Option<(Owned, f64)>,
    activation: Option<Activation>,
}

impl Epilogue {
    pub(super) fn new(epilogue: ConvolutionEpilogue<'_>) -> Self {
        Self {
            bias: epilogue.bias.map(Owned::new),
            residual: epilogue.residual.map(|(tensor, factor)| (Owned::new(tensor), factor)),
            activation: epilogue.activation,
        }
    }

    pub(super) fn reads(&self) -> impl Iterator<Item = Access> {
        let residual = self.residual.as_ref().map(|(tensor, _)| tensor);
        self.bias.iter().chain(residual).map(Owned::read)
    }

    /// Returns the operations that the convolution can apply when it stores its results, if these
    /// are all of them.
    fn fused(&self, alpha: f64) -> Option<Fused> {
        let is_added = self.residual.as_ref().is_none_or(|(_, factor)| *factor == 1.0);
        match self.activation.map(|activation| (activation.mode, activation.nan)) {
            _ if alpha != 1.0 || !is_added => None,
            None | Some((ActivationMode::Identity, _)) => Some(Fused::None),
            Some((ActivationMode::Relu, NanPropagation::Propagate)) => Some(Fused::Relu),
            Some(_) => None,
        }
    }

    /// Computes `activation(alpha · values + factor · residual + bias)` in place.
    fn apply<W: Work>(&self, run: &Run<'_>, alpha: f64, channels: usize, values: &mut [W]) -> Result<()> {
        if alpha != 1.0 {
            let alpha = W::from_f64(alpha);
            values.iter_mut().for_each(|value| *value = alpha.times(*value));
        }
        if let Some((residual, factor)) = &self.residual {
            let factor = W::from_f64(*factor);
            let residual = residual.load::<W>(run)?;
            values.iter_mut().zip(&residual).for_each(|(value, &r)| *value = value.plus(factor.times(r)));
        }
        if let Some(bias) = &self.bias {
            let bias = bias.load::<W>(run)?;
            for pixel in values.chunks_exact_mut(channels.max(1)) {
                pixel.iter_mut().zip(&bias).for_each(|(value, &b)| *value = value.plus(b));
            }
        }
        if let Some(activation) = self.activation {
            values.iter_mut().for_each(|value| *value = activate(activation, *value));
        }
        Ok(())
    }
}

pub(super) fn forward<W: Work>(run: &Run<'_>, job: &Job, epilogue: &Epilogue) -> Result<()> {
    let (pool, Scaling { alpha, beta }) = (&run.shared.pool, job.scaling);
    let (fused, y) = (epilogue.fused(alpha), job.y.write());
    let written = [(y.address, y.bytes)];
    let plan = Conv2d::<W>::for_kept_filters(&job.shape()?, fused.unwrap_or(Fused::None), pool.threads())
        .map_err(shape_error)?;
    let (x, filter) = (job.x.images::<W>(run, &written)?, job.packed(run, &plan)?);
    let bias = epilogue.bias.as_ref().filter(|_| fused.is_some());
    let bias = bias.map(|bias| bias.load::<W>(run)).transpose()?;
    let residual = epilogue.residual.as_ref().filter(|_| fused.is_some());
    let residual = residual.map(|(residual, _)| residual.images::<W>(run, &written)).transpose()?;
    let input = Conv2dInput {
        bias: bias.as_deref(),
        residual: residual.as_ref().map(Input::get),
        ..Conv2dInput::new(x.get(), &*filter)
    };
    if fused.is_some()
        && beta == 0.0
        && let Some(mut y) = job.y.images_mut::<W>(run)?
    {
        return plan.run(pool, input, y.get()).map_err(shape_error);
    }
    let mut result = vec![W::ZERO; job.y.layout.elements() as usize];
    plan.run(pool, input, &mut result).map_err(shape_error)?;
    drop((x, residual));
    if fused.is_none() {
        epilogue.apply(run, alpha, job.y.dim(1), &mut result)?;
    }
    job.y.store(run, &result, Scaling { alpha: 1.0, beta })
}

pub(super) fn backward_data<W: Work>(run: &Run<'_>, job: &Job) -> Result<()> {
    for job in job.groups() {
        let shape = job.shape()?;
        let (gradient, filter) = (job.y.load::<W>(run)?, job.filter::<W>(run)?);
        let mut result = vec![W::ZERO; job.x.layout.elements() as usize];
        let plan = ConvBackwardInput::<W>::new(&shape, run.shared.pool.threads()).map_err(shape_error)?;
        let filter = plan.pack_filter(&filter).map_err(shape_error)?;
        plan.run(&run.shared.pool, (&gradient, &filter), &mut result).map_err(shape_error)?;
        job.x.store(run, &result, job.scaling)?;
    }
    Ok(())
}

pub(super) fn backward_filter<W: Work>(run: &Run<'_>, job: &Job) -> Result<()> {
    for job in job.groups() {
        let shape = job.shape()?;
        let (x, gradient) = (job.x.load::<W>(run)?, job.y.load::<W>(run)?);
        let mut result = vec![W::ZERO; job.w.layout.elements() as usize];
        let plan = ConvBackwardFilter::<W>::new(&shape, run.shared.pool.threads()).map_err(shape_error)?;
        plan.run(&run.shared.pool, (&x, &gradient), &mut result).map_err(shape_error)?;
        job.flip(&mut result);
        job.w.store_ordered(run, &result, job.scaling, &job.filter_order())?;
    }
    Ok(())
}
