//! Inference by the op's own metadata function.
//!
//! Unknown extents are asked for with several numbers in their place. Where an extent must fit a
//! known one, no such number may do; then the known extents are tried.

use tfrt_host::Diagnostic;
use tfrt_tensor::TensorMetadata;

use super::{Call, Inferred};
use crate::TensorType;

/// What stands for every unknown extent, one number in each question. The numbers are large, so
/// that windows fit, and share no factor, so that an extent that depends on them differs between
/// the answers.
const PROBES: [u64; 3] = [67, 128, 1009];

/// Ops whose results have the smaller one of two extents. [`PROBES`] are larger than most extents, so
/// that their answers would agree on the known one.
const WITH_SMALLER_EXTENT: [&str; 2] = ["tf.Qr", "tf.Svd"];

/// Types of the results from the metadata function; `None` if there is none or it needs a rank that
/// is not known.
pub(super) fn infer(call: &Call<'_>) -> Inferred {
    let Some(types) = call.operands.iter().map(|operand| operand.ty.clone()).collect::<Option<Vec<_>>>()
    else {
        return Ok(None);
    };
    if types.iter().any(|ty| ty.dims.is_none()) {
        return Ok(None);
    }
    if types.iter().all(|ty| ty.static_dims().is_some()) {
        return match ask(call, &types, 0) {
            None => Ok(None),
            Some(answer) => answer.map(|results| Some(results.iter().map(TensorType::of).collect())),
        };
    }
    let (mut agreed, mut failure): (Option<Vec<TensorType>>, _) = (None, None);
    for probe in PROBES {
        match ask(call, &types, probe) {
            None => return Ok(None),
            Some(Ok(results)) => {
                let types: Vec<_> = results.iter().map(TensorType::of).collect();
                agreed = Some(match agreed {
                    None => types,
                    Some(before) => before.iter().zip(&types).map(|(a, b)| common(a, b)).collect(),
                });
            }
            Some(Err(error)) => failure = Some(error),
        }
    }
    // One failing question may be due to the number that was asked with. Two answers are needed to
    // see what varies.
    if failure.is_some() {
        return Ok(search(call, &types));
    }
    let is_open = |ty: &TensorType| ty.static_dims().is_none();
    let has_open_window = call.name.contains("Conv") && types.iter().skip(1).any(is_open);
    // Windows of all sizes that are asked with are larger than small images.
    let is_biased = has_open_window || WITH_SMALLER_EXTENT.contains(&call.name);
    Ok(if is_biased { agreed.map(ranks) } else { agreed })
}

/// The types without their extents.
fn ranks(mut types: Vec<TensorType>) -> Vec<TensorType> {
    types.iter_mut().flat_map(|ty| ty.dims.iter_mut().flatten()).for_each(|dim| *dim = None);
    types
}

/// How many questions a search may ask.
const MAX_QUESTIONS: usize = 256;
/// How many unknown extents a search may find numbers for.
const MAX_UNKNOWN: usize = 12;

/// Finds numbers for unknown extents that must fit known ones, as the rows of a matrix must fit the
/// columns of another: known extents in the place of one or two unknown ones. What these answers
/// agree on may be due to the few numbers that were tried, so that the number of dimensions alone
/// is taken from them.
fn search(call: &Call<'_>, types: &[TensorType]) -> Option<Vec<TensorType>> {
    let extents = || {
        types.iter().enumerate().flat_map(|(index, ty)| ty.dims.iter().flatten().map(move |dim| (index, dim)))
    };
    let mut known: Vec<u64> = extents().filter_map(|(_, dim)| *dim).collect();
    known.push(1);
    known.sort_unstable();
    known.dedup();
    let unknown = extents().filter(|(_, dim)| dim.is_none()).count();
    if unknown > MAX_UNKNOWN {
        return None;
    }
    let single: Vec<Vec<(usize, u64)>> =
        (0..unknown).flat_map(|place| known.iter().map(move |&extent| vec![(place, extent)])).collect();
    let pairs = single.iter().enumerate().flat_map(|(index, first)| {
        let later = single[index + 1..].iter().filter(|second| second[0].0 != first[0].0);
        later.map(|second| vec![first[0], second[0]])
    });
    let choices: Vec<_> = single.iter().cloned().chain(pairs).take(MAX_QUESTIONS / PROBES.len()).collect();
    let mut agreed: Option<Vec<TensorType>> = None;
    for probe in PROBES {
        let mut has_answer = false;
        for choice in &choices {
            let Some(Ok(results)) = ask(call, &with_extents(types, choice), probe) else { continue };
            has_answer = true;
            let answer: Vec<_> = results.iter().map(TensorType::of).collect();
            agreed = Some(match agreed {
                None => answer,
                Some(before) => before.iter().zip(&answer).map(|(a, b)| common(a, b)).collect(),
            });
        }
        if !has_answer {
            return None;
        }
    }
    agreed.map(ranks)
}

/// The types with these numbers in the place of unknown extents, which are counted through all
/// types.
fn with_extents(types: &[TensorType], choice: &[(usize, u64)]) -> Vec<TensorType> {
    let mut types = types.to_vec();
    let unknown = types.iter_mut().flat_map(|ty| ty.dims.iter_mut().flatten()).filter(|dim| dim.is_none());
    for (place, dim) in unknown.enumerate() {
        *dim = choice.iter().find(|(chosen, _)| *chosen == place).map(|&(_, extent)| extent);
    }
    types
}

/// What the metadata function says with `probe` in the place of unknown extents.
fn ask(call: &Call<'_>, types: &[TensorType], probe: u64) -> Option<Result<Vec<TensorMetadata>, Diagnostic>> {
    let known = |ty: &TensorType| {
        let dims = ty.dims.as_ref()?.iter().map(|dim| Some(dim.unwrap_or(probe)));
        TensorType::ranked(ty.dtype, dims.collect::<Vec<_>>()).metadata()
    };
    let metadata = types.iter().map(known).collect::<Option<Vec<_>>>()?;
    call.evaluator.metadata(call.name, &metadata.iter().collect::<Vec<_>>(), call.attrs)
}

/// What two answers agree on.
fn common(a: &TensorType, b: &TensorType) -> TensorType {
    let dims = match (&a.dims, &b.dims) {
        (Some(x), Some(y)) if x.len() == y.len() => {
            Some(x.iter().zip(y).map(|(x, y)| x.filter(|_| x == y)).collect())
        }
        _ => None,
    };
    TensorType { dtype: a.dtype, dims }
}
