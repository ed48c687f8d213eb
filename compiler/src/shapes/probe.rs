//! Inference by the op's own metadata function.

use tfrt_host::Diagnostic;
use tfrt_tensor::TensorMetadata;

use super::{Call, Inferred};
use crate::TensorType;

/// What stands for every unknown extent, one number in each question. The numbers are large, so that windows fit, and share
/// no factor, so that an extent that depends on them differs between the answers.
const PROBES: [u64; 3] = [67, 128, 1009];

/// Types of the results from the metadata function; `None` if there is none or it needs a rank that is not known.
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
    // One failing question may be due to the number that was asked with. Two answers are needed to see what varies.
    if failure.is_some() { Ok(None) } else { Ok(agreed) }
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
