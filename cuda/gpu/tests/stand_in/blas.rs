//! cuBLAS and cuBLASLt: products by their definition, computed in f64.

use std::ffi::{c_int, c_longlong, c_void};
use std::sync::Arc;

use half::{bf16, f16};
use parking_lot::Mutex;

use super::driver::{entry_points, put};
use super::state::{Answer, Context, check_range, forget, keep, load, own, store, violation, write};
use super::stream::Stream;

const INVALID_VALUE: c_int = 7;
const NOT_SUPPORTED: c_int = 15;

/// Returns the size in bytes of an element of a supported `cudaDataType_t`.
fn size(dtype: c_int) -> Answer<usize> {
    match dtype {
        0 => Ok(4),
        1 => Ok(8),
        2 | 14 => Ok(2),
        _ => Err(NOT_SUPPORTED),
    }
}

/// Reads elements of device memory as f64.
pub(crate) fn numbers(dtype: c_int, address: u64, count: usize) -> Answer<Vec<f64>> {
    Ok(match dtype {
        0 => load::<f32>(address, count)?.into_iter().map(f64::from).collect(),
        1 => load::<f64>(address, count)?,
        2 => load::<f16>(address, count)?.into_iter().map(f64::from).collect(),
        14 => load::<bf16>(address, count)?.into_iter().map(f64::from).collect(),
        _ => return Err(NOT_SUPPORTED),
    })
}

/// Writes f64 values as elements of device memory.
pub(crate) fn put_numbers(dtype: c_int, address: u64, values: &[f64]) -> Answer {
    match dtype {
        0 => store(address, &values.iter().map(|&value| value as f32).collect::<Vec<_>>()),
        1 => store(address, values),
        2 => store(address, &values.iter().map(|&value| f16::from_f64(value)).collect::<Vec<_>>()),
        14 => store(address, &values.iter().map(|&value| bf16::from_f64(value)).collect::<Vec<_>>()),
        _ => Err(NOT_SUPPORTED),
    }
}

/// Reads a factor from host memory.
fn factor(dtype: c_int, place: *const c_void) -> Answer<f64> {
    // SAFETY: the pointer is an entry point's `alpha` or `beta`, which refers to a number of the
    // type that the same call specifies.
    unsafe {
        Ok(match dtype {
            0 => f64::from(place.cast::<f32>().read()),
            1 => place.cast::<f64>().read(),
            2 => f64::from(place.cast::<f16>().read()),
            _ => return Err(NOT_SUPPORTED),
        })
    }
}

/// `CUBLAS_COMPUTE_32F_FAST_TF32`.
const TF32: c_int = 77;

/// Rounds an f32 as the tensor cores do, to 10 bits of fraction.
pub(crate) fn to_tf32(x: f64) -> f64 {
    f32::from_bits((x as f32).to_bits() & !0x1fff).into()
}

/// Returns the type of the factors for a `cublasComputeType_t`.
fn factor_type(compute: c_int) -> Answer<c_int> {
    match compute {
        64 => Ok(2),
        68 | TF32 => Ok(0),
        70 => Ok(1),
        _ => Err(NOT_SUPPORTED),
    }
}

#[derive(Default)]
struct Handle {
    stream: Mutex<Option<Arc<Stream>>>,
    workspace: Mutex<Option<u64>>,
}

impl Handle {
    fn stream(&self) -> Arc<Stream> {
        self.stream.lock().clone().unwrap_or_else(|| violation("cuBLAS would use the legacy default stream"))
    }
}

#[derive(Clone, Copy)]
struct Operand {
    address: u64,
    dtype: c_int,
    leading: i64,
    stride: i64,
    /// The number of rows of the stored matrix, which is column-major.
    rows: i64,
    columns: i64,
}

impl Operand {
    fn span(&self) -> Answer<usize> {
        if self.leading < self.rows.max(1) {
            return Err(INVALID_VALUE);
        }
        Ok(((self.columns - 1) * self.leading + self.rows).max(0) as usize)
    }

    fn check(&self, batch: i64) -> Answer {
        let elements = self.span()? as i64 + (batch - 1) * self.stride;
        check_range(self.address, elements as u64 * size(self.dtype)? as u64).map_err(|_| INVALID_VALUE)
    }

