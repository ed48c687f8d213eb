//! Attributes of the IR as attributes of a call.

use tfrt_convert::{data_type, type_of};
use tfrt_eager::OpAttrs;
use tfrt_host::{DType, Diagnostic, host_buffer::HostBuffer, release_mapped_pages};
use tfrt_ir::{AttrDict, Attribute, DenseData, DenseElements, Type};
use tfrt_tensor::{
    DenseHostTensor, HostTensor, PartialTensorShape, SharedAllocator, TensorMetadata, TensorShape,
};

/// The attributes of an operation in the op graph, as its op reads them.
///
/// # Errors
/// InvalidArgument, naming an attribute that ops cannot have.
pub(crate) fn to_op_attrs(attributes: &AttrDict, allocator: &SharedAllocator) -> Result<OpAttrs, Diagnostic> {
    let mut attrs = OpAttrs::new();
    for (name, value) in attributes.iter() {
        set(&mut attrs, name, value, allocator)?;
    }
    Ok(attrs)
}

fn unsupported(name: &str, value: &Attribute) -> Diagnostic {
    Diagnostic::invalid_argument(format!("an op cannot have the attribute '{name}' = {value}"))
}

fn set(
    attrs: &mut OpAttrs,
    name: &str,
    value: &Attribute,
    allocator: &SharedAllocator,
) -> Result<(), Diagnostic> {
    let bad = || unsupported(name, value);
    match value {
        Attribute::Bool(value) => attrs.set(name, *value),
        Attribute::Integer { value: number, ty } => match data_type(ty) {
            Some(DType::I32) => attrs.set(name, i32::try_from(*number).map_err(|_| bad())?),
            Some(DType::I64) => attrs.set(name, i64::try_from(*number).map_err(|_| bad())?),
            _ => Err(bad()),
        },
        Attribute::Float { bits, ty } => match data_type(ty) {
            Some(DType::F32) => attrs.set(name, f32::from_bits(*bits as u32)),
            Some(DType::F64) => attrs.set(name, f64::from_bits(*bits)),
            _ => Err(bad()),
        },
        Attribute::String(_) => attrs.set_string(name, value.as_str().ok_or_else(bad)?),
        Attribute::Type(ty) => attrs.set_type(name, data_type(ty).ok_or_else(bad)?),
        Attribute::Array(elements) => set_array(attrs, name, elements).unwrap_or_else(|| Err(bad())),
        Attribute::Dense(dense) => attrs.set_dense(name, dense_tensor(dense, allocator)?),
        Attribute::Dialect(_) => {
            let dims = crate::shapes::parse_shape_attribute(value).ok_or_else(bad)?;
            let shape = match dims {
                None => PartialTensorShape::unranked(),
                Some(dims) => PartialTensorShape::ranked(&dims)?,
            };
            attrs.set_shape(name, shape)
        }
        _ => Err(bad()),
    }
}

/// Sets an array of numbers or of strings; `None` for other arrays.
fn set_array(attrs: &mut OpAttrs, name: &str, elements: &[Attribute]) -> Option<Result<(), Diagnostic>> {
    if elements.iter().all(|element| matches!(element, Attribute::Float { .. })) && !elements.is_empty() {
        let values: Vec<f32> =
            elements.iter().map(|element| Some(element.as_f64()? as f32)).collect::<Option<_>>()?;
        return Some(attrs.set_array(name, &values));
    }
    if elements.iter().all(|element| matches!(element, Attribute::String(_))) && !elements.is_empty() {
        let values = elements.iter().map(Attribute::as_str).collect::<Option<Vec<_>>>()?;
        return Some(attrs.set_strings(name, values));
    }
    let values: Vec<i64> =
        elements.iter().map(|element| i64::try_from(element.as_int()?).ok()).collect::<Option<_>>()?;
    Some(attrs.set_array(name, &values))
}

