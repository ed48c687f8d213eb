//! Makes one op of attention: the product of queries and keys, a scale, a mask, a softmax, and the
//! product with values. The transposes that give heads a dimension of their own become orders in
//! which the op takes its arguments. Keys and values that are repeated for several heads are shared.
//!
//! The op computes scores and weights of narrow types in `f32`, so that casts between the products
//! and the softmax have no use.

use tfrt_host::DType;
use tfrt_ir::{Attribute, OpId, ValueId};
use tfrt_tensor::{Accessor, HostTensor, bf16, f16};

use super::rewrite::{Rewriter, apply};
use super::share_heads::share_heads;
use super::transpose::transposed;
use crate::{Evaluator, Graph};

static READ: Accessor = Accessor::new("fusion of attention");

/// The fused op and its attributes.
pub(super) const FUSED: &str = "tfrt.FusedAttention";
const SCALE: &str = "scale";
pub(super) const OUTPUT_ORDER: &str = "output_order";
const PRODUCT: &str = "tf.BatchMatMulV2";

/// Fuses attention.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[fuse, move_transpose_in]);
    apply(graph, evaluator, &[share_heads]);
}

/// A value, and the order in which its axes are taken.
struct Operand {
    value: ValueId,
    order: Vec<usize>,
}

impl Operand {
    /// The matrices that a product takes; with the last two axes swapped if `is_swapped`.
    fn new(rewriter: &Rewriter<'_>, value: ValueId, is_swapped: bool) -> Option<Self> {
        let ty = rewriter.ty(value).filter(|ty| is_taken(ty.dtype))?;
        let rank = ty.rank().filter(|&rank| rank >= 2)?;
        let mut order: Vec<_> = (0..rank).collect();
        if is_swapped {
            order.swap(rank - 1, rank - 2);
        }
        Some(Self { value, order })
    }

    fn is_last_in_place(&self) -> bool {
        self.order.last().map(|&axis| axis + 1) == Some(self.order.len())
    }

    /// Takes what a transpose takes, as long as `suits` says that this is allowed.
    fn strip_transposes(&mut self, rewriter: &Rewriter<'_>, suits: impl Fn(&Self) -> bool) {
        while let Some((value, inner)) = transposed(rewriter, self.value) {
            let order = self.order.iter().map(|&axis| inner[axis]).collect();
            let before = Self { value, order };
            if !suits(&before) {
                return;
            }
            *self = before;
        }
    }

    /// Like [`strip_transposes`](Self::strip_transposes), for queries and keys, whose factors
    /// become part of the scale.
    fn strip(&mut self, rewriter: &Rewriter<'_>, scale: &mut f32, suits: impl Fn(&Self) -> bool) {
        loop {
            self.strip_transposes(rewriter, &suits);
            match factor(rewriter, self.value) {
                Some((value, factor)) => (self.value, *scale) = (value, *scale * factor),
                None => return,
            }
        }
    }
}

/// The types that the op takes.
fn is_taken(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F16 | DType::BF16)
}

/// What was cast between types that the op takes, for this use alone.
fn before_cast(rewriter: &Rewriter<'_>, value: ValueId) -> ValueId {
    let source = || {
        let cast = rewriter.defined_by(value, "tf.Cast").filter(|_| rewriter.has_one_use(value))?;
        let source = rewriter.op(cast).operands[0];
        let are_taken =
            [source, value].iter().all(|&value| rewriter.ty(value).is_some_and(|ty| is_taken(ty.dtype)));
        are_taken.then_some(source)
    };
    source().unwrap_or(value)
}

fn first_element(tensor: &HostTensor) -> Option<f32> {
    let dense = tensor.dense().ok()?;
    match dense.dtype() {
        DType::F16 => dense.read::<f16>(&READ).ok()?.first().map(|x| x.to_f32()),
        DType::BF16 => dense.read::<bf16>(&READ).ok()?.first().map(|x| x.to_f32()),
        _ => dense.read::<f32>(&READ).ok()?.first().copied(),
    }
}

/// The number that a constant is, which is broadcast to at most `rank` dimensions.
fn number(rewriter: &Rewriter<'_>, value: ValueId, rank: usize) -> Option<f32> {
    let constant = rewriter.constant(value)?;
    if constant.shape().rank() > rank || constant.shape().num_elements().ok()? != 1 {
        return None;
    }
    first_element(constant)
}

/// What is multiplied with a number, and the number.
fn factor(rewriter: &Rewriter<'_>, value: ValueId) -> Option<(ValueId, f32)> {
    if !rewriter.has_one_use(value) {
        return None;
    }
    let rank = rewriter.ty(value)?.rank()?;
    let operands = |name| rewriter.defined_by(value, name).map(|op| rewriter.op(op).operands.clone());
    if let Some(operands) = operands("tf.Mul") {
        let (a, b) = (operands[0], operands[1]);
        let found = number(rewriter, b, rank).map(|number| (a, number));
        let found = found.or_else(|| number(rewriter, a, rank).map(|number| (b, number)));
        return found.filter(|&(value, _)| rewriter.ty(value).and_then(|ty| ty.rank()) == Some(rank));
    }
    let operands = operands("tf.RealDiv")?;
    let divisor = number(rewriter, operands[1], rank)?;
    let is_whole = rewriter.ty(operands[0]).and_then(|ty| ty.rank()) == Some(rank);
    is_whole.then_some((operands[0], 1.0 / divisor))
}