    fn load(&self, batch: i64) -> Answer<Vec<f64>> {
        let offset = (batch * self.stride) as u64 * size(self.dtype)? as u64;
        numbers(self.dtype, self.address + offset, self.span()?)
    }
}

struct Product {
    transposed: [bool; 2],
    extents: [i64; 3],
    operands: [Operand; 3],
    factors: [f64; 2],
    batch: i64,
    rounds_to_tf32: bool,
    /// The address of the bias, and whether negative results become zero.
    epilogue: (Option<u64>, bool),
}

impl Product {
    fn submit(self, stream: &Stream, workspace: Option<u64>) -> Answer {
        self.operands.iter().try_for_each(|operand| operand.check(self.batch))?;
        stream.submit("matrix product", move || {
            if let Some(workspace) = workspace
                && write(workspace, &[0x5a; 64]).is_err()
            {
                violation("a product's workspace is freed before the product is done");
            }
            (0..self.batch).try_for_each(|batch| self.run(batch))
        })
    }

    fn run(&self, batch: i64) -> Answer {
        let [m, n, k] = self.extents;
        let [a, b, c] = &self.operands;
        let (mut x, mut y, mut z) = (a.load(batch)?, b.load(batch)?, c.load(batch)?);
        if self.rounds_to_tf32 {
            x.iter_mut().chain(&mut y).for_each(|x| *x = to_tf32(*x));
        }
        // The strides of rows and columns of the multiplied matrix: a stored column is a row of the
        // transpose.
        let strides = |turned: bool, operand: &Operand| {
            let leading = operand.leading as isize;
            if turned { (leading, 1) } else { (1, leading) }
        };
        let ((row_a, column_a), (row_b, column_b)) =
            (strides(self.transposed[0], a), strides(self.transposed[1], b));
        let [alpha, beta] = self.factors;
        let (m, n, k) = (m as usize, n as usize, k as usize);
        // SAFETY: each vector was read with the length that `span` computes, up to the last element
        // of its matrix at this leading dimension. The strides are those of the matrix or of its
        // transpose, which have the same elements. The result overlaps neither operand, and no two
        // of its elements share a place, because `span` rejects a leading dimension below the
        // number of rows.
        unsafe {
            matrixmultiply::dgemm(
                m,
                k,
                n,
                alpha,
                x.as_ptr(),
                row_a,
                column_a,
                y.as_ptr(),
                row_b,
                column_b,
                beta,
                z.as_mut_ptr(),
                1,
                c.leading as isize,
            );
        }
        let bias = match self.epilogue.0 {
            Some(address) => numbers(c.dtype, address, m)?,
            None => vec![0.0; m],
        };
        for column in z.chunks_mut(c.leading as usize) {
            for (z, bias) in column.iter_mut().zip(&bias) {
                let sum = *z + bias;
                *z = if self.epilogue.1 && sum < 0.0 { 0.0 } else { sum };
            }
        }
        let offset = (batch * c.stride) as u64 * size(c.dtype)? as u64;
        put_numbers(c.dtype, c.address + offset, &z)
    }
}

fn turned(operation: c_int, rows: i64, columns: i64) -> (i64, i64) {
    if operation == 0 { (rows, columns) } else { (columns, rows) }
}

