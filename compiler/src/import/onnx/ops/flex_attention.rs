//! The domain `ai.onnx.preview`: attention whose scores and weights are changed by subgraphs.

use tfrt_host::DType;
use tfrt_ir::ValueId;

use super::{Family, attention::Heads, control_flow::optional_graph};
use crate::import::onnx::node::{Imported, Node};

pub(super) const FAMILIES: &[Family] = &[OPS];

const OPS: Family = &[("FlexAttention", flex_attention)];

/// `prob_mod(softmax(score_mod(query * key^T * scale))) * value`, where queries may share keys and
/// values.
fn flex_attention(node: &mut Node<'_, '_>) -> Imported {
    for (index, name) in ["queries", "keys", "values"].iter().enumerate() {
        let rank = node.rank(node.input(index)?)?;
        if rank != 4 {
            return Err(format!("the {name} have {rank} dimensions instead of 4").into());
        }
    }
    let heads = Heads::new(node)?;
    let dtype = node.dtype(heads.query)?;
    let scores = heads.products(node)?;
    let default = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let precision = node.dtype_attribute("softmax_precision")?.unwrap_or(default);
    let scores = node.cast(scores, precision)?;
    let scores = modified(node, "score_mod", scores)?;
    let weights = node.op("tf.Softmax", &[scores], &[])?;
    let weights = modified(node, "prob_mod", weights)?;
    let weights = node.cast(weights, dtype)?;
    let shared = heads.share(node, weights, true)?;
    let result = node.op("tf.BatchMatMulV2", &[shared, heads.value], &[])?;
    Ok(vec![heads.share(node, result, false)?])
}

/// What the subgraph of this attribute makes of scores or weights; these themselves if there is
/// none.
fn modified(node: &mut Node<'_, '_>, name: &str, x: ValueId) -> Imported<ValueId> {
    let Some(graph) = optional_graph(node, name) else { return Ok(x) };
    if graph.input.len() != 1 {
        return Err(format!("attribute '{name}' has {} inputs instead of one", graph.input.len()).into());
    }
    let results = node.importer.import_inline(graph, &[x])?;
    let &[result] = &results[..] else {
        return Err(format!("attribute '{name}' has {} outputs instead of one", results.len()).into());
    };
    let (given, made) = (node.dtype(x)?, node.dtype(result)?);
    if given != made {
        return Err(format!(
            "attribute '{name}' takes elements of type {given} and gives elements of type {made}"
        )
        .into());
    }
    Ok(result)
}
