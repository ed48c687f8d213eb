//! Attention on devices: one kernel, which reads its operands where they are.

use tfrt_device::{
    front::{Attention, AttentionMask, AttentionRows, DeviceBuffer},
    hal::AttentionExtents,
};
use tfrt_launch::attention_scratch_bytes;

use super::{Queued, arrays::permuted, count};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::attention::{ATTENTION, Orders},
};

/// The places of the operands.
const QUERIES: usize = 0;
const KEYS: usize = 1;
const VALUES: usize = 2;
const OUTPUT: usize = 3;
const MASK: usize = 4;

/// A tensor, seen with its axes in another order.
struct Seen {
    tensor: DeviceTensor,
    dims: Vec<usize>,
    strides: Vec<u64>,
}

impl Seen {
    fn new(tensor: &DeviceTensor, order: &[usize]) -> Self {
        let shape = tensor.shape().dims();
        let mut strides = vec![1u64; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as u64);
        }
        Self {
            tensor: tensor.clone(),
            dims: order.iter().map(|&axis| shape[axis]).collect(),
            strides: order.iter().map(|&axis| strides[axis]).collect(),
        }
    }

    /// Sees a tensor whose rows' elements must lie side by side: a copy if they do not.
    fn in_rows(call: &DeviceCall<'_>, tensor: &DeviceTensor, order: &[usize]) -> DeviceOpResult<Self> {
        let seen = Self::new(tensor, order);
        if seen.strides.last() == Some(&1) || seen.dims.last() == Some(&1) {
            return Ok(seen);
        }
        let copy = permuted(call, tensor, order)?;
        Ok(Self::new(&copy, &(0..order.len()).collect::<Vec<_>>()))
    }

    /// Returns the strides along the last `rank` axes of a tensor that this one is broadcast to.
    fn strides_in(&self, rank: usize) -> Vec<u64> {
        let missing = rank.saturating_sub(self.dims.len());
        let own = self.dims.iter().zip(&self.strides);
        let own = own.map(|(&dim, &stride)| if dim == 1 { 0 } else { stride });
        std::iter::repeat_n(0, missing).chain(own).collect()
    }
}

/// An axis of the batch: its extent, and the strides of the operands.
#[derive(Clone, Copy)]
struct Axis {
    extent: u64,
    strides: [u64; 5],
}

/// Joins neighbouring axes of the batch that all operands step through as through one, so that few
/// are left.
fn joined(axes: impl Iterator<Item = Axis>) -> Vec<Axis> {
    let mut all: Vec<Axis> = Vec::new();
    for axis in axes.filter(|axis| axis.extent != 1) {
        match all.last_mut() {
            Some(outer) if outer.strides == axis.strides.map(|stride| stride.saturating_mul(axis.extent)) => {
                *outer = Axis { extent: outer.extent.saturating_mul(axis.extent), ..axis };
            }
            _ => all.push(axis),
        }
    }
    all
}

/// The axes of the batch that a kernel takes.
#[derive(Clone, Copy)]
struct Inner {
    batch: Axis,
    key_heads: Axis,
    /// The heads that share keys and values.
    shared: Axis,
}

impl Inner {
    /// Takes them from the end of all axes. Returns the others, too.
    fn split(axes: &[Axis]) -> (&[Axis], Self) {
        let one = Axis { extent: 1, strides: [0; 5] };
        let (mut outer, mut inner) = (axes, Self { batch: one, key_heads: one, shared: one });
        if let [others @ .., last] = outer
            && last.strides[KEYS] == 0
            && last.strides[VALUES] == 0
        {
            (outer, inner.shared) = (others, *last);
        }
        // Heads of queries are one axis, so that those with other keys follow those that share some.
        let follows = |axis: &Axis| {
            let Axis { extent, strides } = inner.shared;
            let is_next = |&i: &usize| axis.strides[i] == strides[i].saturating_mul(extent);
            extent == 1 || [QUERIES, MASK, OUTPUT].iter().all(is_next)
        };
        if let [others @ .., last] = outer
            && follows(last)
        {
            (outer, inner.key_heads) = (others, *last);
        }
        if let [others @ .., last] = outer {
            (outer, inner.batch) = (others, *last);
        }
        (outer, inner)
    }
}

/// The operands of a call, and the extents of its matrices.
struct Operands {
    /// Queries, keys, values, the result, and perhaps a mask.
    seen: Vec<Seen>,
    /// The axes of the batch.
    axes: Vec<Axis>,
    /// The strides of rows; of the mask, also those of keys.
    rows: [u64; 5],
    mask_column: u64,
    row_count: u64,
    size: u64,
    scale: f32,
}

