//! Values that stand for others.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::{StringHostTensor, TensorShape};

use super::{Family, scores::texts};
use crate::import::onnx::node::{ImportError, Imported, Node};

pub(super) const OPS: Family =
    &[("CategoryMapper", map_categories), ("LabelEncoder", encode), ("OneHotEncoder", one_hot)];

/// The suffixes of the attributes that hold the keys or values of a label encoder.
const LISTS: [&str; 4] = ["strings", "int64s", "floats", "tensor"];

/// The list of keys or of values that a node has: a constant, a vector.
fn list(node: &mut Node<'_, '_>, prefix: &str) -> Imported<ValueId> {
    for suffix in LISTS {
        let name = format!("{prefix}_{suffix}");
        if !node.has_attribute(&name) {
            continue;
        }
        return match suffix {
            "strings" => {
                let strings = node.strings(&name)?.unwrap_or_default();
                texts(node, &[strings.len()], &strings)
            }
            "int64s" => {
                let integers = node.ints(&name)?.unwrap_or_default();
                node.add_integers(&integers)
            }
            "floats" => {
                let floats = node.floats(&name)?.unwrap_or_default();
                Ok(node.builder().add_elements(&[floats.len()], &floats)?)
            }
            _ => {
                let tensor = node.tensor(&name)?.ok_or("a list is missing")?;
                let list = node.builder().add_constant("", tensor);
                flat(node, list)
            }
        };
    }
    Err(ImportError(format!("the node has no list of {prefix}")))
}

fn flat(node: &mut Node<'_, '_>, list: ValueId) -> Imported<ValueId> {
    if node.ty(list)?.rank() == Some(1) { Ok(list) } else { node.reshape(list, &[-1]) }
}

/// What stands for a value that is no key.
fn default_of(node: &mut Node<'_, '_>, dtype: DType) -> Imported<ValueId> {
    if let Some(tensor) = node.tensor("default_tensor")? {
        let default = node.builder().add_constant("", tensor);
        return match node.ty(default)?.rank() {
            Some(0) => Ok(default),
            _ => node.reshape(default, &[]),
        };
    }
    match dtype {
        DType::String => {
            let default = node.string_or("default_string", "_Unused")?;
            texts(node, &[], &[default])
        }
        DType::F32 | DType::F64 => {
            let default = node.float_or("default_float", -0.0)?;
            Ok(node.builder().add_number(dtype, default.into())?)
        }
        _ => {
            let default = node.int_or("default_int64", -1)?;
            let default = node.add_integer(default)?;
            node.cast(default, dtype)
        }
    }
}

/// Up to version 1 of the domain the labels are a list of strings, whose places are the integers.
fn encode(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    if let Some(classes) = node.strings("classes_strings")? {
        return between(node, x, &classes, None);
    }
    let (keys, values) = (list(node, "keys")?, list(node, "values")?);
    let default = default_of(node, node.dtype(values)?)?;
    let x = if node.dtype(keys)? == DType::String { x } else { node.cast(x, node.dtype(keys)?)? };
    Ok(vec![node.op("tfrt.Lookup", &[keys, values, x, default], &[])?])
}

/// Strings as integers, or integers as strings.
fn map_categories(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let strings = node.strings("cats_strings")?.unwrap_or_default();
    let integers = node.ints("cats_int64s")?.unwrap_or_default();
    between(node, x, &strings, Some(&integers))
}

fn between(node: &mut Node<'_, '_>, x: ValueId, strings: &[String], integers: Option<&[i64]>) -> Imported {
    let places: Vec<i64> = (0..strings.len() as i64).collect();
    let (numbers, names) =
        (node.add_integers(integers.unwrap_or(&places))?, texts(node, &[strings.len()], strings)?);
    let (keys, values) = if node.dtype(x)? == DType::String { (names, numbers) } else { (numbers, names) };
    let default = default_of(node, node.dtype(values)?)?;
    Ok(vec![node.op("tfrt.Lookup", &[keys, values, x, default], &[])?])
}

/// A one in the place of each category and zeros elsewhere, in a new last dimension.
fn one_hot(node: &mut Node<'_, '_>) -> Imported {
    let mut x = node.input(0)?;
    let keys = if node.dtype(x)? == DType::String {
        let names = node.strings("cats_strings")?.ok_or("attribute 'cats_strings' is missing")?;
        let count = names.len();
        let tensor = StringHostTensor::new(TensorShape::new(&[count])?, names)?;
        node.builder().add_constant("", tensor)
    } else {
        x = node.cast(x, DType::I64)?;
        let numbers = node.ints("cats_int64s")?.ok_or("attribute 'cats_int64s' is missing")?;
        node.add_integers(&numbers)?
    };
    let count = node.dims(keys)?[0].unwrap_or(0) as i64;
    let places = node.add_integers(&(0..count).collect::<Vec<_>>())?;
    let missing = node.add_integer(-1)?;
    let mut found = node.op("tfrt.Lookup", &[keys, places, x, missing], &[])?;
    if node.int_or("zeros", 1)? == 0 {
        let zero = node.add_integer(0)?;
        let is_known = node.op("tf.GreaterEqual", &[found, zero], &[])?;
        let axes = node.add_integer(-1)?;
        let flat = node.reshape(is_known, &[-1])?;
        let all = node.op("tf.All", &[flat, axes], &[])?;
        let message = Attribute::string("a value is none of the encoder's categories");
        found = node.op("tfrt.Require", &[found, all], &[("message", message)])?;
    }
    let depth = node.builder().add_elements(&[], &[count as i32])?;
    let (on, off) =
        (node.builder().add_elements(&[], &[1.0f32])?, node.builder().add_elements(&[], &[0.0f32])?);
    Ok(vec![node.op("tf.OneHot", &[found, depth, on, off], &[("axis", Attribute::i64(-1))])?])
}
