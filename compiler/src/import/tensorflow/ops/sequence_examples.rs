//! Messages that hold sequences: each feature of the context and each feature list becomes an op of
//! its own.

use tfrt_host::DType;
use tfrt_ir::Attribute;

use super::{
    Family,
    examples::{DenseFeature, Features, name, names, parse, shapes, texts, types},
};
use crate::import::tensorflow::node::{Imported, Node, Value, ints, type_attribute};

pub(super) const OPS: Family = &[
    ("ParseSequenceExample", parse_first),
    ("ParseSequenceExampleV2", parse_second),
    ("ParseSingleSequenceExample", parse_single),
];

/// A feature list whose steps all have as many values.
struct DenseList {
    key: String,
    dtype: DType,
    shape: Vec<i64>,
    may_be_missing: bool,
}

/// The feature lists that a node asks for.
#[derive(Default)]
struct Lists {
    sparse: Vec<(String, DType)>,
    dense: Vec<DenseList>,
    ragged: Vec<(String, DType, DType)>,
}

/// The types, shapes and names of dense feature lists, those of which may be missing that `may_lack`
/// says.
fn dense_lists(
    node: &Node<'_, '_>,
    keys: Vec<String>,
    may_lack: impl Fn(usize, &str) -> bool,
) -> Imported<Vec<DenseList>> {
    let shapes = shapes(node, "feature_list_dense_shapes")?;
    let described = keys.into_iter().zip(types(node, "feature_list_dense_types")?).zip(shapes).enumerate();
    let list = described.map(|(index, ((key, dtype), shape))| {
        let may_be_missing = may_lack(index, &key);
        DenseList { key, dtype, shape, may_be_missing }
    });
    Ok(list.collect())
}

/// The dense features of the context. Their defaults begin at an input.
fn dense_context(node: &Node<'_, '_>, keys: Vec<String>, first: usize) -> Imported<Vec<DenseFeature>> {
    let described = keys.into_iter().zip(types(node, "Tcontext_dense")?);
    let described = described.zip(shapes(node, "context_dense_shapes")?).enumerate();
    described
        .map(|(index, ((key, dtype), shape))| Ok((key, node.input(first + index)?, dtype, shape)))
        .collect()
}

fn ragged(
    node: &Node<'_, '_>,
    input: usize,
    [values, splits]: [&str; 2],
) -> Imported<Vec<(String, DType, DType)>> {
    let kinds = types(node, values)?.into_iter().zip(types(node, splits)?);
    Ok(names(node, input)?
        .into_iter()
        .zip(kinds)
        .map(|(key, (dtype, splits))| (key, dtype, splits))
        .collect())
}

/// The names are attributes, but for those of the feature lists that may be missing.
fn parse_first(node: &mut Node<'_, '_>) -> Imported {
    let may_lack = texts(node, "feature_list_dense_missing_assumed_empty")?;
    let context = Features {
        sparse: with_types(node, texts(node, "context_sparse_keys")?, "context_sparse_types")?,
        dense: dense_context(node, texts(node, "context_dense_keys")?, 2)?,
        ragged: Vec::new(),
    };
    let keys = texts(node, "feature_list_dense_keys")?;
    let lists = Lists {
        sparse: with_types(node, texts(node, "feature_list_sparse_keys")?, "feature_list_sparse_types")?,
        dense: dense_lists(node, keys, |_, key| may_lack.iter().any(|other| other == key))?,
        ragged: Vec::new(),
    };
    parse_lists(node, context, &lists)
}

