//! `onnx.LinearAttention`: attention without a softmax, whose keys and values are summed up in one
//! matrix for each head.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::arguments::{
    OPERANDS, RESULTS, check_dims, count_or, dense, formal, optional_dense, pick, required, text_or, unknown,
    wanted,
};
use super::parallel::for_units;
use super::two::results;
use crate::ops::support::{Computed, Described, allocate, float_attr, invalid, room_for, with_float};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.LinearAttention");

/// How the state changes at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    /// Whether the state decays first.
    has_decay: bool,
    /// Whether only what the state does not know of the value yet is added.
    has_delta: bool,
}

impl Rule {
    fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let (has_decay, has_delta) = match text_or(attrs, "update_rule", "gated_delta")? {
            "linear" => (false, false),
            "gated" => (true, false),
            "delta" => (false, true),
            "gated_delta" => (true, true),
            other => return Err(unknown("update_rule", other)),
        };
        Ok(Self { has_decay, has_delta })
    }
}

/// The extents of a call.
#[derive(Clone, Copy, Debug)]
struct Extents {
    batch: usize,
    steps: usize,
    /// Heads of keys and values, and how many heads of queries share one.
    heads: usize,
    shared: usize,
    /// Elements of a key and of a value of one head.
    key: usize,
    value: usize,
}

impl Extents {
    fn of(
        attrs: &OpAttrs,
        query: &TensorShape,
        key: &TensorShape,
        value: &TensorShape,
    ) -> Result<Self, Diagnostic> {
        let (queries, heads) = (count_or(attrs, "q_num_heads", 0)?, count_or(attrs, "kv_num_heads", 0)?);
        if heads == 0 || queries == 0 || !queries.is_multiple_of(heads) {
            return Err(invalid(format!("{queries} heads of queries cannot share {heads} heads of keys")));
        }
        let (&[batch, steps, packed], &[_, _, values]) = (query.dims(), value.dims()) else {
            return Err(invalid(format!("the inputs must have 3 dimensions, got shape {query}")));
        };
        let extents = Self {
            batch,
            steps,
            heads,
            shared: queries / heads,
            key: packed / queries,
            value: values / heads,
        };
        check_dims("query", query.dims(), &[batch, steps, queries * extents.key])?;
        check_dims("key", key.dims(), &[batch, steps, heads * extents.key])?;
        check_dims("value", value.dims(), &[batch, steps, heads * extents.value])?;
        Ok(extents)
    }

    fn state(&self) -> [usize; 4] {
        [self.batch, self.heads, self.key, self.value]
    }

    fn output(&self) -> [usize; 3] {
        [self.batch, self.steps, self.heads * self.shared * self.value]
    }
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [query, key, value, past, decay, beta]: [_; 6] = formal(call.arguments, call.attrs)?;
    let (query, key) = (required(query, "query")?, required(key, "key")?);
    let value = required(value, "value")?;
    let extents = Extents::of(call.attrs, &query.shape, &key.shape, &value.shape)?;
    let rule = Rule::of(call.attrs)?;
    for (name, input, is_used) in [("decay", decay, rule.has_decay), ("beta", beta, rule.has_delta)] {
        if input.is_some() != is_used {
            let verb = if is_used { "is missing" } else { "must be absent" };
            return Err(invalid(format!("input '{name}' {verb} for this update rule")));
        }
        let Some(input) = input else { continue };
        let fits = match input.shape.dims() {
            [batch, steps, last] => {
                let widths = if name == "decay" {
                    [extents.heads * extents.key, extents.heads]
                } else {
                    [1, extents.heads]
                };
                [*batch, *steps] == [extents.batch, extents.steps] && widths.contains(last)
            }
            _ => false,
        };
        if !fits {
            return Err(invalid(format!("'{name}' of shape {} does not fit the heads", input.shape)));
        }
    }
    if let Some(past) = past {
        check_dims("past_state", past.shape.dims(), &extents.state())?;
    }
    let output = TensorMetadata::new(query.dtype, TensorShape::new(&extents.output())?);
    let dtype = past.map_or(query.dtype, |past| past.dtype);
    let state = TensorMetadata::new(dtype, TensorShape::new(&extents.state())?);
    Ok(pick([output, state], wanted(call.attrs, [true, true])?))
}

/// A tensor's elements in the type that is computed in.
fn numbers<W: Float>(tensor: &DenseHostTensor) -> Result<Vec<W>, Diagnostic> {
    with_float!(tensor.dtype(), "onnx.LinearAttention", |T| {
        let mut values = room_for(tensor.num_elements())?;
        values.extend(tensor.read::<T>(&ME)?.iter().map(|&x| W::from_f64(x.to_f64())));
        Ok(values)
    })
}

fn optional_numbers<W: Float>(input: Option<&HostTensor>) -> Result<Option<Vec<W>>, Diagnostic> {
    optional_dense(input)?.map(numbers).transpose()
}

/// The numbers of a call.
struct Inputs<W> {
    query: Vec<W>,
    key: Vec<W>,
    value: Vec<W>,
    past: Option<Vec<W>>,
    decay: Option<Vec<W>>,
    beta: Option<Vec<W>>,
    scale: W,
}

