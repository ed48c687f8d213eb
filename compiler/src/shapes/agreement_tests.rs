//! Inferred types against the results of ops: for each call of `tests/reference`, with all that is
//! known of its arguments and with parts of it hidden.

use std::{collections::BTreeSet, fs, path::Path};

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

/// An argument of which all is known.
fn known(argument: &HostTensor) -> Operand<'_> {
    Operand { ty: Some(type_of(argument)), constant: Some(argument), known: None }
}

fn call<'a>(
    evaluator: &'a Evaluator,
    case: &'a Case,
    operands: &'a [Operand<'a>],
    result_count: usize,
) -> Call<'a> {
    Call { evaluator, name: &case.op, operands, attrs: &case.attrs, result_count }
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
    let inferred = match infer(&call(evaluator, case, &operands, expected.len())) {
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

/// The calls of all files.
fn all_calls(evaluator: &Evaluator, mut visit: impl FnMut(&Case, &str)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/reference");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Ok(case) = Case::parse(line) else { continue };
            let is_on_others = ON_OTHERS.iter().any(|name| case.op.starts_with(name));
            if !is_on_others && evaluator.op(&case.op).is_some() {
                visit(&case, &line[..line.len().min(200)]);
            }
        }
    }
}

/// Ops of which a call has results whose extents depend on more than is tracked: what floats and
/// strings hold, files, and rare forms of arguments.
const OPEN: &[&str] = &[
    "onnx.Compress",
    "onnx.NonMaxSuppression",
    "onnx.Resize",
    "onnx.Unique",
    "tf.BroadcastGradientArgs",
    "tf.Conv2DBackpropInput",
    "tf.DecodeAndCropJpeg",
    "tf.DecodeBmp",
    "tf.DecodeImage",
    "tf.DecodeJpeg",
    "tf.DecodePaddedRaw",
    "tf.DecodePng",
    "tf.DecodeRaw",
    "tf.DecodeWav",
    "tf.ExtractJpegShape",
    "tf.Fingerprint",
    "tf.ListDiff",
    "tf.NonMaxSuppressionWithOverlaps",
    "tf.ParseTensor",
    "tf.RaggedRange",
    "tf.Range",
    "tf.Reshape",
    "tf.SegmentMax",
    "tf.SegmentMin",
    "tf.SegmentProd",
    "tf.SegmentSum",
    "tf.StringNGrams",
    "tf.StringSplit",
    "tf.StringSplitV2",
    "tf.UnicodeDecode",
    "tf.UnicodeDecodeWithOffsets",
    "tf.UnicodeEncode",
    "tf.Where",
];

#[test]
fn shapes_are_known_where_arguments_are() {
    let host = HostContext::builder(work_queue::from_str("s").unwrap(), allocator()).build();
    let evaluator = Evaluator::new(&host).unwrap();
    let mut open = BTreeSet::new();
    all_calls(&evaluator, |case, _| {
        let Some(expected) = &case.expected else { return };
        let operands: Vec<_> = case.arguments.iter().map(known).collect();
        let inferred = infer(&call(&evaluator, case, &operands, expected.len())).unwrap_or_default();
        if inferred.iter().any(|ty| ty.static_dims().is_none()) {
            open.insert(case.op.clone());
        }
    });
    assert_eq!(open.iter().map(String::as_str).collect::<Vec<_>>(), OPEN);
}

#[test]
fn inferred_types_are_those_of_the_results() {
    let host = HostContext::builder(work_queue::from_str("s").unwrap(), allocator()).build();
    let evaluator = Evaluator::new(&host).unwrap();
    let (mut dice, mut wrong, mut calls) = (Dice(0x9e37_79b9_7f4a_7c15), Vec::new(), 0);
    all_calls(&evaluator, |case, line| {
        calls += 1;
        let why = (0..ROUNDS).find_map(|round| Some((round, judge(&evaluator, case, &mut dice, round)?)));
        wrong.extend(why.map(|(round, why)| format!("{line}: round {round}: {why}")));
    });
    assert!(calls > 1000, "only {calls} calls were found");
    assert!(wrong.is_empty(), "{} of {calls}:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}
