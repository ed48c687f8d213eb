//! `onnx.RNN`, `onnx.GRU` and `onnx.LSTM`.
//!
//! One product gives the inputs' part of the gates for all steps; each step then adds the product of its hidden state. The
//! computation is in `f32`, or `f64` for tensors of that type.

mod activation;
mod cells;

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{BlockOp, Float, Layout, MatMul, MatMulElement, MatMulInput};
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata, TensorShape};

use self::activation::activations;
use self::cells::{Cell, Kind, Step};
use super::arguments::{
    OPERANDS, RESULTS, check_dims, check_same_type, count_or, dense, flag, formal, optional_dense, pick,
    required, text_or, unknown, wanted,
};
use super::two::results;
use super::work::{Computable, in_work, widened};
use crate::ops::support::{
    Computed, Described, allocate, float_attr, integers, invalid, room_for, with_type,
};
use crate::ops::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx recurrent op");

/// The extents of a call.
#[derive(Clone, Copy, Debug)]
struct Extents {
    steps: usize,
    batch: usize,
    inputs: usize,
    hidden: usize,
    directions: usize,
    /// Whether the batch is the first dimension.
    batch_first: bool,
}

impl Extents {
    fn of(
        kind: Kind,
        attrs: &OpAttrs,
        x: &TensorShape,
        w: &TensorShape,
        r: &TensorShape,
    ) -> Result<Self, Diagnostic> {
        let batch_first = flag(attrs, "layout", false)?;
        let (&[first, second, inputs], &[directions, _, hidden]) = (x.dims(), r.dims()) else {
            return Err(invalid(format!("X and R must have 3 dimensions, got shapes {x} and {r}")));
        };
        let (steps, batch) = if batch_first { (second, first) } else { (first, second) };
        let extents = Self { steps, batch, inputs, hidden, directions, batch_first };
        let expected = if text_or(attrs, "direction", "forward")? == "bidirectional" { 2 } else { 1 };
        if directions != expected {
            return Err(invalid(format!("R must be of {expected} directions, got shape {r}")));
        }
        if count_or(attrs, "hidden_size", hidden)? != hidden {
            return Err(invalid(format!("attribute 'hidden_size' does not fit R of shape {r}")));
        }
        let rows =
            kind.gates().checked_mul(hidden).ok_or_else(|| invalid("the hidden state is too large"))?;
        check_dims("W", w.dims(), &[directions, rows, inputs])?;
        check_dims("R", r.dims(), &[directions, rows, hidden])?;
        Ok(extents)
    }

    /// The shape of a state.
    fn state(&self) -> [usize; 3] {
        match self.batch_first {
            true => [self.batch, self.directions, self.hidden],
            false => [self.directions, self.batch, self.hidden],
        }
    }

    /// The shape of all hidden states.
    fn all(&self) -> [usize; 4] {
        match self.batch_first {
            true => [self.batch, self.steps, self.directions, self.hidden],
            false => [self.steps, self.directions, self.batch, self.hidden],
        }
    }

    /// Where a sequence's state begins.
    fn state_at(&self, direction: usize, batch: usize) -> usize {
        let place = match self.batch_first {
            true => batch * self.directions + direction,
            false => direction * self.batch + batch,
        };
        place * self.hidden
    }

    /// Where the hidden state of a step begins.
    fn output_at(&self, step: usize, direction: usize, batch: usize) -> usize {
        let place = match self.batch_first {
            true => (batch * self.steps + step) * self.directions + direction,
            false => (step * self.directions + direction) * self.batch + batch,
        };
        place * self.hidden
    }

    /// Which row of X is a step of a sequence.
    fn input_at(&self, step: usize, batch: usize) -> usize {
        if self.batch_first { batch * self.steps + step } else { step * self.batch + batch }
    }
}

