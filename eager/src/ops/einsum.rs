//! Sums of products, defined by an equation that labels the operands' axes: `tf.Einsum`.
//!
//! Each operand becomes a batch of matrices: the diagonal is taken of axes with the same label,
//! labels that occur nowhere else are summed, and the remaining axes are reordered. The axes of the
//! matrix products are then put into the order of the result; if it repeats a label, they become a
//! diagonal.

use tfrt_host::{AsyncValueRef, Diagnostic, Promise};
use tfrt_tensor::{DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::images::turned;
use super::matmul::products;
use super::moves::Moves;
use super::reduce::summed;
use super::support::{Computed, Described, allocate, invalid, one, product};
use super::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, OpResult, attr};

/// The label of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Named(char),
    /// One of the axes that an ellipsis stands for, counted from the last one.
    Broadcast(usize),
}

/// The labels before an ellipsis, and after it if there is one.
struct Subscript {
    before: Vec<char>,
    behind: Option<Vec<char>>,
}

impl Subscript {
    fn new(text: &str) -> Result<Self, Diagnostic> {
        let (before, behind) = match text.split_once("...") {
            Some((before, behind)) => (before, Some(behind)),
            None => (text, None),
        };
        if before.contains('.') || behind.is_some_and(|behind| behind.contains('.')) {
            return Err(invalid(format!("'{text}' has a point that is not part of one ellipsis")));
        }
        Ok(Self { before: before.chars().collect(), behind: behind.map(|behind| behind.chars().collect()) })
    }

    fn named(&self) -> usize {
        self.before.len() + self.behind.as_ref().map_or(0, Vec::len)
    }

    /// Returns the number of axes that the ellipsis stands for in an operand of this shape.
    fn broadcast(&self, number: usize, shape: &TensorShape) -> Result<usize, Diagnostic> {
        let (named, rank) = (self.named(), shape.rank());
        match rank.checked_sub(named) {
            Some(rest) if rest == 0 || self.behind.is_some() => Ok(rest),
            _ => Err(invalid(format!("Expected input {number} to have rank {named} but got: {rank}"))),
        }
    }

    /// Returns all labels, where the ellipsis stands for `broadcast` axes.
    fn labels(&self, broadcast: usize) -> Vec<Label> {
        let behind = self.behind.iter().flatten();
        let named = |&name: &char| Label::Named(name);
        let ellipsis = (0..broadcast).rev().map(Label::Broadcast);
        self.before.iter().map(named).chain(ellipsis).chain(behind.map(named)).collect()
    }
}

/// The extent of the axes with each label.
#[derive(Default)]
struct Extents(Vec<(Label, usize)>);

impl Extents {
    /// Adds an axis, which must have the same extent or be broadcast.
    fn add(&mut self, label: Label, extent: usize) -> Result<(), Diagnostic> {
        let Some((_, known)) = self.0.iter_mut().find(|(other, _)| *other == label) else {
            self.0.push((label, extent));
            return Ok(());
        };
        match label {
            _ if *known == extent => {}
            Label::Broadcast(_) if extent == 1 => {}
            Label::Broadcast(_) if *known == 1 => *known = extent,
            _ => return Err(invalid(format!("Expected dimension {known} but got dimension {extent}"))),
        }
        Ok(())
    }

    fn of(&self, label: Label) -> Option<usize> {
        self.0.iter().find(|(other, _)| *other == label).map(|&(_, extent)| extent)
    }

    /// Returns the extents of known labels.
    fn all(&self, labels: &[Label]) -> Vec<usize> {
        labels.iter().filter_map(|&label| self.of(label)).collect()
    }
}

/// The conversion of an operand to a batch of matrices.
#[derive(Debug)]
pub(super) struct Operand {
    /// The index of the argument.
    pub(super) argument: usize,
    /// The selection of diagonals, with one axis for each label.
    pub(super) diagonal: Moves,
    /// The axes that are summed.
    pub(super) summed: Vec<usize>,
    /// The order of the remaining axes.
    pub(super) order: Vec<usize>,
    /// The extents of the batch, rows and columns (for a single operand, of the remaining axes).
    pub(super) dims: Vec<usize>,
    /// Whether the matrices are transposed.
    pub(super) transposed: bool,
}

