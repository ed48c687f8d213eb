//! Sound modules, and what is made of them.

use tfrt_ptx::syntax::{
    ast::{
        AddressBase, CallTarget, Immediate, Initializer, Operand, ParameterStorage, PointerAttribute,
        RegisterId, Relocation, Selector, Symbol, VariableId,
    },
    types::{Axis, Linkage, Space, SpecialRegister, Type},
};

use super::{kernel, module, text};

/// The operands of the kernel's first instruction.
#[track_caller]
fn operands(body: &str) -> Vec<Operand> {
    let text = kernel(body);
    module(&text).functions[0].body.as_ref().unwrap()[0].operands.to_vec()
}

fn integer(value: i64) -> Operand {
    Operand::Immediate(Immediate::Integer { bits: value as u64, unsigned: false })
}

#[track_caller]
fn constant(expression: &str) -> Operand {
    operands(&format!("mov.b64 %d1, {expression};"))[1].clone()
}

#[test]
fn constants() {
    for (expression, value) in [
        ("42", 42),
        ("-1", -1),
        ("0x1F", 31),
        ("0b101", 5),
        ("017", 15),
        ("WARP_SZ", 32),
        ("WARP_SZ*2+1", 65),
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("1<<4|3", 19),
        ("7/2", 3),
        ("-7/2", -3),
        ("7 % 4", 3),
        ("~0", -1),
        ("!5", 0),
        ("- -5", 5),
        ("+5", 5),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 1 ? 4 : 5", 4),
        ("5>=3", 1),
        ("1&&0||1", 1),
        ("1.0>2.0", 0),
        ("6^3&1", 7),
        ("-1>>1", -1),
        ("(.s64)0xFFFFFFFFFFFFFFFF>>60", -1),
    ] {
        assert_eq!(constant(expression), integer(value), "{expression}");
    }
    let unsigned = |bits| Operand::Immediate(Immediate::Integer { bits, unsigned: true });
    assert_eq!(constant("42U"), unsigned(42));
    assert_eq!(constant("0xFFFFFFFFFFFFFFFF>>60"), unsigned(15));
    assert_eq!(constant("(.u64)-1>>60"), unsigned(15));
    assert_eq!(constant("1U-2"), unsigned(u64::MAX));
    let float = |value: f64| Operand::Immediate(Immediate::F64(value.to_bits()));
    assert_eq!(constant("1.5"), float(1.5));
    assert_eq!(constant("-.5e1"), float(-5.0));
    assert_eq!(constant("1.0/4.0"), float(0.25));
    assert_eq!(constant("0d3FF0000000000000"), float(1.0));
    assert_eq!(constant("0f3F800000"), Operand::Immediate(Immediate::F32(0x3f80_0000)));
}

#[test]
fn addresses() {
    let register = |offset| Operand::Address { base: AddressBase::Register(RegisterId(1)), offset };
    for (operand, expected) in [
        ("[%d1]", register(0)),
        ("[%d1+4]", register(4)),
        ("[%d1+-4]", register(-4)),
        ("[%d1-4]", register(-4)),
        ("[%d1+2*4+1]", register(9)),
        ("[16]", Operand::Address { base: AddressBase::Zero, offset: 16 }),
        ("[p+8]", Operand::Address { base: AddressBase::Symbol(Symbol::Parameter(0)), offset: 8 }),
    ] {
        assert_eq!(operands(&format!("ld.b32 %r1, {operand};"))[1], expected, "{operand}");
    }
    let shared = Symbol::Variable(VariableId(0));
    let declaration = ".shared .v2 .f32 s[8];";
    assert_eq!(
        operands(&format!("{declaration} mov.u32 %r1, s[3];"))[1],
        Operand::Symbol { symbol: shared, offset: 24 }
    );
    assert_eq!(
        operands(&format!("{declaration} ld.shared.u32 %r1, s[3];"))[1],
        Operand::Address { base: AddressBase::Symbol(shared), offset: 24 }
    );
    assert_eq!(
        operands(&format!("{declaration} mov.u32 %r1, s+4;"))[1],
        Operand::Symbol { symbol: shared, offset: 4 }
    );
}

