//! cuBLAS, and cuBLASLt for matrix products.
//!
//! A product goes through cuBLASLt, whose choice for a shape can be kept ([`matmul`]). It goes
//! through cuBLAS if it names an algorithm of cuBLAS, if cuBLASLt does not support it, or if there
//! is no memory for a workspace, because cuBLAS has its own. cuBLAS has no epilogues.

#![expect(unsafe_code, reason = "calls of cuBLAS's C interface")]

mod matmul;

use std::ffi::{c_int, c_longlong, c_void};
use std::sync::{Arc, LazyLock};

use cudarc::cublas::sys::{self as sys, cublasHandle_t};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Blas, F32Math, Gemm, Transpose};
use tfrt_host::DType;
use tfrt_math::Float;

use self::matmul::Matmuls;
use super::GpuOptions;
use super::context::{GpuContext, Shared};
use super::libraries::{LibrarySpec, library};
use super::stream::Stream;
use super::workspace::Purpose;

const SPEC: LibrarySpec = LibrarySpec {
    name: "cuBLAS",
    files: &["libcublas.so.13", "libcublas.so"],
    companions: &["libcublasLt.so.13"],
    missing: Status::BlasNotInitialized,
};

library! {
    /// cuBLAS.
    Cublas, SPEC;
    fn cublasCreate_v2(handle: *mut cublasHandle_t);
    fn cublasDestroy_v2(handle: cublasHandle_t);
    fn cublasSetStream_v2(handle: cublasHandle_t, stream: *mut c_void);
    fn cublasSetMathMode(handle: cublasHandle_t, mode: c_int);
    fn cublasSetWorkspace_v2(handle: cublasHandle_t, workspace: u64, bytes: usize);
    fn cublasAxpyEx_64(handle: cublasHandle_t, n: i64, alpha: *const c_void, alpha_type: c_int, x: u64, x_type: c_int,
        incx: i64, y: u64, y_type: c_int, incy: i64, execution_type: c_int);
    fn cublasScalEx_64(handle: cublasHandle_t, n: i64, alpha: *const c_void, alpha_type: c_int, x: u64, x_type: c_int,
        incx: i64, execution_type: c_int);
    fn cublasGemmStridedBatchedEx_64(handle: cublasHandle_t, transa: c_int, transb: c_int, m: i64, n: i64, k: i64,
        alpha: *const c_void, a: u64, a_type: c_int, lda: i64, a_stride: c_longlong, b: u64, b_type: c_int, ldb: i64,
        b_stride: c_longlong, beta: *const c_void, c: u64, c_type: c_int, ldc: i64, c_stride: c_longlong, batch: i64,
        compute: c_int, algorithm: c_int);
}

/// The description of this work in errors.
static WHAT: LazyLock<Arc<str>> = LazyLock::new(|| "a call of cuBLAS".into());

/// The size of the workspace for products, as NVIDIA recommends for its larger devices. Algorithms
/// that need more are not used.
const WORKSPACE_BYTES: u64 = 32 << 20;

/// The states of the libraries.
pub(crate) struct BlasHandle {
    shared: Arc<Shared>,
    library: &'static Cublas,
    options: GpuOptions,
    /// Serializes calls, because stream and workspace are set on the handle.
    handle: Mutex<Handle>,
    matmuls: Matmuls,
}

struct Handle(cublasHandle_t);

// SAFETY: the handle may be used on any thread, by one thread at a time, which the mutex ensures.
unsafe impl Send for Handle {}

impl Drop for BlasHandle {
    fn drop(&mut self) {
        if self.shared.make_current().is_ok() {
            // SAFETY: the handle is alive and this is its only owner.
            let _ = unsafe { (self.library.cublasDestroy_v2)(self.handle.get_mut().0) };
        }
    }
}

