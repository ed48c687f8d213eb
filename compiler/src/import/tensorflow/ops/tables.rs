//! Tables, whose entries are known when the model is compiled.

use std::path::{Component, Path};

use tfrt_host::DType;
use tfrt_tensor::{DenseHostTensor, HostTensor, StringHostTensor, TensorShape};

use super::{Family, variables::resource_name};
use crate::import::tensorflow::{
    Table,
    node::{Imported, Node, Value},
    tensor,
};

pub(super) const OPS: Family = &[
    ("AnonymousHashTable", table),
    ("AnonymousMutableDenseHashTable", table),
    ("AnonymousMutableHashTable", table),
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
    ("LookupTableSize", size),
    ("LookupTableSizeV2", size),
    ("MutableDenseHashTable", table),
    ("MutableDenseHashTableV2", table),
    ("MutableHashTable", table),
    ("MutableHashTableV2", table),
];

/// The longest file of entries that is read.
const MAX_FILE_BYTES: u64 = 1 << 30;
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

fn entries(node: &Node<'_, '_>) -> Imported<Table> {
    let name = node.resource(0)?;
    let table = node.importer.state.tables.get(&name).cloned();
    table.ok_or_else(|| format!("table '{name}' has no entries").into())
}

fn import(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    let mut columns = Vec::new();
    for input in [1, 2] {
        let column = node.input(input)?;
        let tensor = node.constant(column).cloned();
        columns.push(tensor.ok_or("tables that the model fills are not supported")?);
    }
    let values = columns.pop().ok_or("a table needs values")?;
    let keys = columns.pop().ok_or("a table needs keys")?;
    node.importer.state.tables.insert(name, Table { keys, values });
    Ok(Vec::new())
}

fn find(node: &mut Node<'_, '_>) -> Imported {
    let Table { keys, values } = entries(node)?;
    let (queries, default) = (node.input(1)?, node.input(2)?);
    let mut builder = node.builder();
    let (keys, values) = (builder.add_constant("", keys), builder.add_constant("", values));
    Ok(vec![node.op("tfrt.Lookup", &[keys, values, queries, default], &[])?.into()])
}

fn size(node: &mut Node<'_, '_>) -> Imported {
    let count = entries(node)?.keys.shape().num_elements()?;
    Ok(vec![node.builder().add_integer(i64::try_from(count).unwrap_or(i64::MAX))?.into()])
}

fn export(node: &mut Node<'_, '_>) -> Imported {
    let Table { keys, values } = entries(node)?;
    let mut builder = node.builder();
    Ok(vec![builder.add_constant("", keys).into(), builder.add_constant("", values).into()])
}

/// Entries that are lines of a file: keys and values are lines, their numbers, or columns of them.
fn import_file(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    let file = node.input(1)?;
    let file = match node.constant(file) {
        Some(HostTensor::String(strings)) => {
            strings.strings().first().map(ToString::to_string).unwrap_or_default()
        }
        _ => return Err("the name of the table's file is not known".into()),
    };
    let text = read_inside(&node.importer.folder, Path::new(&file))?;
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

/// The text of a file that must be in a folder or below it.
fn read_inside(folder: &Path, file: &Path) -> Imported<String> {
    let shown = file.display();
    let outside = || format!("'{shown}' lies outside of the model's folder");
    let cannot = |error| format!("cannot read '{shown}': {error}");
    if file.components().any(|part| part == Component::ParentDir) {
        return Err(outside().into());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (real, folder) = (file.canonicalize().map_err(cannot)?, folder.canonicalize().map_err(cannot)?);
    if !real.starts_with(&folder) {
        return Err(outside().into());
    }
    if std::fs::metadata(&real).map_err(cannot)?.len() > MAX_FILE_BYTES {
        return Err(format!("'{shown}' has more than {MAX_FILE_BYTES} bytes").into());
    }
    Ok(tensor::text(&std::fs::read(&real).map_err(cannot)?)?)
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
        _ => Err("tables of this type are not supported".into()),
    }
}