#[test]
fn other_operands() {
    let register = |id| Operand::Register(RegisterId(id));
    assert_eq!(
        operands("mov.b64 {%r1, _}, %d1;"),
        [Operand::Vector([register(0), Operand::Sink].into()), register(1)]
    );
    assert_eq!(
        operands("setp.eq.b32 %p1|_, %r1, 0;")[0],
        Operand::Pair(Box::new((register(0), Operand::Sink)))
    );
    assert_eq!(operands("and.pred %p1, %p2, !%p3;")[2], Operand::Not(RegisterId(2)));
    assert_eq!(operands("mov.u32 %r1, %ctaid.y;")[1], Operand::Special(SpecialRegister::CtaId(Axis::Y)));
    assert_eq!(operands("mov.u32 %r1, %envreg31;")[1], Operand::Special(SpecialRegister::Environment(31)));
    assert_eq!(operands("mov.u32 %r1, %tid.w;")[1], integer(0));
    let Operand::Vector(axes) = &operands("mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid;")[1] else { panic!() };
    assert_eq!(axes[2], Operand::Special(SpecialRegister::NTid(Axis::Z)));
    assert_eq!(axes[3], integer(0));
    assert_eq!(
        operands("vadd.s32.s32.s32 %r1, %r2.b3, -%r3.h1;")[1..],
        [
            Operand::Selected { register: RegisterId(1), negated: false, selector: Some(Selector::Byte(3)) },
            Operand::Selected { register: RegisterId(2), negated: true, selector: Some(Selector::Half(1)) },
        ]
    );
    assert_eq!(operands(".reg .v4 .f32 v; mov.f32 %f1, v.b;")[1], register(2));
    assert_eq!(
        operands(".reg .v2 .f32 v<2>; mov.v2.f32 v1, {%f1, %f1};")[0],
        Operand::Vector([register(0), register(1)].into())
    );
}

#[test]
fn modifiers_in_order() {
    let text = kernel("@!%p1 ld .global.L1::no_allocate.L2::128B.v2.b32 {%r1, %r2}, [%d1];");
    let module = module(&text);
    let instruction = &module.functions[0].body.as_ref().unwrap()[0];
    assert_eq!(instruction.full_name(), "ld.global.L1::no_allocate.L2::128B.v2.b32");
    assert!(instruction.guard.unwrap().negated);
    assert_eq!((instruction.span.line, instruction.span.column), (3, 7));
}

#[test]
fn registers_by_block() {
    let text = kernel(
        "mov.b32 %r1, 1; { .reg .f32 %r1; mov.f32 %r1, 1.0; { mov.b32 %r2, 1; } } mov.b32 %r1, %r2; .reg .u32 %tid; \
         mov.u32 %r1, %tid;",
    );
    let module = module(&text);
    let function = &module.functions[0];
    let body = function.body.as_ref().unwrap();
    let used = |index: usize, operand: usize| {
        let Operand::Register(id) = body[index].operands[operand] else { panic!("{:?}", body[index]) };
        (id.0, function.registers[id.index()].name, function.registers[id.index()].ty)
    };
    let (first, inner, second) = (used(0, 0), used(1, 0), used(2, 0));
    assert_eq!((first.1, first.2), ("%r1", Type::B32));
    assert_eq!((inner.1, inner.2), ("%r1", Type::F32));
    assert_eq!((second.1, second.2), ("%r2", Type::B32));
    assert_eq!(used(3, 0), first);
    assert_eq!(used(3, 1), second);
    assert_eq!(used(4, 1).1, "%tid");
}

#[test]
fn labels_by_block() {
    let text = kernel("bra E; { bra L; L: bra E; } { bra L; L: } { { bra E; } } T: .branchtargets E, E; E:");
    let module = module(&text);
    let function = &module.functions[0];
    let targets: Vec<(&str, u32)> = function
        .body
        .as_ref()
        .unwrap()
        .iter()
        .filter_map(|instruction| match instruction.operands.first() {
            Some(Operand::Label(id)) => {
                let label = function.labels[id.index()];
                Some((label.name, label.target))
            }
            _ => None,
        })
        .collect();
    assert_eq!(targets, [("E", 5), ("L", 2), ("E", 5), ("L", 4), ("E", 5)]);
    let table: Vec<u32> =
        function.branch_tables[0].targets.iter().map(|id| function.labels[id.index()].target).collect();
    assert_eq!(table, [5, 5]);
}

#[test]
fn variables() {
    let text = text(
        ".visible .global .align 8 .b8 a[2][3]; .extern .shared .align 16 .b8 s[]; .const .f32 c[] = {1.0, -0.5};\n\
         .global .attribute(.managed) .v4 .u16 v[2] = {{1, 2}, {3}}; .extern .global .u32 e; .global .u32 e = 7;\n\
         .func f() { ret; } .global .u64 t[3] = {f, generic(a)+2, c-4}; .global .u8 m[2] = {0xFF(a), 0xFF00(a+1)};",
    );
    let module = module(&text);
    let names: Vec<&str> = module.variables.iter().map(|variable| variable.name).collect();
    assert_eq!(names, ["a", "s", "c", "v", "e", "t", "m"]);
    let [a, s, c, v, e, t, m] = &module.variables[..] else { panic!() };
    assert_eq!(
        (a.layout.bytes(), a.layout.align, a.linkage, a.space),
        (6, 8, Linkage::Visible, Space::Global)
    );
    assert!(s.layout.is_unsized && s.layout.align == 16 && s.space == Space::Shared);
    let bytes = |initializer: &Option<Initializer>| initializer.as_ref().unwrap().bytes.clone();
    assert_eq!((c.layout.bytes(), bytes(&c.initializer)), (8, vec![0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf]));
    assert_eq!((v.layout.bytes(), bytes(&v.initializer)), (16, vec![1, 0, 2, 0, 0, 0, 0, 0, 3, 0]));
    assert_eq!((e.linkage, bytes(&e.initializer)), (Linkage::Internal, vec![7, 0, 0, 0]));
    let plain = Relocation {
        offset: 0,
        bytes: 8,
        symbol: module.function("f").map(Symbol::Function).unwrap(),
        addend: 0,
        generic: false,
        mask: u64::MAX,
    };
    let (in_a, in_c) = (Symbol::Variable(VariableId(0)), Symbol::Variable(VariableId(2)));
    assert_eq!(
        t.initializer.as_ref().unwrap().relocations,
        [
            plain,
            Relocation { offset: 8, symbol: in_a, addend: 2, generic: true, ..plain },
            Relocation { offset: 16, symbol: in_c, addend: -4, ..plain },
        ]
    );
    assert_eq!(
        m.initializer.as_ref().unwrap().relocations,
        [
            Relocation { bytes: 1, symbol: in_a, mask: 0xff, ..plain },
            Relocation { offset: 1, bytes: 1, symbol: in_a, addend: 1, mask: 0xff00, ..plain },
        ]
    );
}