/// Converts the status that cuBLAS or cuBLASLt returned from `call`.
fn check(status: c_int, call: &str) -> Result<()> {
    let (status, meaning) = match status {
        0 => return Ok(()),
        1 => (Status::BlasNotInitialized, "it could not be initialized"),
        3 => (Status::OutOfMemory, "it could not allocate memory"),
        7 => (Status::BlasInvalidValue, "an argument is invalid"),
        8 => (Status::BlasNotSupported, "the device is too old for it"),
        15 => (Status::BlasNotSupported, "this combination of types and shapes is not supported"),
        // A failure of a mapping (11), of a kernel (13), or an internal one (14).
        _ => {
            let text = format!("{call} answers status {status}");
            return Err(DeviceError::new(Status::BlasExecutionFailed, text));
        }
    };
    Err(DeviceError::new(status, format!("{meaning} ({call})")))
}

/// Returns the libraries' number for an element type.
fn data_type(dtype: DType) -> Result<c_int> {
    use sys::cudaDataType_t as T;
    let number = match dtype {
        DType::F16 => T::CUDA_R_16F,
        DType::BF16 => T::CUDA_R_16BF,
        DType::F32 => T::CUDA_R_32F,
        DType::F64 => T::CUDA_R_64F,
        DType::I8 => T::CUDA_R_8I,
        DType::I32 => T::CUDA_R_32I,
        DType::Complex64 => T::CUDA_C_32F,
        DType::Complex128 => T::CUDA_C_64F,
        other => return Err(not_supported(other)),
    };
    Ok(number as c_int)
}

fn not_supported(dtype: DType) -> DeviceError {
    DeviceError::new(Status::BlasNotSupported, format!("cuBLAS does not take {dtype} here"))
}

/// Returns the libraries' number for an arithmetic, and the type of its factors. f32 is computed in
/// f32, with no shorter type inside, unless TF32 is allowed.
fn compute_type(dtype: DType, options: GpuOptions) -> Result<(c_int, DType)> {
    use sys::cublasComputeType_t as T;
    let (number, factors) = match dtype {
        DType::F32 | DType::Complex64 if options.allows_tf32 => (T::CUBLAS_COMPUTE_32F_FAST_TF32, dtype),
        DType::F16 => (T::CUBLAS_COMPUTE_16F, DType::F16),
        DType::F32 | DType::Complex64 => (T::CUBLAS_COMPUTE_32F, dtype),
        DType::F64 | DType::Complex128 => (T::CUBLAS_COMPUTE_64F, dtype),
        DType::I32 => (T::CUBLAS_COMPUTE_32I, DType::I32),
        other => return Err(not_supported(other)),
    };
    Ok((number as c_int, factors))
}

fn operation(transpose: Transpose) -> c_int {
    match transpose {
        Transpose::None => sys::cublasOperation_t::CUBLAS_OP_N as c_int,
        Transpose::Transposed => sys::cublasOperation_t::CUBLAS_OP_T as c_int,
    }
}

/// A factor in the type in which the libraries read it.
#[repr(C, align(16))]
struct Factor([u8; 16]);

impl Factor {
    fn new(value: f64, dtype: DType) -> Result<Self> {
        let mut bytes = [0; 16];
        match dtype {
            DType::F16 => bytes[..2].copy_from_slice(&<half::f16 as Float>::from_f64(value).to_le_bytes()),
            // The imaginary part of a complex factor stays zero.
            DType::F32 | DType::Complex64 => bytes[..4].copy_from_slice(&(value as f32).to_le_bytes()),
            DType::F64 | DType::Complex128 => bytes[..8].copy_from_slice(&value.to_le_bytes()),
            DType::I32 => bytes[..4].copy_from_slice(&(value as i32).to_le_bytes()),
            other => return Err(not_supported(other)),
        }
        Ok(Self(bytes))
    }

    fn as_ptr(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }
}

/// Converts a count to the type that the libraries expect.
fn signed(count: u64) -> Result<i64> {
    i64::try_from(count).map_err(|_| DeviceError::new(Status::BlasInvalidValue, "a count does not fit"))
}

