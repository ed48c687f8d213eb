//! `onnx.Attention` and `onnx.RotaryEmbedding`.

mod planned;

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{BlockOp, Float, Layout, MatMul, MatMulInput, Number, Serial};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use crate::ops::onnx::arguments::{
    OPERANDS, RESULTS, count_or, dense, flag, formal, int_or, optional_dense, pick, required, wanted,
};
use crate::ops::onnx::parallel::for_units;
use crate::ops::onnx::two::results;
use crate::ops::onnx::work::{Computable, widened};
use crate::ops::support::{
    Computed, Described, allocate, compute, float_attr, integers, invalid, one, product, room_for,
    with_float, with_type,
};
use crate::ops::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

use self::planned::{Changes, attend};

static ME: Accessor = Accessor::new("onnx attention");

/// A tensor of heads: `[batch, heads, length, size]`, or `[batch, length, heads * size]`.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Heads {
    pub(in crate::ops) batch: usize,
    pub(in crate::ops) heads: usize,
    pub(in crate::ops) length: usize,
    pub(in crate::ops) size: usize,
    pub(in crate::ops) is_packed: bool,
}

impl Heads {
    pub(in crate::ops) fn of(shape: &TensorShape, heads: usize, name: &str) -> Result<Self, Diagnostic> {
        match *shape.dims() {
            [batch, heads, length, size] => Ok(Self { batch, heads, length, size, is_packed: false }),
            [batch, length, all] if heads > 0 && all.is_multiple_of(heads) => {
                Ok(Self { batch, heads, length, size: all / heads, is_packed: true })
            }
            _ => Err(invalid(format!("'{name}' of shape {shape} does not have {heads} heads"))),
        }
    }

    /// Where a row of a head begins.
    fn at(&self, batch: usize, head: usize, row: usize) -> usize {
        match self.is_packed {
            true => ((batch * self.length + row) * self.heads + head) * self.size,
            false => ((batch * self.heads + head) * self.length + row) * self.size,
        }
    }

    /// The distance between rows.
    fn row_stride(&self) -> usize {
        if self.is_packed { self.heads * self.size } else { self.size }
    }
}

/// The extents of a call.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Extents {
    pub(in crate::ops) q: Heads,
    pub(in crate::ops) k: Heads,
    pub(in crate::ops) v: Heads,
    pub(in crate::ops) past: usize,
}

impl Extents {
    pub(in crate::ops) fn of(
        attrs: &OpAttrs,
        shapes: [&TensorShape; 3],
        past: [Option<&TensorShape>; 2],
    ) -> Result<Self, Diagnostic> {
        let (query_heads, heads) = (count_or(attrs, "q_num_heads", 0)?, count_or(attrs, "kv_num_heads", 0)?);
        let [q, k, v] = shapes;
        let (q, k) = (Heads::of(q, query_heads, "Q")?, Heads::of(k, heads, "K")?);
        let v = Heads::of(v, heads, "V")?;
        let fits = q.batch == k.batch && k.batch == v.batch && q.size == k.size;
        if !fits
            || k.heads != v.heads
            || k.length != v.length
            || k.heads == 0
            || !q.heads.is_multiple_of(k.heads)
        {
            return Err(invalid(format!("Q, K and V do not fit: {} {} {}", shapes[0], shapes[1], shapes[2])));
        }
        let past = match past {
            [Some(key), Some(value)] => {
                let &[_, _, length, _] = key.dims() else {
                    return Err(invalid("past_key must have 4 dimensions"));
                };
                let expected = |heads: &Heads| [heads.batch, heads.heads, length, heads.size];
                if key.dims() != expected(&k) || value.dims() != expected(&v) {
                    return Err(invalid(format!("past_key and past_value do not fit: {key} {value}")));
                }
                length
            }
            [None, None] => 0,
            _ => return Err(invalid("past_key and past_value must be given together")),
        };
        k.length.checked_add(past).ok_or_else(|| invalid("there are too many keys"))?;
        Ok(Self { q, k, v, past })
    }

    /// How many keys there are with those of the past.
    pub(in crate::ops) fn keys(&self) -> usize {
        self.past + self.k.length
    }

