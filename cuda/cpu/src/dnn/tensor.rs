//! Tensors of any strides and element type, as the dense images (`NHWC`) and filters (`HWIO`) that
//! `tfrt-math` takes.
//!
//! Half types are computed in `f32`. Inputs are gathered into a vector, and results are scattered
//! with their factors, which costs a pass over memory. Convolutions and poolings avoid this pass if
//! the images are already dense.

#![expect(unsafe_code, reason = "declared device memory is viewed as slices")]

use std::ops::Range;

use bytemuck::Pod;
use half::{bf16, f16};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Scaling, Tensor, TensorLayout};
use tfrt_device::observer::Access;
use tfrt_host::DType;
use tfrt_math::{ConvElement, Float, MatMulElement};

use crate::bytes::{Input, Output};
use crate::operation::Run;

/// The number of elements that justifies another thread.
const MIN_ELEMENTS: usize = 1 << 14;

/// A type that is used for computation.
pub(super) trait Work: Float<Acc = f64> + MatMulElement + ConvElement + Pod {
    /// Its name at run time.
    const DTYPE: DType;
}

impl Work for f32 {
    const DTYPE: DType = DType::F32;
}

impl Work for f64 {
    const DTYPE: DType = DType::F64;
}

/// A tensor that owns its layout, for operations that are queued.
#[derive(Clone)]
pub(super) struct Owned {
    pub(super) layout: TensorLayout,
    pub(super) address: u64,
}

/// Checks that images have a supported number of dimensions.
pub(super) fn check_images(layout: &TensorLayout) -> Result<()> {
    match layout.dims.len() {
        2..=4 => Ok(()),
        rank => Err(DeviceError::new(Status::DnnNotSupported, format!("tensors of {rank} dimensions"))),
    }
}

/// Checks that `tfrt-math` supports the element type.
pub(super) fn check_type(dtype: DType) -> Result<()> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Ok(()),
        other => Err(unsupported(other)),
    }
}

impl Owned {
    pub(super) fn new((layout, address): Tensor<'_>) -> Self {
        Self { layout: layout.clone(), address }
    }

    /// Creates a dense tensor of `dtype` with the order of dimensions of `like`.
    pub(super) fn like(like: &TensorLayout, address: u64) -> Self {
        Self { layout: like.clone(), address }
    }

    pub(super) fn read(&self) -> Access {
        Access::read(self.address, self.layout.bytes())
    }

    pub(super) fn write(&self) -> Access {
        Access::write(self.address, self.layout.bytes())
    }

    pub(super) fn dim(&self, index: usize) -> usize {
        self.layout.dims.get(index).map_or(1, |&dim| dim as usize)
    }

    /// Returns the extents of images: batch, height, width, channels.
    pub(super) fn nhwc(&self) -> Result<[usize; 4]> {
        check_images(&self.layout)?;
        Ok(match self.layout.dims.len() {
            2 => [self.dim(0), 1, 1, self.dim(1)],
            3 => [self.dim(0), 1, self.dim(2), self.dim(1)],
            _ => [self.dim(0), self.dim(2), self.dim(3), self.dim(1)],
        })
    }

    /// Returns a part of the channels, for one of several groups. `axis` is the channels'
    /// dimension.
    pub(super) fn part(&self, axis: usize, index: usize, parts: usize) -> Self {
        let mut part = self.clone();
        let extent = self.layout.dims[axis] / parts as u64;
        part.layout.dims[axis] = extent;
        part.address +=
            index as u64 * extent * self.layout.strides[axis] * self.layout.dtype.size().unwrap_or(0) as u64;
        part
    }

    /// Returns the order of dimensions, slowest first, in which images are dense.
    fn image_order(&self) -> Vec<usize> {
        let rank = self.layout.dims.len();
        std::iter::once(0).chain(2..rank).chain((rank > 1).then_some(1)).collect()
    }

    /// Returns whether the elements are of type `W` and dense as `NHWC`.
    fn is_dense<W: Work>(&self) -> bool {
        let mut stride = 1u64;
        self.layout.dtype == W::DTYPE
            && self.image_order().iter().rev().all(|&axis| {
                let (dim, expected) = (self.layout.dims[axis], stride);
                stride = expected.saturating_mul(dim);
                dim == 1 || self.layout.strides[axis] == expected
            })
    }