impl Operands {
    fn new(call: &DeviceCall<'_>) -> DeviceOpResult<Self> {
        let Orders { axes: [query_order, key_order, value_order, output_order], scale } =
            Orders::of(call.attrs)?;
        let y = call.allocate(0)?;
        // The axis of the result in memory that is each axis of the matrices.
        let mut places = vec![0; output_order.len()];
        output_order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
        let mut seen = vec![
            Seen::in_rows(call, call.tensor(0)?, &query_order)?,
            Seen::in_rows(call, call.tensor(1)?, &key_order)?,
            Seen::in_rows(call, call.tensor(2)?, &value_order)?,
            Seen::new(&y, &places),
        ];
        if call.arguments.len() > 3 {
            let mask = call.tensor(3)?;
            seen.push(Seen::new(mask, &(0..mask.shape().rank()).collect::<Vec<_>>()));
        }
        let rank = places.len();
        let strides: Vec<_> = seen.iter().map(|seen| seen.strides_in(rank)).collect();
        let along = |axis: usize| [0, 1, 2, 3, 4].map(|i| strides.get(i).map_or(0, |strides| strides[axis]));
        let dims = seen[OUTPUT].dims.clone();
        let axis = |axis: usize| Axis { extent: dims[axis] as u64, strides: along(axis) };
        let (row, column) = (rank - 2, rank - 1);
        Ok(Self {
            axes: joined((0..row).map(axis)),
            rows: along(row),
            mask_column: along(column)[MASK],
            row_count: dims[row] as u64,
            size: dims[column] as u64,
            scale,
            seen,
        })
    }

    /// Queues the attention of the inner axes of the batch. Operands begin at these elements.
    fn queue(
        &self,
        call: &DeviceCall<'_>,
        Inner { batch, key_heads, shared }: Inner,
        at: [u64; 5],
        scratch: &mut Option<DeviceBuffer>,
    ) -> DeviceOpResult<()> {
        let from = |operand: usize| {
            let tensor = &self.seen[operand].tensor;
            let offset = at[operand] * tensor.dtype().size().unwrap_or(0) as u64;
            tensor.buffer().slice(offset, tensor.buffer().len().saturating_sub(offset))
        };
        let buffers = (0..self.seen.len()).map(from).collect::<Result<Vec<_>, _>>()?;
        let heads = if shared.extent == 1 { key_heads } else { shared };
        let rows_of = |operand: usize, heads: Axis| AttentionRows {
            buffer: &buffers[operand],
            strides: [batch.strides[operand], heads.strides[operand], self.rows[operand]],
        };
        let (queries, values) = (&self.seen[QUERIES].dims, &self.seen[VALUES].dims);
        let key_count = values[values.len() - 2] as u64;
        let mask = self.seen.get(MASK).map(|mask| AttentionMask {
            buffer: &buffers[MASK],
            dtype: mask.tensor.dtype(),
            strides: [batch.strides[MASK], heads.strides[MASK], self.rows[MASK], self.mask_column],
            keys: key_count,
        });
        let attention = Attention {
            dtype: call.result(0)?.dtype,
            extents: AttentionExtents {
                batch: batch.extent,
                heads: key_heads.extent.saturating_mul(shared.extent),
                shared: shared.extent,
                rows: self.row_count,
                keys: key_count,
                depth: queries[queries.len() - 1] as u64,
                size: self.size,
            },
            output: rows_of(OUTPUT, heads),
            queries: rows_of(QUERIES, heads),
            keys: rows_of(KEYS, key_heads),
            values: rows_of(VALUES, key_heads),
            mask,
            lengths: None,
            causal: None,
            scale: self.scale,
            cap: 0.0,
        };
        queue(call, &attention, scratch)
    }
}

/// Queues an attention. The first one of a call requests scratch memory, if kernels need it.
pub(super) fn queue(
    call: &DeviceCall<'_>,
    attention: &Attention<'_>,
    scratch: &mut Option<DeviceBuffer>,
) -> DeviceOpResult<()> {
    // Also where no kernel is launched: programs are planned for all devices.
    let bytes = attention_scratch_bytes(&attention.extents);
    if bytes > 0 && scratch.is_none() {
        *scratch = Some(call.scratch(bytes)?);
    }
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    match stream.context().computes_attention() {
        true => Ok(stream.attention(attention)?),
        false => Ok(kernels.attention(stream, attention, scratch.as_ref())?),
    }
}

fn attention(call: &DeviceCall<'_>) -> Queued {
    let operands = Operands::new(call)?;
    let result = operands.seen[OUTPUT].tensor.clone();
    if count(&result) == 0 {
        return Ok(result.into());
    }
    let (outer, inner) = Inner::split(&operands.axes);
    let (places, mut scratch) = (outer.iter().map(|axis| axis.extent).product::<u64>(), None);
    for place in 0..places {
        let (mut rest, mut at) = (place, [0; 5]);
        for axis in outer.iter().rev() {
            let own = rest % axis.extent;
            at.iter_mut().zip(axis.strides).for_each(|(at, stride)| *at += own * stride);
            rest /= axis.extent;
        }
        operands.queue(call, inner, at, &mut scratch)?;
    }
    Ok(result.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend(ATTENTION).device(attention);
}
