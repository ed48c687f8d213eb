//! `onnx.RNN`, `onnx.GRU` and `onnx.LSTM`.
//!
//! One product gives the inputs' part of the gates for all steps; each step then adds the product
//! of its hidden state. The matrices are laid out for products once and kept with the tensors.
//! Directions are computed in parallel. The computation is in `f32`, or `f64` for tensors of that
//! type.

mod activation;
mod cells;
mod matrices;

use std::ops::Range;

use parking_lot::Mutex;
use tfrt_compute::{OnQueue, shape_error};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{ConvElement, Float, ParallelFor, PreparedMatrix, Serial};
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata, TensorShape};

pub(in crate::ops) use self::activation::{Activation, activations};
pub(in crate::ops) use self::cells::Kind;
use self::cells::{Cell, Step};
use self::matrices::Matrices;
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
pub(in crate::ops) struct Extents {
    pub(in crate::ops) steps: usize,
    pub(in crate::ops) batch: usize,
    pub(in crate::ops) hidden: usize,
    pub(in crate::ops) directions: usize,
    /// Whether the batch is the first dimension.
    pub(in crate::ops) batch_first: bool,
}

impl Extents {
    pub(in crate::ops) fn of(
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
        let extents = Self { steps, batch, hidden, directions, batch_first };
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
    pub(in crate::ops) fn state(&self) -> [usize; 3] {
        match self.batch_first {
            true => [self.batch, self.directions, self.hidden],
            false => [self.directions, self.batch, self.hidden],
        }
    }

    /// The shape of all hidden states.
    pub(in crate::ops) fn all(&self) -> [usize; 4] {
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
    let reversed = reversed(call.attrs)?;
    let state = |tensor: Option<&HostTensor>| match optional_dense(tensor)? {
        Some(tensor) => widened::<T>(tensor),
        None => zeros(&extents.state()),
    };
    let bias = optional_dense(bias)?.map(widened::<T>).transpose()?;
    let peepholes = optional_dense(peepholes)?.map(widened::<T>).transpose()?;
    let mut outputs = Outputs { all: zeros(&extents.all())?, hidden: state(hidden)?, cell: state(cell)? };
    let (clip, coupled) = (float_attr(call.attrs, "clip")?, flag(call.attrs, "input_forget", false)?);
    let linear_before_reset = flag(call.attrs, "linear_before_reset", false)?;
    let inputs = x.read::<T>(&ME)?;
    let inputs = in_work::<T>(&inputs)?;
    // A GRU needs the product of its third gate after the other two, if the reset comes before it.
    let first = if kind == Kind::Gru && !linear_before_reset { 2 } else { kind.gates() };
    let gates = [first, kind.gates() - first].map(|gates| gates * extents.hidden);
    let from_inputs = Matrices::of::<T>(w, extents.directions, [gates[0] + gates[1], 0])?;
    let from_states = Matrices::of::<T>(r, extents.directions, gates)?;
    let states = [&outputs.hidden, &outputs.cell].map(Vec::as_slice);
    let run = |direction: usize, parallel: &dyn ParallelFor| {
        let part = |whole| part_of(whole, direction, extents.directions);
        let cell = Cell {
            kind,
            hidden: extents.hidden,
            activations: &activations[direction],
            clip,
            coupled,
            bias: bias.as_deref().map(part),
            peepholes: peepholes.as_deref().map(part),
        };
        let rows = gates[0] + gates[1];
        let mut all_gates = zeros(&[extents.steps, extents.batch, rows])?;
        let [input_matrix, _] = from_inputs.direction(direction);
        input_matrix.multiply(parallel, &inputs, &mut all_gates).map_err(shape_error)?;
        let turns =
            Turns { extents: &extents, direction, is_reversed: reversed[direction], lengths: &lengths };
        run_direction(&turns, &cell, (&all_gates, from_states.direction(direction)), states, parallel)
    };
    let weights = w.num_elements().saturating_add(r.num_elements());
    let products = weights.saturating_mul(extents.steps).saturating_mul(extents.batch);
    for (direction, result) in in_parallel(call, (extents.directions, products), &run).into_iter().enumerate()
    {
        outputs.take(&extents, direction, &result?);
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

/// Returns whether each direction takes the steps from the last to the first.
pub(in crate::ops) fn reversed(attrs: &OpAttrs) -> Result<&'static [bool], Diagnostic> {
    match text_or(attrs, "direction", "forward")? {
        "forward" => Ok(&[false]),
        "reverse" => Ok(&[true]),
        "bidirectional" => Ok(&[false, true]),
        other => Err(unknown("direction", other)),
    }
}

/// What one of several directions has of a tensor.
fn part_of<W>(whole: &[W], direction: usize, directions: usize) -> &[W] {
    let length = whole.len() / directions;
    &whole[direction * length..][..length]
}

/// The states of one direction, with the sequences of the batch one after the other.
struct States<W> {
    /// The hidden states of all steps.
    all: Vec<W>,
    hidden: Vec<W>,
    cell: Vec<W>,
}

impl<W: Copy> Outputs<W> {
    /// Writes the states of a direction to their places.
    fn take(&mut self, extents: &Extents, direction: usize, states: &States<W>) {
        let hidden = extents.hidden;
        for sequence in 0..extents.batch {
            let (at, from) = (extents.state_at(direction, sequence), sequence * hidden);
            self.hidden[at..][..hidden].copy_from_slice(&states.hidden[from..][..hidden]);
            self.cell[at..][..hidden].copy_from_slice(&states.cell[from..][..hidden]);
            for step in 0..extents.steps {
                let from = &states.all[(step * extents.batch + sequence) * hidden..][..hidden];
                self.all[extents.output_at(step, direction, sequence)..][..hidden].copy_from_slice(from);
            }
        }
    }
}

/// The number of products of a call from which on its directions are computed by several threads:
/// about 20 µs on one.
const LEAST_PRODUCTS: usize = 1 << 19;

/// Calls `run` for each direction, on several threads if there is more than one and they have many
/// products.
fn in_parallel<R: Send>(
    call: &CpuCall<'_>,
    (directions, products): (usize, usize),
    run: &(dyn Fn(usize, &dyn ParallelFor) -> R + Sync),
) -> Vec<R> {
    let queue = OnQueue(call.cx);
    if directions == 1 || products < LEAST_PRODUCTS {
        return (0..directions).map(|direction| run(direction, &queue)).collect();
    }
    let results: Vec<_> = (0..directions).map(|_| Mutex::new(None)).collect();
    queue.parallel_for(directions, 1, &|range: Range<usize>| {
        for direction in range {
            *results[direction].lock() = Some(run(direction, &Serial));
        }
    });
    results.into_iter().filter_map(Mutex::into_inner).collect()
}

/// The order in which one direction takes the steps of each sequence.
struct Turns<'a> {
    extents: &'a Extents,
    direction: usize,
    is_reversed: bool,
    lengths: &'a [usize],
}

impl Turns<'_> {
    /// The step that a sequence takes in a turn.
    fn step(&self, turn: usize, sequence: usize) -> Option<usize> {
        match self.is_reversed {
            true => self.lengths[sequence].checked_sub(turn + 1),
            false => (turn < self.lengths[sequence]).then_some(turn),
        }
    }
}

/// Runs the steps of one direction from the initial states.
fn run_direction<W: Element + Float + ConvElement<Work = W>>(
    turns: &Turns<'_>,
    cell: &Cell<'_, W>,
    (gates, [first, second]): (&[W], [&PreparedMatrix<W>; 2]),
    [hidden_states, cell_states]: [&[W]; 2],
    parallel: &dyn ParallelFor,
) -> Result<States<W>, Diagnostic> {
    let extents = turns.extents;
    let (hidden, batch, rows) = (extents.hidden, extents.batch, cell.kind.gates() * extents.hidden);
    let initial = |states: &[W]| {
        let sequence = |sequence| states[extents.state_at(turns.direction, sequence)..][..hidden].iter();
        (0..batch).flat_map(sequence).copied().collect::<Vec<_>>()
    };
    let mut states = States {
        all: zeros(&[extents.steps, batch, hidden])?,
        hidden: initial(hidden_states),
        cell: initial(cell_states),
    };
    let (mut products, mut reset) = (zeros(&[batch, first.columns()])?, zeros(&[batch, hidden])?);
    let mut candidates: Vec<W> = zeros(&[batch, second.columns()])?;
    let mut scratch: Vec<W> = zeros(&[rows])?;
    let longest = turns.lengths.iter().copied().max().unwrap_or(0);
    for turn in 0..longest {
        first.multiply(parallel, &states.hidden, &mut products).map_err(shape_error)?;
        let gates_of = |sequence: usize| {
            let step = turns.step(turn, sequence)?;
            Some(&gates[extents.input_at(step, sequence) * rows..][..rows])
        };
        let products_of = |sequence: usize| &products[sequence * first.columns()..][..first.columns()];
        let has_second = second.columns() > 0;
        if has_second {
            for sequence in 0..batch {
                let Some(gates) = gates_of(sequence) else { continue };
                let state = &states.hidden[sequence * hidden..][..hidden];
                let now = Step { gates, products: products_of(sequence), candidate: None };
                cell.reset(&now, state, &mut reset[sequence * hidden..][..hidden]);
            }
            second.multiply(parallel, &reset, &mut candidates).map_err(shape_error)?;
        }
        for sequence in 0..batch {
            let (Some(step), Some(gates)) = (turns.step(turn, sequence), gates_of(sequence)) else {
                continue;
            };
            let own = sequence * hidden..(sequence + 1) * hidden;
            let candidate = if has_second { candidates.get(own.clone()) } else { None };
            let now = Step { gates, products: products_of(sequence), candidate };
            let state = &mut states.hidden[own.clone()];
            cell.step(&now, state, &mut states.cell[own], &mut scratch);
            states.all[(step * batch + sequence) * hidden..][..hidden].copy_from_slice(state);
        }
    }
    Ok(states)
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
