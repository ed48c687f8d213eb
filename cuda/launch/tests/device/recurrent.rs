//! Turns of recurrent cells, against plain loops.

use tfrt_host::DType;
use tfrt_launch::{CellBuffers, CellKind, CellShape};

use super::{Random, assert_close, device};

const SHAPE: CellShape =
    CellShape { steps: 3, batch: 2, hidden: 5, directions: 2, reversed: 2, batch_first: false, clip: None };
/// The steps of each sequence.
const LENGTHS: [i32; 2] = [3, 1];

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The step of a sequence in a turn of a direction.
fn step(direction: usize, sequence: usize, turn: usize) -> Option<usize> {
    let length = LENGTHS[sequence] as usize;
    let step = if direction == 1 { length.checked_sub(turn + 1)? } else { turn };
    (turn < length).then_some(step)
}

/// Calls `f` with each direction, sequence, element and step in a turn, and its place in a state.
fn each(turn: usize, mut f: impl FnMut([usize; 4], usize)) {
    for (direction, sequence) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let Some(step) = step(direction, sequence, turn) else { continue };
        (0..5).for_each(|k| f([direction, sequence, k, step], (direction * 2 + sequence) * 5 + k));
    }
}

/// The operands of a cell.
struct Operands {
    gates: Vec<f32>,
    products: Vec<f32>,
    bias: Vec<f32>,
    hidden: Vec<f32>,
    count: usize,
}

impl Operands {
    fn new(random: &mut Random, count: usize) -> Self {
        let mut list = |length| random.f32s(length, -1.0, 1.0);
        Self {
            gates: list(2 * 3 * 2 * count * 5),
            products: list(2 * 2 * count * 5),
            bias: list(2 * 2 * count * 5),
            hidden: list(20),
            count,
        }
    }

    fn input(&self, [direction, sequence, k, step]: [usize; 4], gate: usize) -> f32 {
        self.gates[(((direction * 3 + step) * 2 + sequence) * self.count + gate) * 5 + k]
    }

    fn product(&self, [direction, sequence, k, _]: [usize; 4], gate: usize) -> f32 {
        self.products[((direction * 2 + sequence) * self.count + gate) * 5 + k]
    }

    fn bias(&self, [direction, _, k, _]: [usize; 4], part: usize, gate: usize) -> f32 {
        self.bias[((direction * 2 + part) * self.count + gate) * 5 + k]
    }

    fn sum(&self, at: [usize; 4], gate: usize) -> f32 {
        self.input(at, gate) + self.product(at, gate) + self.bias(at, 0, gate) + self.bias(at, 1, gate)
    }
}

fn all_at([direction, sequence, k, step]: [usize; 4]) -> usize {
    ((step * 2 + direction) * 2 + sequence) * 5 + k
}

#[test]
fn cells_take_their_turns() {
    let (d, mut random) = (device(), Random::new(97));
    // Sigmoid, tanh and tanh, for both directions.
    let activations = d.upload(&[[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]].repeat(2).concat());
    let (lengths, start) = (d.upload(&LENGTHS), vec![7.5f32; 60]);
    for (turn, count) in (0..2).flat_map(|turn| [1, 3, 4].map(|count| (turn, count))) {
        let operands = Operands::new(&mut random, count);
        let [hidden, all, gates, products, bias] =
            [&operands.hidden, &start, &operands.gates, &operands.products, &operands.bias]
                .map(|x| d.upload(x));
        let buffers = CellBuffers {
            hidden: &hidden,
            all: &all,
            gates: &gates,
            products: &products,
            bias: Some(&bias),
            lengths: Some(&lengths),
            activations: &activations,
        };
        let (cell, peepholes) = (random.f32s(20, -1.0, 1.0), random.f32s(2 * 3 * 5, -1.0, 1.0));
        let (dcell, weights) = (d.upload(&cell), d.upload(&peepholes));
        let kind = match count {
            1 => CellKind::Rnn,
            3 => CellKind::Gru { candidate: None },
            _ => CellKind::Lstm { state: &dcell, peepholes: Some(&weights), coupled: false },
        };
        d.kernels.recurrent_cell(&d.stream, DType::F32, kind, &buffers, (&SHAPE, turn as u64)).unwrap();
        let (mut next, mut states, mut outputs) = (operands.hidden.clone(), cell.clone(), start.clone());
        each(turn, |at, i| {
            let sum = |gate| operands.sum(at, gate);
            next[i] = match count {
                1 => sigmoid(sum(0)),
                3 => {
                    let update = sigmoid(sum(0));
                    let state = sigmoid(sum(1)) * (operands.product(at, 2) + operands.bias(at, 1, 2));
                    let new = (operands.input(at, 2) + operands.bias(at, 0, 2) + state).tanh();
                    (1.0 - update) * new + update * operands.hidden[i]
                }
                _ => {
                    let weight = |gate: usize| peepholes[(at[0] * 3 + gate) * 5 + at[2]];
                    let input = sigmoid(sum(0) + weight(0) * cell[i]);
                    let forget = sigmoid(sum(2) + weight(2) * cell[i]);
                    states[i] = forget * cell[i] + input * sum(3).tanh();
                    sigmoid(sum(1) + weight(1) * states[i]) * states[i].tanh()
                }
            };
            outputs[all_at(at)] = next[i];
        });
        assert_close(&d.download(&hidden, 20), &next, 1e-5);
        assert_close(&d.download(&all, 60), &outputs, 1e-5);
        assert_close(&d.download(&dcell, 20), &states, 1e-5);
    }
}

#[test]
fn states_are_reset_and_wrong_turns_refused() {
    let (d, mut random) = (device(), Random::new(98));
    let operands = Operands::new(&mut random, 3);
    let activations = d.upload(&[0.0f32; 18]);
    let [hidden, all, gates, products] =
        [&operands.hidden, &vec![0.0; 60], &operands.gates, &operands.products].map(|x| d.upload(x));
    let buffers = CellBuffers {
        hidden: &hidden,
        all: &all,
        gates: &gates,
        products: &products,
        bias: None,
        lengths: None,
        activations: &activations,
    };
    let (reset, shape) = (d.room::<f32>(20), CellShape { clip: Some(0.25), reversed: 0, ..SHAPE });
    d.kernels.gru_reset(&d.stream, DType::F32, &reset, &buffers, (&shape, 2)).unwrap();
    let expected = (0..20).map(|i| {
        let at = [i / 10, i / 5 % 2, i % 5, 2];
        let gate = operands.input(at, 1) + operands.product(at, 1);
        sigmoid(gate.clamp(-0.25, 0.25)) * operands.hidden[i]
    });
    assert_close(&d.download(&reset, 20), &expected.collect::<Vec<_>>(), 1e-6);
    assert!(d.kernels.gru_reset(&d.stream, DType::F32, &reset, &buffers, (&shape, 3)).is_err());
    let many = CellShape { directions: 33, ..SHAPE };
    assert!(d.kernels.gru_reset(&d.stream, DType::F32, &reset, &buffers, (&many, 0)).is_err());
}
