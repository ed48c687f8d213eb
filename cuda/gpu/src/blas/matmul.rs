//! Matrix products through cuBLASLt. Descriptors and the algorithm that the heuristic returns are
//! kept for each shape, so that the next product of the shape is a single call.

#![expect(unsafe_code, reason = "calls of cuBLASLt's C interface")]

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use cudarc::cublaslt::sys::{
    self as sys, cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatmulPreference_t, cublasLtMatrixLayout_t,
};
use parking_lot::Mutex;
use tfrt_device::error::{Result, Status};
use tfrt_device::hal::{Gemm, GemmOperand, Transpose};
use tfrt_host::DType;

use super::{Factor, WORKSPACE_BYTES, check, compute_type, data_type, operation, signed};
use crate::GpuOptions;
use crate::context::Shared;
use crate::libraries::{LibrarySpec, library};
use crate::stream::Stream;
use crate::workspace::Purpose;

const SPEC: LibrarySpec = LibrarySpec {
    name: "cuBLASLt",
    files: &["libcublasLt.so.13", "libcublasLt.so"],
    companions: &[],
    missing: Status::BlasNotInitialized,
};

library! {
    /// cuBLASLt.
    CublasLt, SPEC;
    fn cublasLtCreate(handle: *mut cublasLtHandle_t);
    fn cublasLtDestroy(handle: cublasLtHandle_t);
    fn cublasLtMatmulDescCreate(descriptor: *mut cublasLtMatmulDesc_t, compute: c_int, scale: c_int);
    fn cublasLtMatmulDescSetAttribute(descriptor: cublasLtMatmulDesc_t, attribute: c_int, value: *const c_void,
        bytes: usize);
    fn cublasLtMatmulDescDestroy(descriptor: cublasLtMatmulDesc_t);
    fn cublasLtMatrixLayoutCreate(layout: *mut cublasLtMatrixLayout_t, dtype: c_int, rows: u64, columns: u64,
        leading_dimension: i64);
    fn cublasLtMatrixLayoutSetAttribute(layout: cublasLtMatrixLayout_t, attribute: c_int, value: *const c_void,
        bytes: usize);
    fn cublasLtMatrixLayoutDestroy(layout: cublasLtMatrixLayout_t);
    fn cublasLtMatmulPreferenceCreate(preference: *mut cublasLtMatmulPreference_t);
    fn cublasLtMatmulPreferenceSetAttribute(preference: cublasLtMatmulPreference_t, attribute: c_int,
        value: *const c_void, bytes: usize);
    fn cublasLtMatmulPreferenceDestroy(preference: cublasLtMatmulPreference_t);
    fn cublasLtMatmulAlgoGetHeuristic(handle: cublasLtHandle_t, descriptor: cublasLtMatmulDesc_t,
        a: cublasLtMatrixLayout_t, b: cublasLtMatrixLayout_t, c: cublasLtMatrixLayout_t, d: cublasLtMatrixLayout_t,
        preference: cublasLtMatmulPreference_t, wanted: c_int, results: *mut Heuristic, found: *mut c_int);
    fn cublasLtMatmul(handle: cublasLtHandle_t, descriptor: cublasLtMatmulDesc_t, alpha: *const c_void, a: u64,
        a_layout: cublasLtMatrixLayout_t, b: u64, b_layout: cublasLtMatrixLayout_t, beta: *const c_void, c: u64,
        c_layout: cublasLtMatrixLayout_t, d: u64, d_layout: cublasLtMatrixLayout_t, algorithm: *const Algorithm,
        workspace: u64, bytes: usize, stream: *mut c_void);
}

/// `cublasLtMatmulAlgo_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Algorithm([u64; 8]);