    /// The shapes of all outputs.
    pub(in crate::ops) fn outputs(&self) -> Result<[TensorShape; 4], Diagnostic> {
        let Self { q, k, v, .. } = self;
        let y = match q.is_packed {
            true => TensorShape::new(&[q.batch, q.length, q.heads.saturating_mul(v.size)])?,
            false => TensorShape::new(&[q.batch, q.heads, q.length, v.size])?,
        };
        Ok([
            y,
            TensorShape::new(&[k.batch, k.heads, self.keys(), k.size])?,
            TensorShape::new(&[v.batch, v.heads, self.keys(), v.size])?,
            TensorShape::new(&[q.batch, q.heads, q.length, self.keys()])?,
        ])
    }
}

pub(in crate::ops) const REQUIRED: [bool; 4] = [true, false, false, false];

fn metadata(call: MetadataCall<'_>) -> Described {
    let inputs: [Option<&TensorMetadata>; 7] = formal(call.arguments, call.attrs)?;
    let [q, k, v, _, past_key, past_value, _] = inputs;
    let (q, k, v) = (required(q, "Q")?, required(k, "K")?, required(v, "V")?);
    let past = [past_key, past_value].map(|past| past.map(|past| &past.shape));
    let extents = Extents::of(call.attrs, [&q.shape, &k.shape, &v.shape], past)?;
    let [y, key, value, scores] = extents.outputs()?;
    let result = |dtype, shape| TensorMetadata::new(dtype, shape);
    let all = [result(q.dtype, y), result(k.dtype, key), result(v.dtype, value), result(q.dtype, scores)];
    Ok(pick(all, wanted(call.attrs, REQUIRED)?))
}

/// How a mask is broadcast to scores.
#[derive(Clone, Copy)]
pub(in crate::ops) struct MaskLayout {
    /// Strides of batch, head, row and column; zero where the mask has one.
    pub(in crate::ops) strides: [usize; 4],
    pub(in crate::ops) columns: usize,
}

impl MaskLayout {
    pub(in crate::ops) fn new(shape: &TensorShape, extents: &Extents) -> Result<Self, Diagnostic> {
        let dims = shape.dims();
        let expected = [extents.q.batch, extents.q.heads, extents.q.length];
        let fits = dims.len() <= 4 && dims.last().is_some_and(|&columns| columns <= extents.keys());
        let (Some((&columns, outer)), true) = (dims.split_last(), fits) else {
            return Err(invalid(format!(
                "attn_mask must have 1 to 4 dimensions and at most a column for each key, got shape {shape}"
            )));
        };
        let (mut strides, mut stride) = ([0, 0, 0, 1], columns);
        for (index, &dim) in outer.iter().rev().enumerate() {
            let axis = 2 - index;
            if dim != 1 && dim != expected[axis] {
                return Err(invalid(format!("attn_mask of shape {shape} does not fit the scores")));
            }
            strides[axis] = if dim == 1 { 0 } else { stride };
            stride = stride.saturating_mul(dim);
        }
        Ok(Self { strides, columns })
    }
}

/// A mask that is added to scores.
struct Mask<W> {
    values: Vec<W>,
    layout: MaskLayout,
}

impl<W: Float> Mask<W> {
    fn new<T: Computable<Work = W>>(tensor: &DenseHostTensor, extents: &Extents) -> Result<Self, Diagnostic> {
        let values = match tensor.dtype() {
            DType::I1 => {
                let hidden = |&is_seen: &bool| if is_seen { W::ZERO } else { W::LOWEST };
                tensor.read::<bool>(&ME)?.iter().map(hidden).collect()
            }
            _ => widened::<T>(tensor)?,
        };
        Ok(Self { values, layout: MaskLayout::new(tensor.shape(), extents)? })
    }
}

/// Keys or values of all steps, head after head.
fn joined<W: Copy + Default>(
    past: Option<&[W]>,
    now: &[W],
    heads: &Heads,
    past_length: usize,
) -> Result<Vec<W>, Diagnostic> {
    let total = past_length + heads.length;
    let extents = [heads.batch, heads.heads, total, heads.size];
    if extents.contains(&0) {
        // The others may be of any size.
        return Ok(Vec::new());
    }
    let mut all = room_for(product(&extents))?;
    for batch in 0..heads.batch {
        for head in 0..heads.heads {
            if let Some(past) = past {
                let length = past_length * heads.size;
                all.extend_from_slice(&past[(batch * heads.heads + head) * length..][..length]);
            }
            for row in 0..heads.length {
                all.extend_from_slice(&now[heads.at(batch, head, row)..][..heads.size]);
            }
        }
    }
    Ok(all)
}

/// What changes scores between the products.
struct Scoring<'a, W> {
    mask: Option<&'a Mask<W>>,
    lengths: Option<&'a [i64]>,
    is_causal: bool,
    past: usize,
    softcap: f64,
    /// At which stage scores are given back.
    mode: i64,
}

