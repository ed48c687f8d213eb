//! Products of quantized numbers: `onnx.MatMulInteger`, `onnx.QLinearMatMul`, `onnx.ConvInteger`
//! and `onnx.QLinearConv`.
//!
//! With one zero point for the left operand, as networks have it, they are products of bytes; see
//! [`ByteProduct`]. Others are computed by the definition.

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{
    BlockOp, ByteInput, ByteMatrix, ByteProduct, ByteResult, Conv2dShape, FilterOrder, MatMul, MatMulInput,
    Rescale, broadcast_shapes,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::arguments::{OPERANDS, dense, formal, optional_dense, required};
use super::bytes::{Held, filter_of, matrix_of, zeros_of};
use super::conv::{self, Geometry};
use super::quantize::{floats_of, integers_of, quantized_tensor};
use crate::ops::images::{from_nhwc, to_nhwc};
use crate::ops::support::{Computed, Described, allocate, invalid, one, product, room_for};
use crate::ops::window::Layout;
use crate::{CpuCall, MetadataCall, OpRegistry};

static ME: Accessor = Accessor::new("onnx product of integers");

/// The extents of a matrix product.
pub(in crate::ops) struct Matrices {
    dims: Vec<usize>,
    /// For each product, the indices of its matrices.
    pairs: Vec<[usize; 2]>,
    /// The rows, the extent that is summed over, and the columns.
    pub(in crate::ops) extents: [usize; 3],
}

/// Two shapes of matrices, and whether each got an additional dimension because it was a vector.
pub(in crate::ops) type MatrixShapes = (Vec<usize>, Vec<usize>, [bool; 2]);

/// Returns the shapes of both operands as those of matrices.
pub(in crate::ops) fn matrices(a: &TensorShape, b: &TensorShape) -> Result<MatrixShapes, Diagnostic> {
    if a.rank() == 0 || b.rank() == 0 {
        return Err(invalid("the op takes no scalars"));
    }
    let (mut left, mut right) = (a.dims().to_vec(), b.dims().to_vec());
    let added = [a.rank() == 1, b.rank() == 1];
    if added[0] {
        left.insert(0, 1);
    }
    if added[1] {
        right.push(1);
    }
    Ok((left, right, added))
}

/// Returns the shape of a product.
pub(in crate::ops) fn product_dims(a: &TensorShape, b: &TensorShape) -> Result<Vec<usize>, Diagnostic> {
    let (left, right, added) = matrices(a, b)?;
    let ((batch_a, a_dims), (batch_b, b_dims)) =
        (left.split_at(left.len() - 2), right.split_at(right.len() - 2));
    if a_dims[1] != b_dims[0] {
        return Err(invalid(format!("matrices of shapes {a} and {b} have no product")));
    }
    let mut dims = broadcast_shapes(batch_a, batch_b)
        .map_err(|_| invalid(format!("matrices of shapes {a} and {b} have no product")))?;
    dims.extend((!added[0]).then_some(a_dims[0]));
    dims.extend((!added[1]).then_some(b_dims[1]));
    Ok(dims)
}

impl Matrices {
    pub(in crate::ops) fn new(a: &TensorShape, b: &TensorShape) -> Result<Self, Diagnostic> {
        let dims = product_dims(a, b)?;
        let (left, right, _) = matrices(a, b)?;
        let ((batch_a, a_dims), (batch_b, b_dims)) =
            (left.split_at(left.len() - 2), right.split_at(right.len() - 2));
        let batch = broadcast_shapes(batch_a, batch_b).map_err(shape_error)?;
        let extents = [a_dims[0], a_dims[1], b_dims[1]];
        // Without elements, the number of products may be arbitrarily large.
        let count = if extents[0] == 0 || extents[2] == 0 { 0 } else { product(&batch) };
        let mut pairs = room_for(count)?;
        let place = |index: usize, own: &[usize]| {
            let (mut rest, mut place, mut stride) = (index, 0, 1);
            for (axis, &dim) in batch.iter().enumerate().rev() {
                let own = (axis + own.len()).checked_sub(batch.len()).map_or(1, |axis| own[axis]);
                place += if own == 1 { 0 } else { rest % dim * stride };
                (rest, stride) = (rest / dim, stride * own);
            }
            place
        };
        pairs.extend((0..count).map(|index| [place(index, batch_a), place(index, batch_b)]));
        Ok(Self { dims, pairs, extents })
    }

    /// Computes all products of bytes. The left operand has one zero, the right one has one for all
    /// columns or one for each.
    pub(in crate::ops) fn multiply_bytes<O: Element + ByteResult>(
        &self,
        call: &CpuCall<'_>,
        (a, a_zero): (&DenseHostTensor, i32),
        (b, b_zeros): (&DenseHostTensor, &[i32]),
        rescale: Rescale<'_>,
    ) -> Result<DenseHostTensor, Diagnostic> {
        let ([m, k, n], queue) = (self.extents, OnQueue(call.cx));
        let out = call.allocate_unset(0)?;
        let held = Held::new(a)?;
        let mut elements = out.write::<O>(&ME)?;
        let is_one =
            b.num_elements() == k * n && self.pairs.iter().enumerate().all(|(at, pair)| pair[0] == at);
        if is_one {
            let matrix = matrix_of(b, [k, n], b_zeros)?;
            let rows = m * self.pairs.len();
            let plan = ByteProduct::<O>::matrix(rows, k, n, workers(call.cx)).map_err(shape_error)?;
            let input = ByteInput::matrix((held.bytes(), a_zero), &matrix, rescale);
            plan.run(&queue, input, &mut elements).map_err(shape_error)?;
        } else {
            let (plan, right) = (ByteProduct::<O>::matrix(m, k, n, workers(call.cx)), Held::new(b)?);
            let plan = plan.map_err(shape_error)?;
            for (&[i, j], out) in self.pairs.iter().zip(elements.chunks_exact_mut((m * n).max(1))) {
                let left = held.bytes().part(i * m * k..(i + 1) * m * k).map_err(shape_error)?;
                let right = right.bytes().part(j * k * n..(j + 1) * k * n).map_err(shape_error)?;
                let layout = tfrt_math::Layout::row_major(k, n);
                let matrix = ByteMatrix::new((k, n), (right, layout), b_zeros).map_err(shape_error)?;
                let input = ByteInput::matrix((left, a_zero), &matrix, rescale);
                plan.run(&queue, input, out).map_err(shape_error)?;
            }
        }
        drop(elements);
        Ok(out)
    }

    /// Computes all products by the definition.
    fn multiply(&self, call: &CpuCall<'_>, a: &[i32], b: &[i32]) -> Result<Vec<i32>, Diagnostic> {
        let [m, k, n] = self.extents;
        let count = self.pairs.len().checked_mul(m).and_then(|count| count.checked_mul(n));
        let mut out = room_for(count.ok_or_else(|| invalid("the product is too large"))?)?;
        out.resize(self.pairs.len() * m * n, 0);
        let plan = MatMul::new(m, k, n, workers(call.cx)).map_err(shape_error)?;
        for ([i, j], out) in self.pairs.iter().zip(out.chunks_exact_mut((m * n).max(1))) {
            let input = MatMulInput::new(&a[i * m * k..][..m * k], &b[j * k * n..][..k * n]);
            plan.run(&OnQueue(call.cx), input, out).map_err(shape_error)?;
        }
        Ok(out)
    }
}

/// Zero points for the rows or columns of matrices: one for all, or one for each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Rows,
    Columns,
}

