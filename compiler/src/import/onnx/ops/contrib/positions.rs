//! What depends on the positions of a sequence's elements.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, attention::head_count, int};
use crate::import::onnx::{
    node::{Imported, Node},
    ops::dims::{Extent, known_extent, reshape},
};

pub(super) const OPS: Family = &[
    ("GatedRelativePositionBias", gated_bias),
    ("GemmaRotaryEmbedding", rotate_by_angles),
    ("MRotaryEmbedding", rotate_by_three),
    ("RelativePositionBias", bias),
];

/// The greatest number of pairs of a head's elements.
const MAX_PAIRS: i64 = 1 << 16;

/// The numbers 0, 1, … before `end`, which is a tensor of one integer.
fn places(node: &mut Node<'_, '_>, end: ValueId) -> Imported<ValueId> {
    let end = node.cast(end, DType::I64)?;
    let (end, zero, one) = (node.reshape(end, &[])?, node.add_integer(0)?, node.add_integer(1)?);
    node.op("tf.Range", &[zero, end, one], &[])
}

/// A bias for each head and for each bucket of distances between queries and keys: half of the
/// buckets are exact, the others grow with the logarithm of the distance. T5: Raffel et al. 2020.
fn bias(node: &mut Node<'_, '_>) -> Imported {
    let (table, queries, keys) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let farthest = node.int("max_distance")?.ok_or("attribute 'max_distance' is missing")?;
    let mut buckets = known_extent(node, table, 0, "the number of buckets")?;
    let (queries, keys) = (places(node, queries)?, places(node, keys)?);
    let queries = node.reshape(queries, &[-1, 1])?;
    let ahead = node.op("tf.Sub", &[keys, queries], &[])?;
    let zero = node.add_integer(0)?;
    let (distance, first) = match node.flag("is_bidirectional")? {
        true => {
            buckets /= 2;
            let (is_ahead, half) = (node.op("tf.Greater", &[ahead, zero], &[])?, node.add_integer(buckets)?);
            let first = node.op("tf.SelectV2", &[is_ahead, half, zero], &[])?;
            (node.op("tf.Abs", &[ahead], &[])?, Some(first))
        }
        false => {
            let behind = node.op("tf.Neg", &[ahead], &[])?;
            (node.op("tf.Maximum", &[behind, zero], &[])?, None)
        }
    };
    let mut bucket = bucket(node, distance, buckets, farthest)?;
    if let Some(first) = first {
        bucket = node.op("tf.AddV2", &[bucket, first], &[])?;
    }
    let biases = node.op("tf.GatherV2", &[table, bucket, zero], &[])?;
    let biases = node.transpose(biases, &[2, 0, 1])?;
    Ok(vec![node.op("tf.ExpandDims", &[biases, zero], &[])?])
}

/// The buckets of distances that are not negative.
fn bucket(node: &mut Node<'_, '_>, distance: ValueId, buckets: i64, farthest: i64) -> Imported<ValueId> {
    let exact = buckets / 2;
    if exact < 1 || farthest <= exact {
        return Err(format!("{buckets} buckets do not suit distances below {farthest}").into());
    }
    let [bound, last] = [exact, buckets - 1].map(|number| node.add_integer(number));
    let (bound, last) = (bound?, last?);
    let is_near = node.op("tf.Less", &[distance, bound], &[])?;
    // Those below have an own bucket, so that what they give here does not matter.
    let far = node.op("tf.Maximum", &[distance, bound], &[])?;
    let far = node.cast(far, DType::F32)?;
    let unit = node.add_number_like(far, 1.0 / exact as f64)?;
    let ratio = node.op("tf.Mul", &[far, unit], &[])?;
    let logarithm = node.op("tf.Log", &[ratio], &[])?;
    let scale = (buckets - exact) as f64 / (farthest as f64 / exact as f64).ln();
    let scale = node.add_number_like(far, scale)?;
    let steps = node.op("tf.Mul", &[logarithm, scale], &[])?;
    let steps = node.cast(steps, DType::I64)?;
    let far = node.op("tf.AddV2", &[steps, bound], &[])?;
    let far = node.op("tf.Minimum", &[far, last], &[])?;
    node.op("tf.SelectV2", &[is_near, distance, far], &[])
}

/// Biases of positions, each row of each head with a factor that its query gives. WavLM: Chen et
/// al. 2022.
fn gated_bias(node: &mut Node<'_, '_>) -> Imported {
    let (x, query_bias, biases) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let (weights, bias, factors) = (node.input(3)?, node.input(4)?, node.input(5)?);
    if node.optional(6).is_some() || node.rank(x)? != 3 {
        return Err("rows without padding are not supported".into());
    }
    let heads = head_count(node, "num_heads")?;
    let size = known_extent(node, weights, 0, "the size of heads")?;
    let x = node.op("tf.AddV2", &[x, query_bias], &[])?;
    let dims = [Extent::Of(x, 0), Extent::Of(x, 1), Extent::Number(heads), Extent::Number(size)];
    let x = reshape(node, x, &dims)?;
    let x = node.transpose(x, &[0, 2, 1, 3])?;
    let gates = node.standard("MatMul", &[Some(x), Some(weights)], Vec::new(), 1)?[0];
    let gates = node.op("tf.AddV2", &[gates, bias], &[])?;
    let columns = known_extent(node, gates, 3, "the number of gates")?;
    let dims: Vec<_> = (0..3).map(|axis| Extent::Of(gates, axis)).collect();
    let dims = [dims, vec![Extent::Number(2), Extent::Number(columns / 2)]].concat();
    let gates = reshape(node, gates, &dims)?;
    let axes = node.add_integers(&[-1])?;
    let gates = node.op("tf.Sum", &[gates, axes], &[("keep_dims", Attribute::Bool(false))])?;
    let gates = node.op("tf.Sigmoid", &[gates], &[])?;
    let axis = node.add_integer(3)?;
    let gates = node.ops("tf.Split", &[axis, gates], &[("num_split", Attribute::i64(2))], 2)?;
    let (one, two) = (node.add_number_like(x, 1.0)?, node.add_number_like(x, 2.0)?);
    let reset = node.op("tf.Mul", &[gates[1], factors], &[])?;
    let reset = node.op("tf.Sub", &[reset, one], &[])?;
    let gate = node.op("tf.Mul", &[gates[0], reset], &[])?;
    let gate = node.op("tf.AddV2", &[gate, two], &[])?;
    Ok(vec![node.op("tf.Mul", &[gate, biases], &[])?])
}

