//! Random modules built through the API: they verify, and print, parse, print is stable.

use crate::common::registry;
use proptest::prelude::*;
use tfrt_ir::{
    Attribute, BlockId, DenseElements, FunctionType, Location, Module, OpState, ParseOptions, PrintOptions,
    Source, Type, ValueId, parse_module, print_module, verify,
};

fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        (1u32..200).prop_map(Type::int),
        (1u32..70).prop_map(Type::uint),
        (1u32..70).prop_map(Type::sint),
        Just(Type::Index),
        Just(Type::F16),
        Just(Type::BF16),
        Just(Type::F32),
        Just(Type::F64),
        Just(Type::None),
        Just(Type::chain()),
        "[a-z][a-z0-9_.]{0,5}".prop_map(|body| Type::dialect("foo", body)),
        ".{0,6}".prop_map(|body| Type::dialect("odd", body)),
        Just(Type::complex(Type::F32)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..3), prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(inputs, results)| Type::function(inputs, results)),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Type::tuple),
            (prop::collection::vec(0u64..5, 0..3), inner.clone())
                .prop_map(|(dims, ty)| Type::tensor(&dims, ty)),
            inner.prop_map(Type::unranked_tensor),
        ]
    })
}

fn numbers() -> impl Strategy<Value = Attribute> {
    let ints =
        prop_oneof![(1u32..129).prop_map(Type::int), (1u32..128).prop_map(Type::uint), Just(Type::Index)];
    let floats = prop_oneof![Just(Type::F16), Just(Type::BF16), Just(Type::F32), Just(Type::F64)];
    prop_oneof![
        (any::<i128>(), 0u32..128, ints).prop_map(|(value, shift, ty)| {
            Attribute::int(value >> shift, ty.clone())
                .or_else(|| Attribute::int(1, ty))
                .unwrap_or(Attribute::Unit)
        }),
        (any::<u64>(), floats).prop_map(|(bits, ty)| {
            let width = ty.bit_width().unwrap_or(64);
            Attribute::Float { bits: bits >> (64 - width), ty }
        }),
        (any::<f32>(), Just(())).prop_map(|(value, ())| Attribute::f32(value)),
    ]
}

fn dense() -> impl Strategy<Value = Attribute> {
    let elements = prop_oneof![
        Just(Type::int(1)),
        Just(Type::int(8)),
        Just(Type::int(24)),
        Just(Type::uint(16)),
        Just(Type::F32),
        Just(Type::BF16),
        Just(Type::complex(Type::F32)),
        Just(Type::Index)
    ];
    (prop::collection::vec(0u64..8, 0..3), elements, any::<u8>()).prop_map(|(dims, element, seed)| {
        let size = tfrt_ir::element_size(&element).unwrap_or(1);
        let count = dims.iter().product::<u64>() as usize;
        let mask = if element.is_i1() { 1 } else { 0xFF };
        let bytes: Vec<u8> = (0..count * size).map(|i| (i as u8).wrapping_mul(seed) & mask).collect();
        let dense = DenseElements::numbers(Type::tensor(&dims, element), &bytes).expect("the size fits");
        Attribute::Dense(dense.into())
    })
}

fn attributes() -> impl Strategy<Value = Attribute> {
    let leaf = prop_oneof![
        numbers(),
        dense(),
        Just(Attribute::Unit),
        any::<bool>().prop_map(Attribute::Bool),
        prop::collection::vec(any::<u8>(), 0..8).prop_map(Attribute::string),
        types().prop_map(Attribute::Type),
        prop::collection::vec(".{1,5}", 1..3)
            .prop_map(|names| Attribute::SymbolRef(names.into_iter().map(tfrt_ir::Name::from).collect())),
        "shape<[0-9x?]{0,5}>".prop_map(|body| Attribute::dialect("corert", body)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Attribute::array),
            prop::collection::vec((".{0,5}", inner), 0..4)
                .prop_map(|entries| Attribute::Dictionary(entries.into_iter().collect())),
        ]
    })
}

/// What to append to a block; numbers pick among the values that are visible.
#[derive(Clone, Debug)]
enum Step {
    Generic { operands: Vec<usize>, results: Vec<Type>, attribute: Attribute, body: Vec<Step> },
    Constant(i32),
    ConstantF32(f32),
    Add(usize, usize),
    Repeat { operands: Vec<usize>, body: Vec<Step> },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Step::Constant),
        any::<f32>().prop_map(Step::ConstantF32),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Step::Add(a, b)),
    ];
    let step = leaf.prop_recursive(3, 20, 4, |inner| {
        let body = prop::collection::vec(inner, 0..4);
        let operands = prop::collection::vec(any::<usize>(), 0..3);
        prop_oneof![
            (operands.clone(), prop::collection::vec(types(), 0..3), attributes(), body.clone()).prop_map(
                |(operands, results, attribute, body)| Step::Generic { operands, results, attribute, body }
            ),
            (operands, body).prop_map(|(operands, body)| Step::Repeat { operands, body }),
        ]
    });
    prop::collection::vec(step, 0..6)
}