/// Returns the index of the zero point for an element of matrices with this many rows and columns.
fn of_side(
    side: Side,
    count: usize,
    element: usize,
    [rows, columns]: [usize; 2],
) -> Result<usize, Diagnostic> {
    let (row, column, matrix) = (element / columns % rows, element % columns, element / (rows * columns));
    let (place, each) = match side {
        Side::Rows => (row, rows),
        Side::Columns => (column, columns),
    };
    match count {
        1 => Ok(0),
        count if count == each => Ok(place),
        count if count.is_multiple_of(each) && matrix < count / each => Ok(matrix * each + place),
        count => Err(invalid(format!("{count} scales or zero points do not fit {each} rows or columns"))),
    }
}

/// Returns the integers of a tensor of matrices with their zero points subtracted.
fn centered(
    tensor: &DenseHostTensor,
    zeros: Option<&DenseHostTensor>,
    side: Side,
    extents: [usize; 2],
) -> Result<Vec<i32>, Diagnostic> {
    let mut integers = integers_of(tensor)?;
    let zeros = zeros.map(integers_of).transpose()?.unwrap_or_else(|| vec![0]);
    for (element, integer) in integers.iter_mut().enumerate() {
        *integer = integer.wrapping_sub(zeros[of_side(side, zeros.len(), element, extents)?]);
    }
    Ok(integers)
}

