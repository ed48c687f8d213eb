//! Ensembles of decision trees.

use std::collections::{HashMap, HashSet};

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::Accessor;

use super::{
    Family,
    scores::{Labels, beside, features, transform_of, transformed},
};
use crate::import::onnx::node::{ImportError, Imported, Node};

pub(super) const OPS: Family =
    &[("TreeEnsemble", ensemble), ("TreeEnsembleClassifier", classify), ("TreeEnsembleRegressor", regress)];

static READ: Accessor = Accessor::new("the ONNX importer");

/// The modes of nodes by their names in the older ops. Their places are the numbers of the newer
/// one, and of ours.
const MODES: [&str; 8] = [
    "BRANCH_LEQ",
    "BRANCH_LT",
    "BRANCH_GTE",
    "BRANCH_GT",
    "BRANCH_EQ",
    "BRANCH_NEQ",
    "BRANCH_MEMBER",
    "LEAF",
];
const EQUAL: u8 = 4;
const MEMBER: u8 = 6;
const LEAF: u8 = 7;

/// Trees as the op `onnx.DecisionTrees` takes them, with numbers of one type.
#[derive(Default)]
struct Forest {
    thresholds: Vec<f64>,
    features: Vec<i64>,
    modes: Vec<u8>,
    children: Vec<[i64; 2]>,
    missing: Vec<bool>,
    roots: Vec<i64>,
    targets: Vec<i64>,
    weights: Vec<f64>,
}

impl Forest {
    /// Appends the op on the first input: a row of `targets` numbers for each row of features.
    fn apply(&self, node: &mut Node<'_, '_>, targets: usize, aggregate: &str) -> Imported<ValueId> {
        let x = features(node)?;
        let dtype = node.dtype(x)?;
        let count = self.modes.len();
        let places: Vec<i64> = self.children.iter().flatten().copied().collect();
        let mut builder = node.builder();
        let thresholds = builder.add_elements(&[count], &self.thresholds)?;
        let weights = builder.add_elements(&[self.weights.len()], &self.weights)?;
        let lists = [
            builder.add_elements(&[count], &self.features)?,
            builder.add_elements(&[count], &self.modes)?,
            builder.add_elements(&[count, 2], &places)?,
            builder.add_elements(&[count], &self.missing)?,
            builder.add_integers(&self.roots)?,
            builder.add_integers(&self.targets)?,
        ];
        let (thresholds, weights) = (node.cast(thresholds, dtype)?, node.cast(weights, dtype)?);
        let operands = [&[x, thresholds][..], &lists, &[weights]].concat();
        let attributes = [
            ("aggregate", Attribute::string(aggregate)),
            ("n_targets", Attribute::i64(i64::try_from(targets).unwrap_or(i64::MAX))),
        ];
        node.op("onnx.DecisionTrees", &operands, &attributes)
    }

    /// Whether a leaf has a weight for a target.
    fn has(&self, target: i64) -> bool {
        self.targets.contains(&target)
    }
}

/// An attribute of numbers, which may be a tensor of higher precision.
fn numbers(node: &mut Node<'_, '_>, name: &str) -> Imported<Vec<f64>> {
    if let Some(tensor) = node.tensor(&format!("{name}_as_tensor"))? {
        return elements(&tensor);
    }
    Ok(node.floats(name)?.unwrap_or_default().into_iter().map(f64::from).collect())
}

fn elements(tensor: &tfrt_tensor::HostTensor) -> Imported<Vec<f64>> {
    let dense = tensor.dense()?;
    Ok(match dense.dtype() {
        DType::F64 => dense.read::<f64>(&READ)?.to_vec(),
        DType::F32 => dense.read::<f32>(&READ)?.iter().map(|&number| number.into()).collect(),
        DType::UI8 => dense.read::<u8>(&READ)?.iter().map(|&number| number.into()).collect(),
        DType::F16 => dense.read::<tfrt_tensor::f16>(&READ)?.iter().map(|&number| number.into()).collect(),
        other => return Err(format!("a list of the trees has elements of type {other}").into()),
    })
}

