//! `onnx.RNN`, `onnx.GRU` and `onnx.LSTM`: one product of the inputs for all steps, and for each step
//! a product of the hidden states and a launch of the cell, for all directions at once.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{CellBuffers, CellKind, CellShape};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{super::Queued, device, device_if_given, inputs, results, wide};
use crate::{
    DeviceCall, DeviceFn, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        device::{
            arrays::permuted,
            check_floats, count,
            expression::{cast, constant, moved},
            linear::product,
        },
        moves::{Axis, Moves},
        onnx::{
            arguments::{flag, pick, wanted},
            recurrent::{Activation, Extents, Kind, activations, reversed},
        },
        support::float_attr,
    },
};

/// The number of activations of a direction that the kernels have.
const ACTIVATIONS: usize = 3;

/// Returns the code of an activation in `recurrent.cu`, and its parameters.
fn encoded(activation: Activation) -> [f64; 3] {
    match activation {
        Activation::Sigmoid => [0.0, 0.0, 0.0],
        Activation::Tanh => [1.0, 0.0, 0.0],
        Activation::Relu => [2.0, 0.0, 0.0],
        Activation::Affine { alpha, beta } => [3.0, alpha, beta],
        Activation::LeakyRelu { alpha } => [4.0, alpha, 0.0],
        Activation::ThresholdedRelu { alpha } => [5.0, alpha, 0.0],
        Activation::ScaledTanh { alpha, beta } => [6.0, alpha, beta],
        Activation::HardSigmoid { alpha, beta } => [7.0, alpha, beta],
        Activation::Elu { alpha } => [8.0, alpha, 0.0],
        Activation::Softsign => [9.0, 0.0, 0.0],
        Activation::Softplus => [10.0, 0.0, 0.0],
    }
}

/// Returns the activations of all directions as the kernels read them.
fn activation_table(call: &DeviceCall<'_>, kind: Kind, directions: usize) -> DeviceOpResult<DeviceTensor> {
    let mut table = Vec::with_capacity(directions * ACTIVATIONS * 3);
    for direction in activations(call.attrs, kind, directions)? {
        let mut codes: Vec<[f64; 3]> = direction.into_iter().map(encoded).collect();
        codes.resize(ACTIVATIONS, [0.0; 3]);
        table.extend(codes.into_iter().flatten());
    }
    let table = DenseHostTensor::from_slice([table.len()], &table, call.cx.host().allocator())?;
    call.upload(&table.into())
}

/// The operands of all steps.
struct Operands {
    shape: CellShape,
    extents: Extents,
    dtype: DType,
    /// The inputs' part of all gates.
    gates: DeviceTensor,
    /// The matrices of the hidden states, and for a GRU that resets before the product those of the
    /// hidden gate.
    matrices: [Option<DeviceTensor>; 2],
    bias: Option<DeviceTensor>,
    peepholes: Option<DeviceTensor>,
    lengths: Option<DeviceTensor>,
    activations: DeviceTensor,
}

/// The states, which all steps change.
struct States {
    all: DeviceTensor,
    hidden: DeviceTensor,
    cell: DeviceTensor,
}

/// Multiplies factors with the matrices of all directions, transposed.
fn multiplied(
    call: &DeviceCall<'_>,
    factors: &DeviceTensor,
    matrices: &DeviceTensor,
    rows: usize,
) -> DeviceOpResult<DeviceTensor> {
    let &[directions, columns, _] = matrices.shape().dims() else {
        return Err(Diagnostic::internal("a matrix for each direction has 3 dimensions").into());
    };
    let shape = TensorShape::new(&[directions, rows, columns])?;
    let y = call.allocate_as(&TensorMetadata::new(factors.dtype(), shape))?;
    if count(&y) > 0 {
        product(call, "onnx recurrent op", [false, true], [factors, matrices], &y)?;
    }
    Ok(y)
}

/// Returns the hidden gate's part of the matrices of a GRU.
fn last_gate(call: &DeviceCall<'_>, r: &DeviceTensor, hidden: usize) -> DeviceOpResult<DeviceTensor> {
    let dims = r.shape().dims();
    let rows = Axis::Steps { start: 2 * hidden, step: 1, count: hidden };
    let moves = Moves::new(dims, vec![Axis::whole(dims[0]), rows, Axis::whole(dims[2])]);
    moved(call, r, &moves, moves.dims())
}

/// Returns a state as the kernels have it, with memory that no one else reads.
fn state(
    call: &DeviceCall<'_>,
    tensor: Option<&DeviceTensor>,
    (extents, dtype): (&Extents, DType),
) -> DeviceOpResult<DeviceTensor> {
    let dims = [extents.directions, extents.batch, extents.hidden];
    let Some(tensor) = tensor else {
        return constant(call, &TensorMetadata::new(dtype, TensorShape::new(&dims)?), 0.0);
    };
    let tensor = cast(call, tensor, dtype, false)?;
    match extents.batch_first {
        true => permuted(call, &tensor, &[1, 0, 2]),
        false => call.copy(&tensor),
    }
}

