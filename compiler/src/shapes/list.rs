//! Lists of tensors. Their own extents say nothing before they are filled; what is read of them has
//! the shape that the op is given.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::PartialTensorShape;

use super::{Call, Function, Inferred};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "tf.TensorListGetItem" => |call| element(call, 2),
        "tf.TensorListStack" => stack,
        "tf.TensorListGather" => gather,
        "tfrt.ArrayGather" => gathered,
        "tfrt.ArrayRead" | "tfrt.FromVariant" | "tfrt.StackPop" => kept,
        "tfrt.JoinVariants" => joined,
        "tfrt.RaggedFromVariants" => ragged,
        "tfrt.RaggedGather" => gathered_rows,
        "tfrt.StackVariants" => stacked,
        "tf.TensorListFromTensor"
        | "tf.TensorListPushBack"
        | "tf.TensorListSetItem"
        | "tf.TensorListResize" => list,
        _ => return None,
    })
}

fn list(call: &Call<'_>) -> Inferred {
    Ok(call.dtype(0).map(|dtype| vec![TensorType::unranked(dtype)]))
}

/// The shape of elements that an argument tells; `None` if it tells nothing.
fn element_dims(call: &Call<'_>, shape: usize) -> Option<Vec<Option<u64>>> {
    if call.dims(shape)?.is_empty() {
        return None;
    }
    Some(call.elements(shape)?.into_iter().map(|extent| u64::try_from(extent?).ok()).collect())
}

fn element(call: &Call<'_>, shape: usize) -> Inferred {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    Ok(Some(vec![TensorType { dtype, dims: element_dims(call, shape) }]))
}

/// The shape of elements that an attribute tells.
fn shape_attr(call: &Call<'_>) -> Option<Vec<Option<u64>>> {
    let shape = call.attrs.optional::<&PartialTensorShape>("shape").ok().flatten()?;
    Some(shape.dims()?.iter().map(|&extent| u64::try_from(extent).ok()).collect())
}

/// What an array or a stack keeps.
fn kept(call: &Call<'_>) -> Inferred {
    Ok(call.type_attr("dtype").map(|dtype| vec![TensorType { dtype, dims: shape_attr(call) }]))
}

/// The elements of a list behind each other, and how long each is.
fn joined(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.type_attr("dtype") else { return Ok(None) };
    let dims = shape_attr(call).filter(|dims| !dims.is_empty()).map(|dims| [&[None], &dims[1..]].concat());
    Ok(Some(vec![TensorType { dtype, dims }, TensorType::ranked(DType::I64, vec![None])]))
}

fn stacked(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.type_attr("dtype") else { return Ok(None) };
    let count = call.dims(0).and_then(|dims| dims.first().copied().flatten());
    let dims = shape_attr(call).map(|dims| [vec![count], dims].concat());
    Ok(Some(vec![TensorType { dtype, dims }]))
}

/// The values of a ragged tensor, and the splits of each dimension.
fn ragged(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.type_attr("dtype") else { return Ok(None) };
    let splits = TensorType::ranked(call.type_attr("splits_dtype").unwrap_or(DType::I64), vec![None]);
    let values = TensorType { dtype, dims: shape_attr(call) };
    Ok(Some([vec![values], vec![splits; call.result_count.saturating_sub(1)]].concat()))
}

/// The splits of each dimension, and places of values.
fn gathered_rows(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(1) else { return Ok(None) };
    let splits = vec![TensorType::ranked(dtype, vec![None]); call.result_count.saturating_sub(1)];
    Ok(Some([splits, vec![TensorType::ranked(DType::I64, vec![None])]].concat()))
}

/// Elements of an array.
fn gathered(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.type_attr("dtype") else { return Ok(None) };
    let count = call.dims(1).and_then(|dims| dims.first().copied().flatten());
    let dims = shape_attr(call).map(|dims| [vec![count], dims].concat());
    Ok(Some(vec![TensorType { dtype, dims }]))
}

fn counted(call: &Call<'_>, count: Option<u64>, shape: usize) -> Result<Option<Vec<TensorType>>, Diagnostic> {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    let dims = element_dims(call, shape).map(|dims| [vec![count], dims].concat());
    Ok(Some(vec![TensorType { dtype, dims }]))
}

fn stack(call: &Call<'_>) -> Inferred {
    let count = call.int_attr("num_elements").and_then(|count| u64::try_from(count).ok());
    counted(call, count, 1)
}

fn gather(call: &Call<'_>) -> Inferred {
    let count = call.dims(1).and_then(|dims| dims.first().copied().flatten());
    counted(call, count, 2)
}
