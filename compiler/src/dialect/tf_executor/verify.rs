//! What must hold of graphs, islands and nodes beyond the types of their operands.

use tfrt_ir::{Attribute, Module, OpId, Type, ValueId, Verifier};

use super::{
    ENTER, EXIT, FETCH, GRAPH, ISLAND, LOOP_COND, MERGE, NUM_OUTS, PARALLEL_ITERATIONS, SINK, SOURCE, SWITCH,
    SWITCH_N, YIELD, is_control,
};
use crate::dialect::tf::is_castable;

/// The operation around `op`, if it is of this name; reports another one.
fn parent(verifier: &mut Verifier<'_>, op: OpId, name: &str) -> Option<OpId> {
    let found = verifier.module().parent_op(op);
    let found = found.filter(|&parent| verifier.op(parent).name == *name);
    if found.is_none() {
        verifier.error(op, format!("expects parent op '{name}'; move it directly into one"));
    }
    found
}

/// The operations of the one block of the one region, which has no arguments and ends in
/// `terminator`.
fn body(verifier: &mut Verifier<'_>, op: OpId, terminator: &str) -> Option<Vec<OpId>> {
    let module = verifier.module();
    let blocks = verifier.op(op).regions.first().map(|&region| module.region(region).blocks.clone());
    let [block] = blocks.unwrap_or_default()[..] else {
        verifier.error(op, "expects a body of one block");
        return None;
    };
    if !module.block(block).arguments.is_empty() {
        verifier.error(op, "expects a body without any arguments; use values from outside directly");
        return None;
    }
    let ops: Vec<OpId> = module.ops_in(block).map(|(op, _)| op).collect();
    // An empty block is reported for all operations.
    let &last = ops.last()?;
    let name = &verifier.op(last).name;
    if *name != *terminator {
        let own = &verifier.op(op).name;
        let message = format!("ends the body of '{own}', which expects '{terminator}' there");
        verifier.error(last, message);
        return None;
    }
    Some(ops)
}

pub(super) fn graph(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module();
    let is_nested = module.parent_op(op).is_some_and(|parent| verifier.op(parent).name == GRAPH);
    if is_nested {
        // The outer graph reports it.
        return;
    }
    let Some(ops) = body(verifier, op, FETCH) else { return };
    for inner in ops {
        let data = verifier.op(inner);
        if data.name == GRAPH {
            verifier.error(
                inner,
                "unallowed directly inside another tf_executor.graph; put it into a tf_executor.island",
            );
        } else if data.dialect() != super::DIALECT {
            verifier
                .error(inner, "unallowed inside a tf_executor.graph region; wrap it in a tf_executor.island");
        }
    }
}

/// Control operands follow all others.
fn check_control_last(verifier: &mut Verifier<'_>, op: OpId, operands: &[ValueId]) -> bool {
    let module = verifier.module();
    let mut controls = operands.iter().map(|&operand| is_control(module.value_type(operand)));
    let first = controls.by_ref().position(|is_control| is_control);
    let Some(after) = controls.position(|is_control| !is_control) else { return true };
    let index = first.unwrap_or_default() + 1 + after;
    verifier.error(
        op,
        format!("found non-control operand #{index} after control operand; move control operands last"),
    );
    false
}

pub(super) fn fetch(verifier: &mut Verifier<'_>, op: OpId) {
    let Some(graph) = parent(verifier, op, GRAPH) else { return };
    let (operands, results) = (&verifier.op(op).operands, &verifier.op(graph).results);
    if !check_control_last(verifier, op, operands) {
        return;
    }
    let module = verifier.module();
    for (index, &result) in results.iter().enumerate() {
        let Some(&operand) = operands.get(index) else {
            let message = "does not have enough operands to cover the graph returned values";
            return verifier.error(op, message);
        };
        let (given, wanted) = (module.value_type(operand), module.value_type(result));
        if is_control(given) {
            let message = format!("operand #{index} is a control type, can't be bound to a graph result");
            return verifier.error(op, message);
        }
        if given != wanted {
            let message = format!("operand #{index} type mismatch graph results: '{given}' vs '{wanted}'");
            return verifier.error(op, message);
        }
    }
    if let Some(&extra) = operands.get(results.len())
        && !is_control(module.value_type(extra))
    {
        let index = results.len();
        verifier.error(op, format!("operand #{index} does not have a graph results to bind"));
    }
}