impl<W: Float> Scoring<'_, W> {
    /// Turns scores into probabilities, and copies them at their stage.
    fn apply(&self, scores: &mut [W], columns: usize, [batch, head]: [usize; 2], copy: &mut [W]) {
        let mut keep = |mode: i64, row: usize, scores: &[W]| {
            if self.mode == mode
                && let Some(copy) = copy.get_mut(row * columns..(row + 1) * columns)
            {
                copy.copy_from_slice(scores);
            }
        };
        for (row, scores) in scores.chunks_exact_mut(columns).enumerate() {
            keep(0, row, scores);
            if self.softcap > 0.0 {
                let cap = W::from_f64(self.softcap);
                scores.iter_mut().for_each(|score| *score = score.over(cap).tanh().times(cap));
            }
            keep(1, row, scores);
            if let Some(mask) = self.mask {
                let MaskLayout { strides, columns } = mask.layout;
                let at = batch * strides[0] + head * strides[1] + row * strides[2];
                let (seen, hidden) = scores.split_at_mut(columns);
                seen.iter_mut().zip(&mask.values[at..]).for_each(|(score, &mask)| *score = score.plus(mask));
                hidden.fill(W::LOWEST);
            }
            let end = self.lengths.map_or(columns, |lengths| (lengths[batch].max(0) as usize).min(columns));
            let end = if self.is_causal { end.min(row + 1 + self.past) } else { end };
            scores[end.min(columns)..].fill(W::LOWEST);
            keep(2, row, scores);
            let greatest = scores
                .iter()
                .fold(W::LOWEST, |greatest, &score| if score > greatest { score } else { greatest });
            scores.iter_mut().for_each(|score| *score = score.minus(greatest).exp());
            let sum = scores.iter().fold(W::Acc::default(), |sum, score| sum.plus(score.to_acc()));
            let factor = W::ONE.over(W::from_acc(sum));
            scores.iter_mut().for_each(|score| *score = score.times(factor));
            keep(3, row, scores);
        }
    }
}

