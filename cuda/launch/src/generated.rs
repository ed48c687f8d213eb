//! [`Generated`]: CUDA C++ for elementwise functions that a compiler fused.
//!
//! A kernel computes one program for arguments that lie in one way: what `steps.cu` looks up for each
//! element is part of its code. The number of elements is a parameter, so that one kernel serves
//! tensors of several sizes.

use std::fmt::Write as _;

use tfrt_host::DType;
use tfrt_math::{Function, Program, Step, Term};

use crate::steps::{groups, word};

/// The files that kernels include, in the order in which they include each other.
const HEADERS: [&str; 3] = [
    include_str!("../cuda/scalars.cuh"),
    include_str!("../cuda/functions.cuh"),
    include_str!("../cuda/generated.cuh"),
];

/// The source of kernels, each of which is there once.
#[derive(Debug, Default)]
pub struct Generated {
    kernels: Vec<Kernel>,
}

#[derive(Debug, PartialEq, Eq)]
struct Kernel {
    /// The steps, as a function of the arguments.
    steps: String,
    dtype: &'static str,
    /// How each argument lies, as a type of C++.
    arguments: Vec<String>,
}

/// A launch of a generated kernel. Its arguments are the result, the number of elements, which has
/// 32 bits, and the arguments of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneratedLaunch {
    /// The number of the kernel; see [`Generated::name`].
    pub kernel: usize,
    /// The number of elements of the result.
    pub elements: u32,
    /// The number of threads that have something to do, for
    /// [`strided_launch`](crate::strided_launch).
    pub threads: u32,
}

impl Generated {
    /// What the compiler must be told, besides the architecture.
    pub const OPTIONS: &'static [&'static str] = &["--std=c++17"];

    /// Adds the kernel of a program of this type on arguments of these extents, which are broadcast
    /// to those of the result. Returns nothing if there is no such kernel: for types other than f32,
    /// f16 and bf16, no elements, and 2³² elements.
    pub fn add(
        &mut self,
        program: &Program,
        dtype: DType,
        arguments: &[&[usize]],
        result: &[usize],
    ) -> Option<GeneratedLaunch> {
        let (dtype, length) = match dtype {
            DType::F32 => ("f32", 4),
            DType::F16 => ("f16", 8),
            DType::BF16 => ("bf16", 8),
            _ => return None,
        };
        let elements = result.iter().try_fold(1u64, |n, &dim| n.checked_mul(dim as u64))?;
        word(elements).filter(|_| elements > 0)?;
        let kernel = Kernel {
            steps: steps(program),
            dtype,
            arguments: arguments.iter().map(|dims| argument(dtype, dims, result, elements)).collect(),
        };
        let known = self.kernels.iter().position(|known| *known == kernel);
        let number = known.unwrap_or_else(|| {
            self.kernels.push(kernel);
            self.kernels.len() - 1
        });
        let threads = elements.div_ceil(length) as u32;
        Some(GeneratedLaunch { kernel: number, elements: elements as u32, threads })
    }

    /// Returns the number of kernels.
    pub fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Returns whether there is no kernel.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Returns the name of the kernel of this number.
    pub fn name(kernel: usize) -> String {
        format!("fused_{kernel}")
    }

    /// Returns the source of all kernels, which needs no other files.
    pub fn source(&self) -> String {
        let lines = HEADERS.iter().flat_map(|header| header.lines());
        let own = lines.filter(|line| !line.starts_with("#pragma once") && !line.starts_with("#include"));
        let mut source = "#define HAS_FEW_FUNCTIONS\n".to_owned();
        source.extend(own.flat_map(|line| [line, "\n"]));
        source + &self.kernels()
    }

    /// Returns the kernels without what they include.
    pub fn kernels(&self) -> String {
        let kernels = self.kernels.iter().enumerate();
        kernels.map(|(number, kernel)| kernel.text(&Self::name(number))).collect()
    }
}