/// `cublasLtMatmulHeuristicResult_t`, whose state is a number here.
#[derive(Clone, Copy)]
#[repr(C)]
struct Heuristic {
    algorithm: Algorithm,
    workspace_bytes: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

const _: () = assert!(size_of::<Heuristic>() == size_of::<sys::cublasLtMatmulHeuristicResult_t>());

/// The greatest alignment that influences the choice of an algorithm.
const MAX_ALIGNMENT: u32 = 256;

/// The properties that determine the algorithm.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    operations: [Transpose; 2],
    extents: [u64; 4],
    matrices: [Matrix; 3],
    compute: DType,
    epilogue: Epilogue,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Matrix {
    dtype: DType,
    leading_dimension: u64,
    batch_stride: u64,
    alignment: u32,
}

impl Matrix {
    fn new(operand: &GemmOperand) -> Self {
        let alignment = 1 << operand.address.trailing_zeros().min(MAX_ALIGNMENT.trailing_zeros());
        let GemmOperand { dtype, leading_dimension, batch_stride, .. } = *operand;
        Self { dtype, leading_dimension, batch_stride, alignment }
    }
}

impl Shape {
    fn new(gemm: &Gemm) -> Self {
        Self {
            operations: [gemm.transpose_a, gemm.transpose_b],
            extents: [gemm.m, gemm.n, gemm.k, gemm.batch],
            matrices: [&gemm.a, &gemm.b, &gemm.c].map(Matrix::new),
            compute: gemm.compute,
            epilogue: Epilogue { has_bias: gemm.epilogue.bias.is_some(), relu: gemm.epilogue.relu },
        }
    }
}

/// The kind of an epilogue.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Epilogue {
    has_bias: bool,
    relu: bool,
}

impl Epilogue {
    fn number(self) -> u32 {
        use sys::cublasLtEpilogue_t as Kind;
        let kind = match (self.has_bias, self.relu) {
            (false, false) => Kind::CUBLASLT_EPILOGUE_DEFAULT,
            (false, true) => Kind::CUBLASLT_EPILOGUE_RELU,
            (true, false) => Kind::CUBLASLT_EPILOGUE_BIAS,
            (true, true) => Kind::CUBLASLT_EPILOGUE_RELU_BIAS,
        };
        kind as u32
    }
}

/// The descriptors and the algorithm for products of a shape.
struct Plan {
    /// Locked for a call, because the address of the bias is a part of it.
    descriptor: Mutex<Descriptor>,
    layouts: [Layout; 3],
    factors: DType,
    algorithm: Algorithm,
    workspace_bytes: usize,
}

// SAFETY: the library's descriptors belong to no thread.
unsafe impl Send for Plan {}
// SAFETY: one thread at a time uses the descriptor of the computation, which the mutex ensures. The
// rest of a finished plan is only read, which several threads may do at once.
unsafe impl Sync for Plan {}

/// The library's state, and the plans found so far. `None` is kept for shapes that the library does
/// not support.
pub(super) struct Matmuls {
    library: &'static CublasLt,
    handle: cublasLtHandle_t,
    options: GpuOptions,
    plans: Mutex<HashMap<Shape, Option<Arc<Plan>>>>,
}

// SAFETY: several threads may use cuBLASLt's handle at once.
unsafe impl Send for Matmuls {}
// SAFETY: several threads may use cuBLASLt's handle at once.
unsafe impl Sync for Matmuls {}

impl Matmuls {
    /// Creates the state. The context must be current.
    pub(super) fn new(options: GpuOptions) -> Result<Self> {
        let library = CublasLt::get()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a context is current, and the pointer is valid for the call.
        check(unsafe { (library.cublasLtCreate)(&raw mut handle) }, "cublasLtCreate")?;
        Ok(Self { library, handle, options, plans: Mutex::default() })
    }

