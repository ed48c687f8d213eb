//! Stores the constant filters of fused convolutions in the order in which device libraries read
//! them, so that no run has to transpose them.

use tfrt_ir::{Attribute, OpId};

use super::{
    fuse_convolution::FUSED,
    rewrite::{Rewriter, apply},
};
use crate::{Evaluator, Graph};

/// The attribute with the order of a filter's dimensions.
const FILTER_LAYOUT: &str = "filter_format";

pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[lay_out]);
}

/// From rows, columns, inputs, outputs to outputs, rows, columns, inputs.
fn lay_out(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != FUSED || operation.attr(FILTER_LAYOUT).is_some() {
        return None;
    }
    let (mut operands, mut attributes) = (operation.operands.clone(), operation.attributes.clone());
    rewriter.constant(operands[1])?;
    let order = rewriter.create_integers(&[3, 0, 1, 2])?;
    let none: [(&str, Attribute); 0] = [];
    operands[1] = rewriter.create("tf.Transpose", &[operands[1], order], none)?;
    attributes.set(FILTER_LAYOUT, Attribute::string("OHWI"));
    let result = rewriter.create(FUSED, &operands, attributes.entries().to_vec())?;
    rewriter.replace(op, &[result])
}