impl Kernel {
    /// The kernel under this name.
    fn text(&self, name: &str) -> String {
        let Self { steps, dtype, arguments } = self;
        let (mut parameters, mut given, mut taken) = (String::new(), String::new(), Vec::new());
        for (index, argument) in arguments.iter().enumerate() {
            _ = write!(parameters, ", const {dtype} *x{index}");
            _ = write!(given, ", {argument}{{x{index}}}");
            taken.push(format!("f32 x{index}"));
        }
        let taken = taken.join(", ");
        format!(
            "
KERNEL {name}({dtype} *y, u32 n{parameters}) {{
    auto steps = []({taken}) {{
{steps}    }};
    fuse(y, n, steps{given});
}}
"
        )
    }
}

/// The type of an argument of extents `dims`.
fn argument(dtype: &str, dims: &[usize], result: &[usize], elements: u64) -> String {
    let groups = groups(dims, result);
    if let [[1, extent, 1]] = groups[..]
        && extent == elements
    {
        return format!("Whole<{dtype}>");
    }
    let axes =
        groups.iter().map(|[divisor, extent, stride]| format!(", Axis<{divisor}, {extent}, {stride}>"));
    format!("Repeated<{dtype}{}>", axes.collect::<String>())
}

/// The steps of a program as statements.
fn steps(program: &Program) -> String {
    let mut text = String::new();
    let last = program.steps().len() - 1;
    for (number, step) in program.steps().iter().enumerate() {
        let value = gate(program, step).unwrap_or_else(|| expression(step));
        _ = match number == last {
            false => writeln!(text, "        f32 s{number} = {value};"),
            true => writeln!(text, "        return {value};"),
        };
    }
    text
}

/// The product of a number and its sigmoid as one division.
fn gate(program: &Program, step: &Step) -> Option<String> {
    let (Function::Mul, [a, b]) = (step.function, &step.terms[..]) else { return None };
    let is_sigmoid = |of: &Term, term: &Term| match *term {
        Term::Step(number) => {
            let step = &program.steps()[number];
            step.function == Function::Sigmoid && step.terms[0] == *of
        }
        Term::Argument(_) | Term::Number(_) => false,
    };
    let gated = if is_sigmoid(a, b) { a } else { Some(b).filter(|_| is_sigmoid(b, a))? };
    Some(format!("function::silu<f32>({})", operand(gated)))
}

fn operand(term: &Term) -> String {
    match *term {
        Term::Argument(index) => format!("x{index}"),
        Term::Step(number) => format!("s{number}"),
        Term::Number(number) if number.is_finite() => format!("({number:?}f)"),
        Term::Number(number) => format!("__uint_as_float({:#x}u)", number.to_bits()),
    }
}

fn expression(step: &Step) -> String {
    let operands: Vec<_> = step.terms.iter().map(operand).collect();
    let a = operands.first().map_or("", String::as_str);
    let b = operands.get(1).map_or("", String::as_str);
    let function = match step.function {
        Function::Add => return format!("{a} + {b}"),
        Function::Sub => return format!("{a} - {b}"),
        Function::Mul => return format!("{a} * {b}"),
        Function::Div => return format!("{a} / {b}"),
        Function::SquaredDifference => return format!("function::square({a} - {b})"),
        Function::LeakyRelu => return format!("{a} > 0.0f ? {a} : {b} * {a}"),
        Function::Maximum => return format!("maximum<f32>({a}, {b})"),
        Function::Minimum => return format!("minimum<f32>({a}, {b})"),
        Function::Abs => "abs",
        Function::Ceil => "ceil",
        Function::Elu => "elu",
        Function::Erf => "erf",
        Function::Exp => "exp",
        Function::Expm1 => "expm1",
        Function::Floor => "floor",
        Function::Gelu => "gelu",
        Function::GeluTanh => "gelu_tanh",
        Function::Log => "log",
        Function::Neg => "neg",
        Function::Reciprocal => "reciprocal",
        Function::Relu => "relu",
        Function::Relu6 => "relu6",
        Function::Round => "round",
        Function::Rsqrt => "rsqrt",
        Function::Selu => "selu",
        Function::Sigmoid => "sigmoid",
        Function::Softplus => "softplus",
        Function::Softsign => "softsign",
        Function::Sqrt => "sqrt",
        Function::Square => "square",
        Function::Tanh => "tanh",
    };
    format!("function::{function}<f32>({a})")
}