/// The scores' product behind a scale, and that scale.
fn scaled_product(rewriter: &Rewriter<'_>, mut value: ValueId) -> Option<(OpId, f32)> {
    let mut scale = 1.0;
    value = before_cast(rewriter, value);
    while let Some((inner, number)) = factor(rewriter, value) {
        (value, scale) = (before_cast(rewriter, inner), scale * number);
    }
    let product = rewriter.defined_by(value, PRODUCT).filter(|_| rewriter.has_one_use(value))?;
    Some((product, scale))
}

/// The scores that a softmax takes: their product, the scale and the mask.
fn scores(rewriter: &Rewriter<'_>, value: ValueId) -> Option<(OpId, f32, Option<ValueId>)> {
    if let Some((product, scale)) = scaled_product(rewriter, value) {
        return Some((product, scale, None));
    }
    let value = before_cast(rewriter, value);
    let sum = rewriter.defined_by(value, "tf.AddV2").filter(|_| rewriter.has_one_use(value))?;
    let (a, b) = (rewriter.op(sum).operands[0], rewriter.op(sum).operands[1]);
    let pick =
        |scores, mask| scaled_product(rewriter, scores).map(|(product, scale)| (product, scale, Some(mask)));
    pick(a, b).or_else(|| pick(b, a))
}

pub(super) fn order_attribute(order: &[usize]) -> Attribute {
    Attribute::array(order.iter().map(|&axis| Attribute::i64(axis as i64)).collect::<Vec<_>>())
}

fn fuse(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != *PRODUCT || rewriter.flag(op, "adj_x") {
        return None;
    }
    let (weights, values) = (rewriter.op(op).operands[0], rewriter.op(op).operands[1]);
    let weights = before_cast(rewriter, weights);
    let softmax = rewriter.defined_by(weights, "tf.Softmax").filter(|_| rewriter.has_one_use(weights))?;
    let (product, mut scale, mask) = scores(rewriter, rewriter.op(softmax).operands[0])?;
    if rewriter.flag(product, "adj_x") {
        return None;
    }
    let (queries, keys) = (rewriter.op(product).operands[0], rewriter.op(product).operands[1]);
    let mut queries = Operand::new(rewriter, queries, false)?;
    let mut keys = Operand::new(rewriter, keys, !rewriter.flag(product, "adj_y"))?;
    let mut values = Operand::new(rewriter, values, rewriter.flag(op, "adj_y"))?;
    let rank = queries.order.len();
    let types = [queries.value, keys.value, values.value].map(|value| rewriter.ty(value).map(|ty| ty.dtype));
    let dtype = types[0]?;
    let mask_rank = match mask {
        Some(mask) => rewriter.ty(mask).filter(|ty| ty.dtype == dtype || ty.dtype == DType::F32)?.rank()?,
        None => 0,
    };
    if types != [Some(dtype); 3] {
        return None;
    }
    if keys.order.len() != rank || values.order.len() != rank || mask_rank > rank {
        return None;
    }
    // The elements of a query must be adjacent.
    queries.strip(rewriter, &mut scale, Operand::is_last_in_place);
    keys.strip(rewriter, &mut scale, |_| true);
    values.strip_transposes(rewriter, |_| true);
    if !scale.is_finite() {
        return None;
    }
    let identity: Vec<_> = (0..rank).collect();
    let attributes = [
        ("query_order", order_attribute(&queries.order)),
        ("key_order", order_attribute(&keys.order)),
        ("value_order", order_attribute(&values.order)),
        (OUTPUT_ORDER, order_attribute(&identity)),
        (SCALE, Attribute::f32(scale)),
    ];
    let operands: Vec<_> = [queries.value, keys.value, values.value].into_iter().chain(mask).collect();
    let result = rewriter.create(FUSED, &operands, attributes)?;
    rewriter.replace(op, &[result])
}

/// A transpose of the results that leaves their last axis in its place is the order in which they
/// are given.
fn move_transpose_in(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (source, outer) = transposed(rewriter, rewriter.result(op)?)?;
    let fused = rewriter.defined_by(source, FUSED).filter(|_| rewriter.has_one_use(source))?;
    let mut attributes = rewriter.op(fused).attributes.clone();
    let inner = attributes.get(OUTPUT_ORDER)?.as_array()?;
    let inner: Vec<_> =
        inner.iter().map(|axis| usize::try_from(axis.as_int()?).ok()).collect::<Option<_>>()?;
    let order: Vec<_> = outer.iter().map(|&axis| inner[axis]).collect();
    if order.last().map(|&axis| axis + 1) != Some(order.len()) {
        return None;
    }
    attributes.set(OUTPUT_ORDER, order_attribute(&order));
    let operands = rewriter.op(fused).operands.clone();
    let result = rewriter.create(FUSED, &operands, attributes.entries().to_vec())?;
    rewriter.set_location_of(fused);
    rewriter.replace(op, &[result])
}