/// The names are inputs.
fn parse_second(node: &mut Node<'_, '_>) -> Imported {
    let missing = node.input(8)?;
    let missing = node.builder().cast(missing, DType::I64)?;
    let missing = node.integers(missing).ok_or("which feature lists may be missing is not known")?;
    let context_kinds = ["context_ragged_value_types", "context_ragged_split_types"];
    let list_kinds = ["feature_list_ragged_value_types", "feature_list_ragged_split_types"];
    let context = Features {
        sparse: with_types(node, names(node, 2)?, "context_sparse_types")?,
        dense: dense_context(node, names(node, 3)?, 9)?,
        ragged: ragged(node, 4, context_kinds)?,
    };
    let may_lack = |index: usize, _: &str| missing.get(index).is_some_and(|&flag| flag != 0);
    let lists = Lists {
        sparse: with_types(node, names(node, 5)?, "feature_list_sparse_types")?,
        dense: dense_lists(node, names(node, 6)?, may_lack)?,
        ragged: ragged(node, 7, list_kinds)?,
    };
    parse_lists(node, context, &lists)
}

/// One message. Each name is an input.
fn parse_single(node: &mut Node<'_, '_>) -> Imported {
    let may_lack = names(node, 1)?;
    let mut next = 2;
    let mut keys = |count: usize| -> Imported<Vec<String>> {
        let keys = (next..next + count).map(|input| name(node, input)).collect();
        next += count;
        keys
    };
    let count = |attribute: &str| -> Imported<usize> { Ok(types(node, attribute)?.len()) };
    let context_sparse = keys(count("context_sparse_types")?)?;
    let context_dense = keys(count("Tcontext_dense")?)?;
    let list_sparse = keys(count("feature_list_sparse_types")?)?;
    let list_dense = keys(count("feature_list_dense_types")?)?;
    let context = Features {
        sparse: with_types(node, context_sparse, "context_sparse_types")?,
        dense: dense_context(node, context_dense, next)?,
        ragged: Vec::new(),
    };
    let lists = Lists {
        sparse: with_types(node, list_sparse, "feature_list_sparse_types")?,
        dense: dense_lists(node, list_dense, |_, key| may_lack.iter().any(|other| other == key))?,
        ragged: Vec::new(),
    };
    parse_lists(node, context, &lists)
}

fn with_types(node: &Node<'_, '_>, keys: Vec<String>, attribute: &str) -> Imported<Vec<(String, DType)>> {
    Ok(keys.into_iter().zip(types(node, attribute)?).collect())
}

/// The features of the context, and then the feature lists. Those of single messages come without
/// their lengths.
fn parse_lists(node: &mut Node<'_, '_>, context: Features, lists: &Lists) -> Imported {
    let messages = node.input(0)?;
    let mut outputs = parse(node, context)?;
    let mut parts: [Vec<Value>; 3] = Default::default();
    for (key, dtype) in &lists.sparse {
        let attributes = [("dtype", type_attribute(*dtype)), ("key", Attribute::string(key))];
        let results = node.ops("tfrt.ParseSequenceSparse", &[messages], &attributes, 3)?;
        parts.iter_mut().zip(results).for_each(|(part, result)| part.push(result.into()));
    }
    outputs.extend(parts.concat());
    let mut lengths = Vec::new();
    for list in &lists.dense {
        let attributes = [
            ("dtype", type_attribute(list.dtype)),
            ("dense_shape", ints(&list.shape)),
            ("key", Attribute::string(&list.key)),
            ("may_be_missing", Attribute::Bool(list.may_be_missing)),
        ];
        let results = node.ops("tfrt.ParseSequenceDense", &[messages], &attributes, 2)?;
        outputs.push(results[0].into());
        lengths.push(results[1].into());
    }
    if node.proto.op != "ParseSingleSequenceExample" {
        outputs.extend(lengths);
    }
    let mut splits_of: [Vec<Value>; 2] = Default::default();
    for (key, dtype, splits) in &lists.ragged {
        let attributes = [
            ("Tsplits", type_attribute(*splits)),
            ("dtype", type_attribute(*dtype)),
            ("key", Attribute::string(key)),
        ];
        let results = node.ops("tfrt.ParseSequenceRagged", &[messages], &attributes, 3)?;
        outputs.push(results[0].into());
        splits_of[0].push(results[1].into());
        splits_of[1].push(results[2].into());
    }
    outputs.extend(splits_of.concat());
    Ok(outputs)
}
