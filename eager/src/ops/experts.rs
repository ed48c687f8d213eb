//! Products of rows, each by one of several matrices, as mixtures of experts have them.
//!
//! The operands of `tfrt.ExpertMatMul` are `x`, `experts`, `weights`, and perhaps `bias`: rows of
//! shape `[rows, depth]`; the number of each row's expert; matrices of shape `[experts, columns,
//! depth]`; and numbers of shape `[experts, columns]` that are added.
//!
//! `tfrt.NarrowExpertMatMul` takes `x`, `experts`, `matrix`, `scales`, and perhaps `zeros` and
//! `bias`: those of `tfrt.NarrowMatMul`, with a first dimension of experts before all but `x`.

use std::{collections::BTreeMap, ops::Range};

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{
    BlockOp, Layout, MatMul, MatMulElement, MatMulInput, NarrowInput, NarrowMatrix, NarrowPrecision,
    NarrowProduct, NarrowRows, NarrowScales, NarrowShape, NarrowZeros, ShapeError,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::narrow_matmul::{BITS, BLOCK, ROUNDED, laid_out, precision, shape_of};
use super::onnx::arguments::{OPERANDS, dense, formal, optional_dense, required};
use super::support::{Computed, Described, integers, invalid, one, room_for, with_float};
use crate::{CpuCall, MetadataCall, OpRegistry};

static ME: Accessor = Accessor::new("products by experts");

const TYPES: &[DType] = &[DType::BF16, DType::F16, DType::F32, DType::F64, DType::I32, DType::I64];

const EXPERTS: &str = "tfrt.ExpertMatMul";
const NARROW: &str = "tfrt.NarrowExpertMatMul";

/// The extents of a call.
#[derive(Clone, Copy)]
struct Extents {
    rows: usize,
    depth: usize,
    columns: usize,
    experts: usize,
}

impl Extents {
    fn of(x: &TensorShape, experts: &TensorShape, weights: &TensorShape) -> Result<Self, Diagnostic> {
        match (x.dims(), experts.num_elements()?, weights.dims()) {
            (&[rows, depth], count, &[experts, columns, ..]) if count == rows && weights.rank() >= 3 => {
                Ok(Self { rows, depth, columns, experts })
            }
            _ => Err(invalid(format!(
                "x, experts and weights must have a row, a number for it, and a matrix for each expert, got shapes \
                 {x}, {experts} and {weights}"
            ))),
        }
    }

    /// Where what `each` elements of an expert are lies.
    fn of_expert(expert: usize, each: usize) -> Range<usize> {
        expert * each..(expert + 1) * each
    }

    fn check(
        &self,
        name: &str,
        tensor: &TensorMetadata,
        count: usize,
        dtype: DType,
    ) -> Result<(), Diagnostic> {
        let found = tensor.shape.num_elements()?;
        if tensor.dtype != dtype || Some(found) != self.experts.checked_mul(count) {
            let found = format!("shape {} of {}", tensor.shape, tensor.dtype);
            let wanted = format!("{count} elements of {dtype} for each of {} experts", self.experts);
            return Err(invalid(format!("{name} must have {wanted}, got {found}")));
        }
        Ok(())
    }

    fn result(&self, dtype: DType) -> Described {
        one(TensorMetadata::new(dtype, TensorShape::new(&[self.rows, self.columns])?))
    }
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x, experts, weights, bias] = formal::<_, 4>(call.arguments, call.attrs)?;
    let (x, experts) = (required(x, "x")?, required(experts, "experts")?);
    let weights = required(weights, "weights")?;
    let extents = Extents::of(&x.shape, &experts.shape, &weights.shape)?;
    extents.check("weights", weights, extents.columns.saturating_mul(extents.depth), x.dtype)?;
    if let Some(bias) = bias {
        extents.check("bias", bias, extents.columns, x.dtype)?;
    }
    extents.result(x.dtype)
}

