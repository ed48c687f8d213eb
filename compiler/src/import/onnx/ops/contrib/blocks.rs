//! Matrices of a few bits for each element, with a scale for each block of a row.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::Accessor;

use super::Family;
use crate::import::onnx::{
    node::{ImportError, Imported, Node},
    ops::{
        dims::known_extent,
        shape::{extents, shape_of},
    },
};

pub(super) const OPS: Family =
    &[("GatherBlockQuantized", gather), ("MatMulBnb4", coded_product), ("MatMulNBits", product)];

/// The numbers of codes of 4 bits with a sign, an exponent and a fraction, as bitsandbytes has
/// them.
const FP4: [f32; 8] = [0.0, 0.005_208_333_5, 0.666_666_7, 1.0, 0.333_333_34, 0.5, 0.166_666_67, 0.25];
/// The numbers of NF4's codes: quantiles of the normal distribution, Dettmers et al. 2023, appendix
/// E.
const NF4: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

static READ: Accessor = Accessor::new("the ONNX importer");

/// The bytes of an input that is a constant.
fn bytes(node: &Node<'_, '_>, value: ValueId, what: &str) -> Imported<Vec<u8>> {
    let tensor = node.constant(value).ok_or_else(|| ImportError(format!("{what} must be a constant")))?;
    Ok(tensor.dense()?.read_bytes(&READ)?.to_vec())
}

/// Rows of elements that are packed into bytes, the first one in the lowest bits; each row begins
/// with a byte.
fn unpacked(bytes: &[u8], rows: usize, columns: usize, bits: usize) -> Imported<Vec<u8>> {
    let (per_byte, mask) = (8 / bits, u8::MAX >> (8 - bits));
    let stride = columns.div_ceil(per_byte);
    if Some(bytes.len()) != rows.checked_mul(stride) {
        let message =
            format!("{} bytes do not hold {rows} rows of {columns} elements of {bits} bits", bytes.len());
        return Err(ImportError(message));
    }
    let element = |row: usize, column: usize| {
        (bytes[row * stride + column / per_byte] >> (column % per_byte * bits)) & mask
    };
    Ok((0..rows).flat_map(|row| (0..columns).map(move |column| element(row, column))).collect())
}

fn extent(node: &Node<'_, '_>, name: &str) -> Imported<usize> {
    let value = node.int(name)?.and_then(|value| usize::try_from(value).ok()).filter(|&value| value > 0);
    value.ok_or_else(|| ImportError(format!("attribute '{name}' must be positive")))
}

fn bits_of(node: &Node<'_, '_>) -> Imported<usize> {
    match node.int_or("bits", 4)? {
        bits @ (2 | 4 | 8) => Ok(bits as usize),
        other => Err(format!("elements of {other} bits are not supported").into()),
    }
}

/// `a * b^T`, where the rows of `b` are divided into blocks.
fn product(node: &mut Node<'_, '_>) -> Imported {
    let (rows, columns) = (extent(node, "N")?, extent(node, "K")?);
    let (block, bits) = (extent(node, "block_size")?, bits_of(node)?);
    let (a, scales) = (node.input(0)?, node.input(2)?);
    let dtype = node.dtype(a)?;
    let zeros = node.optional(3);
    let are_packed = match zeros {
        Some(zeros) => node.dtype(zeros)? == DType::UI8,
        None => true,
    };
    if !are_packed || node.optional(4).is_some() {
        let weights = dequantized(node, [rows, columns], (block, bits))?;
        let weights = node.cast(weights, dtype)?;
        let weights = node.transpose(weights, &[1, 0])?;
        let y = node.standard("MatMul", &[Some(a), Some(weights)], Vec::new(), 1)?[0];
        return Ok(vec![match node.optional(5) {
            Some(bias) => node.op("tf.AddV2", &[y, bias], &[])?,
            None => y,
        }]);
    }
    let matrix = node.input(1)?;
    let found = known_extent(node, matrix, 0, "the number of columns")?;
    if found != rows as i64 {
        return Err(format!("the matrix has {found} columns instead of {rows}").into());
    }
    let wide = [Some(a), Some(scales), node.optional(5)].map(|x| x.map(|x| node.cast(x, DType::F32)));
    let [a, scales, bias] = wide;
    let operands = [a.transpose()?, Some(matrix), scales.transpose()?, zeros, bias.transpose()?];
    // The level of integers of 8 bits.
    let is_rounded = node.int_or("accuracy_level", 0)? == 4;
    let attributes = [
        ("bits", Attribute::i64(bits as i64)),
        ("block_size", Attribute::i64(block as i64)),
        ("rounded", Attribute::Bool(is_rounded)),
    ];
    let y = node.onnx_ops("tfrt.NarrowMatMul", &operands, &attributes, 1)?[0];
    Ok(vec![node.cast(y, dtype)?])
}