fn matmul_metadata(call: MetadataCall<'_>) -> Described {
    let inputs: [Option<&TensorMetadata>; 4] = formal(call.arguments, call.attrs)?;
    let (a, b) = (required(inputs[0], "A")?, required(inputs[1], "B")?);
    one(TensorMetadata::new(DType::I32, TensorShape::new(&product_dims(&a.shape, &b.shape)?)?))
}

fn matmul(call: &CpuCall<'_>) -> Computed {
    let [a, b, a_zeros, b_zeros] = formal(call.arguments, call.attrs)?;
    let (a, b) = (dense(a, "A")?, dense(b, "B")?);
    let matrices = Matrices::new(a.shape(), b.shape())?;
    let [m, k, n] = matrices.extents;
    let (a_zeros, b_zeros) = (optional_dense(a_zeros)?, optional_dense(b_zeros)?);
    if let ([a_zero], zeros) = (&zeros_of(a_zeros)?[..], zeros_of(b_zeros)?)
        && (zeros.len() == 1 || zeros.len() == n)
    {
        return Ok(matrices.multiply_bytes::<i32>(call, (a, *a_zero), (b, &zeros), Rescale::NONE)?.into());
    }
    let left = centered(a, a_zeros, Side::Rows, [m, k])?;
    let right = centered(b, b_zeros, Side::Columns, [k, n])?;
    let products = matrices.multiply(call, &left, &right)?;
    Ok(DenseHostTensor::from_slice(TensorShape::new(&matrices.dims)?, &products, call.cx.host().allocator())?
        .into())
}

/// Returns the eight inputs of ops with a quantized result: two tensors with their scales and zero
/// points, and those of the result.
fn quantized_inputs<'a>(call: &CpuCall<'a>) -> Result<[&'a DenseHostTensor; 8], Diagnostic> {
    let given = call.arguments.get(..8).ok_or_else(|| invalid("the op takes at least 8 arguments"))?;
    let inputs: Vec<&DenseHostTensor> =
        given.iter().map(|tensor| tensor.dense()).collect::<Result<_, _>>()?;
    inputs.try_into().map_err(|_| invalid("the op takes at least 8 arguments"))
}

fn first(numbers: &[f64], name: &str) -> Result<f64, Diagnostic> {
    numbers.first().copied().ok_or_else(|| invalid(format!("'{name}' is empty")))
}

fn zero_of(tensor: &DenseHostTensor) -> Result<f64, Diagnostic> {
    Ok(integers_of(tensor)?.first().copied().unwrap_or(0).into())
}

fn linear_matmul_metadata(call: MetadataCall<'_>) -> Described {
    let [a, _, _, b, _, _, _, zero] = call.take()?;
    one(TensorMetadata::new(zero.dtype, TensorShape::new(&product_dims(&a.shape, &b.shape)?)?))
}

fn linear_matmul(call: &CpuCall<'_>) -> Computed {
    let [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero] = quantized_inputs(call)?;
    let matrices = Matrices::new(a.shape(), b.shape())?;
    let [m, k, n] = matrices.extents;
    let (a_scale, b_scale, y_scale) = (floats_of(a_scale)?, floats_of(b_scale)?, floats_of(y_scale)?);
    let (y_scale, zero) = (first(&y_scale, "y_scale")?, zero_of(y_zero)?);
    let are_of_columns = |count: usize| count == 1 || count == n;
    if let ([zero_of_a], [scale], zeros) = (&integers_of(a_zero)?[..], &a_scale[..], integers_of(b_zero)?)
        && are_of_columns(zeros.len())
        && are_of_columns(b_scale.len())
    {
        let scales: Vec<f32> = b_scale.iter().map(|of_b| (scale * of_b / y_scale) as f32).collect();
        let rescale = Rescale { scales: &scales, zero: zero as i32, bias: None };
        let (a, b) = ((a, *zero_of_a), (b, &zeros[..]));
        let product = match y_zero.dtype() {
            DType::I8 => matrices.multiply_bytes::<i8>(call, a, b, rescale),
            _ => matrices.multiply_bytes::<u8>(call, a, b, rescale),
        };
        return Ok(product?.into());
    }
    let left = centered(a, Some(a_zero), Side::Rows, [m, k])?;
    let right = centered(b, Some(b_zero), Side::Columns, [k, n])?;
    let products = matrices.multiply(call, &left, &right)?;
    let mut numbers = room_for(products.len())?;
    for (element, &product) in products.iter().enumerate() {
        let row = a_scale[of_side(Side::Rows, a_scale.len(), element, [m, n])?];
        let column = b_scale[of_side(Side::Columns, b_scale.len(), element, [m, n])?];
        numbers.push((f64::from(product) * (row * column / y_scale)).round_ties_even() + zero);
    }
    Ok(quantized_tensor(call, y_zero.dtype(), &matrices.dims, numbers.into_iter())?.into())
}

