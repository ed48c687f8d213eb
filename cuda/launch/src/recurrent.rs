//! Turns of the cells of recurrent networks.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, bits, in_out, input, optional, output, product, typed};

/// A cell, with what it takes besides the operands of all cells.
#[derive(Clone, Copy)]
pub enum CellKind<'a> {
    /// One gate, whose activation is the next state.
    Rnn,
    /// Update, reset and hidden gate. The candidate is the product of the reset states, if the reset
    /// comes before the product.
    Gru {
        /// directions × batch × hidden.
        candidate: Option<&'a DeviceBuffer>,
    },
    /// Input, output, forget and cell gate.
    Lstm {
        /// The cell state, which becomes the next one: directions × batch × hidden.
        state: &'a DeviceBuffer,
        /// The weights of the cell state in the gates: directions × 3 · hidden.
        peepholes: Option<&'a DeviceBuffer>,
        /// Whether the forget gate is one minus the input gate.
        coupled: bool,
    },
}

impl CellKind<'_> {
    fn gates(&self) -> u64 {
        match self {
            Self::Rnn => 1,
            Self::Gru { .. } => 3,
            Self::Lstm { .. } => 4,
        }
    }
}

/// The extents of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellShape {
    /// The number of steps of the longest sequence.
    pub steps: u64,
    /// The number of sequences.
    pub batch: u64,
    /// The number of elements of a state.
    pub hidden: u64,
    /// The number of directions, at most 32.
    pub directions: u64,
    /// Bit `d` says that direction `d` takes the steps from the last to the first.
    pub reversed: u32,
    /// Whether inputs and hidden states of all steps have the batch before the steps.
    pub batch_first: bool,
    /// The bound of what activations are applied to.
    pub clip: Option<f64>,
}

impl CellShape {
    fn states(&self) -> Result<u64> {
        product(&[self.directions, self.batch, self.hidden])
    }
}

/// The operands of a turn, all of one type.
#[derive(Clone, Copy)]
pub struct CellBuffers<'a> {
    /// The hidden state, which becomes the next one: directions × batch × hidden.
    pub hidden: &'a DeviceBuffer,
    /// The hidden states of all steps, of which those of this turn are written.
    pub all: &'a DeviceBuffer,
    /// The inputs' part of all gates: directions × steps × batch × gates · hidden.
    pub gates: &'a DeviceBuffer,
    /// The hidden state's part: directions × batch × gates · hidden.
    pub products: &'a DeviceBuffer,
    /// The biases of both parts: directions × 2 · gates · hidden.
    pub bias: Option<&'a DeviceBuffer>,
    /// The number of steps of each sequence (i32). Numbers beyond the steps count as all of them.
    pub lengths: Option<&'a DeviceBuffer>,
    /// For each of three activations of each direction its code (see `recurrent.cu`) and two
    /// parameters.
    pub activations: &'a DeviceBuffer,
}

const TYPES: &[DType] = &[DType::F32, DType::F64];

/// Returns the arguments that all cells have.
fn cell_arguments<'a>(
    dtype: DType,
    buffers: &CellBuffers<'a>,
    (shape, gates, turn): (&CellShape, u64, u64),
) -> Result<Vec<Argument<'a>>> {
    if turn >= shape.steps || shape.directions > 32 {
        let detail = format!("turn {turn} of {} in {} directions", shape.steps, shape.directions);
        return Err(DeviceError::invalid_value(detail));
    }
    let rows = product(&[gates, shape.hidden])?;
    let sequences = product(&[shape.directions, shape.batch])?;
    let of_gates = product(&[sequences, shape.steps, rows])?;
    let biases = product(&[shape.directions, 2, rows])?;
    let bias = buffers.bias.map(|bias| input(bias, biases, dtype, "the biases"));
    let lengths = buffers.lengths.map(|lengths| input(lengths, shape.batch, DType::I32, "the lengths"));
    Ok(vec![
        input(buffers.gates, of_gates, dtype, "the gates")?,
        input(buffers.products, product(&[sequences, rows])?, dtype, "the products")?,
        optional(bias)?,
        optional(lengths)?,
        input(buffers.activations, product(&[shape.directions, 9])?, dtype, "the activations")?,
        shape.steps.into(),
        shape.batch.into(),
        shape.hidden.into(),
        shape.directions.into(),
        turn.into(),
        shape.reversed.into(),
        u32::from(shape.batch_first).into(),
        bits(shape.clip.unwrap_or(-1.0), dtype)?,
    ])
}

impl DeviceKernels {
    /// Computes the next states of all sequences in turn `turn`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` for a turn that no sequence has, or more than 32
    /// directions.
    pub fn recurrent_cell(
        &self,
        stream: &Stream,
        dtype: DType,
        kind: CellKind<'_>,
        buffers: &CellBuffers<'_>,
        (shape, turn): (&CellShape, u64),
    ) -> Result<()> {
        let n = shape.states()?;
        let mut arguments = vec![in_out(buffers.hidden, n, dtype, "the hidden state")?];
        let all = in_out(buffers.all, product(&[n, shape.steps])?, dtype, "the hidden states")?;
        let function = match kind {
            CellKind::Rnn => {
                arguments.push(all);
                "rnn"
            }
            CellKind::Gru { candidate } => {
                let candidate = candidate.map(|candidate| input(candidate, n, dtype, "the candidate"));
                arguments.extend([all, optional(candidate)?]);
                "gru"
            }
            CellKind::Lstm { state, peepholes, coupled } => {
                let weights = product(&[shape.directions, 3, shape.hidden])?;
                let peepholes = peepholes.map(|weight| input(weight, weights, dtype, "the peepholes"));
                arguments.extend([in_out(state, n, dtype, "the cell state")?, all, optional(peepholes)?]);
                arguments.push(u32::from(coupled).into());
                "lstm"
            }
        };
        arguments.extend(cell_arguments(dtype, buffers, (shape, kind.gates(), turn))?);
        self.launch(stream, typed(function, dtype, TYPES)?, n, &arguments)
    }

    /// Computes the hidden states of a GRU after its reset gate. Sequences without a step in this
    /// turn leave theirs as it is.
    ///
    /// # Errors
    /// See [`DeviceKernels::recurrent_cell`].
    pub fn gru_reset(
        &self,
        stream: &Stream,
        dtype: DType,
        reset: &DeviceBuffer,
        buffers: &CellBuffers<'_>,
        (shape, turn): (&CellShape, u64),
    ) -> Result<()> {
        let n = shape.states()?;
        let mut arguments = vec![
            output(reset, n, dtype, "the reset states")?,
            input(buffers.hidden, n, dtype, "the hidden state")?,
        ];
        let gates = CellKind::Gru { candidate: None }.gates();
        arguments.extend(cell_arguments(dtype, buffers, (shape, gates, turn))?);
        self.launch(stream, typed("gru_reset", dtype, TYPES)?, n, &arguments)
    }
}
