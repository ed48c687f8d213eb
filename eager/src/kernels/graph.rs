//! `corert.execute_graph`: a graph with TensorFlow's semantics, run by [`crate::graph`].

use tfrt_host::{
    AttributeParameter, AttributeSpec, Chain, DType, Diagnostic, Function, FunctionRef, IndirectPromise,
    KernelFrame, KernelRegistry, KernelSignature, TypeSpec, Value as _, bef::AggregateAttribute,
};

use crate::{
    TensorHandle,
    graph::{Call, GraphPlan, NodeKind, execute},
};

fn run(frame: &mut KernelFrame<'_>) {
    let (plan, functions) = match read(frame) {
        Ok(read) => read,
        Err(error) => return frame.fail(error),
    };
    let chain = frame.take_argument(0);
    let arguments = (1..frame.argument_count()).map(|index| frame.take_argument(index)).collect();
    let mut results = Vec::new();
    for index in 0..frame.result_count() {
        let (promise, value) = IndirectPromise::new();
        frame.set_result(index, value);
        results.push(promise);
    }
    let cx = frame.context().clone();
    if let Err((error, results)) =
        execute(Call { cx: cx.clone(), plan, functions, chain, arguments, results })
    {
        let error = cx.emit(error);
        results.into_iter().for_each(|promise| promise.set_error(error.clone()));
    }
}

/// The graph and the functions of its islands.
fn read(frame: &KernelFrame<'_>) -> Result<(GraphPlan, Vec<Function>), Diagnostic> {
    let texts = frame.attribute::<AggregateAttribute<'_>>(1)?.iter().map(|text| {
        let text = text.ok().and_then(|text| text.string().map(str::to_owned));
        text.ok_or_else(|| Diagnostic::invalid_argument("the texts of a graph must be strings"))
    });
    let plan = GraphPlan::decode(frame.attribute::<[i64]>(0)?, texts.collect::<Result<_, _>>()?)?;
    let functions: Vec<_> = (0..frame.function_count()).filter_map(|index| frame.function(index)).collect();
    for node in &plan.nodes {
        let NodeKind::Island(number) = node.kind else { continue };
        if let Some(function) = functions.get(number as usize) {
            check(*function, node.inputs.len(), node.outputs as usize)
                .map_err(|message| Diagnostic::invalid_argument(format!("{}: {message}", node.place)))?;
        }
    }
    if frame.result_count() != plan.fetches.len() + 1 {
        return Err(Diagnostic::invalid_argument("a graph gives a chain and what it fetches"));
    }
    Ok((plan, functions.into_iter().map(FunctionRef::to_function).collect()))
}

/// The function of an island takes and gives a chain besides the island's values.
fn check(function: FunctionRef<'_>, inputs: usize, outputs: usize) -> Result<(), String> {
    let (takes, gives) = (function.argument_types().len(), function.result_types().len());
    if (takes, gives) == (inputs + 1, outputs + 1) {
        return Ok(());
    }
    Err(format!(
        "'{}' takes {takes} and gives {gives} values where {} and {} are needed",
        function.name(),
        inputs + 1,
        outputs + 1
    ))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    let attribute = |name, spec| AttributeParameter { name, alias: None, spec };
    let signature = KernelSignature {
        arguments: vec![TypeSpec::Named(Chain::TYPE_NAME)],
        rest_arguments: Some(TypeSpec::Named(TensorHandle::TYPE_NAME)),
        attributes: vec![
            attribute("plan", AttributeSpec::Array(DType::I64)),
            attribute("texts", AttributeSpec::Aggregate),
        ],
        rest_functions: true,
        results: vec![TypeSpec::Named(Chain::TYPE_NAME)],
        rest_results: Some(TypeSpec::Named(TensorHandle::TYPE_NAME)),
        ..KernelSignature::default()
    };
    registry
        .add_raw("corert.execute_graph", signature, run)
        .function_list("islands")
        .side_effecting()
        .doc("Runs a graph with live and dead values, frames and iterations; a compiler writes its table.");
}
