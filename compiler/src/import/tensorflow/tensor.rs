//! Constant tensors of TensorFlow's files, and its data types and shapes.

use bytes::Bytes;
use tfrt_host::{DType, host_buffer::HostBuffer};
use tfrt_tensor::{HostTensor, SharedAllocator, StringHostTensor, TensorMetadata, TensorShape, bf16, f16};

use super::proto::{TensorProto, TensorShapeProto};
use crate::{
    Dims,
    attributes::{tensor_in_place, tensor_of_bytes},
};

/// The number of the type of resources.
pub(super) const RESOURCE: i32 = 20;
/// Constants that are one value everywhere are written out up to this many bytes.
const MAX_SPLAT_BYTES: usize = 1 << 30;

/// The data type that a number of TensorFlow's `DataType` stands for.
pub(super) fn dtype(number: i32) -> Result<DType, String> {
    Ok(match number {
        1 => DType::F32,
        2 => DType::F64,
        3 => DType::I32,
        4 => DType::UI8,
        5 => DType::I16,
        6 => DType::I8,
        7 => DType::String,
        8 => DType::Complex64,
        9 => DType::I64,
        10 => DType::I1,
        14 => DType::BF16,
        17 => DType::UI16,
        18 => DType::Complex128,
        19 => DType::F16,
        22 => DType::UI32,
        23 => DType::UI64,
        // Quantized elements are integers whose range is given beside them.
        11 => DType::I8,
        12 => DType::UI8,
        13 => DType::I32,
        15 => DType::I16,
        16 => DType::UI16,
        RESOURCE => return Err("a resource is not a tensor".to_owned()),
        21 => return Err("a variant is not a tensor".to_owned()),
        24..=28 => return Err("8-bit floating-point elements are not supported".to_owned()),
        29 | 30 => return Err("4-bit integer elements are not supported".to_owned()),
        100..=130 => return Err("references are not supported as values".to_owned()),
        other => return Err(format!("{other} is not a data type of TensorFlow that is supported")),
    })
}

/// What a shape says; a missing one says nothing.
pub(super) fn dims(shape: Option<&TensorShapeProto>) -> Dims {
    let shape = shape.filter(|shape| !shape.unknown_rank)?;
    Some(shape.dim.iter().map(|dim| u64::try_from(dim.size).ok()).collect())
}

/// A shape whose extents are all known.
pub(super) fn full_shape(shape: Option<&TensorShapeProto>) -> Result<TensorShape, String> {
    let Some(shape) = shape else { return Ok(TensorShape::scalar()) };
    let extents = shape.dim.iter().map(|dim| usize::try_from(dim.size)).collect::<Result<Vec<_>, _>>();
    let extents = extents.map_err(|_| "a constant has an unknown or negative extent".to_owned())?;
    if shape.unknown_rank {
        return Err("a constant has an unknown shape".to_owned());
    }
    TensorShape::new(&extents).map_err(|error| error.message)
}

/// How many bytes a tensor takes whose elements its file does not hold one by one.
pub(super) fn expanded_bytes(proto: &TensorProto) -> Result<usize, String> {
    if !proto.tensor_content.is_empty() {
        return Ok(0);
    }
    let shape = full_shape(proto.tensor_shape.as_ref())?;
    let size = dtype(proto.dtype)?.size().unwrap_or(size_of::<String>());
    Ok(shape.num_elements().map_err(|error| error.message)?.saturating_mul(size))
}

/// The tensor. Its elements stay where they are if they are aligned.
pub(super) fn read(proto: &TensorProto, allocator: &SharedAllocator) -> Result<HostTensor, String> {
    let dtype = dtype(proto.dtype)?;
    let shape = full_shape(proto.tensor_shape.as_ref())?;
    let count = shape.num_elements().map_err(|error| error.message)?;
    if dtype == DType::String {
        return strings(&proto.string_val, shape, count);
    }
    let metadata = TensorMetadata { dtype, shape };
    if !proto.tensor_content.is_empty() {
        return tensor_in_place(metadata, HostBuffer::from_readonly(proto.tensor_content.clone()), allocator)
            .map(HostTensor::from);
    }
    let bytes = expanded(typed_data(proto, dtype), dtype, count)?;
    tensor_of_bytes(metadata, &bytes, allocator).map(HostTensor::from).map_err(|error| error.message)
}