entry_points! {
    fn cublasCreate_v2(handle: *mut *mut c_void) {
        let context = Context::working("cublasCreate")?;
        put(handle, keep(context, "cuBLAS handle", Arc::new(Handle::default())))
    }
    fn cublasDestroy_v2(handle: *mut c_void) {
        drop(forget::<Handle>(handle, "cublasDestroy"));
        Ok(())
    }
    fn cublasSetStream_v2(handle: *mut c_void, stream: *mut c_void) {
        let handle = own::<Handle>(handle, "cublasSetStream");
        *handle.stream.lock() = Some(own(stream, "cublasSetStream"));
        *handle.workspace.lock() = None;
        Ok(())
    }
    fn cublasSetMathMode(handle: *mut c_void, _mode: c_int) {
        drop(own::<Handle>(handle, "cublasSetMathMode"));
        Ok(())
    }
    fn cublasSetWorkspace_v2(handle: *mut c_void, workspace: u64, bytes: usize) {
        check_range(workspace, bytes as u64).map_err(|_| INVALID_VALUE)?;
        *own::<Handle>(handle, "cublasSetWorkspace").workspace.lock() = Some(workspace);
        Ok(())
    }
    fn cublasAxpyEx_64(
        handle: *mut c_void, n: i64, alpha: *const c_void, alpha_type: c_int, x: u64, x_type: c_int, incx: i64, y: u64,
        y_type: c_int, incy: i64, _execution: c_int,
    ) {
        let (stream, alpha) = (own::<Handle>(handle, "cublasAxpyEx").stream(), factor(alpha_type, alpha)?);
        let count = move |increment: i64| ((n - 1) * increment.abs() + 1).max(0) as usize;
        check_range(x, (count(incx) * size(x_type)?) as u64).map_err(|_| INVALID_VALUE)?;
        check_range(y, (count(incy) * size(y_type)?) as u64).map_err(|_| INVALID_VALUE)?;
        let first = move |increment: i64| if increment < 0 { (1 - n) * increment } else { 0 };
        stream.submit("axpy", move || {
            let (from, mut to) = (numbers(x_type, x, count(incx))?, numbers(y_type, y, count(incy))?);
            for i in 0..n {
                let (at_x, at_y) = (first(incx) + i * incx, first(incy) + i * incy);
                to[at_y as usize] += alpha * from[at_x as usize];
            }
            put_numbers(y_type, y, &to)
        })
    }
    fn cublasScalEx_64(
        handle: *mut c_void, n: i64, alpha: *const c_void, alpha_type: c_int, x: u64, x_type: c_int, incx: i64,
        _execution: c_int,
    ) {
        let (stream, alpha) = (own::<Handle>(handle, "cublasScalEx").stream(), factor(alpha_type, alpha)?);
        let count = ((n - 1) * incx + 1).max(0) as usize;
        check_range(x, (count * size(x_type)?) as u64).map_err(|_| INVALID_VALUE)?;
        stream.submit("scal", move || {
            let mut values = numbers(x_type, x, count)?;
            values.iter_mut().step_by(incx as usize).for_each(|value| *value *= alpha);
            put_numbers(x_type, x, &values)
        })
    }
    fn cublasGemmStridedBatchedEx_64(
        handle: *mut c_void, transa: c_int, transb: c_int, m: i64, n: i64, k: i64, alpha: *const c_void, a: u64,
        a_type: c_int, lda: i64, a_stride: c_longlong, b: u64, b_type: c_int, ldb: i64, b_stride: c_longlong,
        beta: *const c_void, c: u64, c_type: c_int, ldc: i64, c_stride: c_longlong, batch: i64, compute: c_int,
        _algorithm: c_int,
    ) {
        let handle = own::<Handle>(handle, "cublasGemmStridedBatchedEx");
        let factors = factor_type(compute)?;
        let ((a_rows, a_columns), (b_rows, b_columns)) = (turned(transa, m, k), turned(transb, k, n));
        let operand = |address, dtype, leading, stride, rows, columns| {
            Operand { address, dtype, leading, stride, rows, columns }
        };
        let product = Product {
            transposed: [transa != 0, transb != 0],
            extents: [m, n, k],
            operands: [
                operand(a, a_type, lda, a_stride, a_rows, a_columns),
                operand(b, b_type, ldb, b_stride, b_rows, b_columns),
                operand(c, c_type, ldc, c_stride, m, n),
            ],
            factors: [factor(factors, alpha)?, factor(factors, beta)?],
            batch,
            rounds_to_tf32: compute == TF32,
            epilogue: (None, false),
        };
        let workspace = *handle.workspace.lock();
        product.submit(&handle.stream(), workspace)
    }
}

// ---- cuBLASLt
// -------------------------------------------------------------------------------------------------------

struct Lt;

/// A descriptor of a product, a matrix or a preference: numbers by attribute.
#[derive(Default)]
struct Described(Mutex<Vec<(c_int, i64)>>);

impl Described {
    fn set(&self, attribute: c_int, value: *const c_void, bytes: usize) -> Answer {
        // SAFETY: the pointer is an entry point's value, with the size that the same call
        // specifies.
        let number = unsafe {
            match bytes {
                4 => i64::from(value.cast::<i32>().read()),
                8 => value.cast::<i64>().read(),
                _ => return Err(INVALID_VALUE),
            }
        };
        self.0.lock().push((attribute, number));
        Ok(())
    }

