//! BLAS. Matrices are column-major.

use half::{bf16, f16};
use tfrt_device::front::{BlasHandle, Context, DeviceBuffer, GemmArguments, GemmEpilogue, Matrix, Stream};
use tfrt_device::hal::Transpose;
use tfrt_host::{Arg, Chain, DType, Diagnostic, ExecutionContext, KernelRegistry};

use crate::{from, from_library};

fn create(context: Arg<Context>, cx: &ExecutionContext) -> Result<BlasHandle, Diagnostic> {
    Ok(from(cx, &context, || context.create_blas())?)
}

fn destroy(handle: Arg<BlasHandle>, _chain: Chain) -> Result<Chain, Diagnostic> {
    handle.destroy()?;
    Ok(Chain)
}

fn set_stream(handle: Arg<BlasHandle>, stream: Arg<Stream>, _chain: Chain) -> Result<Chain, Diagnostic> {
    handle.set_stream(&stream)?;
    Ok(Chain)
}

/// cuBLAS's numbers: not transposed, transposed, conjugate transposed.
fn transpose(operation: i32) -> Result<Transpose, Diagnostic> {
    match operation {
        0 => Ok(Transpose::None),
        1 | 2 => Ok(Transpose::Transposed),
        _ => Err(Diagnostic::invalid_argument(format!("Invalid BlasOperation value: {operation}"))),
    }
}

/// cuBLAS's numbers of data types.
fn data_type(number: i32) -> Result<DType, Diagnostic> {
    match number {
        0 => Ok(DType::F32),
        1 => Ok(DType::F64),
        2 => Ok(DType::F16),
        3 => Ok(DType::I8),
        8 => Ok(DType::UI8),
        10 => Ok(DType::I32),
        14 => Ok(DType::BF16),
        _ => Err(Diagnostic::invalid_argument(format!(
            "{number} is no data type of cuBLAS's that is supported"
        ))),
    }
}