/// The plan for an equation.
#[derive(Debug)]
pub(super) struct Einsum {
    /// The single operand, or both factors of a product.
    pub(super) operands: Vec<Operand>,
    /// The extents of the result's distinct labels, in the order of the operands.
    pub(super) dims: Vec<usize>,
    /// The order of these axes in the result.
    pub(super) order: Vec<usize>,
    /// Their positions in the result, which is zero elsewhere.
    pub(super) diagonal: Moves,
    /// The result's shape.
    pub(super) result: TensorShape,
}

/// The labels of axes, and for each axis of a tensor the index of its label.
type Axes = (Vec<Label>, Vec<Option<usize>>);

/// Returns each label once, and the index of the label of each axis. Axes along which an operand is
/// broadcast have none.
fn distinct(labels: &[Label], dims: &[usize], extents: &Extents) -> Axes {
    let mut own: Vec<Label> = Vec::new();
    let place = |(&label, &dim): (&Label, &usize)| {
        if extents.of(label) != Some(dim) {
            return None;
        }
        let known = own.iter().position(|&other| other == label);
        Some(known.unwrap_or_else(|| {
            own.push(label);
            own.len() - 1
        }))
    };
    let places = labels.iter().zip(dims).map(place).collect();
    (own, places)
}

/// Returns the position of each label of `wanted` in `labels`, which contain all of them.
fn order(labels: &[Label], wanted: &[Label]) -> Vec<usize> {
    wanted.iter().filter_map(|label| labels.iter().position(|other| other == label)).collect()
}

/// Returns the labels that satisfy a test.
fn those(labels: &[Label], test: impl Fn(&Label) -> bool) -> Vec<Label> {
    labels.iter().copied().filter(test).collect()
}

impl Einsum {
    /// Plans an equation for operands of these shapes.
    pub(super) fn new(attrs: &OpAttrs, shapes: &[&TensorShape]) -> Result<Self, Diagnostic> {
        let equation: &str = attrs.required("equation")?;
        let sides = equation.split_once("->").filter(|(_, output)| !output.contains("->"));
        let (inputs, output) = sides
            .ok_or_else(|| invalid(format!("Expecting exactly one '->' in einsum equation: {equation}")))?;
        let inputs = inputs.split(',').map(Subscript::new).collect::<Result<Vec<_>, _>>()?;
        if inputs.len() > 2 || inputs.len() != shapes.len() {
            return Err(invalid(format!(
                "Expecting 1 or 2 input subscripts in equation '{equation}', one for each of {} operands",
                shapes.len()
            )));
        }
        let (mut extents, mut labels, mut broadcast) = (Extents::default(), Vec::new(), 0);
        for (number, (subscript, shape)) in inputs.iter().zip(shapes).enumerate() {
            let count = subscript.broadcast(number, shape)?;
            broadcast = broadcast.max(count);
            let own = subscript.labels(count);
            own.iter().zip(shape.dims()).try_for_each(|(&label, &dim)| extents.add(label, dim))?;
            labels.push(own);
        }
        let output = Subscript::new(output)?;
        if broadcast > 0 && output.behind.is_none() {
            return Err(invalid(format!(
                "Output contains {broadcast} broadcasting dimension(s) but no ellipsis (...) was found in the output \
                 subscripts."
            )));
        }
        let output = output.labels(broadcast);
        let dims = extents.all(&output);
        if dims.len() != output.len() {
            // TensorFlow omits such a label, or crashes if the remaining axes must be reordered.
            return Err(invalid(format!("the result of '{equation}' has a label that no operand has")));
        }
        let result = TensorShape::new(&dims)?;
        result.num_elements()?;
        let (wanted, places) = distinct(&output, &dims, &extents);
        let own: Vec<_> = labels
            .iter()
            .zip(shapes)
            .map(|(labels, shape)| distinct(labels, shape.dims(), &extents))
            .collect();
        let (operands, given) = match own.as_slice() {
            [own] => {
                let left = those(&own.0, |label| wanted.contains(label));
                let dims = extents.all(&left);
                let operand = operand((0, shapes[0]), own, &left, (&left, dims), false);
                (vec![operand], left)
            }
            own => factors(own, shapes, &wanted, &extents),
        };
        Ok(Self {
            operands,
            dims: extents.all(&given),
            order: order(&given, &wanted),
            diagonal: Moves::diagonal(&dims, &places, wanted.len()),
            result,
        })
    }