/// Returns the integers of a filter with the zero points of its outputs subtracted.
fn centered_filter(w: &DenseHostTensor, zeros: Option<&DenseHostTensor>) -> Result<Vec<i32>, Diagnostic> {
    let outputs = w.shape().dims().first().copied().unwrap_or(0);
    let each = w.num_elements().checked_div(outputs).unwrap_or(0);
    centered(w, zeros, Side::Rows, [outputs.max(1), each.max(1)])
}

/// The shape of a convolution of bytes, if these zeros allow it and `tfrt-math` has it. The zero of
/// images of type `x` must be such a byte, because it is what lies beyond the border.
fn of_bytes(geometry: &Geometry, (x, x_zeros): (DType, &[i32]), w_zeros: &[i32]) -> Option<Conv2dShape> {
    let bytes = if x == DType::I8 { -128..=127 } else { 0..=255 };
    let has_zeros = matches!(x_zeros, [zero] if bytes.contains(zero))
        && (w_zeros.len() == 1 || w_zeros.len() == geometry.outputs);
    geometry.in_two_dimensions().filter(|_| has_zeros)
}

/// Computes a convolution of bytes in `NCHW`.
fn convolve_bytes<O: Element + ByteResult>(
    call: &CpuCall<'_>,
    (geometry, shape): (&Geometry, &Conv2dShape),
    (x, x_zero): (&DenseHostTensor, i32),
    (w, w_zeros): (&DenseHostTensor, &[i32]),
    bias: Option<&[i32]>,
    rescale: Rescale<'_>,
) -> Computed {
    let [_, y, columns] = &geometry.window.axes;
    let plan = ByteProduct::<O>::convolution(shape, workers(call.cx)).map_err(shape_error)?;
    let filter = filter_of(w, (shape, FilterOrder::Oihw), w_zeros)?;
    let images = Held::new(&to_nhwc(call, Layout::Nchw, &conv::flat(x, geometry)?)?)?;
    let dims = [geometry.batch, y.output, columns.output, geometry.outputs];
    let out = allocate(call, O::DTYPE, &dims)?;
    let input = ByteInput::convolution((images.bytes(), x_zero), &filter, rescale).plus(bias);
    plan.run(&OnQueue(call.cx), input, &mut out.write::<O>(&ME)?).map_err(shape_error)?;
    let out = from_nhwc(call, Layout::Nchw, out)?;
    Ok(out.reshape(call.result(0)?.shape.clone())?.into())
}

fn conv_metadata(call: MetadataCall<'_>) -> Described {
    let inputs: [Option<&TensorMetadata>; 4] = formal(call.arguments, call.attrs)?;
    let (x, w) = (required(inputs[0], "x")?, required(inputs[1], "w")?);
    let geometry = Geometry::of(call.attrs, &x.shape, &w.shape)?;
    one(TensorMetadata::new(DType::I32, TensorShape::new(&geometry.dims())?))
}

fn conv_integer(call: &CpuCall<'_>) -> Computed {
    let [x, w, x_zero, w_zeros] = formal(call.arguments, call.attrs)?;
    let (x, w) = (dense(x, "x")?, dense(w, "w")?);
    let geometry = Geometry::of(call.attrs, x.shape(), w.shape())?;
    let (zero, zeros) = (zeros_of(optional_dense(x_zero)?)?, zeros_of(optional_dense(w_zeros)?)?);
    if let Some(shape) = of_bytes(&geometry, (x.dtype(), &zero), &zeros) {
        return convolve_bytes::<i32>(
            call,
            (&geometry, &shape),
            (x, zero[0]),
            (w, &zeros),
            None,
            Rescale::NONE,
        );
    }
    let input = centered(x, optional_dense(x_zero)?, Side::Rows, [1, x.num_elements().max(1)])?;
    let sums = conv::integers(call, &geometry, &input, &centered_filter(w, optional_dense(w_zeros)?)?)?;
    Ok(DenseHostTensor::from_slice(TensorShape::new(&geometry.dims())?, &sums, call.cx.host().allocator())?
        .into())
}

