//! `tf.BlockLSTM` and `tf.BlockLSTMV2`: an LSTM over all steps that also gives its gates.
//!
//! One product gives the inputs' part of the gates for all steps; each step then adds the product
//! of its hidden state. The matrix is laid out for products once for a call.

use tfrt_compute::{OnQueue, shape_error};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, Layout, PreparedMatrix, ops};
use tfrt_tensor::{Accessor, HostTensor, TensorMetadata, TensorShape};

use super::plain::{results, tensor};
use super::support::{Computed, Described, float_attr, integer, invalid, product, room_for, take};
use crate::{AttrSpec, CpuCall, MetadataCall, OpRegistry, ResultType, attr};

static ME: Accessor = Accessor::new("tf.BlockLSTM");

/// The number of results, which all have the shape of the hidden states of all steps: the input
/// gate, the cell state, the forget gate, the output gate, the new input, the activated cell state
/// and the hidden state.
const RESULTS: usize = 7;

/// Where the product of a step has the part of each gate.
#[derive(Clone, Copy)]
struct Order {
    input: usize,
    new: usize,
    forget: usize,
    output: usize,
}

/// How the two versions of the op differ: the order, and the attributes that are not given.
struct Version {
    order: Order,
    forget_bias: f64,
    cell_clip: f64,
}

const FIRST: Version =
    Version { order: Order { input: 0, new: 1, forget: 2, output: 3 }, forget_bias: 1.0, cell_clip: 3.0 };
const SECOND: Version =
    Version { order: Order { input: 0, forget: 1, new: 2, output: 3 }, forget_bias: 0.0, cell_clip: 0.0 };

/// The extents of a call.
#[derive(Clone, Copy)]
struct Extents {
    steps: usize,
    batch: usize,
    depth: usize,
    hidden: usize,
}

impl Extents {
    /// The extents that the shapes of the arguments `x` to `b` have in common.
    fn new(shapes: [&TensorShape; 8]) -> Result<Self, Diagnostic> {
        let [x, cell, state, w, input_weights, forget_weights, output_weights, bias] = shapes;
        let (&[steps, batch, depth], &[_, hidden]) = (x.dims(), cell.dims()) else {
            return Err(invalid(format!(
                "x must have 3 dimensions and cs_prev 2, got shapes {x} and {cell}"
            )));
        };
        let (gates, rows) = (hidden.saturating_mul(4), depth.saturating_add(hidden));
        let expected: [(&str, &TensorShape, &[usize]); 7] = [
            ("cs_prev", cell, &[batch, hidden]),
            ("h_prev", state, &[batch, hidden]),
            ("w", w, &[rows, gates]),
            ("wci", input_weights, &[hidden]),
            ("wcf", forget_weights, &[hidden]),
            ("wco", output_weights, &[hidden]),
            ("b", bias, &[gates]),
        ];
        for (name, shape, dims) in expected {
            if shape.dims() != dims {
                return Err(invalid(format!("{name} must have shape {dims:?}, got {shape}")));
            }
        }
        Ok(Self { steps, batch, depth, hidden })
    }
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [_, rest @ ..] = call.arguments else { return Err(invalid("the op lacks arguments")) };
    let rest: [&TensorMetadata; 8] = rest
        .try_into()
        .map_err(|_| invalid(format!("the op takes 9 arguments, got {}", call.arguments.len())))?;
    if rest.iter().any(|argument| argument.dtype != DType::F32) {
        return Err(invalid("the arguments behind seq_len_max must be of type f32"));
    }
    let extents = Extents::new(rest.map(|argument| &argument.shape))?;
    let shape = TensorShape::new(&[extents.steps, extents.batch, extents.hidden])?;
    Ok(std::iter::repeat_n(TensorMetadata::new(DType::F32, shape), RESULTS).collect())
}

/// What the steps have in common.
struct Cell<'a> {
    extents: Extents,
    order: Order,
    forget_bias: f32,
    /// The greatest magnitude of a cell state, if there is a limit.
    clip: Option<f32>,
    /// The weights with which the input, forget and output gates see the cell state.
    peepholes: Option<[&'a [f32]; 3]>,
}

