//! Makes one op of loops over scalars.
//!
//! A loop whose condition and body compute with scalars alone becomes a `tfrt.ScalarLoop`, a list
//! of instructions. A conditional in it becomes both of its branches, and a choice between what
//! they give.

use std::collections::HashMap;

use tfrt_eager::ops::scalar_loop::{ScalarOp, scalar_bits};
use tfrt_host::DType;
use tfrt_ir::{Attribute, BlockId, InsertionPoint, Module, OpId, OpState, ValueId};

use super::effects::callees;
use crate::{Evaluator, Graph, dialect::tf, graph::CONST, import::onnx::RETURN};

/// The op that a loop becomes.
const SCALAR_LOOP: &str = "tfrt.ScalarLoop";
/// How many instructions a loop may have.
const MAX_INSTRUCTIONS: usize = 4096;
/// How deep calls in a loop may nest.
const MAX_DEPTH: usize = 16;

/// Replaces the loops of a graph, inner ones first.
pub(super) fn run(graph: &mut Graph, _: &Evaluator) {
    let module = &graph.module;
    let loops: Vec<OpId> = module.walk(module.root()).filter(|&op| module.op(op).name == tf::WHILE).collect();
    for op in loops {
        replace(graph, op);
    }
}

/// Replaces a loop, if it is one over scalars.
fn replace(graph: &mut Graph, op: OpId) -> Option<()> {
    let state = Translation::new(graph, op)?.translate(op)?;
    let module = &mut graph.module;
    let new = module.create_op(state);
    module.insert_op(InsertionPoint::Before(op), new);
    let results = module.op(new).results.clone();
    module.replace_op(op, &results);
    Some(())
}

/// A register with the type of its number.
type Register = (i64, DType);

/// A loop on its way into instructions.
struct Translation<'g> {
    graph: &'g Graph,
    arguments: Vec<Register>,
    count: i64,
    constants: Vec<i64>,
    instructions: Vec<i64>,
}

/// The type of a scalar that loops compute with.
fn scalar(graph: &Graph, value: ValueId) -> Option<DType> {
    let ty = graph.tensor_type(value)?;
    let is_number = matches!(ty.dtype, DType::I1 | DType::I32 | DType::I64 | DType::F32 | DType::F64);
    (is_number && ty.static_dims()?.is_empty()).then_some(ty.dtype)
}

fn body(module: &Module, function: &str) -> Option<BlockId> {
    module.function(function)?.body()
}

fn symbol(module: &Module, op: OpId, name: &str) -> Option<String> {
    Some(module.op(op).attr(name)?.as_flat_symbol()?.to_string())
}

impl<'g> Translation<'g> {
    fn new(graph: &'g Graph, op: OpId) -> Option<Self> {
        let types = graph.module.op(op).operands.iter().map(|&operand| scalar(graph, operand));
        let arguments: Vec<Register> =
            (0..).zip(types).map(|(index, ty)| Some((index, ty?))).collect::<Option<_>>()?;
        let count = arguments.len() as i64;
        Some(Self { graph, arguments, count, constants: Vec::new(), instructions: Vec::new() })
    }

    fn translate(mut self, op: OpId) -> Option<OpState> {
        let module = &self.graph.module;
        let arguments = self.arguments.clone();
        let [condition, step] = ["cond", "body"].map(|name| symbol(module, op, name));
        let decides = self.function(&condition?, &arguments, 0)?;
        let &[(decides, DType::I1)] = &decides[..] else { return None };
        let condition = std::mem::take(&mut self.instructions);
        let next = self.function(&step?, &arguments, 0)?;
        let keeps_types = next.iter().map(|(_, ty)| ty).eq(arguments.iter().map(|(_, ty)| ty));
        if !keeps_types {
            return None;
        }
        let list =
            |numbers: Vec<i64>| Attribute::array(numbers.into_iter().map(Attribute::i64).collect::<Vec<_>>());
        let data = module.op(op);
        let results = module.types_of(&data.operands);
        let state = OpState::new(SCALAR_LOOP)
            .operands(data.operands.clone())
            .results(results)
            .attr("registers", Attribute::i64(self.count))
            .attr("constants", list(self.constants))
            .attr("condition", list(condition))
            .attr("decides", Attribute::i64(decides))
            .attr("body", list(self.instructions))
            .attr("next", list(next.into_iter().map(|(register, _)| register).collect()));
        Some(state.at(data.location.clone()))
    }

    /// Adds the instructions of a function. Returns the registers of what it gives.
    fn function(&mut self, name: &str, arguments: &[Register], depth: usize) -> Option<Vec<Register>> {
        let module = &self.graph.module;
        let block = body(module, name).filter(|_| depth < MAX_DEPTH)?;
        let parameters = &module.block(block).arguments;
        if parameters.len() != arguments.len() {
            return None;
        }
        let mut registers: HashMap<ValueId, Register> =
            parameters.iter().copied().zip(arguments.iter().copied()).collect();
        for (id, op) in module.ops_in(block) {
            let operands: Vec<Register> =
                op.operands.iter().map(|operand| registers.get(operand).copied()).collect::<Option<_>>()?;
            if op.name == RETURN {
                return Some(operands);
            }
            let results = self.op(id, &operands, depth)?;
            registers.extend(op.results.iter().copied().zip(results));
        }
        None
    }

