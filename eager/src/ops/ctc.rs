//! Sequences of labels without an alignment to the steps of a network: the loss, and the likeliest
//! sequences.
//!
//! Each step has a score for each label and, as the last one, for the blank, which stands for no
//! label. Probabilities are kept as logarithms in double precision.

use std::collections::HashMap;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::HostTensor;

use super::plain::{count, of_reals, reals, results, tensor};
use super::sparse::Coordinates;
use super::support::{Computed, int_attr, integers, invalid, product, room_for, take};
use super::types;
use crate::{CpuCall, OpRegistry, ResultType, attr};

const NEVER: f64 = f64::NEG_INFINITY;

/// The logarithm of the sum of two probabilities.
fn either(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if high == NEVER { NEVER } else { high + (low - high).exp().ln_1p() }
}

/// The logarithms of the probabilities of all labels at all steps.
struct Steps {
    steps: usize,
    batch: usize,
    classes: usize,
    logarithms: Vec<f64>,
    /// How many steps each sequence has.
    lengths: Vec<usize>,
}

impl Steps {
    fn new(scores: &HostTensor, lengths: &HostTensor) -> Result<Self, Diagnostic> {
        let &[steps, batch, classes] = scores.shape().dims() else {
            return Err(invalid(format!("inputs must have 3 dimensions, got shape {}", scores.shape())));
        };
        if classes == 0 || steps == 0 {
            return Err(invalid(format!("inputs must have steps and classes, got shape {}", scores.shape())));
        }
        let given = integers(lengths, "sequence_length")?;
        let fits = |&length: &i64| usize::try_from(length).ok().filter(|&length| length <= steps);
        let lengths: Option<Vec<usize>> = given.iter().map(fits).collect();
        let lengths = lengths.filter(|lengths| lengths.len() == batch).ok_or_else(|| {
            invalid(format!("sequence_length must be {batch} numbers from 0 to {steps}, got {given:?}"))
        })?;
        let mut logarithms = reals(scores)?;
        for scores in logarithms.chunks_exact_mut(classes) {
            let sum = scores.iter().fold(NEVER, |sum, &score| either(sum, score));
            scores.iter_mut().for_each(|score| *score -= sum);
        }
        Ok(Self { steps, batch, classes, logarithms, lengths })
    }

    fn blank(&self) -> usize {
        self.classes - 1
    }

    /// The logarithms at a step of a sequence.
    fn at(&self, step: usize, sequence: usize) -> &[f64] {
        &self.logarithms[(step * self.batch + sequence) * self.classes..][..self.classes]
    }

    /// The labels of each sequence. The blank, or a greater number, ends them.
    fn labels(&self, indices: &HostTensor, values: &HostTensor) -> Result<Vec<Vec<usize>>, Diagnostic> {
        let shape = [i64::try_from(self.batch).unwrap_or(i64::MAX), i64::MAX];
        let (places, values) = (Coordinates::within(indices, &shape)?, integers(values, "labels_values")?);
        if places.rows().count() != values.len() {
            return Err(invalid(format!("{} labels do not have a place each", values.len())));
        }
        let mut labels = vec![Vec::new(); self.batch];
        let (mut has_labels, mut has_ended) = (vec![false; self.batch], vec![false; self.batch]);
        for (place, &value) in places.rows().zip(&values) {
            let sequence = place[0] as usize;
            let label = usize::try_from(value)
                .map_err(|_| invalid(format!("labels must not be negative, got {value}")))?;
            has_labels[sequence] = true;
            if label >= self.blank() {
                has_ended[sequence] = true;
            } else if has_ended[sequence] {
                return Err(invalid(format!("label {label} follows one that is at least {}", self.blank())));
            } else {
                labels[sequence].push(label);
            }
        }
        if let Some(sequence) = has_labels.iter().position(|&has| !has) {
            return Err(invalid(format!("sequence {sequence} has no labels")));
        }
        Ok(labels)
    }
}

/// The paths through the steps that give a sequence of labels: the labels with blanks around them.
struct Lattice<'s> {
    steps: &'s Steps,
    sequence: usize,
    path: Vec<usize>,
    /// Whether a label that comes at several steps in a row is one label.
    merges: bool,
}

