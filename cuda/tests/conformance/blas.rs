//! BLAS, against its definition.

use tfrt_device::allocator::Options;
use tfrt_device::error::Status;
use tfrt_device::front::{BlasHandle, Context, DeviceBuffer, GemmArguments, GemmEpilogue, Matrix};
use tfrt_device::hal::Transpose;
use tfrt_host::{DType, ErrorCode};

use super::Case;
use super::support::{Bench, close, fails, numbers};

pub(crate) const CASES: &[Case] = &[
    ("blas/axpy_and_scal", axpy_and_scal),
    ("blas/gemm_matches_definition", gemm_matches_definition),
    ("blas/gemm_leaves_gaps_alone", gemm_leaves_gaps_alone),
    ("blas/matrices_lie_side_by_side", matrices_lie_side_by_side),
    ("blas/epilogues_are_applied", epilogues_are_applied),
    ("blas/arguments_are_checked", arguments_are_checked),
    ("blas/workspaces_give_way", workspaces_give_way),
];

fn blas(bench: &Bench) -> BlasHandle {
    let blas = bench.context.create_blas().unwrap();
    fails(blas.stream(), Status::IllegalState);
    blas.set_stream(&bench.stream).unwrap();
    blas
}

fn axpy_and_scal(context: &Context) {
    let bench = Bench::new(context);
    let blas = blas(&bench);
    let (x, y) = (numbers(1000, 1), numbers(1000, 2));
    let (dx, dy) = (bench.upload(&x), bench.upload(&y));
    blas.axpy(DType::F32, 1000, 2.5, (&dx, 1), (&dy, 1)).unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
    close(&bench.download(&dy, 1000), &expected, 1e-6);
    blas.scal(DType::F32, 500, -2.0, (&dx, 2)).unwrap();
    let expected: Vec<f32> =
        x.iter().enumerate().map(|(i, x)| if i % 2 == 0 { -2.0 * x } else { *x }).collect();
    close(&bench.download(&dx, 1000), &expected, 1e-6);
}

struct Shape {
    m: usize,
    n: usize,
    k: usize,
    transpose: [Transpose; 2],
    /// How much leading dimensions exceed the rows.
    gap: usize,
    batch: usize,
    /// Whether the first columns of all matrices of a batch come before the second ones, and not
    /// all columns of a matrix before those of the next.
    side_by_side: bool,
}

impl Shape {
    /// Stored rows and columns of A, B and C.
    fn stored(&self) -> [(usize, usize); 3] {
        let flip =
            |transpose, rows, cols| if transpose == Transpose::None { (rows, cols) } else { (cols, rows) };
        [flip(self.transpose[0], self.m, self.k), flip(self.transpose[1], self.k, self.n), (self.m, self.n)]
    }

    fn len(&self, index: usize) -> usize {
        let (rows, cols) = self.stored()[index];
        (rows + self.gap) * cols * self.batch
    }

    /// Elements from one column to the next, and from one matrix to the next.
    fn strides(&self, index: usize) -> (usize, usize) {
        let (rows, cols) = self.stored()[index];
        let column = rows + self.gap;
        if self.side_by_side { (column * self.batch, column) } else { (column, column * cols) }
    }