    /// Adds the instructions of an op.
    fn op(&mut self, id: OpId, operands: &[Register], depth: usize) -> Option<Vec<Register>> {
        let module = &self.graph.module;
        let op = module.op(id);
        match (op.name.as_str(), operands) {
            (CONST, _) => Some(vec![self.constant(id)?]),
            (tf::PARTITIONED_CALL, _) => {
                let callee = callees(module, id).first()?.to_string();
                self.function(&callee, operands, depth + 1)
            }
            (tf::IF, [condition, rest @ ..]) => self.choice(id, *condition, rest, depth),
            (name, _) => Some(vec![self.simple(name, operands)?]),
        }
    }

    fn constant(&mut self, id: OpId) -> Option<Register> {
        let tensor = self.graph.constants.tensor(self.graph.constant_id(id)?)?;
        let bits = scalar_bits(tensor)?;
        let register = self.register();
        self.constants.extend([register, bits as i64]);
        Some((register, tensor.dtype()))
    }

    /// Both branches, and a choice between their results.
    fn choice(
        &mut self,
        id: OpId,
        condition: Register,
        operands: &[Register],
        depth: usize,
    ) -> Option<Vec<Register>> {
        let module = &self.graph.module;
        let [on_true, on_false] = ["then_branch", "else_branch"].map(|name| symbol(module, id, name));
        if condition.1 != DType::I1 {
            return None;
        }
        let on_true = self.function(&on_true?, operands, depth + 1)?;
        let on_false = self.function(&on_false?, operands, depth + 1)?;
        let both = on_true.into_iter().zip(on_false);
        both.map(|(a, b)| {
            if a.1 != b.1 {
                return None;
            }
            self.instruction(ScalarOp::Select, a.1, [condition.0, a.0, b.0], a.1)
        })
        .collect()
    }

    /// The instruction of an op on scalars of one type.
    fn simple(&mut self, name: &str, operands: &[Register]) -> Option<Register> {
        let &(first, ty) = operands.first()?;
        let register = |index: usize| operands.get(index).map_or(first, |&(register, _)| register);
        let same = operands.iter().all(|&(_, other)| other == ty);
        let (op, [a, b, c], result) = match (name, operands.len()) {
            ("tf.Identity", 1) => (ScalarOp::Copy, [first; 3], ty),
            ("tf.LogicalNot", 1) => (ScalarOp::Not, [first; 3], DType::I1),
            ("tf.Neg", 1) => (ScalarOp::Neg, [first; 3], ty),
            ("tf.Square", 1) => (ScalarOp::Mul, [first; 3], ty),
            ("tf.LogicalAnd", 2) => (ScalarOp::And, [first, register(1), first], DType::I1),
            ("tf.LogicalOr", 2) => (ScalarOp::Or, [first, register(1), first], DType::I1),
            ("tf.Add" | "tf.AddV2", 2) => (ScalarOp::Add, [first, register(1), first], ty),
            ("tf.Sub", 2) => (ScalarOp::Sub, [first, register(1), first], ty),
            ("tf.Mul", 2) => (ScalarOp::Mul, [first, register(1), first], ty),
            ("tf.Less", 2) => (ScalarOp::Less, [first, register(1), first], DType::I1),
            ("tf.LessEqual", 2) => (ScalarOp::LessEqual, [first, register(1), first], DType::I1),
            ("tf.Greater", 2) => (ScalarOp::Less, [register(1), first, first], DType::I1),
            ("tf.GreaterEqual", 2) => (ScalarOp::LessEqual, [register(1), first, first], DType::I1),
            ("tf.Equal", 2) => (ScalarOp::Equal, [first, register(1), first], DType::I1),
            ("tf.NotEqual", 2) => {
                let equal =
                    self.checked(ScalarOp::Equal, ty, same, [first, register(1), first], DType::I1)?;
                return self.instruction(ScalarOp::Not, DType::I1, [equal.0; 3], DType::I1);
            }
            ("tf.Select" | "tf.SelectV2", 3) => {
                let of = operands[1].1;
                let fits = ty == DType::I1 && operands[2].1 == of;
                return self.checked(ScalarOp::Select, of, fits, [first, register(1), register(2)], of);
            }
            _ => return None,
        };
        self.checked(op, ty, same, [a, b, c], result)
    }

    fn checked(
        &mut self,
        op: ScalarOp,
        ty: DType,
        fits: bool,
        operands: [i64; 3],
        result: DType,
    ) -> Option<Register> {
        if fits { self.instruction(op, ty, operands, result) } else { None }
    }

    fn instruction(
        &mut self,
        op: ScalarOp,
        ty: DType,
        [a, b, c]: [i64; 3],
        result: DType,
    ) -> Option<Register> {
        if self.count as usize >= MAX_INSTRUCTIONS {
            return None;
        }
        let to = self.register();
        self.instructions.extend([op.code(ty)?, to, a, b, c]);
        Some((to, result))
    }

    fn register(&mut self) -> i64 {
        self.count += 1;
        self.count - 1
    }
}
