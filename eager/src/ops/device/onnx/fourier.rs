//! `onnx.DFT` and `onnx.STFT` as products with matrices, which the host computes. Transforms whose
//! matrix is too large run on the host.

use std::f64::consts::TAU;

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{VolumeAxis, VolumeWindow};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{super::Queued, device, host_if_given, inputs, wide};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        device::{
            arrays::permuted,
            check_floats, count,
            expression::{cast, constant},
            linear::product as multiply,
            unsupported,
        },
        onnx::fourier::{Dft, Stft},
        support::{product, room_for},
    },
};

/// The most elements of a matrix.
const MAX_ELEMENTS: usize = 1 << 24;

/// A linear map of a signal, whose samples have one or two parts, to frequencies or back.
struct Matrix {
    rows: usize,
    columns: usize,
    elements: Vec<f64>,
}

impl Matrix {
    /// Makes the matrix for `samples` samples of `given` parts and `outputs` results of `parts`
    /// parts. `weight` is the complex number that a sample is multiplied by for a result.
    fn new(
        [samples, given, outputs, parts]: [usize; 4],
        dtype: DType,
        weight: impl Fn(usize, usize) -> [f64; 2],
    ) -> Result<Self, Diagnostic> {
        let extents = [samples, given, outputs, parts];
        let count = extents.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
        if count.is_none_or(|count| count > MAX_ELEMENTS) {
            return Err(unsupported(&format!("a Fourier transform of {samples} samples"), dtype));
        }
        let mut elements = room_for(product(&extents))?;
        for (sample, part) in (0..samples).flat_map(|sample| (0..given).map(move |part| (sample, part))) {
            for output in 0..outputs {
                let [re, im] = weight(sample, output);
                let both = if part == 0 { [re, im] } else { [-im, re] };
                elements.extend(&both[..parts]);
            }
        }
        Ok(Self { rows: samples * given, columns: outputs * parts, elements })
    }

    fn upload(&self, call: &DeviceCall<'_>, dtype: DType) -> DeviceOpResult<DeviceTensor> {
        let shape = TensorShape::new(&[1, self.rows, self.columns])?;
        let allocator = call.cx.host().allocator();
        let matrix = match dtype {
            DType::F64 => DenseHostTensor::from_slice(shape, &self.elements, allocator)?,
            _ => {
                let narrow: Vec<f32> = self.elements.iter().map(|&x| x as f32).collect();
                DenseHostTensor::from_slice(shape, &narrow, allocator)?
            }
        };
        call.upload(&matrix.into())
    }
}

/// Returns `e` to the power of `± i · 2π · place · frequency / length`. Quarters of a turn are exact,
/// so that parts that must be zero are.
fn root_of_one(place: usize, frequency: usize, length: usize, is_inverse: bool) -> [f64; 2] {
    let turn = place as u128 * frequency as u128 % length as u128;
    let quarters = 4 * turn;
    let (sin, cos) = match quarters.is_multiple_of(length as u128) {
        true => [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][(quarters / length as u128) as usize],
        false => (TAU * (turn as f64 / length as f64)).sin_cos(),
    };
    [cos, if is_inverse { sin } else { 0.0 - sin }]
}

/// Returns the matrix of a transform.
fn matrix_of(dft: &Dft, dtype: DType) -> Result<Matrix, Diagnostic> {
    let &Dft { input, length, given, output, parts, is_inverse, is_onesided, .. } = dft;
    let scale = if is_inverse { 1.0 / length as f64 } else { 1.0 };
    let root = |place, frequency| root_of_one(place, frequency, length, is_inverse).map(|part| part * scale);
    let weight = |sample: usize, frequency: usize| {
        if sample >= length { [0.0; 2] } else { root(sample, frequency) }
    };
    if !(is_inverse && is_onesided) {
        return Matrix::new([input, given, output, parts], dtype, weight);
    }
    // The other side is the conjugate of this one, so that results are real.
    let weight = |sample: usize, frequency: usize| {
        let [re, im] = weight(sample, frequency);
        match sample {
            sample if 2 * sample > length || sample >= length => [0.0; 2],
            sample if sample == 0 || 2 * sample == length => [re, 0.0],
            _ => [2.0 * re, 2.0 * im],
        }
    };
    Matrix::new([input, given, output, parts], dtype, weight)
}