pub(super) fn island(verifier: &mut Verifier<'_>, op: OpId) {
    if parent(verifier, op, GRAPH).is_some() {
        body(verifier, op, YIELD);
    }
}

pub(super) fn island_yield(verifier: &mut Verifier<'_>, op: OpId) {
    let Some(island) = parent(verifier, op, ISLAND) else { return };
    let module = verifier.module();
    let (operands, results) = (&verifier.op(op).operands, &verifier.op(island).results);
    let outputs = results.len().saturating_sub(1);
    if let Some(index) = operands.iter().position(|&operand| is_control(module.value_type(operand))) {
        let message = format!("unexpected control type for operand #{index}; islands yield data alone");
        return verifier.error(op, message);
    }
    if operands.len() != outputs {
        let plural = if operands.len() == 1 { "" } else { "s" };
        let message = format!("has {} operand{plural}, but island returns {outputs}", operands.len());
        return verifier.error(op, message);
    }
    for (index, (&operand, &result)) in operands.iter().zip(results).enumerate() {
        let (given, wanted) = (module.value_type(operand), module.value_type(result));
        if given != wanted {
            let message = format!("operand #{index} type mismatch island results: '{given}' vs '{wanted}'");
            return verifier.error(op, message);
        }
    }
}

/// Checks a node of a graph by its kind.
pub(super) fn node(verifier: &mut Verifier<'_>, op: OpId) {
    if parent(verifier, op, GRAPH).is_none() {
        return;
    }
    let data = verifier.op(op);
    match data.name.as_str() {
        SWITCH => switch(verifier, op),
        SWITCH_N => switch_n(verifier, op),
        MERGE => merge(verifier, op),
        ENTER => {
            let parallel = data.attr(PARALLEL_ITERATIONS).and_then(Attribute::as_int);
            if parallel.is_some_and(|count| !(1..=i128::from(u32::MAX)).contains(&count)) {
                let message = format!("attribute '{PARALLEL_ITERATIONS}' must be from 1 to {}", u32::MAX);
                return verifier.error(op, message);
            }
            forward(verifier, op);
        }
        EXIT => forward(verifier, op),
        LOOP_COND => {
            check_predicate(verifier, op, 0);
            forward(verifier, op);
        }
        SOURCE => source(verifier, op),
        SINK => sink(verifier, op),
        _ => {}
    }
}

fn types_of<'m>(verifier: &Verifier<'m>, op: OpId) -> (Vec<&'m Type>, Vec<&'m Type>) {
    let module: &'m Module = verifier.module();
    let types = |values: &'m [ValueId]| values.iter().map(|&value| module.value_type(value)).collect();
    let op = module.op(op);
    (types(&op.operands), types(&op.results))
}

fn check_castable(verifier: &mut Verifier<'_>, op: OpId, from: &Type, to: &Type, what: &str) -> bool {
    if is_castable(from, to) {
        return true;
    }
    verifier.error(op, format!("data operand of type '{from}' cannot become the {what} of type '{to}'"));
    false
}

fn forward(verifier: &mut Verifier<'_>, op: OpId) {
    if let (&[data, ..], &[output, ..]) = (&types_of(verifier, op).0[..], &types_of(verifier, op).1[..]) {
        check_castable(verifier, op, data, output, "result");
    }
}

/// An operand that decides is a tensor of booleans.
fn check_predicate(verifier: &mut Verifier<'_>, op: OpId, index: usize) -> bool {
    let (operands, _) = types_of(verifier, op);
    let is_bool = operands.get(index).is_some_and(|ty| matches!(ty, Type::Tensor(t) if t.element.is_i1()));
    if let (false, Some(ty)) = (is_bool, operands.get(index)) {
        verifier
            .error(op, format!("operand #{index} must be tensor of 1-bit integer values, but got '{ty}'"));
    }
    is_bool
}