fn metadata(kind: Kind, call: MetadataCall<'_>) -> Described {
    let inputs: [_; 8] = formal(call.arguments, call.attrs)?;
    let [x, w, r, bias, lengths, hidden, cell, peepholes] = inputs;
    let (x, w, r) = (required(x, "X")?, required(w, "W")?, required(r, "R")?);
    let extents = Extents::of(kind, call.attrs, &x.shape, &w.shape, &r.shape)?;
    let (directions, rows) = (extents.directions, kind.gates() * extents.hidden);
    let expected = [
        ("W", Some(w), w.shape.dims().to_vec()),
        ("R", Some(r), r.shape.dims().to_vec()),
        ("B", bias, vec![directions, rows.saturating_mul(2)]),
        ("initial_h", hidden, extents.state().to_vec()),
        ("initial_c", cell, extents.state().to_vec()),
        ("P", peepholes, vec![directions, extents.hidden.saturating_mul(3)]),
    ];
    for (name, tensor, dims) in &expected {
        if let Some(tensor) = tensor {
            check_same_type(("X", x), (name, tensor))?;
            check_dims(name, tensor.shape.dims(), dims)?;
        }
    }
    if let Some(lengths) = lengths {
        check_dims("sequence_lens", lengths.shape.dims(), &[extents.batch])?;
    }
    if kind != Kind::Lstm && (cell.is_some() || peepholes.is_some()) {
        return Err(invalid("the op has no cell state"));
    }
    let state = TensorMetadata::new(x.dtype, TensorShape::new(&extents.state())?);
    let all = TensorMetadata::new(x.dtype, TensorShape::new(&extents.all())?);
    let wanted = wanted(call.attrs, [true, true, kind == Kind::Lstm])?;
    Ok(pick([all, state.clone(), state], [wanted[0], wanted[1], wanted[2] && kind == Kind::Lstm]))
}

/// `count` zeros.
fn zeros<W: Float>(counts: &[usize]) -> Result<Vec<W>, Diagnostic> {
    let count = counts.iter().try_fold(1usize, |n, &count| n.checked_mul(count));
    let count = count.ok_or_else(|| invalid("the states are too large"))?;
    let mut values = room_for(count)?;
    values.resize(count, W::ZERO);
    Ok(values)
}

/// How many steps each sequence has.
fn lengths(lengths: Option<&HostTensor>, extents: &Extents) -> Result<Vec<usize>, Diagnostic> {
    let Some(lengths) = lengths else {
        let mut whole = room_for(extents.batch)?;
        whole.resize(extents.batch, extents.steps);
        return Ok(whole);
    };
    let lengths = integers(lengths, "sequence_lens")?;
    let length = |&length: &i64| {
        usize::try_from(length).ok().filter(|&length| length <= extents.steps).ok_or_else(|| {
            invalid(format!("sequence_lens must be in the range [0, {}], got {length}", extents.steps))
        })
    };
    lengths.iter().map(length).collect()
}

/// The results that all directions write.
struct Outputs<W> {
    all: Vec<W>,
    hidden: Vec<W>,
    cell: Vec<W>,
}