impl<W: Float> Inputs<W> {
    /// Runs all steps of one head of one sequence: `out` is its outputs, step by step, and then its
    /// state.
    fn run(&self, extents: &Extents, index: usize, out: &mut [W]) {
        let Extents { steps, heads, shared, key, value, .. } = *extents;
        let (batch, head) = (index / heads, index % heads);
        let (outputs, state) = out.split_at_mut(steps * shared * value);
        match &self.past {
            Some(past) => state.copy_from_slice(&past[index * key * value..][..key * value]),
            None => state.fill(W::ZERO),
        }
        let mut update = vec![W::ZERO; value];
        for step in 0..steps {
            let row = batch * steps + step;
            let k = &self.key[(row * heads + head) * key..][..key];
            if let Some(decay) = &self.decay {
                let width = decay.len() / (extents.batch * steps * heads);
                let decay = &decay[(row * heads + head) * width..][..width];
                for (index, state) in state.chunks_exact_mut(value.max(1)).enumerate() {
                    let factor = decay[if width == 1 { 0 } else { index }].exp();
                    state.iter_mut().for_each(|state| *state = state.times(factor));
                }
            }
            update.copy_from_slice(&self.value[(row * heads + head) * value..][..value]);
            if let Some(beta) = &self.beta {
                for (k, state) in k.iter().zip(state.chunks_exact(value.max(1))) {
                    update
                        .iter_mut()
                        .zip(state)
                        .for_each(|(update, state)| *update = update.minus(k.times(*state)));
                }
                let width = beta.len() / (extents.batch * steps);
                let beta = beta[row * width + if width == 1 { 0 } else { head }];
                update.iter_mut().for_each(|update| *update = update.times(beta));
            }
            for (k, state) in k.iter().zip(state.chunks_exact_mut(value.max(1))) {
                state
                    .iter_mut()
                    .zip(&update)
                    .for_each(|(state, update)| *state = state.plus(k.times(*update)));
            }
            for query in 0..shared {
                let output = &mut outputs[(step * shared + query) * value..][..value];
                output.fill(W::ZERO);
                let q = &self.query[((row * heads + head) * shared + query) * key..][..key];
                for (q, state) in q.iter().zip(state.chunks_exact(value.max(1))) {
                    let q = q.times(self.scale);
                    output.iter_mut().zip(state).for_each(|(out, state)| *out = out.plus(q.times(*state)));
                }
            }
        }
    }
}

fn linear_attention<W: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let [query, key, value, past, decay, beta]: [_; 6] = formal(call.arguments, call.attrs)?;
    let (query, key, value) = (dense(query, "query")?, dense(key, "key")?, dense(value, "value")?);
    let extents = Extents::of(call.attrs, query.shape(), key.shape(), value.shape())?;
    let scale = match float_attr(call.attrs, "scale")?.unwrap_or(0.0) {
        0.0 => 1.0 / (extents.key as f64).sqrt(),
        scale => scale,
    };
    let state_dtype = past.map_or(query.dtype(), HostTensor::dtype);
    let inputs = Inputs::<W> {
        query: numbers(query)?,
        key: numbers(key)?,
        value: numbers(value)?,
        past: optional_numbers(past)?,
        decay: optional_numbers(decay)?,
        beta: optional_numbers(beta)?,
        scale: W::from_f64(scale),
    };
    let Extents { batch, steps, heads, shared, key, value } = extents;
    let (own, state) = (steps * shared * value, key * value);
    let total =
        (batch * heads).checked_mul(own + state).ok_or_else(|| invalid("the states are too large"))?;
    let mut computed: Vec<W> = room_for(total)?;
    computed.resize(total, W::ZERO);
    let cost = steps.saturating_mul(state).saturating_mul(2 + shared);
    for_units(call.cx, &mut computed, (own + state, cost), &|index, out| inputs.run(&extents, index, out));
    let wanted = wanted(call.attrs, [true, true])?;
    let mut outputs = allocate(call, query.dtype(), &extents.output())?;
    let mut states = allocate(call, state_dtype, &extents.state())?;
    let (width, units) = (shared * value, computed.chunks_exact((own + state).max(1)));
    with_float!(query.dtype(), "onnx.LinearAttention", |T| {
        let elements = outputs.elements_mut::<T>()?;
        for (index, unit) in units.clone().enumerate() {
            for (step, from) in unit[..own].chunks_exact(width.max(1)).enumerate() {
                let row = (index / heads * steps + step) * heads + index % heads;
                let to = elements[row * width..][..width].iter_mut();
                to.zip(from).for_each(|(to, from)| *to = T::from_f64(from.to_f64()));
            }
        }
        Ok(())
    })?;
    with_float!(state_dtype, "onnx.LinearAttention", |T| {
        let elements = states.elements_mut::<T>()?.chunks_exact_mut(state.max(1));
        for (to, unit) in elements.zip(units) {
            to.iter_mut().zip(&unit[own..]).for_each(|(to, from)| *to = T::from_f64(from.to_f64()));
        }
        Ok(())
    })?;
    Ok(results(pick([outputs, states], wanted)))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.LinearAttention")
        .types(types::FLOATS)
        .attrs([
            attr::int("kv_num_heads"),
            attr::int("q_num_heads"),
            attr::float_or("scale", 0.0),
            attr::string_or("update_rule", "gated_delta"),
            OPERANDS,
            RESULTS,
        ])
        .metadata(metadata)
        .cpu(|call| match call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype()) {
            DType::F64 => linear_attention::<f64>(&call),
            _ => linear_attention::<f32>(&call),
        });
}
