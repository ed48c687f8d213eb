//! `tfrt.NarrowMatMul`: products by a matrix of integers of 2, 4 or 8 bits, where each block of a
//! column has a scale, as ONNX Runtime's `MatMulNBits` has them.
//!
//! The operands are `a`, `matrix`, `scales`, and perhaps `zeros` and `bias`: rows of `f32`; for each
//! column of the matrix, its blocks of packed integers, the first one in the lowest bits; a scale for
//! each block of each column; the packed integers that stand for zero, each column's beginning with
//! a byte; and a number for each column.

use std::sync::Arc;

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{
    BlockOp, Element, NarrowInput, NarrowMatrix, NarrowPrecision, NarrowProduct, NarrowRows, NarrowScales,
    NarrowShape, NarrowZeros, ShapeError,
};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::onnx::arguments::{OPERANDS, dense, formal, optional_dense, required};
use super::support::{Computed, Described, invalid, one, product};
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tfrt.NarrowMatMul");

pub(super) const BITS: AttrSpec = attr::int("bits");
pub(super) const BLOCK: AttrSpec = attr::int("block_size");
/// Whether rows are rounded to bytes, block by block, which is faster.
pub(super) const ROUNDED: AttrSpec = attr::boolean_or("rounded", false);

/// Returns the extents of the matrix.
pub(super) fn shape_of(
    attrs: &OpAttrs,
    a: &TensorShape,
    matrix: &TensorShape,
) -> Result<NarrowShape, Diagnostic> {
    let (Some(&depth), Some(&cols)) = (a.dims().last(), matrix.dims().first()) else {
        return Err(invalid(format!("a and the matrix must not be scalars, got shapes {a} and {matrix}")));
    };
    let number = |spec: AttrSpec| {
        let value = attrs.required::<i64>(spec.name)?;
        usize::try_from(value)
            .map_err(|_| invalid(format!("{} must not be negative, got {value}", spec.name)))
    };
    NarrowShape::new([depth, cols], number(BLOCK)?, number(BITS)?).map_err(shape_error)
}

/// Returns how rows are held.
pub(super) fn precision(attrs: &OpAttrs) -> Result<NarrowPrecision, Diagnostic> {
    Ok(match attrs.optional::<bool>(ROUNDED.name)? {
        Some(true) => NarrowPrecision::Bytes,
        _ => NarrowPrecision::F32,
    })
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [a, matrix, scales, zeros, bias] = formal::<_, 5>(call.arguments, call.attrs)?;
    let (a, matrix) = (required(a, "a")?, required(matrix, "matrix")?);
    let shape = shape_of(call.attrs, &a.shape, &matrix.shape)?;
    let blocks = shape.cols() * shape.blocks();
    let given = [
        ("matrix", Some(matrix), shape.cols() * shape.column_bytes(), DType::UI8),
        ("scales", Some(required(scales, "scales")?), blocks, DType::F32),
        ("zeros", zeros, shape.cols() * shape.zero_bytes(), DType::UI8),
        ("bias", bias, shape.cols(), DType::F32),
    ];
    for (name, tensor, count, dtype) in given {
        let Some(tensor) = tensor else { continue };
        if tensor.dtype != dtype || tensor.shape.num_elements()? != count {
            let found = format!("shape {} of {}", tensor.shape, tensor.dtype);
            return Err(invalid(format!("{name} must have {count} elements of {dtype}, got {found}")));
        }
    }
    if a.dtype != DType::F32 {
        return Err(invalid(format!("a must be f32, got {}", a.dtype)));
    }
    let mut dims = a.shape.dims().to_vec();
    dims.pop();
    dims.push(shape.cols());
    one(TensorMetadata::new(DType::F32, TensorShape::new(&dims)?))
}

/// Returns what `make` lays out, which is kept with a constant.
pub(super) fn laid_out<T: Element + tfrt_tensor::Element, D: Send + Sync + 'static>(
    tensor: &DenseHostTensor,
    fits: impl FnOnce(&D) -> bool,
    make: impl FnOnce(&[T]) -> Result<D, ShapeError>,
) -> Result<Arc<D>, Diagnostic> {
    let elements = tensor.read::<T>(&ME)?;
    if tensor.buffer().is_writable() { make(&elements).map(Arc::new) } else { elements.derived(fits, make) }
        .map_err(shape_error)
}

fn multiply(call: &CpuCall<'_>) -> Computed {
    let [a, matrix, scales, zeros, bias] = formal::<&HostTensor, 5>(call.arguments, call.attrs)?;
    let (a, matrix, scales) = (dense(a, "a")?, dense(matrix, "matrix")?, dense(scales, "scales")?);
    let shape = shape_of(call.attrs, a.shape(), matrix.shape())?;
    let matrix = laid_out(
        matrix,
        |kept: &NarrowMatrix| *kept.shape() == shape,
        |bytes: &[u8]| NarrowMatrix::new(shape, bytes),
    )?;
    let scales = laid_out(
        scales,
        |kept: &NarrowScales| *kept.shape() == shape,
        |scales: &[f32]| NarrowScales::new(shape, scales),
    )?;
    let lay_out_zeros = |zeros| {
        laid_out(
            zeros,
            |kept: &NarrowZeros| *kept.shape() == shape,
            |bytes: &[u8]| NarrowZeros::new(shape, bytes),
        )
    };
    let zeros = optional_dense(zeros)?.map(lay_out_zeros).transpose()?;
    let bias = optional_dense(bias)?.map(|bias| bias.read::<f32>(&ME)).transpose()?;
    let precision = precision(call.attrs)?;
    let rows = product(&a.shape().dims()[..a.shape().rank() - 1]);
    let left = NarrowRows::new(&shape, precision, rows, &a.read::<f32>(&ME)?).map_err(shape_error)?;
    let plan = NarrowProduct::new(shape, rows, workers(call.cx)).map_err(shape_error)?;
    let input = NarrowInput {
        rows: &left,
        matrix: &matrix,
        scales: &scales,
        zeros: zeros.as_deref(),
        bias: bias.as_deref(),
    };
    let out = call.allocate_unset(0)?;
    plan.run(&OnQueue(call.cx), input, &mut out.write::<f32>(&ME)?).map_err(shape_error)?;
    Ok(out.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tfrt.NarrowMatMul")
        .types(&[DType::F32, DType::UI8])
        .attrs([OPERANDS, BITS, BLOCK, ROUNDED])
        .metadata(metadata)
        .cpu(|call| multiply(&call));
}