    /// Queues the product. Returns false if the library does not support its shape or epilogue, or
    /// there is no memory for its workspace. The context must be current.
    pub(super) fn run(&self, shared: &Shared, stream: &Stream, gemm: &Gemm) -> Result<bool> {
        let Some(plan) = self.plan(gemm)? else { return Ok(false) };
        let (alpha, beta) = (Factor::new(gemm.alpha, plan.factors)?, Factor::new(gemm.beta, plan.factors)?);
        let bytes = if plan.workspace_bytes == 0 { 0 } else { WORKSPACE_BYTES };
        let Some(workspace) = shared.workspaces.try_get(stream, Purpose::Scratch, bytes)? else {
            return Ok(false);
        };
        let [a, b, c] = &plan.layouts;
        let descriptor = plan.descriptor.lock();
        if let Some(address) = gemm.epilogue.bias {
            descriptor.set_bias(self.library, address)?;
        }
        // SAFETY: the front checked that the matrices are in device memory. Descriptors, algorithm
        // and factors belong to the shape and outlive the call. No other work that may run at the
        // same time uses the workspace.
        let status = unsafe {
            (self.library.cublasLtMatmul)(
                self.handle,
                descriptor.0.raw,
                alpha.as_ptr(),
                gemm.a.address,
                a.0.raw,
                gemm.b.address,
                b.0.raw,
                beta.as_ptr(),
                gemm.c.address,
                c.0.raw,
                gemm.c.address,
                c.0.raw,
                &raw const plan.algorithm,
                workspace.address,
                plan.workspace_bytes,
                stream.raw().cast(),
            )
        };
        drop(descriptor);
        check(status, "cublasLtMatmul")?;
        shared.launches.add(stream.raw().addr(), &super::WHAT);
        Ok(true)
    }

    fn plan(&self, gemm: &Gemm) -> Result<Option<Arc<Plan>>> {
        let shape = Shape::new(gemm);
        if let Some(plan) = self.plans.lock().get(&shape) {
            return Ok(plan.clone());
        }
        // Two threads may find the same plan. The later one is kept.
        let plan = match self.find(&shape) {
            Ok(plan) => Some(Arc::new(plan)),
            Err(error) if matches!(error.status, Status::BlasNotSupported | Status::BlasInvalidValue) => None,
            Err(error) => return Err(error),
        };
        self.plans.lock().insert(shape, plan.clone());
        Ok(plan)
    }

    fn find(&self, shape: &Shape) -> Result<Plan> {
        let [m, n, k, batch] = shape.extents;
        let [a, b, c] = &shape.matrices;
        let (compute, factors) = compute_type(shape.compute, self.options)?;
        let descriptor = Descriptor::new(self.library, (compute, data_type(factors)?), shape)?;
        let turned = |operation, rows, columns| match operation {
            Transpose::None => (rows, columns),
            Transpose::Transposed => (columns, rows),
        };
        let layouts = [
            Layout::new(self.library, a, turned(shape.operations[0], m, k), batch)?,
            Layout::new(self.library, b, turned(shape.operations[1], k, n), batch)?,
            Layout::new(self.library, c, (m, n), batch)?,
        ];
        let preference = Preference::new(self.library, shape)?;
        let best = self.ask(&descriptor, &layouts, &preference)?;
        Ok(Plan {
            descriptor: Mutex::new(descriptor),
            layouts,
            factors,
            algorithm: best.algorithm,
            workspace_bytes: best.workspace_bytes,
        })
    }

    /// Returns the first algorithm that the heuristic proposes.
    fn ask(
        &self,
        descriptor: &Descriptor,
        layouts: &[Layout; 3],
        preference: &Preference,
    ) -> Result<Heuristic> {
        const WANTED: usize = 4;
        let none = Heuristic {
            algorithm: Algorithm([0; 8]),
            workspace_bytes: 0,
            state: -1,
            waves: 0.0,
            reserved: [0; 4],
        };
        let (mut results, mut found) = ([none; WANTED], 0);
        let [a, b, c] = layouts;
        // SAFETY: all descriptors are alive, and there is room for the requested number of results.
        let status = unsafe {
            (self.library.cublasLtMatmulAlgoGetHeuristic)(
                self.handle,
                descriptor.0.raw,
                a.0.raw,
                b.0.raw,
                c.0.raw,
                c.0.raw,
                preference.0.raw,
                WANTED as c_int,
                results.as_mut_ptr(),
                &raw mut found,
            )
        };
        check(status, "cublasLtMatmulAlgoGetHeuristic")?;
        let found = usize::try_from(found).unwrap_or(0).min(WANTED);
        let usable =
            |result: &&Heuristic| result.state == 0 && result.workspace_bytes as u64 <= WORKSPACE_BYTES;
        results[..found].iter().find(usable).copied().ok_or_else(|| Status::BlasNotSupported.into())
    }
}