/// A tensor of numbers as an attribute; `None` for tensors without a dense form.
pub(crate) fn dense_attribute(tensor: &HostTensor) -> Option<Attribute> {
    static READ: tfrt_tensor::Accessor = tfrt_tensor::Accessor::new("constants as attributes");
    let dense = tensor.dense().ok()?;
    let dims: Vec<u64> = dense.shape().dims().iter().map(|&dim| dim as u64).collect();
    let bytes = dense.read_bytes(&READ).ok()?;
    let elements = DenseElements::numbers(Type::tensor(&dims, type_of(dense.dtype())), &bytes).ok()?;
    Some(Attribute::Dense(elements.into()))
}

/// Dense elements of numbers as a tensor.
///
/// # Errors
/// InvalidArgument for elements without a plain memory form; OutOfMemory.
pub(crate) fn dense_tensor(
    dense: &DenseElements,
    allocator: &SharedAllocator,
) -> Result<DenseHostTensor, Diagnostic> {
    let bad =
        || Diagnostic::invalid_argument(format!("cannot make a tensor of elements of type {}", dense.ty()));
    if matches!(dense.data(), DenseData::Strings(_)) {
        return Err(bad());
    }
    let dtype = data_type(dense.element_type()).ok_or_else(bad)?;
    let dims = dense.shape().into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
    let shape = TensorShape::new(&dims.map_err(|_| bad())?)?;
    let bytes = dense.to_bytes().ok_or_else(bad)?;
    tensor_of_bytes(TensorMetadata { dtype, shape }, &bytes, allocator)
}

/// A tensor with a copy of these bytes as its elements.
///
/// # Errors
/// InvalidArgument if there are more or fewer than its elements take; OutOfMemory.
pub(crate) fn tensor_of_bytes(
    metadata: TensorMetadata,
    bytes: &[u8],
    allocator: &SharedAllocator,
) -> Result<DenseHostTensor, Diagnostic> {
    static MAKE: tfrt_tensor::Accessor = tfrt_tensor::Accessor::new("constants of the compiler");
    if metadata.size_bytes()? != bytes.len() {
        let message = format!("{} bytes are not the elements of a tensor {metadata}", bytes.len());
        return Err(Diagnostic::invalid_argument(message));
    }
    let tensor = DenseHostTensor::allocate(metadata, allocator)?;
    tensor.write_bytes(&MAKE)?.copy_from_slice(bytes);
    Ok(tensor)
}

/// How many bytes of a mapped file are copied before their pages are released.
const COPIED_BYTES: usize = 8 << 20;

/// A tensor over the buffer, or over a copy if the buffer is not aligned.
///
/// # Errors
/// A buffer of another size; no memory.
pub(crate) fn tensor_in_place(
    metadata: TensorMetadata,
    buffer: HostBuffer,
    allocator: &SharedAllocator,
) -> Result<DenseHostTensor, String> {
    static READ: tfrt_tensor::Accessor = tfrt_tensor::Accessor::new("constants of a model");
    let size = metadata.size_bytes().map_err(|error| error.message)?;
    if buffer.len() != size {
        return Err(format!("a tensor {metadata} takes {size} bytes, and {} are given", buffer.len()));
    }
    // Truth values are kept as 0 and 1, which a file may hold otherwise.
    let is_plain = metadata.dtype != DType::I1;
    let align = metadata.dtype.size().unwrap_or(1).min(8);
    if is_plain && buffer.as_ptr().addr().is_multiple_of(align) {
        return DenseHostTensor::from_buffer(metadata, buffer).map_err(|error| error.message);
    }
    let copy = || {
        let bytes = DenseHostTensor::from_buffer(TensorMetadata::new(DType::UI8, [buffer.len()]), buffer)?;
        let bytes = bytes.read::<u8>(&READ)?;
        let tensor = DenseHostTensor::allocate_unset(metadata, allocator)?;
        let mut out = tensor.write_bytes(&READ)?;
        // Piece by piece, so that a large tensor is not in memory twice.
        for (out, bytes) in out.chunks_mut(COPIED_BYTES).zip(bytes.chunks(COPIED_BYTES)) {
            match is_plain {
                true => out.copy_from_slice(bytes),
                false => out.iter_mut().zip(bytes).for_each(|(out, &byte)| *out = u8::from(byte != 0)),
            }
            release_mapped_pages(bytes);
        }
        drop(out);
        Ok(tensor)
    };
    copy().map_err(|error: Diagnostic| error.message)
}
