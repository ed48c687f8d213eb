//! What fused ops compute after their product or convolution, column by column.

use smallvec::SmallVec;
use tfrt_host::{AsyncValueRef, Chain, Diagnostic, Promise, host_buffer::HostBuffer};
use tfrt_kernels::math::run::run_then;
use tfrt_math::{BlockOp, Float, Number, map_in_place, ops, zip_in_place};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, Elements, HostTensor};

use super::activation::{Activation, leak};
use super::support::{Computed, float_attr, invalid, tensors_after};
use crate::{AttrValue, CpuCall, OpAttrs};

static ME: Accessor = Accessor::new("tf fused op");

/// What follows, for each row.
pub(super) enum Step<T: Element> {
    Bias(Elements<T, HostBuffer>),
    AddOne,
    Activation(Activation),
    /// For each column a mean, a factor and an addend: `(x - mean) · factor + addend`.
    Normalize(Vec<[T; 3]>),
}

impl<T: Element + Float> Step<T> {
    fn apply(&self, out: &mut [T], columns: usize) {
        for row in out.chunks_exact_mut(columns.max(1)) {
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
}

/// The names of attribute `name`.
///
/// # Errors
/// InvalidArgument unless it is a list of texts.
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

/// An argument of a step: a number for each column. `what` is its name in errors.
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
    if tensor.shape().rank() != 1 {
        return Err(invalid(format!("{what} tensor must a vector")));
    }
    if tensor.num_elements() != columns {
        return Err(invalid(format!(
            "The number of bias elements {} doesn't match output inner dimension {columns}",
            tensor.num_elements()
        )));
    }
    tensor.read_owned::<T>(me)
}

/// The slope of a fused `LeakyRelu` left of zero.
pub(super) fn fused_leak(attrs: &OpAttrs) -> Result<f64, Diagnostic> {
    match float_attr(attrs, "leakyrelu_alpha")? {
        Some(alpha) => Ok(alpha),
        None => leak(attrs),
    }
}

/// Computes `plan` into `out`, and then its steps on rows of so many columns.
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
            let outcome = outcome.map(|(_, mut out)| {
                steps.iter().for_each(|step| step.apply(&mut out, columns));
                Chain
            });
            drop(steps);
            cx.settle(promise, outcome);
        },
    );
    Ok(tensors_after(done, [out]))
}