fn linear_conv_metadata(call: MetadataCall<'_>) -> Described {
    let inputs: [Option<&TensorMetadata>; 9] = formal(call.arguments, call.attrs)?;
    let (x, w, zero) =
        (required(inputs[0], "x")?, required(inputs[3], "w")?, required(inputs[7], "y_zero_point")?);
    let geometry = Geometry::of(call.attrs, &x.shape, &w.shape)?;
    one(TensorMetadata::new(zero.dtype, TensorShape::new(&geometry.dims())?))
}

fn linear_conv(call: &CpuCall<'_>) -> Computed {
    let [x, x_scale, x_zero, w, w_scale, w_zeros, y_scale, y_zero] = quantized_inputs(call)?;
    let inputs: [Option<&HostTensor>; 9] = formal(call.arguments, call.attrs)?;
    let geometry = Geometry::of(call.attrs, x.shape(), w.shape())?;
    let bias = optional_dense(inputs[8])?.map(|bias| bias.read::<i32>(&ME)).transpose()?;
    let (x_scale, w_scale, y_scale) = (floats_of(x_scale)?, floats_of(w_scale)?, floats_of(y_scale)?);
    let scale = first(&x_scale, "x_scale")? / first(&y_scale, "y_scale")?;
    let zero = zero_of(y_zero)?;
    let dims = geometry.dims();
    let (outputs, plane) = (dims[1], product(&dims[2..]).max(1));
    if w_scale.len() != 1 && w_scale.len() != outputs
        || bias.as_ref().is_some_and(|bias| bias.len() != outputs)
    {
        return Err(invalid(format!(
            "w_scale and B must have a number for each of {outputs} output channels"
        )));
    }
    let (x_zeros, zeros) = (integers_of(x_zero)?, integers_of(w_zeros)?);
    if let Some(shape) = of_bytes(&geometry, (x.dtype(), &x_zeros), &zeros) {
        let scales: Vec<f32> = w_scale.iter().map(|of_w| (scale * of_w) as f32).collect();
        let rescale = Rescale { scales: &scales, zero: zero as i32, bias: None };
        let (x, w, of) = ((x, x_zeros[0]), (w, &zeros[..]), (&geometry, &shape));
        return match y_zero.dtype() {
            DType::I8 => convolve_bytes::<i8>(call, of, x, w, bias.as_deref(), rescale),
            _ => convolve_bytes::<u8>(call, of, x, w, bias.as_deref(), rescale),
        };
    }
    let input = centered(x, Some(x_zero), Side::Rows, [1, x.num_elements().max(1)])?;
    let sums = conv::integers(call, &geometry, &input, &centered_filter(w, Some(w_zeros))?)?;
    let numbers = sums.iter().enumerate().map(|(element, &sum)| {
        let output = element / plane % outputs;
        let sum = sum.wrapping_add(bias.as_ref().map_or(0, |bias| bias[output]));
        (f64::from(sum) * (scale * w_scale[output % w_scale.len()])).round_ties_even() + zero
    });
    Ok(quantized_tensor(call, y_zero.dtype(), &dims, numbers)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    const BYTES: &[DType] = &[DType::I8, DType::UI8];
    // The scales are floating-point numbers.
    const SCALED: &[DType] = &[DType::I8, DType::UI8, DType::F32];
    ops.add("onnx.MatMulInteger")
        .types(BYTES)
        .attrs([OPERANDS])
        .metadata(matmul_metadata)
        .cpu(|call| matmul(&call));
    ops.add("onnx.QLinearMatMul")
        .types(SCALED)
        .metadata(linear_matmul_metadata)
        .cpu(|call| linear_matmul(&call));
    ops.add("onnx.ConvInteger")
        .types(BYTES)
        .attrs(conv::WINDOW)
        .metadata(conv_metadata)
        .cpu(|call| conv_integer(&call));
    ops.add("onnx.QLinearConv")
        .types(SCALED)
        .attrs(conv::WINDOW)
        .metadata(linear_conv_metadata)
        .cpu(|call| linear_conv(&call));
}
