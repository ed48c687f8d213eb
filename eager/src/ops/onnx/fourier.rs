//! `onnx.DFT` and `onnx.STFT`: Fourier transforms of any length.

mod transform;

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{Accessor, Element, HostTensor, TensorShape};

pub(in crate::ops) use self::transform::{Complex, Transform};
use super::arguments::{OPERANDS, dense, flag, formal, required};
use super::resize::floats;
use crate::ops::support::{
    Computed, allocate, axis_of, compute, integer_within, invalid, product, shape_of, with_float,
};
use crate::ops::types;
use crate::{CpuCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx Fourier transform");

/// The number of parts, one of real and two of complex numbers, which is the last dimension.
fn parts(dims: &[usize]) -> Result<usize, Diagnostic> {
    match dims.last() {
        Some(&parts @ (1 | 2)) => Ok(parts),
        _ => Err(invalid(format!("the last dimension must have extent 1 or 2, got shape {dims:?}"))),
    }
}

fn positive(value: i64, name: &str) -> Result<usize, Diagnostic> {
    usize::try_from(value)
        .ok()
        .filter(|&value| value > 0)
        .ok_or_else(|| invalid(format!("'{name}' must be positive, got {value}")))
}

/// The extents of a discrete Fourier transform along one dimension.
pub(in crate::ops) struct Dft {
    pub(in crate::ops) is_inverse: bool,
    pub(in crate::ops) is_onesided: bool,
    /// The products of the extents before the dimension, and after it up to the parts of a number.
    pub(in crate::ops) outer: usize,
    pub(in crate::ops) inner: usize,
    /// The samples of the argument and those of the result, with the number of parts of each.
    pub(in crate::ops) input: usize,
    pub(in crate::ops) given: usize,
    pub(in crate::ops) output: usize,
    pub(in crate::ops) parts: usize,
    /// The number of samples that are transformed.
    pub(in crate::ops) length: usize,
    /// The shape of the result.
    pub(in crate::ops) dims: Vec<usize>,
}

impl Dft {
    pub(in crate::ops) fn of(
        attrs: &OpAttrs,
        x: &TensorShape,
        length: Option<&HostTensor>,
        axis: Option<&HostTensor>,
    ) -> Result<Self, Diagnostic> {
        let mut dims = x.dims().to_vec();
        let given = parts(&dims)?;
        let axis = axis.map(|axis| integer_within(axis, "axis", 1)).transpose()?.unwrap_or(-2);
        let axis = axis_of(axis, dims.len(), "axis")?;
        if axis + 1 == dims.len() {
            return Err(invalid("the last dimension holds the parts of a number and cannot be transformed"));
        }
        let (is_inverse, is_onesided) = (flag(attrs, "inverse", false)?, flag(attrs, "onesided", false)?);
        let input = dims[axis];
        let default = match is_inverse && is_onesided {
            true => input.saturating_sub(1).saturating_mul(2),
            false => input,
        };
        let length = length.map(|length| integer_within(length, "dft_length", 1)).transpose()?;
        let length = positive(length.unwrap_or(default as i64), "dft_length")?;
        if is_onesided && !is_inverse && given == 2 {
            return Err(invalid("the transform of complex numbers has two sides"));
        }
        let (output, parts) = match (is_onesided, is_inverse) {
            (true, false) => (length / 2 + 1, 2),
            (true, true) => (length, 1),
            (false, _) => (length, 2),
        };
        let (outer, inner) = (product(&dims[..axis]), product(&dims[axis + 1..dims.len() - 1]));
        dims[axis] = output;
        *dims.last_mut().unwrap_or(&mut 0) = parts;
        let signed: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        let dims = shape_of(&signed)?.dims().to_vec();
        Ok(Self { is_inverse, is_onesided, outer, inner, input, given, output, parts, length, dims })
    }
}

fn dft<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let inputs: [Option<&HostTensor>; 3] = formal(call.arguments, call.attrs)?;
    let [x, length, axis] = inputs;
    let x = dense(x, "input")?;
    let dft = Dft::of(call.attrs, x.shape(), length, axis)?;
    let out = allocate(call, T::DTYPE, &dft.dims)?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let Dft { is_inverse, is_onesided, outer, inner, input, given, output, parts, length, .. } = dft;
    let transform = Transform::new(length, is_inverse)?;
    let x = x.read_owned::<T>(&ME)?;
    let unit = output * inner * parts;
    let cost = unit.saturating_mul(64);
    compute(call, &ME, out, (outer, unit, cost), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(unit)) {
            let x = &x[index * input * inner * given..][..input * inner * given];
            for column in 0..inner {
                let at = |i: usize| -> Complex {
                    let place = (i * inner + column) * given;
                    [x[place].to_f64(), if given == 2 { x[place + 1].to_f64() } else { 0.0 }]
                };
                let number = |i: usize| if i < input { at(i) } else { [0.0; 2] };
                let mut signal: Vec<Complex> = match is_inverse && is_onesided {
                    // The other side is the conjugate of this one.
                    true => (0..length).map(|i| mirrored(i, length, &number)).collect(),
                    false => (0..length).map(number).collect(),
                };
                transform.run(&mut signal);
                for (i, number) in signal.iter().take(output).enumerate() {
                    let place = (i * inner + column) * parts;
                    for (out, part) in out[place..place + parts].iter_mut().zip(number) {
                        *out = T::from_f64(*part);
                    }
                }
            }
        }
        Ok(())
    })
}