fn integers(node: &Node<'_, '_>, name: &str, count: Option<usize>) -> Imported<Vec<i64>> {
    let list = node.ints(name)?.unwrap_or_default();
    match count {
        Some(count) if list.len() != count => {
            Err(format!("attribute '{name}' has {} elements instead of {count}", list.len()).into())
        }
        _ => Ok(list),
    }
}

/// Reads trees whose nodes have ids. The weights of leaves are in attributes that begin with
/// `prefix`.
fn forest_of_ids(node: &mut Node<'_, '_>, prefix: &str) -> Imported<Forest> {
    let names = node.strings("nodes_modes")?.unwrap_or_default();
    let count = names.len();
    let mode = |name: &String| {
        let place =
            MODES.iter().position(|known| known == name).filter(|&place| place != usize::from(MEMBER));
        place.map(|place| place as u8).ok_or_else(|| ImportError(format!("a node has the mode '{name}'")))
    };
    let modes = names.iter().map(mode).collect::<Imported<Vec<u8>>>()?;
    let (trees, ids) =
        (integers(node, "nodes_treeids", Some(count))?, integers(node, "nodes_nodeids", Some(count))?);
    let places: HashMap<(i64, i64), i64> =
        (0..count).map(|place| ((trees[place], ids[place]), place as i64)).collect();
    let mut weights_of: Vec<Vec<(i64, f64)>> = vec![Vec::new(); count];
    let weights = numbers(node, &format!("{prefix}_weights"))?;
    let given = Some(weights.len());
    let [weight_trees, weight_ids, targets] =
        ["treeids", "nodeids", "ids"].map(|suffix| integers(node, &format!("{prefix}_{suffix}"), given));
    for ((tree, id), (target, weight)) in
        weight_trees?.into_iter().zip(weight_ids?).zip(targets?.into_iter().zip(weights))
    {
        let place =
            places.get(&(tree, id)).and_then(|&place| weights_of.get_mut(usize::try_from(place).ok()?));
        place
            .ok_or_else(|| format!("a weight belongs to node {id} of tree {tree}, which is not there"))?
            .push((target, weight));
    }
    let [on_true, on_false] =
        ["nodes_truenodeids", "nodes_falsenodeids"].map(|name| integers(node, name, Some(count)));
    let (on_true, on_false) = (on_true?, on_false?);
    let missing = integers(node, "nodes_missing_value_tracks_true", None)?;
    let mut forest = Forest {
        thresholds: numbers(node, "nodes_values")?,
        features: integers(node, "nodes_featureids", Some(count))?,
        missing: (0..count).map(|place| missing.get(place).is_some_and(|&flag| flag != 0)).collect(),
        modes,
        ..Forest::default()
    };
    forest.thresholds.resize(count, 0.0);
    let mut seen = HashSet::new();
    for place in 0..count {
        if seen.insert(trees[place]) {
            forest.roots.push(place as i64);
        }
        let children = if forest.modes[place] == LEAF {
            let first = forest.weights.len() as i64;
            for &(target, weight) in &weights_of[place] {
                forest.targets.push(target);
                forest.weights.push(weight);
            }
            [first, forest.weights.len() as i64]
        } else {
            let child = |id: i64| {
                places.get(&(trees[place], id)).copied().ok_or_else(|| {
                    ImportError(format!(
                        "node {} of tree {} has a child {id}, which is not there",
                        ids[place], trees[place]
                    ))
                })
            };
            [child(on_true[place])?, child(on_false[place])?]
        };
        forest.children.push(children);
    }
    check(&forest)?;
    Ok(forest)
}

/// That targets and features are not negative.
fn check(forest: &Forest) -> Imported<()> {
    match forest.targets.iter().chain(&forest.features).find(|&&number| number < 0) {
        Some(number) => Err(format!("the trees have a target or a feature {number}").into()),
        None => Ok(()),
    }
}

/// Adds a number for each target.
fn add_base(node: &mut Node<'_, '_>, scores: ValueId, base: &[f64]) -> Imported<ValueId> {
    if base.is_empty() {
        return Ok(scores);
    }
    let base = node.builder().add_elements(&[base.len()], base)?;
    let base = node.cast(base, node.dtype(scores)?)?;
    node.op("tf.AddV2", &[scores, base], &[])
}