fn recurrent<T: Computable>(kind: Kind, call: &CpuCall<'_>) -> Computed {
    let inputs: [_; 8] = formal(call.arguments, call.attrs)?;
    let [x, w, r, bias, sequence_lens, hidden, cell, peepholes] = inputs;
    let (x, w, r) = (dense(x, "X")?, dense(w, "W")?, dense(r, "R")?);
    let extents = Extents::of(kind, call.attrs, x.shape(), w.shape(), r.shape())?;
    if extents.batch == 0 || extents.hidden == 0 {
        // Nothing is computed, and the other extents may be of any size.
        let empty = call.results.iter().map(|result| allocate(call, T::DTYPE, result.shape.dims()));
        return Ok(results(empty.collect::<Result<Vec<_>, _>>()?));
    }
    let lengths = lengths(sequence_lens, &extents)?;
    let activations = activations(call.attrs, kind, extents.directions)?;
    let reversed: &[bool] = match text_or(call.attrs, "direction", "forward")? {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(unknown("direction", other)),
    };
    let state = |tensor: Option<&HostTensor>| match optional_dense(tensor)? {
        Some(tensor) => widened::<T>(tensor),
        None => zeros(&extents.state()),
    };
    let bias = optional_dense(bias)?.map(widened::<T>).transpose()?;
    let peepholes = optional_dense(peepholes)?.map(widened::<T>).transpose()?;
    let mut outputs = Outputs { all: zeros(&extents.all())?, hidden: state(hidden)?, cell: state(cell)? };
    // The matrices may be large, and the steps few: they are read where they lie.
    let (x, w, r) = (x.read::<T>(&ME)?, w.read::<T>(&ME)?, r.read::<T>(&ME)?);
    let (x, w, r) = (in_work::<T>(&x)?, in_work::<T>(&w)?, in_work::<T>(&r)?);
    let (clip, hidden) = (float_attr(call.attrs, "clip")?, extents.hidden);
    for direction in 0..extents.directions {
        let rows = kind.gates() * hidden;
        let part = |whole| part_of(whole, direction, extents.directions);
        let cell = Cell {
            kind,
            hidden,
            activations: &activations[direction],
            clip,
            coupled: flag(call.attrs, "input_forget", false)?,
            linear_before_reset: flag(call.attrs, "linear_before_reset", false)?,
            bias: bias.as_deref().map(part),
            peepholes: peepholes.as_deref().map(part),
        };
        let (w, r) = (part(&w), part(&r));
        let mut gates = zeros(&[extents.steps, extents.batch, rows])?;
        product(
            call,
            (&x, w),
            [extents.steps.saturating_mul(extents.batch), extents.inputs, rows],
            &mut gates,
        )?;
        run_direction(
            call,
            &extents,
            (direction, reversed[direction]),
            &cell,
            (&gates, r),
            &lengths,
            &mut outputs,
        )?;
    }
    let wanted = wanted(call.attrs, [true, true, kind == Kind::Lstm])?;
    let mut tensors = Vec::new();
    let shapes: [(&[T::Work], &[usize]); 3] = [
        (&outputs.all, &extents.all()),
        (&outputs.hidden, &extents.state()),
        (&outputs.cell, &extents.state()),
    ];
    for ((values, dims), is_wanted) in shapes.into_iter().zip(wanted) {
        if is_wanted {
            let mut out = allocate(call, T::DTYPE, dims)?;
            out.elements_mut::<T>()?
                .iter_mut()
                .zip(values)
                .for_each(|(out, x)| *out = T::from_f64(x.to_f64()));
            tensors.push(out);
        }
    }
    Ok(results(tensors))
}

/// What one of several directions has of a tensor.
fn part_of<W>(whole: &[W], direction: usize, directions: usize) -> &[W] {
    let length = whole.len() / directions;
    &whole[direction * length..][..length]
}

/// The product of a matrix and the transpose of another.
fn product<W: Element + MatMulElement>(
    call: &CpuCall<'_>,
    (a, b): (&[W], &[W]),
    [m, k, n]: [usize; 3],
    out: &mut [W],
) -> Result<(), Diagnostic> {
    let layouts = (Layout::row_major(m, k), Layout::transposed(k, n));
    let plan = MatMul::new(m, k, n, workers(call.cx)).and_then(|plan| plan.operands(layouts.0, layouts.1));
    plan.and_then(|plan| plan.run(&OnQueue(call.cx), MatMulInput::new(a, b), out)).map_err(shape_error)
}

