//! `tfrt.ScalarLoop`: a loop over scalars, as a list of instructions.
//!
//! A loop of ops on scalars calls each op in each iteration, which costs hundreds of times what the
//! ops compute. The compiler turns such a loop into one op. Registers of 64 bits hold the
//! arguments, the constants and the results of instructions. An instruction is five numbers: its
//! code, its result's register, and up to three operands' registers.

use smallvec::SmallVec;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::{
    support::{Computed, Described, invalid},
    types,
};
use crate::{CpuCall, MetadataCall, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tfrt.ScalarLoop");

/// The number of words of an instruction.
const WORDS: usize = 5;
/// The greatest number of registers of a loop.
const MAX_REGISTERS: usize = 1 << 16;
/// The number of iterations between checks for cancellation.
const ITERATIONS_PER_CHECK: u64 = 1 << 16;

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarOp {
    /// The first operand.
    Copy,
    /// The second operand if the first one is true, else the third.
    Select,
    /// Whether both operands are true.
    And,
    /// Whether either operand is true.
    Or,
    /// Whether the operand is false.
    Not,
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The negated operand.
    Neg,
    /// Whether the first operand is less.
    Less,
    /// Whether the first operand is less or equal.
    LessEqual,
    /// Whether both operands are equal.
    Equal,
}

const OPS: [ScalarOp; 12] = [
    ScalarOp::Copy,
    ScalarOp::Select,
    ScalarOp::And,
    ScalarOp::Or,
    ScalarOp::Not,
    ScalarOp::Add,
    ScalarOp::Sub,
    ScalarOp::Mul,
    ScalarOp::Neg,
    ScalarOp::Less,
    ScalarOp::LessEqual,
    ScalarOp::Equal,
];
/// The number types of instructions.
const NUMBERS: [DType; 4] = [DType::I32, DType::I64, DType::F32, DType::F64];

impl ScalarOp {
    /// Returns the code of an instruction, or `None` if the operation does not support this type.
    pub fn code(self, dtype: DType) -> Option<i64> {
        let op = OPS.iter().position(|&op| op == self)? as i64;
        let is_untyped = matches!(self, Self::Copy | Self::Select | Self::And | Self::Or | Self::Not);
        let ty = match NUMBERS.iter().position(|&number| number == dtype) {
            Some(ty) => ty,
            None if is_untyped && dtype == DType::I1 => 0,
            None => return None,
        };
        Some(if is_untyped { op * 4 } else { op * 4 + ty as i64 })
    }
}

/// Returns the bits of a scalar of a supported type.
pub fn scalar_bits(tensor: &HostTensor) -> Option<u64> {
    let dense = tensor.dense().ok().filter(|dense| dense.shape().dims().is_empty())?;
    Some(match dense.dtype() {
        DType::I1 => u64::from(*dense.read::<bool>(&ME).ok()?.first()?),
        DType::I32 => u64::from(*dense.read::<i32>(&ME).ok()?.first()? as u32),
        DType::I64 => *dense.read::<i64>(&ME).ok()?.first()? as u64,
        DType::F32 => dense.read::<f32>(&ME).ok()?.first()?.to_bits().into(),
        DType::F64 => dense.read::<f64>(&ME).ok()?.first()?.to_bits(),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    to: u16,
    a: u16,
    b: u16,
    c: u16,
}

/// A number as the bits of a register.
trait Number: Copy + PartialOrd {
    fn from_bits(bits: u64) -> Self;
    fn to_bits(self) -> u64;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn neg(self) -> Self;
}

macro_rules! integer {
    ($ty:ty, $bits:ty) => {
        impl Number for $ty {
            fn from_bits(bits: u64) -> Self {
                bits as $ty
            }
            fn to_bits(self) -> u64 {
                u64::from(self as $bits)
            }
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
        }
    };
}

macro_rules! float {
    ($ty:ty, $bits:ty) => {
        impl Number for $ty {
            fn from_bits(bits: u64) -> Self {
                <$ty>::from_bits(bits as $bits)
            }
            fn to_bits(self) -> u64 {
                u64::from(<$ty>::to_bits(self))
            }
            fn add(self, other: Self) -> Self {
                self + other
            }
            fn sub(self, other: Self) -> Self {
                self - other
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn neg(self) -> Self {
                -self
            }
        }
    };
}

integer!(i32, u32);
integer!(i64, u64);
float!(f32, u32);
float!(f64, u64);

/// Computes a typed instruction.
#[inline(always)]
fn compute<T: Number>(op: u8, a: u64, b: u64) -> u64 {
    let (a, b) = (T::from_bits(a), T::from_bits(b));
    match op {
        5 => a.add(b).to_bits(),
        6 => a.sub(b).to_bits(),
        7 => a.mul(b).to_bits(),
        8 => a.neg().to_bits(),
        9 => u64::from(a < b),
        10 => u64::from(a <= b),
        _ => u64::from(a == b),
    }
}

fn run(instructions: &[Instruction], registers: &mut [u64]) {
    for &Instruction { code, to, a, b, c } in instructions {
        let [a, b, c] = [a, b, c].map(|register| registers[usize::from(register)]);
        registers[usize::from(to)] = match (code / 4, code % 4) {
            (0, _) => a,
            (1, _) => [c, b][usize::from(a != 0)],
            (2, _) => a & b,
            (3, _) => a | b,
            (4, _) => u64::from(a == 0),
            (op, 0) => compute::<i32>(op, a, b),
            (op, 1) => compute::<i64>(op, a, b),
            (op, 2) => compute::<f32>(op, a, b),
            (op, _) => compute::<f64>(op, a, b),
        };
    }
}

/// A loop, as its attributes describe it.
struct Program {
    registers: Vec<u64>,
    condition: Vec<Instruction>,
    /// The register that decides whether there is another iteration.
    decides: usize,
    body: Vec<Instruction>,
    /// The registers of the arguments' next values.
    next: Vec<usize>,
}

impl Program {
    fn read(call: &CpuCall<'_>) -> Result<Self, Diagnostic> {
        let arguments = call.arguments.len();
        let count = call.attrs.required::<i64>("registers")?;
        let count = usize::try_from(count).ok().filter(|&count| count <= MAX_REGISTERS && arguments <= count);
        let count = count.ok_or_else(|| invalid("tfrt.ScalarLoop: wrong number of registers"))?;
        let register = |number: i64| {
            let register = usize::try_from(number).ok().filter(|&register| register < count);
            register.ok_or_else(|| invalid(format!("tfrt.ScalarLoop: there is no register {number}")))
        };
        let instructions = |name: &str| -> Result<Vec<Instruction>, Diagnostic> {
            let words = call.attrs.required::<&[i64]>(name)?;
            let instruction = |words: &[i64]| {
                let code = u8::try_from(words[0]).ok().filter(|&code| usize::from(code) < 4 * OPS.len());
                let code = code.ok_or_else(|| invalid("tfrt.ScalarLoop: there is no such instruction"))?;
                let [to, a, b, c] = [1, 2, 3, 4].map(|index| register(words[index]));
                Ok(Instruction { code, to: to? as u16, a: a? as u16, b: b? as u16, c: c? as u16 })
            };
            if !words.len().is_multiple_of(WORDS) {
                return Err(invalid("tfrt.ScalarLoop: an instruction has five numbers"));
            }
            words.chunks_exact(WORDS).map(instruction).collect()
        };
        let mut registers = vec![0; count];
        for (register, argument) in registers.iter_mut().zip(call.arguments) {
            *register = scalar_bits(argument).ok_or_else(|| invalid("tfrt.ScalarLoop takes scalars"))?;
        }
        for pair in call.attrs.required::<&[i64]>("constants")?.chunks_exact(2) {
            registers[register(pair[0])?] = pair[1] as u64;
        }
        let next = call.attrs.required::<&[i64]>("next")?;
        if next.len() != arguments {
            return Err(invalid("tfrt.ScalarLoop gives as many values as it takes"));
        }
        Ok(Self {
            registers,
            condition: instructions("condition")?,
            decides: register(call.attrs.required::<i64>("decides")?)?,
            body: instructions("body")?,
            next: next.iter().map(|&number| register(number)).collect::<Result<_, _>>()?,
        })
    }

    fn run(&mut self, call: &CpuCall<'_>) -> Result<(), Diagnostic> {
        let mut values = vec![0; self.next.len()];
        for iteration in 1_u64.. {
            run(&self.condition, &mut self.registers);
            if self.registers[self.decides] == 0 {
                break;
            }
            run(&self.body, &mut self.registers);
            for (value, &next) in values.iter_mut().zip(&self.next) {
                *value = self.registers[next];
            }
            self.registers[..values.len()].copy_from_slice(&values);
            if iteration.is_multiple_of(ITERATIONS_PER_CHECK)
                && let Some(reason) = call.cx.request().cancellation()
            {
                return Err(reason.clone().into());
            }
        }
        Ok(())
    }
}

fn scalar_loop(call: CpuCall<'_>) -> Computed {
    let mut program = Program::read(&call)?;
    program.run(&call)?;
    let allocator = call.cx.host().allocator();
    let results = call.arguments.iter().zip(&program.registers).map(|(argument, &bits)| {
        let shape = TensorShape::scalar();
        let tensor = match argument.dtype() {
            DType::I1 => DenseHostTensor::full(shape, bits != 0, allocator),
            DType::I32 => DenseHostTensor::full(shape, bits as i32, allocator),
            DType::I64 => DenseHostTensor::full(shape, bits as i64, allocator),
            DType::F32 => DenseHostTensor::full(shape, f32::from_bits(bits as u32), allocator),
            _ => DenseHostTensor::full(shape, f64::from_bits(bits), allocator),
        };
        Ok(AsyncValue::new(HostTensor::from(tensor?)))
    });
    Ok(OpResult { tensors: results.collect::<Result<SmallVec<_>, Diagnostic>>()?, done: None })
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let describe = |argument: &&TensorMetadata| match argument.shape.dims() {
        [] => Ok(TensorMetadata::new(argument.dtype, TensorShape::scalar())),
        _ => Err(invalid(format!("tfrt.ScalarLoop takes scalars, got {argument}"))),
    };
    call.arguments.iter().map(describe).collect()
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tfrt.ScalarLoop")
        .types(types::SCALARS)
        .attrs([
            attr::int("registers"),
            attr::ints("constants"),
            attr::ints("condition"),
            attr::int("decides"),
            attr::ints("body"),
            attr::ints("next"),
        ])
        .metadata(metadata)
        .cpu(scalar_loop);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_op_and_type() {
        for (number, op) in OPS.into_iter().enumerate() {
            let code = op.code(DType::F64).unwrap();
            assert_eq!(code / 4, number as i64);
            assert_eq!(op.code(DType::I1).is_some(), number < 5, "{op:?}");
            assert_eq!(op.code(DType::F16), None);
        }
        assert_eq!(compute::<i32>(5, u64::from(u32::MAX), 1), 0);
        assert_eq!(compute::<i32>(9, u64::from(u32::MAX), 0), 1);
        assert_eq!(
            f32::from_bits(compute::<f32>(7, 1.5_f32.to_bits().into(), 2_f32.to_bits().into()) as u32),
            3.0
        );
    }
}
