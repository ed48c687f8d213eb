//! Generated kernels, against the same programs on the host.
//!
//! Their source is committed, so that `ci/ptx` can compile it: `tests/generated/sample.cu`, which
//! `TFRT_BLESS=1` writes.

use bytemuck::Pod;
use half::{bf16, f16};
use tfrt_device::front::{Argument, DeviceBuffer, Function as DeviceFunction};
use tfrt_host::DType;
use tfrt_launch::{Generated, GeneratedLaunch, strided_launch};
use tfrt_math::{Function, Fused, Program, Step, Term};

use super::{Random, assert_close, device, steps::step};

const PTX: &str = include_str!("../generated/ptx/sample.compute_75.ptx");
const TYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

/// A program and the extents of its arguments and of its result.
struct Case {
    program: Program,
    shapes: Vec<Vec<usize>>,
    result: Vec<usize>,
    /// The least and the greatest element of an argument.
    range: (f32, f32),
}

impl Case {
    fn new(steps: Vec<Step>, shapes: &[&[usize]], result: &[usize]) -> Self {
        Self {
            program: Program::new(shapes.len(), steps).unwrap(),
            shapes: shapes.iter().map(|dims| dims.to_vec()).collect(),
            result: result.to_vec(),
            range: (-4.0, 4.0),
        }
    }

    fn add_to(&self, generated: &mut Generated, dtype: DType) -> GeneratedLaunch {
        let shapes: Vec<&[usize]> = self.shapes.iter().map(Vec::as_slice).collect();
        generated.add(&self.program, dtype, &shapes, &self.result).unwrap()
    }
}

/// The sum of the results of functions of the two arguments.
fn sum(functions: &[Function], range: (f32, f32)) -> Case {
    let (x, mut steps) = (Term::Argument, Vec::new());
    for &function in functions {
        steps.push(step(function, &[x(0), x(1)][..function.arity()]));
        if let Some(last) = steps.len().checked_sub(2) {
            steps.push(step(Function::Add, &[Term::Step(last), Term::Step(last + 1)]));
        }
    }
    Case { range, ..Case::new(steps, &[&[1_003], &[1_003]], &[1_003]) }
}

/// Programs of all functions, and of a number times its sigmoid.
fn functions() -> [Case; 3] {
    use Function::{
        Abs, Add, Ceil, Div, Elu, Erf, Exp, Expm1, Floor, Gelu, GeluTanh, LeakyRelu, Log, Maximum, Minimum,
        Mul, Neg, Reciprocal, Relu, Relu6, Round, Rsqrt, Selu, Sigmoid, Softplus, Softsign, Sqrt, Square,
        SquaredDifference, Sub, Tanh,
    };
    let anywhere = [
        Add,
        Sub,
        Mul,
        Maximum,
        Minimum,
        SquaredDifference,
        LeakyRelu,
        Abs,
        Ceil,
        Elu,
        Erf,
        Exp,
        Expm1,
        Floor,
        Gelu,
        GeluTanh,
        Neg,
        Relu,
        Relu6,
        Round,
        Selu,
        Sigmoid,
        Softplus,
        Softsign,
        Square,
        Tanh,
    ];
    let positive = [Div, Log, Reciprocal, Rsqrt, Sqrt];
    let (x, s) = (Term::Argument(0), Term::Step);
    let gates =
        vec![step(Sigmoid, &[x]), step(Mul, &[x, s(0)]), step(Sigmoid, &[s(1)]), step(Mul, &[s(2), s(1)])];
    let gates = Case::new(gates, &[&[1_003]], &[1_003]);
    [sum(&anywhere, (-4.0, 4.0)), sum(&positive, (0.1, 4.0)), gates]
}

/// A program with arguments that lie in all ways.
fn layouts() -> impl Iterator<Item = Case> {
    use Function::{Add, Maximum, Mul, Sigmoid, Sub};
    let (x, s) = (Term::Argument, Term::Step);
    let steps = move || {
        vec![
            step(Sigmoid, &[x(1)]),
            step(Mul, &[x(0), s(0)]),
            step(Add, &[s(1), x(2)]),
            step(Sub, &[Term::Number(-1.5), s(2)]),
            step(Maximum, &[s(3), Term::Number(f32::NEG_INFINITY)]),
        ]
    };
    let shapes: [([&[usize]; 3], &[usize]); 7] = [
        // Packs of a row, and of a row of each image.
        ([&[2, 3, 4, 8], &[2, 1, 1, 8], &[8]], &[2, 3, 4, 8]),
        // One element for each pack.
        ([&[2, 3, 4, 8], &[2, 3, 1, 1], &[]], &[2, 3, 4, 8]),
        // Neither.
        ([&[6], &[2, 3, 4, 1], &[]], &[2, 3, 4, 6]),
        ([&[3, 1], &[1, 5], &[1]], &[3, 5]),
        ([&[6, 5, 1], &[6, 1, 3], &[6, 5, 3]], &[6, 5, 3]),
        // Along alternating axes.
        ([&[2, 1, 3, 1, 4], &[5, 1, 5, 1], &[2, 5, 3, 5, 4]], &[2, 5, 3, 5, 4]),
        ([&[1], &[1], &[1]], &[1]),
    ];
    shapes.into_iter().map(move |(shapes, result)| Case::new(steps(), &shapes, result))
}

