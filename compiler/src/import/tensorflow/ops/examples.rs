//! Messages and records: each feature or column becomes an op of its own.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::HostTensor;

use super::Family;
use crate::import::tensorflow::{
    node::{Imported, Node, Value, ints, type_attribute},
    proto::Attr,
    tensor,
};

pub(super) const OPS: Family = &[
    ("DecodeCSV", decode_csv),
    ("ParseExample", parse_first),
    ("ParseExampleV2", parse_second),
    ("ParseSingleExample", parse_single),
];

/// A feature with as many values in each message: its name, its default, its type and its shape.
pub(super) type DenseFeature = (String, ValueId, DType, Vec<i64>);

/// The features that a node asks for.
#[derive(Default)]
pub(super) struct Features {
    pub(super) sparse: Vec<(String, DType)>,
    pub(super) dense: Vec<DenseFeature>,
    pub(super) ragged: Vec<(String, DType, DType)>,
}

/// The data types in an attribute.
pub(super) fn types(node: &Node<'_, '_>, name: &str) -> Imported<Vec<DType>> {
    match node.attr(name) {
        None => Ok(Vec::new()),
        Some(Attr::List(list)) => {
            Ok(list.r#type.iter().map(|&number| tensor::dtype(number)).collect::<Result<_, _>>()?)
        }
        Some(_) => Err(format!("attribute '{name}' is not a list of types").into()),
    }
}

/// The shapes in an attribute.
pub(super) fn shapes(node: &Node<'_, '_>, name: &str) -> Imported<Vec<Vec<i64>>> {
    let Some(Attr::List(list)) = node.attr(name) else { return Ok(Vec::new()) };
    let dims = |shape| {
        let dims = tensor::dims(Some(shape)).ok_or("a dense feature has no rank")?;
        Ok(dims.iter().map(|dim| dim.map_or(-1, |dim| dim as i64)).collect())
    };
    list.shape.iter().map(dims).collect::<Result<_, &str>>().map_err(Into::into)
}

/// The names in a constant vector.
pub(super) fn names(node: &Node<'_, '_>, input: usize) -> Imported<Vec<String>> {
    match node.constant(node.input(input)?) {
        Some(HostTensor::String(keys)) => Ok(keys.strings().iter().map(ToString::to_string).collect()),
        _ => Err("the names of features must be constants".into()),
    }
}

/// The name in a constant.
pub(super) fn name(node: &Node<'_, '_>, input: usize) -> Imported<String> {
    Ok(names(node, input)?.into_iter().next().unwrap_or_default())
}

pub(super) fn texts(node: &Node<'_, '_>, attribute: &str) -> Imported<Vec<String>> {
    match node.attr(attribute) {
        Some(Attr::List(list)) => {
            Ok(list.s.iter().map(|text| tensor::text(text)).collect::<Result<_, _>>()?)
        }
        _ => Ok(Vec::new()),
    }
}

fn parse_first(node: &mut Node<'_, '_>) -> Imported {
    let (sparse_types, dense_types) = (types(node, "sparse_types")?, types(node, "Tdense")?);
    let (shapes, mut features) = (shapes(node, "dense_shapes")?, Features::default());
    let (sparse, dense) = (sparse_types.len(), dense_types.len());
    for (index, dtype) in sparse_types.into_iter().enumerate() {
        features.sparse.push((name(node, 2 + index)?, dtype));
    }
    for (index, (dtype, shape)) in dense_types.into_iter().zip(shapes).enumerate() {
        let default = node.input(2 + sparse + dense + index)?;
        features.dense.push((name(node, 2 + sparse + index)?, default, dtype, shape));
    }
    parse(node, features)
}

fn parse_second(node: &mut Node<'_, '_>) -> Imported {
    let mut features = Features::default();
    let sparse = names(node, 2)?.into_iter().zip(types(node, "sparse_types")?);
    features.sparse = sparse.collect();
    let dense = names(node, 3)?.into_iter().zip(types(node, "Tdense")?).zip(shapes(node, "dense_shapes")?);
    for (index, ((key, dtype), shape)) in dense.enumerate() {
        features.dense.push((key, node.input(5 + index)?, dtype, shape));
    }
    let kinds = types(node, "ragged_value_types")?.into_iter().zip(types(node, "ragged_split_types")?);
    features.ragged =
        names(node, 4)?.into_iter().zip(kinds).map(|(key, (dtype, splits))| (key, dtype, splits)).collect();
    parse(node, features)
}

fn parse_single(node: &mut Node<'_, '_>) -> Imported {
    let sparse = texts(node, "sparse_keys")?.into_iter().zip(types(node, "sparse_types")?).collect();
    let mut features = Features { sparse, ..Features::default() };
    let dense =
        texts(node, "dense_keys")?.into_iter().zip(types(node, "Tdense")?).zip(shapes(node, "dense_shapes")?);
    for (index, ((key, dtype), shape)) in dense.enumerate() {
        features.dense.push((key, node.input(1 + index)?, dtype, shape));
    }
    parse(node, features)
}

/// The features of the messages that are the node's first input.
pub(super) fn parse(node: &mut Node<'_, '_>, features: Features) -> Imported {
    let examples = node.input(0)?;
    let mut parts: [Vec<Value>; 3] = Default::default();
    for (key, dtype) in &features.sparse {
        let attributes = [("dtype", type_attribute(*dtype)), ("key", Attribute::string(key))];
        let results = node.ops("tfrt.ParseExampleSparse", &[examples], &attributes, 3)?;
        parts.iter_mut().zip(results).for_each(|(part, result)| part.push(result.into()));
    }
    let mut outputs = parts.concat();
    for (key, default, dtype, shape) in &features.dense {
        let attributes = [
            ("dtype", type_attribute(*dtype)),
            ("dense_shape", ints(shape)),
            ("key", Attribute::string(key)),
        ];
        let value = node.op("tfrt.ParseExampleDense", &[examples, *default], &attributes)?;
        outputs.push(of_shape(node, value, examples, shape)?.into());
    }
    let mut splits_of = Vec::new();
    for (key, dtype, splits) in &features.ragged {
        let attributes = [
            ("Tsplits", type_attribute(*splits)),
            ("dtype", type_attribute(*dtype)),
            ("key", Attribute::string(key)),
        ];
        let results = node.ops("tfrt.ParseExampleRagged", &[examples], &attributes, 2)?;
        outputs.push(results[0].into());
        splits_of.push(results[1].into());
    }
    outputs.extend(splits_of);
    Ok(outputs)
}

/// A value whose shape is known but for the first extents.
fn of_shape(node: &mut Node<'_, '_>, value: ValueId, examples: ValueId, shape: &[i64]) -> Imported<ValueId> {
    let is_batch = node.ty(examples)?.rank().map(|rank| rank == 1);
    let unknown = shape.iter().filter(|&&dim| dim < 0).count();
    let Some(is_batch) = is_batch.filter(|&is_batch| usize::from(is_batch) + unknown <= 1) else {
        return Ok(value);
    };
    let dims = if is_batch { [&[-1], shape].concat() } else { shape.to_vec() };
    if dims.contains(&0) {
        return Ok(value);
    }
    let dims = node.builder().add_integers(&dims)?;
    node.op("tf.Reshape", &[value, dims], &[])
}

fn decode_csv(node: &mut Node<'_, '_>) -> Imported {
    let records = node.input(0)?;
    let text = |node: &Node<'_, '_>, name: &str, default: &str| -> Imported<Attribute> {
        Ok(Attribute::string(node.string(name)?.unwrap_or_else(|| default.to_owned())))
    };
    let selected = match node.attr("select_cols") {
        Some(Attr::List(list)) => list.i.clone(),
        _ => Vec::new(),
    };
    let quotes = !matches!(node.attr("use_quote_delim"), Some(Attr::B(false)));
    let mut outputs = Vec::new();
    let defaults = node.inputs_from(1)?;
    for (index, &default) in defaults.iter().enumerate() {
        let column = selected.get(index).copied().unwrap_or(index as i64);
        let mut attributes = vec![
            ("column", Attribute::i64(column)),
            ("field_delim", text(node, "field_delim", ",")?),
            ("na_value", text(node, "na_value", "")?),
            ("use_quote_delim", Attribute::Bool(quotes)),
        ];
        if selected.is_empty() {
            attributes.push(("columns", Attribute::i64(defaults.len() as i64)));
        }
        outputs.push(node.op("tfrt.DecodeCsvColumn", &[records, default], &attributes)?.into());
    }
    Ok(outputs)
}
