//! `onnx.DecisionTrees`: what the leaves say that the rows of a matrix reach in a list of decision
//! trees.
//!
//! ONNX describes trees by lists of nodes with ids. Here a node is its place in the lists, and an
//! importer translates. A node has a feature, a number that it compares the feature with, a mode
//! and two children: places of nodes, or for a leaf the first of its weights and the place behind
//! its last one.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, ShapeError};
use tfrt_tensor::{Accessor, Element, TensorMetadata, TensorShape};

use super::arguments::{check_same_type, count_or, text_or, unknown};
use crate::ops::support::{Computed, Described, compute, integers, invalid, one, take, values, with_type};
use crate::{CpuCall, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.DecisionTrees");

/// The mode of a leaf. Modes of other nodes are the numbers of ONNX's op `TreeEnsemble`.
const LEAF: u8 = 7;

/// How the weights of leaves are combined.
#[derive(Clone, Copy, PartialEq)]
enum Aggregate {
    Sum,
    Average,
    Min,
    Max,
}

struct Forest<T> {
    thresholds: Vec<T>,
    features: Vec<usize>,
    modes: Vec<u8>,
    children: Vec<usize>,
    missing: Vec<bool>,
    roots: Vec<usize>,
    targets: Vec<usize>,
    weights: Vec<T>,
    target_count: usize,
    aggregate: Aggregate,
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x, thresholds, features, modes, children, missing, _, targets, weights] = call.take()?;
    check_same_type(("x", x), ("thresholds", thresholds))?;
    check_same_type(("x", x), ("weights", weights))?;
    let count = thresholds.shape.num_elements()?;
    let lists = [&features.shape, &modes.shape, &missing.shape];
    let is_uniform = lists.iter().all(|shape| shape.dims() == [count]);
    if !is_uniform || children.shape.dims() != [count, 2] || targets.shape != weights.shape {
        return Err(invalid("the lists of nodes or of weights have different lengths"));
    }
    let &[rows, _] = x.shape.dims() else {
        return Err(invalid(format!("the op takes a matrix of features, got shape {}", x.shape)));
    };
    one(TensorMetadata::new(x.dtype, TensorShape::new(&[rows, count_or(call.attrs, "n_targets", 1)?])?))
}

fn places(list: &[i64]) -> Result<Vec<usize>, Diagnostic> {
    let place =
        |&place: &i64| usize::try_from(place).map_err(|_| invalid(format!("{place} is no place in a list")));
    list.iter().map(place).collect()
}

impl<T: Element + Float> Forest<T> {
    fn new(call: &CpuCall<'_>) -> Result<Self, Diagnostic> {
        let [_, thresholds, features, modes, children, missing, roots, targets, weights] = take(call)?;
        let aggregate = match text_or(call.attrs, "aggregate", "SUM")? {
            "SUM" => Aggregate::Sum,
            "AVERAGE" => Aggregate::Average,
            "MIN" => Aggregate::Min,
            "MAX" => Aggregate::Max,
            other => return Err(unknown("aggregate", other)),
        };
        Ok(Self {
            thresholds: values::<T>(thresholds)?.to_vec(),
            features: places(&integers(features, "features")?)?,
            modes: values::<u8>(modes)?.to_vec(),
            children: places(&integers(children, "children")?)?,
            missing: values::<bool>(missing)?.to_vec(),
            roots: places(&integers(roots, "roots")?)?,
            targets: places(&integers(targets, "targets")?)?,
            weights: values::<T>(weights)?.to_vec(),
            target_count: count_or(call.attrs, "n_targets", 1)?,
            aggregate,
        })
    }

    /// The weights of the leaf that a row reaches; `None` if a place is outside of its list, or
    /// nodes form a circle.
    fn leaf(&self, root: usize, row: &[T]) -> Option<Range<usize>> {
        let mut node = root;
        for _ in 0..=self.modes.len() {
            let mode = *self.modes.get(node)?;
            let [on_true, on_false] = *self.children.get(2 * node..2 * node + 2)? else { return None };
            if mode == LEAF {
                return Some(on_true..on_false);
            }
            let (x, threshold) = (*row.get(*self.features.get(node)?)?, self.thresholds[node]);
            let holds = match mode {
                0 => x <= threshold,
                1 => x < threshold,
                2 => x >= threshold,
                3 => x > threshold,
                4 => x == threshold,
                5 => x != threshold,
                _ => return None,
            };
            let is_missing = self.missing[node] && x.to_f64().is_nan();
            node = if holds || is_missing { on_true } else { on_false };
        }
        None
    }

    /// Combines what the trees say of a row. Targets of which no tree says anything are zero.
    fn run(&self, row: &[T], sums: &mut [f64], is_set: &mut [bool]) -> Option<()> {
        sums.fill(0.0);
        is_set.fill(false);
        for &root in &self.roots {
            let leaf = self.leaf(root, row)?;
            let (targets, weights) = (self.targets.get(leaf.clone())?, self.weights.get(leaf)?);
            for (&target, weight) in targets.iter().zip(weights) {
                let (sum, weight) = (sums.get_mut(target)?, weight.to_f64());
                *sum = match self.aggregate {
                    Aggregate::Min if is_set[target] => sum.min(weight),
                    Aggregate::Max if is_set[target] => sum.max(weight),
                    Aggregate::Min | Aggregate::Max => weight,
                    Aggregate::Sum | Aggregate::Average => *sum + weight,
                };
                is_set[target] = true;
            }
        }
        if self.aggregate == Aggregate::Average {
            sums.iter_mut().for_each(|sum| *sum /= self.roots.len().max(1) as f64);
        }
        Some(())
    }
}

fn decide<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let forest = Forest::<T>::new(call)?;
    let x = take::<9>(call)?[0].dense()?;
    let &[rows, columns] = x.shape().dims() else { return Err(invalid("the op takes a matrix of features")) };
    let (x, out) = (x.read_owned::<T>(&ME)?, call.allocate_unset(0)?);
    let targets = forest.target_count;
    let cost = forest.roots.len().saturating_mul(16).max(1);
    compute(call, &ME, out, (rows, targets, cost), move |range, out: &mut [T]| {
        let (mut sums, mut is_set) = (vec![0.0; targets], vec![false; targets]);
        for (row, out) in range.zip(out.chunks_exact_mut(targets)) {
            let row = &x[row * columns..][..columns];
            let done = forest.run(row, &mut sums, &mut is_set);
            done.ok_or(ShapeError::Parameter("the decision trees refer to what is not there"))?;
            out.iter_mut().zip(&sums).for_each(|(out, &sum)| *out = T::from_f64(sum));
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.DecisionTrees")
        .types(&[DType::F32, DType::F64, DType::I64, DType::UI8, DType::I1])
        .attrs([attr::string_or("aggregate", "SUM"), attr::int_or("n_targets", 1)])
        .metadata(metadata)
        .cpu(|call| {
            with_type!(call.result(0)?.dtype, "onnx.DecisionTrees", |T| decide::<T>(&call), F32 f32, F64 f64)
        });
}
