//! How fast kernels move memory, copies go, and matrices are multiplied.

use tfrt_device::front::{BlasHandle, DeviceBuffer, GemmArguments, GemmEpilogue, Matrix};
use tfrt_device::hal::Transpose;
use tfrt_host::DType;
use tfrt_launch::{
    Activation, Affine, Binary, Broadcast, Permutation, Reduction, ReductionShape, Rows, Unary,
};
use tfrt_math::{Distribution, Philox};

use super::{Bench, Outcome, Report};

pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Outcome {
    kernels(bench, report)?;
    copies(bench, report)?;
    products(bench, report)
}

/// Fills a buffer with random numbers: on zeros, a GPU draws less power and is faster than it is at
/// work.
pub(crate) fn randomize(bench: &Bench, dtype: DType, buffer: &DeviceBuffer, count: u64) -> Outcome {
    let generator = Philox::new(1, buffer.len().into());
    Ok(bench.kernels.random(&bench.stream, Distribution::Normal, dtype, buffer, count, &generator)?)
}

/// Bytes read and written in a second, beside what the hardware says it can.
fn kernels(bench: &Bench, report: &mut Report) -> Outcome {
    let Bench { stream, kernels, .. } = bench;
    // Larger than any cache.
    let columns: u64 = 1024;
    let rows: u64 = if bench.short { 16 } else { 64 << 10 };
    let (n, bytes) = (rows * columns, rows * columns * 4);
    let [x, y, z] = [bench.allocate(bytes)?, bench.allocate(bytes)?, bench.allocate(bytes)?];
    for buffer in [&x, &y, &z] {
        randomize(bench, DType::F32, buffer, n)?;
    }
    let bandwidth = bench.context.device().properties().memory_bandwidth;
    if bandwidth > 0 {
        report.add("memory bandwidth, as the driver tells", bandwidth as f64 / 1e9, "GB/s");
    }
    let f32 = DType::F32;
    let mut add = |name: &str, moved: u64, work: &mut dyn FnMut() -> Outcome| -> Outcome {
        let seconds = bench.device_seconds(work)?;
        report.add(format!("kernel: {name}"), moved as f64 / seconds / 1e9, "GB/s");
        Ok(())
    };
    add("fill, f32", bytes, &mut || Ok(kernels.fill(stream, f32, &x, n, 1.0)?))?;
    add("relu, f32", 2 * bytes, &mut || Ok(kernels.unary(stream, Unary::Relu, f32, &y, &x, n)?))?;
    add("gelu, f32", 2 * bytes, &mut || Ok(kernels.unary(stream, Unary::Gelu, f32, &y, &x, n)?))?;
    let same = Broadcast::new(&[n], &[n])?;
    add("add, f32", 3 * bytes, &mut || Ok(kernels.binary(stream, Binary::Add, f32, &z, &x, &y, &same)?))?;
    let repeated = Broadcast::new(&[rows, columns], &[columns])?;
    add("add, one row to all, f32", 2 * bytes, &mut || {
        Ok(kernels.binary(stream, Binary::Add, f32, &z, &x, &y, &repeated)?)
    })?;
    add("f32 to f16", bytes + bytes / 2, &mut || {
        Ok(kernels.cast(stream, (DType::F16, &y), (f32, &x), n, false)?)
    })?;
    let affine = Affine { rows, channels: columns, residual: Some(&z), activation: Activation::Relu };
    add("bias, residual, relu, f16", bytes / 2 * 3, &mut || {
        Ok(kernels.bias_activation(stream, DType::F16, &y, &y, &x, affine)?)
    })?;
    let matrix = Rows { rows, columns };
    add("softmax, rows of 1024, f32", 2 * bytes, &mut || {
        Ok(kernels.softmax(stream, f32, false, &y, &x, matrix)?)
    })?;
    let turn = Permutation::new(&[rows, columns], &[1, 0])?;
    add("transpose, f32", 2 * bytes, &mut || Ok(kernels.permute(stream, f32, &y, &x, &turn)?))?;
    for (name, shape) in [
        ("sum of all, f32", ReductionShape { outer: 1, extent: n, inner: 1 }),
        ("sum of rows, f32", ReductionShape { outer: rows, extent: columns, inner: 1 }),
        ("sum of columns, f32", ReductionShape { outer: 1, extent: rows, inner: columns }),
    ] {
        let scratch = bench.allocate(shape.scratch_bytes()?.max(4))?;
        add(name, bytes, &mut || {
            Ok(kernels.reduce(stream, Reduction::Sum, f32, &y, &x, Some(&scratch), shape)?)
        })?;
    }
    Ok(())
}