    fn matrix<'a>(&self, index: usize, buffer: &'a DeviceBuffer) -> Matrix<'a> {
        let (leading, batch) = self.strides(index);
        Matrix { buffer, dtype: DType::F32, leading_dimension: leading as i64, batch_stride: batch as i64 }
    }

    fn arguments<'a>(&self, [a, b, c]: [&'a DeviceBuffer; 3], alpha: f64, beta: f64) -> GemmArguments<'a> {
        GemmArguments {
            transpose: self.transpose,
            m: self.m as i64,
            n: self.n as i64,
            k: self.k as i64,
            alpha,
            a: self.matrix(0, a),
            b: self.matrix(1, b),
            beta,
            c: self.matrix(2, c),
            compute: DType::F32,
            batch: self.batch as i64,
            algorithm: -1,
            epilogue: GemmEpilogue::default(),
        }
    }

    /// The product by its definition.
    fn expected(&self, [a, b, c]: [&[f32]; 3], alpha: f32, beta: f32) -> Vec<f32> {
        let at = |index: usize, batch: usize, row: usize, col: usize| {
            let (leading, stride) = self.strides(index);
            batch * stride + col * leading + row
        };
        let op = |index: usize, list: &[f32], batch, row, col| match self.transpose[index] {
            Transpose::None => list[at(index, batch, row, col)],
            Transpose::Transposed => list[at(index, batch, col, row)],
        };
        let mut result = c.to_vec();
        for batch in 0..self.batch {
            for row in 0..self.m {
                for col in 0..self.n {
                    let terms = (0..self.k).map(|p| op(0, a, batch, row, p) * op(1, b, batch, p, col));
                    let place = at(2, batch, row, col);
                    result[place] = alpha * terms.sum::<f32>() + beta * c[place];
                }
            }
        }
        result
    }

    fn check(&self, bench: &Bench, blas: &BlasHandle) {
        let lists = [0, 1, 2].map(|index| numbers(self.len(index), index as u64 + 1));
        let buffers = [0, 1, 2].map(|index| bench.upload(&lists[index]));
        let [a, b, c] = &buffers;
        blas.gemm(&self.arguments([a, b, c], 1.5, 0.5)).unwrap();
        let expected = self.expected([&lists[0], &lists[1], &lists[2]], 1.5, 0.5);
        close(&bench.download(c, self.len(2)), &expected, 1e-4);
    }
}

fn gemm_matches_definition(context: &Context) {
    let bench = Bench::new(context);
    let blas = blas(&bench);
    let (plain, turned) = (Transpose::None, Transpose::Transposed);
    for transpose in [[plain, plain], [turned, plain], [plain, turned], [turned, turned]] {
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (64, 33, 17), (40, 1, 100)] {
            for batch in [1, 3] {
                Shape { m, n, k, transpose, gap: 0, batch, side_by_side: false }.check(&bench, &blas);
            }
        }
    }
}

fn epilogues_are_applied(context: &Context) {
    let bench = Bench::new(context);
    let blas = blas(&bench);
    let (plain, turned) = (Transpose::None, Transpose::Transposed);
    for (transpose, gap, batch) in [([plain, plain], 0, 1), ([turned, plain], 0, 3), ([plain, turned], 4, 2)]
    {
        let shape = Shape { m: 36, n: 5, k: 7, transpose, gap, batch, side_by_side: false };
        let lists = [0, 1, 2].map(|index| numbers(shape.len(index), index as u64 + 1));
        let [a, b] = [0, 1].map(|index| bench.upload(&lists[index]));
        let biases = numbers(shape.m, 4);
        let bias = bench.upload(&biases);
        for (bias, relu) in [(Some(&bias), false), (None, true), (Some(&bias), true)] {
            let c = bench.upload(&lists[2]);
            let arguments = shape.arguments([&a, &b, &c], 1.5, 0.5);
            let epilogue = GemmEpilogue { bias, relu };
            blas.gemm(&GemmArguments { epilogue, ..arguments }).unwrap();
            let mut expected = shape.expected([&lists[0], &lists[1], &lists[2]], 1.5, 0.5);
            let (leading, stride) = shape.strides(2);
            for batch in 0..shape.batch {
                for column in 0..shape.n {
                    let start = batch * stride + column * leading;
                    for (sum, added) in expected[start..start + shape.m].iter_mut().zip(&biases) {
                        *sum += if bias.is_some() { *added } else { 0.0 };
                        *sum = if relu { sum.max(0.0) } else { *sum };
                    }
                }
            }
            close(&bench.download(&c, shape.len(2)), &expected, 1e-4);
        }
    }
}

/// What a library keeps to be faster, a request gets when nothing else is left; the next product
/// takes it anew.
fn workspaces_give_way(context: &Context) {
    [true, false].into_iter().for_each(|in_segments| workspaces_give_way_to(context, in_segments));
}