/// Runs the steps of one direction. States are read from and written to `outputs`.
fn run_direction<W: Element + Float + MatMulElement>(
    call: &CpuCall<'_>,
    extents: &Extents,
    (direction, is_reversed): (usize, bool),
    cell: &Cell<'_, W>,
    (gates, r): (&[W], &[W]),
    lengths: &[usize],
    outputs: &mut Outputs<W>,
) -> Result<(), Diagnostic> {
    let (hidden, batch, rows) = (extents.hidden, extents.batch, cell.kind.gates() * extents.hidden);
    let mut states = zeros(&[batch, hidden])?;
    for (sequence, state) in states.chunks_exact_mut(hidden.max(1)).enumerate() {
        state.copy_from_slice(&outputs.hidden[extents.state_at(direction, sequence)..][..hidden]);
    }
    let (mut products, mut reset) = (zeros(&[batch, rows])?, zeros(&[batch, hidden])?);
    let first_rows = if cell.kind == Kind::Gru && !cell.linear_before_reset { 2 * hidden } else { rows };
    let longest = lengths.iter().copied().max().unwrap_or(0);
    for turn in 0..longest {
        // The third gate of a GRU may need the other two first.
        let first = &mut products[..batch * first_rows];
        product(call, (&states, &r[..first_rows * hidden]), [batch, hidden, first_rows], first)?;
        let step_of = |sequence: usize| match is_reversed {
            true => lengths[sequence].checked_sub(turn + 1),
            false => (turn < lengths[sequence]).then_some(turn),
        };
        let gates_of =
            |sequence: usize| Some(&gates[extents.input_at(step_of(sequence)?, sequence) * rows..][..rows]);
        let second: Vec<W> = if first_rows < rows {
            let mut second = zeros(&[batch, hidden])?;
            for sequence in 0..batch {
                let Some(gates) = gates_of(sequence) else { continue };
                let state = &states[sequence * hidden..][..hidden];
                let products = &products[sequence * first_rows..][..first_rows];
                cell.reset(gates, products, state, &mut reset[sequence * hidden..][..hidden]);
            }
            product(call, (&reset, &r[first_rows * hidden..]), [batch, hidden, hidden], &mut second)?;
            second
        } else {
            Vec::new()
        };
        for sequence in 0..batch {
            let Some(step) = step_of(sequence) else { continue };
            let at = extents.state_at(direction, sequence);
            let now = Step {
                gates: &gates[extents.input_at(step, sequence) * rows..][..rows],
                products: &products[sequence * first_rows..][..first_rows],
                candidate: second.get(sequence * hidden..(sequence + 1) * hidden),
            };
            let state = &mut states[sequence * hidden..][..hidden];
            cell.step(&now, state, &mut outputs.cell[at..][..hidden]);
            outputs.hidden[at..][..hidden].copy_from_slice(state);
            outputs.all[extents.output_at(step, direction, sequence)..][..hidden].copy_from_slice(state);
        }
    }
    Ok(())
}

const COMMON: [AttrSpec; 9] = [
    attr::floats("activation_alpha").optional(),
    attr::floats("activation_beta").optional(),
    attr::strings("activations").optional(),
    attr::float("clip").optional(),
    attr::string_or("direction", "forward"),
    attr::int("hidden_size").optional(),
    attr::int_or("layout", 0),
    OPERANDS,
    RESULTS,
];

/// The common attributes and one more.
const fn with(extra: AttrSpec) -> [AttrSpec; 10] {
    let [a, b, c, d, e, f, g, h, i] = COMMON;
    [a, b, c, d, e, f, extra, g, h, i]
}

pub(super) fn register(ops: &mut OpRegistry) {
    macro_rules! kinds {
        ($($name:literal, $attrs:expr => $kind:expr;)*) => {$(
            ops.add($name).types(types::FLOATS).attrs($attrs).metadata(|call| metadata($kind, call)).cpu(|call| {
                let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
                with_type!(dtype, $name, |T| recurrent::<T>($kind, &call),
                    F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
            });
        )*};
    }
    kinds! {
        "onnx.RNN", COMMON => Kind::Rnn;
        "onnx.GRU", with(attr::int_or("linear_before_reset", 0)) => Kind::Gru;
        "onnx.LSTM", with(attr::int_or("input_forget", 0)) => Kind::Lstm;
    }
}