/// Appends the steps to a block; `visible` are the values they may use.
fn build(module: &mut Module, block: BlockId, steps: &[Step], visible: &mut Vec<ValueId>) {
    for step in steps {
        let pick = |index: usize, visible: &[ValueId]| visible.get(index % visible.len().max(1)).copied();
        let state = match step {
            Step::Constant(value) => OpState::new("tfrt.constant.i32")
                .attr("value", Attribute::i32(*value))
                .results([Type::int(32)]),
            Step::ConstantF32(value) => {
                OpState::new("tfrt.constant.f32").attr("value", Attribute::f32(*value)).results([Type::F32])
            }
            Step::Add(a, b) => {
                let ints: Vec<ValueId> = visible
                    .iter()
                    .copied()
                    .filter(|&value| *module.value_type(value) == Type::int(32))
                    .collect();
                let (Some(a), Some(b)) = (pick(*a, &ints), pick(*b, &ints)) else { continue };
                OpState::new("tfrt.add.i32").operands([a, b]).results([Type::int(32)])
            }
            Step::Generic { operands, results, attribute, body } => {
                let operands: Vec<ValueId> =
                    operands.iter().filter_map(|&index| pick(index, visible)).collect();
                let region = module.create_region();
                let inner = module.create_block(region, &[Type::int(32)]);
                let mut inside = visible.clone();
                inside.extend(module.block(inner).arguments.iter());
                build(module, inner, body, &mut inside);
                OpState::new("some.op")
                    .operands(operands)
                    .results(results.clone())
                    .region(region)
                    .attr("a", attribute.clone())
            }
            Step::Repeat { operands, body } => {
                let mut ints =
                    visible.iter().copied().filter(|&value| *module.value_type(value) == Type::int(32));
                let Some(count) = ints.next_back() else { continue };
                let carried: Vec<ValueId> =
                    operands.iter().filter_map(|&index| pick(index, visible)).collect();
                let types = module.types_of(&carried);
                let region = module.create_region();
                let inner = module.create_block(region, &types);
                let arguments = module.block(inner).arguments.clone();
                build(module, inner, body, &mut arguments.clone());
                let end = module.create_op(OpState::new("tfrt.return").operands(arguments));
                module.append_op(inner, end);
                let operands: Vec<ValueId> = std::iter::once(count).chain(carried).collect();
                let state = OpState::new("tfrt.repeat.i32").operands(operands).results(types).region(region);
                state.attr("bef.nonstrict", Attribute::Unit)
            }
        };
        let op = module.create_op(state);
        module.append_op(block, op);
        visible.extend(module.op(op).results.iter());
    }
}

proptest! {
    #[test]
    fn print_and_parse_are_inverse(steps in steps(), inputs in prop::collection::vec(types(), 0..3), name in ".{1,8}") {
        let registry = registry();
        let mut module = Module::new();
        let ty = FunctionType { inputs, results: Vec::new() };
        let (func, block) = module.add_function(name, ty, Location::Unknown);
        let mut visible = module.block(block).arguments.clone();
        build(&mut module, block, &steps, &mut visible);
        let end = module.create_op(OpState::new("tfrt.return"));
        module.append_op(block, end);
        let diagnostics = verify(&module, registry);
        prop_assert!(diagnostics.is_empty(), "{}", diagnostics);
        prop_assert!(module.as_function(func).is_some());
        for generic in [false, true] {
            let options = PrintOptions { generic, ..PrintOptions::default() };
            let text = print_module(&module, registry, options);
            let parsed = parse_module(&Source::new("random", text.as_str()), registry, &ParseOptions::default());
            let parsed = parsed.map_err(|errors| TestCaseError::fail(format!("{errors}\n{text}")))?;
            prop_assert_eq!(print_module(&parsed, registry, options), text);
        }
    }

    #[test]
    fn attributes_read_back(attribute in attributes()) {
        let text = attribute.to_string();
        prop_assert_eq!(Attribute::parse(&text), Ok(attribute), "{}", text);
    }
}