fn narrow_metadata(call: MetadataCall<'_>) -> Described {
    let [x, experts, matrix, scales, zeros, bias] = formal::<_, 6>(call.arguments, call.attrs)?;
    let (x, experts) = (required(x, "x")?, required(experts, "experts")?);
    let (matrix, scales) = (required(matrix, "matrix")?, required(scales, "scales")?);
    let extents = Extents::of(&x.shape, &experts.shape, &matrix.shape)?;
    let shape = narrow_shape(call.attrs, &x.shape, &matrix.shape)?;
    extents.check("matrix", matrix, shape.cols() * shape.column_bytes(), DType::UI8)?;
    extents.check("scales", scales, shape.cols() * shape.blocks(), DType::F32)?;
    if let Some(zeros) = zeros {
        extents.check("zeros", zeros, shape.cols() * shape.zero_bytes(), DType::UI8)?;
    }
    if let Some(bias) = bias {
        extents.check("bias", bias, extents.columns, DType::F32)?;
    }
    if x.dtype != DType::F32 {
        return Err(invalid(format!("x must be f32, got {}", x.dtype)));
    }
    extents.result(DType::F32)
}

/// The extents of the matrix of one expert.
fn narrow_shape(
    attrs: &crate::OpAttrs,
    x: &TensorShape,
    matrix: &TensorShape,
) -> Result<NarrowShape, Diagnostic> {
    shape_of(attrs, x, &TensorShape::new(matrix.dims().get(1..).unwrap_or_default())?)
}

/// The rows of each expert that has some.
fn by_expert(experts: &HostTensor, count: usize) -> Result<BTreeMap<usize, Vec<usize>>, Diagnostic> {
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, &expert) in integers(experts, "experts")?.iter().enumerate() {
        let place = usize::try_from(expert).ok().filter(|&place| place < count);
        let place = place.ok_or_else(|| invalid(format!("row {row} has expert {expert} of {count}")))?;
        rows.entry(place).or_default().push(row);
    }
    Ok(rows)
}

/// Computes the result: `product` multiplies the rows of an expert, whose number it gets.
fn multiply<T: Element + Copy + Default>(
    call: &CpuCall<'_>,
    (x, experts): (&DenseHostTensor, &HostTensor),
    extents: Extents,
    mut product: impl FnMut(usize, &[T], usize, &mut [T]) -> Result<(), ShapeError>,
) -> Computed {
    let Extents { depth, columns, .. } = extents;
    let mut out = call.allocate_unset(0)?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let (x, y) = (x.read::<T>(&ME)?, out.elements_mut::<T>()?);
    for (expert, rows) in by_expert(experts, extents.experts)? {
        let mut own = room_for(rows.len() * depth)?;
        for &row in &rows {
            own.extend_from_slice(&x[row * depth..][..depth]);
        }
        let mut products = room_for(rows.len() * columns)?;
        products.resize(rows.len() * columns, T::default());
        product(expert, &own, rows.len(), &mut products).map_err(shape_error)?;
        for (row, product) in rows.into_iter().zip(products.chunks_exact(columns)) {
            y[row * columns..][..columns].copy_from_slice(product);
        }
    }
    Ok(out.into())
}

fn by_matrices<T: Element + MatMulElement + Default>(call: &CpuCall<'_>) -> Computed {
    let [x, experts, weights, bias] = formal::<&HostTensor, 4>(call.arguments, call.attrs)?;
    let (x, experts, weights) = (dense(x, "x")?, required(experts, "experts")?, dense(weights, "weights")?);
    let extents = Extents::of(x.shape(), experts.shape(), weights.shape())?;
    let Extents { depth, columns, .. } = extents;
    let weights = weights.read::<T>(&ME)?;
    let bias = optional_dense(bias)?.map(|bias| bias.read::<T>(&ME)).transpose()?;
    multiply::<T>(call, (x, experts), extents, |expert, rows, count, products| {
        let matrix = &weights[Extents::of_expert(expert, columns * depth)];
        MatMul::new(count, depth, columns, workers(call.cx))?
            .operands(Layout::row_major(count, depth), Layout::transposed(depth, columns))?
            .run(&OnQueue(call.cx), MatMulInput::new(rows, matrix), products)?;
        if let Some(bias) = &bias {
            let bias = &bias[Extents::of_expert(expert, columns)];
            for row in products.chunks_exact_mut(columns) {
                row.iter_mut().zip(bias).for_each(|(sum, &bias)| *sum = sum.plus(bias));
            }
        }
        Ok(())
    })
}

