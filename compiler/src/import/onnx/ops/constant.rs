//! Constants.

use tfrt_host::DType;
use tfrt_tensor::{DenseHostTensor, HostTensor, StringHostTensor, TensorMetadata, TensorShape};

use super::Family;
use crate::import::onnx::{
    Importer, narrow,
    node::{ImportError, Imported, Node},
    proto::SparseTensorProto,
};

pub(super) const OPS: Family =
    &[("Constant", constant), ("ConstantOfShape", constant_of_shape), ("Identity", identity)];

fn constant(node: &mut Node<'_, '_>) -> Imported {
    let output = node.proto.output.first().cloned().unwrap_or_default();
    if let Some(tensor) = node.tensor("value")? {
        let value = node.builder().add_constant(&output, tensor);
        let attribute = node.proto.attribute.iter().find(|attribute| attribute.name == "value");
        let number = attribute.and_then(|attribute| attribute.t.as_ref()).map(|tensor| tensor.data_type);
        if let Some(narrow) = number.and_then(narrow::find) {
            node.set_narrow(value, narrow);
        }
        return Ok(vec![value]);
    }
    if let Some(value) = node.float("value_float")? {
        return Ok(vec![node.builder().add_elements(&[], &[value])?]);
    }
    if let Some(values) = node.floats("value_floats")? {
        return Ok(vec![node.builder().add_elements(&[values.len()], &values)?]);
    }
    if let Some(value) = node.int("value_int")? {
        return Ok(vec![node.add_integer(value)?]);
    }
    if let Some(values) = node.ints("value_ints")? {
        return Ok(vec![node.add_integers(&values)?]);
    }
    if let Some(value) = node.string("value_string")? {
        let tensor = StringHostTensor::new(TensorShape::new(&[])?, vec![value])?;
        return Ok(vec![node.builder().add_constant("", tensor)]);
    }
    if let Some(values) = node.strings("value_strings")? {
        let tensor = StringHostTensor::new([values.len()], values)?;
        return Ok(vec![node.builder().add_constant("", tensor)]);
    }
    let proto = node.proto;
    if let Some(attribute) = proto.attribute.iter().find(|attribute| attribute.name == "sparse_value")
        && let Some(sparse) = &attribute.sparse_tensor
    {
        let tensor = dense_of_sparse(node.importer, sparse)?;
        return Ok(vec![node.builder().add_constant(&output, tensor)]);
    }
    Err("the constant has no value".into())
}

/// A sparse tensor with all its zeros. Its indices are positions in row-major order, or a row of
/// coordinates for each value.
pub(crate) fn dense_of_sparse(
    importer: &mut Importer<'_>,
    sparse: &SparseTensorProto,
) -> Imported<HostTensor> {
    static MAKE: tfrt_tensor::Accessor = tfrt_tensor::Accessor::new("a sparse constant of an ONNX file");
    let missing = || ImportError("a sparse tensor lacks its values or indices".to_owned());
    let values = importer.tensors.read(sparse.values.as_ref().ok_or_else(missing)?)?;
    let indices = importer.tensors.read(sparse.indices.as_ref().ok_or_else(missing)?)?;
    let dims = sparse.dims.iter().map(|&dim| usize::try_from(dim)).collect::<Result<Vec<_>, _>>();
    let shape = TensorShape::new(&dims.map_err(|_| ImportError("a negative extent".to_owned()))?)?;
    let count = shape.num_elements()?;
    let (values, indices) = (values.dense()?, indices.dense()?);
    let size = values.dtype().size().ok_or_else(missing)?;
    let numbers = indices.read::<i64>(&MAKE)?;
    let width = numbers.len() / values.num_elements().max(1);
    let tensor = DenseHostTensor::allocate(
        TensorMetadata { dtype: values.dtype(), shape: shape.clone() },
        importer.evaluator.allocator(),
    )?;
    let bytes = values.read_bytes(&MAKE)?;
    let mut to = tensor.write_bytes(&MAKE)?;
    for (place, value) in numbers.chunks(width.max(1)).zip(bytes.chunks_exact(size)) {
        let position = match (place, indices.shape().rank()) {
            ([position], 1) => usize::try_from(*position).ok(),
            (coordinates, _) => {
                shape.dims().iter().zip(coordinates).try_fold(0usize, |at, (&dim, &coordinate)| {
                    let coordinate =
                        usize::try_from(coordinate).ok().filter(|&coordinate| coordinate < dim)?;
                    at.checked_mul(dim)?.checked_add(coordinate)
                })
            }
        };
        let position = position.filter(|&position| position < count);
        let position =
            position.ok_or_else(|| ImportError("an index of a sparse tensor is out of range".to_owned()))?;
        to[position * size..][..size].copy_from_slice(value);
    }
    drop(to);
    Ok(tensor.into())
}

/// A tensor of one value everywhere, zero of type f32 unless `value` says another one.
fn constant_of_shape(node: &mut Node<'_, '_>) -> Imported {
    let shape = node.input(0)?;
    let value = match node.tensor("value")? {
        Some(value) => {
            let value = node.builder().add_constant("", value);
            node.reshape(value, &[])?
        }
        None => node.builder().add_number(DType::F32, 0.0)?,
    };
    Ok(vec![node.op("tf.Fill", &[shape, value], &[])?])
}

fn identity(node: &mut Node<'_, '_>) -> Imported {
    Ok(vec![node.input(0)?])
}