    /// Returns the elements, dense as `NHWC`: in place if they are dense and outside the ranges
    /// `written`, else a copy.
    pub(super) fn images<W: Work>(&self, run: &Run<'_>, written: &[(u64, u64)]) -> Result<Input<W>> {
        if self.is_dense::<W>() {
            // SAFETY: the operations of this module declare each tensor that they load as read or
            // written. An operation that writes while it has these elements names the ranges it
            // writes in `written`.
            return unsafe { Input::beside(run, self.address, self.layout.elements(), written) };
        }
        Ok(Input::Copied(self.load(run)?))
    }

    /// Returns the elements for writing if they are dense as `NHWC`.
    pub(super) fn images_mut<W: Work>(&self, run: &Run<'_>) -> Result<Option<Output<W>>> {
        if !self.is_dense::<W>() {
            return Ok(None);
        }
        // SAFETY: the operations of this module declare each tensor that they store as written, and
        // store one at a time.
        unsafe { Output::new(run, self.address, self.layout.elements()) }.map(Some)
    }

    /// Returns all bytes from the first element to the last.
    pub(super) fn bytes(&self, run: &Run<'_>) -> Result<Input<u8>> {
        // SAFETY: the operations of this module declare each tensor that they load as read or
        // written. Nothing is written while they have its bytes.
        unsafe { Input::beside(run, self.address, self.layout.bytes(), &[]) }
    }

    /// Returns the elements, dense as `NHWC`.
    pub(super) fn load<W: Work>(&self, run: &Run<'_>) -> Result<Vec<W>> {
        self.load_ordered(run, &self.image_order())
    }

    /// Returns the elements, dense in an order of dimensions, slowest first.
    pub(super) fn load_ordered<W: Work>(&self, run: &Run<'_>, order: &[usize]) -> Result<Vec<W>> {
        match self.layout.dtype {
            DType::F16 => self.gather::<f16, W>(run, order),
            DType::BF16 => self.gather::<bf16, W>(run, order),
            DType::F32 => self.gather::<f32, W>(run, order),
            DType::F64 => self.gather::<f64, W>(run, order),
            other => Err(unsupported(other)),
        }
    }

    fn gather<T: Float + Pod, W: Work>(&self, run: &Run<'_>, order: &[usize]) -> Result<Vec<W>> {
        // SAFETY: the operations of this module declare each tensor that they load as read or
        // written. Nothing is written while the vector is filled.
        let input = unsafe { Input::<T>::beside(run, self.address, self.layout.span(), &[])? };
        let elements = input.get();
        let mut dense = vec![W::ZERO; self.layout.elements() as usize];
        let fill = |runs: Range<usize>, dense: &mut [W]| {
            let mut targets = dense.iter_mut();
            for_each_run(&self.layout, order, runs, |start, stride, count| {
                let targets = targets.by_ref().take(count);
                if stride == 0 {
                    let repeated = W::from_f64(elements[start].to_f64());
                    targets.for_each(|target| *target = repeated);
                    return;
                }
                for (target, &source) in targets.zip(elements[start..].iter().step_by(stride)) {
                    *target = W::from_f64(source.to_f64());
                }
            });
        };
        let (runs, count) = runs(&self.layout, order);
        let each = MIN_ELEMENTS.div_ceil(count.max(1));
        in_parts(run, dense.chunks_mut((each * count).max(1)), |part, dense| {
            fill(part * each..runs.min((part + 1) * each), dense);
        });
        Ok(dense)
    }

    /// Stores `alpha · values + beta · old contents`, from dense `NHWC`.
    pub(super) fn store<W: Work>(&self, run: &Run<'_>, values: &[W], scaling: Scaling) -> Result<()> {
        self.store_ordered(run, values, scaling, &self.image_order())
    }

    /// Stores values like [`Owned::store`], from another order of dimensions.
    pub(super) fn store_ordered<W: Work>(
        &self,
        run: &Run<'_>,
        values: &[W],
        scaling: Scaling,
        order: &[usize],
    ) -> Result<()> {
        match self.layout.dtype {
            DType::F16 => self.scatter::<f16, W>(run, values, scaling, order),
            DType::BF16 => self.scatter::<bf16, W>(run, values, scaling, order),
            DType::F32 => self.scatter::<f32, W>(run, values, scaling, order),
            DType::F64 => self.scatter::<f64, W>(run, values, scaling, order),
            other => Err(unsupported(other)),
        }
    }