impl Drop for Matmuls {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and this is its only owner.
        let _ = unsafe { (self.library.cublasLtDestroy)(self.handle) };
    }
}

/// A descriptor of the library, and the function that destroys it.
struct Owned<T: Copy> {
    raw: T,
    destroy: unsafe extern "C" fn(T) -> c_int,
}

impl<T: Copy> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the descriptor is alive, this is its only owner, and the function is the one for
        // its type.
        let _ = unsafe { (self.destroy)(self.raw) };
    }
}

impl<T: Copy> Owned<*mut T> {
    fn new(
        create: impl FnOnce(*mut *mut T) -> c_int,
        destroy: unsafe extern "C" fn(*mut T) -> c_int,
    ) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        check(create(&raw mut raw), "creating a descriptor of cuBLASLt")?;
        Ok(Self { raw, destroy })
    }

    fn set<V: Copy>(
        &self,
        function: unsafe extern "C" fn(*mut T, c_int, *const c_void, usize) -> c_int,
        attribute: c_int,
        value: V,
    ) -> Result<()> {
        // SAFETY: the descriptor is alive, and the value has the size that is given.
        let status = unsafe { function(self.raw, attribute, (&raw const value).cast(), size_of::<V>()) };
        check(status, "setting an attribute of cuBLASLt")
    }
}

/// The computation.
struct Descriptor(Owned<cublasLtMatmulDesc_t>);

impl Descriptor {
    fn new(library: &'static CublasLt, (compute, factors): (c_int, c_int), shape: &Shape) -> Result<Self> {
        use sys::cublasLtMatmulDescAttributes_t as Attribute;
        let owned = Owned::new(
            // SAFETY: the pointer is valid for the call.
            |raw| unsafe { (library.cublasLtMatmulDescCreate)(raw, compute, factors) },
            library.cublasLtMatmulDescDestroy,
        )?;
        let set = library.cublasLtMatmulDescSetAttribute;
        let [a, b] = shape.operations.map(operation);
        owned.set(set, Attribute::CUBLASLT_MATMUL_DESC_TRANSA as c_int, a)?;
        owned.set(set, Attribute::CUBLASLT_MATMUL_DESC_TRANSB as c_int, b)?;
        owned.set(set, Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE as c_int, shape.epilogue.number())?;
        Ok(Self(owned))
    }

    fn set_bias(&self, library: &'static CublasLt, address: u64) -> Result<()> {
        let attribute = sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_BIAS_POINTER as c_int;
        self.0.set(library.cublasLtMatmulDescSetAttribute, attribute, address)
    }
}

/// The layout of a matrix.
struct Layout(Owned<cublasLtMatrixLayout_t>);

impl Layout {
    fn new(
        library: &'static CublasLt,
        matrix: &Matrix,
        (rows, columns): (u64, u64),
        batch: u64,
    ) -> Result<Self> {
        use sys::cublasLtMatrixLayoutAttribute_t as Attribute;
        let (dtype, leading_dimension) = (data_type(matrix.dtype)?, signed(matrix.leading_dimension)?);
        let owned = Owned::new(
            // SAFETY: the pointer is valid for the call.
            |raw| unsafe {
                (library.cublasLtMatrixLayoutCreate)(raw, dtype, rows, columns, leading_dimension)
            },
            library.cublasLtMatrixLayoutDestroy,
        )?;
        let set = library.cublasLtMatrixLayoutSetAttribute;
        let count = c_int::try_from(batch).map_err(|_| Status::BlasNotSupported)?;
        owned.set(set, Attribute::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT as c_int, count)?;
        let offset = Attribute::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET as c_int;
        owned.set(set, offset, signed(matrix.batch_stride)?)?;
        Ok(Self(owned))
    }
}

