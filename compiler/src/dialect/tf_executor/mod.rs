//! The `tf_executor` dialect: graphs as TensorFlow's executor runs them.
//!
//! A `tf_executor.graph` holds nodes. A node runs when its inputs are there; each value and each
//! control output is *live* or *dead*, and a node with a dead input gives dead outputs, except
//! Merge and ControlTrigger. Islands hold the ops themselves. The last result of a node is its
//! control output; Sink and fetch have none.

mod assembly;
mod names;
mod transfer;
mod verify;

pub use names::*;

use tfrt_ir::{AttrKind, OpDefinition, OpRegistry, Type, TypeConstraint};

/// `!tf_executor.control`: an edge that only orders.
pub fn control() -> Type {
    Type::dialect(DIALECT, "control")
}

/// `!tf_executor.token`: ties a NextIteration.Sink to its Source.
pub fn token() -> Type {
    Type::dialect(DIALECT, "token")
}

/// Whether a type is `!tf_executor.control`.
pub fn is_control(ty: &Type) -> bool {
    ty.is_dialect(DIALECT, "control")
}

/// Adds the operations and types of the dialect, which has no others.
pub fn register(registry: &mut OpRegistry) {
    for definition in definitions() {
        registry.add(definition);
    }
    registry.close_dialect(DIALECT);
    registry.check_types(DIALECT, |body| match body {
        "control" | "token" => Ok(()),
        other => Err(format!(
            "unknown tf_executor type: {other}; write !tf_executor.control or !tf_executor.token"
        )),
    });
}

/// A node without operands and results yet.
fn node(name: &'static str) -> OpDefinition {
    OpDefinition::new(name).names_results().verified_by(verify::node)
}

/// Adds what most nodes end their operands and results with.
fn controlled(definition: OpDefinition) -> OpDefinition {
    definition.variadic_operands("controlInputs", control()).named_result("control", control())
}

fn definitions() -> Vec<OpDefinition> {
    let any = || TypeConstraint::Any;
    let mut definitions = structure();
    definitions.extend([
        controlled(node(SWITCH).named_operand("data", any()).named_operand("predicate", any()))
            .custom(assembly::Switch),
        controlled(node(SWITCH_N).named_operand("data", any()).named_operand("index", any()))
            .attr(NUM_OUTS, AttrKind::Number(Type::int(64)))
            .custom(assembly::SwitchN),
        node(MERGE)
            .variadic_operands("dataAndControlInputs", any())
            .named_result("output", any())
            .named_result("value_index", any())
            .named_result("control", control())
            .custom(assembly::Merge),
        controlled(node(ENTER).named_operand("data", any()))
            .attr(FRAME_NAME, AttrKind::String)
            .optional_attr(PARALLEL_ITERATIONS, AttrKind::Number(Type::int(64)))
            .optional_attr(IS_CONSTANT, AttrKind::Bool)
            .custom(assembly::Enter),
        controlled(node(EXIT).named_operand("data", any())).custom(assembly::Forward),
        controlled(node(LOOP_COND).named_operand("input", any())).custom(assembly::Forward),
        node(SOURCE)
            .named_result("output", any())
            .named_result("token", token())
            .named_result("control", control())
            .custom(assembly::Source),
        node(SINK)
            .named_operand("token", token())
            .named_operand("input", any())
            .variadic_operands("controlInputs", control())
            .custom(assembly::Sink),
        node(CONTROL_TRIGGER)
            .variadic_operands("controlInputs", control())
            .named_result("control", control())
            .custom(assembly::ControlTrigger),
        controlled(node(SEND).named_operand("data", any()))
            .attr(KEY, AttrKind::String)
            .custom(transfer::Send),
        node(RECV)
            .variadic_operands("controlInputs", control())
            .named_result("output", any())
            .named_result("control", control())
            .attr(KEY, AttrKind::String)
            .custom(transfer::Recv),
    ]);
    for definition in &mut definitions {
        add_outputs(definition);
    }
    definitions
}

/// The graph, its islands, and what ends both.
fn structure() -> Vec<OpDefinition> {
    let any = || TypeConstraint::Any;
    vec![
        OpDefinition::new(GRAPH)
            .variadic_results("results", any())
            .capturing_regions(1)
            .custom(assembly::Graph)
            .verified_by(verify::graph),
        OpDefinition::new(FETCH)
            .variadic_operands("fetches", any())
            .terminator()
            .custom(assembly::Terminator)
            .verified_by(verify::fetch),
        OpDefinition::new(ISLAND)
            .variadic_operands("controlInputs", control())
            .variadic_results("outputs", any())
            .named_result("control", control())
            .names_results()
            .capturing_regions(1)
            .custom(assembly::Island)
            .verified_by(verify::island),
        OpDefinition::new(YIELD)
            .variadic_operands("fetches", any())
            .terminator()
            .custom(assembly::Terminator)
            .verified_by(verify::island_yield),
    ]
}

/// Adds the data outputs that stand before the control output.
fn add_outputs(definition: &mut OpDefinition) {
    let output = |name: &'static str, variadic| tfrt_ir::ValueSpec {
        name: name.into(),
        constraint: TypeConstraint::Any,
        variadic,
    };
    let outputs = match definition.name.as_str() {
        SWITCH => vec![output("falseOutput", false), output("trueOutput", false)],
        SWITCH_N => vec![output("outputs", true)],
        ENTER | EXIT | LOOP_COND => vec![output("output", false)],
        _ => return,
    };
    definition.results.splice(0..0, outputs);
}