fn regress(node: &mut Node<'_, '_>) -> Imported {
    let forest = forest_of_ids(node, "target")?;
    let targets = usize::try_from(node.int_or("n_targets", 1)?).unwrap_or(0);
    let aggregate = node.string_or("aggregate_function", "SUM")?;
    let scores = forest.apply(node, targets, &aggregate)?;
    let base = numbers(node, "base_values")?;
    let scores = add_base(node, scores, &base)?;
    let transform = transform_of(node)?;
    let scores = transformed(node, scores, &transform)?;
    Ok(vec![node.cast(scores, DType::F32)?])
}

/// The labels, and the scores of classes.
fn classify(node: &mut Node<'_, '_>) -> Imported {
    let forest = forest_of_ids(node, "class")?;
    let labels = Labels::of(node, "classlabels_int64s")?;
    let base = numbers(node, "base_values")?;
    let transform = transform_of(node)?;
    let is_one = forest.has(0) != forest.has(1);
    if labels.count() == 2 && is_one {
        return classify_by_one(node, &forest, &labels, &base, &transform);
    }
    let scores = forest.apply(node, labels.count(), "SUM")?;
    let scores = add_base(node, scores, &base)?;
    let label = if labels.count() == 2 {
        // Two classes are told apart by the sign of the second one's score.
        let second = column(node, scores, 1)?;
        let zero = node.add_number_like(second, 0.0)?;
        let is_second = node.op("tf.Greater", &[second, zero], &[])?;
        labels.of_two(node, is_second)?
    } else {
        labels.of_greatest(node, scores)?
    };
    let scores = transformed(node, scores, &transform)?;
    Ok(vec![label, node.cast(scores, DType::F32)?])
}

/// A column of a matrix, as a matrix.
fn column(node: &mut Node<'_, '_>, matrix: ValueId, place: i64) -> Imported<ValueId> {
    let (place, axis) = (node.add_integers(&[place])?, node.add_integer(1)?);
    node.op("tf.GatherV2", &[matrix, place, axis], &[])
}

/// All weights belong to one of two classes: its score decides. Weights none of which is negative
/// are probabilities, and the other class has the rest; else its score is the opposite.
fn classify_by_one(
    node: &mut Node<'_, '_>,
    forest: &Forest,
    labels: &Labels,
    base: &[f64],
    transform: &str,
) -> Imported {
    let only = i64::from(forest.has(1));
    let scores = forest.apply(node, 2, "SUM")?;
    let mut score = column(node, scores, only)?;
    // Of two numbers to begin with the second one counts.
    if let Some(&base) = if base.len() == 2 { base.last() } else { base.first() } {
        let base = node.add_number_like(score, base)?;
        score = node.op("tf.AddV2", &[score, base], &[])?;
    }
    let is_probability = forest.weights.iter().all(|&weight| weight >= 0.0);
    let threshold = node.add_number_like(score, if is_probability { 0.5 } else { 0.0 })?;
    let is_second = node.op("tf.Greater", &[score, threshold], &[])?;
    let label = labels.of_two(node, is_second)?;
    let first = if is_probability {
        let one = node.add_number_like(score, 1.0)?;
        node.op("tf.Sub", &[one, score], &[])?
    } else {
        node.op("tf.Neg", &[score], &[])?
    };
    let both = beside(node, &[first, score])?;
    let both =
        if is_probability && transform == "LOGISTIC" { both } else { transformed(node, both, transform)? };
    Ok(vec![label, node.cast(both, DType::F32)?])
}

