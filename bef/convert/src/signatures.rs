//! What the text tools know of kernels, taken from what the kernels' Rust signatures say.
//!
//! The registry of kernels is the definition: argument and result types, attributes, custom
//! assembly and effects of an op are those of its kernel. Ops that come with a grammar of their own
//! keep it. Kernels that take functions without naming the attributes that refer to them have no
//! definition unless a grammar gives one.

use tfrt_host::{AttributeSpec, Kernel, KernelRegistry, TypeSpec};
use tfrt_ir::{Alias, AttrKind, Effects, Name, OpDefinition, OpRegistry, Type, TypeConstraint};

use crate::attributes::type_of;

/// Returns the operations that text may use with these kernels: those with a grammar of their own,
/// and one for each kernel whose signature says what its op looks like; see [`add_signatures`].
///
/// # Errors
/// The kernels and operations whose types or formats cannot be read.
pub fn operations(kernels: &KernelRegistry) -> Result<OpRegistry, Vec<String>> {
    let mut ops = OpRegistry::new();
    ops.add_core_ops().map_err(|error| vec![error])?;
    add_signatures(&mut ops, kernels)?;
    Ok(ops)
}

/// Adds a definition for each kernel whose signature says what its op looks like. Formats call
/// operands `$arg0`, `$arg1`, …, results `$result0`, …, and the variable number at the end `$args`
/// and `$results`.
///
/// An op that `ops` has already keeps its types and its grammar, and gets what the kernel's
/// registration says besides: its effects, its chain form, whether it waits for its operands and
/// how its attributes are encoded.
///
/// # Errors
/// The kernels whose types or formats cannot be read. All others are added nevertheless.
pub fn add_signatures(ops: &mut OpRegistry, kernels: &KernelRegistry) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    for name in kernels.mutable_types() {
        match Type::parse(name) {
            Ok(ty) => ops.add_mutable_type(ty),
            Err(error) => errors.push(format!("type {name}: {error}")),
        }
    }
    for kernel in kernels.kernels() {
        if let Some(known) = ops.get_mut(kernel.name()) {
            complete(known, kernel, kernels);
            continue;
        }
        match definition(kernel) {
            Ok(Some(mut definition)) => {
                complete(&mut definition, kernel, kernels);
                ops.add(definition);
            }
            Ok(None) => {}
            Err(error) => errors.push(format!("kernel {}: {error}", kernel.name())),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Adds what does not concern an op's types or its text.
fn complete(definition: &mut OpDefinition, kernel: &Kernel, kernels: &KernelRegistry) {
    definition.nonstrict |= kernel.is_non_strict();
    definition.typed_attributes = kernel.has_typed_attributes();
    definition.chain_form = kernel.chain_form().map(Name::from);
    let aliases = kernel.aliases().iter();
    definition.effects = Some(Effects {
        side_effecting: kernel.is_side_effecting(),
        reads: kernels.read_arguments(kernel),
        mutates: kernel.mutated_arguments().to_vec(),
        aliases: aliases.map(|alias| Alias { result: alias.result, operand: alias.argument }).collect(),
    });
}

/// The op of a kernel; `None` where the signature leaves open what it looks like.
fn definition(kernel: &Kernel) -> Result<Option<OpDefinition>, String> {
    let signature = kernel.signature();
    let functions = kernel.function_attributes();
    // Functions come from references or from regions. Unless the kernel names the references, only
    // a grammar tells.
    if functions.is_empty() && (signature.functions > 0 || signature.rest_functions) {
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
    for function in functions {
        let one = AttrKind::Symbol;
        definition = definition
            .attr(function.name, if function.is_list { AttrKind::Array(Box::new(one)) } else { one });
    }
    for (index, result) in signature.results.iter().enumerate() {
        definition = definition.named_result(format!("result{index}"), constraint(*result)?);
    }
    if let Some(rest) = signature.rest_results {
        definition = definition.variadic_results("results", constraint(rest)?);
    }
    match kernel.assembly() {
        Some(format) => definition.format(format).map(Some),
        None if !functions.is_empty() => Ok(Some(definition.generic())),
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
    use tfrt_host::{Arg, Attr, Chain, KernelSignature, Rest};
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
        kernels
            .add_raw("my.map", KernelSignature { functions: 1, ..KernelSignature::default() }, |_| {})
            .functions(&["body_fn"])
            .side_effecting();
        kernels.add_mutable_type::<String>();
        kernels
            .add("my.append", |a: Arg<String>, _b: Arg<String>| a.clone())
            .mutates(&[0])
            .reads(&[1])
            .aliases(0, 0);
        kernels.add("my.length", |a: Arg<String>, _: i32| a.len() as i64);
        kernels.add_chain_form("my.length");
        let mut ops = OpRegistry::new();
        ops.add(OpDefinition::new("my.merge").regions(7));
        add_signatures(&mut ops, &kernels).unwrap();
        let add = ops.get("my.add.i32").unwrap();
        assert_eq!((add.operands.len(), add.results.len()), (2, 1));
        assert_eq!(add.results[0].constraint.exact(), Some(&Type::int(32)));
        let constant = ops.get("my.constant.f32").unwrap();
        assert_eq!(constant.attributes[0].name, "value");
        assert_eq!(constant.attributes[0].kind, AttrKind::Number(Type::F32));
        let merge = ops.get("my.merge").unwrap();
        assert_eq!(merge.regions, 7, "what was there stays");
        assert!(merge.effects.as_ref().unwrap().is_pure());
        let map = ops.get("my.map").unwrap();
        assert!(map.effects.as_ref().unwrap().side_effecting);
        let functions = map.function_attributes();
        assert_eq!(
            functions.iter().map(|found| (found.name.as_str(), found.is_list)).collect::<Vec<_>>(),
            [("body_fn", false)]
        );
        let append = ops.get("my.append").unwrap().effects.clone().unwrap();
        let aliases = vec![Alias { result: 0, operand: 0 }];
        assert_eq!(append, Effects { side_effecting: false, reads: vec![1], mutates: vec![0], aliases });
        let length = ops.get("my.length").unwrap();
        assert_eq!(
            length.effects.as_ref().unwrap().reads,
            [0],
            "all arguments of mutable types, unless it says"
        );
        assert_eq!(length.chain_form.as_deref(), Some("my.length.chained"));
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