    fn get(&self, attribute: c_int, default: i64) -> i64 {
        self.0
            .lock()
            .iter()
            .rev()
            .find(|(known, _)| *known == attribute)
            .map_or(default, |(_, number)| *number)
    }
}

/// Attributes of this stand-in, with numbers that the library does not use.
const COMPUTE: c_int = 1001;
const SCALE: c_int = 1002;
const DTYPE: c_int = 1003;
const ROWS: c_int = 1004;
const COLUMNS: c_int = 1005;
const LEADING: c_int = 1006;
/// Attributes of the library.
const TRANSA: c_int = 3;
const TRANSB: c_int = 4;
const EPILOGUE: c_int = 7;
const BIAS_POINTER: c_int = 8;
const BATCH: c_int = 5;
const STRIDE: c_int = 6;

fn described(call: &str, kind: &'static str, known: &[(c_int, i64)]) -> *mut c_void {
    keep(Context::current(call), kind, Arc::new(Described(Mutex::new(known.to_vec()))))
}

fn operand(address: u64, layout: &Described) -> Operand {
    Operand {
        address,
        dtype: layout.get(DTYPE, -1) as c_int,
        leading: layout.get(LEADING, 0),
        stride: layout.get(STRIDE, 0),
        rows: layout.get(ROWS, 0),
        columns: layout.get(COLUMNS, 0),
    }
}

