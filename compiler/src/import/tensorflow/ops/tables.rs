//! Tables. The entries of most are known when the model is compiled; those that the model can
//! change are followed like variables, as two tensors.

use std::sync::Arc;

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::{DenseHostTensor, HostTensor, StringHostTensor, TensorShape};

use super::{
    Family, files,
    sparse::{gather, places_of},
    variables::{resource_name, set},
};
use crate::import::tensorflow::{
    Table,
    node::{Imported, Node, Value, ints, type_attribute},
    proto::Attr,
    tensor,
};

pub(super) const OPS: Family = &[
    ("AnonymousHashTable", table),
    ("AnonymousMutableDenseHashTable", mutable_table),
    ("AnonymousMutableHashTable", mutable_table),
    ("HashTable", table),
    ("HashTableV2", table),
    ("InitializeTable", import),
    ("InitializeTableFromTextFile", import_file),
    ("InitializeTableFromTextFileV2", import_file),
    ("InitializeTableV2", import),
    ("LookupTableExportV2", export),
    ("LookupTableFind", find),
    ("LookupTableFindV2", find),
    ("LookupTableImport", import),
    ("LookupTableImportV2", import),
    ("LookupTableInsert", insert),
    ("LookupTableInsertV2", insert),
    ("LookupTableRemoveV2", remove),
    ("LookupTableSize", size),
    ("LookupTableSizeV2", size),
    ("MutableDenseHashTable", mutable_table),
    ("MutableDenseHashTableV2", mutable_table),
    ("MutableHashTable", mutable_table),
    ("MutableHashTableV2", mutable_table),
];

/// What `key_index` and `value_index` say for a line as a whole, and for its number.
const WHOLE_LINE: i64 = -2;
const LINE_NUMBER: i64 = -1;

fn table(node: &mut Node<'_, '_>) -> Imported {
    let name = resource_name(node)?;
    if let (Some(keys), Some(values)) = (node.type_attr("key_dtype")?, node.type_attr("value_dtype")?) {
        node.importer.state.table_types.insert(name.clone(), (keys, values));
    }
    Ok(vec![Value::Resource(name)])
}

/// The names under which the keys and values of a table that the model can change are held as
/// variables.
pub(in crate::import::tensorflow) fn columns_of(name: &str) -> [Arc<str>; 2] {
    [format!("keys of {name}").into(), format!("values of {name}").into()]
}

/// A table that the model can change, which is empty at first.
fn mutable_table(node: &mut Node<'_, '_>) -> Imported {
    if let Some(Attr::Shape(shape)) = node.attr("value_shape")
        && shape.dim.iter().any(|dim| dim.size != 1)
    {
        return Err("tables whose values are not scalars are not supported".into());
    }
    let made = table(node)?;
    let Some(Value::Resource(name)) = made.first().cloned() else { return Ok(made) };
    let Some(&(key, value)) = node.importer.state.table_types.get(&name) else { return Ok(made) };
    for (column, dtype) in columns_of(&name).into_iter().zip([key, value]) {
        if !node.importer.state.variables.contains_key(&column) {
            let empty = tensor_of(node, Vec::new(), dtype)?;
            let empty = node.builder().add_constant("", empty);
            set(node, column, empty);
        }
    }
    if node.inputs.len() == 2 {
        // A dense table keeps all its buckets: these two keys mark the unused ones.
        let marks = [flat(node, 0)?, flat(node, 1)?];
        let axis = node.builder().add_integer(0)?;
        let marks = node.op("tf.ConcatV2", &[marks[0], marks[1], axis], &[])?;
        set(node, unused_of(&name), marks);
    }
    Ok(made)
}

/// The name under which the keys of unused buckets are held.
fn unused_of(name: &str) -> Arc<str> {
    format!("unused keys of {name}").into()
}