fn copies(bench: &Bench, report: &mut Report) -> Outcome {
    let stream = &bench.stream;
    let bytes: u64 = if bench.short { 1 << 16 } else { 256 << 20 };
    let (x, y) = (bench.allocate(bytes)?, bench.allocate(bytes)?);
    randomize(bench, DType::F32, &x, bytes / 4)?;
    let pinned = bench.context.allocate_pinned(bytes as usize)?;
    let mut add = |name: &str, moved: u64, work: &mut dyn FnMut() -> Outcome| -> Outcome {
        let seconds = bench.device_seconds(work)?;
        report.add(format!("copy: {name}"), moved as f64 / seconds / 1e9, "GB/s");
        Ok(())
    };
    add("from the host, pinned", bytes, &mut || stream.copy_from_host(&x, 0, &pinned, 0, bytes).map(drop))?;
    // One at a time: the destination is held until a copy is done.
    let to_host = {
        let start = std::time::Instant::now();
        stream.copy_to_host(&pinned, 0, &x, 0, bytes).map(drop)?;
        stream.synchronize()?;
        start.elapsed().as_secs_f64()
    };
    report.add("copy: to the host, pinned", bytes as f64 / to_host / 1e9, "GB/s");
    let mut add = |name: &str, moved: u64, work: &mut dyn FnMut() -> Outcome| -> Outcome {
        let seconds = bench.device_seconds(work)?;
        report.add(format!("copy: {name}"), moved as f64 / seconds / 1e9, "GB/s");
        Ok(())
    };
    add("on the device", 2 * bytes, &mut || Ok(stream.copy((&y, 0), (&x, 0), bytes, false)?))
}

fn products(bench: &Bench, report: &mut Report) -> Outcome {
    let blas = match bench.context.create_blas() {
        Ok(blas) => blas,
        Err(error) => {
            eprintln!("device: no products: {error}");
            return Ok(());
        }
    };
    blas.set_stream(&bench.stream)?;
    let n: u64 = if bench.short { 64 } else { 8192 };
    let room = || bench.allocate(n * n * 4);
    let [a, b, c] = [room()?, room()?, room()?];
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for factor in [&a, &b] {
            randomize(bench, dtype, factor, n * n)?;
        }
        let shape = Product { dtype, m: n, n, k: n, transpose: [Transpose::None; 2] };
        let seconds = bench.device_seconds(|| shape.run(&blas, &a, &b, &c))?;
        let operations = 2.0 * (n * n * n) as f64;
        report.add(format!("product of {n}³, {dtype}"), operations / seconds / 1e12, "TFLOP/s");
    }
    Ok(())
}

/// A product of dense matrices, column-major.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    pub(crate) dtype: DType,
    pub(crate) m: u64,
    pub(crate) n: u64,
    pub(crate) k: u64,
    pub(crate) transpose: [Transpose; 2],
}

impl Product {
    /// Queues it: `c = op(a) · op(b)`.
    pub(crate) fn run(
        &self,
        blas: &BlasHandle,
        a: &DeviceBuffer,
        b: &DeviceBuffer,
        c: &DeviceBuffer,
    ) -> Outcome {
        let leading = |transpose, rows, columns| if transpose == Transpose::None { rows } else { columns };
        let matrix = |buffer, rows: u64| Matrix {
            buffer,
            dtype: self.dtype,
            leading_dimension: rows as i64,
            batch_stride: 0,
        };
        let arguments = GemmArguments {
            transpose: self.transpose,
            m: self.m as i64,
            n: self.n as i64,
            k: self.k as i64,
            alpha: 1.0,
            a: matrix(a, leading(self.transpose[0], self.m, self.k)),
            b: matrix(b, leading(self.transpose[1], self.k, self.n)),
            beta: 0.0,
            c: matrix(c, self.m),
            compute: DType::F32,
            batch: 1,
            algorithm: -1,
            epilogue: GemmEpilogue::default(),
        };
        Ok(blas.gemm(&arguments)?)
    }
}
