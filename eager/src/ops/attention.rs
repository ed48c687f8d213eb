//! `tfrt.FusedAttention`: the attention of compiled models, `softmax(scale · Q · Kᵀ + mask) · V`.
//!
//! The arguments are queries, keys, values and perhaps a mask that is added to the scores. They lie
//! in memory as the model computes them: attributes say in which order their axes are taken, and in
//! which order those of the result are given.

use tfrt_compute::{run, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Attention, AttentionInput, AttentionShape, Reordered};
use tfrt_tensor::{Accessor, HostTensor, TensorMetadata, TensorShape};

use super::support::{Computed, Described, float_attr, invalid, one};
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tfrt.FusedAttention");

/// The op's name.
pub(super) const ATTENTION: &str = "tfrt.FusedAttention";
/// The attributes with the order of each argument's axes and of the result's.
const ORDERS: [&str; 4] = ["query_order", "key_order", "value_order", "output_order"];

/// The attributes of a call.
pub(super) struct Orders {
    /// The orders of queries, keys, values and output.
    pub(super) axes: [Vec<usize>; 4],
    pub(super) scale: f32,
}

impl Orders {
    pub(super) fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let order = |name: &str| {
            let axes = attrs.required::<&[i64]>(name)?.iter();
            let axes: Result<Vec<_>, _> = axes.map(|&axis| usize::try_from(axis)).collect();
            axes.map_err(|_| invalid(format!("attribute '{name}' must not have negative axes")))
        };
        let [queries, keys, values, output] = ORDERS;
        let axes = [order(queries)?, order(keys)?, order(values)?, order(output)?];
        let scale = float_attr(attrs, "scale")?.unwrap_or(1.0) as f32;
        Ok(Self { axes, scale })
    }
}

/// Plans the attention of a call for arguments of these shapes.
fn plan(attrs: &OpAttrs, shapes: &[&TensorShape], workers: usize) -> Result<Attention, Diagnostic> {
    let Orders { axes: [queries, keys, values, output], scale } = Orders::of(attrs)?;
    let ([q, k, v], mask) = match *shapes {
        [q, k, v] => ([q, k, v], None),
        [q, k, v, mask] => ([q, k, v], Some(mask)),
        _ => return Err(invalid(format!("the op takes 3 or 4 arguments, got {}", shapes.len()))),
    };
    let view = |shape: &TensorShape, order: &[usize]| Reordered::new(shape.dims(), order);
    let plan = || {
        let mask = mask.map(|mask| view(mask, &(0..mask.rank()).collect::<Vec<_>>())).transpose()?;
        let (queries, keys, values) = (view(q, &queries)?, view(k, &keys)?, view(v, &values)?);
        Attention::new(
            &AttentionShape { queries, keys, values, mask, seen_by_first: None, output: output.clone() },
            scale,
            workers,
        )
    };
    plan().map_err(|error| {
        let shapes: Vec<_> = shapes.iter().map(ToString::to_string).collect();
        invalid(format!("{error}, for arguments of shapes {}", shapes.join(", ")))
    })
}

fn metadata(call: MetadataCall<'_>) -> Described {
    if let Some(other) = call.arguments.iter().find(|argument| argument.dtype != DType::F32) {
        return Err(invalid(format!("the op takes tensors of f32, got {}", other.dtype)));
    }
    let shapes: Vec<_> = call.arguments.iter().map(|argument| &argument.shape).collect();
    let plan = plan(call.attrs, &shapes, 1)?;
    one(TensorMetadata::new(DType::F32, TensorShape::new(plan.shape())?))
}

fn attention(call: CpuCall<'_>) -> Computed {
    let shapes: Vec<_> = call.arguments.iter().map(|argument| argument.shape()).collect();
    let plan = plan(call.attrs, &shapes, workers(call.cx))?;
    let read = |argument: &HostTensor| argument.dense()?.read_owned::<f32>(&ME);
    let [queries, keys, values, mask @ ..] = call.arguments else {
        return Err(invalid("the op takes 3 or 4 arguments"));
    };
    let mask = mask.first().map(|mask| read(mask)).transpose()?;
    let reads = (read(queries)?, read(keys)?, read(values)?, mask);
    let out = call.allocate_unset(0)?;
    let operands = (reads, out.write_owned::<f32>(&ME)?);
    run(
        call.cx,
        Ok(plan),
        operands,
        |(queries, keys, values, mask)| AttentionInput { queries, keys, values, mask: mask.as_deref() },
        |out| out,
        HostTensor::from(out),
    )
    .map(Into::into)
}

const ATTRS: [AttrSpec; 5] = [
    attr::ints(ORDERS[0]),
    attr::ints(ORDERS[1]),
    attr::ints(ORDERS[2]),
    attr::ints(ORDERS[3]),
    attr::float_or("scale", 1.0),
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add(ATTENTION).types(&[DType::F32]).attrs(ATTRS).metadata(metadata).cpu(attention);
}
