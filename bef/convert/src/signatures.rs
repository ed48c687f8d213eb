//! What the text tools know of kernels, taken from what the kernels' Rust signatures say.
//!
//! The registry of kernels is the definition: argument and result types, attributes and custom assembly of an op are those
//! of its kernel. Ops that come with a grammar of their own keep it, and kernels that look at their frames themselves tell
//! nothing; both are left alone.

use tfrt_host::{AttributeSpec, Kernel, KernelRegistry, TypeSpec};
use tfrt_ir::{AttrKind, OpDefinition, OpRegistry, Type, TypeConstraint};

use crate::attributes::type_of;

/// Adds a definition for each kernel whose signature says what its op looks like, unless `ops` has one already. Formats call
/// operands `$arg0`, `$arg1`, …, results `$result0`, …, and the variable number at the end `$args` and `$results`.
///
/// # Errors
/// The kernels whose types or formats cannot be read. All others are added nevertheless.
pub fn add_signatures(ops: &mut OpRegistry, kernels: &KernelRegistry) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    for kernel in kernels.kernels() {
        if ops.get(kernel.name()).is_some() {
            continue;
        }
        match definition(kernel) {
            Ok(Some(definition)) => ops.add(definition),
            Ok(None) => {}
            Err(error) => errors.push(format!("kernel {}: {error}", kernel.name())),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The op of a kernel; `None` where the signature leaves open what it looks like.
fn definition(kernel: &Kernel) -> Result<Option<OpDefinition>, String> {
    let signature = kernel.signature();
    // Functions come from references or from regions; which of them, only a grammar of its own tells.
    if signature.functions > 0 || signature.rest_functions {
        return Ok(None);
    }
    let mut definition = OpDefinition::new(kernel.name());
    // Formats may speak of operands and results one by one.
    for (index, argument) in signature.arguments.iter().enumerate() {
        definition = definition.named_operand(format!("arg{index}"), constraint(*argument)?);
    }
    if let Some(rest) = signature.rest_arguments {
        definition = definition.variadic_operands("args", constraint(rest)?);
    }
    for attribute in &signature.attributes {
        definition = definition.attr(attribute.name, attribute_kind(attribute.spec));
        if let Some(alias) = attribute.alias {
            definition = definition.or_named(alias);
        }
    }
    for (index, result) in signature.results.iter().enumerate() {
        definition = definition.named_result(format!("result{index}"), constraint(*result)?);
    }
    if let Some(rest) = signature.rest_results {
        definition = definition.variadic_results("results", constraint(rest)?);
    }
    if kernel.is_non_strict() {
        definition = definition.nonstrict();
    }
    match kernel.assembly() {
        Some(format) => definition.format(format).map(Some),
        None => Ok(Some(definition)),
    }
}

fn constraint(spec: TypeSpec) -> Result<TypeConstraint, String> {
    match spec {
        TypeSpec::Named(name) => Type::parse(name).map(TypeConstraint::Exactly),
        TypeSpec::Any => Ok(TypeConstraint::Any),
    }
}

fn attribute_kind(spec: AttributeSpec) -> AttrKind {
    match spec {
        AttributeSpec::Scalar(dtype) => AttrKind::Number(type_of(dtype)),
        AttributeSpec::Array(dtype) => AttrKind::array_of(type_of(dtype)),
        AttributeSpec::String => AttrKind::String,
        AttributeSpec::Type => AttrKind::Type,
        AttributeSpec::TypeArray => AttrKind::Array(Box::new(AttrKind::Type)),
        AttributeSpec::Shape => AttrKind::Dialect("corert".into(), "shape".into()),
        AttributeSpec::Dense => AttrKind::Elements,
        AttributeSpec::Aggregate => AttrKind::array(),
        AttributeSpec::Any => AttrKind::Any,
    }
}

#[cfg(test)]
mod tests {
    use tfrt_host::{Attr, Chain, KernelSignature, Rest};
    use tfrt_ir::{ParseOptions, PrintOptions, Source, parse_module, print_module};

    use super::*;

    #[test]
    fn signatures_become_definitions() {
        let mut kernels = KernelRegistry::new();
        kernels.add("my.add.i32", |a: i32, b: i32| a.wrapping_add(b));
        kernels.add("my.constant.f32", |value: Attr<f32>| value.0);
        kernels.add("my.merge", |_: Rest<Chain>| Chain);
        kernels.add_raw("my.raw", KernelSignature::any(), |_| {});
        kernels.add("my.written", |a: i32| a).assembly("`of` $arg0 attr-dict");
        let mut ops = OpRegistry::new();
        ops.add(OpDefinition::new("my.merge").regions(7));
        add_signatures(&mut ops, &kernels).unwrap();
        let add = ops.get("my.add.i32").unwrap();
        assert_eq!((add.operands.len(), add.results.len()), (2, 1));
        assert_eq!(add.results[0].constraint.exact(), Some(&Type::int(32)));
        let constant = ops.get("my.constant.f32").unwrap();
        assert_eq!(constant.attributes[0].name, "value");
        assert_eq!(constant.attributes[0].kind, AttrKind::Number(Type::F32));
        assert_eq!(ops.get("my.merge").unwrap().regions, 7, "what was there stays");
        assert!(ops.get("my.raw").is_none());
        let text = "func @f(%arg0: i32) -> i32 {\n  %0 = my.written of %arg0\n  \"tfrt.return\"(%0) : (i32) -> ()\n}\n";
        let module = parse_module(&Source::new("f.mlir", text), &ops, &ParseOptions::default()).unwrap();
        assert!(print_module(&module, &ops, PrintOptions::default()).contains("%0 = my.written of %arg0"));
    }

    #[test]
    fn what_cannot_be_read_is_reported_by_name() {
        let mut kernels = KernelRegistry::new();
        kernels.add("my.good", |a: i32| a);
        kernels.add("my.bad", |a: i32| a).assembly("$nothing");
        let mut ops = OpRegistry::new();
        let errors = add_signatures(&mut ops, &kernels).unwrap_err();
        assert!(errors[0].starts_with("kernel my.bad: "), "{errors:?}");
        assert!(ops.get("my.good").is_some());
    }
}
