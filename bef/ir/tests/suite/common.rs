//! A registry for tests: the core operations and a few like those derived from kernels.

use std::sync::OnceLock;

use tfrt_ir::{AttrKind, OpDefinition, OpRegistry, ParseOptions, PrintOptions, Source, Type, TypeConstraint};

/// Operations of each form.
pub(crate) fn registry() -> &'static OpRegistry {
    static REGISTRY: OnceLock<OpRegistry> = OnceLock::new();
    REGISTRY.get_or_init(build)
}

fn build() -> OpRegistry {
    let mut registry = OpRegistry::new();
    let (chain, shape, tensor) = (Type::chain(), Type::dialect("ts", "shape"), Type::dialect("t", "tensor"));
    let ops = [
        OpDefinition::new("tfrt.new.chain").result(chain.clone()),
        OpDefinition::new("tfrt.merge.chains")
            .variadic_operands("chains", chain.clone())
            .result(chain.clone()),
        OpDefinition::new("tfrt.add.i32").operand(Type::int(32)).operand(Type::int(32)).result(Type::int(32)),
        OpDefinition::new("tfrt.print.i32")
            .operand(Type::int(32))
            .operand(chain.clone())
            .result(chain.clone()),
        OpDefinition::new("ts.build_shape").attr("value", AttrKind::array()).result(shape),
        OpDefinition::new("tfrt_dht.fill.f32")
            .operand(tensor.clone())
            .operand(chain.clone())
            .attr("value", AttrKind::Any)
            .result(chain.clone()),
        OpDefinition::new("corert.get_op_handler")
            .operand(chain.clone())
            .attr("op_handler_name", AttrKind::String)
            .result(Type::dialect("corert", "ophandler")),
        OpDefinition::new("test.const").attr("value", AttrKind::Elements).result(tensor.clone()),
        OpDefinition::new("test.pair").attr("a", AttrKind::Bool).optional_attr("b", AttrKind::Symbol),
        OpDefinition::new("test.any")
            .operand(TypeConstraint::AnyInteger)
            .variadic_operands("rest", TypeConstraint::Any)
            .variadic_results("out", TypeConstraint::Any),
        OpDefinition::new("test.generic_only").generic(),
        OpDefinition::new("test.launch")
            .named_operand("chain", chain.clone())
            .named_operand("grid", Type::uint(32))
            .variadic_operands("args", TypeConstraint::Any)
            .attr("handle", AttrKind::Number(Type::uint(64)))
            .result(chain)
            .format("$chain $grid attr-dict ( `(` $args^ `)` `:` `(` type($args) `)` )?")
            .expect("a good format"),
    ];
    for op in ops {
        registry.add(op);
    }
    registry.add_core_ops().expect("good formats");
    registry
}

/// The text of a module printed after parsing; panics with the diagnostics if it does not parse.
#[track_caller]
pub(crate) fn reprint(text: &str, options: PrintOptions) -> String {
    let registry = registry();
    let source = Source::new("test.mlir", text);
    let module = tfrt_ir::parse_module(&source, registry, &ParseOptions::default()).expect(text);
    tfrt_ir::print_module(&module, registry, options)
}

/// The messages of the errors in a text, with their lines.
pub(crate) fn errors(text: &str) -> Vec<(u32, String)> {
    let source = Source::new("test.mlir", text);
    let result = tfrt_ir::parse_module(&source, registry(), &ParseOptions::default());
    let diagnostics = result.err().unwrap_or_default();
    let line = |d: &tfrt_ir::Diagnostic| d.location.file_position().map_or(0, |(_, line, _)| line);
    diagnostics.iter().map(|d| (line(d), d.message.clone())).collect()
}
