//! Ops that draw numbers in a shape that an argument holds.

use tfrt_host::DType;

use super::{Call, Function, Inferred, extent, result_dtype};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "tf.RandomStandardNormal"
        | "tf.RandomUniform"
        | "tf.RandomUniformInt"
        | "tf.StatelessRandomGammaV2"
        | "tf.StatelessRandomGammaV3"
        | "tf.StatelessRandomNormal"
        | "tf.StatelessRandomNormalV2"
        | "tf.StatelessRandomPoisson"
        | "tf.StatelessRandomUniform"
        | "tf.StatelessRandomUniformFullInt"
        | "tf.StatelessRandomUniformFullIntV2"
        | "tf.StatelessRandomUniformInt"
        | "tf.StatelessRandomUniformIntV2"
        | "tf.StatelessRandomUniformV2"
        | "tf.StatelessTruncatedNormal"
        | "tf.StatelessTruncatedNormalV2"
        | "tf.TruncatedNormal" => drawn,
        "tf.RandomGamma" | "tf.RandomPoissonV2" => drawn_for_each,
        "tf.StatelessRandomGetAlg" => |_| Ok(Some(vec![algorithm()])),
        "tf.StatelessRandomGetKeyCounter" => |_| Ok(Some(state().into())),
        "tf.StatelessRandomGetKeyCounterAlg" => {
            |_| Ok(Some(state().into_iter().chain([algorithm()]).collect()))
        }
        "tf.Multinomial" | "tf.StatelessMultinomial" => samples,
        _ => return None,
    })
}

/// The number of a generator's algorithm.
fn algorithm() -> TensorType {
    TensorType::ranked(DType::I32, [])
}

/// The key and the counter of a generator.
fn state() -> [TensorType; 2] {
    [1, 2].map(|length| TensorType::ranked(DType::UI64, [Some(length)]))
}

/// The extents that the first argument holds.
fn shape(call: &Call<'_>) -> Option<Vec<Option<u64>>> {
    if let Some(elements) = call.elements(0) {
        return Some(elements.into_iter().map(extent).collect());
    }
    match call.dims(0)? {
        &[Some(rank)] if rank < 256 => Some(vec![None; rank as usize]),
        _ => None,
    }
}

/// What the op declares, or else what its attributes say.
fn dtype(call: &Call<'_>) -> DType {
    super::declared(call, 0).map_or_else(|| result_dtype(call, 0), |ty| ty.dtype)
}

fn drawn(call: &Call<'_>) -> Inferred {
    Ok(shape(call).map(|dims| vec![TensorType::ranked(dtype(call), dims)]))
}

/// Numbers in the shape of the first argument for each element of the second one.
fn drawn_for_each(call: &Call<'_>) -> Inferred {
    let (Some(mut dims), Some(each)) = (shape(call), call.dims(1)) else { return Ok(None) };
    dims.extend_from_slice(each);
    Ok(Some(vec![TensorType::ranked(dtype(call), dims)]))
}

/// As many classes of each row as the second argument says.
fn samples(call: &Call<'_>) -> Inferred {
    let rows = call.dims(0).and_then(|logits| logits.first().copied().flatten());
    let count = call.integer(1).and_then(|count| extent(Some(count)));
    Ok(Some(vec![TensorType::ranked(dtype(call), [rows, count])]))
}
