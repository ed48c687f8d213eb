//! Proofs that two values have the same number of images where that number is open until the program
//! runs: both have that of a common value that they are computed from.

use std::collections::HashMap;

use tfrt_ir::{OpId, ValueId};

use super::fuse_convolution::FUSED as CONVOLUTION;
use super::rewrite::Rewriter;

/// How many ops of several operands may lie within each other.
const MAX_DEPTH: usize = 64;

/// Ops whose result has the first dimension of their first operand.
const KEEPING: &[&str] = &[
    "tf.Abs",
    "tf.AvgPool",
    "tf.BiasAdd",
    "tf.Conv2D",
    "tf.Elu",
    "tf.Exp",
    "tf.Gelu",
    "tf.Identity",
    "tf.LeakyRelu",
    "tf.MaxPool",
    "tf.Neg",
    "tf.Relu",
    "tf.Relu6",
    "tf.Selu",
    "tf.Sigmoid",
    "tf.Softplus",
    "tf.Softsign",
    "tf.Sqrt",
    "tf.Square",
    "tf.Tanh",
];

/// Ops whose operands are broadcast together.
const BROADCASTING: &[&str] =
    &["tf.AddV2", "tf.Maximum", "tf.Minimum", "tf.Mul", "tf.RealDiv", "tf.SquaredDifference", "tf.Sub"];

/// Returns whether two values of the same rank have the same shape whenever the program runs.
pub(super) fn have_same_shape(rewriter: &Rewriter<'_>, a: ValueId, b: ValueId) -> bool {
    let dims = |value| rewriter.ty(value).and_then(|ty| ty.dims);
    let (Some(left), Some(right)) = (dims(a), dims(b)) else { return false };
    let (Some((first, left)), Some((other, right))) = (left.split_first(), right.split_first()) else {
        return left == right;
    };
    if left != right || left.contains(&None) {
        return false;
    }
    let mut origins = Origins { rewriter, known: HashMap::new() };
    first == other && (first.is_some() || origins.of(a, 0) == origins.of(b, 0))
}

/// For each value the earliest one that is known to have the same first dimension.
struct Origins<'a, 'g> {
    rewriter: &'a Rewriter<'g>,
    known: HashMap<ValueId, ValueId>,
}

impl Origins<'_, '_> {
    fn of(&mut self, value: ValueId, depth: usize) -> ValueId {
        let (mut path, mut at) = (Vec::new(), value);
        loop {
            if let Some(&known) = self.known.get(&at) {
                at = known;
                break;
            }
            path.push(at);
            match self.before(at, depth) {
                Some(before) => at = before,
                None => break,
            }
        }
        self.known.extend(path.into_iter().map(|value| (value, at)));
        at
    }

    /// Returns a value that the defining operation takes and whose first dimension it keeps.
    fn before(&mut self, value: ValueId, depth: usize) -> Option<ValueId> {
        let op = self.rewriter.graph.module.defining_op(value)?;
        let operation = self.rewriter.op(op);
        let name = operation.name.as_str();
        if KEEPING.contains(&name) || name == CONVOLUTION {
            return operation.operands.first().copied();
        }
        match name {
            "tf.Mean" => self.is_inside(op).then_some(operation.operands[0]),
            _ if BROADCASTING.contains(&name) => self.common(op, value, depth),
            _ => None,
        }
    }

    /// Whether a reduction leaves the first dimension.
    fn is_inside(&self, op: OpId) -> bool {
        let [x, axes] = self.rewriter.op(op).operands[..] else { return false };
        let rank = self.rewriter.ty(x).and_then(|ty| ty.rank());
        let (Some(rank), Some(axes)) = (rank, self.rewriter.integers(axes)) else { return false };
        axes.iter().all(|&axis| axis != 0 && axis != -(rank as i64))
    }

    /// Returns the origin that all operands have that are not broadcast along the first dimension.
    fn common(&mut self, op: OpId, result: ValueId, depth: usize) -> Option<ValueId> {
        let rank = self.rewriter.ty(result)?.rank()?;
        let operands = self.rewriter.op(op).operands.clone();
        let mut origin = None;
        for operand in operands {
            let dims = self.rewriter.ty(operand)?.dims?;
            if dims.len() < rank || dims.first() == Some(&Some(1)) {
                continue;
            }
            if depth == MAX_DEPTH {
                return None;
            }
            let own = self.of(operand, depth + 1);
            if *origin.get_or_insert(own) != own {
                return None;
            }
        }
        origin
    }
}