impl Operands {
    fn of(
        call: &DeviceCall<'_>,
        kind: Kind,
        [x, w, r]: [&DeviceTensor; 3],
        [bias, lengths, peepholes]: [Option<&DeviceTensor>; 3],
    ) -> DeviceOpResult<Self> {
        let extents = Extents::of(kind, call.attrs, x.shape(), w.shape(), r.shape())?;
        let dtype = wide(x.dtype());
        let widened = |tensor: &DeviceTensor| cast(call, tensor, dtype, false);
        let reversed = reversed(call.attrs)?.iter().enumerate();
        let shape = CellShape {
            steps: extents.steps as u64,
            batch: extents.batch as u64,
            hidden: extents.hidden as u64,
            directions: extents.directions as u64,
            reversed: reversed.fold(0, |bits, (direction, &is)| bits | u32::from(is) << direction),
            batch_first: extents.batch_first,
            clip: float_attr(call.attrs, "clip")?.map(f64::abs),
        };
        let activations = cast(call, &activation_table(call, kind, extents.directions)?, dtype, false)?;
        let (rows, matrices) = (extents.steps.saturating_mul(extents.batch), widened(w)?);
        let inputs = widened(x)?.reshape(&TensorShape::new(&[1, rows, w.shape().dims()[2]])?)?;
        let gates = multiplied(call, &inputs, &matrices, rows)?;
        let of_states = widened(r)?;
        let resets_first = kind == Kind::Gru && !flag(call.attrs, "linear_before_reset", false)?;
        let second = resets_first.then(|| last_gate(call, &of_states, extents.hidden)).transpose()?;
        Ok(Self {
            shape,
            dtype,
            gates,
            matrices: [Some(of_states), second],
            bias: bias.map(widened).transpose()?,
            peepholes: peepholes.map(widened).transpose()?,
            lengths: lengths.map(|lengths| cast(call, lengths, DType::I32, false)).transpose()?,
            activations,
            extents,
        })
    }

    fn buffers<'a>(&'a self, states: &'a States, products: &'a DeviceTensor) -> CellBuffers<'a> {
        CellBuffers {
            hidden: states.hidden.buffer(),
            all: states.all.buffer(),
            gates: self.gates.buffer(),
            products: products.buffer(),
            bias: self.bias.as_ref().map(DeviceTensor::buffer),
            lengths: self.lengths.as_ref().map(DeviceTensor::buffer),
            activations: self.activations.buffer(),
        }
    }

    /// Queues the step that each sequence takes in a turn.
    fn turn(&self, call: &DeviceCall<'_>, kind: Kind, states: &States, turn: u64) -> DeviceOpResult<()> {
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        let [Some(matrices), second] = &self.matrices else {
            return Err(Diagnostic::internal("a recurrent op without matrices").into());
        };
        let products = multiplied(call, &states.hidden, matrices, self.extents.batch)?;
        let buffers = self.buffers(states, &products);
        let at = (&self.shape, turn);
        let mut candidate = None;
        if let Some(second) = second {
            // Sequences without a step in this turn have no reset state, and nothing reads it.
            let reset = call.copy(&states.hidden)?;
            kernels.gru_reset(stream, self.dtype, reset.buffer(), &buffers, at)?;
            candidate = Some(multiplied(call, &reset, second, self.extents.batch)?);
        }
        let cell = match kind {
            Kind::Rnn => CellKind::Rnn,
            Kind::Gru => CellKind::Gru { candidate: candidate.as_ref().map(DeviceTensor::buffer) },
            Kind::Lstm => CellKind::Lstm {
                state: states.cell.buffer(),
                peepholes: self.peepholes.as_ref().map(DeviceTensor::buffer),
                coupled: flag(call.attrs, "input_forget", false)?,
            },
        };
        Ok(kernels.recurrent_cell(stream, self.dtype, cell, &buffers, at)?)
    }
}

fn recurrent(call: &DeviceCall<'_>, kind: Kind) -> Queued {
    let [x, w, r, bias, lengths, hidden, cell, peepholes] = inputs(call)?;
    let (x, w, r) = (device(call, x, "X")?, device(call, w, "W")?, device(call, r, "R")?);
    check_floats(x.dtype(), "onnx recurrent op")?;
    let extents = Extents::of(kind, call.attrs, x.shape(), w.shape(), r.shape())?;
    if extents.batch == 0 || extents.hidden == 0 {
        let empty = (0..call.results.len()).map(|index| call.allocate(index));
        return results(empty.collect::<DeviceOpResult<Vec<_>>>()?);
    }
    let given = |input| device_if_given(call, input);
    let operands = Operands::of(call, kind, [x, w, r], [given(bias)?, given(lengths)?, given(peepholes)?])?;
    let all = TensorMetadata::new(operands.dtype, TensorShape::new(&extents.all())?);
    let states = States {
        // Steps beyond a sequence's end are zeros.
        all: match operands.lengths {
            Some(_) => constant(call, &all, 0.0)?,
            None => call.allocate_as(&all)?,
        },
        hidden: state(call, given(hidden)?, (&extents, operands.dtype))?,
        cell: state(call, given(cell)?, (&extents, operands.dtype))?,
    };
    for turn in 0..extents.steps as u64 {
        operands.turn(call, kind, &states, turn)?;
    }
    let narrow = |tensor: &DeviceTensor| cast(call, tensor, x.dtype(), false);
    let last = |tensor: &DeviceTensor| match extents.batch_first {
        true => permuted(call, &narrow(tensor)?, &[1, 0, 2]),
        false => narrow(tensor),
    };
    let wanted = wanted(call.attrs, [true, true, kind == Kind::Lstm])?;
    let all = [narrow(&states.all)?, last(&states.hidden)?, last(&states.cell)?];
    results(pick(all, [wanted[0], wanted[1], wanted[2] && kind == Kind::Lstm]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const OPS: [(&str, DeviceFn); 3] = [
        ("onnx.RNN", |call| recurrent(call, Kind::Rnn)),
        ("onnx.GRU", |call| recurrent(call, Kind::Gru)),
        ("onnx.LSTM", |call| recurrent(call, Kind::Lstm)),
    ];
    for (name, function) in OPS {
        ops.extend(name).device(function);
    }
}
