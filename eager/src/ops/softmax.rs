//! Softmax, and the cross-entropy of logits with its gradient.

use smallvec::smallvec;
use tfrt_compute::{run, shape_error};
use tfrt_host::{Chain, DType, Diagnostic, host_buffer::HostBuffer};
use tfrt_math::{BlockOp, CrossEntropy, CrossEntropyInput, Float, LogSoftmax, Softmax, SparseCrossEntropy};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, Elements, HostTensor, TensorMetadata};

use super::elementwise::broadcast_shape;
use super::layout::broadcast_moves;
use super::support::{Computed, Described, invalid, product, same, tensors_after, unsupported, with_float};
use super::types;
use crate::{CpuCall, MetadataCall, OpRegistry, OpResult};

static ME: Accessor = Accessor::new("tf softmax op");

fn softmax_metadata(call: MetadataCall<'_>) -> Described {
    let [logits] = call.take()?;
    if logits.shape.rank() == 0 {
        return Err(invalid("logits must have >= 1 dimension, got []"));
    }
    same(call)
}

/// The rows and columns of a tensor whose last dimension is a row.
fn rows(tensor: &DenseHostTensor) -> (usize, usize) {
    match tensor.shape().dims() {
        [outer @ .., columns] => (product(outer), *columns),
        [] => (1, 1),
    }
}

fn softmax<T: Element + Float>(call: &CpuCall<'_>, log: bool) -> Computed {
    let ([x], out) = (call.dense()?, call.allocate_unset(0)?);
    let ((rows, columns), result) = (rows(x), HostTensor::from(out.clone()));
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let operands = (x.read_owned::<T>(&ME)?, out.write_owned::<T>(&ME)?);
    if log {
        run(call.cx, LogSoftmax::new(rows, columns), operands, |x| x, |out| out, result).map(OpResult::from)
    } else {
        run(call.cx, Softmax::new(rows, columns), operands, |x| x, |out| out, result).map(OpResult::from)
    }
}

/// Losses and gradients.
fn losses_metadata(call: MetadataCall<'_>) -> Described {
    let [logits, labels] = call.take()?;
    let shape = broadcast_shape(&logits.shape, &labels.shape).map_err(|_| {
        invalid(format!(
            "logits and labels must be broadcastable: logits_size={} labels_size={}",
            logits.shape, labels.shape
        ))
    })?;
    if shape.rank() != 2 || logits.dtype != labels.dtype {
        return Err(invalid(format!(
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional, and of one type: {logits} and {labels}"
        )));
    }
    let losses = TensorMetadata::new(logits.dtype, [shape.dims()[0]]);
    Ok(smallvec![losses, TensorMetadata::new(logits.dtype, shape)])
}

fn sparse_losses_metadata(call: MetadataCall<'_>) -> Described {
    let [logits, labels] = call.take()?;
    if logits.shape.rank() != 2 {
        return Err(invalid(format!("logits must be 2-D, but got shape {}", logits.shape)));
    }
    if labels.shape.rank() != 1 || labels.shape.dims()[0] != logits.shape.dims()[0] {
        return Err(invalid(format!(
            "logits and labels must have the same first dimension, got logits shape {} and labels shape {}",
            logits.shape, labels.shape
        )));
    }
    if logits.shape.dims()[1] == 0 {
        return Err(invalid(format!("Must have at least one class, but got logits shape {}", logits.shape)));
    }
    Ok(smallvec![TensorMetadata::new(logits.dtype, labels.shape.clone()), logits.clone()])
}

/// Computes losses and gradients from logits and labels.
fn finish<P, T: Element + Float, L: Element>(
    call: &CpuCall<'_>,
    plan: P,
    reads: (Elements<T, HostBuffer>, Elements<L, HostBuffer>),
    (losses, gradients): (DenseHostTensor, DenseHostTensor),
) -> Computed
where
    P: for<'a> BlockOp<Input<'a> = CrossEntropyInput<'a, T, L>, Output<'a> = (&'a mut [T], &'a mut [T])>
        + Send
        + 'static,
{
    let writes = (losses.write_owned::<T>(&ME)?, gradients.write_owned::<T>(&ME)?);
    let done = run(
        call.cx,
        Ok(plan),
        (reads, writes),
        |(logits, labels)| CrossEntropyInput { logits, labels },
        |(losses, gradients)| (losses, gradients),
        Chain,
    )?;
    Ok(tensors_after(done, [losses, gradients]))
}