fn switch(verifier: &mut Verifier<'_>, op: OpId) {
    let (operands, results) = types_of(verifier, op);
    let (&[data, ..], &[on_false, on_true, _]) = (&operands[..], &results[..]) else { return };
    if check_predicate(verifier, op, 1) && check_castable(verifier, op, data, on_false, "false result") {
        check_castable(verifier, op, data, on_true, "true result");
    }
}

fn is_tensor(ty: &Type) -> bool {
    matches!(ty, Type::Tensor(_))
}

fn switch_n(verifier: &mut Verifier<'_>, op: OpId) {
    let (operands, results) = types_of(verifier, op);
    let (&[data, index, ..], [outputs @ .., _]) = (&operands[..], &results[..]) else { return };
    let count = verifier.op(op).attr(NUM_OUTS).and_then(Attribute::as_int).unwrap_or_default();
    if count != outputs.len() as i128 {
        let message = format!("expects as many outputs as '{NUM_OUTS}' ({count}), but has {}", outputs.len());
        return verifier.error(op, message);
    }
    if !is_tensor(data) {
        return verifier.error(op, format!("expects data operand to have tensor type but got '{data}'"));
    }
    if !matches!(index, Type::Tensor(t) if t.element == Type::int(32)) {
        return verifier.error(op, format!("expects an index of type tensor<i32> but got '{index}'"));
    }
    for &output in outputs {
        if !is_tensor(output) {
            return verifier.error(op, format!("expects outputs to have tensor type but got '{output}'"));
        }
        if !check_castable(verifier, op, data, output, "output") {
            return;
        }
    }
}

fn merge(verifier: &mut Verifier<'_>, op: OpId) {
    let (operands, results) = types_of(verifier, op);
    let &[output, index, _] = &results[..] else { return };
    let Some(&first) = operands.first() else {
        return verifier.error(op, "expects at least one operand");
    };
    if is_control(first) {
        return verifier.error(op, "expects a non-control input");
    }
    if !is_tensor(output) {
        return verifier
            .error(op, format!("result #0 must be tensor of any type values, but got '{output}'"));
    }
    if *index != Type::tensor(&[], Type::int(32)) {
        return verifier.error(op, format!("result #1 must be tensor<i32>, but got '{index}'"));
    }
    if !check_control_last(verifier, op, &verifier.op(op).operands) {
        return;
    }
    for &data in operands.iter().take_while(|ty| !is_control(ty)) {
        if !is_tensor(data) {
            let message = format!("expects data operands to have tensor type but got '{data}'");
            return verifier.error(op, message);
        }
        if !check_castable(verifier, op, data, output, "output") {
            return;
        }
    }
}

fn source(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module();
    let token = verifier.op(op).results[1];
    let mut uses = module.uses_of(token);
    match (uses.next(), uses.next()) {
        (Some(only), None) if verifier.op(only.op).name == SINK => {}
        (Some(_), None) => verifier.error(op, format!("token should be consumed by a '{SINK}' op")),
        _ => verifier.error(op, format!("expects a single user for produced token, a '{SINK}' op")),
    }
}

fn sink(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module();
    let &[token, data, ..] = &verifier.op(op).operands[..] else { return };
    let Some(source) = module.defining_op(token).filter(|&source| verifier.op(source).name == SOURCE) else {
        return verifier.error(op, format!("expects a token directly produced by a '{SOURCE}' op"));
    };
    if verifier.op(source).parent != verifier.op(op).parent {
        return verifier.error(op, format!("expects its '{SOURCE}' in the same graph"));
    }
    let (given, wanted) = (module.value_type(data), module.value_type(verifier.op(source).results[0]));
    if given != wanted {
        let message = format!("input type '{given}' mismatch the {SOURCE} output type: '{wanted}'");
        verifier.error(op, message);
    }
}
