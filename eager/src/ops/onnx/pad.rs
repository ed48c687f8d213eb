//! `onnx.Pad`: constants, reflections, repeated edges or copies around a tensor; negative padding
//! crops.

use tfrt_host::Diagnostic;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorShape, with_bits};

use super::arguments::{OPERANDS, dense, formal, required, text_or, unknown};
use crate::ops::support::{
    Computed, Output, allocate, axis_of, compute, integers, invalid, product, room_for, shape_of,
    unsupported, values,
};
use crate::ops::types;
use crate::{CpuCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.Pad");

/// What lies beyond the border.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Mode {
    Constant,
    Reflect,
    Edge,
    Wrap,
}

/// Where an element is found along a dimension that has elements; `None` for the constant.
fn source(mode: Mode, place: i64, extent: i64) -> Option<usize> {
    let inside = match mode {
        Mode::Constant => place,
        Mode::Edge => place.clamp(0, extent - 1),
        Mode::Wrap => place.rem_euclid(extent),
        Mode::Reflect => {
            let period = (2 * (extent - 1)).max(1);
            let place = place.rem_euclid(period);
            place.min(period - place).min(extent - 1)
        }
    };
    (0..extent).contains(&inside).then_some(inside as usize)
}

/// Padding before and after each dimension.
fn paddings(pads: &HostTensor, axes: Option<&HostTensor>, rank: usize) -> Result<Vec<[i64; 2]>, Diagnostic> {
    let pads = integers(pads, "pads")?;
    let axes: Vec<usize> = match axes {
        Some(axes) => {
            let axes = integers(axes, "axes")?;
            axes.iter().map(|&axis| axis_of(axis, rank, "axes")).collect::<Result<_, _>>()?
        }
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(invalid(format!("pads must have {} numbers, got {}", 2 * axes.len(), pads.len())));
    }
    let mut all = vec![[0; 2]; rank];
    for (index, &axis) in axes.iter().enumerate() {
        all[axis] = [pads[index], pads[axes.len() + index]];
    }
    Ok(all)
}

/// What a call pads.
pub(in crate::ops) struct Padding {
    pub(in crate::ops) mode: Mode,
    /// The padding before and after each dimension.
    pub(in crate::ops) pads: Vec<[i64; 2]>,
    /// The shape of the result.
    pub(in crate::ops) shape: TensorShape,
}

impl Padding {
    /// Reads the attributes and the padding of a tensor of shape `data`.
    pub(in crate::ops) fn of(
        attrs: &OpAttrs,
        data: &TensorShape,
        pads: Option<&HostTensor>,
        axes: Option<&HostTensor>,
    ) -> Result<Self, Diagnostic> {
        let mode = match text_or(attrs, "mode", "constant")? {
            "constant" => Mode::Constant,
            "reflect" => Mode::Reflect,
            "edge" => Mode::Edge,
            "wrap" => Mode::Wrap,
            other => return Err(unknown("mode", other)),
        };
        let dims = data.dims();
        let pads = paddings(required(pads, "pads")?, axes, dims.len())?;
        let too_large = || invalid("the padded tensor is too large");
        let padded = dims.iter().zip(&pads).map(|(&dim, &[before, after])| {
            let sum = i64::try_from(dim).ok()?.checked_add(before)?.checked_add(after)?;
            Some(sum.max(0))
        });
        let shape = shape_of(&padded.collect::<Option<Vec<_>>>().ok_or_else(too_large)?)?;
        if shape.num_elements()? > 0 && mode != Mode::Constant && dims.contains(&0) {
            return Err(invalid(format!("a tensor of shape {data} has no elements to pad with")));
        }
        Ok(Self { mode, pads, shape })
    }
}

fn pad(call: &CpuCall<'_>) -> Computed {
    let [data, pads, constant, axes] = formal(call.arguments, call.attrs)?;
    let data = dense(data, "data")?;
    let Padding { mode, pads, shape } = Padding::of(call.attrs, data.shape(), pads, axes)?;
    let is_empty = shape.num_elements()? == 0;
    let out = allocate(call, data.dtype(), shape.dims())?;
    let constant = constant.map(|constant| constant.as_bits_of(data.dtype())).transpose()?;
    with_bits!(
        data.dtype(),
        |T| {
            let fill = constant.as_ref().map(values::<T>).transpose()?;
            let fill = fill.and_then(|fill| fill.first().copied()).unwrap_or_default();
            if is_empty { Ok(out.into()) } else { padded_tensor::<T>(call, data, out, (mode, &pads, fill)) }
        },
        else Err(unsupported("onnx.Pad", data.dtype()))
    )
}

