//! Formats as dialects use them: each parses, prints and parses again.

use tfrt_ir::{
    AttrKind, CustomAssembly, Module, OPERAND_SEGMENT_SIZES, OpDefinition, OpId, OpRegistry, OpState,
    ParseOptions, Parsed, Parser, PrintOptions, Printer, Source, Type, TypeConstraint, ValueId, parse_module,
    print_module, segment_sizes,
};

fn ty(text: &str) -> Type {
    Type::parse(text).expect("a type")
}

/// Checks that a statement prints as itself when the operation is written by its definition.
#[track_caller]
fn check(definition: OpDefinition, statement: &str) {
    let mut registry = OpRegistry::new();
    registry.add(definition);
    let text =
        format!("module {{\n  %0:3 = \"values\"() : () -> (!tfrt.chain, i32, f32)\n  {statement}\n}}\n");
    let module =
        parse_module(&Source::new("f", text.as_str()), &registry, &ParseOptions::default()).expect(&text);
    assert_eq!(print_module(&module, &registry, PrintOptions::default()), text);
}

#[test]
fn remote_calls() {
    let remote = |format: &str| {
        OpDefinition::new("dist.execute")
            .named_operand("chain", Type::chain())
            .named_operand("task", Type::int(32))
            .variadic_operands("args", TypeConstraint::Any)
            .attr("callee", AttrKind::Symbol)
            .attr("count", AttrKind::Number(Type::int(32)))
            .named_result("out_chain", Type::chain())
            .variadic_results("results", TypeConstraint::Any)
            .format(format)
            .expect("a good format")
    };
    check(
        remote(
            "`[` $chain `,` $task `,` $count `]` $callee `(` $args `)` attr-dict : functional-type($args, $results)",
        ),
        "%1:2 = dist.execute[%0#0, %0#1, -4] @f(%0#2, %0#1) {a} : (f32, i32) -> i1",
    );
    check(
        remote("$chain, $task $count $callee ( `(` $args^ `)` : type($args) )? attr-dict -> type($results)"),
        "%1 = dist.execute %0#0, %0#1 1 @f ->",
    );
}

#[test]
fn groups_anchored_by_attributes_and_operands() {
    let map = || {
        OpDefinition::new("data.map")
            .named_operand("input", Type::chain())
            .variadic_operands("others", TypeConstraint::Any)
            .optional_attr("name", AttrKind::String)
            .format("$input (`,` $others^ `:` type($others))? (`named` $name^)? attr-dict")
            .expect("a good format")
    };
    check(map(), "data.map %0#0");
    check(map(), "data.map %0#0, %0#1, %0#2 : i32, f32 named \"x\" {function = @f}");
    check(map(), "data.map %0#0 named \"x\"");
}