fn lt_product(
    descriptor: *mut c_void,
    operands: [(u64, *mut c_void); 3],
    factors: impl Fn(c_int) -> Answer<[f64; 2]>,
) -> Answer<Product> {
    let descriptor = own::<Described>(descriptor, "cublasLtMatmul");
    let layouts = operands.map(|(address, layout)| (address, own::<Described>(layout, "cublasLtMatmul")));
    let batch = layouts[2].1.get(BATCH, 1);
    let transposed = [TRANSA, TRANSB].map(|attribute| descriptor.get(attribute, 0) != 0);
    let [a, b, c] = layouts.map(|(address, layout)| operand(address, &layout));
    let k = if transposed[0] { a.rows } else { a.columns };
    let (b_k, b_n) = if transposed[1] { (b.columns, b.rows) } else { (b.rows, b.columns) };
    if b_k != k || b_n != c.columns {
        return Err(INVALID_VALUE);
    }
    let compute = descriptor.get(COMPUTE, 0) as c_int;
    if factor_type(compute)? != descriptor.get(SCALE, -1) as c_int {
        return Err(NOT_SUPPORTED);
    }
    for operand in [&a, &b, &c] {
        size(operand.dtype)?;
        operand.span()?;
    }
    let factors = factors(factor_type(compute)?)?;
    let rounds_to_tf32 = compute == TF32;
    let extents = [c.rows, c.columns, k];
    // Sums of the numbers of ReLU and bias, and 1 for neither.
    let has_bias = match descriptor.get(EPILOGUE, 1) {
        1 | 2 => None,
        4 | 6 => Some(descriptor.get(BIAS_POINTER, 0).cast_unsigned()),
        _ => return Err(NOT_SUPPORTED),
    };
    let epilogue = (has_bias, descriptor.get(EPILOGUE, 1) & 2 != 0);
    Ok(Product { transposed, extents, operands: [a, b, c], factors, batch, rounds_to_tf32, epilogue })
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
pub(crate) struct Heuristic {
    algorithm: [u64; 8],
    workspace_bytes: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

/// The representation of an algorithm of this library, and the workspace that it needs.
const ALGORITHM: u64 = 0x5354_414e_4449_4e21;
const WORKSPACE_BYTES: usize = 1 << 20;

entry_points! {
    fn cublasLtCreate(handle: *mut *mut c_void) {
        put(handle, keep(Context::working("cublasLtCreate")?, "cuBLASLt handle", Arc::new((Lt, 0u8))))
    }
    fn cublasLtDestroy(handle: *mut c_void) {
        drop(forget::<(Lt, u8)>(handle, "cublasLtDestroy"));
        Ok(())
    }
    fn cublasLtMatmulDescCreate(descriptor: *mut *mut c_void, compute: c_int, scale: c_int) {
        let known = [(COMPUTE, compute.into()), (SCALE, scale.into())];
        put(descriptor, described("cublasLtMatmulDescCreate", "product", &known))
    }
    fn cublasLtMatmulDescSetAttribute(descriptor: *mut c_void, attribute: c_int, value: *const c_void, bytes: usize) {
        own::<Described>(descriptor, "cublasLtMatmulDescSetAttribute").set(attribute, value, bytes)
    }
    fn cublasLtMatmulDescDestroy(descriptor: *mut c_void) {
        drop(forget::<Described>(descriptor, "cublasLtMatmulDescDestroy"));
        Ok(())
    }
    fn cublasLtMatrixLayoutCreate(layout: *mut *mut c_void, dtype: c_int, rows: u64, columns: u64, leading: i64) {
        let (rows, columns) = (rows as i64, columns as i64);
        let known = [(DTYPE, dtype.into()), (ROWS, rows), (COLUMNS, columns), (LEADING, leading)];
        put(layout, described("cublasLtMatrixLayoutCreate", "matrix layout", &known))
    }
    fn cublasLtMatrixLayoutSetAttribute(layout: *mut c_void, attribute: c_int, value: *const c_void, bytes: usize) {
        own::<Described>(layout, "cublasLtMatrixLayoutSetAttribute").set(attribute, value, bytes)
    }
    fn cublasLtMatrixLayoutDestroy(layout: *mut c_void) {
        drop(forget::<Described>(layout, "cublasLtMatrixLayoutDestroy"));
        Ok(())
    }
    fn cublasLtMatmulPreferenceCreate(preference: *mut *mut c_void) {
        put(preference, described("cublasLtMatmulPreferenceCreate", "preference", &[]))
    }
    fn cublasLtMatmulPreferenceSetAttribute(
        preference: *mut c_void, attribute: c_int, value: *const c_void, bytes: usize,
    ) {
        own::<Described>(preference, "cublasLtMatmulPreferenceSetAttribute").set(attribute, value, bytes)
    }
    fn cublasLtMatmulPreferenceDestroy(preference: *mut c_void) {
        drop(forget::<Described>(preference, "cublasLtMatmulPreferenceDestroy"));
        Ok(())
    }
    fn cublasLtMatmulAlgoGetHeuristic(
        handle: *mut c_void, descriptor: *mut c_void, a: *mut c_void, b: *mut c_void, c: *mut c_void, d: *mut c_void,
        preference: *mut c_void, wanted: c_int, results: *mut Heuristic, found: *mut c_int,
    ) {
        drop(own::<(Lt, u8)>(handle, "cublasLtMatmulAlgoGetHeuristic"));
        drop(own::<Described>(preference, "cublasLtMatmulAlgoGetHeuristic"));
        drop(own::<Described>(d, "cublasLtMatmulAlgoGetHeuristic"));
        lt_product(descriptor, [(0, a), (0, b), (0, c)], |_| Ok([0.0; 2]))?;
        if wanted < 1 {
            return Err(INVALID_VALUE);
        }
        let result = Heuristic {
            algorithm: [ALGORITHM; 8],
            workspace_bytes: WORKSPACE_BYTES,
            state: 0,
            waves: 1.0,
            reserved: [0; 4],
        };
        put(results, result)?;
        put(found, 1)
    }
    fn cublasLtMatmul(
        handle: *mut c_void, descriptor: *mut c_void, alpha: *const c_void, a: u64, a_layout: *mut c_void, b: u64,
        b_layout: *mut c_void, beta: *const c_void, c: u64, c_layout: *mut c_void, d: u64, d_layout: *mut c_void,
        algorithm: *const [u64; 8], workspace: u64, bytes: usize, stream: *mut c_void,
    ) {
        drop(own::<(Lt, u8)>(handle, "cublasLtMatmul"));
        // SAFETY: the caller passes an algorithm, a structure of eight words.
        let algorithm = unsafe { *algorithm };
        if algorithm != [ALGORITHM; 8] || bytes < WORKSPACE_BYTES || (c, c_layout) != (d, d_layout) {
            return Err(INVALID_VALUE);
        }
        check_range(workspace, bytes as u64).map_err(|_| INVALID_VALUE)?;
        let factors = |dtype| Ok([factor(dtype, alpha)?, factor(dtype, beta)?]);
        let product = lt_product(descriptor, [(a, a_layout), (b, b_layout), (c, c_layout)], factors)?;
        product.submit(&own::<Stream>(stream, "cublasLtMatmul"), Some(workspace))
    }
}