fn sample() -> (Generated, Vec<(Case, DType, GeneratedLaunch)>) {
    let mut generated = Generated::default();
    let cases = functions().into_iter().map(|case| (case, DType::F32));
    let cases = cases.chain(TYPES.into_iter().flat_map(|dtype| layouts().map(move |case| (case, dtype))));
    let launches = cases.map(|(case, dtype)| {
        let launch = case.add_to(&mut generated, dtype);
        (case, dtype, launch)
    });
    let launches = launches.collect();
    (generated, launches)
}

#[test]
fn the_committed_source_is_what_is_generated() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generated/sample.cu");
    let head = "// targets: 75\n#define HAS_FEW_FUNCTIONS\n#include \"generated.cuh\"\n";
    let source = head.to_owned() + &sample().0.kernels();
    if std::env::var_os("TFRT_BLESS").is_some() {
        std::fs::write(file, &source).unwrap();
    }
    let committed = std::fs::read_to_string(file).unwrap();
    assert!(committed == source, "{file} is old: TFRT_BLESS=1 writes it, and then ci/ptx --write sample");
}

/// Elements of a type, rounded from f32.
trait Rounded: Pod + Send + Sync {
    fn round(x: f32) -> Self;
    fn wide(self) -> f32;
}

impl Rounded for f32 {
    fn round(x: f32) -> Self {
        x
    }
    fn wide(self) -> f32 {
        self
    }
}

impl Rounded for f16 {
    fn round(x: f32) -> Self {
        Self::from_f32(x)
    }
    fn wide(self) -> f32 {
        self.to_f32()
    }
}

impl Rounded for bf16 {
    fn round(x: f32) -> Self {
        Self::from_f32(x)
    }
    fn wide(self) -> f32 {
        self.to_f32()
    }
}

fn queue(function: &DeviceFunction, launch: GeneratedLaunch, y: &DeviceBuffer, arguments: &[DeviceBuffer]) {
    let config = strided_launch(device().context.device().properties(), launch.threads.into());
    let mut all = vec![Argument::Buffer(y, None), launch.elements.into()];
    all.extend(arguments.iter().map(|buffer| Argument::Buffer(buffer, None)));
    device().stream.launch(function, &config, &all).unwrap();
}

/// Compares a kernel with the host, once with a result of its own, and once in the place of an
/// argument that lies as the result does, if there is one.
fn check<T: Rounded>(function: &DeviceFunction, case: &Case, launch: GeneratedLaunch, tolerance: f32) {
    let (d, mut random) = (device(), Random::new(11));
    let count = |dims: &[usize]| dims.iter().product::<usize>();
    let (low, high) = case.range;
    let mut random =
        |dims: &Vec<usize>| random.f32s(count(dims), low, high).into_iter().map(T::round).collect::<Vec<T>>();
    let arguments: Vec<Vec<T>> = case.shapes.iter().map(&mut random).collect();
    let wide: Vec<Vec<f32>> =
        arguments.iter().map(|argument| argument.iter().map(|&x| x.wide()).collect()).collect();
    let mut expected = vec![0.0; count(&case.result)];
    let shapes: Vec<&[usize]> = case.shapes.iter().map(Vec::as_slice).collect();
    let fused = Fused::new(case.program.clone(), &shapes).unwrap();
    fused.prepare(wide).unwrap().compute(0..expected.len(), &mut expected).unwrap();

    let buffers: Vec<_> = arguments.iter().map(|argument| d.upload(argument)).collect();
    let y = d.room::<T>(expected.len());
    queue(function, launch, &y, &buffers);
    let of = |buffer| d.download::<T>(buffer, expected.len()).into_iter().map(T::wide).collect::<Vec<_>>();
    assert_close(&of(&y), &expected, tolerance);
    if let Some(whole) = case.shapes.iter().position(|dims| *dims == case.result) {
        queue(function, launch, &buffers[whole], &buffers);
        assert_close(&of(&buffers[whole]), &expected, tolerance);
    }
}

#[test]
fn kernels_compute_what_the_host_does() {
    let module = device().context.load_module(PTX.as_bytes()).unwrap();
    for (case, dtype, launch) in sample().1 {
        let function = module.function(&Generated::name(launch.kernel)).unwrap();
        match dtype {
            DType::F16 => check::<f16>(&function, &case, launch, 1e-3),
            DType::BF16 => check::<bf16>(&function, &case, launch, 8e-3),
            _ => check::<f32>(&function, &case, launch, 1e-5),
        }
    }
}

#[test]
fn kernels_are_shared() {
    let mut generated = Generated::default();
    let relu = || vec![step(Function::Relu, &[Term::Argument(0)])];
    let small = Case::new(relu(), &[&[8]], &[8]).add_to(&mut generated, DType::F32);
    let large = Case::new(relu(), &[&[4, 9_000_000]], &[4, 9_000_000]).add_to(&mut generated, DType::F32);
    assert_eq!((small.kernel, large.kernel, generated.len()), (0, 0, 1));
    assert_eq!((small.elements, small.threads), (8, 2));
    assert_eq!((large.elements, large.threads), (36_000_000, 9_000_000));
    let half = Case::new(relu(), &[&[8]], &[8]).add_to(&mut generated, DType::F16);
    assert_eq!((half.kernel, generated.len()), (1, 2));
    let program = Program::new(1, relu()).unwrap();
    for (dtype, dims) in [(DType::F64, &[8][..]), (DType::F32, &[0]), (DType::F32, &[1 << 16, 1 << 16])] {
        assert_eq!(generated.add(&program, dtype, &[dims], dims), None);
    }
}