impl Lattice<'_> {
    /// Whether the place two before leads to a place: a label, and no repetition of the one there.
    fn skips(&self, place: usize) -> bool {
        let (label, blank) = (self.path[place], self.steps.blank());
        place >= 2 && label != blank && !(self.merges && self.path[place - 2] == label)
    }

    fn stays(&self, place: usize) -> bool {
        self.merges || self.path[place] == self.steps.blank()
    }

    /// The probabilities of the steps up to each one, with the place there.
    fn forward(&self) -> Result<Vec<f64>, Diagnostic> {
        let (length, width) = (self.steps.lengths[self.sequence], self.path.len());
        let mut table: Vec<f64> = room_for(product(&[length, width]))?;
        for step in 0..length {
            let logarithms = self.steps.at(step, self.sequence);
            for place in 0..width {
                let before = |place: usize| table[(step - 1) * width + place];
                let sum = match step {
                    0 if place < 2 => 0.0,
                    0 => NEVER,
                    _ => {
                        let mut sum = if self.stays(place) { before(place) } else { NEVER };
                        sum = if place >= 1 { either(sum, before(place - 1)) } else { sum };
                        if self.skips(place) { either(sum, before(place - 2)) } else { sum }
                    }
                };
                table.push(sum + logarithms[self.path[place]]);
            }
        }
        Ok(table)
    }

    /// The probabilities of the steps behind each one, with the place there.
    fn backward(&self) -> Result<Vec<f64>, Diagnostic> {
        let (length, width) = (self.steps.lengths[self.sequence], self.path.len());
        let mut table: Vec<f64> = room_for(product(&[length, width]))?;
        table.resize(length * width, NEVER);
        table.iter_mut().rev().take(width.min(2)).for_each(|last| *last = 0.0);
        for step in (0..length.saturating_sub(1)).rev() {
            let logarithms = self.steps.at(step + 1, self.sequence);
            for place in 0..width {
                let after = |place: usize| table[(step + 1) * width + place] + logarithms[self.path[place]];
                let mut sum = if self.stays(place) { after(place) } else { NEVER };
                sum = if place + 1 < width { either(sum, after(place + 1)) } else { sum };
                if place + 2 < width && self.skips(place + 2) {
                    sum = either(sum, after(place + 2));
                }
                table[step * width + place] = sum;
            }
        }
        Ok(table)
    }

    /// The loss. The gradient of the scores is added to a tensor of all steps.
    fn loss(&self, gradient: &mut [f64]) -> Result<f64, Diagnostic> {
        let (forward, backward) = (self.forward()?, self.backward()?);
        let (length, width) = (self.steps.lengths[self.sequence], self.path.len());
        if length == 0 {
            return Ok(0.0);
        }
        let total = forward.iter().rev().take(width.min(2)).fold(NEVER, |sum, &last| either(sum, last));
        let mut shares = vec![NEVER; self.steps.classes];
        for step in 0..length {
            shares.fill(NEVER);
            for place in 0..width {
                let both = forward[step * width + place] + backward[step * width + place];
                let share = &mut shares[self.path[place]];
                *share = either(*share, both);
            }
            let start = (step * self.steps.batch + self.sequence) * self.steps.classes;
            for (class, &logarithm) in self.steps.at(step, self.sequence).iter().enumerate() {
                let share = if total == NEVER { 0.0 } else { (shares[class] - total).exp() };
                gradient[start + class] = logarithm.exp() - share;
            }
        }
        Ok(-total)
    }
}

/// The labels with blanks around them.
fn with_blanks(labels: &[usize], blank: usize) -> Vec<usize> {
    let mut path = vec![blank];
    labels.iter().for_each(|&label| path.extend([label, blank]));
    path
}

fn loss(call: &CpuCall<'_>) -> Computed {
    let [scores, indices, values, lengths] = take(call)?;
    let flag = |name: &str| call.attrs.optional::<bool>(name);
    let merges = flag("ctc_merge_repeated")?.unwrap_or(true);
    let collapses = flag("preprocess_collapse_repeated")?.unwrap_or(false);
    let ignores = flag("ignore_longer_outputs_than_inputs")?.unwrap_or(false);
    let steps = Steps::new(scores, lengths)?;
    let mut gradient: Vec<f64> = room_for(steps.logarithms.len())?;
    gradient.resize(steps.logarithms.len(), 0.0);
    let mut losses = Vec::with_capacity(steps.batch);
    for (sequence, mut labels) in steps.labels(indices, values)?.into_iter().enumerate() {
        if collapses {
            labels.dedup();
        }
        let (needed, length) = (labels.len(), steps.lengths[sequence]);
        if needed > length && !ignores {
            return Err(invalid(format!(
                "the labels of sequence {sequence} need {needed} steps, but it has {length}"
            )));
        }
        let path = with_blanks(&labels, steps.blank());
        let lattice = Lattice { steps: &steps, sequence, path, merges };
        losses.push(if needed > length { 0.0 } else { lattice.loss(&mut gradient)? });
    }
    let (dtype, dims) = (scores.dtype(), [steps.steps, steps.batch, steps.classes]);
    Ok(results([of_reals(call, dtype, &[steps.batch], &losses)?, of_reals(call, dtype, &dims, &gradient)?]))
}

