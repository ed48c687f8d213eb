//! Windows of samples, `onnx.HannWindow` and its kin, and `onnx.MelWeightMatrix`.

use std::f64::consts::TAU;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{DenseHostTensor, HostTensor};

use super::arguments::flag;
use super::resize::floats;
use crate::ops::support::{Computed, allocate, integer_within, invalid, shape_of, take, with_number};
use crate::ops::types;
use crate::{CpuCall, OpAttrs, OpRegistry, attr};

/// The type of the result.
fn dtype(attrs: &OpAttrs) -> Result<DType, Diagnostic> {
    Ok(attrs.optional("output_datatype")?.unwrap_or(DType::F32))
}

/// A tensor of numbers, which integers truncate.
fn tensor(
    call: &CpuCall<'_>,
    dims: &[i64],
    numbers: impl Iterator<Item = f64>,
) -> Result<DenseHostTensor, Diagnostic> {
    let dtype = dtype(call.attrs)?;
    let mut out = allocate(call, dtype, shape_of(dims)?.dims())?;
    with_number!(dtype, "onnx window", |T| {
        use tfrt_math::CastTo;
        let numbers = numbers.map(CastTo::<T>::cast_to);
        out.elements_mut::<T>()?.iter_mut().zip(numbers).for_each(|(out, number)| *out = number);
        Ok::<_, Diagnostic>(())
    })?;
    Ok(out)
}

/// A sum of cosines, whose weights have alternating signs.
fn window(call: &CpuCall<'_>, weights: [f64; 3]) -> Computed {
    let [size] = take(call)?;
    let size = integer_within(size, "size", 1)?;
    let period = if flag(call.attrs, "periodic", true)? { size } else { size.saturating_sub(1) };
    let value = move |i: i64| {
        if period == 0 {
            // The only sample of a symmetric window is its middle.
            return 1.0;
        }
        let angle = TAU * i as f64 / period as f64;
        weights[0] - weights[1] * angle.cos() + weights[2] * (2.0 * angle).cos()
    };
    Ok(tensor(call, &[size], (0..size).map(value))?.into())
}

fn mel_weights(call: &CpuCall<'_>) -> Computed {
    let [bins, length, rate, low, high] = take(call)?;
    let integer = |tensor: &HostTensor, name| integer_within(tensor, name, 1);
    let (bins, length) = (integer(bins, "num_mel_bins")?, integer(length, "dft_length")?);
    let rate = integer(rate, "sample_rate")?;
    let edge = |tensor, name| {
        floats(tensor, name)?.first().copied().ok_or_else(|| invalid(format!("'{name}' is empty")))
    };
    let (low, high) = (edge(low, "lower_edge_hertz")?, edge(high, "upper_edge_hertz")?);
    if bins < 0 || length < 0 || rate <= 0 {
        return Err(invalid("num_mel_bins, dft_length and sample_rate must be positive"));
    }
    let rows = length / 2 + 1;
    let shape = shape_of(&[rows, bins])?;
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let step = (mel(high) - mel(low)) / (bins as f64 + 2.0);
    let point = |i: i64| {
        let hertz = 700.0 * (10f64.powf((i as f64 * step + mel(low)) / 2595.0) - 1.0);
        ((length as f64 + 1.0) * hertz / rate as f64).floor() as i64
    };
    let columns = bins.max(1) as usize;
    let weight = move |index: usize| {
        let (row, bin) = ((index / columns) as i64, (index % columns) as i64);
        let (left, center, right) = (point(bin), point(bin + 1), point(bin + 2));
        if row >= center && row < right {
            (right - row) as f64 / (right - center) as f64
        } else if row == center && (left == center || right <= center) {
            1.0
        } else if (left..=center).contains(&row) {
            (row - left) as f64 / (center - left) as f64
        } else {
            0.0
        }
    };
    Ok(tensor(call, &[rows, bins], (0..shape.num_elements()?).map(weight))?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    const WINDOW: [crate::AttrSpec; 2] =
        [attr::dtype_or("output_datatype", DType::F32), attr::int_or("periodic", 1)];
    ops.add("onnx.HannWindow").types(types::NUMBERS).attrs(WINDOW).cpu(|call| window(&call, [0.5, 0.5, 0.0]));
    ops.add("onnx.HammingWindow")
        .types(types::NUMBERS)
        .attrs(WINDOW)
        .cpu(|call| window(&call, [25.0 / 46.0, 1.0 - 25.0 / 46.0, 0.0]));
    ops.add("onnx.BlackmanWindow")
        .types(types::NUMBERS)
        .attrs(WINDOW)
        .cpu(|call| window(&call, [0.42, 0.5, 0.08]));
    ops.add("onnx.MelWeightMatrix")
        .types(types::NUMBERS)
        .attrs([attr::dtype_or("output_datatype", DType::F32)])
        .cpu(|call| mel_weights(&call));
}
