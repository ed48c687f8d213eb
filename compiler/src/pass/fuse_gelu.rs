//! Makes one op of Gaussian error linear units, which exporters write as products and sums around
//! an error function or a hyperbolic tangent.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, OpId, ValueId};
use tfrt_tensor::{Accessor, bf16, f16};

use super::rewrite::{Rewriter, apply};
use crate::{Evaluator, Graph};

static READ: Accessor = Accessor::new("fusion of activations");

/// The factor of the cube in the approximation by a hyperbolic tangent.
const CUBE: f32 = 0.044_715;

/// Fuses activations.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[fuse]);
}

/// The number that a constant of a floating-point type is.
fn number(rewriter: &Rewriter<'_>, value: ValueId) -> Option<f32> {
    let constant = rewriter.constant(value)?;
    if constant.shape().num_elements().ok()? != 1 {
        return None;
    }
    let constant = constant.dense().ok()?;
    match constant.dtype() {
        DType::F32 => constant.read::<f32>(&READ).ok()?.first().copied(),
        DType::F16 => Some(constant.read::<f16>(&READ).ok()?.first()?.to_f32()),
        DType::BF16 => Some(constant.read::<bf16>(&READ).ok()?.first()?.to_f32()),
        _ => None,
    }
}

/// How far a number of a type may be from another, relative to it, to be the same up to the rounding
/// of the constants that it is the product of. `None` for types that are not fused.
fn tolerance(dtype: DType) -> Option<f32> {
    match dtype {
        DType::F32 => Some(1e-5),
        DType::F16 => Some(2.0 * f16::EPSILON.to_f32()),
        DType::BF16 => Some(2.0 * bf16::EPSILON.to_f32()),
        _ => None,
    }
}

/// Whether two numbers are the same up to rounding.
fn is_near(rewriter: &Rewriter<'_>, value: ValueId, a: f32, b: f32) -> bool {
    let tolerance = rewriter.ty(value).and_then(|ty| tolerance(ty.dtype));
    tolerance.is_some_and(|tolerance| (a - b).abs() <= tolerance * b.abs())
}

/// The factors of a product that are no constants, and the product of those that are. Products
/// within are taken apart unless something else uses them.
fn factors(rewriter: &Rewriter<'_>, value: ValueId, is_root: bool) -> (Vec<ValueId>, f32) {
    if let Some(number) = number(rewriter, value) {
        return (Vec::new(), number);
    }
    let alone = (vec![value], 1.0);
    if !is_root && !rewriter.has_one_use(value) {
        return alone;
    }
    let operands = |name| rewriter.defined_by(value, name).map(|op| rewriter.op(op).operands.clone());
    if let Some(operands) = operands("tf.Mul") {
        let ((mut all, a), (more, b)) =
            (factors(rewriter, operands[0], false), factors(rewriter, operands[1], false));
        all.extend(more);
        return (all, a * b);
    }
    if let Some(operands) = operands("tf.RealDiv")
        && let Some(divisor) = number(rewriter, operands[1])
    {
        let (all, factor) = factors(rewriter, operands[0], false);
        return (all, factor / divisor);
    }
    if let Some(operands) = operands("tf.Pow")
        && let Some(exponent @ (2.0 | 3.0)) = number(rewriter, operands[1])
    {
        return (vec![operands[0]; exponent as usize], 1.0);
    }
    match operands("tf.Square") {
        Some(operands) => (vec![operands[0]; 2], 1.0),
        None => alone,
    }
}

/// The operand that is added to a constant of one, if nothing else uses the sum.
fn beside_one(rewriter: &Rewriter<'_>, value: ValueId) -> Option<ValueId> {
    let sum = rewriter.defined_by(value, "tf.AddV2").filter(|_| rewriter.has_one_use(value))?;
    let (a, b) = (rewriter.op(sum).operands[0], rewriter.op(sum).operands[1]);
    match (number(rewriter, a), number(rewriter, b)) {
        (Some(1.0), _) => Some(b),
        (_, Some(1.0)) => Some(a),
        _ => None,
    }
}

/// What a function that nothing else needs takes.
fn argument(rewriter: &Rewriter<'_>, value: ValueId, name: &str) -> Option<ValueId> {
    let op = rewriter.defined_by(value, name).filter(|_| rewriter.has_one_use(value))?;
    Some(rewriter.op(op).operands[0])
}

/// Whether a value is the product of this number and a power of `x`.
fn is_power(rewriter: &Rewriter<'_>, value: ValueId, (x, count): (ValueId, usize), number: f32) -> bool {
    let (all, factor) = factors(rewriter, value, false);
    all == vec![x; count] && is_near(rewriter, value, factor, number)
}

/// Whether a value is `√(2/π) · (x + 0.044715 · x³)`, perhaps with `x` outside the parentheses.
fn is_cubic(rewriter: &Rewriter<'_>, value: ValueId, x: ValueId) -> bool {
    let (all, factor) = factors(rewriter, value, false);
    if !is_near(rewriter, value, factor, FRAC_2_SQRT_PI * FRAC_1_SQRT_2) {
        return false;
    }
    match all[..] {
        [sum] => {
            let Some(op) = rewriter.defined_by(sum, "tf.AddV2").filter(|_| rewriter.has_one_use(sum)) else {
                return false;
            };
            let (a, b) = (rewriter.op(op).operands[0], rewriter.op(op).operands[1]);
            let fits = |a, b| a == x && is_power(rewriter, b, (x, 3), CUBE);
            fits(a, b) || fits(b, a)
        }
        [a, b] => {
            let sum = if a == x { b } else { a };
            let square = beside_one(rewriter, sum);
            (a == x || b == x) && square.is_some_and(|square| is_power(rewriter, square, (x, 2), CUBE))
        }
        _ => false,
    }
}

/// `x · ½ · (1 + erf(x / √2))`, and `x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`.
fn fuse(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.Mul" {
        return None;
    }
    let result = rewriter.result(op)?;
    let (all, factor) = factors(rewriter, result, true);
    let [a, b] = all[..] else { return None };
    if !is_near(rewriter, result, factor, 0.5) {
        return None;
    }
    let (x, function) = match (beside_one(rewriter, a), beside_one(rewriter, b)) {
        (None, Some(function)) => (a, function),
        (Some(function), None) => (b, function),
        _ => return None,
    };
    let approximate = match argument(rewriter, function, "tf.Erf") {
        Some(inner) => is_power(rewriter, inner, (x, 1), FRAC_1_SQRT_2).then_some(false)?,
        None => is_cubic(rewriter, argument(rewriter, function, "tf.Tanh")?, x).then_some(true)?,
    };
    let (ty, own) = (rewriter.ty(x)?, rewriter.ty(result)?);
    // Constants of more dimensions would change the shape.
    if ty != own {
        return None;
    }
    let mut attributes = AttrDict::default();
    attributes.set("approximate", Attribute::Bool(approximate));
    let ty = rewriter.graph.module.value_type(result).clone();
    let fused = rewriter.create_typed("tf.Gelu", &[x], attributes, ty);
    rewriter.replace(op, &[fused])
}
