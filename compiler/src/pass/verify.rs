//! What each phase of a compilation may contain, checked between phases.

use std::sync::LazyLock;

use tfrt_ir::{Attribute, Diagnostic, Diagnostics, FUNC, Func, Module, OpId, OpRegistry, Operation, verify};

use crate::{
    Evaluator, Graph, TensorType,
    attributes::to_op_attrs,
    dialect::{tf, tf_executor},
    graph::CONST,
    import::onnx::RETURN,
    lower::OTHER_KERNELS,
    pass::outline_islands::EXECUTE,
};

/// The operations of op graphs that have a definition in the IR: those that end functions.
static OPS: LazyLock<OpRegistry> = LazyLock::new(|| {
    let mut ops = OpRegistry::new();
    // The grammars are constants, and tests read them.
    let _ = ops.add_core_ops();
    tf_executor::register(&mut ops);
    tf::register_regions(&mut ops);
    ops
});

/// Checks an op graph: the IR is well formed, every operation is a constant, control flow or an op
/// of the core runtime, and its results have types that the op can give for its operands.
///
/// # Errors
/// Everything that does not hold, each where it stands.
pub fn verify_op_graph(graph: &Graph, evaluator: &Evaluator) -> Result<(), Diagnostics> {
    let mut errors = verify(&graph.module, &OPS);
    if !errors.has_errors() {
        for function in graph.module.functions() {
            for id in graph.module.walk(function.op()).skip(1) {
                let op = graph.module.op(id);
                if op.dialect() == tf_executor::DIALECT {
                    continue;
                }
                if let Err(message) = check(graph, id, op, evaluator) {
                    errors.push(Diagnostic::error(op.location.clone(), message));
                }
            }
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

/// Checks a kernel graph: the IR is well formed, and every operation is a kernel's.
///
/// # Errors
/// Everything that does not hold, each where it stands.
pub fn verify_kernel_graph(module: &Module, kernels: &OpRegistry) -> Result<(), Diagnostics> {
    let mut errors = verify(module, kernels);
    for id in module.walk(module.root()) {
        let op = module.op(id);
        let is_known = |name: &str| kernels.get(name).is_some() || OTHER_KERNELS.contains(&name);
        if id != module.root() && op.name != FUNC && !is_known(&op.name) {
            let message = format!("'{}' is not a kernel, but lowering left it", op.name);
            errors.push(Diagnostic::error(op.location.clone(), message));
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

fn check(graph: &Graph, id: OpId, op: &Operation, evaluator: &Evaluator) -> Result<(), String> {
    match op.name.as_str() {
        RETURN => Ok(()),
        CONST => check_constant(graph, id, op),
        "tf.If" => check_if(graph, op),
        "tf.While" => check_while(graph, op),
        tf::CASE => check_case(graph, op),
        // Their verifiers say whether the regions fit.
        tf::IF_REGION | tf::CASE_REGION | tf::WHILE_REGION | tf::YIELD => Ok(()),
        EXECUTE => Ok(()),
        // Where a call is written, the dialect says whether it fits its function.
        tf::PARTITIONED_CALL | tf::STATEFUL_PARTITIONED_CALL => Ok(()),
        name if evaluator.op(name).is_some() => check_call(graph, op, evaluator),
        name => Err(format!("'{name}' is not an op of the core runtime")),
    }
}

fn check_constant(graph: &Graph, id: OpId, op: &Operation) -> Result<(), String> {
    let tensor = graph.constant_id(id).and_then(|id| graph.constants.tensor(id));
    let tensor = tensor.ok_or("the constant has no tensor")?;
    let ty = TensorType::of(tensor.metadata());
    match op.results[..] {
        [result] if graph.tensor_type(result).as_ref() == Some(&ty) => Ok(()),
        _ => Err(format!("a constant of {ty} has one result of this type")),
    }
}

fn check_call(graph: &Graph, op: &Operation, evaluator: &Evaluator) -> Result<(), String> {
    let failed = |message: String| format!("'{}': {message}", op.name);
    let attrs = to_op_attrs(&op.attributes, evaluator.allocator()).map_err(|error| failed(error.message))?;
    let (types, _) = graph
        .infer(evaluator, &op.name, &op.operands, &attrs, op.results.len())
        .map_err(|error| failed(error.message))?;
    for (index, (&result, inferred)) in op.results.iter().zip(&types).enumerate() {
        let Some(ty) = graph.tensor_type(result) else {
            return Err(failed(format!("result {index} is not a tensor")));
        };
        // A type without a shape may be a guess, as for an op that can give any.
        if inferred.dims.is_some() && ty.merge(inferred).is_none() {
            return Err(failed(format!("result {index} is {ty}, but the op gives {inferred}")));
        }
    }
    Ok(())
}

fn check_if(graph: &Graph, op: &Operation) -> Result<(), String> {
    let arguments = op.operands.get(1..).ok_or("'tf.If' has no condition")?;
    for branch in ["then_branch", "else_branch"] {
        let function = callee(graph, op, branch)?;
        check_arguments(graph, &function, &types(graph, arguments))?;
        check_results(&function, &types(graph, &op.results))?;
    }
    Ok(())
}

fn check_case(graph: &Graph, op: &Operation) -> Result<(), String> {
    let arguments = op.operands.get(1..).ok_or("'tf.Case' has no number of a branch")?;
    let branches = op.attr("branches").and_then(Attribute::as_array).unwrap_or_default();
    if branches.is_empty() {
        return Err("'tf.Case' has no branches".to_owned());
    }
    for name in branches {
        let function = named(graph, op, name.as_flat_symbol(), "branches")?;
        check_arguments(graph, &function, &types(graph, arguments))?;
        check_results(&function, &types(graph, &op.results))?;
    }
    Ok(())
}

fn check_while(graph: &Graph, op: &Operation) -> Result<(), String> {
    let carried = types(graph, &op.results);
    for name in ["cond", "body"] {
        let function = callee(graph, op, name)?;
        check_arguments(graph, &function, &types(graph, &op.operands))?;
        if name == "body" {
            check_results(&function, &carried)?;
        }
    }
    Ok(())
}

fn callee<'g>(graph: &'g Graph, op: &Operation, attribute: &str) -> Result<Func<'g>, String> {
    named(graph, op, op.attr(attribute).and_then(Attribute::as_flat_symbol), attribute)
}

/// The function of a name that an attribute holds.
fn named<'g>(
    graph: &'g Graph,
    op: &Operation,
    name: Option<&tfrt_ir::Name>,
    attribute: &str,
) -> Result<Func<'g>, String> {
    let name = name.ok_or_else(|| format!("'{}' has no function '{attribute}'", op.name))?;
    let function = graph.module.function(name.as_str());
    function.ok_or_else(|| format!("'{}' calls '{}', which is not a function", op.name, name.as_str()))
}

fn types(graph: &Graph, values: &[tfrt_ir::ValueId]) -> Vec<Option<TensorType>> {
    values.iter().map(|&value| graph.tensor_type(value)).collect()
}

/// Whether tensors of one type may be of the other one, too. A loop may carry tensors whose extents
/// change.
fn agree(a: Option<&TensorType>, b: Option<&TensorType>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.dtype == b.dtype)
}

fn check_arguments(graph: &Graph, function: &Func<'_>, given: &[Option<TensorType>]) -> Result<(), String> {
    let taken = types(graph, function.arguments());
    check_same(function.name(), "takes", &taken, given)
}

fn check_results(function: &Func<'_>, wanted: &[Option<TensorType>]) -> Result<(), String> {
    let results = function.ty().map_or(&[][..], |ty| &ty.results);
    let results: Vec<_> = results.iter().map(TensorType::from_ir).collect();
    check_same(function.name(), "returns", &results, wanted)
}

fn check_same(
    name: &str,
    verb: &str,
    own: &[Option<TensorType>],
    other: &[Option<TensorType>],
) -> Result<(), String> {
    if own.len() != other.len() {
        return Err(format!("'{name}' {verb} {} values, and its caller has {}", own.len(), other.len()));
    }
    match own.iter().zip(other).position(|(a, b)| !agree(a.as_ref(), b.as_ref())) {
        None => Ok(()),
        Some(index) => {
            let text =
                |ty: &Option<TensorType>| ty.as_ref().map_or("no tensor".to_owned(), ToString::to_string);
            let (own, other) = (text(&own[index]), text(&other[index]));
            Err(format!("'{name}' {verb} {own} as value {index}, and its caller has {other}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use tfrt_ir::{ParseOptions, Source, parse_module};

    use super::*;

    fn errors(body: &str) -> String {
        let host = crate::evaluate::test_host();
        let evaluator = Evaluator::new(&host).unwrap();
        let source = Source::new("test.mlir", body.as_bytes());
        let module = parse_module(&source, &OPS, &ParseOptions::default()).unwrap();
        let graph = Graph::from_module(module, &evaluator).unwrap();
        verify_op_graph(&graph, &evaluator).err().map(|errors| errors.to_string()).unwrap_or_default()
    }

    fn main(body: &str) -> String {
        format!("func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{\n{body}\n}}\n")
    }

    #[test]
    fn op_graphs_hold_ops_of_the_core_runtime_with_types_that_fit() {
        let unary = |name: &str, ty: &str| {
            main(&format!(
                "%y = \"{name}\"(%x) : (tensor<2x3xf32>) -> {ty}\ntfrt.return %x : tensor<2x3xf32>"
            ))
        };
        assert_eq!(errors(&unary("tf.Relu", "tensor<2x3xf32>")), "");
        assert_eq!(errors(&unary("tf.Relu", "tensor<?x3xf32>")), "");
        let wrong = errors(&unary("tf.Relu", "tensor<2x4xf32>"));
        assert!(wrong.contains("test.mlir:2") && wrong.contains("result 0 is 2x4xf32"), "{wrong}");
        let fails =
            "%y = \"tfrt.Fail\"() {message = \"no\"} : () -> tensor<*xi64>\ntfrt.return %x : tensor<2x3xf32>";
        assert_eq!(errors(&main(fails)), "");
        let unknown = errors(&unary("tf.NoSuchOp", "tensor<2x3xf32>"));
        assert!(unknown.contains("'tf.NoSuchOp' is not an op of the core runtime"), "{unknown}");
    }

    #[test]
    fn functions_of_control_flow_fit_their_callers() {
        let text = |then: &str| {
            main(&format!(
                "%c = \"tf.Const\"() {{value = dense<true> : tensor<i1>}} : () -> tensor<i1>\n\
                 %y = \"tf.If\"(%c, %x) {{then_branch = @{then}, else_branch = @same}} : (tensor<i1>, \
                 tensor<2x3xf32>) -> tensor<2x3xf32>\ntfrt.return %y : tensor<2x3xf32>"
            )) + "func @same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> { tfrt.return %x : tensor<2x3xf32> }\n\
                  func @none() -> tensor<2x3xf32> {\n\
                  %y = \"tf.Const\"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>\n\
                  tfrt.return %y : tensor<2x3xf32> }\n"
        };
        assert_eq!(errors(&text("same")), "");
        let wrong = errors(&text("none"));
        assert!(wrong.contains("'none' takes 0 values, and its caller has 1"), "{wrong}");
        let missing = errors(&text("nowhere"));
        assert!(missing.contains("'tf.If' calls 'nowhere', which is not a function"), "{missing}");
    }
}