    /// Returns the shape of the product of both operands: a batch of matrices.
    pub(super) fn products(&self) -> [usize; 3] {
        let side =
            |operand: &Operand, axis: usize| operand.dims[if operand.transposed { 3 - axis } else { axis }];
        match self.operands.as_slice() {
            [left, right] => [left.dims[0], side(left, 1), side(right, 2)],
            _ => [1, 1, product(&self.dims)],
        }
    }

    /// Returns the result from the operand or the products.
    fn finish(&self, call: &CpuCall<'_>, x: &DenseHostTensor) -> Result<DenseHostTensor, Diagnostic> {
        let x = in_order(call, x.reshape(TensorShape::new(&self.dims)?)?, &self.order)?;
        match self.diagonal.is_identity(self.result.num_elements()?) {
            true => x.reshape(self.result.clone()),
            false => self.diagonal.give_back(call, &x, &self.result),
        }
    }
}

/// Plans the operand with these labels and axes, reordered and reshaped.
fn operand(
    (argument, shape): (usize, &TensorShape),
    (own, places): &Axes,
    left: &[Label],
    (wanted, dims): (&[Label], Vec<usize>),
    transposed: bool,
) -> Operand {
    Operand {
        argument,
        diagonal: Moves::diagonal(shape.dims(), places, own.len()),
        summed: (0..own.len()).filter(|&axis| !left.contains(&own[axis])).collect(),
        order: order(left, wanted),
        dims,
        transposed,
    }
}

/// Plans two operands as factors of a product, and returns the labels of its axes.
fn factors(
    own: &[Axes],
    shapes: &[&TensorShape],
    wanted: &[Label],
    extents: &Extents,
) -> (Vec<Operand>, Vec<Label>) {
    let has = |argument: usize, label: &Label| own[argument].0.contains(label);
    let batch = those(wanted, |label| has(0, label) && has(1, label));
    let free =
        [0, 1].map(|argument| those(wanted, |label| has(argument, label) && !has(1 - argument, label)));
    let contracted = those(&own[0].0, |label| has(1, label) && !wanted.contains(label));
    // Chooses the left factor so that the products need no reordering, if possible.
    let given = |[left, right]: [usize; 2]| [&batch[..], &free[left], &free[right]].concat();
    let sides = if given([1, 0]) == wanted { [1, 0] } else { [0, 1] };
    let factor = |(side, argument): (usize, usize)| {
        let own = &own[argument];
        let left =
            those(&own.0, |label| [&batch, &free[argument], &contracted].iter().any(|l| l.contains(label)));
        // The left factor's rows are free, and so are the right one's columns.
        let mut parts = [&free[argument], &contracted];
        if side == 1 {
            parts.reverse();
        }
        let orders = [[parts[0], parts[1]], [parts[1], parts[0]]];
        let all = |[rows, columns]: [&Vec<Label>; 2]| [&batch[..], rows, columns].concat();
        let transposed = all(orders[0]) != left && all(orders[1]) == left;
        let [rows, columns] = orders[usize::from(transposed)];
        let dims = [&batch, rows, columns].map(|labels| product(&extents.all(labels)));
        let wanted = all([rows, columns]);
        operand((argument, shapes[argument]), own, &left, (&wanted, dims.to_vec()), transposed)
    };
    (sides.into_iter().enumerate().map(factor).collect(), given(sides))
}

/// Returns a tensor with its axes in another order.
fn in_order(call: &CpuCall<'_>, x: DenseHostTensor, order: &[usize]) -> Result<DenseHostTensor, Diagnostic> {
    if order.is_sorted() {
        return Ok(x);
    }
    turned(call, &x, order)
}

fn prepared(call: &CpuCall<'_>, operand: &Operand) -> Result<DenseHostTensor, Diagnostic> {
    let x = call.arguments[operand.argument].dense()?;
    let dims = operand.diagonal.dims().to_vec();
    let mut x = match operand.diagonal.is_identity(x.num_elements()) {
        true => x.reshape(TensorShape::new(&dims)?)?,
        false => operand.diagonal.clone().copy_dense(call, x, &dims)?,
    };
    if !operand.summed.is_empty() {
        x = summed(call, &x, &operand.summed, "tf.Einsum")?;
    }
    in_order(call, x, &operand.order)?.reshape(TensorShape::new(&operand.dims)?)
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [first, ref rest @ ..] = *call.arguments else {
        return Err(invalid("tf.Einsum takes at least one operand"));
    };
    if let Some(other) = rest.iter().find(|other| other.dtype != first.dtype) {
        return Err(invalid(format!(
            "incompatible dtypes for tf.Einsum: {} and {}",
            first.dtype, other.dtype
        )));
    }
    let shapes: Vec<_> = call.arguments.iter().map(|argument| &argument.shape).collect();
    one(TensorMetadata::new(first.dtype, Einsum::new(call.attrs, &shapes)?.result))
}

