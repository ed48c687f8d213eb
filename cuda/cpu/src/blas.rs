//! BLAS on the CPU devices.
//!
//! The routines are column-major. A column-major matrix is the transpose of a row-major one, so `C
//! = A·B` is computed as `Cᵀ = Bᵀ·Aᵀ` on the same memory.

#![expect(unsafe_code, reason = "declared device memory is viewed as slices")]

use std::sync::Arc;

use bytemuck::Pod;
use half::{bf16, f16};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Blas, F32Math, Gemm, GemmOperand, TensorLayout, Transpose};
use tfrt_device::observer::Access;
use tfrt_host::DType;
use tfrt_math::{
    Activation, BlockOp, CastTo, ConvElement, Element, Float, Layout, MatMul, MatMulElement, MatMulInput,
    PreparedMatrix, ShapeError,
};

use super::bytes::{Input, Output};
use super::context::CpuContext;
use super::dnn::Key;
use super::operation::{Operation, Run};
use super::stream::Stream;

/// Products of so few rows read the matrix where it lies.
const FEW_ROWS: u64 = 4;

/// Converts the error of an invalid shape.
pub(super) fn shape_error(status: Status) -> impl Fn(ShapeError) -> DeviceError {
    move |error| DeviceError::new(status, error.to_string())
}

fn unsupported(what: &str, dtype: DType) -> DeviceError {
    DeviceError::new(Status::BlasNotSupported, format!("{what} of {dtype} elements"))
}

pub(super) fn size(dtype: DType) -> u64 {
    dtype.size().unwrap_or(0) as u64
}

/// Returns the number of elements from the first to the last of `n`, `increment` apart.
fn span(n: u64, increment: i64) -> u64 {
    if n == 0 { 0 } else { (n - 1).saturating_mul(increment.unsigned_abs()).saturating_add(1) }
}

/// Returns the index of element `i` of a vector, which is stored in reverse if its increment is
/// negative.
fn place(i: u64, n: u64, increment: i64) -> usize {
    let step = increment.unsigned_abs();
    (if increment < 0 { (n - 1 - i) * step } else { i * step }) as usize
}

fn axpy<T: Float + Pod>(run: &Run<'_>, n: u64, alpha: f64, x: (u64, i64), y: (u64, i64)) -> Result<()> {
    // SAFETY: `Blas::axpy` declares both vectors.
    let (mut output, input) = unsafe {
        let output = Output::<T>::new(run, y.0, span(n, y.1))?;
        let input = output.input(run, x.0, span(n, x.1))?;
        (output, input)
    };
    let (y_elements, x_elements) = (output.get(), input.get());
    if x.1 == 1 && y.1 == 1 {
        let plan =
            tfrt_math::axpy(T::from_f64(alpha), n as usize).map_err(shape_error(Status::BlasInvalidValue))?;
        return plan
            .run(&run.shared.pool, x_elements, y_elements)
            .map_err(shape_error(Status::BlasInvalidValue));
    }
    let alpha = T::from_f64(alpha);
    for i in 0..n {
        let at = &mut y_elements[place(i, n, y.1)];
        *at = at.plus(alpha.times(x_elements[place(i, n, x.1)]));
    }
    Ok(())
}

fn scal<T: Float + Pod>(run: &Run<'_>, n: u64, alpha: f64, x: (u64, i64)) -> Result<()> {
    // SAFETY: `Blas::scal` declares the vector.
    let mut output = unsafe { Output::<T>::new(run, x.0, span(n, x.1))? };
    let (alpha, step) = (T::from_f64(alpha), x.1.unsigned_abs() as usize);
    output.get().iter_mut().step_by(step.max(1)).for_each(|element| *element = alpha.times(*element));
    Ok(())
}

/// Returns the number of elements of an operand from its first to its last, for matrices with this
/// many stored rows and columns.
fn extent(operand: &GemmOperand, rows: u64, cols: u64, batch: u64) -> u64 {
    if rows == 0 || cols == 0 || batch == 0 {
        return 0;
    }
    ((cols - 1) * operand.leading_dimension + rows).saturating_add((batch - 1) * operand.batch_stride)
}