impl BlasHandle {
    /// Calls `call` with the handle set to the stream and to a workspace for it. If there is no
    /// memory for one, the library's own workspace is used. The context must be current.
    fn on(
        &self,
        stream: &Stream,
        workspace_bytes: u64,
        call: impl FnOnce(cublasHandle_t) -> Result<()>,
    ) -> Result<()> {
        let workspace = self.shared.workspaces.try_get(stream, Purpose::Scratch, workspace_bytes)?;
        let handle = self.handle.lock();
        // SAFETY: handle and stream are alive. The call also resets the handle's workspace to the
        // library's own.
        let status = unsafe { (self.library.cublasSetStream_v2)(handle.0, stream.raw().cast()) };
        check(status, "cublasSetStream")?;
        let address = workspace.as_ref().map_or(0, |workspace| workspace.address);
        if address != 0 {
            // SAFETY: the handle is alive and locked by this thread. `workspace` has this size,
            // belongs to this stream alone, and is lent until this function ends, when the work
            // that uses it is queued. The handle keeps the address, but uses it only in `call`: the
            // next user first sets the stream, which resets the workspace.
            let status =
                unsafe { (self.library.cublasSetWorkspace_v2)(handle.0, address, workspace_bytes as usize) };
            check(status, "cublasSetWorkspace")?;
        }
        call(handle.0)?;
        self.shared.launches.add(stream.raw().addr(), &WHAT);
        Ok(())
    }

    /// Computes a product with cuBLAS.
    fn gemm_ex(&self, stream: &Stream, gemm: &Gemm) -> Result<()> {
        let (compute, factors) = compute_type(gemm.compute, self.options)?;
        let (alpha, beta) = (Factor::new(gemm.alpha, factors)?, Factor::new(gemm.beta, factors)?);
        let (m, n, k, batch) = (signed(gemm.m)?, signed(gemm.n)?, signed(gemm.k)?, signed(gemm.batch)?);
        let (a, b, c) = (&gemm.a, &gemm.b, &gemm.c);
        let (a_type, b_type, c_type) = (data_type(a.dtype)?, data_type(b.dtype)?, data_type(c.dtype)?);
        let [lda, ldb, ldc] = [a, b, c].map(|operand| signed(operand.leading_dimension));
        let [a_stride, b_stride, c_stride] = [a, b, c].map(|operand| signed(operand.batch_stride));
        let (lda, ldb, ldc) = (lda?, ldb?, ldc?);
        let (a_stride, b_stride, c_stride) = (a_stride?, b_stride?, c_stride?);
        let (op_a, op_b) = (operation(gemm.transpose_a), operation(gemm.transpose_b));
        self.on(stream, WORKSPACE_BYTES, |handle| {
            // SAFETY: the front checked that the matrices are in device memory. The factors have
            // the type that the arithmetic requires, and outlive the call, which reads them.
            let status = unsafe {
                (self.library.cublasGemmStridedBatchedEx_64)(
                    handle,
                    op_a,
                    op_b,
                    m,
                    n,
                    k,
                    alpha.as_ptr(),
                    a.address,
                    a_type,
                    lda,
                    a_stride,
                    b.address,
                    b_type,
                    ldb,
                    b_stride,
                    beta.as_ptr(),
                    c.address,
                    c_type,
                    ldc,
                    c_stride,
                    batch,
                    compute,
                    gemm.algorithm,
                )
            };
            check(status, "cublasGemmStridedBatchedEx")
        })
    }
}