fn einsum(call: CpuCall<'_>) -> Computed {
    let shapes: Vec<_> = call.arguments.iter().map(|argument| argument.shape()).collect();
    let plan = Einsum::new(call.attrs, &shapes)?;
    if shapes.iter().any(|shape| shape.dims().contains(&0)) {
        // The sums have no terms.
        return Ok(call.allocate(0)?.into());
    }
    let operands = plan.operands.iter().map(|operand| prepared(&call, operand));
    match &*operands.collect::<Result<Vec<_>, _>>()? {
        [left, right] => {
            let flags = [plan.operands[0].transposed, plan.operands[1].transposed];
            let out = allocate(&call, left.dtype(), &plan.products())?;
            finished(&call, products(&call, "tf.Einsum", [left, right], out, flags, false)?, plan)
        }
        only => Ok(plan.finish(&call, &only[0])?.into()),
    }
}

/// Returns the result when the products are available.
fn finished(call: &CpuCall<'_>, mut products: OpResult, plan: Einsum) -> Computed {
    let products = products.tensors.pop().ok_or_else(|| Diagnostic::internal("a product has no result"))?;
    let (promise, result): (Promise<HostTensor>, _) = Promise::new();
    let cx = call.cx.clone();
    AsyncValueRef::<HostTensor>::from_untyped(products).then(move |outcome| match outcome {
        Ok(products) => {
            let attrs = OpAttrs::new();
            let call = CpuCall { cx: &cx, arguments: &[], attrs: &attrs, results: &[], given_up: 0 };
            let finished = products.dense().and_then(|products| plan.finish(&call, products));
            cx.settle(promise, finished.map(HostTensor::from));
        }
        Err(error) => promise.set_error(error),
    });
    Ok(result.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Einsum")
        .types(types::FACTORS)
        .attrs([attr::string("equation")])
        .metadata(metadata)
        .cpu(einsum);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(equation: &str, shapes: &[&[usize]]) -> Result<Einsum, Diagnostic> {
        let mut attrs = OpAttrs::new();
        attrs.set_string("equation", equation)?;
        let shapes = shapes.iter().map(|dims| TensorShape::new(dims)).collect::<Result<Vec<_>, _>>()?;
        Einsum::new(&attrs, &shapes.iter().collect::<Vec<_>>())
    }

    /// The most frequent products in networks need no copies.
    #[test]
    fn matrices_that_lie_in_order_stay_where_they_are() {
        for (equation, shapes) in [
            ("ab,bc->ac", [&[2, 3][..], &[3, 4]]),
            ("ab,cb->ac", [&[2, 3], &[4, 3]]),
            ("ba,bc->ac", [&[3, 2], &[3, 4]]),
            ("ab,bc->ca", [&[2, 3], &[3, 4]]),
            ("abc,cde->abde", [&[2, 3, 4], &[4, 5, 6]]),
            ("abij,abjk->abik", [&[2, 3, 4, 5], &[2, 3, 5, 6]]),
            ("...ij,jk->...ik", [&[2, 3, 4, 5], &[5, 6]]),
            ("...ij,...jk->...ik", [&[2, 3, 4, 5], &[1, 5, 6]]),
        ] {
            let plan = plan(equation, &shapes).unwrap();
            let orders = plan.operands.iter().map(|operand| &operand.order).chain([&plan.order]);
            assert!(orders.into_iter().all(|order| order.is_sorted()), "{equation}: {plan:?}");
        }
    }

    #[test]
    fn an_equation_has_two_sides_and_labels_that_operands_have() {
        let square: &[usize] = &[2, 2];
        for equation in [
            "",
            "ab",
            "ab->ab->ab",
            "ab->ac",
            "ab->a,b",
            "abc->a",
            "a.b->a",
            "......->",
            "...->",
            "ab...ab->",
        ] {
            assert!(plan(equation, &[square]).is_err(), "{equation}");
        }
        assert!(plan("ab,bc,cd->ad", &[square; 3]).is_err());
    }
}