/// The resources that an algorithm may use.
struct Preference(Owned<cublasLtMatmulPreference_t>);

impl Preference {
    fn new(library: &'static CublasLt, shape: &Shape) -> Result<Self> {
        use sys::{
            cublasLtMatmulPreferenceAttributes_t as Attribute, cublasLtReductionScheme_t as Reduction,
        };
        let [a, b, c] = shape.matrices.each_ref().map(|matrix| matrix.alignment);
        let owned = Owned::new(
            // SAFETY: the pointer is valid for the call.
            |raw| unsafe { (library.cublasLtMatmulPreferenceCreate)(raw) },
            library.cublasLtMatmulPreferenceDestroy,
        )?;
        let set = library.cublasLtMatmulPreferenceSetAttribute;
        let workspace = Attribute::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES as c_int;
        owned.set(set, workspace, WORKSPACE_BYTES)?;
        if shape.compute != shape.matrices[2].dtype {
            // Sums have the type of the arithmetic throughout, even if parts of them are computed
            // separately.
            let scheme = Reduction::CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32;
            owned.set(set, Attribute::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK as c_int, scheme)?;
        }
        let alignments = [
            (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a),
            (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b),
            (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c),
            (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c),
        ];
        for (attribute, bytes) in alignments {
            owned.set(set, attribute as c_int, bytes)?;
        }
        Ok(Self(owned))
    }
}

#[cfg(test)]
mod tests {
    use tfrt_device::hal::GemmEpilogue;

    use super::*;
    use crate::libraries::is_installed;

    fn operand(address: u64) -> GemmOperand {
        GemmOperand { address, dtype: DType::F32, leading_dimension: 8, batch_stride: 0 }
    }

    #[test]
    fn one_plan_serves_addresses_of_one_alignment() {
        let gemm = |a| Gemm {
            transpose_a: Transpose::None,
            transpose_b: Transpose::None,
            m: 8,
            n: 8,
            k: 8,
            alpha: 1.0,
            a: operand(a),
            b: operand(4096),
            beta: 0.0,
            c: operand(8192),
            compute: DType::F32,
            batch: 1,
            algorithm: -1,
            epilogue: GemmEpilogue::default(),
        };
        assert!(Shape::new(&gemm(512)) == Shape::new(&gemm(1024)));
        assert!(Shape::new(&gemm(512)) != Shape::new(&gemm(516)));
        assert!(Shape::new(&Gemm { m: 4, ..gemm(512) }) != Shape::new(&gemm(512)));
        let biased = |bias| Gemm { epilogue: GemmEpilogue { bias: Some(bias), relu: false }, ..gemm(512) };
        assert!(Shape::new(&biased(256)) == Shape::new(&biased(512)));
        assert!(Shape::new(&biased(256)) != Shape::new(&gemm(512)));
        assert_eq!(Matrix::new(&operand(20)).alignment, 4);
    }