impl Cell<'_> {
    /// The gates and states of one element of the state.
    fn element(&self, gates: [f32; 4], previous: f32, place: usize) -> [f32; RESULTS] {
        let [i, new, f, o] = gates;
        let seen = |gate: usize, cell: f32| self.peepholes.map_or(0.0, |weights| weights[gate][place] * cell);
        let input = ops::sigmoid(i + seen(0, previous));
        let forget = ops::sigmoid(f + self.forget_bias + seen(1, previous));
        let new = Float::tanh(new);
        let mut cell = new * input + previous * forget;
        if let Some(clip) = self.clip {
            cell = cell.clamp(-clip, clip);
        }
        let output = ops::sigmoid(o + seen(2, cell));
        let activated = Float::tanh(cell);
        [input, cell, forget, output, new, activated, activated * output]
    }

    /// Writes the results of a step to their places from the sums of its gates.
    fn step(&self, sums: &[f32], cells: &mut [f32], states: &mut [f32], outputs: [&mut [f32]; RESULTS]) {
        let hidden = self.extents.hidden;
        let mut outputs = outputs;
        for at in 0..self.extents.batch * hidden {
            let (sequence, place) = (at / hidden, at % hidden);
            let gate = |gate: usize| sums[(sequence * 4 + gate) * hidden + place];
            let Order { input, new, forget, output } = self.order;
            let made = self.element([gate(input), gate(new), gate(forget), gate(output)], cells[at], place);
            for (output, value) in outputs.iter_mut().zip(made) {
                output[at] = value;
            }
            (cells[at], states[at]) = (made[1], made[6]);
        }
    }
}

fn zeros(dims: &[usize]) -> Result<Vec<f32>, Diagnostic> {
    let count = product(dims);
    let mut list = room_for(count)?;
    list.resize(count, 0.0);
    Ok(list)
}

fn run(call: &CpuCall<'_>, version: &Version) -> Computed {
    let [last, x, cell, state, w, input, forget, output, bias] = take(call)?;
    let arguments = [x, cell, state, w, input, forget, output, bias];
    let extents = Extents::new(arguments.map(HostTensor::shape))?;
    let Extents { steps, batch, depth, hidden } = extents;
    let last = integer(last, "seq_len_max")?;
    let count = usize::try_from(last).ok().filter(|&count| count <= steps);
    let count = count.ok_or_else(|| invalid(format!("seq_len_max must be 0 to {steps}, got {last}")))?;
    let read = |tensor: &HostTensor| Ok::<_, Diagnostic>(tensor.dense()?.read::<f32>(&ME)?.to_vec());
    let peepholes = [read(input)?, read(forget)?, read(output)?];
    let has_peepholes = call.attrs.optional("use_peephole")?.unwrap_or(false);
    let clip = float_attr(call.attrs, "cell_clip")?.unwrap_or(version.cell_clip) as f32;
    let cell_of = Cell {
        extents,
        order: version.order,
        forget_bias: float_attr(call.attrs, "forget_bias")?.unwrap_or(version.forget_bias) as f32,
        clip: Some(clip).filter(|&clip| clip > 0.0),
        peepholes: has_peepholes.then(|| peepholes.each_ref().map(Vec::as_slice)),
    };
    let (x, w, bias) = (read(x)?, read(w)?, read(bias)?);
    let (mut cells, mut states) = (read(cell)?, read(state)?);
    let (width, queue) = (4 * hidden, OnQueue(call.cx));
    let (above, below) = w.split_at(depth * width);
    let matrix = |rows, elements| {
        PreparedMatrix::<f32>::new((rows, width), (elements, Layout::row_major(rows, width)))
            .map_err(shape_error)
    };
    let mut inputs = zeros(&[count, batch, width])?;
    let used = &x[..count * batch * depth];
    matrix(depth, above)?.multiply(&queue, used, &mut inputs).map_err(shape_error)?;
    let (recurrent, mut sums) = (matrix(hidden, below)?, zeros(&[batch, width])?);
    let mut made: [Vec<f32>; RESULTS] = Default::default();
    for list in &mut made {
        *list = zeros(&[steps, batch, hidden])?;
    }
    for step in 0..count {
        recurrent.multiply(&queue, &states, &mut sums).map_err(shape_error)?;
        let inputs = &inputs[step * batch * width..][..batch * width];
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += inputs[at] + bias[at % width];
        }
        let size = batch * hidden;
        let outputs = made.each_mut().map(|list| &mut list[step * size..][..size]);
        cell_of.step(&sums, &mut cells, &mut states, outputs);
    }
    let dims = [steps, batch, hidden];
    let tensors = made.iter().map(|list| tensor(call, &dims, list)).collect::<Result<Vec<_>, _>>()?;
    Ok(results(tensors))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const STATES: ResultType = ResultType::is(DType::F32).rank(3);
    const PEEPHOLE: AttrSpec = attr::boolean_or("use_peephole", false);
    ops.add("tf.BlockLSTM")
        .types(&[DType::I64, DType::F32])
        .attrs([
            attr::float_or("cell_clip", FIRST.cell_clip),
            attr::float_or("forget_bias", FIRST.forget_bias),
            PEEPHOLE,
        ])
        .results([STATES; RESULTS])
        .metadata(metadata)
        .cpu(|call| run(&call, &FIRST));
    ops.add("tf.BlockLSTMV2")
        .types(&[DType::I64, DType::F32])
        .attrs([attr::float_or("cell_clip", SECOND.cell_clip), PEEPHOLE])
        .results([STATES; RESULTS])
        .metadata(metadata)
        .cpu(|call| run(&call, &SECOND));
}