/// Returns the extents of the operands A, B and C.
fn extents(gemm: &Gemm) -> [u64; 3] {
    let stored =
        |transpose, rows, cols| if transpose == Transpose::None { (rows, cols) } else { (cols, rows) };
    let (a, b) = (stored(gemm.transpose_a, gemm.m, gemm.k), stored(gemm.transpose_b, gemm.k, gemm.n));
    [
        extent(&gemm.a, a.0, a.1, gemm.batch),
        extent(&gemm.b, b.0, b.1, gemm.batch),
        extent(&gemm.c, gemm.m, gemm.n, gemm.batch),
    ]
}

/// Returns the layout of `op` of a stored matrix, as the transpose that the row-major product
/// takes.
fn layout(operand: &GemmOperand, transpose: Transpose) -> Layout {
    let (leading, batch_stride) = (operand.leading_dimension as usize, operand.batch_stride as usize);
    match transpose {
        Transpose::None => Layout { row_stride: leading, col_stride: 1, batch_stride },
        Transpose::Transposed => Layout { row_stride: 1, col_stride: leading, batch_stride },
    }
}

/// Adds the product of `a` and `b` to `c` and applies the epilogue, with the elements of its bias.
/// All elements have the type of the computation.
fn product<W: Float + MatMulElement>(
    run: &Run<'_>,
    gemm: &Gemm,
    [a, b]: [&[W]; 2],
    bias: Option<&[W]>,
    c: &mut [W],
) -> Result<()> {
    let plan = || -> Result<MatMul<W>, ShapeError> {
        MatMul::new(gemm.n as usize, gemm.k as usize, gemm.m as usize, run.shared.pool.threads())?
            .batched(gemm.batch as usize)?
            .operands(layout(&gemm.b, gemm.transpose_b), layout(&gemm.a, gemm.transpose_a))?
            .output(gemm.c.leading_dimension as usize, gemm.c.batch_stride as usize)
    };
    let plan = plan().map_err(shape_error(Status::BlasInvalidValue))?;
    let activation = if gemm.epilogue.relu { Activation::Relu } else { Activation::None };
    let plan = plan.scaled(W::from_f64(gemm.alpha), W::from_f64(gemm.beta)).activated(activation);
    plan.run(&run.shared.pool, MatMulInput { bias, ..MatMulInput::new(b, a) }, c)
        .map_err(shape_error(Status::BlasExecutionFailed))
}

