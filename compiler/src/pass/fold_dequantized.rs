//! Dequantizes constants, and computes what constants alone make up then.
//!
//! The importer leaves dequantized matrices alone, since products may take the bytes.

use tfrt_ir::{OpId, ValueId};

use super::{
    fuse_quantized::{DEQUANTIZE, is_move},
    rewrite::{Rewriter, apply},
};
use crate::{Evaluator, Graph};

/// What takes bytes instead of the numbers that they stand for, as an operand.
const TAKES_BYTES: &[&str] = &["tf.BatchMatMulV2", "tf.Conv2D", "tf.GatherV2", "tf.MatMul"];

/// Dequantizes constants that no product takes.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[dequantize_other, fold_user]);
}

/// Dequantizes all constants.
pub(super) fn run_again(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[dequantize, fold_user]);
}

fn dequantize(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != *DEQUANTIZE {
        return None;
    }
    let folded = rewriter.evaluate(op)?;
    rewriter.replace(op, &folded)
}

fn dequantize_other(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name == *DEQUANTIZE && meets_product(rewriter, rewriter.result(op)?) {
        return None;
    }
    dequantize(rewriter, op)
}

/// Whether all that uses a value takes bytes, perhaps after they are moved.
fn meets_product(rewriter: &Rewriter<'_>, value: ValueId) -> bool {
    rewriter.graph.module.uses_of(value).all(|used| {
        let takes_bytes = TAKES_BYTES.contains(&rewriter.op(used.op).name.as_str());
        takes_bytes
            || is_move(rewriter, used.op)
                && rewriter.result(used.op).is_some_and(|moved| meets_product(rewriter, moved))
    })
}

/// What takes constants that were computed may take nothing else.
pub(super) fn fold_user(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let folded = rewriter.fold(op)?;
    rewriter.replace(op, &folded)
}
