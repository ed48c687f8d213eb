//! Matrix products and convolutions, on one thread and through a host's queue, beside the plain
//! matrix product they are built on. Throughput counts floating-point operations.

mod support;

use std::{ops::Range, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrt::host::work_queue::{self, ConcurrentWorkQueue, parallel_for_scoped};
use tfrt_math::{
    Activation, BlockOp, Conv2d, Conv2dInput, Conv2dShape, Extent2, MatMul, MatMulInput, Padding,
    ParallelFor, Serial,
};

/// The queue's way to run blocks.
struct OnQueue(Arc<dyn ConcurrentWorkQueue>);

impl ParallelFor for OnQueue {
    fn parallel_for(&self, total: usize, min_block: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        parallel_for_scoped(&*self.0, total, min_block, body);
    }

    fn parallelism(&self) -> usize {
        self.0.parallelism()
    }
}

fn on_queue(threads: usize) -> OnQueue {
    OnQueue(work_queue::from_str(&format!("mstd:{threads}")).expect("a queue"))
}

/// Small numbers of both signs, none of them subnormal.
fn data(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i * 7919 % 1000) as f32 / 500.0 - 0.999).collect()
}

/// Product of square matrices, row-major: the yardstick.
#[expect(unsafe_code, reason = "matrixmultiply takes pointers and strides")]
fn sgemm(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    assert!([a.len(), b.len(), c.len()].iter().all(|&len| len == n * n));
    let stride = n as isize;
    // SAFETY: each matrix has n * n elements, as just checked, and `c` is borrowed exclusively.
    unsafe {
        matrixmultiply::sgemm(
            n,
            n,
            n,
            1.0,
            a.as_ptr(),
            stride,
            1,
            b.as_ptr(),
            stride,
            1,
            0.0,
            c.as_mut_ptr(),
            stride,
            1,
        );
    }
}

fn gemm(c: &mut Criterion) {
    const N: usize = 1024;
    let (a, b) = (data(N * N), data(N * N));
    let mut out = vec![0f32; N * N];
    let mut group = c.benchmark_group("gemm 1024 f32");
    group.throughput(Throughput::Elements(2 * (N * N * N) as u64)).sample_size(10);
    group.bench_function("matrixmultiply, 1 thread", |bench| bench.iter(|| sgemm(N, &a, &b, &mut out)));
    let one = MatMul::<f32>::new(N, N, N, 1).expect("a shape");
    group.bench_function("plan, 1 thread", |bench| {
        bench.iter(|| one.run(&Serial, MatMulInput::new(&a, &b), &mut out));
    });
    let queue = on_queue(2);
    let two = MatMul::<f32>::new(N, N, N, 2).expect("a shape");
    group.bench_function("plan, queue of 2", |bench| {
        bench.iter(|| two.run(&queue, MatMulInput::new(&a, &b), &mut out));
    });
}

/// The 3 × 3 convolutions of ResNet-50's second and last stages.
fn convolution(c: &mut Criterion) {
    let queue = on_queue(2);
    let mut group = c.benchmark_group("conv2d f32");
    for (extent, channels) in [(56, 64), (7, 512)] {
        let image = (1, Extent2::new(extent, extent), channels);
        let shape = Conv2dShape::new(image, (Extent2::new(3, 3), channels), Padding::Same);
        let x = data(extent * extent * channels);
        let filter = data(9 * channels * channels);
        let mut y = vec![0f32; extent * extent * channels];
        let flops = 2 * y.len() * 9 * channels;
        group.throughput(Throughput::Elements(flops as u64)).sample_size(10);
        let one = Conv2d::new(&shape, Activation::Relu, 1).expect("a shape");
        let filter = one.pack_filter(&filter).expect("a filter");
        let input = Conv2dInput::new(&x, &filter);
        group.bench_function(format!("{extent}x{extent}x{channels}, 1 thread"), |bench| {
            bench.iter(|| one.run(&Serial, input, &mut y));
        });
        let two = Conv2d::new(&shape, Activation::Relu, 2).expect("a shape");
        group.bench_function(format!("{extent}x{extent}x{channels}, queue of 2"), |bench| {
            bench.iter(|| two.run(&queue, input, &mut y));
        });
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = gemm, convolution }
criterion_main!(benches);