fn dft(call: &DeviceCall<'_>) -> Queued {
    let [x, length, axis] = inputs(call)?;
    let x = device(call, x, "input")?;
    check_floats(x.dtype(), "onnx.DFT")?;
    let dft = Dft::of(call.attrs, x.shape(), host_if_given(call, length)?, host_if_given(call, axis)?)?;
    let (work, shape) = (wide(x.dtype()), TensorShape::new(&dft.dims)?);
    if shape.num_elements()? == 0 || count(x) == 0 {
        return Ok(constant(call, &TensorMetadata::new(x.dtype(), shape), 0.0)?.into());
    }
    let &Dft { outer, inner, input, given, output, parts, .. } = &dft;
    let matrix = matrix_of(&dft, x.dtype())?.upload(call, work)?;
    let signals = cast(call, x, work, false)?.reshape(&TensorShape::new(&[outer, input, inner, given])?)?;
    let signals = permuted(call, &signals, &[0, 2, 1, 3])?;
    let signals = signals.reshape(&TensorShape::new(&[1, outer * inner, input * given])?)?;
    let y = TensorMetadata::new(work, TensorShape::new(&[1, outer * inner, output * parts])?);
    let y = call.allocate_as(&y)?;
    multiply(call, "onnx.DFT", [false, false], [&signals, &matrix], &y)?;
    let y = y.reshape(&TensorShape::new(&[outer, inner, output, parts])?)?;
    let y = permuted(call, &y, &[0, 2, 1, 3])?.reshape(&shape)?;
    Ok(cast(call, &y, x.dtype(), false)?.into())
}

/// Returns the frames of signals as columns: [batch, parts · length, frames].
fn frames(call: &DeviceCall<'_>, signal: &DeviceTensor, stft: &Stft) -> DeviceOpResult<DeviceTensor> {
    let &Stft { batch, samples, given, step, length, frames, .. } = stft;
    const UNIT: VolumeAxis =
        VolumeAxis { input: 1, output: 1, kernel: 1, stride: 1, dilation: 1, padding: [0; 2] };
    let along = VolumeAxis {
        input: samples as u64,
        output: frames as u64,
        kernel: length as u64,
        stride: step as u64,
        ..UNIT
    };
    let signal = signal.reshape(&TensorShape::new(&[batch, samples, given])?)?;
    let planes = permuted(call, &signal, &[0, 2, 1])?;
    let shape = TensorShape::new(&[batch, given * length, frames])?;
    let y = call.allocate_as(&TensorMetadata::new(signal.dtype(), shape))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let at = ((batch * given) as u64, &VolumeWindow { axes: [UNIT, UNIT, along] });
    kernels.volume_patches(stream, y.dtype(), y.buffer(), planes.buffer(), at)?;
    Ok(y)
}

fn stft(call: &DeviceCall<'_>) -> Queued {
    let [signal, step, window, length] = inputs(call)?;
    let signal = device(call, signal, "signal")?;
    check_floats(signal.dtype(), "onnx.STFT")?;
    let mut how = [None; 3];
    for (how, input) in how.iter_mut().zip([step, window, length]) {
        *how = host_if_given(call, input)?;
    }
    let stft = Stft::of(call.attrs, signal.shape(), how)?;
    let &Stft { batch, given, length, bins, frames: count, .. } = &stft;
    let (work, shape) = (wide(signal.dtype()), TensorShape::new(&[batch, count, bins, 2])?);
    if shape.num_elements()? == 0 {
        return Ok(call.allocate_as(&TensorMetadata::new(signal.dtype(), shape))?.into());
    }
    // Rows are all first parts, and then all second ones.
    let rows = Matrix::new([given * length, 1, bins, 2], signal.dtype(), |row, bin| {
        let weight = stft.window.get(row % length).copied().unwrap_or(0.0);
        let [re, im] = root_of_one(row % length, bin, length, false).map(|part| part * weight);
        if row < length { [re, im] } else { [-im, re] }
    })?;
    let matrix = rows.upload(call, work)?;
    let frames = frames(call, &cast(call, signal, work, false)?, &stft)?;
    let y = call.allocate_as(&TensorMetadata::new(work, TensorShape::new(&[batch, count, bins * 2])?))?;
    multiply(call, "onnx.STFT", [true, false], [&frames, &matrix], &y)?;
    Ok(cast(call, &y.reshape(&shape)?, signal.dtype(), false)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.DFT").device_with(dft, HostArguments::at(&[1, 2]));
    ops.extend("onnx.STFT").device_with(stft, HostArguments::at(&[1, 2, 3]));
}