fn losses(call: CpuCall<'_>) -> Computed {
    let ([logits, labels], out) = (call.dense()?, (call.allocate_unset(0)?, call.allocate_unset(1)?));
    let ((rows, columns), dims) = (rows(&out.1), out.1.shape().dims());
    if out.1.num_elements() == 0 {
        // Of no classes, the losses are sums of nothing.
        return with_float!(out.0.dtype(), "tf.SoftmaxCrossEntropyWithLogits", |T| {
            out.0.write::<T>(&ME)?.fill(T::from_f64(0.0));
            Ok(tensors_after(Chain.into(), [out.0, out.1]))
        });
    }
    let whole = |tensor: &DenseHostTensor| {
        if tensor.shape().dims() == dims {
            return Ok(tensor.clone());
        }
        let moves = broadcast_moves(tensor.shape().dims(), dims);
        moves
            .ok_or_else(|| invalid("logits and labels must be broadcastable"))?
            .copy_dense(&call, tensor, dims)
    };
    let (logits, labels) = (whole(logits)?, whole(labels)?);
    with_float!(logits.dtype(), "tf.SoftmaxCrossEntropyWithLogits", |T| {
        let plan = CrossEntropy::<T>::new(rows, columns).map_err(shape_error)?.unit_mass();
        finish(&call, plan, (logits.read_owned::<T>(&ME)?, labels.read_owned::<T>(&ME)?), out)
    })
}

fn sparse_losses(call: CpuCall<'_>) -> Computed {
    let [logits, labels] = call.dense()?;
    with_float!(logits.dtype(), "tf.SparseSoftmaxCrossEntropyWithLogits", |T| match labels.dtype() {
        DType::I32 => sparse_losses_of::<T, i32>(&call, logits, labels),
        DType::I64 => sparse_losses_of::<T, i64>(&call, logits, labels),
        other => Err(unsupported("labels", other)),
    })
}

fn sparse_losses_of<T: Element + Float, L: Element + tfrt_math::Labels>(
    call: &CpuCall<'_>,
    logits: &DenseHostTensor,
    labels: &DenseHostTensor,
) -> Computed {
    let (out, (rows, columns)) = ((call.allocate_unset(0)?, call.allocate_unset(1)?), rows(logits));
    let classes = labels.read_owned::<L>(&ME)?;
    if let Some(wrong) =
        classes.iter().map(|label| label.class()).find(|&class| class < 0 || class >= columns as i64)
    {
        return Err(invalid(format!(
            "Received a label value of {wrong} which is outside the valid range of [0, {columns})."
        )));
    }
    let plan = SparseCrossEntropy::<T, L>::new(rows, columns).map_err(shape_error)?;
    finish(call, plan, (logits.read_owned::<T>(&ME)?, classes), out)
}

fn either(call: &CpuCall<'_>, log: bool) -> Result<OpResult, Diagnostic> {
    with_float!(call.result(0)?.dtype, "tf.Softmax", |T| softmax::<T>(call, log))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Softmax").types(types::FLOATS).metadata(softmax_metadata).cpu(|call| either(&call, false));
    ops.add("tf.LogSoftmax").types(types::FLOATS).metadata(softmax_metadata).cpu(|call| either(&call, true));
    ops.add("tf.SoftmaxCrossEntropyWithLogits").types(types::FLOATS).metadata(losses_metadata).cpu(losses);
    ops.add("tf.SparseSoftmaxCrossEntropyWithLogits")
        .types(types::FLOATS)
        .metadata(sparse_losses_metadata)
        .cpu(sparse_losses);
}
