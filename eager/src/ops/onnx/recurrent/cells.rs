//! One step of one sequence of a recurrent op.

use tfrt_math::Float;

use super::activation::Activation;

/// The recurrent op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Rnn,
    Gru,
    Lstm,
}

impl Kind {
    /// Returns the number of gates: for a GRU update, reset and hidden; for an LSTM input, output,
    /// forget and cell.
    pub(super) fn gates(self) -> usize {
        match self {
            Self::Rnn => 1,
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }

    /// Returns the default activations of a direction.
    pub(super) fn activations(self) -> &'static [&'static str] {
        match self {
            Self::Rnn => &["Tanh"],
            Self::Gru => &["Sigmoid", "Tanh"],
            Self::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// The values that all steps of a direction share.
pub(super) struct Cell<'a, W> {
    pub(super) kind: Kind,
    pub(super) hidden: usize,
    pub(super) activations: &'a [Activation],
    pub(super) clip: Option<f64>,
    /// Whether the forget gate is one minus the input gate.
    pub(super) coupled: bool,
    /// The biases of the inputs' part of all gates, followed by those of the hidden state's part.
    pub(super) bias: Option<&'a [W]>,
    /// The weights of the cell state in the input, output and forget gates.
    pub(super) peepholes: Option<&'a [W]>,
}

/// The inputs of a step.
pub(super) struct Step<'a, W> {
    /// The inputs' part of all gates.
    pub(super) gates: &'a [W],
    /// The hidden state's part.
    pub(super) products: &'a [W],
    /// For a GRU, the hidden gate's product of the reset state, if the reset comes before the
    /// product.
    pub(super) candidate: Option<&'a [W]>,
}

impl<W: Float> Cell<'_, W> {
    /// Clips a number and applies an activation.
    fn activate(&self, index: usize, x: W) -> W {
        let x = match self.clip {
            Some(clip) => {
                let clip = clip.abs();
                W::from_f64(x.to_f64().clamp(-clip, clip))
            }
            None => x,
        };
        self.activations[index].apply(x)
    }

    /// Returns the biases of a gate's element: for the inputs' part and for the hidden state's.
    fn biases(&self, gate: usize, i: usize) -> [W; 2] {
        let place = gate * self.hidden + i;
        self.bias.as_ref().map_or([W::ZERO; 2], |bias| [bias[place], bias[bias.len() / 2 + place]])
    }

    /// Returns a gate before its activation, without peepholes.
    fn gate(&self, gate: usize, i: usize, gates: &[W], products: &[W]) -> W {
        let place = gate * self.hidden + i;
        let [input, hidden] = self.biases(gate, i);
        gates[place].plus(products[place]).plus(input.plus(hidden))
    }

    fn peephole(&self, gate: usize, i: usize, cell: W) -> W {
        self.peepholes.as_ref().map_or(W::ZERO, |weights| weights[gate * self.hidden + i].times(cell))
    }

    /// Computes the state of a GRU after its reset gate.
    pub(super) fn reset(&self, gates: &[W], products: &[W], state: &[W], out: &mut [W]) {
        for (i, (out, &state)) in out.iter_mut().zip(state).enumerate() {
            *out = self.activate(0, self.gate(1, i, gates, products)).times(state);
        }
    }

    /// Computes the next hidden state, and for an LSTM the next cell state.
    pub(super) fn step(&self, now: &Step<'_, W>, state: &mut [W], cell: &mut [W]) {
        let gate = |gate, i| self.gate(gate, i, now.gates, now.products);
        for (i, (state, cell)) in state.iter_mut().zip(cell).enumerate() {
            match self.kind {
                Kind::Rnn => *state = self.activate(0, gate(0, i)),
                Kind::Gru => {
                    let update = self.activate(0, gate(0, i));
                    let [input_bias, hidden_bias] = self.biases(2, i);
                    let place = 2 * self.hidden + i;
                    let recurrent = match now.candidate {
                        Some(candidate) => candidate[i].plus(hidden_bias),
                        None => {
                            let reset = self.activate(0, gate(1, i));
                            reset.times(now.products[place].plus(hidden_bias))
                        }
                    };
                    let hidden = self.activate(1, now.gates[place].plus(input_bias).plus(recurrent));
                    *state = W::ONE.minus(update).times(hidden).plus(update.times(*state));
                }
                Kind::Lstm => {
                    let input = self.activate(0, gate(0, i).plus(self.peephole(0, i, *cell)));
                    let forget = match self.coupled {
                        true => W::ONE.minus(input),
                        false => self.activate(0, gate(2, i).plus(self.peephole(2, i, *cell))),
                    };
                    let candidate = self.activate(1, gate(3, i));
                    *cell = forget.times(*cell).plus(input.times(candidate));
                    let output = self.activate(0, gate(1, i).plus(self.peephole(1, i, *cell)));
                    *state = output.times(self.activations[2].apply(*cell));
                }
            }
        }
    }
}
