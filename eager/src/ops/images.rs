//! Images in host memory: mathematics computes them in `NHWC`, so that those in `NCHW` are brought
//! there, and results back.

use tfrt_compute::{OnQueue, run, run_then, shape_error};
use tfrt_host::{AsyncValueRef, Chain, Diagnostic, Promise};
use tfrt_math::{BlockOp, Transpose};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, with_bits};

use super::moves::no_memory_form;
use super::support::{Computed, allocate, tensors_after};
use super::window::Layout;
use crate::CpuCall;

static ME: Accessor = Accessor::new("tf op on images");

/// From `NCHW` to `NHWC`, and back.
const TO_NHWC: [usize; 4] = [0, 2, 3, 1];
const FROM_NHWC: [usize; 4] = [0, 3, 1, 2];

/// A tensor of images in `NHWC`: this one, or a copy if it is in another layout.
pub(super) fn to_nhwc(
    call: &CpuCall<'_>,
    layout: Layout,
    images: &DenseHostTensor,
) -> Result<DenseHostTensor, Diagnostic> {
    match layout {
        Layout::Nhwc => Ok(images.clone()),
        Layout::Nchw => turned(call, images, &TO_NHWC),
    }
}

/// A tensor of images in `NHWC` as the program wants it.
pub(super) fn from_nhwc(
    call: &CpuCall<'_>,
    layout: Layout,
    images: DenseHostTensor,
) -> Result<DenseHostTensor, Diagnostic> {
    match layout {
        Layout::Nhwc => Ok(images),
        Layout::Nchw => turned(call, &images, &FROM_NHWC),
    }
}

/// A tensor with its axes in another order.
pub(super) fn turned(
    call: &CpuCall<'_>,
    tensor: &DenseHostTensor,
    order: &[usize],
) -> Result<DenseHostTensor, Diagnostic> {
    let bits = tensor.as_bits();
    with_bits!(
        tensor.dtype(),
        |T| {
            let plan = Transpose::<T>::new(tensor.shape().dims(), order).map_err(shape_error)?;
            let out = allocate(call, tensor.dtype(), plan.shape())?;
            let (from, to) = (bits.read::<T>(&ME)?, out.as_bits());
            plan.run(&OnQueue(call.cx), &from, &mut to.write::<T>(&ME)?).map_err(shape_error)?;
            Ok(out)
        },
        else Err(no_memory_form(tensor.dtype()))
    )
}

/// Computes `out`, images in `layout`, by a plan whose output are images in `NHWC`.
pub(super) fn compute_images<T, P, R>(
    call: &CpuCall<'_>,
    layout: Layout,
    plan: P,
    (reads, out): (R, DenseHostTensor),
    input: for<'a> fn(&'a R) -> P::Input<'a>,
) -> Computed
where
    T: Element + tfrt_math::Element,
    P: for<'a> BlockOp<Output<'a> = &'a mut [T]> + Send + 'static,
    R: Send + Sync + 'static,
{
    if layout == Layout::Nhwc {
        let operands = (reads, out.write_owned::<T>(&ME)?);
        return run(call.cx, Ok(plan), operands, input, |out| out, HostTensor::from(out)).map(Into::into);
    }
    let dims = layout.images(out.shape(), "the result")?;
    compute_nchw::<T, P, R>(call, plan, (reads, out), dims, input)
}

/// Computes `out`, whose elements are images in `NCHW` of extents `dims` in the order `NHWC`, by a
/// plan whose output is in `NHWC`.
pub(super) fn compute_nchw<T, P, R>(
    call: &CpuCall<'_>,
    plan: P,
    (reads, out): (R, DenseHostTensor),
    dims: [usize; 4],
    input: for<'a> fn(&'a R) -> P::Input<'a>,
) -> Computed
where
    T: Element + tfrt_math::Element,
    P: for<'a> BlockOp<Output<'a> = &'a mut [T]> + Send + 'static,
    R: Send + Sync + 'static,
{
    let inner = allocate(call, T::DTYPE, &dims)?;
    let back = Transpose::<T>::new(&dims, &FROM_NHWC).map_err(shape_error)?;
    let writes = (inner.write_owned::<T>(&ME)?, out.write_owned::<T>(&ME)?);
    let (promise, done): (Promise<Chain>, AsyncValueRef<Chain>) = Promise::new();
    let cx = call.cx.clone();
    run_then(
        call.cx,
        plan,
        (reads, writes),
        input,
        |(inner, _)| inner,
        move |outcome| {
            let outcome = outcome.and_then(|(_, (inner, mut out))| {
                back.run(&OnQueue(&cx), &inner, &mut out).map_err(shape_error)
            });
            cx.settle(promise, outcome.map(|()| Chain));
        },
    );
    Ok(tensors_after(done, [out]))
}