/// The keys and values of a table.
fn entries(node: &mut Node<'_, '_>) -> Imported<[ValueId; 2]> {
    let name = node.resource(0)?;
    if let Some(Table { keys, values }) = node.importer.state.tables.get(&name).cloned() {
        let mut builder = node.builder();
        return Ok([builder.add_constant("", keys), builder.add_constant("", values)]);
    }
    let [keys, values] = columns_of(&name).map(|column| node.importer.state.variables.get(&column).copied());
    keys.zip(values).map(Into::into).ok_or_else(|| format!("table '{name}' has no entries").into())
}

/// Keys or values as a vector. Some exporters give each key and value a dimension of its own.
fn flat(node: &mut Node<'_, '_>, input: usize) -> Imported<ValueId> {
    let values = node.input(input)?;
    let form = node.builder().add_integers(&[-1])?;
    node.op("tf.Reshape", &[values, form], &[])
}

/// Whether a table can be changed while the model runs.
fn is_mutable(node: &Node<'_, '_>, name: &str) -> bool {
    node.importer.state.variables.contains_key(&columns_of(name)[0])
}

fn import(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    if is_mutable(node, &name) {
        let mut columns = [flat(node, 1)?, flat(node, 2)?];
        if let Some(&unused) = node.importer.state.variables.get(&unused_of(&name)) {
            columns = without(node, columns, unused)?;
        }
        for (column, values) in columns_of(&name).into_iter().zip(columns) {
            set(node, column, values);
        }
        return Ok(Vec::new());
    }
    let mut columns = Vec::new();
    for input in [1, 2] {
        let column = node.input(input)?;
        let tensor = node.constant(column).cloned();
        columns.push(tensor.ok_or("the entries of a table that is not mutable are not known")?);
    }
    let values = columns.pop().ok_or("a table needs values")?;
    let keys = columns.pop().ok_or("a table needs keys")?;
    node.importer.state.tables.insert(name, Table { keys, values });
    Ok(Vec::new())
}

/// New entries stand behind the others. Of equal keys the last one counts.
fn insert(node: &mut Node<'_, '_>) -> Imported {
    let (name, old) = (node.resource(0)?, entries(node)?);
    if !is_mutable(node, &name) {
        return Err(format!("table '{name}' cannot be changed").into());
    }
    for ((input, column), old) in [1, 2].into_iter().zip(columns_of(&name)).zip(old) {
        let new = flat(node, input)?;
        let axis = node.builder().add_integer(0)?;
        let all = node.op("tf.ConcatV2", &[old, new, axis], &[])?;
        set(node, column, all);
    }
    Ok(Vec::new())
}

fn remove(node: &mut Node<'_, '_>) -> Imported {
    let (name, old, removed) = (node.resource(0)?, entries(node)?, flat(node, 1)?);
    let kept = without(node, old, removed)?;
    for (column, kept) in columns_of(&name).into_iter().zip(kept) {
        set(node, column, kept);
    }
    Ok(Vec::new())
}

/// Keys and values but those of the keys that are removed.
fn without(node: &mut Node<'_, '_>, old: [ValueId; 2], removed: ValueId) -> Imported<[ValueId; 2]> {
    let none = node.builder().add_integer(0)?;
    let count = node.op("tf.Shape", &[removed], &[])?;
    let one = node.builder().add_integer(1)?;
    let ones = node.op("tf.Fill", &[count, one], &[])?;
    let is_removed = node.op("tfrt.Lookup", &[removed, ones, old[0], none], &[])?;
    let is_kept = node.op("tf.Equal", &[is_removed, none], &[])?;
    let places = places_of(node, is_kept)?;
    Ok([gather(node, old[0], places)?, gather(node, old[1], places)?])
}

/// Each key once.
fn distinct(node: &mut Node<'_, '_>, keys: ValueId) -> Imported<ValueId> {
    let attributes = [("sorted", Attribute::i64(0)), ("result_segment_sizes", ints(&[1, 0, 0, 0]))];
    node.op("onnx.Unique", &[keys], &attributes)
}

fn find(node: &mut Node<'_, '_>) -> Imported {
    let [keys, values] = entries(node)?;
    let (queries, default) = (node.input(1)?, node.input(2)?);
    Ok(vec![node.op("tfrt.Lookup", &[keys, values, queries, default], &[])?.into()])
}