/// Queries and keys, each with its rotation by a quarter, rotated by angles.
fn rotate_by_angles(node: &mut Node<'_, '_>) -> Imported {
    let (angles, dtype) = (node.input(0)?, node.dtype(node.input(1)?)?);
    let tables = ["tf.Cos", "tf.Sin"].map(|op| {
        let table = node.op(op, &[angles], &[])?;
        let (table, axis) = (node.cast(table, dtype)?, node.add_integer(1)?);
        node.op("tf.ExpandDims", &[table, axis], &[])
    });
    let [cosines, sines] = tables;
    let (cosines, sines) = (cosines?, sines?);
    let rotated = [[1, 2], [3, 4]].map(|[x, turned]| {
        let (x, turned) = (node.input(x)?, node.input(turned)?);
        let (x, turned) = (node.op("tf.Mul", &[x, cosines], &[])?, node.op("tf.Mul", &[turned, sines], &[])?);
        node.op("tf.AddV2", &[x, turned], &[])
    });
    rotated.into_iter().collect()
}

/// Rotary positions of three kinds: time, height and width. Each pair of a head's elements is
/// rotated by the angle of one of them.
fn rotate_by_three(node: &mut Node<'_, '_>) -> Imported {
    if node.flag("is_packed_batching")? || node.float_or("scale", 1.0)? != 1.0 {
        return Err("packed rows and a scale are not supported".into());
    }
    let (x, places) = (node.input(0)?, node.input(1)?);
    let sections = node.ints("mrope_section")?.unwrap_or_default();
    let &[time, height, width] = &sections[..] else {
        return Err("attribute 'mrope_section' must have three integers".into());
    };
    let half = known_extent(node, node.input(2)?, 1, "the extent of the table of cosines")?;
    let fits = (0..=MAX_PAIRS).contains(&half) && sections.iter().all(|count| (0..=half).contains(count));
    if !fits || time + height + width != half {
        return Err(format!("sections {sections:?} do not add up to {half} pairs").into());
    }
    let kind = |pair: i64| match node.int_or("mrope_layout", 0) {
        Ok(0) => Ok(i64::from(pair >= time) + i64::from(pair >= time + height)),
        Ok(1) if pair % 3 == 1 && pair < height * 3 => Ok(1),
        Ok(1) if pair % 3 == 2 && pair < width * 3 => Ok(2),
        Ok(1) => Ok(0),
        Ok(other) => Err(format!("attribute 'mrope_layout' must be 0 or 1, and is {other}").into()),
        Err(error) => Err(error),
    };
    let kinds: Vec<i64> = (0..half).map(kind).collect::<Imported<_>>()?;
    let tables = [2, 3].map(|table| {
        let (table, zero) = (node.input(table)?, node.add_integer(0)?);
        // Kinds, batch, steps and pairs: of each pair the row of its kind is taken.
        let rows = node.op("tf.GatherV2", &[table, places, zero], &[])?;
        let rows = node.transpose(rows, &[0, 3, 1, 2])?;
        let pairs: Vec<i64> =
            kinds.iter().enumerate().flat_map(|(pair, &kind)| [kind, pair as i64]).collect();
        let pairs = node.builder().add_elements(&[kinds.len(), 2], &pairs)?;
        let rows = node.op("tf.GatherNd", &[rows, pairs], &[])?;
        node.transpose(rows, &[1, 2, 0])
    });
    let [cosines, sines] = tables;
    let heads = match node.rank(x)? {
        4 => known_extent(node, x, 1, "the number of heads")?,
        _ => node.int_or("num_heads", 0)?,
    };
    let size = match node.rank(x)? {
        4 => known_extent(node, x, 3, "the size of heads")?,
        _ if heads > 0 => known_extent(node, x, 2, "the extent of rows")? / heads,
        _ => half * 2,
    };
    let heads = if heads > 0 { heads } else { known_extent(node, x, 2, "the extent of rows")? / size.max(1) };
    let attributes = vec![
        int("interleaved", node.int_or("interleaved", 0)?),
        int("rotary_embedding_dim", if half * 2 < size { half * 2 } else { 0 }),
        int("num_heads", heads),
    ];
    node.standard("RotaryEmbedding", &[Some(x), Some(cosines?), Some(sines?)], attributes, 1)
}
