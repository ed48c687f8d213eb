//! What prepares features.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, scores::numbers};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("ArrayFeatureExtractor", extract),
    ("Binarizer", binarize),
    ("FeatureVectorizer", join),
    ("Imputer", impute),
    ("Normalizer", normalize),
    ("Scaler", scale),
];

/// Columns by their places.
fn extract(node: &mut Node<'_, '_>) -> Imported {
    let (mut x, places) = (node.input(0)?, node.input(1)?);
    if node.ty(x)?.rank() == Some(1) {
        x = node.reshape(x, &[1, -1])?;
    }
    let (places, axis) = (node.reshape(places, &[-1])?, node.add_integer(-1)?);
    Ok(vec![node.op("tf.GatherV2", &[x, places, axis], &[])?])
}

fn binarize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let threshold = node.add_number_like(x, node.float_or("threshold", 0.0)?.into())?;
    let is_greater = node.op("tf.Greater", &[x, threshold], &[])?;
    let dtype = node.dtype(x)?;
    Ok(vec![node.cast(is_greater, dtype)?])
}

/// The inputs beside each other.
fn join(node: &mut Node<'_, '_>) -> Imported {
    let mut parts = Vec::new();
    for x in node.all_inputs()? {
        let x = node.cast(x, DType::F32)?;
        parts.push(match node.ty(x)?.rank() {
            Some(2) | None => x,
            Some(1) => node.reshape(x, &[1, -1])?,
            Some(_) => return Err("an input of features has more than two dimensions".into()),
        });
    }
    if let [only] = parts[..] {
        return Ok(vec![only]);
    }
    Ok(vec![super::scores::beside(node, &parts)?])
}

/// Numbers, one for each feature or one for all, as the node's attribute gives them.
fn by_feature(node: &mut Node<'_, '_>, values: &[f32], dtype: DType) -> Imported<ValueId> {
    let dims = [values.len()];
    let values = numbers(node, if values.len() == 1 { &[] } else { &dims }, values)?;
    node.cast(values, dtype)
}

/// Replaces a value that stands for a missing one.
fn impute(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let dtype = node.dtype(x)?;
    if dtype == DType::I64 {
        let values =
            node.ints("imputed_value_int64s")?.ok_or("attribute 'imputed_value_int64s' is missing")?;
        let missing = node.add_integer(node.int_or("replaced_value_int64", 0)?)?;
        let is_missing = node.op("tf.Equal", &[x, missing], &[])?;
        let values = match values[..] {
            [only] => node.add_integer(only)?,
            _ => node.add_integers(&values)?,
        };
        return Ok(vec![node.op("tf.SelectV2", &[is_missing, values, x], &[])?]);
    }
    let values = node.floats("imputed_value_floats")?.ok_or("attribute 'imputed_value_floats' is missing")?;
    let missing = node.float_or("replaced_value_float", 0.0)?;
    let is_missing = if missing.is_nan() {
        node.op("tf.IsNan", &[x], &[])?
    } else {
        let missing = node.add_number_like(x, missing.into())?;
        node.op("tf.Equal", &[x, missing], &[])?
    };
    let values = by_feature(node, &values, dtype)?;
    Ok(vec![node.op("tf.SelectV2", &[is_missing, values, x], &[])?])
}

/// Divides each row by its norm; a row of zeros stays.
fn normalize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let x = node.cast(x, DType::F32)?;
    let axis = node.add_integers(&[-1])?;
    let keep = [("keep_dims", Attribute::Bool(true))];
    let norm = match node.string_or("norm", "MAX")?.as_str() {
        "MAX" => node.op("tf.Max", &[x, axis], &keep)?,
        "L1" => {
            let size = node.op("tf.Abs", &[x], &[])?;
            node.op("tf.Sum", &[size, axis], &keep)?
        }
        "L2" => {
            let square = node.op("tf.Square", &[x], &[])?;
            let sum = node.op("tf.Sum", &[square, axis], &keep)?;
            node.op("tf.Sqrt", &[sum], &[])?
        }
        other => return Err(format!("attribute 'norm' must not be '{other}'").into()),
    };
    let (zero, one) = (node.add_number_like(x, 0.0)?, node.add_number_like(x, 1.0)?);
    let is_zero = node.op("tf.Equal", &[norm, zero], &[])?;
    let norm = node.op("tf.SelectV2", &[is_zero, one, norm], &[])?;
    Ok(vec![node.op("tf.RealDiv", &[x, norm], &[])?])
}

/// `(x - offset) * scale`.
fn scale(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut x = node.cast(x, DType::F32)?;
    for (name, op) in [("offset", "tf.Sub"), ("scale", "tf.Mul")] {
        if let Some(values) = node.floats(name)?.filter(|values| !values.is_empty()) {
            let values = by_feature(node, &values, DType::F32)?;
            x = node.op(op, &[x, values], &[])?;
        }
    }
    Ok(vec![x])
}
