//! The steps of fused ops after their product or convolution, column by column.

use smallvec::SmallVec;
use tfrt_compute::{OnQueue, run_then, shape_error};
use tfrt_host::{AsyncValueRef, Chain, Diagnostic, ExecutionContext, Promise, host_buffer::HostBuffer};
use tfrt_math::{BlockOp, Float, Number, Runs, map_in_place, ops, zip_in_place};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, Elements, HostTensor, TensorShape};

use super::activation::{Activation, leak};
use super::support::{Computed, float_attr, invalid, tensors_after};
use crate::{AttrValue, CpuCall, OpAttrs};

static ME: Accessor = Accessor::new("tf fused op");

/// The cost of a step in elements of streaming for each of its elements: that of an activation.
const STEP_COST: usize = 4;

/// A step, applied to each row.
pub(super) enum Step<T: Element> {
    Bias(Elements<T, HostBuffer>),
    AddOne,
    Activation(Activation),
    /// For each column a mean, a factor and an addend: `(x - mean) · factor + addend`.
    Normalize(Vec<[T; 3]>),
}

impl<T: Element + Float> Step<T> {
    fn apply(&self, row: &mut [T]) {
        match self {
            Self::Bias(bias) => zip_in_place(row, bias, ops::add),
            Self::AddOne => map_in_place(row, |x| ops::add(x, <T as Number>::ONE)),
            Self::Activation(activation) => map_in_place(row, |x| activation.apply(x)),
            Self::Normalize(columns) => zip_in_place(row, columns, |x, [mean, factor, addend]| {
                x.minus(mean).times(factor).plus(addend)
            }),
        }
    }
}

/// Returns the names in attribute `name`.
///
/// # Errors
/// InvalidArgument unless it is a list of strings.
pub(super) fn names<'a>(attrs: &'a OpAttrs, name: &str) -> Result<SmallVec<[&'a str; 4]>, Diagnostic> {
    let expected = || invalid(format!("attribute '{name}' must be a list of strings"));
    match attrs.get(name) {
        Some(AttrValue::Aggregate(elements)) => elements
            .iter()
            .map(|element| match element {
                AttrValue::String(text) => Ok(text),
                _ => Err(expected()),
            })
            .collect(),
        Some(AttrValue::Array(_, [])) => Ok(SmallVec::new()),
        _ => Err(expected()),
    }
}

/// Returns an argument of a step: one number for each column. `what` is its name in errors.
///
/// # Errors
/// InvalidArgument if it is missing or has another shape or type.
pub(super) fn channel_vector<T: Element>(
    tensor: Option<&HostTensor>,
    what: &str,
    columns: usize,
    me: &'static Accessor,
) -> Result<Elements<T, HostBuffer>, Diagnostic> {
    let tensor = tensor.ok_or_else(|| invalid(format!("{what} of a fused op is missing")))?.dense()?;
    check_channels(tensor.shape(), what, columns)?;
    tensor.read_owned::<T>(me)
}

/// Checks that a tensor has one number for each column. `what` is its name in errors.
///
/// # Errors
/// InvalidArgument if it does not.
pub(super) fn check_channels(shape: &TensorShape, what: &str, columns: usize) -> Result<(), Diagnostic> {
    match *shape.dims() {
        [count] if count == columns => Ok(()),
        [count] => Err(invalid(format!(
            "The number of bias elements {count} doesn't match output inner dimension {columns}"
        ))),
        // The message of the original.
        _ => Err(invalid(format!("{what} tensor must a vector"))),
    }
}

/// Returns the slope of a fused `LeakyRelu` for negative numbers.
pub(super) fn fused_leak(attrs: &OpAttrs) -> Result<f64, Diagnostic> {
    match float_attr(attrs, "leakyrelu_alpha")? {
        Some(alpha) => Ok(alpha),
        None => leak(attrs),
    }
}

/// Applies steps to rows with this many columns, on all threads.
fn apply_all<T: Element + Float>(
    cx: &ExecutionContext,
    steps: Vec<Step<T>>,
    columns: usize,
    out: &mut [T],
) -> Result<Chain, Diagnostic> {
    let columns = columns.max(1);
    let (rows, cost) = (out.len() / columns, STEP_COST.saturating_mul(steps.len()).saturating_mul(columns));
    let f = move |_, rows: &mut [T]| {
        rows.chunks_exact_mut(columns).for_each(|row| steps.iter().for_each(|step| step.apply(row)));
        Ok(())
    };
    let plan = Runs::new(rows, columns, cost, Box::new(f)).map_err(shape_error)?;
    plan.run(&OnQueue(cx), (), out).map_err(shape_error)?;
    Ok(Chain)
}

/// Computes `plan` into `out`, and then its steps on rows with this many columns.
pub(super) fn run_with_steps<P, R, T>(
    call: &CpuCall<'_>,
    plan: P,
    (reads, out): (R, DenseHostTensor),
    input: for<'a> fn(&'a R) -> P::Input<'a>,
    (steps, columns): (Vec<Step<T>>, usize),
) -> Computed
where
    P: for<'a> BlockOp<Output<'a> = &'a mut [T]> + Send + 'static,
    R: Send + Sync + 'static,
    T: Element + Float,
{
    let operands = (reads, out.write_owned::<T>(&ME)?);
    let (promise, done): (Promise<Chain>, AsyncValueRef<Chain>) = Promise::new();
    let cx = call.cx.clone();
    run_then(
        call.cx,
        plan,
        operands,
        input,
        |c| c,
        move |outcome| {
            // The resources of the steps are released before the result is available.
            let outcome = outcome.and_then(|(_, mut out)| apply_all(&cx, steps, columns, &mut out));
            cx.settle(promise, outcome);
        },
    );
    Ok(tensors_after(done, [out]))
}
