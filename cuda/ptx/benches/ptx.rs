//! PTX kernels on one core: what an elementwise kernel, a matrix product and an empty launch cost.
//! Throughput counts lane instructions for the elementwise kernels, floating-point operations for
//! the products.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrt_ptx::{Dim3, Launch, Memory, Module, Params};

const ELEMENTWISE: &str = include_str!("../tests/corpus/ptx/elementwise.compute_75.ptx");
const MATMUL: &str = include_str!("../tests/corpus/ptx/matmul.compute_75.ptx");

/// Small numbers of both signs, none of them subnormal.
fn upload(memory: &Memory, len: usize) -> u64 {
    let data: Vec<u8> =
        (0..len).flat_map(|i| ((i * 7919 % 1000) as f32 / 500.0 - 0.999).to_le_bytes()).collect();
    memory.allocate_from(&data).expect("memory")
}

/// A launch on one thread; gives the instructions its warps executed.
fn launch(
    module: &Module,
    name: &str,
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    params: &Params,
    memory: &Memory,
) -> u64 {
    let function = module.function(name).expect("a kernel");
    let launch = Launch::new(&function).grid(grid).block(block).threads(1);
    launch.run(params, memory).expect("no fault").warp_instructions
}

fn elementwise(c: &mut Criterion) {
    const N: usize = 1 << 18;
    let module = Module::parse(ELEMENTWISE).expect("a module");
    let memory = Memory::new();
    let (x, y) = (upload(&memory, N), upload(&memory, N));
    let outputs = [(); 4].map(|()| upload(&memory, N));
    let axpy = Params::new().push(0.5f32).push(x).push(y).push(N as i32);
    let float4 = Params::new().push(0.5f32).push(x).push(y).push(N as u32 / 4);
    let stride = Params::new().push(0.99f32).push(x).push(N as i64);
    let [relu, gelu, sigmoid, silu] = outputs;
    let functions = Params::new().push(x).push(relu).push(gelu).push(sigmoid).push(silu).push(N as i32);
    let mut group = c.benchmark_group("elementwise");
    for (name, grid, params) in [
        ("axpy_f32", N / 256, &axpy),
        ("scale_float4", N / 4 / 128, &float4),
        ("scale_grid_stride", 64, &stride),
        ("activations", N / 256, &functions),
    ] {
        let (grid, block) = (grid as u32, if name == "scale_float4" { 128 } else { 256 });
        let lanes = 32 * launch(&module, name, grid, block, params, &memory);
        group.throughput(Throughput::Elements(lanes));
        group
            .bench_function(name, |bench| bench.iter(|| launch(&module, name, grid, block, params, &memory)));
    }
}

fn matmul(c: &mut Criterion) {
    const N: usize = 512;
    let module = Module::parse(MATMUL).expect("a module");
    let memory = Memory::new();
    let (a, b, out) = (upload(&memory, N * N), upload(&memory, N * N), upload(&memory, N * N));
    let n = N as i32;
    let tiled = Params::new().push(a).push(b).push(out).push(n).push(n).push(n);
    let registers = Params::new().push(a).push(b).push(out).push(n).push(n);
    let mut group = c.benchmark_group("matmul 512 f32");
    group.throughput(Throughput::Elements(2 * (N * N * N) as u64)).sample_size(10);
    group.bench_function("tiled, 16 x 16 threads", |bench| {
        bench.iter(|| launch(&module, "matmul_tiled_f32", (32, 32), (16, 16), &tiled, &memory));
    });
    group.bench_function("4 x 4 a thread", |bench| {
        bench.iter(|| launch(&module, "matmul_registers", (8, 8), 256, &registers, &memory));
    });
}

fn empty(c: &mut Criterion) {
    let module = Module::parse(ELEMENTWISE).expect("a module");
    let memory = Memory::new();
    let params = Params::new();
    let mut group = c.benchmark_group("launch");
    for (name, grid, block) in [("empty, one warp", 1, 32), ("empty, 64 blocks of 256", 64, 256)] {
        group.bench_function(name, |bench| {
            bench.iter(|| launch(&module, "empty", grid, block, &params, &memory))
        });
    }
}

/// Criterion with measurements of a second.
fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30)
        .configure_from_args()
}

criterion_group! { name = benches; config = criterion(); targets = elementwise, matmul, empty }
criterion_main!(benches);