    /// Where cuBLASLt is installed, it has every function that is called, and attributes read back
    /// as they were set.
    #[test]
    fn descriptors_say_what_the_shape_says() {
        type Get<T> = unsafe extern "C" fn(T, c_int, *mut c_void, usize, *mut usize) -> c_int;
        fn read<T, V: Copy + Default>(get: Get<T>, descriptor: T, attribute: c_int) -> V {
            let (mut value, mut bytes) = (V::default(), 0);
            // SAFETY: the descriptor is alive, and the value has the size that is given.
            let status = unsafe {
                get(descriptor, attribute, (&raw mut value).cast(), size_of::<V>(), &raw mut bytes)
            };
            assert_eq!((status, bytes), (0, size_of::<V>()));
            value
        }
        use sys::{
            cublasLtMatmulDescAttributes_t as Of, cublasLtMatmulPreferenceAttributes_t as May,
            cublasLtMatrixLayoutAttribute_t as Lies,
        };
        let found = CublasLt::get();
        let Some(library) = found.as_ref().ok().filter(|_| is_installed(&found, &SPEC)) else { return };
        let load = &library._library;
        // SAFETY: the signature is that of the header.
        let descriptor: Get<cublasLtMatmulDesc_t> =
            unsafe { load.function("cublasLtMatmulDescGetAttribute") }.unwrap();
        // SAFETY: the signature is that of the header.
        let layout: Get<cublasLtMatrixLayout_t> =
            unsafe { load.function("cublasLtMatrixLayoutGetAttribute") }.unwrap();
        // SAFETY: the signature is that of the header.
        let preference: Get<cublasLtMatmulPreference_t> =
            unsafe { load.function("cublasLtMatmulPreferenceGetAttribute") }.unwrap();

        let matrix = |dtype| Matrix { dtype, leading_dimension: 72, batch_stride: 4608, alignment: 16 };
        for (element, arithmetic) in [
            (DType::F32, DType::F32),
            (DType::F16, DType::F32),
            (DType::BF16, DType::F32),
            (DType::F16, DType::F16),
            (DType::F64, DType::F64),
            (DType::Complex64, DType::Complex64),
        ] {
            let (compute, factors) = compute_type(arithmetic, GpuOptions::default()).unwrap();
            let factors = data_type(factors).unwrap();
            let shape = Shape {
                operations: [Transpose::None, Transpose::Transposed],
                extents: [64, 48, 32, 3],
                matrices: [matrix(element), matrix(element), matrix(element)],
                compute: arithmetic,
                epilogue: Epilogue { has_bias: true, relu: true },
            };
            let owned = Descriptor::new(library, (compute, factors), &shape).unwrap();
            owned.set_bias(library, 0x7000).unwrap();
            let value = |attribute: Of| read::<_, c_int>(descriptor, owned.0.raw, attribute as c_int);
            assert_eq!(value(Of::CUBLASLT_MATMUL_DESC_COMPUTE_TYPE), compute);
            assert_eq!(value(Of::CUBLASLT_MATMUL_DESC_SCALE_TYPE), factors);
            assert_eq!(value(Of::CUBLASLT_MATMUL_DESC_TRANSA), operation(Transpose::None));
            assert_eq!(value(Of::CUBLASLT_MATMUL_DESC_TRANSB), operation(Transpose::Transposed));
            assert_eq!(value(Of::CUBLASLT_MATMUL_DESC_EPILOGUE), 6);
            let bias = Of::CUBLASLT_MATMUL_DESC_BIAS_POINTER as c_int;
            assert_eq!(read::<_, u64>(descriptor, owned.0.raw, bias), 0x7000);

            let owned = Layout::new(library, &matrix(element), (64, 48), 3).unwrap();
            let value = |attribute: Lies| read::<_, i64>(layout, owned.0.raw, attribute as c_int);
            let number = |attribute: Lies| read::<_, c_int>(layout, owned.0.raw, attribute as c_int);
            assert_eq!(number(Lies::CUBLASLT_MATRIX_LAYOUT_TYPE), data_type(element).unwrap());
            assert_eq!(value(Lies::CUBLASLT_MATRIX_LAYOUT_ROWS), 64);
            assert_eq!(value(Lies::CUBLASLT_MATRIX_LAYOUT_COLS), 48);
            assert_eq!(value(Lies::CUBLASLT_MATRIX_LAYOUT_LD), 72);
            assert_eq!(number(Lies::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), 3);
            assert_eq!(value(Lies::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET), 4608);

            let owned = Preference::new(library, &shape).unwrap();
            let value = |attribute: May| read::<_, u32>(preference, owned.0.raw, attribute as c_int);
            let workspace = May::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES as c_int;
            assert_eq!(read::<_, u64>(preference, owned.0.raw, workspace), WORKSPACE_BYTES);
            assert_eq!(value(May::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES), 16);
            assert_eq!(value(May::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES), 16);
            let reduction = value(May::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
            assert_eq!(reduction, if element == arithmetic { 7 } else { 2 });
        }
    }
}