fn workspaces_give_way_to(context: &Context, in_segments: bool) {
    let bench = Bench::new(context);
    let blas = blas(&bench);
    let shape =
        Shape { m: 5, n: 4, k: 3, transpose: [Transpose::None; 2], gap: 0, batch: 1, side_by_side: false };
    shape.check(&bench, &blas);
    let more_than_free = context.memory_info().unwrap().free + (8 << 20);
    let allocator = context.create_allocator(Options { in_segments, ..Options::default() });
    let all = allocator.allocate(&bench.stream, more_than_free as i64, "all").unwrap();
    // There may be no room for a workspace now.
    shape.check(&bench, &blas);
    drop(all);
    allocator.clear_cache().unwrap();
    shape.check(&bench, &blas);
    let error = allocator.allocate(&bench.stream, 1 << 50, "more than there is").unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}");
}

fn gemm_leaves_gaps_alone(context: &Context) {
    let bench = Bench::new(context);
    let blas = blas(&bench);
    for side_by_side in [false, true] {
        let transpose = [Transpose::None; 2];
        Shape { m: 5, n: 4, k: 3, transpose, gap: 3, batch: 2, side_by_side }.check(&bench, &blas);
    }
}

/// As the heads of attention lie.
fn matrices_lie_side_by_side(context: &Context) {
    let bench = Bench::new(context);
    let blas = blas(&bench);
    let (plain, turned) = (Transpose::None, Transpose::Transposed);
    for transpose in [[plain, plain], [turned, plain], [plain, turned]] {
        for (m, n, k) in [(1, 3, 2), (16, 33, 33), (40, 7, 9)] {
            Shape { m, n, k, transpose, gap: 0, batch: 4, side_by_side: true }.check(&bench, &blas);
        }
    }
}

fn arguments_are_checked(context: &Context) {
    let bench = Bench::new(context);
    let blas = blas(&bench);
    let buffer = bench.buffer(64);
    fails(blas.axpy(DType::F32, 17, 1.0, (&buffer, 1), (&buffer, 1)), Status::BlasInvalidValue);
    fails(blas.axpy(DType::F32, -1, 1.0, (&buffer, 1), (&buffer, 1)), Status::BlasInvalidValue);
    fails(blas.axpy(DType::F32, 2, 1.0, (&buffer, 0), (&buffer, 1)), Status::BlasInvalidValue);
    fails(blas.axpy(DType::F32, 2, 1.0, (&buffer, i64::MIN), (&buffer, 1)), Status::BlasInvalidValue);
    fails(blas.scal(DType::F32, 2, 1.0, (&buffer, -1)), Status::BlasInvalidValue);
    let shape =
        Shape { m: 4, n: 4, k: 4, transpose: [Transpose::None; 2], gap: 0, batch: 1, side_by_side: false };
    let good = shape.arguments([&buffer; 3], 1.0, 0.0);
    for wrong in [
        GemmArguments { m: -1, ..good },
        GemmArguments { m: 5, ..good },
        GemmArguments { k: i64::MAX, ..good },
        GemmArguments { batch: 2, c: Matrix { batch_stride: 8, ..good.c }, ..good },
        GemmArguments { m: 2, batch: 3, c: Matrix { batch_stride: 2, ..good.c }, ..good },
        GemmArguments { a: Matrix { leading_dimension: 3, ..good.a }, ..good },
    ] {
        fails(blas.gemm(&wrong), Status::BlasInvalidValue);
    }
    let short = bench.buffer(3);
    let epilogue = GemmEpilogue { bias: Some(&short), relu: false };
    fails(blas.gemm(&GemmArguments { epilogue, ..good }), Status::BlasInvalidValue);
    blas.gemm(&GemmArguments { n: 0, ..good }).unwrap();
    blas.destroy().unwrap();
    fails(blas.destroy(), Status::InvalidHandle);
    fails(blas.gemm(&good), Status::InvalidHandle);
}