/// What a product of one type is summed in.
fn compute_type(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

fn axpy(
    (context, handle): (&Context, &BlasHandle),
    dtype: DType,
    n: i32,
    alpha: f64,
    x: (&DeviceBuffer, i32),
    y: (&DeviceBuffer, i32),
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (x, y) = ((x.0, i64::from(x.1)), (y.0, i64::from(y.1)));
    from_library(cx, context, handle, || handle.axpy(dtype, n.into(), alpha, x, y))?;
    Ok(Chain)
}

fn gemm(
    cx: &ExecutionContext,
    context: &Context,
    handle: &BlasHandle,
    arguments: &GemmArguments<'_>,
) -> Result<Chain, Diagnostic> {
    from_library(cx, context, handle, || handle.gemm(arguments))?;
    Ok(Chain)
}

macro_rules! vector_kernels {
    ($registry:expr, $($suffix:literal, $type:ty, $dtype:ident, |$alpha:ident| $wide:expr;)*) => {$(
        $registry
            .add(
                concat!("tfrt_cuda.blas.axpy.", $suffix),
                |context: Arg<Context>,
                 handle: Arg<BlasHandle>,
                 n: i32,
                 $alpha: $type,
                 x: Arg<DeviceBuffer>,
                 incx: i32,
                 y: Arg<DeviceBuffer>,
                 incy: i32,
                 _chain: Chain,
                 cx: &ExecutionContext| {
                    axpy((&context, &handle), DType::$dtype, n, $wide, (&x, incx), (&y, incy), cx)
                },
            )
            .side_effecting()
            .mutates(&[6])
            .doc("y = alpha · x + y: context, handle, n, alpha, x, its increment, y, its increment.");
        $registry
            .add(
                concat!("tfrt_cuda.blas.scal.", $suffix),
                |context: Arg<Context>,
                 handle: Arg<BlasHandle>,
                 n: i32,
                 $alpha: $type,
                 x: Arg<DeviceBuffer>,
                 incx: i32,
                 _chain: Chain,
                 cx: &ExecutionContext| {
                    from_library(cx, &context, &handle, || handle.scal(DType::$dtype, n.into(), $wide, (&x, incx.into())))?;
                    Ok::<_, Diagnostic>(Chain)
                },
            )
            .side_effecting()
            .mutates(&[4])
            .doc("x = alpha · x: context, handle, n, alpha, x, its increment.");
    )*};
}

macro_rules! gemm_kernels {
    ($registry:expr, $($suffix:literal, $type:ty, $dtype:ident, |$value:ident| $wide:expr;)*) => {$(
        $registry
            .add(
                concat!("tfrt_cuda.blas.gemm.", $suffix),
                |context: Arg<Context>,
                 handle: Arg<BlasHandle>,
                 transa: i32,
                 transb: i32,
                 m: i32,
                 n: i32,
                 k: i32,
                 alpha: $type,
                 a: Arg<DeviceBuffer>,
                 lda: i32,
                 b: Arg<DeviceBuffer>,
                 ldb: i32,
                 beta: $type,
                 c: Arg<DeviceBuffer>,
                 ldc: i32,
                 _chain: Chain,
                 cx: &ExecutionContext| {
                    let wide = |$value: $type| $wide;
                    let dtype = DType::$dtype;
                    let arguments = GemmArguments {
                        transpose: [transpose(transa)?, transpose(transb)?],
                        m: m.into(),
                        n: n.into(),
                        k: k.into(),
                        alpha: wide(alpha),
                        a: Matrix { buffer: &a, dtype, leading_dimension: lda.into(), batch_stride: 0 },
                        b: Matrix { buffer: &b, dtype, leading_dimension: ldb.into(), batch_stride: 0 },
                        beta: wide(beta),
                        c: Matrix { buffer: &c, dtype, leading_dimension: ldc.into(), batch_stride: 0 },
                        compute: compute_type(dtype),
                        batch: 1,
                        algorithm: -1,
                        epilogue: GemmEpilogue::default(),
                    };
                    gemm(cx, &context, &handle, &arguments)
                },
            )
            .side_effecting()
            .mutates(&[13])
            .doc("C = alpha · op(A) · op(B) + beta · C, column-major; op 0 is the matrix, 1 its transpose.");
        $registry
            .add(
                concat!("tfrt_cuda.blas.gemm.strided_batched.", $suffix),
                |context: Arg<Context>,
                 handle: Arg<BlasHandle>,
                 transa: i32,
                 transb: i32,
                 m: i32,
                 n: i32,
                 k: i32,
                 alpha: $type,
                 a: Arg<DeviceBuffer>,
                 lda: i32,
                 stride_a: i64,
                 b: Arg<DeviceBuffer>,
                 ldb: i32,
                 stride_b: i64,
                 beta: $type,
                 c: Arg<DeviceBuffer>,
                 ldc: i32,
                 stride_c: i64,
                 batch: i32,
                 _chain: Chain,
                 cx: &ExecutionContext| {
                    let wide = |$value: $type| $wide;
                    let dtype = DType::$dtype;
                    let arguments = GemmArguments {
                        transpose: [transpose(transa)?, transpose(transb)?],
                        m: m.into(),
                        n: n.into(),
                        k: k.into(),
                        alpha: wide(alpha),
                        a: Matrix { buffer: &a, dtype, leading_dimension: lda.into(), batch_stride: stride_a },
                        b: Matrix { buffer: &b, dtype, leading_dimension: ldb.into(), batch_stride: stride_b },
                        beta: wide(beta),
                        c: Matrix { buffer: &c, dtype, leading_dimension: ldc.into(), batch_stride: stride_c },
                        compute: compute_type(dtype),
                        batch: batch.into(),
                        algorithm: -1,
                        epilogue: GemmEpilogue::default(),
                    };
                    gemm(cx, &context, &handle, &arguments)
                },
            )
            .side_effecting()
            .mutates(&[15])
            .doc("As gemm, for each of a batch of matrices that lie so many elements apart.");
    )*};
}

/// A product of matrices of any types.
#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn gemm_ex(
    context: Arg<Context>,
    handle: Arg<BlasHandle>,
    transa: i32,
    transb: i32,
    m: i32,
    n: i32,
    k: i32,
    alpha: f32,
    a: Arg<DeviceBuffer>,
    type_a: i32,
    lda: i32,
    b: Arg<DeviceBuffer>,
    type_b: i32,
    ldb: i32,
    beta: f32,
    c: Arg<DeviceBuffer>,
    type_c: i32,
    ldc: i32,
    compute: i32,
    algorithm: i32,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let arguments = GemmArguments {
        transpose: [transpose(transa)?, transpose(transb)?],
        m: m.into(),
        n: n.into(),
        k: k.into(),
        alpha: alpha.into(),
        a: Matrix { buffer: &a, dtype: data_type(type_a)?, leading_dimension: lda.into(), batch_stride: 0 },
        b: Matrix { buffer: &b, dtype: data_type(type_b)?, leading_dimension: ldb.into(), batch_stride: 0 },
        beta: beta.into(),
        c: Matrix { buffer: &c, dtype: data_type(type_c)?, leading_dimension: ldc.into(), batch_stride: 0 },
        compute: data_type(compute)?,
        batch: 1,
        algorithm,
        epilogue: GemmEpilogue::default(),
    };
    gemm(cx, &context, &handle, &arguments)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry.add("tfrt_cuda.blas.create", create).blocking().doc("Starts the BLAS library for a context.");
    registry.add("tfrt_cuda.blas.destroy", destroy).side_effecting().doc("Ends the BLAS library's use.");
    registry
        .add("tfrt_cuda.blas.set_stream", set_stream)
        .side_effecting()
        .doc("Sets the stream that BLAS calls are queued on from now on.");
    vector_kernels! {
        registry,
        "f32", f32, F32, |alpha| f64::from(alpha);
        "f64", f64, F64, |alpha| alpha;
    }
    gemm_kernels! {
        registry,
        "f16", f16, F16, |value| value.to_f64();
        "bf16", bf16, BF16, |value| value.to_f64();
        "f32", f32, F32, |value| f64::from(value);
        "f64", f64, F64, |value| value;
    }
    registry.add("tfrt_cuda.blas.gemm.ex", gemm_ex).side_effecting().mutates(&[15]).doc(
        "As gemm, with types by cuBLAS's numbers (0 f32, 1 f64, 2 f16, 3 i8, 10 i32, 14 bf16) behind each \
             matrix; at the end the type that is summed in and the algorithm (-1: the library's choice).",
    );
}