/// A frequency of a real signal, of which one side is given.
fn mirrored(i: usize, length: usize, number: &dyn Fn(usize) -> Complex) -> Complex {
    let half = length / 2;
    let [re, im] = if i <= half { number(i) } else { number(length - i) };
    match i {
        0 => [re, 0.0],
        i if 2 * i == length => [re, 0.0],
        i if i <= half => [re, im],
        _ => [re, -im],
    }
}

/// The number of signals, their samples, and the parts of a sample. A real signal may lack the
/// dimension of its one part, as exporters write it and ONNX Runtime reads it.
fn signals(shape: &TensorShape) -> Result<(usize, usize, usize), Diagnostic> {
    match *shape.dims() {
        [batch, samples] => Ok((batch, samples, 1)),
        [batch, samples, given @ (1 | 2)] => Ok((batch, samples, given)),
        _ => Err(invalid(format!(
            "the signal must have shape [batch, samples], [batch, samples, 1] or [batch, samples, 2], \
             got {shape}"
        ))),
    }
}

/// The extents of a short-time Fourier transform.
pub(in crate::ops) struct Stft {
    pub(in crate::ops) batch: usize,
    pub(in crate::ops) samples: usize,
    /// The number of parts of a sample.
    pub(in crate::ops) given: usize,
    /// The distance between frames.
    pub(in crate::ops) step: usize,
    /// The number of samples of a frame, and the weights of the first of them; others have none.
    pub(in crate::ops) length: usize,
    pub(in crate::ops) window: Vec<f64>,
    pub(in crate::ops) frames: usize,
    /// The number of frequencies.
    pub(in crate::ops) bins: usize,
}

impl Stft {
    /// Reads the attributes, and the inputs besides the signal: step, window and length.
    pub(in crate::ops) fn of(
        attrs: &OpAttrs,
        signal: &TensorShape,
        [step, window, length]: [Option<&HostTensor>; 3],
    ) -> Result<Self, Diagnostic> {
        let (batch, samples, given) = signals(signal)?;
        let step = positive(integer_within(required(step, "frame_step")?, "frame_step", 1)?, "frame_step")?;
        let window = window.map(|window| floats(window, "window")).transpose()?;
        let window = window.filter(|window| !window.is_empty());
        let length = match (length, &window) {
            (Some(length), _) => positive(integer_within(length, "frame_length", 1)?, "frame_length")?,
            (None, Some(window)) => window.len(),
            (None, None) => return Err(invalid("either 'window' or 'frame_length' must be given")),
        };
        let window = match window {
            Some(window) if window.len() > length => {
                return Err(invalid(format!("the window is longer than the frames of {length} samples")));
            }
            Some(window) => window,
            None => vec![1.0; length.min(samples)],
        };
        let is_onesided = flag(attrs, "onesided", true)? && given == 1;
        let frames = if samples < length { 0 } else { (samples - length) / step + 1 };
        let bins = if is_onesided { length / 2 + 1 } else { length };
        Ok(Self { batch, samples, given, step, length, window, frames, bins })
    }
}

fn stft<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let inputs: [Option<&HostTensor>; 4] = formal(call.arguments, call.attrs)?;
    let [signal, how @ ..] = inputs;
    let signal = dense(signal, "signal")?;
    let Stft { batch, samples, given, step, length, window, frames, bins } =
        Stft::of(call.attrs, signal.shape(), how)?;
    let out = allocate(call, T::DTYPE, shape_of(&[batch as i64, frames as i64, bins as i64, 2])?.dims())?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let (transform, x) = (Transform::new(length, false)?, signal.read_owned::<T>(&ME)?);
    let unit = bins * 2;
    compute(call, &ME, out, (batch * frames, unit, unit.saturating_mul(64)), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(unit)) {
            let start = (index / frames * samples + index % frames * step) * given;
            let mut frame: Vec<Complex> = (0..length)
                .map(|i| {
                    let (weight, place) = (window.get(i).copied().unwrap_or(0.0), start + i * given);
                    let im = if given == 2 { x[place + 1].to_f64() } else { 0.0 };
                    [x[place].to_f64() * weight, im * weight]
                })
                .collect();
            transform.run(&mut frame);
            out.iter_mut().zip(frame.iter().flatten()).for_each(|(out, &part)| *out = T::from_f64(part));
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.DFT")
        .types(types::FLOATS)
        .attrs([attr::int_or("inverse", 0), attr::int_or("onesided", 0), OPERANDS])
        .cpu(|call| {
            let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
            with_float!(dtype, "onnx.DFT", |T| dft::<T>(&call))
        });
    ops.add("onnx.STFT").types(types::FLOATS).attrs([attr::int_or("onesided", 1), OPERANDS]).cpu(|call| {
        let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
        with_float!(dtype, "onnx.STFT", |T| stft::<T>(&call))
    });
}