/// The parts of each expert, laid out by `make`, which are kept with a constant.
fn of_experts<E: tfrt_math::Element + Element, D: Send + Sync + 'static>(
    tensor: &DenseHostTensor,
    (experts, each): (usize, usize),
    fits: impl Fn(&D) -> bool,
    make: impl Fn(&[E]) -> Result<D, ShapeError>,
) -> Result<std::sync::Arc<Vec<D>>, Diagnostic> {
    laid_out(
        tensor,
        |kept: &Vec<D>| kept.len() == experts && kept.iter().all(&fits),
        |elements: &[E]| {
            (0..experts).map(|expert| make(&elements[Extents::of_expert(expert, each)])).collect()
        },
    )
}

fn by_narrow_matrices(call: &CpuCall<'_>) -> Computed {
    let [x, experts, matrix, scales, zeros, bias] = formal::<&HostTensor, 6>(call.arguments, call.attrs)?;
    let (x, experts) = (dense(x, "x")?, required(experts, "experts")?);
    let (matrix, scales) = (dense(matrix, "matrix")?, dense(scales, "scales")?);
    let extents = Extents::of(x.shape(), experts.shape(), matrix.shape())?;
    let shape = narrow_shape(call.attrs, x.shape(), matrix.shape())?;
    let count = extents.experts;
    let matrices = of_experts(
        matrix,
        (count, shape.cols() * shape.column_bytes()),
        |kept: &NarrowMatrix| *kept.shape() == shape,
        |bytes: &[u8]| NarrowMatrix::new(shape, bytes),
    )?;
    let scales = of_experts(
        scales,
        (count, shape.cols() * shape.blocks()),
        |kept: &NarrowScales| *kept.shape() == shape,
        |scales: &[f32]| NarrowScales::new(shape, scales),
    )?;
    let lay_out_zeros = |zeros: &DenseHostTensor| {
        of_experts(
            zeros,
            (count, shape.cols() * shape.zero_bytes()),
            |kept: &NarrowZeros| *kept.shape() == shape,
            |bytes: &[u8]| NarrowZeros::new(shape, bytes),
        )
    };
    let zeros = optional_dense(zeros)?.map(lay_out_zeros).transpose()?;
    let bias = optional_dense(bias)?.map(|bias| bias.read::<f32>(&ME)).transpose()?;
    let precision: NarrowPrecision = precision(call.attrs)?;
    multiply::<f32>(call, (x, experts), extents, |expert, rows, count, products| {
        let left = NarrowRows::new(&shape, precision, count, rows)?;
        let input = NarrowInput {
            rows: &left,
            matrix: &matrices[expert],
            scales: &scales[expert],
            zeros: zeros.as_ref().map(|zeros| &zeros[expert]),
            bias: bias.as_ref().map(|bias| &bias[Extents::of_expert(expert, extents.columns)]),
        };
        NarrowProduct::new(shape, count, workers(call.cx))?.run(&OnQueue(call.cx), input, products)
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add(EXPERTS).types(TYPES).attrs([OPERANDS]).metadata(metadata).cpu(|call| {
        let dtype = call.arguments.first().map_or(DType::F32, |x| x.dtype());
        with_float!(dtype, EXPERTS, |T| by_matrices::<T>(&call))
    });
    ops.add(NARROW)
        .types(&[DType::F32, DType::UI8, DType::I32, DType::I64])
        .attrs([OPERANDS, BITS, BLOCK, ROUNDED])
        .metadata(narrow_metadata)
        .cpu(|call| by_narrow_matrices(&call));
}
