//! What becomes of scores: probabilities, and the label of the greatest one.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::{StringHostTensor, TensorShape};

use super::Family;
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[("ZipMap", zip_map)];

/// A table of scores by class. A map is no tensor: the scores stay one, with a column for each
/// class.
fn zip_map(node: &mut Node<'_, '_>) -> Imported {
    let scores = node.input(0)?;
    let names = match node.strings("classlabels_strings")?.filter(|names| !names.is_empty()) {
        Some(names) => names,
        None => {
            let labels = node.ints("classlabels_int64s")?.unwrap_or_default();
            labels.iter().map(ToString::to_string).collect()
        }
    };
    let output = node.proto.output.first().map_or("", String::as_str).to_owned();
    let names = names.join(", ");
    node.importer
        .warn(format!("'{output}' is a tensor with a column for each class instead of maps from {names}"));
    Ok(vec![scores])
}

/// The attribute `post_transform`, by its name.
pub(super) fn transform_of(node: &Node<'_, '_>) -> Imported<String> {
    node.string_or("post_transform", "NONE")
}

/// Transforms rows of scores as the attribute `post_transform` says.
pub(super) fn transformed(node: &mut Node<'_, '_>, scores: ValueId, transform: &str) -> Imported<ValueId> {
    match transform {
        "NONE" => Ok(scores),
        "LOGISTIC" => node.op("tf.Sigmoid", &[scores], &[]),
        "SOFTMAX" => node.op("tf.Softmax", &[scores], &[]),
        "SOFTMAX_ZERO" => softmax_of_nonzero(node, scores),
        "PROBIT" => probit(node, scores),
        other => Err(format!("attribute 'post_transform' must not be '{other}'").into()),
    }
}

/// As softmax, but scores of zero stay zero and do not count.
fn softmax_of_nonzero(node: &mut Node<'_, '_>, scores: ValueId) -> Imported<ValueId> {
    let axis = node.add_integers(&[-1])?;
    let keep = [("keep_dims", Attribute::Bool(true))];
    let greatest = node.op("tf.Max", &[scores, axis], &keep)?;
    let shifted = node.op("tf.Sub", &[scores, greatest], &[])?;
    let grown = node.op("tf.Exp", &[shifted], &[])?;
    let size = node.op("tf.Abs", &[scores], &[])?;
    let (least, zero) = (node.add_number_like(scores, 1e-7)?, node.add_number_like(scores, 0.0)?);
    let counts = node.op("tf.Greater", &[size, least], &[])?;
    let parts = node.op("tf.SelectV2", &[counts, grown, zero], &[])?;
    let whole = node.op("tf.Sum", &[parts, axis], &keep)?;
    node.op("tf.RealDiv", &[parts, whole], &[])
}

/// The inverse of the normal distribution, by an approximation of the inverse of the error function
/// (Winitzki, 2008), which ONNX Runtime uses, too.
fn probit(node: &mut Node<'_, '_>, scores: ValueId) -> Imported<ValueId> {
    const A: f64 = 0.147;
    let mut number = |value: f64| node.add_number_like(scores, value);
    let (one, two, root_two) = (number(1.0)?, number(2.0)?, number(std::f64::consts::SQRT_2)?);
    let (inverse_a, summand, half) =
        (number(1.0 / A)?, number(2.0 / (std::f64::consts::PI * A))?, number(0.5)?);
    let doubled = node.op("tf.Mul", &[scores, two], &[])?;
    let x = node.op("tf.Sub", &[doubled, one], &[])?;
    let sign = node.op("tf.Sign", &[x], &[])?;
    let square = node.op("tf.Square", &[x], &[])?;
    let rest = node.op("tf.Sub", &[one, square], &[])?;
    let log = node.op("tf.Log", &[rest], &[])?;
    let half_log = node.op("tf.Mul", &[log, half], &[])?;
    let v = node.op("tf.AddV2", &[half_log, summand], &[])?;
    let square = node.op("tf.Square", &[v], &[])?;
    let product = node.op("tf.Mul", &[log, inverse_a], &[])?;
    let difference = node.op("tf.Sub", &[square, product], &[])?;
    let root = node.op("tf.Sqrt", &[difference], &[])?;
    let difference = node.op("tf.Sub", &[root, v], &[])?;
    let root = node.op("tf.Sqrt", &[difference], &[])?;
    let inverse = node.op("tf.Mul", &[sign, root], &[])?;
    node.op("tf.Mul", &[inverse, root_two], &[])
}