/// Computes a product whose operands all have the type of the computation.
fn gemm_native<W>(run: &Run<'_>, gemm: &Gemm) -> Result<()>
where
    W: Float + MatMulElement + ConvElement<Work = W> + Pod,
{
    let [a_len, b_len, c_len] = extents(gemm);
    // SAFETY: `Blas::gemm` declares the three matrices and the bias.
    let (mut c, a, b, bias) = unsafe {
        let c = Output::<W>::new(run, gemm.c.address, c_len)?;
        let a = c.input(run, gemm.a.address, a_len)?;
        let b = c.input(run, gemm.b.address, b_len)?;
        let bias = gemm.epilogue.bias.map(|address| c.input(run, address, gemm.m)).transpose()?;
        (c, a, b, bias)
    };
    let bias = bias.as_ref().map(Input::get);
    if is_by_rows(gemm) {
        // Also of a matrix that is not kept, because the other way rounds differently.
        let matrix = laid_out(run, gemm, a.get())?;
        return product_by_rows(run, gemm, (&matrix, b.get()), bias, c.get());
    }
    product(run, gemm, [a.get(), b.get()], bias, c.get())
}

/// Returns whether a product is that of many dense rows and one matrix, such as that of a layer.
fn is_by_rows(gemm: &Gemm) -> bool {
    let is_plain = gemm.batch == 1 && gemm.alpha == 1.0 && gemm.beta == 0.0;
    let is_dense = gemm.transpose_b == Transpose::None
        && gemm.b.leading_dimension == gemm.k
        && gemm.c.leading_dimension == gemm.m;
    is_plain && is_dense && gemm.n > FEW_ROWS && gemm.m > 0 && gemm.k > 0
}

/// Returns the matrix `a` as products read it, which is kept while it stays the same.
fn laid_out<W>(run: &Run<'_>, gemm: &Gemm, a: &[W]) -> Result<Arc<PreparedMatrix<W>>>
where
    W: Float + ConvElement<Work = W>,
{
    let layout = layout(&gemm.a, gemm.transpose_a);
    let strides = vec![layout.row_stride as u64, layout.col_stride as u64];
    let key = Key {
        address: gemm.a.address,
        layout: TensorLayout { dtype: gemm.a.dtype, dims: vec![gemm.k, gemm.m], strides },
        flipped: false,
        groups: 1,
    };
    let known = (size_of_val(a), run.shared.space.changes(gemm.a.address));
    run.shared.space.filters.get_unchanged(key, known, || {
        let extent = (gemm.k as usize, gemm.m as usize);
        PreparedMatrix::new(extent, (a, layout)).map_err(shape_error(Status::BlasInvalidValue))
    })
}

/// Computes the product of rows and a matrix, and applies the epilogue.
fn product_by_rows<W>(
    run: &Run<'_>,
    gemm: &Gemm,
    (matrix, rows): (&PreparedMatrix<W>, &[W]),
    bias: Option<&[W]>,
    c: &mut [W],
) -> Result<()>
where
    W: Float + ConvElement<Work = W>,
{
    let pool = &run.shared.pool;
    matrix.multiply(pool, rows, c).map_err(shape_error(Status::BlasExecutionFailed))?;
    let zero = W::from_f64(0.0);
    for row in c.chunks_exact_mut(matrix.columns()) {
        if let Some(bias) = bias {
            row.iter_mut().zip(bias).for_each(|(element, &bias)| *element = element.plus(bias));
        }
        if gemm.epilogue.relu {
            row.iter_mut().for_each(|element| *element = if *element < zero { zero } else { *element });
        }
    }
    Ok(())
}

fn widened<T: CastTo<W>, W>(elements: &[T]) -> Vec<W> {
    elements.iter().map(|&element| element.cast_to()).collect()
}

/// Computes a product of operands of type `T` with a result of type `C`, in `W`.
fn gemm_converted<T, C, W>(run: &Run<'_>, gemm: &Gemm) -> Result<()>
where
    T: Element + Pod + CastTo<W>,
    C: Element + Pod + CastTo<W>,
    W: Float + MatMulElement + CastTo<C>,
{
    let [a_len, b_len, c_len] = extents(gemm);
    let written = [(gemm.c.address, c_len * size_of::<C>() as u64)];
    // SAFETY: `Blas::gemm` declares the three matrices and the bias. Inputs that overlap the result
    // are copied first.
    let (a, b, bias, mut c) = unsafe {
        let a = Input::<T>::beside(run, gemm.a.address, a_len, &written)?;
        let b = Input::<T>::beside(run, gemm.b.address, b_len, &written)?;
        let bias = |address| Input::<C>::beside(run, address, gemm.m, &written);
        let bias = gemm.epilogue.bias.map(bias).transpose()?;
        (a, b, bias, Output::<C>::new(run, gemm.c.address, c_len)?)
    };
    let (a, b): (Vec<W>, Vec<W>) = (widened(a.get()), widened(b.get()));
    let bias: Option<Vec<W>> = bias.map(|bias| widened(bias.get()));
    let result = c.get();
    let mut wide: Vec<W> = result.iter().map(|&e| e.cast_to()).collect();
    product(run, gemm, [&a, &b], bias.as_deref(), &mut wide)?;
    // Writes only what the product computed: the memory between the columns may contain other data.
    for batch in 0..gemm.batch as usize {
        for col in 0..gemm.n as usize {
            let start = batch * gemm.c.batch_stride as usize + col * gemm.c.leading_dimension as usize;
            let column = start..start + gemm.m as usize;
            result[column.clone()].iter_mut().zip(&wide[column]).for_each(|(to, &from)| *to = from.cast_to());
        }
    }
    Ok(())
}

type Routine = fn(&Run<'_>, &Gemm) -> Result<()>;

/// Returns the routine for the operands' types.
fn routine(gemm: &Gemm) -> Result<Routine> {
    use DType::{BF16, F16, F32, F64, I8, I32};
    let routine: Routine = match (gemm.a.dtype, gemm.c.dtype, gemm.compute) {
        (F32, F32, F32) => gemm_native::<f32>,
        (F64, F64, F64) => gemm_native::<f64>,
        (F16, F16, F32 | F16) => gemm_converted::<f16, f16, f32>,
        (BF16, BF16, F32) => gemm_converted::<bf16, bf16, f32>,
        (F16, F32, F32) => gemm_converted::<f16, f32, f32>,
        (BF16, F32, F32) => gemm_converted::<bf16, f32, f32>,
        (I8, I32, I32) => gemm_converted::<i8, i32, f64>,
        (I8, F32, F32) => gemm_converted::<i8, f32, f32>,
        _ => {
            let detail = format!(
                "a product of {} and {} to {}, summed in {}",
                gemm.a.dtype, gemm.b.dtype, gemm.c.dtype, gemm.compute
            );
            return Err(DeviceError::new(Status::BlasNotSupported, detail));
        }
    };
    Ok(routine)
}

/// Checks that this combination of types can be multiplied.
fn check_types(gemm: &Gemm) -> Result<Routine> {
    if gemm.a.dtype != gemm.b.dtype {
        return Err(DeviceError::new(
            Status::BlasNotSupported,
            format!("a product of {} and {}", gemm.a.dtype, gemm.b.dtype),
        ));
    }
    routine(gemm)
}

impl Blas for CpuContext {
    fn create_blas(&self, _math: F32Math) -> Result<()> {
        self.device.check()
    }

    fn axpy(
        &self,
        _blas: &(),
        stream: &Stream,
        dtype: DType,
        n: u64,
        alpha: f64,
        x: (u64, i64),
        y: (u64, i64),
    ) -> Result<()> {
        let compute = match dtype {
            DType::F16 => axpy::<f16>,
            DType::BF16 => axpy::<bf16>,
            DType::F32 => axpy::<f32>,
            DType::F64 => axpy::<f64>,
            _ => return Err(unsupported("axpy", dtype)),
        };
        let accesses = vec![
            Access::read(x.0, span(n, x.1) * size(dtype)),
            Access::write(y.0, span(n, y.1) * size(dtype)),
        ];
        stream.core.submit(Operation::new("blas axpy", accesses, move |run| compute(run, n, alpha, x, y)))
    }

    fn scal(
        &self,
        _blas: &(),
        stream: &Stream,
        dtype: DType,
        n: u64,
        alpha: f64,
        x: (u64, i64),
    ) -> Result<()> {
        let compute = match dtype {
            DType::F16 => scal::<f16>,
            DType::BF16 => scal::<bf16>,
            DType::F32 => scal::<f32>,
            DType::F64 => scal::<f64>,
            _ => return Err(unsupported("scal", dtype)),
        };
        let accesses = vec![Access::write(x.0, span(n, x.1) * size(dtype))];
        stream.core.submit(Operation::new("blas scal", accesses, move |run| compute(run, n, alpha, x)))
    }

    fn gemm(&self, _blas: &(), stream: &Stream, gemm: &Gemm) -> Result<()> {
        let compute = check_types(gemm)?;
        let [a, b, c] = extents(gemm);
        let mut accesses = vec![
            Access::read(gemm.a.address, a * size(gemm.a.dtype)),
            Access::read(gemm.b.address, b * size(gemm.b.dtype)),
            Access::write(gemm.c.address, c * size(gemm.c.dtype)),
        ];
        accesses.extend(gemm.epilogue.bias.map(|bias| Access::read(bias, gemm.m * size(gemm.c.dtype))));
        let gemm = Arc::new(*gemm);
        stream.core.submit(Operation::new("blas gemm", accesses, move |run| compute(run, &gemm)))
    }
}
