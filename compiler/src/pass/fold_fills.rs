//! Computes large tensors that are filled with a constant, and what constants alone make up then. A
//! device program copies them to the device once, and does not fill them in each call.

use tfrt_ir::OpId;

use super::{
    fold_dequantized::fold_user,
    rewrite::{Rewriter, apply},
};
use crate::{Evaluator, Graph};

/// Larger tensors are left to the device.
const MAX_BYTES: u64 = 1 << 30;

pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[fold_fill, fold_user]);
}

fn fold_fill(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != *"tf.Fill" {
        return None;
    }
    if rewriter.ty(rewriter.result(op)?)?.size_bytes()? > MAX_BYTES {
        return None;
    }
    let folded = rewriter.evaluate(op)?;
    rewriter.replace(op, &folded)
}
