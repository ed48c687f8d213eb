//! Audio: files of the format WAV, spectrograms, and the cepstral coefficients of speech.

use std::f64::consts::PI;

use tfrt_host::{DType, Diagnostic};

use super::onnx::fourier::{Complex, Transform};
use super::plain::{count, reals, results, tensor};
use super::strings::strings;
use super::support::{Computed, float_attr, int_attr, integer, invalid, product, room_for, take};
use crate::{AttrSpec, CpuCall, Forms, OpRegistry, ResultType, attr};

/// The samples of a WAV file, in which those of all channels alternate.
struct Samples {
    rate: i32,
    channels: usize,
    values: Vec<i16>,
}

fn broken(reason: impl std::fmt::Display) -> Diagnostic {
    invalid(format!("the WAV file is broken: {reason}"))
}

/// The number in little-endian order that begins at a byte.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Diagnostic> {
    let number = bytes.get(at..at.saturating_add(N)).and_then(|number| number.try_into().ok());
    number.ok_or_else(|| broken(format!("it ends at byte {}, within its header", bytes.len())))
}

impl Samples {
    fn read(bytes: &[u8]) -> Result<Self, Diagnostic> {
        if !bytes.starts_with(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
            return Err(broken("it does not begin with 'RIFF' and 'WAVE'"));
        }
        let (mut at, mut format) = (12, None);
        loop {
            let (name, size) = (number::<4>(bytes, at)?, u32::from_le_bytes(number(bytes, at + 4)?) as usize);
            let (start, end) = (at + 8, (at + 8).saturating_add(size));
            let chunk = bytes.get(start..end);
            let chunk = chunk.ok_or_else(|| {
                broken(format!("its chunk at byte {at} ends behind the file's {} bytes", bytes.len()))
            })?;
            match (&name, format) {
                (b"fmt ", _) => format = Some(Self::format(chunk)?),
                (b"data", Some((rate, channels))) => {
                    let whole = chunk.chunks_exact(2 * channels).flat_map(|frame| frame.chunks_exact(2));
                    let values = whole.map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
                    return Ok(Self { rate, channels, values });
                }
                (b"data", None) => return Err(broken("its samples come before their format")),
                _ => {}
            }
            // Chunks begin at even places.
            at = end.saturating_add(size % 2);
        }
    }

    /// The sample rate and the number of channels.
    fn format(chunk: &[u8]) -> Result<(i32, usize), Diagnostic> {
        let short = |at| Ok::<_, Diagnostic>(u16::from_le_bytes(number(chunk, at)?));
        let (kind, channels, bits) = (short(0)?, usize::from(short(2)?), short(14)?);
        let rate = u32::from_le_bytes(number(chunk, 4)?);
        if kind != 1 || bits != 16 {
            return Err(invalid(format!(
                "WAV files must have uncompressed samples (format 1) of 16 bits, got format {kind} of {bits} bits"
            )));
        }
        if channels == 0 {
            return Err(broken("it has no channels"));
        }
        Ok((i32::try_from(rate).map_err(|_| broken(format!("its sample rate is {rate}")))?, channels))
    }
}

/// Samples between -1 and 1. Channels that the file lacks repeat its last one, and samples that it
/// lacks are zero.
fn decode_wav(call: &CpuCall<'_>) -> Computed {
    let [file] = take(call)?;
    let [bytes] = strings(file)?.strings() else {
        return Err(invalid(format!("contents must be scalar, got shape {}", file.shape())));
    };
    let file = Samples::read(bytes)?;
    let wanted = |name: &str, own: usize| match int_attr(call.attrs, name)?.unwrap_or(-1) {
        -1 => Ok(own),
        other => count(other, name),
    };
    let channels = wanted("desired_channels", file.channels)?;
    let own_length = file.values.len() / file.channels;
    let length = wanted("desired_samples", own_length)?;
    let mut audio: Vec<f32> = room_for(length.saturating_mul(channels))?;
    for frame in file.values.chunks_exact(file.channels).take(length) {
        let sample = |channel: usize| f32::from(frame[channel.min(file.channels - 1)]) / 32768.0;
        audio.extend((0..channels).map(sample));
    }
    audio.resize(length * channels, 0.0);
    Ok(results([tensor(call, &[length, channels], &audio)?, tensor(call, &[], &[file.rate])?]))
}