/// The matrix `b` of a product as numbers, whose zeros are no integers, or whose columns belong to
/// blocks in any order.
fn dequantized(
    node: &mut Node<'_, '_>,
    [rows, columns]: [usize; 2],
    (block, bits): (usize, usize),
) -> Imported<ValueId> {
    let blocks = columns.div_ceil(block);
    let packed = bytes(node, node.input(1)?, "a matrix of packed elements")?;
    let elements = unpacked(&packed, rows, blocks * block, bits)?;
    let whole = elements.chunks(blocks * block).flat_map(|row| row[..columns].iter().copied());
    let elements: Vec<u8> = whole.collect();
    let weights = node.builder().add_elements(&[rows, columns], &elements)?;
    let scales = node.reshape(node.input(2)?, &[rows as i64, blocks as i64])?;
    let dtype = node.dtype(scales)?;
    let zeros = match node.optional(3) {
        Some(zeros) if node.dtype(zeros)? != DType::UI8 => zeros,
        zeros => {
            let zeros = match zeros {
                Some(zeros) => unpacked(&bytes(node, zeros, "zero points")?, rows, blocks, bits)?,
                None => vec![1 << (bits - 1); rows * blocks],
            };
            let zeros = node.builder().add_elements(&[rows, blocks], &zeros)?;
            node.cast(zeros, dtype)?
        }
    };
    let zeros = node.reshape(zeros, &[rows as i64, blocks as i64])?;
    let of_columns = match node.optional(4) {
        Some(blocks) => blocks,
        None => {
            let blocks: Vec<i64> = (0..columns).map(|column| (column / block) as i64).collect();
            node.add_integers(&blocks)?
        }
    };
    let axis = node.add_integer(1)?;
    let zeros = node.op("tf.GatherV2", &[zeros, of_columns, axis], &[])?;
    let scales = node.op("tf.GatherV2", &[scales, of_columns, axis], &[])?;
    let weights = node.cast(weights, dtype)?;
    let difference = node.op("tf.Sub", &[weights, zeros], &[])?;
    node.op("tf.Mul", &[difference, scales], &[])
}

/// `a * b^T`, or `a * b`, where codes of 4 bits stand for the elements of `b`, the first one in a
/// byte's upper bits, and blocks of them have a factor.
fn coded_product(node: &mut Node<'_, '_>) -> Imported {
    let (rows, columns, block) = (extent(node, "N")?, extent(node, "K")?, extent(node, "block_size")?);
    let table = match node.int_or("quant_type", 1)? {
        0 => std::array::from_fn(|code| if code < 8 { FP4[code] } else { -FP4[code - 8] }),
        1 => NF4,
        other => return Err(format!("attribute 'quant_type' must be 0 or 1, and is {other}").into()),
    };
    let (a, factors) = (node.input(0)?, node.input(2)?);
    let packed = bytes(node, node.input(1)?, "a matrix of codes")?;
    let factors = node.cast(factors, DType::F32)?;
    let factors = node.constant(factors).ok_or("the factors of blocks must be constants")?;
    let factors = factors.dense()?.read::<f32>(&READ)?.to_vec();
    let count = rows.saturating_mul(columns);
    if packed.len() != count.div_ceil(2) || factors.len() != count.div_ceil(block) {
        let message = format!(
            "{} bytes and {} factors do not hold {rows} times {columns} codes in blocks of {block}",
            packed.len(),
            factors.len()
        );
        return Err(ImportError(message));
    }
    let number = |place: usize| {
        let code = packed[place / 2] >> if place.is_multiple_of(2) { 4 } else { 0 } & 15;
        table[usize::from(code)] * factors[place / block]
    };
    let numbers: Vec<f32> = (0..count).map(number).collect();
    let dtype = node.dtype(a)?;
    let mut weights = node.builder().add_elements(&[rows, columns], &numbers)?;
    weights = node.cast(weights, dtype)?;
    if node.int_or("transB", 1)? != 0 {
        weights = node.transpose(weights, &[1, 0])?;
    }
    node.standard("MatMul", &[Some(a), Some(weights)], Vec::new(), 1)
}