/// A string of a file, which must be UTF-8.
pub(super) fn text(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "a string is not valid UTF-8".to_owned())
}

/// Strings; where fewer are given than there are elements, the last one is repeated.
fn strings(given: &[Bytes], shape: TensorShape, count: usize) -> Result<HostTensor, String> {
    check_count(given.len(), count, size_of::<String>())?;
    let mut strings: Vec<_> = given.iter().map(|bytes| bytes.to_vec()).collect();
    let last = strings.last().cloned().unwrap_or_default();
    strings.resize(count, last);
    StringHostTensor::new(shape, strings).map(HostTensor::from).map_err(|error| error.message)
}

/// An error if more elements are given than a constant has, or repeating them would take too much
/// memory.
fn check_count(given: usize, count: usize, size: usize) -> Result<(), String> {
    if given > count {
        return Err(format!("{given} elements are given for {count}"));
    }
    if given < count && count.saturating_mul(size) > MAX_SPLAT_BYTES {
        return Err(format!("a constant of {count} repeated elements is too large"));
    }
    Ok(())
}

/// The bytes of elements of which the last is repeated up to their number; all are zero if none is
/// given.
fn expanded(mut bytes: Vec<u8>, dtype: DType, count: usize) -> Result<Vec<u8>, String> {
    let size = dtype.size().unwrap_or(1);
    check_count(bytes.len() / size, count, size)?;
    let last = match bytes.len() {
        0 => vec![0; size],
        len => bytes[len - size..].to_vec(),
    };
    let missing = count - bytes.len() / size;
    bytes.try_reserve_exact(missing * size).map_err(|_| "a constant does not fit memory".to_owned())?;
    for _ in 0..missing {
        bytes.extend_from_slice(&last);
    }
    Ok(bytes)
}

/// The elements in the list for their data type, in memory form.
fn typed_data(proto: &TensorProto, dtype: DType) -> Vec<u8> {
    let ints = &proto.int_val;
    macro_rules! narrowed {
        ($type:ty) => {
            ints.iter().flat_map(|&value| (value as $type).to_le_bytes()).collect()
        };
    }
    match dtype {
        DType::F32 => bytemuck::cast_slice(&proto.float_val).to_vec(),
        DType::F64 => bytemuck::cast_slice(&proto.double_val).to_vec(),
        DType::Complex64 => whole(bytemuck::cast_slice(&proto.scomplex_val), 8),
        DType::Complex128 => whole(bytemuck::cast_slice(&proto.dcomplex_val), 16),
        DType::I64 => bytemuck::cast_slice(&proto.int64_val).to_vec(),
        DType::UI64 => bytemuck::cast_slice(&proto.uint64_val).to_vec(),
        DType::UI32 => bytemuck::cast_slice(&proto.uint32_val).to_vec(),
        DType::I32 => bytemuck::cast_slice(ints).to_vec(),
        DType::I8 => narrowed!(i8),
        DType::UI8 => narrowed!(u8),
        DType::I16 => narrowed!(i16),
        DType::UI16 => narrowed!(u16),
        DType::I1 => proto.bool_val.iter().map(|&value| u8::from(value)).collect(),
        // Halves are given by their bits.
        DType::F16 => {
            let halves = proto.half_val.iter();
            halves.flat_map(|&bits| f16::from_bits(bits as u16).to_le_bytes()).collect()
        }
        DType::BF16 => {
            let halves = proto.half_val.iter();
            halves.flat_map(|&bits| bf16::from_bits(bits as u16).to_le_bytes()).collect()
        }
        _ => Vec::new(),
    }
}

/// The bytes without what is left of an element at the end.
fn whole(bytes: &[u8], size: usize) -> Vec<u8> {
    bytes[..bytes.len() / size * size].to_vec()
}