/// The magnitudes of the frequencies in windows of a signal, for each channel.
fn spectrogram(call: &CpuCall<'_>) -> Computed {
    let [signal] = take(call)?;
    let &[length, channels] = signal.shape().dims() else {
        return Err(invalid(format!("input must be a matrix, got shape {}", signal.shape())));
    };
    let extent = |name: &str, least: usize| {
        let value = int_attr(call.attrs, name)?.unwrap_or(0);
        let extent = usize::try_from(value).ok().filter(|&extent| extent >= least);
        extent.ok_or_else(|| invalid(format!("{name} must be at least {least}, got {value}")))
    };
    let (size, stride) = (extent("window_size", 2)?, extent("stride", 1)?);
    let is_squared = call.attrs.optional("magnitude_squared")?.unwrap_or(false);
    let padded = size.checked_next_power_of_two().ok_or_else(|| invalid("window_size is too large"))?;
    let bins = padded / 2 + 1;
    let frames = length.checked_sub(size).map_or(0, |rest| rest / stride + 1);
    if frames == 0 || channels == 0 {
        return Ok(results([tensor::<f32>(call, &[channels, frames, bins], &[])?]));
    }
    let transform = Transform::new(padded, false)?;
    let mut window: Vec<f64> = room_for(size)?;
    window.extend((0..size).map(|at| 0.5 - 0.5 * (2.0 * PI * at as f64 / size as f64).cos()));
    let signal = reals(signal)?;
    let mut magnitudes: Vec<f32> = room_for(product(&[channels, frames, bins]))?;
    for (channel, frame) in (0..channels).flat_map(|channel| (0..frames).map(move |frame| (channel, frame))) {
        let mut samples: Vec<Complex> = room_for(padded)?;
        let sample = |at: usize| signal[(frame * stride + at) * channels + channel];
        samples.extend(window.iter().enumerate().map(|(at, weight)| [weight * sample(at), 0.0]));
        samples.resize(padded, [0.0; 2]);
        transform.run(&mut samples);
        let square = |[real, imaginary]: Complex| real * real + imaginary * imaginary;
        let magnitude = |x: f64| if is_squared { x as f32 } else { x.sqrt() as f32 };
        magnitudes.extend(samples[..bins].iter().map(|&x| magnitude(square(x))));
    }
    Ok(results([tensor(call, &[channels, frames, bins], &magnitudes)?]))
}

/// Overlapping triangles over the frequencies, which are equally wide on the mel scale.
struct Filters {
    /// The bins that the triangles cover.
    bins: std::ops::RangeInclusive<usize>,
    /// For each bin, the triangle that rises there, and how much of it belongs to the one before.
    shares: Vec<(usize, f64)>,
    count: usize,
}

fn mel(frequency: f64) -> f64 {
    1127.0 * (frequency / 700.0).ln_1p()
}

impl Filters {
    fn new(count: usize, bins: usize, rate: f64, (low, high): (f64, f64)) -> Result<Self, Diagnostic> {
        if !(low >= 0.0 && high > low && rate > 0.0 && count > 0 && bins > 1) {
            return Err(invalid(format!(
                "{count} filters from {low} to {high} Hz cannot be made for {bins} frequencies at a rate of {rate}"
            )));
        }
        let step = 0.5 * rate / (bins - 1) as f64;
        let (first, last) = ((1.5 + low / step) as usize, (high / step) as usize);
        if last >= bins {
            return Err(invalid(format!(
                "upper_frequency_limit {high} is above half the sample rate {rate}"
            )));
        }
        let (start, end) = (mel(low), mel(high));
        let width = (end - start) / (count + 1) as f64;
        let mut shares = room_for(bins)?;
        for bin in 0..bins {
            let place = (mel(bin as f64 * step) - start) / width;
            // Centers lie at 1, 2, … widths behind the start; a bin at a center belongs to it.
            let rising = (place.ceil() - 1.0).clamp(0.0, count as f64);
            shares.push((rising as usize, rising + 1.0 - place));
        }
        Ok(Self { bins: first..=last, shares, count })
    }