/// Rows of a matrix, dequantized.
fn gather(node: &mut Node<'_, '_>) -> Imported {
    let (data, indices, scales) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let (rank, bits, block) = (node.rank(data)?, bits_of(node)?, node.int_or("block_size", 128)?);
    let axis = node.axis(node.int_or("quantize_axis", 1)?, rank)?;
    let gathered = node.axis(node.int_or("gather_axis", 0)?, rank)?;
    if axis + 1 != rank || gathered != 0 {
        return Err("blocks along another dimension than the last are not supported".into());
    }
    // Elements of a narrow type are unpacked already; bytes hold several of them.
    let is_packed = bits < 8 && node.narrow(data).is_none();
    let whole = |node: &mut Node<'_, '_>, value: ValueId, columns: usize| -> Imported<ValueId> {
        let dims = node.ty(value)?.static_dims().ok_or("packed elements must be constants")?;
        let dims: Vec<usize> = dims.iter().map(|&dim| usize::try_from(dim).unwrap_or(usize::MAX)).collect();
        let rows = dims[..dims.len() - 1].iter().product();
        let elements = unpacked(&bytes(node, value, "packed elements")?, rows, columns, bits)?;
        let mut to = dims.clone();
        to[dims.len() - 1] = columns;
        Ok(node.builder().add_elements(&to, &elements)?)
    };
    let (mut data, mut zeros) = (data, node.optional(3));
    let blocks = known_extent(node, scales, rank - 1, "the number of blocks")? as usize;
    if is_packed {
        let columns = known_extent(node, data, rank - 1, "the extent of rows")? as usize * (8 / bits);
        data = whole(node, data, columns)?;
        zeros = zeros.map(|zeros| whole(node, zeros, blocks)).transpose()?;
    }
    let zeros = match zeros {
        Some(zeros) => zeros,
        None => {
            let is_signed = node.dtype(data)? == DType::I8;
            let middle = if is_signed { 0.0 } else { f64::from(1u32 << (bits - 1)) };
            let shape = shape_of(node, scales)?;
            let middle = node.add_number_like(data, middle)?;
            node.op("tf.Fill", &[shape, middle], &[])?
        }
    };
    let attributes = [("axis", Attribute::i64(axis as i64)), ("block_size", Attribute::i64(block))];
    let first = node.add_integer(0)?;
    // Gathering first leaves only the rows that are needed to be dequantized.
    let rows = [data, scales, zeros].map(|table| {
        let flat = node.reshape(indices, &[-1])?;
        node.op("tf.GatherV2", &[table, flat, first], &[])
    });
    let [data, scales, zeros] = rows;
    let rows = node.op("onnx.DequantizeLinear", &[data?, scales?, zeros?], &attributes)?;
    let (own, rest) = (shape_of(node, indices)?, shape_of(node, rows)?);
    let rest = extents(node, rest, 1, rank)?;
    let to = node.op("tf.ConcatV2", &[own, rest, first], &[])?;
    Ok(vec![node.op("tf.Reshape", &[rows, to], &[])?])
}