/// The labels of classes, in the order of their scores.
pub(super) enum Labels {
    Integers(Vec<i64>),
    Strings(Vec<String>),
}

impl Labels {
    /// Reads the labels of a classifier from its attributes, one of which is called `integers`.
    pub(super) fn of(node: &Node<'_, '_>, integers: &str) -> Imported<Self> {
        if let Some(strings) = node.strings("classlabels_strings")?.filter(|strings| !strings.is_empty()) {
            return Ok(Self::Strings(strings));
        }
        let labels = node.ints(integers)?.filter(|labels| !labels.is_empty());
        labels.map(Self::Integers).ok_or_else(|| "the classifier has no labels".into())
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Integers(labels) => labels.len(),
            Self::Strings(labels) => labels.len(),
        }
    }

    /// The labels at these places.
    pub(super) fn at(&self, node: &mut Node<'_, '_>, places: ValueId) -> Imported<ValueId> {
        let keys: Vec<i64> = (0..self.count() as i64).collect();
        let keys = node.add_integers(&keys)?;
        let (values, default) = match self {
            Self::Integers(labels) => (node.add_integers(labels)?, node.add_integer(0)?),
            Self::Strings(labels) => {
                (texts(node, &[labels.len()], labels)?, texts(node, &[], &[String::new()])?)
            }
        };
        node.op("tfrt.Lookup", &[keys, values, places, default], &[])
    }

    /// The label of the greatest score of each row; the first one of equal scores.
    pub(super) fn of_greatest(&self, node: &mut Node<'_, '_>, scores: ValueId) -> Imported<ValueId> {
        let axis = node.add_integer(-1)?;
        let types = [("output_type", type_attribute(DType::I64))];
        let places = node.op("tf.ArgMax", &[scores, axis], &types)?;
        self.at(node, places)
    }

    /// For each row the second label if a condition holds, else the first one.
    pub(super) fn of_two(&self, node: &mut Node<'_, '_>, is_second: ValueId) -> Imported<ValueId> {
        let flat = node.reshape(is_second, &[-1])?;
        let places = node.cast(flat, DType::I64)?;
        self.at(node, places)
    }
}

/// Appends a constant of texts.
pub(super) fn texts(node: &mut Node<'_, '_>, dims: &[usize], texts: &[String]) -> Imported<ValueId> {
    let tensor = StringHostTensor::new(TensorShape::new(dims)?, texts.to_vec())?;
    Ok(node.builder().add_constant("", tensor))
}

/// Appends a constant of f32 numbers.
pub(super) fn numbers(node: &mut Node<'_, '_>, dims: &[usize], numbers: &[f32]) -> Imported<ValueId> {
    if dims.iter().product::<usize>() != numbers.len() {
        return Err(format!("{} numbers are given for a shape of {dims:?}", numbers.len()).into());
    }
    Ok(node.builder().add_elements(dims, numbers)?)
}

/// The first input as a matrix of features: a vector is one row.
pub(super) fn features(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let x = node.input(0)?;
    let x = match node.dtype(x)? {
        DType::F32 | DType::F64 => x,
        _ => node.cast(x, DType::F32)?,
    };
    match node.ty(x)?.rank() {
        Some(1) => node.reshape(x, &[1, -1]),
        _ => Ok(x),
    }
}

/// Columns beside each other.
pub(super) fn beside(node: &mut Node<'_, '_>, columns: &[ValueId]) -> Imported<ValueId> {
    let axis = node.add_integer(1)?;
    node.op("tf.ConcatV2", &[columns, &[axis]].concat(), &[])
}