    /// The sums of the magnitudes under each triangle.
    fn apply(&self, squares: &[f64], sums: &mut [f64]) {
        sums.fill(0.0);
        for bin in self.bins.clone() {
            let ((rising, share), magnitude) = (self.shares[bin], squares[bin].sqrt());
            if let Some(before) = rising.checked_sub(1) {
                sums[before] += magnitude * share;
            }
            if rising < self.count {
                sums[rising] += magnitude * (1.0 - share);
            }
        }
    }
}

/// The cosine transform of the logarithms of the sums under triangles over the frequencies.
fn cepstrum(call: &CpuCall<'_>) -> Computed {
    let [squares, rate] = take(call)?;
    let &[channels, frames, bins] = squares.shape().dims() else {
        return Err(invalid(format!("spectrogram must have 3 dimensions, got shape {}", squares.shape())));
    };
    let rate = integer(rate, "sample_rate")? as f64;
    let limit = |name: &str, default| Ok::<_, Diagnostic>(float_attr(call.attrs, name)?.unwrap_or(default));
    let limits = (limit("lower_frequency_limit", 20.0)?, limit("upper_frequency_limit", 4000.0)?);
    let extent = |name: &str, default| count(int_attr(call.attrs, name)?.unwrap_or(default), name);
    let (filters, kept) = (extent("filterbank_channel_count", 40)?, extent("dct_coefficient_count", 13)?);
    if kept == 0 || kept > filters {
        return Err(invalid(format!("dct_coefficient_count must be 1 to {filters}, got {kept}")));
    }
    let mut sums = room_for(filters)?;
    sums.resize(filters, 0.0);
    let bank = Filters::new(filters, bins, rate, limits)?;
    let mut cosines: Vec<f64> = room_for(kept.saturating_mul(filters))?;
    let (scale, angle) = ((2.0 / filters as f64).sqrt(), PI / filters as f64);
    for coefficient in 0..kept {
        let cosine = |at: usize| scale * (coefficient as f64 * angle * (at as f64 + 0.5)).cos();
        cosines.extend((0..filters).map(cosine));
    }
    let mut made: Vec<f32> = room_for(product(&[channels, frames, kept]))?;
    for squares in reals(squares)?.chunks_exact(bins) {
        bank.apply(squares, &mut sums);
        sums.iter_mut().for_each(|sum| *sum = sum.max(1e-12).ln());
        let sum = |row: &[f64]| row.iter().zip(&sums).map(|(cosine, sum)| cosine * sum).sum::<f64>();
        made.extend(cosines.chunks_exact(filters).map(|row| sum(row) as f32));
    }
    Ok(results([tensor(call, &[channels, frames, kept], &made)?]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const CUBE: ResultType = ResultType::is(DType::F32).rank(3);
    const WAV: [AttrSpec; 2] = [attr::int_or("desired_channels", -1), attr::int_or("desired_samples", -1)];
    const MFCC: [AttrSpec; 4] = [
        attr::int_or("dct_coefficient_count", 13),
        attr::int_or("filterbank_channel_count", 40),
        attr::float_or("lower_frequency_limit", 20.0),
        attr::float_or("upper_frequency_limit", 4000.0),
    ];
    ops.add("tf.DecodeWav")
        .types(&[DType::String, DType::F32, DType::I32])
        .attrs(WAV)
        .results([ResultType::is(DType::F32).rank(2), ResultType::is(DType::I32).rank(0)])
        .cpu(|call| decode_wav(&call))
        .forms(Forms::STRING);
    ops.add("tf.AudioSpectrogram")
        .types(&[DType::F32])
        .attrs([attr::int("window_size"), attr::int("stride"), attr::boolean_or("magnitude_squared", false)])
        .results([CUBE])
        .cpu(|call| spectrogram(&call));
    ops.add("tf.Mfcc")
        .types(&[DType::F32, DType::I32])
        .attrs(MFCC)
        .results([CUBE])
        .cpu(|call| cepstrum(&call));
}