/// Where the `count` elements along a padded dimension of `extent` elements are found; `None` for the
/// constant.
pub(in crate::ops) fn sources(
    mode: Mode,
    [before, after]: [i64; 2],
    (extent, count): (usize, usize),
) -> Result<Vec<Option<usize>>, Diagnostic> {
    // Negative padding crops before anything is repeated.
    let crop = before.min(0).saturating_neg();
    let kept = (extent as i64).saturating_sub(crop).saturating_add(after.min(0)).max(0);
    if kept == 0 && mode != Mode::Constant {
        return Err(invalid("a tensor that is cropped to nothing has no elements to pad with"));
    }
    let at = |index: i64| {
        source(mode, index.saturating_sub(before.max(0)), kept).map(|place| place + crop as usize)
    };
    let mut table = room_for(count)?;
    table.extend((0..count as i64).map(at));
    Ok(table)
}

/// A tensor with the elements of `data`, and more around them, as [bits](DenseHostTensor::as_bits).
pub(super) fn padded_tensor<T: Element>(
    call: &CpuCall<'_>,
    data: &DenseHostTensor,
    out: DenseHostTensor,
    (mode, pads, fill): (Mode, &[[i64; 2]], T),
) -> Computed {
    let dims = data.shape().dims().to_vec();
    let mut tables = Vec::new();
    for ((&extent, &pads), &count) in dims.iter().zip(pads).zip(out.shape().dims()) {
        tables.push(sources(mode, pads, (extent, count))?);
    }
    let columns = tables.pop().unwrap_or_else(|| vec![Some(0)]);
    let inner = dims.last().copied().unwrap_or(1);
    let rows = product(&out.shape().dims()[..tables.len()]);
    let x = data.as_bits().read_owned::<T>(&ME)?;
    // Most columns are neighbours in the argument as well.
    let first = columns.iter().position(Option::is_some).unwrap_or(0);
    let run = columns[first..].iter().enumerate().take_while(|&(i, column)| {
        column.is_some() && column.map(|column| column.wrapping_sub(i)) == columns[first]
    });
    let run = first..first + run.count();
    compute(
        call,
        &ME,
        Output::Bits(out),
        (rows, columns.len(), columns.len()),
        move |range, out: &mut [T]| {
            for (row, out) in range.zip(out.chunks_exact_mut(columns.len())) {
                let (mut rest, mut start, mut stride) = (row, Some(0), 1);
                for (table, &dim) in tables.iter().zip(&dims).rev() {
                    let place = table[rest % table.len()];
                    start = start.zip(place).map(|(start, place)| start + place * stride);
                    rest /= table.len();
                    stride *= dim;
                }
                let Some(start) = start else {
                    out.fill(fill);
                    continue;
                };
                let x = &x[start * inner..][..inner];
                if let Some(from) = columns.get(run.start).copied().flatten() {
                    out[run.clone()].copy_from_slice(&x[from..][..run.len()]);
                }
                let others = (0..run.start).chain(run.end..columns.len());
                others.for_each(|column| out[column] = columns[column].map_or(fill, |place| x[place]));
            }
            Ok(())
        },
    )
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Pad")
        .types(types::ELEMENTS)
        .attrs([attr::string_or("mode", "constant"), OPERANDS])
        .cpu(|call| pad(&call));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_beyond_the_border_are_found() {
        let found =
            |mode| (-4..7).map(|place| source(mode, place, 3).map_or(-1, |i| i as i64)).collect::<Vec<_>>();
        assert_eq!(found(Mode::Constant), [-1, -1, -1, -1, 0, 1, 2, -1, -1, -1, -1]);
        assert_eq!(found(Mode::Edge), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(found(Mode::Reflect), [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(found(Mode::Wrap), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(source(Mode::Reflect, 5, 1), Some(0));
    }
}
