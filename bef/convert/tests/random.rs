//! Random modules go to BEF and come back as they were.

mod common;

use common::print;
use proptest::prelude::*;
use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_ir::{
    Attribute, BlockId, DenseElements, FUNC, FUNC_TYPE, Location, Module, OpRegistry, OpState, SYM_NAME,
    Type, ValueId,
};

/// A number type with an attribute of it.
fn number() -> impl Strategy<Value = Attribute> {
    prop_oneof![
        any::<bool>().prop_map(Attribute::Bool),
        any::<i8>().prop_filter_map("i8", |value| Attribute::int(value.into(), Type::int(8))),
        any::<i32>().prop_map(Attribute::i32),
        any::<i64>().prop_map(Attribute::i64),
        any::<u16>().prop_filter_map("ui16", |value| Attribute::int(value.into(), Type::uint(16))),
        any::<u64>().prop_filter_map("ui64", |value| Attribute::int(value.into(), Type::uint(64))),
        any::<u16>().prop_map(|bits| Attribute::Float { bits: bits.into(), ty: Type::BF16 }),
        any::<u32>().prop_map(|bits| Attribute::Float { bits: bits.into(), ty: Type::F32 }),
        any::<u64>().prop_map(|bits| Attribute::Float { bits, ty: Type::F64 }),
    ]
}

fn attribute() -> impl Strategy<Value = Attribute> {
    let dense = (prop::collection::vec(0_u64..4, 0..3), any::<u8>()).prop_map(|(shape, seed)| {
        let count: u64 = shape.iter().product();
        let bytes: Vec<u8> = (0..count * 4).map(|index| seed.wrapping_mul(index as u8)).collect();
        let dense = DenseElements::numbers(Type::tensor(&shape, Type::F32), &bytes).expect("the sizes agree");
        Attribute::Dense(dense.into())
    });
    let types = prop::sample::select(vec![Type::int(1), Type::uint(32), Type::F16, Type::complex(Type::F64)]);
    let shapes = prop::sample::select(vec!["shape<*>", "shape<>", "shape<2x?>", "shape<123456789>"]);
    let leaf = prop_oneof![
        number(),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Attribute::string),
        types.prop_map(Attribute::Type),
        shapes.prop_map(|body| Attribute::dialect("corert", body)),
        prop::collection::vec(any::<i32>().prop_map(Attribute::i32), 0..20).prop_map(Attribute::array),
        dense,
    ];
    leaf.prop_recursive(4, 20, 5, |inner| prop::collection::vec(inner, 0..5).prop_map(Attribute::array))
}

/// A kernel: its name, where its operands come from, its attributes, number of results, region,
/// strictness.
#[derive(Clone, Debug)]
struct Kernel {
    typed: bool,
    operands: Vec<prop::sample::Index>,
    attributes: Vec<Attribute>,
    results: usize,
    region: Option<Vec<Kernel>>,
    reference: bool,
    nonstrict: bool,
}

fn kernels() -> impl Strategy<Value = Vec<Kernel>> {
    let kernel = |region: BoxedStrategy<Option<Vec<Kernel>>>| {
        let operands = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
        let attributes = prop::collection::vec(attribute(), 0..4);
        let flags = (any::<bool>(), any::<bool>(), any::<bool>());
        (flags, operands, attributes, 0_usize..3, region).prop_map(
            |(flags, operands, attributes, results, region)| {
                let (typed, reference, nonstrict) = flags;
                Kernel { typed, operands, attributes, results, region, reference, nonstrict }
            },
        )
    };
    let leaf = prop::collection::vec(kernel(Just(None).boxed()), 0..6).boxed();
    leaf.prop_recursive(3, 20, 4, move |inner| {
        prop::collection::vec(kernel(prop::option::of(inner).boxed()), 0..4)
    })
}

fn fill(module: &mut Module, block: BlockId, kernels: &[Kernel]) -> Vec<ValueId> {
    let mut values = module.block(block).arguments.clone();
    for (index, kernel) in kernels.iter().enumerate() {
        let mut state = OpState::new(if kernel.typed { "corert.executeop" } else { "kernel" });
        if !values.is_empty() {
            state.operands = kernel.operands.iter().map(|operand| *operand.get(&values)).collect();
        }
        state.result_types = [Type::F32, Type::chain()].iter().take(kernel.results).cloned().collect();
        for (position, attribute) in kernel.attributes.iter().enumerate() {
            state.attributes.set(format!("a{position}"), attribute.clone());
        }
        if kernel.reference {
            state.attributes.set("reference", Attribute::symbol("main"));
        }
        if kernel.nonstrict {
            state.attributes.set("bef.nonstrict", Attribute::Unit);
        }
        if let Some(inner) = &kernel.region {
            let region = module.create_region();
            let block = module.create_block(region, &[Type::F64]);
            fill(module, block, inner);
            state.regions.push(region);
        }
        state.location = Location::file("random.mlir", index as u32 + 1, 7);
        let op = module.create_op(state);
        module.append_op(block, op);
        values.extend(&module.op(op).results);
    }
    let results: Vec<ValueId> = values.iter().copied().step_by(2).collect();
    let op = module.create_op(OpState::new("tfrt.return").operands(results.clone()));
    module.append_op(block, op);
    results
}

fn module(kernels: &[Kernel]) -> Module {
    let mut module = Module::new();
    let region = module.create_region();
    let block = module.create_block(region, &[Type::int(32)]);
    let results = fill(&mut module, block, kernels);
    let ty = Type::function([Type::int(32)], module.types_of(&results));
    let state =
        OpState::new(FUNC).attr(SYM_NAME, Attribute::string("main")).attr(FUNC_TYPE, Attribute::Type(ty));
    let op = module.create_op(state.region(region));
    module.append_op(module.body(), op);
    module
}

proptest! {
    #[test]
    fn random_modules_come_back(kernels in kernels()) {
        let module = module(&kernels);
        let bytes = mlir_to_bef(&module, &OpRegistry::new(), ConvertOptions::default()).expect("it can be encoded");
        let back = bef_to_mlir(bytes, &OpRegistry::new(), &Location::Unknown).expect("it can be read").module;
        prop_assert_eq!(print(&back), print(&module));
        let short = mlir_to_bef(&module, &OpRegistry::new(), ConvertOptions { disable_optional_sections: true }).expect("it can be encoded");
        prop_assert!(bef_to_mlir(short, &OpRegistry::new(), &Location::Unknown).is_ok());
    }
}
