//! Ops on recordings: spectra, and what recognition of speech needs.

use tfrt_host::DType;

use super::{Call, Function, Inferred, extent};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "tf.AudioSpectrogram" => spectrogram,
        "tf.CTCLoss" => loss,
        "tf.Mfcc" => cepstrum,
        _ => return None,
    })
}

/// A row of frequencies for each window of each channel. Windows are filled up to a power of two.
fn spectrogram(call: &Call<'_>) -> Inferred {
    let Some(&[samples, channels]) = call.dims(0) else { return Ok(None) };
    let positive = |name: &str| extent(call.int_attr(name)).filter(|&value| value > 0);
    let (window, stride) = (positive("window_size"), positive("stride"));
    let frames = samples
        .zip(window)
        .zip(stride)
        .map(|((samples, window), stride)| samples.checked_sub(window).map_or(0, |rest| rest / stride + 1));
    let bins = window.and_then(u64::checked_next_power_of_two).map(|length| length / 2 + 1);
    Ok(Some(vec![TensorType::ranked(DType::F32, [channels, frames, bins])]))
}

/// As many coefficients for each row as an attribute says.
fn cepstrum(call: &Call<'_>) -> Inferred {
    let Some(&[channels, frames, _]) = call.dims(0) else { return Ok(None) };
    let count = extent(Some(call.int_attr("dct_coefficient_count").unwrap_or(13)));
    Ok(Some(vec![TensorType::ranked(DType::F32, [channels, frames, count])]))
}

/// A loss for each sequence of a batch, and the gradient of `[steps, batch, classes]`.
fn loss(call: &Call<'_>) -> Inferred {
    let (Some(&[steps, batch, classes]), Some(dtype)) = (call.dims(0), call.dtype(0)) else {
        return Ok(None);
    };
    let gradient = TensorType::ranked(dtype, [steps, batch, classes]);
    Ok(Some(vec![TensorType::ranked(dtype, [batch]), gradient]))
}