/// The op of version 5 of the domain, whose nodes and leaves are places in lists.
fn ensemble(node: &mut Node<'_, '_>) -> Imported {
    let forest = forest_of_places(node)?;
    let aggregates = ["AVERAGE", "SUM", "MIN", "MAX"];
    let transforms = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"];
    let named = |names: &[&'static str], number: i64, what: &str| {
        let name = usize::try_from(number).ok().and_then(|place| names.get(place).copied());
        name.ok_or_else(|| ImportError(format!("attribute '{what}' must not be {number}")))
    };
    let aggregate = named(&aggregates, node.int_or("aggregate_function", 1)?, "aggregate_function")?;
    let transform = named(&transforms, node.int_or("post_transform", 0)?, "post_transform")?;
    let targets = usize::try_from(node.int_or("n_targets", 1)?).unwrap_or(0);
    let scores = forest.apply(node, targets, aggregate)?;
    Ok(vec![transformed(node, scores, transform)?])
}

fn forest_of_places(node: &mut Node<'_, '_>) -> Imported<Forest> {
    let mut tensor = |name: &str| -> Imported<Vec<f64>> {
        Ok(node.tensor(name)?.map(|tensor| elements(&tensor)).transpose()?.unwrap_or_default())
    };
    let (modes, splits) = (tensor("nodes_modes")?, tensor("nodes_splits")?);
    let (weights, members) = (tensor("leaf_weights")?, tensor("membership_values")?);
    let count = modes.len();
    let [features, on_true, on_false, true_leaves, false_leaves] = [
        "nodes_featureids",
        "nodes_truenodeids",
        "nodes_falsenodeids",
        "nodes_trueleafs",
        "nodes_falseleafs",
    ]
    .map(|name| integers(node, name, Some(count)));
    let (features, on_true, on_false) = (features?, on_true?, on_false?);
    let (true_leaves, false_leaves) = (true_leaves?, false_leaves?);
    let missing = integers(node, "nodes_missing_value_tracks_true", None)?;
    let targets = integers(node, "leaf_targetids", Some(weights.len()))?;
    if splits.len() != count {
        return Err("the lists of nodes have different lengths".into());
    }
    // A node that asks for one of several members becomes a chain of nodes that ask for one each:
    // first find their places.
    let mut sets = members.split(|member| member.is_nan());
    let mut chains: Vec<Vec<f64>> = Vec::with_capacity(count);
    for (&mode, &split) in modes.iter().zip(&splits) {
        let members =
            if mode == f64::from(MEMBER) { sets.next().unwrap_or_default().to_vec() } else { vec![split] };
        chains.push(if members.is_empty() { vec![f64::NAN] } else { members });
    }
    let starts: Vec<usize> =
        chains.iter().scan(0, |sum, chain| Some(std::mem::replace(sum, *sum + chain.len()))).collect();
    let inner: usize = chains.iter().map(Vec::len).sum();
    let child = |place: i64, is_leaf: i64| {
        let bound = if is_leaf == 0 { count } else { weights.len() };
        let place = usize::try_from(place).ok().filter(|&place| place < bound);
        let place = place.ok_or_else(|| ImportError("the trees refer to a node that is not there".into()))?;
        Ok::<_, ImportError>(if is_leaf == 0 { starts[place] } else { inner + place } as i64)
    };
    let mut forest = Forest { targets, weights: weights.clone(), ..Forest::default() };
    for (place, chain) in chains.iter().enumerate() {
        let (then, other) =
            (child(on_true[place], true_leaves[place])?, child(on_false[place], false_leaves[place])?);
        for (link, &member) in chain.iter().enumerate() {
            let is_last = link + 1 == chain.len();
            forest.thresholds.push(member);
            forest.features.push(features[place]);
            forest.modes.push(if modes[place] == f64::from(MEMBER) { EQUAL } else { modes[place] as u8 });
            forest.missing.push(missing.get(place).is_some_and(|&flag| flag != 0));
            let next = (starts[place] + link + 1) as i64;
            forest.children.push([then, if is_last { other } else { next }]);
        }
    }
    for leaf in 0..weights.len() {
        forest.thresholds.push(0.0);
        forest.features.push(0);
        forest.modes.push(LEAF);
        forest.missing.push(false);
        forest.children.push([leaf as i64, leaf as i64 + 1]);
    }
    for root in integers(node, "tree_roots", None)? {
        forest.roots.push(child(root, 0)?);
    }
    check(&forest)?;
    Ok(forest)
}
