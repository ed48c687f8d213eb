//! Inferred types against the results of ops: for each call of `tests/reference`, with all that is
//! known of its arguments and with parts of it hidden.

use std::{fs, path::Path};

use tfrt_host::{HostContext, work_queue};
use tfrt_tensor::HostTensor;

use self::case::{Case, allocator};
use super::{Call, Operand, infer};
use crate::{Evaluator, TensorType};

#[path = "../../../eager/tests/support/case.rs"]
mod case;

/// How many times each call is described with other parts hidden.
const ROUNDS: usize = 8;
/// Ops on handles of variables and on lists, which are no tensors in an op graph.
const ON_OTHERS: &[&str] =
    &["tf.ResourceApply", "tf.AssignAddVariableOp", "tf.AssignSubVariableOp", "tf.TensorList"];

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    /// Whether something of this chance out of eight happens.
    fn rolls(&mut self, chance: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % 8 < chance
    }
}

fn type_of(tensor: &HostTensor) -> TensorType {
    TensorType::of(tensor.metadata())
}

/// The type with extents hidden, or the rank.
fn hidden(mut ty: TensorType, dice: &mut Dice) -> TensorType {
    if dice.rolls(1) {
        ty.dims = None;
    }
    for dim in ty.dims.iter_mut().flatten() {
        if dice.rolls(3) {
            *dim = None;
        }
    }
    ty
}

/// What is wrong with the inferred types of a call.
fn judge(evaluator: &Evaluator, case: &Case, dice: &mut Dice, round: usize) -> Option<String> {
    let is_open = round > 1;
    let operands: Vec<_> = case
        .arguments
        .iter()
        .map(|argument| Operand {
            ty: Some(if is_open { hidden(type_of(argument), dice) } else { type_of(argument) }),
            constant: (round == 0 || (is_open && dice.rolls(4))).then_some(argument),
            known: None,
        })
        .collect();
    let expected = case.expected.as_ref()?;
    let call = Call {
        evaluator,
        name: &case.op,
        operands: &operands,
        attrs: &case.attrs,
        result_count: expected.len(),
    };
    let inferred = match infer(&call) {
        Ok(inferred) => inferred,
        Err(error) => return Some(format!("refused: {error}")),
    };
    let wrong = inferred.iter().zip(expected).find_map(|(inferred, expected)| {
        let ty = type_of(expected);
        let is_equal = inferred.dtype == ty.dtype && inferred.merge(&ty).is_some();
        (!is_equal).then(|| format!("inferred {inferred}, but the result is {ty}"))
    });
    if wrong.is_some() || round > 0 {
        return wrong;
    }
    // With everything known the function here must say no less than the op's own one.
    let arguments: Vec<_> = case.arguments.iter().map(HostTensor::metadata).collect();
    let described = evaluator.metadata(&case.op, &arguments, &case.attrs)?.ok()?;
    let less = inferred.iter().zip(&described).find(|(inferred, own)| **inferred != TensorType::of(own));
    less.map(|(inferred, own)| format!("inferred {inferred}, but the op itself says {own}"))
}

#[test]
fn inferred_types_are_those_of_the_results() {
    let host = HostContext::builder(work_queue::from_str("s").unwrap(), allocator()).build();
    let evaluator = Evaluator::new(&host).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/reference");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let (mut dice, mut wrong, mut calls) = (Dice(0x9e37_79b9_7f4a_7c15), Vec::new(), 0);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            let Ok(case) = Case::parse(line) else { continue };
            let is_on_others = ON_OTHERS.iter().any(|name| case.op.starts_with(name));
            if is_on_others || evaluator.op(&case.op).is_none() {
                continue;
            }
            calls += 1;
            for round in 0..ROUNDS {
                if let Some(why) = judge(&evaluator, &case, &mut dice, round) {
                    wrong.push(format!("{}: round {round}: {why}", &line[..line.len().min(200)]));
                    break;
                }
            }
        }
    }
    assert!(calls > 1000, "only {calls} calls were found");
    assert!(wrong.is_empty(), "{} of {calls}:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}