#[test]
fn several_variadic_groups() {
    let two = || {
        OpDefinition::new("x.two")
            .named_operand("first", Type::chain())
            .variadic_operands("a", TypeConstraint::AnyInteger)
            .variadic_operands("b", TypeConstraint::Any)
            .variadic_results("out", Type::int(32))
            .variadic_results("more", TypeConstraint::AnyFloat)
    };
    let format = "$first `(` $a `)` `(` $b `)` attr-dict : functional-type(operands, $more) `,` count($out)";
    let definition = two().format(format).expect("a good format");
    check(
        definition.clone(),
        "%1:3 = x.two %0#0(%0#1, %0#1) (%0#2) {k} : (!tfrt.chain, i32, i32, f32) -> f32, 2",
    );
    check(definition.clone(), "%1 = x.two %0#0() () : (!tfrt.chain) -> (), 1");
    // Without a format of its own the operation is written in generic form, with the sizes as
    // attributes.
    let generic = |sizes: &str| {
        format!(
            "%1:2 = \"x.two\"(%0#0, %0#1, %0#2) {{operand_segment_sizes = dense<{sizes}> : vector<3xi32>, \
             result_segment_sizes = dense<[2, 0]> : vector<2xi32>}} : (!tfrt.chain, i32, f32) -> (i32, i32)"
        )
    };
    check(two(), &generic("1"));
    for (sizes, message) in [
        ("[1, 2, 0]", "operand #2 must be integer, but got 'f32'"),
        (
            "[1, 1, 2]",
            "requires attribute 'operand_segment_sizes' with 3 group sizes that add up to its 3 operands",
        ),
        ("[0, 2, 1]", "requires attribute 'operand_segment_sizes'"),
        ("[1, -1, 3]", "requires attribute 'operand_segment_sizes'"),
    ] {
        let mut registry = OpRegistry::new();
        registry.add(definition.clone());
        let text = format!("%0:3 = \"values\"() : () -> (!tfrt.chain, i32, f32)\n{}", generic(sizes));
        let errors = parse_module(&Source::new("f", text), &registry, &ParseOptions::default());
        let errors = errors.expect_err("sizes that do not fit").to_string();
        assert!(errors.contains(message), "{errors}");
    }
    for (format, message) in [
        (
            "operands attr-dict : functional-type(operands, $more) `,` count($out)",
            "'operands' cannot be divided",
        ),
        ("$first $a $b attr-dict : functional-type(operands, results)", "'results' cannot be divided"),
    ] {
        let error = two().format(format).expect_err("groups that cannot be told apart");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn groups_are_found_by_their_definition() {
    let definition = OpDefinition::new("x.two")
        .variadic_operands("a", TypeConstraint::Any)
        .operand(TypeConstraint::Any)
        .variadic_operands("b", TypeConstraint::Any);
    let mut module = Module::new();
    let values: Vec<ValueId> = (0..4).map(|_| module.add_argument(module.body(), Type::F32)).collect();
    let state = OpState::new("x.two").operands(values.clone());
    let op = module.create_op(state.attr(OPERAND_SEGMENT_SIZES, segment_sizes(&[2, 1, 1])));
    let group = |index| definition.operand_group(module.op(op), index);
    assert_eq!([group(0), group(1), group(2)], [Some(&values[..2]), Some(&values[2..3]), Some(&values[3..])]);
    assert_eq!(group(3), Some(&[][..]));
    module.set_operands(op, &values[..3]);
    assert_eq!(definition.operand_group(module.op(op), 0), None);
}

#[test]
fn regions_capture_if_the_definition_says_so() {
    let text = "%0 = \"x.make\"() : () -> i32\n\"x.body\"() ({\n  \"x.use\"(%0) : (i32) -> ()\n}) : () -> ()";
    for (definition, is_valid) in [
        (OpDefinition::new("x.body").capturing_regions(1), true),
        (OpDefinition::new("x.body").regions(1), false),
    ] {
        let mut registry = OpRegistry::new();
        registry.add(definition);
        let parsed = parse_module(&Source::new("f", text), &registry, &ParseOptions::default());
        assert_eq!(parsed.is_ok(), is_valid);
    }
}

#[test]
fn counted_results() {
    let create = OpDefinition::new("dist.create").variadic_results("out", ty("!dist.config"));
    check(create.format("attr-dict : count($out)").expect("a good format"), "%1:4 = dist.create {a} : 4");
    let next = OpDefinition::new("data.next")
        .operand(Type::chain())
        .named_result("chain", Type::chain())
        .variadic_results("values", TypeConstraint::AnyFloat);
    check(
        next.format("operands attr-dict : type($values)").expect("a good format"),
        "%1:3 = data.next %0#0 : f32, f64",
    );
}

#[test]
fn attributes_by_position() {
    let op = |kind: AttrKind| OpDefinition::new("x.y").attr("value", kind);
    let table = [
        (AttrKind::Number(Type::uint(64)), "18446744073709551615"),
        (AttrKind::Number(Type::F16), "1.500000e+00"),
        (AttrKind::Bool, "false"),
        (AttrKind::String, "\"a\""),
        (AttrKind::Type, "tensor<2xf32>"),
        (AttrKind::Symbol, "@f"),
        (AttrKind::Elements, "dense<1> : tensor<2xi32>"),
        (AttrKind::array_of(Type::int(64)), "[1, 2]"),
        (AttrKind::Dialect("corert".into(), "shape".into()), "#corert.shape<1x?>"),
        (AttrKind::Any, "1 : i8"),
    ];
    for (kind, value) in table {
        check(op(kind.clone()), &format!("x.y {value}"));
        check(op(kind), &format!("x.y {value} {{more}}"));
    }
}

/// `x.swap %b, %a : type, type`, with the operands in reverse.
#[derive(Debug)]
struct Swap;

impl CustomAssembly for Swap {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.span();
        let mut operands = parser.operand_list()?;
        parser.expect_literal(":")?;
        let mut types = parser.type_list()?;
        operands.reverse();
        types.reverse();
        state.operands = parser.resolve_all(&operands, &types, at)?;
        state.attributes = parser.optional_attr_dict()?;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> std::fmt::Result {
        let data = printer.module().op(op);
        let operands: Vec<_> = data.operands.iter().rev().copied().collect();
        printer.write(" ")?;
        printer.values(&operands)?;
        printer.write(" : ")?;
        printer.types(&operands)?;
        printer.optional_attr_dict(data, |_| true)
    }
}

#[test]
fn grammars_of_other_crates() {
    let swap = OpDefinition::new("x.swap").variadic_operands("all", TypeConstraint::Any).custom(Swap);
    check(swap, "x.swap %0#1, %0#2 : i32, f32 {a}");
}