fn attention<T: Computable>(call: &CpuCall<'_>) -> Computed {
    let inputs: [Option<&HostTensor>; 7] = formal(call.arguments, call.attrs)?;
    let [q, k, v, mask, past_key, past_value, lengths] = inputs;
    let (q, k, v) = (dense(q, "Q")?, dense(k, "K")?, dense(v, "V")?);
    let (past_key, past_value) = (optional_dense(past_key)?, optional_dense(past_value)?);
    let past = [past_key, past_value].map(|past| past.map(DenseHostTensor::shape));
    let extents = Extents::of(call.attrs, [q.shape(), k.shape(), v.shape()], past)?;
    let given_mask = optional_dense(mask)?;
    let lengths = lengths.map(|lengths| integers(lengths, "nonpad_kv_seqlen")).transpose()?;
    if lengths.as_ref().is_some_and(|lengths| lengths.len() != extents.q.batch) {
        return Err(invalid("nonpad_kv_seqlen must have a number for each of the batch"));
    }
    let scale = float_attr(call.attrs, "scale")?.unwrap_or(1.0 / (extents.q.size as f64).sqrt());
    let wanted = wanted(call.attrs, REQUIRED)?;
    let (is_causal, softcap) =
        (flag(call.attrs, "is_causal", false)?, float_attr(call.attrs, "softcap")?.unwrap_or(0.0));
    if T::DTYPE == DType::F32 && !wanted[3] {
        let mask = given_mask.map(|mask| Mask::new::<f32>(mask, &extents)).transpose()?;
        let changes = Changes { scale, softcap, mask: mask.as_ref(), lengths: lengths.as_deref(), is_causal };
        return attend(call, &extents, [q, k, v], [past_key, past_value], &changes, wanted);
    }
    let mask = given_mask.map(|mask| Mask::new::<T>(mask, &extents)).transpose()?;
    let widen = |tensor: Option<&DenseHostTensor>| tensor.map(widened::<T>).transpose();
    let keys = joined(widen(past_key)?.as_deref(), &widened::<T>(k)?, &extents.k, extents.past)?;
    let values = joined(widen(past_value)?.as_deref(), &widened::<T>(v)?, &extents.v, extents.past)?;
    let q = widened::<T>(q)?;
    let mode = if wanted[3] { int_or(call.attrs, "qk_matmul_output_mode", 0)? } else { -1 };
    let scoring = Scoring {
        mask: mask.as_ref(),
        lengths: lengths.as_deref(),
        is_causal,
        past: extents.past,
        softcap,
        mode,
    };
    let [y_shape, key_shape, value_shape, score_shape] = extents.outputs()?;
    let (rows, columns, size) = (extents.q.length, extents.keys(), extents.v.size);
    let heads = extents.q.batch.saturating_mul(extents.q.heads);
    // For each head its output, and then its scores if they are wanted.
    let (unit, kept) = (rows.saturating_mul(size), if wanted[3] { rows.saturating_mul(columns) } else { 0 });
    let each = unit.saturating_add(kept);
    // Without outputs there may be any number of heads.
    let count = if each == 0 { 0 } else { heads.saturating_mul(each) };
    let mut computed = room_for(count)?;
    computed.resize(count, T::Work::ZERO);
    let cost = rows.saturating_mul(columns).saturating_mul(extents.q.size.saturating_add(size)).div_ceil(8);
    for_units(call.cx, &mut computed, (each, cost), &|index, out| {
        let (batch, head) = (index / extents.q.heads, index % extents.q.heads);
        let source = batch * extents.k.heads + head / (extents.q.heads / extents.k.heads);
        let (out, copy) = out.split_at_mut(unit);
        let mut scores = vec![T::Work::ZERO; rows * columns];
        let depth = extents.q.size;
        let q_layout = Layout { row_stride: extents.q.row_stride(), col_stride: 1, batch_stride: 0 };
        let k_at = source * columns * depth;
        let plan = MatMul::new(rows, depth, columns, 1)
            .map(|plan| plan.scaled(T::Work::from_f64(scale), T::Work::ZERO))
            .and_then(|plan| plan.operands(q_layout, Layout::transposed(depth, columns)));
        let given = MatMulInput::new(&q[extents.q.at(batch, head, 0)..], &keys[k_at..]);
        let products = plan.and_then(|plan| plan.run(&Serial, given, &mut scores));
        scoring.apply(&mut scores, columns.max(1), [batch, head], copy);
        let given = MatMulInput::new(&scores, &values[source * columns * size..]);
        // The extents were checked, so that neither product fails.
        let _ = products.and_then(|()| MatMul::new(rows, columns, size, 1)?.run(&Serial, given, out));
    });
    let narrow = |shape: &TensorShape, at: &dyn Fn(usize) -> T::Work| {
        let mut out = allocate(call, T::DTYPE, shape.dims())?;
        let elements = out.elements_mut::<T>()?.iter_mut().enumerate();
        elements.for_each(|(i, out)| *out = T::from_f64(at(i).to_f64()));
        Ok::<_, Diagnostic>(out)
    };
    let of_head = |head: usize, place: usize| computed[head * each + place];
    let y_at = |i: usize| {
        let (column, rest) = (i % size, i / size);
        let (head, row) = match extents.q.is_packed {
            false => (rest / rows, rest % rows),
            true => {
                let (head, rest) = (rest % extents.q.heads, rest / extents.q.heads);
                (rest / rows * extents.q.heads + head, rest % rows)
            }
        };
        of_head(head, row * size + column)
    };
    let mut tensors = Vec::new();
    if wanted[0] {
        tensors.push(narrow(&y_shape, &y_at)?);
    }
    if wanted[1] {
        tensors.push(narrow(&key_shape, &|i| keys[i])?);
    }
    if wanted[2] {
        tensors.push(narrow(&value_shape, &|i| values[i])?);
    }
    if wanted[3] {
        tensors.push(narrow(&score_shape, &|i| of_head(i / kept, unit + i % kept))?);
    }
    Ok(results(tensors))
}

fn rotary_metadata(call: MetadataCall<'_>) -> Described {
    let inputs: [Option<&TensorMetadata>; 4] = formal(call.arguments, call.attrs)?;
    let x = required(inputs[0], "X")?;
    Heads::of(&x.shape, count_or(call.attrs, "num_heads", 0)?, "X")?;
    one(x.clone())
}

/// Returns the number of pairs of a row that are rotated.
pub(in crate::ops) fn rotated_pairs(
    attrs: &OpAttrs,
    heads: &Heads,
    [cos, sin]: [&TensorShape; 2],
) -> Result<usize, Diagnostic> {
    let rotated = match count_or(attrs, "rotary_embedding_dim", 0)? {
        0 => heads.size,
        rotated => rotated,
    };
    let half = rotated / 2;
    let cache = cos.dims().last().copied().unwrap_or(0);
    if rotated > heads.size || rotated % 2 != 0 || cache != half || sin != cos {
        return Err(invalid(format!(
            "caches of shapes {cos} and {sin} do not fit a rotation of {rotated} of {} elements",
            heads.size
        )));
    }
    Ok(half)
}

