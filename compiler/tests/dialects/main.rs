//! The dialects of op graphs: their texts come back as they were, and broken ones are refused where
//! they are broken.

mod graphs;
mod refused;
mod tensorflow;

use std::sync::OnceLock;

use tfrt_ir::{
    Diagnostics, OpDefinition, OpRegistry, ParseOptions, PrintOptions, Source, TypeConstraint, parse_module,
    print_module,
};

/// The dialects, and ops of others that tests use.
fn registry() -> &'static OpRegistry {
    static REGISTRY: OnceLock<OpRegistry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut registry = OpRegistry::new();
        registry.add_core_ops().expect("good formats");
        tfrt_compiler::dialect::register(&mut registry).expect("good formats");
        for name in ["addf", "arith.addf"] {
            let format = OpDefinition::new(name)
                .named_operand("a", TypeConstraint::Any)
                .named_operand("b", TypeConstraint::Any)
                .named_result("sum", TypeConstraint::Any);
            registry.add(format.custom(AddF));
        }
        registry
    })
}

/// `%a, %b : type`.
#[derive(Debug)]
struct AddF;

impl tfrt_ir::CustomAssembly for AddF {
    fn parse(
        &self,
        parser: &mut tfrt_ir::Parser<'_, '_>,
        state: &mut tfrt_ir::OpState,
    ) -> tfrt_ir::Parsed<()> {
        let at = parser.span();
        let operands = parser.operand_list()?;
        parser.expect_punctuation(":", "before the type")?;
        let ty = parser.ty()?;
        state.operands = parser.resolve_all(&operands, &[ty.clone(), ty.clone()], at)?;
        state.result_types = vec![ty];
        Ok(())
    }

    fn print(&self, printer: &mut tfrt_ir::Printer<'_>, op: tfrt_ir::OpId) -> std::fmt::Result {
        let data = printer.module().op(op);
        printer.write(" ")?;
        printer.values(&data.operands)?;
        printer.write(" : ")?;
        printer.types(&data.results)
    }
}

fn print(text: &str, name: &str, options: PrintOptions) -> Result<String, Diagnostics> {
    let source = Source::new(name, text);
    let module = parse_module(&source, registry(), &ParseOptions::default())?;
    Ok(print_module(&module, registry(), options))
}

/// Checks that a text, printed in either form, parses and prints again as it was. Returns the
/// custom form.
#[track_caller]
fn assert_round_trip(text: &str) -> String {
    let custom = print(text, "text", PrintOptions::default()).expect(text);
    let generic = PrintOptions { generic: true, ..PrintOptions::default() };
    let as_generic = print(text, "text", generic).expect("parsed before");
    for other in [&custom, &as_generic] {
        let again = print(other, "printed", PrintOptions::default());
        assert_eq!(again.expect(other), custom);
    }
    custom
}

/// The messages of the errors in a text, with their lines.
fn errors(text: &str) -> Vec<(u32, String)> {
    let parsed = parse_module(&Source::new("text", text), registry(), &ParseOptions::default());
    let line = |d: &tfrt_ir::Diagnostic| d.location.file_position().map_or(0, |(_, line, _)| line);
    parsed.err().unwrap_or_default().iter().map(|d| (line(d), d.message.clone())).collect()
}