    fn scatter<T: Float + Pod, W: Work>(
        &self,
        run: &Run<'_>,
        values: &[W],
        scaling: Scaling,
        order: &[usize],
    ) -> Result<()> {
        // SAFETY: the operations of this module declare each tensor that they store as written, and
        // store one at a time.
        let mut output = unsafe { Output::<T>::new(run, self.address, self.layout.span())? };
        let elements = output.get();
        let (alpha, beta) = (W::from_f64(scaling.alpha), W::from_f64(scaling.beta));
        let write = |layout: &TensorLayout, elements: &mut [T], values: &[W]| {
            let mut values = values.iter();
            for_each_run(layout, order, 0..runs(layout, order).0, |start, stride, count| {
                let targets = elements[start..].iter_mut().step_by(stride.max(1)).take(count);
                for (target, &value) in targets.zip(values.by_ref()) {
                    let scaled = if scaling.alpha == 1.0 { value } else { alpha.times(value) };
                    let sum = if scaling.beta == 0.0 {
                        scaled
                    } else {
                        scaled.plus(beta.times(W::from_f64(target.to_f64())))
                    };
                    *target = T::from_f64(sum.to_f64());
                }
            });
        };
        let Some((item, stride)) = self.items(order) else {
            write(&self.layout, elements, values);
            return Ok(());
        };
        let each = values.len() / self.dim(0);
        let items = elements.chunks_mut(stride).zip(values.chunks(each));
        in_parts(run, items, |_, (elements, values)| write(&item, elements, values));
        Ok(())
    }

    /// Returns the layout of one item of the slowest dimension, and the number of elements between
    /// items, if there are several items that are large and consecutive.
    fn items(&self, order: &[usize]) -> Option<(TensorLayout, usize)> {
        let (&items, &stride) = (self.layout.dims.first()?, self.layout.strides.first()?);
        let mut item = self.layout.clone();
        item.dims[0] = 1;
        let is_worth_it = items > 1 && item.elements() >= MIN_ELEMENTS as u64;
        (is_worth_it && order.first() == Some(&0) && item.span() <= stride).then_some((item, stride as usize))
    }
}

/// Calls `work` for each part, with its number, on as many threads as are free.
fn in_parts<P: Send>(run: &Run<'_>, parts: impl Iterator<Item = P>, work: impl Fn(usize, P) + Sync) {
    let parts: Vec<_> = parts.map(|part| Mutex::new(Some(part))).collect();
    run.shared.pool.parallel_for(parts.len(), 1, &|range| {
        for number in range {
            // Each part is requested once.
            let part = parts[number].lock().take();
            if let Some(part) = part {
                work(number, part);
            }
        }
    });
}

fn unsupported(dtype: DType) -> DeviceError {
    DeviceError::new(Status::DnnNotSupported, format!("{dtype} elements"))
}

/// Returns the number of runs of elements along the fastest dimension of an order, and the number
/// of elements of each.
fn runs(layout: &TensorLayout, order: &[usize]) -> (usize, usize) {
    if layout.elements() == 0 {
        return (0, 0);
    }
    let count = order.last().map_or(1, |&fastest| layout.dims[fastest] as usize);
    (layout.elements() as usize / count, count)
}

/// Calls `visit(start, stride, count)` for some of the runs of elements along the fastest dimension
/// of an order.
fn for_each_run(
    layout: &TensorLayout,
    order: &[usize],
    runs: Range<usize>,
    mut visit: impl FnMut(usize, usize, usize),
) {
    if runs.is_empty() {
        return;
    }
    let Some((&fastest, slower)) = order.split_last() else { return visit(0, 1, 1) };
    let (count, stride) = (layout.dims[fastest] as usize, layout.strides[fastest] as usize);
    let mut index = vec![0u64; slower.len()];
    let (mut start, mut rest) = (0u64, runs.start as u64);
    for (position, &axis) in slower.iter().enumerate().rev() {
        index[position] = rest % layout.dims[axis];
        start += index[position] * layout.strides[axis];
        rest /= layout.dims[axis];
    }
    for _ in runs {
        visit(start as usize, stride, count);
        for (position, &axis) in slower.iter().enumerate().rev() {
            index[position] += 1;
            start += layout.strides[axis];
            if index[position] < layout.dims[axis] {
                break;
            }
            start -= layout.strides[axis] * layout.dims[axis];
            index[position] = 0;
        }
    }
}

/// Calls a function generic over the type to compute in.
macro_rules! with_work_type {
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        if $dtype == tfrt_host::DType::F64 { $function::<f64>($($argument),*) } else { $function::<f32>($($argument),*) }
    };
}
pub(super) use with_work_type;