/// The number of different keys.
fn size(node: &mut Node<'_, '_>) -> Imported {
    let [keys, _] = entries(node)?;
    let different = distinct(node, keys)?;
    Ok(vec![node.op("tf.Size", &[different], &[("out_type", type_attribute(DType::I64))])?.into()])
}

fn export(node: &mut Node<'_, '_>) -> Imported {
    let [keys, values] = entries(node)?;
    let different = distinct(node, keys)?;
    let dtype = node.dtype(values)?;
    let default = tensor_of(node, vec![if dtype == DType::String { "" } else { "0" }.to_owned()], dtype)?;
    let default = node.builder().add_constant("", default);
    let form = node.builder().add_integers(&[])?;
    let default = node.op("tf.Reshape", &[default, form], &[])?;
    let values = node.op("tfrt.Lookup", &[keys, values, different, default], &[])?;
    Ok(vec![different.into(), values.into()])
}

/// Entries that are lines of a file: keys and values are lines, their numbers, or columns of them.
fn import_file(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    let text = tensor::text(&files::read(node, 1)?)?;
    let delimiter = node.string("delimiter")?.unwrap_or_else(|| "\t".to_owned());
    let skipped = usize::try_from(node.int("offset")?.unwrap_or(0)).unwrap_or(0);
    let vocabulary = usize::try_from(node.int("vocab_size")?.unwrap_or(-1)).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.lines().skip(skipped).take(vocabulary).collect();
    let mut columns = Vec::new();
    for attribute in ["key_index", "value_index"] {
        let index = node.int(attribute)?.ok_or_else(|| format!("attribute '{attribute}' is missing"))?;
        columns.push(column(&lines, index, &delimiter)?);
    }
    let (key, value) =
        node.importer.state.table_types.get(&name).copied().ok_or("the types of the table are not known")?;
    let types = [key, value];
    let mut tensors = Vec::new();
    for (column, dtype) in columns.into_iter().zip(types) {
        tensors.push(tensor_of(node, column, dtype)?);
    }
    let values = tensors.pop().ok_or("a table needs values")?;
    let keys = tensors.pop().ok_or("a table needs keys")?;
    node.importer.state.tables.insert(name, Table { keys, values });
    Ok(Vec::new())
}

/// A column of a file, as texts.
fn column(lines: &[&str], index: i64, delimiter: &str) -> Imported<Vec<String>> {
    match index {
        WHOLE_LINE => Ok(lines.iter().map(|&line| line.to_owned()).collect()),
        LINE_NUMBER => Ok((0..lines.len()).map(|number| number.to_string()).collect()),
        index => {
            let place = usize::try_from(index).map_err(|_| format!("{index} is not a column"))?;
            let part = |(number, line): (usize, &&str)| {
                let part = if delimiter.is_empty() {
                    Some(*line).filter(|_| place == 0)
                } else {
                    line.split(delimiter).nth(place)
                };
                part.map(str::to_owned)
                    .ok_or_else(|| format!("line {} has no column {place}", number + 1).into())
            };
            lines.iter().enumerate().map(part).collect()
        }
    }
}

/// Texts as a vector of strings or numbers.
fn tensor_of(node: &mut Node<'_, '_>, texts: Vec<String>, dtype: DType) -> Imported<HostTensor> {
    let allocator = node.importer.evaluator.allocator();
    let shape = TensorShape::new(&[texts.len()])?;
    macro_rules! numbers {
        ($type:ty) => {{
            let parse = |text: &String| {
                text.parse::<$type>().map_err(|_| format!("'{text}' in a table's file is not a number"))
            };
            let numbers = texts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
            Ok(DenseHostTensor::from_slice(shape, &numbers, allocator)?.into())
        }};
    }
    match dtype {
        DType::String => Ok(StringHostTensor::new(shape, texts)?.into()),
        DType::I64 => numbers!(i64),
        DType::I32 => numbers!(i32),
        DType::F32 => numbers!(f32),
        DType::F64 => numbers!(f64),
        DType::I1 => numbers!(bool),
        _ => Err("tables of this type are not supported".into()),
    }
}
