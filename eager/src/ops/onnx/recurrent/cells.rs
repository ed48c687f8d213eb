//! One step of one sequence of a recurrent op.

use tfrt_math::Float;

use super::activation::Activation;

/// The recurrent op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Kind {
    Rnn,
    Gru,
    Lstm,
}

impl Kind {
    /// Returns the number of gates: for a GRU update, reset and hidden; for an LSTM input, output,
    /// forget and cell.
    pub(in crate::ops) fn gates(self) -> usize {
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
    /// Clips numbers and applies an activation.
    fn activate(&self, index: usize, row: &mut [W]) {
        if let Some(clip) = self.clip {
            let clip = clip.abs();
            row.iter_mut().for_each(|x| *x = W::from_f64(x.to_f64().clamp(-clip, clip)));
        }
        self.activations[index].apply_to(row);
    }

    /// Returns the biases of a gate: for the inputs' part and for the hidden state's.
    fn biases(&self, gate: usize) -> Option<[&[W]; 2]> {
        let (inputs, states) = self.bias.map(|bias| bias.split_at(bias.len() / 2))?;
        Some([inputs, states].map(|part| &part[gate * self.hidden..][..self.hidden]))
    }

    /// Writes a gate before its activation, without peepholes.
    fn sum(&self, gate: usize, now: &Step<'_, W>, out: &mut [W]) {
        let own = gate * self.hidden..(gate + 1) * self.hidden;
        let parts = now.gates[own.clone()].iter().zip(&now.products[own]);
        match self.biases(gate) {
            Some([input, hidden]) => {
                let parts = parts.zip(input.iter().zip(hidden));
                for (out, ((&gate, &product), (&input, &hidden))) in out.iter_mut().zip(parts) {
                    *out = gate.plus(product).plus(input.plus(hidden));
                }
            }
            None => out.iter_mut().zip(parts).for_each(|(out, (&gate, &product))| *out = gate.plus(product)),
        }
    }

    /// Adds the cell state's part to a gate.
    fn add_peephole(&self, weights: usize, cell: &[W], out: &mut [W]) {
        let Some(all) = self.peepholes else { return };
        let weights = &all[weights * self.hidden..][..self.hidden];
        let parts = weights.iter().zip(cell);
        out.iter_mut().zip(parts).for_each(|(out, (&weight, &cell))| *out = out.plus(weight.times(cell)));
    }

    /// Computes the state of a GRU after its reset gate.
    pub(super) fn reset(&self, now: &Step<'_, W>, state: &[W], out: &mut [W]) {
        self.sum(1, now, out);
        self.activate(0, out);
        out.iter_mut().zip(state).for_each(|(out, &state)| *out = out.times(state));
    }

    /// Computes the next hidden state, and for an LSTM the next cell state. `scratch` has room for
    /// all gates.
    pub(super) fn step(&self, now: &Step<'_, W>, state: &mut [W], cell: &mut [W], scratch: &mut [W]) {
        match self.kind {
            Kind::Rnn => {
                self.sum(0, now, state);
                self.activate(0, state);
            }
            Kind::Gru => self.gru(now, state, scratch),
            Kind::Lstm => self.lstm(now, state, cell, scratch),
        }
    }

    fn gru(&self, now: &Step<'_, W>, state: &mut [W], scratch: &mut [W]) {
        let (update, rest) = scratch.split_at_mut(self.hidden);
        let (reset, rest) = rest.split_at_mut(self.hidden);
        let next = &mut rest[..self.hidden];
        self.sum(0, now, update);
        self.activate(0, update);
        let own = 2 * self.hidden..3 * self.hidden;
        let biases = self.biases(2);
        match now.candidate {
            Some(candidate) => reset.copy_from_slice(candidate),
            None => reset.copy_from_slice(&now.products[own.clone()]),
        }
        if let Some([_, hidden]) = biases {
            reset.iter_mut().zip(hidden).for_each(|(out, &bias)| *out = out.plus(bias));
        }
        if now.candidate.is_none() {
            self.sum(1, now, next);
            self.activate(0, next);
            reset.iter_mut().zip(&*next).for_each(|(out, &gate)| *out = gate.times(*out));
        }
        next.copy_from_slice(&now.gates[own]);
        if let Some([input, _]) = biases {
            next.iter_mut().zip(input).for_each(|(out, &bias)| *out = out.plus(bias));
        }
        next.iter_mut().zip(&*reset).for_each(|(out, &part)| *out = out.plus(part));
        self.activate(1, next);
        for ((state, &update), &next) in state.iter_mut().zip(&*update).zip(&*next) {
            *state = W::ONE.minus(update).times(next).plus(update.times(*state));
        }
    }

    fn lstm(&self, now: &Step<'_, W>, state: &mut [W], cell: &mut [W], scratch: &mut [W]) {
        let (input, rest) = scratch.split_at_mut(self.hidden);
        let (output, rest) = rest.split_at_mut(self.hidden);
        let (forget, rest) = rest.split_at_mut(self.hidden);
        let candidate = &mut rest[..self.hidden];
        self.sum(0, now, input);
        self.add_peephole(0, cell, input);
        self.activate(0, input);
        if self.coupled {
            forget.iter_mut().zip(&*input).for_each(|(forget, &input)| *forget = W::ONE.minus(input));
        } else {
            self.sum(2, now, forget);
            self.add_peephole(2, cell, forget);
            self.activate(0, forget);
        }
        self.sum(3, now, candidate);
        self.activate(1, candidate);
        for ((cell, &forget), (&input, &candidate)) in
            cell.iter_mut().zip(&*forget).zip(input.iter().zip(&*candidate))
        {
            *cell = forget.times(*cell).plus(input.times(candidate));
        }
        self.sum(1, now, output);
        self.add_peephole(1, cell, output);
        self.activate(0, output);
        state.copy_from_slice(cell);
        self.activations[2].apply_to(state);
        state.iter_mut().zip(&*output).for_each(|(state, &output)| *state = output.times(*state));
    }
}
