//! Whole tensors as messages `TensorProto`.

use bstr::BString;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, HostTensor, StringHostTensor, TensorShape, with_element};

use super::string_bytes::of_bytes;
use super::strings::string;
use super::support::{Computed, invalid, take, unsupported};
use super::types;
use super::wire::{Field, Fields, push_bytes, push_varint, varint};
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

static ME: Accessor = Accessor::new("tf.SerializeTensor");

/// TensorFlow's number of a data type.
fn type_number(dtype: DType) -> Option<u64> {
    TYPES.iter().find(|known| known.1 == dtype).map(|known| known.0)
}

const TYPES: [(u64, DType); 16] = [
    (1, DType::F32),
    (2, DType::F64),
    (3, DType::I32),
    (4, DType::UI8),
    (5, DType::I16),
    (6, DType::I8),
    (7, DType::String),
    (8, DType::Complex64),
    (9, DType::I64),
    (10, DType::I1),
    (14, DType::BF16),
    (17, DType::UI16),
    (18, DType::Complex128),
    (19, DType::F16),
    (22, DType::UI32),
    (23, DType::UI64),
];

/// A tensor as a message `TensorProto`.
pub(super) fn message_of(x: &HostTensor) -> Result<Vec<u8>, Diagnostic> {
    let number = type_number(x.dtype()).ok_or_else(|| unsupported("tf.SerializeTensor", x.dtype()))?;
    let (mut message, mut shape) = (Vec::new(), Vec::new());
    push_varint(&mut message, 1 << 3);
    push_varint(&mut message, number);
    for &dim in x.shape().dims() {
        let mut extent = Vec::new();
        if dim != 0 {
            push_varint(&mut extent, 1 << 3);
            push_varint(&mut extent, dim as u64);
        }
        push_bytes(&mut shape, 2, &extent);
    }
    push_bytes(&mut message, 2, &shape);
    match x {
        HostTensor::String(texts) => {
            texts.strings().iter().for_each(|text| push_bytes(&mut message, 8, text))
        }
        x => with_element!(x.dtype(), |T| {
            let elements = x.dense()?.read::<T>(&ME)?;
            if !elements.is_empty() {
                push_bytes(&mut message, 4, bytemuck::cast_slice(&elements));
            }
        }, else return Err(unsupported("tf.SerializeTensor", x.dtype()))),
    }
    Ok(message)
}

/// The extents in a message `TensorShapeProto`.
fn extents(message: &[u8]) -> Result<Vec<usize>, Diagnostic> {
    let (mut fields, mut dims) = (Fields::new(message), Vec::new());
    while let Some(field) = fields.next()? {
        if let (2, Field::Bytes(dim)) = field {
            let (mut parts, mut size) = (Fields::new(dim), 0);
            while let Some(part) = parts.next()? {
                if let (1, Field::Number(extent)) = part {
                    size = usize::try_from(extent as i64).map_err(|_| invalid("an extent is negative"))?;
                }
            }
            dims.push(size);
        }
    }
    Ok(dims)
}

/// The numbers of a field for one type of numbers, in memory form.
fn listed(dtype: DType, field: Field<'_>, bytes: &mut Vec<u8>) -> Result<(), Diagnostic> {
    match field {
        Field::Four(four) => bytes.extend(four),
        Field::Eight(eight) => bytes.extend(eight),
        Field::Number(number) => bytes.extend(&number.to_le_bytes()[..dtype.size().unwrap_or(8).min(8)]),
        Field::Bytes(packed)
            if matches!(dtype, DType::F32 | DType::F64 | DType::Complex64 | DType::Complex128) =>
        {
            bytes.extend_from_slice(packed);
        }
        Field::Bytes(mut packed) => {
            while !packed.is_empty() {
                listed(dtype, Field::Number(varint(&mut packed)?), bytes)?;
            }
        }
    }
    Ok(())
}

/// A tensor of a message `TensorProto`, which must be of the type that is asked for.
pub(super) fn tensor_of(call: &CpuCall<'_>, message: &[u8], dtype: DType) -> Result<HostTensor, Diagnostic> {
    let (mut found, mut dims, mut bytes, mut texts) = (0, Vec::new(), Vec::new(), Vec::new());
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        match field {
            (1, Field::Number(number)) => found = number,
            (2, Field::Bytes(shape)) => dims = extents(shape)?,
            (4, Field::Bytes(content)) => bytes = content.to_vec(),
            (8, Field::Bytes(text)) => texts.push(BString::from(text)),
            (5 | 6 | 7 | 9 | 10 | 11 | 12 | 13 | 16 | 17, field) => listed(dtype, field, &mut bytes)?,
            _ => {}
        }
    }
    if type_number(dtype) != Some(found) {
        return Err(invalid(format!(
            "Type mismatch between parsed tensor (type {found}) and dtype ({dtype})"
        )));
    }
    let elements = TensorShape::new(&dims)?.num_elements()?;
    if dtype == DType::String {
        let last = texts.last().cloned().unwrap_or_default();
        texts
            .try_reserve(elements.saturating_sub(texts.len()))
            .map_err(|_| invalid("the tensor does not fit memory"))?;
        texts.resize(elements.max(texts.len()), last);
        return Ok(StringHostTensor::new(TensorShape::new(&dims)?, texts)?.into());
    }
    // Fewer values than elements: the last one is repeated.
    let size = dtype.size().unwrap_or(1);
    let last = bytes.len().checked_sub(size).map_or_else(|| vec![0; size], |start| bytes[start..].to_vec());
    let total = elements.saturating_mul(size);
    bytes
        .try_reserve(total.saturating_sub(bytes.len()))
        .map_err(|_| invalid("the tensor does not fit memory"))?;
    while bytes.len() < total {
        bytes.extend_from_slice(&last);
    }
    of_bytes(call, dtype, &dims, &bytes)
}

fn serialize(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    Ok(StringHostTensor::new(TensorShape::scalar(), vec![message_of(x)?])?.into())
}

fn parse(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    Ok(tensor_of(call, string(x, "serialized", 0)?, call.attrs.required("out_type")?)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.SerializeTensor")
        .types(types::ANY)
        .results([ResultType::is(DType::String).rank(0)])
        .cpu(|call| serialize(&call))
        .forms(Forms::STRING);
    ops.add("tf.ParseTensor")
        .types(types::ANY)
        .attrs([attr::dtype("out_type")])
        .results([ResultType::named("out_type")])
        .cpu(|call| parse(&call))
        .forms(Forms::STRING);
}