#[test]
fn functions() {
    let text = text(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
         .visible .func (.reg .b32 r) g(.reg .b32 x) { mov.b32 r, x; ret; } .visible .func h(.reg .b32 x);\n\
         .func i(.reg .b32 x) .noreturn { exit; } .alias h, i;\n\
         .weak .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24]) .maxntid 16, 8 .minnctapersm 2 \
         { .reg .b32 %r<3>; call (%r1), g, (%r2); call h, (%r1); ret; }",
    );
    let module = module(&text);
    let kernel = &module.functions[module.function("k").unwrap().index()];
    assert!(kernel.is_entry && kernel.linkage == Linkage::Weak);
    assert_eq!(kernel.limits.max_threads, Some([16, 8, 1]));
    assert_eq!(kernel.limits.min_blocks_per_multiprocessor, Some(2));
    let [p, s] = &kernel.signature.parameters[..] else { panic!() };
    assert_eq!(p.pointer, Some(PointerAttribute { space: Some(Space::Global), align: 16 }));
    let ParameterStorage::Memory(layout) = s.storage else { panic!() };
    assert_eq!((layout.bytes(), layout.align), (24, 8));
    let calls: Vec<&str> = kernel
        .body
        .iter()
        .flatten()
        .filter_map(|instruction| match &instruction.operands[..] {
            [Operand::Call(call)] => match call.target {
                CallTarget::Direct(id) => Some(module.functions[module.definition(id).index()].name),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(calls, ["g", "i"]);
    let g = &module.functions[module.function("g").unwrap().index()];
    assert_eq!(g.registers.iter().map(|register| register.name).collect::<Vec<_>>(), ["r", "x"]);
    assert!(module.functions[module.function("vprintf").unwrap().index()].body.is_none());
}

/// As the first compilers wrote them: without a semicolon.
#[test]
fn declarations_that_end_with_the_next_directive() {
    let text = text(
        ".visible .func (.param .s32 r) f(.param .s32 x)\n.visible .func g(.param .s32 x) .noreturn\n.file 1 \"a.cu\"\n\
         .func h .extern .shared .b32 s[];\n.entry k() { ret; } .func g(.param .s32 x) .noreturn { exit; }",
    );
    let module = module(&text);
    let names: Vec<_> = module.functions.iter().map(|f| (f.name, f.body.is_some())).collect();
    assert_eq!(names, [("f", false), ("g", true), ("h", false), ("k", true)]);
    assert!(module.functions[1].signature.no_return);
    assert_eq!(module.variables.len(), 1);
    let kernel = tfrt_ptx::syntax::parse(".version 8.0\n.target sm_80\n.entry k() .entry l() { ret; }");
    assert_eq!(kernel.unwrap_err().to_string(), "3:12: unknown directive '.entry'");
}

#[test]
fn where_code_comes_from() {
    let text = text(
        ".file 1 \"a.cu\"\n.file 2 \"b.h\", 17, 4\n.entry k() {\n.loc 1 10 3\nmembar.gl;\n\
         .loc 2 7 1, function_name $L__info+4, inlined_at 1 10 3\nret;\n}\n\
         .section .debug_str { $L__info: .b8 97, 0\n.b64 $L__info+1\n.b32 .debug_str\n }\n",
    );
    let module = module(&text);
    let body = module.functions[0].body.as_ref().unwrap();
    let outer = body[0].source.unwrap();
    let inner = module.locations[body[1].source.unwrap().index()];
    assert_eq!((inner.file, inner.line, inner.inlined_at), (2, 7, Some(outer)));
    assert_eq!(module.path(2), Some("b.h"));
    assert_eq!(module.path(3), None);
}

#[test]
fn directives_without_effect_are_skipped() {
    module(&text(
        "// comment\n/* another\n one */ .pragma \"nounroll\", \"x\";\n# 1 \"file.cu\"\n#line 7\n.entry k() .pragma \"y\"; { ;; \
         .pragma \"z\"; ret; };",
    ));
}
