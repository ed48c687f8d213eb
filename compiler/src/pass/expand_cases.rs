//! Makes conditionals of `tf.Case`: each takes one branch or decides among those behind it.

use tfrt_host::DType;
use tfrt_ir::{
    AttrDict, Attribute, FunctionType, InsertionPoint, Location, Module, OpId, OpState, Type, ValueId,
};

use crate::{Evaluator, Graph, GraphBuilder, dialect::tf, import::onnx::RETURN};

/// Replaces each case. A number that is out of range chooses the last branch.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    let mut kept = Vec::new();
    let next = |module: &Module, kept: &[OpId]| {
        module.walk(module.root()).find(|op| module.op(*op).name == tf::CASE && !kept.contains(op))
    };
    while let Some(op) = next(&graph.module, &kept) {
        if expand(graph, evaluator, op).is_none() {
            kept.push(op);
        }
    }
}

/// The branches of a case with what they take and give.
struct Case {
    branches: Vec<Attribute>,
    /// The types of the number of the branch and of what the branches take.
    taken: Vec<Type>,
    given: Vec<Type>,
    location: Location,
}

fn expand(graph: &mut Graph, evaluator: &Evaluator, op: OpId) -> Option<()> {
    let module = &graph.module;
    let data = module.op(op);
    let branches = data.attr("branches").and_then(Attribute::as_array)?.to_vec();
    let case = Case {
        branches,
        taken: module.operand_types(op),
        given: module.result_types(op),
        location: data.location.clone(),
    };
    let operands = data.operands.clone();
    let place = Place { at: InsertionPoint::Before(op), values: &operands };
    let results = decide(graph, evaluator, &case, &place, 0)?;
    graph.module.replace_op(op, &results);
    Some(())
}

/// Where operations go, with the number of the branch and what the branches take there.
struct Place<'v> {
    at: InsertionPoint,
    values: &'v [ValueId],
}

/// Calls a branch.
fn call(
    graph: &mut Graph,
    evaluator: &Evaluator,
    case: &Case,
    place: &Place<'_>,
    branch: usize,
) -> Option<Vec<ValueId>> {
    let function: AttrDict = [("f", case.branches.get(branch)?.clone())].into_iter().collect();
    let mut builder = GraphBuilder::new(graph, evaluator, place.at);
    builder.set_location(case.location.clone());
    Some(builder.append_op(tf::PARTITIONED_CALL, place.values.get(1..)?, function, case.given.clone()))
}

/// Decides among the branches from `first` on.
fn decide(
    graph: &mut Graph,
    evaluator: &Evaluator,
    case: &Case,
    place: &Place<'_>,
    first: usize,
) -> Option<Vec<ValueId>> {
    if first + 1 >= case.branches.len() {
        return call(graph, evaluator, case, place, first);
    }
    let on_true = function(graph, case, |graph, place| call(graph, evaluator, case, place, first))?;
    let on_false = function(graph, case, |graph, place| decide(graph, evaluator, case, place, first + 1))?;
    let mut builder = GraphBuilder::new(graph, evaluator, place.at);
    builder.set_location(case.location.clone());
    let &index = place.values.first()?;
    let number = builder.add_number(DType::I32, first as f64).ok()?;
    let none: [(&str, Attribute); 0] = [];
    let is_chosen = builder.op("tf.Equal", &[index, number], none).ok()?;
    let branches: AttrDict = [("then_branch", on_true), ("else_branch", on_false)].into_iter().collect();
    let operands = [&[is_chosen], place.values].concat();
    Some(builder.append_op(tf::IF, &operands, branches, case.given.clone()))
}

/// Makes a function that takes the number of the branch and what the branches take. Returns its
/// name.
fn function(
    graph: &mut Graph,
    case: &Case,
    fill: impl FnOnce(&mut Graph, &Place<'_>) -> Option<Vec<ValueId>>,
) -> Option<Attribute> {
    let module = &mut graph.module;
    let first = module.functions().count();
    let mut names = (first..).map(|number| format!("case.{number}"));
    let name = names.find(|name| module.function(name).is_none())?;
    let ty = FunctionType { inputs: case.taken.clone(), results: case.given.clone() };
    let (_, block) = module.add_function(name.as_str(), ty, case.location.clone());
    let values = module.block(block).arguments.clone();
    let results = fill(graph, &Place { at: InsertionPoint::End(block), values: &values })?;
    let end = OpState::new(RETURN).operands(results).at(case.location.clone());
    let end = graph.module.create_op(end);
    graph.module.append_op(block, end);
    Some(Attribute::symbol(name))
}