/// The probabilities of all paths that give a sequence of labels: those that end with the blank,
/// and those that end with the last label.
#[derive(Clone, Copy)]
struct Beam {
    blank: f64,
    label: f64,
}

impl Beam {
    const NONE: Self = Self { blank: NEVER, label: NEVER };

    fn total(self) -> f64 {
        either(self.blank, self.label)
    }
}

/// The likeliest sequences of labels, best first.
fn search(steps: &Steps, sequence: usize, width: usize) -> Vec<(Vec<usize>, f64)> {
    let mut beams = vec![(Vec::new(), Beam { blank: 0.0, label: NEVER })];
    for step in 0..steps.lengths[sequence] {
        let logarithms = steps.at(step, sequence);
        let mut next: HashMap<Vec<usize>, Beam> = HashMap::new();
        for (labels, beam) in &beams {
            let own = next.entry(labels.clone()).or_insert(Beam::NONE);
            own.blank = either(own.blank, beam.total() + logarithms[steps.blank()]);
            if let Some(&last) = labels.last() {
                own.label = either(own.label, beam.label + logarithms[last]);
            }
            let mut longer = labels.clone();
            for (label, logarithm) in logarithms[..steps.blank()].iter().enumerate() {
                let repeats = labels.last() == Some(&label);
                let before = if repeats { beam.blank } else { beam.total() };
                if before > NEVER {
                    longer.push(label);
                    let grown = next.entry(longer.clone()).or_insert(Beam::NONE);
                    grown.label = either(grown.label, before + logarithm);
                    longer.pop();
                }
            }
        }
        beams = next.into_iter().collect();
        let better = |a: &(Vec<usize>, Beam), b: &(Vec<usize>, Beam)| {
            b.1.total().total_cmp(&a.1.total()).then_with(|| a.0.cmp(&b.0))
        };
        beams.sort_unstable_by(better);
        beams.truncate(width);
    }
    beams.into_iter().map(|(labels, beam)| (labels, beam.total())).collect()
}

/// The labels of the likeliest sequences, padded with -1, and the logarithms of their
/// probabilities.
fn beam_search(call: &CpuCall<'_>) -> Computed {
    let [scores, lengths] = take(call)?;
    let extent = |name: &str| count(int_attr(call.attrs, name)?.unwrap_or(0), name);
    let (width, paths) = (extent("beam_width")?, extent("top_paths")?);
    if paths == 0 || paths > width {
        return Err(invalid(format!("top_paths must be 1 to beam_width {width}, got {paths}")));
    }
    let merges = call.attrs.optional::<bool>("merge_repeated")?.unwrap_or(true);
    let steps = Steps::new(scores, lengths)?;
    let mut found = Vec::with_capacity(steps.batch);
    for sequence in 0..steps.batch {
        let mut best = search(&steps, sequence, width);
        if best.len() < paths {
            return Err(invalid(format!("sequence {sequence} has fewer than {paths} paths")));
        }
        best.truncate(paths);
        if merges {
            best.iter_mut().for_each(|(labels, _)| labels.dedup());
        }
        found.push(best);
    }
    let longest = found.iter().flatten().map(|(labels, _)| labels.len()).max().unwrap_or(0);
    let mut labels: Vec<i64> = room_for(product(&[paths, steps.batch, longest]))?;
    for best in (0..paths).flat_map(|path| found.iter().map(move |best| &best[path].0)) {
        let end = labels.len() + longest;
        labels.extend(best.iter().map(|&label| label as i64));
        labels.resize(end, -1);
    }
    let logarithms: Vec<f64> = found.iter().flatten().map(|&(_, logarithm)| logarithm).collect();
    Ok(results([
        tensor(call, &[paths, steps.batch, longest], &labels)?,
        of_reals(call, scores.dtype(), &[steps.batch, paths], &logarithms)?,
    ]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.CTCLoss")
        .types(types::SCALARS)
        .attrs([
            attr::boolean_or("ctc_merge_repeated", true),
            attr::boolean_or("ignore_longer_outputs_than_inputs", false),
            attr::boolean_or("preprocess_collapse_repeated", false),
        ])
        .results([ResultType::like(0).rank(1), ResultType::like(0).rank(3)])
        .cpu(|call| loss(&call));
    ops.add("tfrt.BeamSearch")
        .types(types::SCALARS)
        .attrs([attr::int("beam_width"), attr::int("top_paths"), attr::boolean_or("merge_repeated", true)])
        .results([ResultType::is(DType::I64).rank(3), ResultType::like(0).rank(2)])
        .cpu(|call| beam_search(&call));
}
