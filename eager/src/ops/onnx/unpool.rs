//! `onnx.MaxUnpool`: puts the results of `onnx.MaxPool` back where they were found.

use tfrt_host::Diagnostic;
use tfrt_tensor::{Accessor, Element, HostTensor};

use super::arguments::{OPERANDS, check_dims, dense, extents_of, formal, ints_attr};
use super::elements::strides;
use super::window::{extents, pads};
use crate::ops::support::{Computed, allocate, integers, invalid, shape_of, with_float};
use crate::ops::types;
use crate::{CpuCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.MaxUnpool");

/// The shape of the tensor that was pooled.
fn pooled(call: &CpuCall<'_>, dims: &[usize]) -> Result<Vec<i64>, Diagnostic> {
    let kernel = ints_attr(call.attrs, "kernel_shape")?.unwrap_or_default();
    let (kernel, rank) = (extents_of(&kernel)?, dims.len().saturating_sub(2));
    if kernel.len() != rank || rank == 0 {
        return Err(invalid(format!("attribute 'kernel_shape' must have {rank} numbers, got {kernel:?}")));
    }
    let (strides, pads) = (extents(call.attrs, "strides", rank, 1)?, pads(call.attrs, rank)?);
    let mut shape: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    for axis in 0..rank {
        let padding = pads[axis][0].checked_add(pads[axis][1]);
        let extent = (dims[axis + 2] as i64 - 1)
            .checked_mul(strides[axis] as i64)
            .and_then(|extent| extent.checked_add(kernel[axis] as i64)?.checked_sub(padding?));
        shape[axis + 2] = extent.ok_or_else(|| invalid("the result is too large"))?;
    }
    Ok(shape)
}

fn unpool<T: Element>(call: &CpuCall<'_>) -> Computed {
    let [x, indices, wanted] = formal(call.arguments, call.attrs)?;
    let (x, indices) = (dense(x, "X")?, dense(indices, "I")?);
    check_dims("I", indices.shape().dims(), x.shape().dims())?;
    let pooled = shape_of(&pooled(call, x.shape().dims())?)?;
    let shape = match wanted {
        Some(wanted) => shape_of(&integers(wanted, "output_shape")?)?,
        None => pooled.clone(),
    };
    if shape.rank() != pooled.rank() || shape.dims().iter().zip(pooled.dims()).any(|(to, from)| to < from) {
        return Err(invalid(format!("output_shape {shape} does not hold {pooled}")));
    }
    let mut out = allocate(call, T::DTYPE, shape.dims())?;
    let elements = out.elements_mut::<T>()?;
    elements.fill(T::default());
    let (x, to) = (x.read::<T>(&ME)?, strides(shape.dims()));
    let list = integers(&HostTensor::from(indices.clone()), "I")?;
    let count = pooled.num_elements()?;
    for (&x, &index) in x.iter().zip(&list) {
        let index = usize::try_from(index).ok().filter(|&index| index < count);
        let mut rest = index.ok_or_else(|| invalid(format!("indices must be in the range [0, {count})")))?;
        let mut place = 0;
        for (&dim, stride) in pooled.dims().iter().zip(&to).rev() {
            place += rest % dim * stride;
            rest /= dim;
        }
        elements[place] = x;
    }
    Ok(out.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.MaxUnpool")
        .types(types::FLOATS)
        .attrs([
            attr::ints("kernel_shape"),
            attr::ints_or_each("pads", 0),
            attr::ints_or_each("strides", 1),
            OPERANDS,
        ])
        .cpu(|call| {
            let dtype = call.arguments.first().map_or(tfrt_host::DType::F32, |tensor| tensor.dtype());
            with_float!(dtype, "onnx.MaxUnpool", |T| unpool::<T>(&call))
        });
}
