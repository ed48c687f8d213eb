//! `onnx.Col2Im`: adds up the blocks that windows cut out of images.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{Accessor, Element, HostTensor, TensorShape};

use super::arguments::extents_of;
use super::window::{Axis, MAX_SPATIAL, Window, extents, pads};
use crate::ops::support::{Computed, allocate, compute, integers, invalid, product, shape_of, with_float};
use crate::ops::types;
use crate::{CpuCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.Col2Im");

/// The window from an image to its blocks.
pub(in crate::ops) fn window(
    attrs: &OpAttrs,
    image: &[usize],
    block: &[usize],
) -> Result<Window, Diagnostic> {
    let rank = image.len();
    if rank == 0 || rank > MAX_SPATIAL || block.len() != rank || block.contains(&0) {
        return Err(invalid(format!("image_shape {image:?} and block_shape {block:?} do not fit")));
    }
    let (strides, dilations) = (extents(attrs, "strides", rank, 1)?, extents(attrs, "dilations", rank, 1)?);
    let pads = pads(attrs, rank)?;
    let mut axes = Vec::new();
    for axis in 0..rank {
        let covered =
            (block[axis] - 1).checked_mul(dilations[axis]).and_then(|covered| covered.checked_add(1));
        let room = covered.and_then(|covered| {
            let padded = (image[axis] as i64).checked_add(pads[axis][0])?.checked_add(pads[axis][1])?;
            padded.checked_sub(i64::try_from(covered).ok()?)
        });
        let room = room.ok_or_else(|| invalid("the blocks are too large"))?;
        let output = if room < 0 { 0 } else { room as usize / strides[axis] + 1 };
        axes.push(Axis {
            input: image[axis],
            output,
            kernel: block[axis],
            stride: strides[axis],
            dilation: dilations[axis],
            pads: pads[axis],
        });
    }
    Window::of_axes(&axes)
}

/// Returns the number of channels and the shape of the images that blocks of shape `x` make.
pub(in crate::ops) fn result(
    x: &TensorShape,
    window: &Window,
    image: &[usize],
) -> Result<(usize, Vec<usize>), Diagnostic> {
    let taps = window.tap_count();
    let &[batch, rows, columns] = x.dims() else {
        return Err(invalid(format!("the input must have 3 dimensions, got shape {x}")));
    };
    let blocks = window.output().iter().try_fold(1usize, |n, &count| n.checked_mul(count));
    if !rows.is_multiple_of(taps) || blocks != Some(columns) {
        return Err(invalid(format!(
            "an input of shape {x} does not fit images {image:?} of blocks of {taps} elements"
        )));
    }
    Ok((rows / taps, [&[batch, rows / taps], image].concat()))
}

fn col2im<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let [x, image, block] = call.dense()?;
    let list = |tensor: &tfrt_tensor::DenseHostTensor, name| {
        extents_of(&integers(&HostTensor::from(tensor.clone()), name)?)
    };
    let (image, block) = (list(image, "image_shape")?, list(block, "block_shape")?);
    let window = window(call.attrs, &image, &block)?;
    let (channels, dims) = result(x.shape(), &window, &image)?;
    let (taps, batch, columns) = (window.tap_count(), dims[0], x.shape().dims()[2]);
    let signed: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    let out = allocate(call, T::DTYPE, shape_of(&signed)?.dims())?;
    let (x, plane) = (x.read_owned::<T>(&ME)?, product(&image));
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let cost = plane.saturating_add(columns.saturating_mul(taps));
    compute(call, &ME, out, (batch * channels, plane, cost), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(plane)) {
            out.fill(T::ZERO);
            let x = &x[index * taps * columns..][..taps * columns];
            window.rows(|row| {
                let x = &x[row.tap * columns + row.output..][..row.count];
                let sums = out[row.input..].iter_mut().step_by(window.row_step());
                sums.zip(x).for_each(|(sum, &x)| *sum = sum.plus(x));
            });
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Col2Im")
        .types(types::FLOATS)
        .attrs([
            attr::ints_or_each("dilations", 1),
            attr::ints_or_each("pads", 0),
            attr::ints_or_each("strides", 1),
        ])
        .cpu(|call| {
            let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
            with_float!(dtype, "onnx.Col2Im", |T| col2im::<T>(&call))
        });
}