/// Returns the type that vector routines compute in.
fn vector_arithmetic(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

impl Blas for GpuContext {
    fn create_blas(&self, math: F32Math) -> Result<BlasHandle> {
        let options = self.bound()?.options.with(math);
        let (library, matmuls) = (Cublas::get()?, Matmuls::new(options)?);
        let mut handle = std::ptr::null_mut();
        // SAFETY: the context is current, and the pointer is valid for the call.
        check(unsafe { (library.cublasCreate_v2)(&raw mut handle) }, "cublasCreate")?;
        let (shared, handle) = (Arc::clone(&self.shared), Mutex::new(Handle(handle)));
        let blas = BlasHandle { shared, library, options, handle, matmuls };
        // Sums have the type of the arithmetic throughout, even if the result's type is shorter.
        let mode = sys::cublasMath_t::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION as c_int;
        // SAFETY: the handle is alive.
        check(unsafe { (library.cublasSetMathMode)(blas.handle.lock().0, mode) }, "cublasSetMathMode")?;
        Ok(blas)
    }

    fn axpy(
        &self,
        blas: &BlasHandle,
        stream: &Stream,
        dtype: DType,
        n: u64,
        alpha: f64,
        (x, incx): (u64, i64),
        (y, incy): (u64, i64),
    ) -> Result<()> {
        self.bound()?;
        let arithmetic = vector_arithmetic(dtype);
        let (n, factor) = (signed(n)?, Factor::new(alpha, arithmetic)?);
        let (element, arithmetic) = (data_type(dtype)?, data_type(arithmetic)?);
        blas.on(stream, 0, |handle| {
            // SAFETY: the front checked that the vectors are in device memory. The factor outlives
            // the call.
            let status = unsafe {
                (blas.library.cublasAxpyEx_64)(
                    handle,
                    n,
                    factor.as_ptr(),
                    arithmetic,
                    x,
                    element,
                    incx,
                    y,
                    element,
                    incy,
                    arithmetic,
                )
            };
            check(status, "cublasAxpyEx")
        })
    }

    fn scal(
        &self,
        blas: &BlasHandle,
        stream: &Stream,
        dtype: DType,
        n: u64,
        alpha: f64,
        (x, incx): (u64, i64),
    ) -> Result<()> {
        self.bound()?;
        let arithmetic = vector_arithmetic(dtype);
        let (n, factor) = (signed(n)?, Factor::new(alpha, arithmetic)?);
        let (element, arithmetic) = (data_type(dtype)?, data_type(arithmetic)?);
        blas.on(stream, 0, |handle| {
            // SAFETY: the front checked that the vector is in device memory. The factor outlives
            // the call.
            let status = unsafe {
                (blas.library.cublasScalEx_64)(
                    handle,
                    n,
                    factor.as_ptr(),
                    arithmetic,
                    x,
                    element,
                    incx,
                    arithmetic,
                )
            };
            check(status, "cublasScalEx")
        })
    }

    fn gemm(&self, blas: &BlasHandle, stream: &Stream, gemm: &Gemm) -> Result<()> {
        let shared = self.bound()?;
        if gemm.m == 0 || gemm.n == 0 || gemm.batch == 0 {
            return Ok(());
        }
        if gemm.algorithm < 0 && gemm.k > 0 && blas.matmuls.run(shared, stream, gemm)? {
            return Ok(());
        }
        if !gemm.epilogue.is_empty() {
            let detail = "cuBLASLt does not apply this epilogue to a product of this shape";
            return Err(DeviceError::new(Status::BlasNotSupported, detail));
        }
        blas.gemm_ex(stream, gemm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libraries::is_installed;

    #[test]
    fn factors_have_the_type_that_goes_with_the_arithmetic() {
        assert_eq!(Factor::new(1.5, DType::F32).unwrap().0[..4], 1.5f32.to_le_bytes());
        assert_eq!(Factor::new(-2.0, DType::F64).unwrap().0[..8], (-2.0f64).to_le_bytes());
        assert_eq!(Factor::new(0.5, DType::F16).unwrap().0[..2], half::f16::from_f32(0.5).to_le_bytes());
        assert!(Factor::new(1.0, DType::String).is_err());
    }

    /// Where the libraries are installed, they have every function that is called.
    #[test]
    fn the_library_is_there_or_told_of() {
        is_installed(&Cublas::get(), &SPEC);
    }

    #[test]
    fn statuses_keep_their_meaning() {
        assert!(check(0, "cublasCreate").is_ok());
        assert_eq!(check(7, "cublasGemmEx").unwrap_err().status, Status::BlasInvalidValue);
        // A status that no current header defines.
        let error = check(4711, "cublasGemmEx").unwrap_err();
        assert!(error.detail.contains("4711"), "{error}");
    }
}
