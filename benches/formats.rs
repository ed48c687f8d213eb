//! How fast programs are read and written: BEF files verified and loaded, MLIR text parsed,
//! rewritten, converted and printed.

#[path = "support/programs.rs"]
mod programs;
mod support;

use std::fmt::Write;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use programs::{registry, serial};
use tfrt::host::BefFile;
use tfrt_bef::{FunctionKind, VerifiedBef};
use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_ir::{
    Builder, Location, Module, OpId, OpState, ParseOptions, PrintOptions, Source, Type, parse_module,
    print_module,
};

fn bef(c: &mut Criterion) {
    let registry = registry();
    let mut group = c.benchmark_group("bef");
    for kernels in [100, 1_000_000] {
        let file = serial(kernels, FunctionKind::Async);
        group.throughput(Throughput::Bytes(file.len() as u64)).sample_size(10);
        group.bench_function(BenchmarkId::new("open and verify", kernels), |b| {
            b.iter_batched(
                || file.clone(),
                |file| VerifiedBef::new(file).expect("it verifies"),
                BatchSize::PerIteration,
            );
        });
        let verified = VerifiedBef::new(file.clone()).expect("it verifies");
        group.bench_function(BenchmarkId::new("load", kernels), |b| {
            b.iter(|| BefFile::load(verified.clone(), &registry).expect("known kernels"));
        });
    }
}

/// Constants, sums in custom form, ops in generic form with attributes, and regions.
fn mlir(functions: usize) -> String {
    let mut text = String::new();
    for i in 0..functions {
        write!(
            text,
            "// Function {i}.
func @f{i}(%x: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {{
  %one = tfrt.constant.i32 {i}
  %y = tfrt.add.i32 %x, %one
  %z = \"tfrt_test.async_add.i32\"(%x, %y) : (i32, i32) -> i32
  %t = \"tfrt_test.const_dense_attr\"() {{value = dense<[[1.0, 2.0], [3.0, 4.5]]> : tensor<2x2xf32>}} : () -> !t.tensor
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 0.5 : f32
  %r = tfrt.repeat.i32 %z, %y : i32 {{
    %w = tfrt.add.i32 %y, %y
    tfrt.return %w : i32
  }}
  tfrt.return %r, %ch1 : i32, !tfrt.chain
}}\n"
        )
        .expect("strings take all text");
    }
    text
}

fn text(c: &mut Criterion) {
    let text = mlir(2000);
    let ops = tfrt::operations(&registry()).expect("kernels that MLIR can spell");
    let source = Source::new("bench.mlir", text.clone());
    let parse = || parse_module(&source, &ops, &ParseOptions::default()).expect("text that parses");
    let module = parse();
    let file = mlir_to_bef(&module, &ops, ConvertOptions::default()).expect("a module that converts");

    let mut group = c.benchmark_group("mlir");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
    group.bench_function("parse", |b| b.iter(parse));
    group.bench_function("mlir_to_bef", |b| {
        b.iter(|| mlir_to_bef(&module, &ops, ConvertOptions::default()).expect("a module that converts"));
    });
    group.bench_function("bef_to_mlir", |b| b.iter(|| bef_to_mlir(file.clone(), &ops, &Location::Unknown)));
    group.bench_function("print", |b| b.iter(|| print_module(&module, &ops, PrintOptions::default())));
}

/// A function of this many sums.
fn sums(count: usize) -> String {
    let mut text = String::from("func @sums(%v0: i32, %w: i32) -> i32 {\n");
    for i in 0..count {
        writeln!(text, "  %v{} = tfrt.add.i32 %v{i}, %w", i + 1).expect("strings take all text");
    }
    write!(text, "  tfrt.return %v{count} : i32\n}}\n").expect("strings take all text");
    text
}

/// Replaces each sum by one with its operands the other way round.
fn swap_operands(module: &mut Module) {
    let ops: Vec<OpId> = module.walk(module.root()).collect();
    for op in ops {
        if let ("tfrt.add.i32", &[a, b]) = (&*module.op(op).name, &module.op(op).operands[..]) {
            let state = OpState::new(&module.op(op).name).operands([b, a]);
            let sum = Builder::before(module, op).create_value(state, Type::int(32));
            module.replace_op(op, &[sum]);
        }
    }
}

/// Time per operation stays the same if all parts of a pass are linear.
fn rewrite(c: &mut Criterion) {
    let ops = tfrt::operations(&registry()).expect("kernels that MLIR can spell");
    let mut group = c.benchmark_group("rewrite");
    for count in [10_000, 100_000, 1_000_000] {
        let source = Source::new("bench.mlir", sums(count));
        let parse = || parse_module(&source, &ops, &ParseOptions::default()).expect("text that parses");
        let module = parse();
        group.throughput(Throughput::Elements(count as u64)).sample_size(10);
        group.bench_function(BenchmarkId::new("every operation", count), |b| {
            b.iter_batched(
                || module.clone(),
                |mut module| {
                    swap_operands(&mut module);
                    module
                },
                BatchSize::PerIteration,
            );
        });
        group.bench_function(BenchmarkId::new("parse, rewrite and print", count), |b| {
            b.iter(|| {
                let mut module = parse();
                swap_operands(&mut module);
                print_module(&module, &ops, PrintOptions::default())
            });
        });
    }
}

criterion_group! { name = benches; config = support::criterion(); targets = bef, text, rewrite }
criterion_main!(benches);
