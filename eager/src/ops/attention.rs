//! `tfrt.FusedAttention`: the attention of compiled models, `softmax(scale · Q · Kᵀ + mask) · V`.
//!
//! The arguments are queries, keys, values and perhaps a mask that is added to the scores. They lie
//! in memory as the model computes them: attributes say in which order their axes are taken, and in
//! which order those of the result are given. Narrow types are computed in `f32`, and their mask may
//! be of `f32`.

use tfrt_compute::{OnQueue, run, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Attention, AttentionInput, AttentionShape, BlockOp, Float, Reordered};
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata, TensorShape, bf16, f16};

use super::support::{Computed, Described, float_attr, invalid, one, room_for};
use super::types;
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
    let dtype = call.arguments.first().map_or(DType::F32, |queries| queries.dtype);
    let fits = |(index, argument): &(usize, &&TensorMetadata)| {
        argument.dtype == dtype || *index == 3 && argument.dtype == DType::F32
    };
    if let Some(other) = call.arguments.iter().enumerate().find(|argument| !fits(argument)) {
        return Err(invalid(format!("the op takes tensors of one type, got {dtype} and {}", other.1.dtype)));
    }
    let shapes: Vec<_> = call.arguments.iter().map(|argument| &argument.shape).collect();
    let plan = plan(call.attrs, &shapes, 1)?;
    one(TensorMetadata::new(dtype, TensorShape::new(plan.shape())?))
}

fn attention(call: CpuCall<'_>) -> Computed {
    let shapes: Vec<_> = call.arguments.iter().map(|argument| argument.shape()).collect();
    let plan = plan(call.attrs, &shapes, workers(call.cx))?;
    let [queries, keys, values, mask @ ..] = call.arguments else {
        return Err(invalid("the op takes 3 or 4 arguments"));
    };
    match queries.dtype() {
        DType::F16 => return widened::<f16>(&call, &plan),
        DType::BF16 => return widened::<bf16>(&call, &plan),
        _ => {}
    }
    let read = |argument: &HostTensor| argument.dense()?.read_owned::<f32>(&ME);
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

/// Computes the attention of a narrow type in `f32`.
fn widened<T: Element + Float>(call: &CpuCall<'_>, plan: &Attention) -> Computed {
    let widen = |argument: &HostTensor| -> Result<Vec<f32>, Diagnostic> {
        let dense = argument.dense()?;
        let mut elements = room_for(dense.num_elements())?;
        match dense.dtype() {
            DType::F32 => elements.extend_from_slice(&dense.read::<f32>(&ME)?),
            _ => elements.extend(dense.read::<T>(&ME)?.iter().map(|x| x.to_f64() as f32)),
        }
        Ok(elements)
    };
    let operands = call.arguments.iter().map(|argument| widen(argument)).collect::<Result<Vec<_>, _>>()?;
    let mut out = call.allocate_unset(0)?;
    let mut sums = room_for(out.num_elements())?;
    sums.resize(out.num_elements(), 0.0);
    let mask = operands.get(3).map(Vec::as_slice);
    let input = AttentionInput { queries: &operands[0], keys: &operands[1], values: &operands[2], mask };
    plan.run(&OnQueue(call.cx), input, &mut sums).map_err(shape_error)?;
    out.elements_mut::<T>()?.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::from_f64(sum.into()));
    Ok(HostTensor::from(out).into())
}

const ATTRS: [AttrSpec; 5] = [
    attr::ints(ORDERS[0]),
    attr::ints(ORDERS[1]),
    attr::ints(ORDERS[2]),
    attr::ints(ORDERS[3]),
    attr::float_or("scale", 1.0),
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add(ATTENTION).types(types::NARROW_FLOATS).attrs(ATTRS).metadata(metadata).cpu(attention);
}
