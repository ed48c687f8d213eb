//! Softmax, and cross-entropy with its gradient.

use tfrt_compute::run;
use tfrt_host::{Arg, AsyncValueRef, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_math::{CrossEntropyInput, Softmax, SparseCrossEntropy};
use tfrt_tensor::{Accessor, DenseHostTensor};

use super::check;

static SOFTMAX_INPLACE: Accessor = Accessor::new("tfrt_test.softmax_inplace");
static SOFTMAX: Accessor = Accessor::new("tfrt_math.softmax");
static CROSS_ENTROPY: Accessor = Accessor::new("tfrt_math.softmax_cross_entropy");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// Over all elements, whatever the shape.
fn softmax_inplace(tensor: Arg<DenseHostTensor>, _chain: Chain, cx: &ExecutionContext) -> Done {
    let plan = Softmax::<f32>::new(1, tensor.num_elements());
    let writes = tensor.write_owned::<f32>(&SOFTMAX_INPLACE)?;
    let reads = writes.to_vec();
    run(cx, plan, (reads, writes), |x| x, |out| out, Chain)
}

fn softmax(
    logits: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let [rows, cols] = logits.shape().fixed::<2>()?.0;
    check::same_shape(("output", &output), ("logits", &logits))?;
    let operands = (logits.read_owned::<f32>(&SOFTMAX)?, output.write_owned::<f32>(&SOFTMAX)?);
    run(cx, Softmax::new(rows, cols), operands, |x| x, |out| out, Chain)
}

fn cross_entropy(
    logits: Arg<DenseHostTensor>,
    labels: Arg<DenseHostTensor>,
    losses: Arg<DenseHostTensor>,
    gradient: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let [rows, cols] = logits.shape().fixed::<2>()?.0;
    check::shape_is(("labels", &labels), "the logits' height", &[rows])?;
    check::shape_is(("losses", &losses), "the logits' height", &[rows])?;
    check::same_shape(("gradient", &gradient), ("logits", &logits))?;
    let me = &CROSS_ENTROPY;
    let reads = (logits.read_owned::<f32>(me)?, labels.read_owned::<i32>(me)?);
    let writes = (losses.write_owned::<f32>(me)?, gradient.write_owned::<f32>(me)?);
    run(
        cx,
        SparseCrossEntropy::<f32, i32>::new(rows, cols),
        (reads, writes),
        |(logits, labels)| CrossEntropyInput { logits, labels },
        |(losses, gradient)| (losses, gradient),
        Chain,
    )
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.softmax_inplace.f32", softmax_inplace)
        .mutates(&[0])
        .doc("Softmax over all elements of a tensor, in place.");
    registry.add("tfrt_math.softmax.f32", softmax).mutates(&[1]).doc("Softmax of each row of a matrix.");
    registry
        .add("tfrt_math.softmax_cross_entropy.f32", cross_entropy)
        .mutates(&[2, 3])
        .doc("The cross-entropy of each row of logits with its label (a class), and softmax(logits) - one_hot(label), its gradient.");
}