fn rotary<T: Computable>(call: &CpuCall<'_>) -> Computed {
    let [x, cos, sin, positions] = formal(call.arguments, call.attrs)?;
    let (x, cos, sin) = (dense(x, "X")?, dense(cos, "cos_cache")?, dense(sin, "sin_cache")?);
    let heads = Heads::of(x.shape(), count_or(call.attrs, "num_heads", 0)?, "X")?;
    let out = call.allocate_unset(0)?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let half = rotated_pairs(call.attrs, &heads, [cos.shape(), sin.shape()])?;
    // For each row of each of the batch the row of the caches.
    let count = heads.batch.saturating_mul(heads.length);
    let available = cos.num_elements().checked_div(half).unwrap_or(usize::MAX);
    let places = match positions {
        Some(positions) => {
            let positions = integers(positions, "position_ids")?;
            let place = |&place: &i64| usize::try_from(place).ok().filter(|&place| place < available);
            positions.iter().map(place).collect::<Option<Vec<usize>>>()
        }
        None => Some((0..count).collect()),
    };
    let places =
        places.filter(|places| places.len() == count && places.iter().all(|&place| place < available));
    let places = places.ok_or_else(|| invalid("positions do not lie in the caches"))?;
    let is_interleaved = flag(call.attrs, "interleaved", false)?;
    let (x, cos, sin) = (x.read_owned::<T>(&ME)?, cos.read_owned::<T>(&ME)?, sin.read_owned::<T>(&ME)?);
    let rows = count.saturating_mul(heads.heads);
    compute(call, &ME, out, (rows, heads.size, heads.size.saturating_mul(4)), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(heads.size)) {
            let x = &x[index * heads.size..][..heads.size];
            let row = match heads.is_packed {
                true => index / heads.heads,
                false => index / (heads.heads * heads.length) * heads.length + index % heads.length,
            };
            let (cos, sin) = (&cos[places[row] * half..][..half], &sin[places[row] * half..][..half]);
            out.copy_from_slice(x);
            let work = |x: T| T::Work::from_f64(x.to_f64());
            let turned = |a: T, b: T, cos: T, sin: T| {
                let [a, b, cos, sin] = [a, b, cos, sin].map(work);
                let turned = [cos.times(a).minus(sin.times(b)), sin.times(a).plus(cos.times(b))];
                turned.map(|x| T::from_f64(x.to_f64()))
            };
            let angles = cos.iter().zip(sin);
            if is_interleaved {
                let pairs = x.as_chunks::<2>().0.iter().zip(out.as_chunks_mut::<2>().0);
                for (([a, b], out), (cos, sin)) in pairs.zip(angles) {
                    *out = turned(*a, *b, *cos, *sin);
                }
            } else {
                let (first, second) = (&x[..half], &x[half..]);
                let (out_first, out_second) = out.split_at_mut(half);
                let pairs = first.iter().zip(second).zip(out_first.iter_mut().zip(out_second));
                for (((a, b), (out_a, out_b)), (cos, sin)) in pairs.zip(angles) {
                    [*out_a, *out_b] = turned(*a, *b, *cos, *sin);
                }
            }
        }
        Ok(())
    })
}

const ATTENTION: [AttrSpec; 9] = [
    attr::int_or("is_causal", 0),
    attr::int("kv_num_heads").optional(),
    attr::int("q_num_heads").optional(),
    attr::int_or("qk_matmul_output_mode", 0),
    attr::float("scale").optional(),
    attr::float_or("softcap", 0.0),
    attr::int("softmax_precision").optional(),
    OPERANDS,
    RESULTS,
];

const ROTARY: [AttrSpec; 4] = [
    attr::int_or("interleaved", 0),
    attr::int("num_heads").optional(),
    attr::int_or("rotary_embedding_dim", 0),
    OPERANDS,
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Attention").types(types::FLOATS).attrs(ATTENTION).metadata(metadata).cpu(|call| {
        let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
        with_type!(dtype, "onnx.Attention", |T| attention::<T>(&call),
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
    });
    ops.add("onnx.RotaryEmbedding")
        .types(types::FLOATS)
        .attrs(ROTARY)
        .metadata(rotary_metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.RotaryEmbedding", |T| rotary::<T>(&call)));
}
