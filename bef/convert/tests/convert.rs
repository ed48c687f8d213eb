//! Programs go to BEF and come back as they were.

mod common;

use common::print;
use tfrt_bef::{FunctionKind, VerifiedBef};
use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_ir::{Location, Module, OpRegistry, ParseOptions, Source, parse_module};

fn parse(text: &str) -> Module {
    let source = Source::new("program.mlir", text);
    parse_module(&source, &OpRegistry::new(), &ParseOptions::default()).expect("the program is well-formed")
}

fn round_trip(module: &Module) -> Module {
    let bytes = mlir_to_bef(module, &OpRegistry::new(), ConvertOptions::default())
        .expect("the program can be encoded");
    let converted =
        bef_to_mlir(bytes, &OpRegistry::new(), &Location::Unknown).expect("what was encoded can be read");
    assert!(converted.warnings.is_empty(), "{}", converted.warnings);
    converted.module
}

/// Programs that together use everything the format can hold.
const PROGRAMS: &[&str] = &[
    // Functions: empty, with arguments as results, recursive, native, synchronous.
    r#"
    func @empty() { "tfrt.return"() : () -> () }
    func @swap(%a: i32, %b: !tfrt.chain) -> (!tfrt.chain, i32, i32) {
      "tfrt.return"(%b, %a, %a) : (!tfrt.chain, i32, i32) -> ()
    }
    func @recursive(%a: f32) -> f32 {
      %b = "tfrt.call"(%a) {callee = @recursive} : (f32) -> f32
      "tfrt.return"(%b) : (f32) -> ()
    }
    func private @native(i32, tensor<2x?xf32>) -> (i32, none) attributes {tfrt.native}
    func @sync(%a: i32) -> i32 attributes {tfrt.sync} {
      %b = "k"(%a, %a) : (i32, i32) -> i32
      "tfrt.return"(%b) : (i32) -> ()
    }
    "#,
    // Regions in regions, references under several names, results by the dozen, non-strict kernels.
    r#"
    func @f(%c: i1, %x: i32) -> i32 {
      %0:3 = "three"() : () -> (i32, f64, !tfrt.chain)
      %1 = "tfrt.if"(%c, %x, %0#0) ( {
        ^bb0(%a: i32, %b: i32):
        %2 = "inner"(%a) ( {
          "tfrt.return"() : () -> ()
        }, {
          ^bb0(%d: f32):
          "tfrt.return"(%d) : (f32) -> ()
        }) {bef.nonstrict, callee = @g} : (i32) -> i32
        "tfrt.return"(%2) : (i32) -> ()
      }, {
        ^bb0(%a: i32, %b: i32):
        "tfrt.return"(%b) : (i32) -> ()
      }) : (i1, i32, i32) -> i32
      "cond"(%1) {a_true_fn = @g, b_false_fn = @f, value = "plain"} : (i32) -> ()
      "data"() {function = @g} : () -> ()
      "tfrt.case"(%x) {branches = [@g, @g, @f]} : (i32) -> ()
      "several"() {a = [@g], b = @f, c = [@f, @g], d = [@g]} : () -> ()
      "nothing"() {bef.nonstrict} : () -> ()
      "tfrt.return"(%1) : (i32) -> ()
    }
    func @g() { "tfrt.return"() : () -> () }
    "#,
    // Attributes.
    r#"
    func @scalars() {
      "k"() {a = true, b = false, c = -1 : i8, d = -300 : i16, e = 70000 : i32, f = -5 : i64, g = 255 : ui8,
             h = 65535 : ui16, i = 4294967295 : ui32, j = 18446744073709551615 : ui64} : () -> ()
      "k"() {a = 1.5 : bf16, b = 2.5 : f16, c = -0.1 : f32, d = 1.0e300 : f64, e = 0x7FC00001 : f32} : () -> ()
      "k"() {a = "", b = "text", c = "quo\"te\\ \0A\FF\00", d = "", e = true} : () -> ()
      "k"() {a = i1, b = ui64, c = bf16, d = complex<f32>, e = complex<f64>, f = !corert.string,
             g = !corert.resource, h = !corert.variant} : () -> ()
      "k"() {a = #corert.shape<*>, b = #corert.shape<>, c = #corert.shape<2x?x3>} : () -> ()
      "tfrt.return"() : () -> ()
    }
    func @lists() {
      "k"() {a = [], b = [true, false], c = [1 : i8], d = [1, -2], e = [1.0 : f32, 2.0 : f32], f = [1.5 : bf16],
             g = [i32, !corert.string], h = [18446744073709551615 : ui64], i = [0.5 : f16]} : () -> ()
      "k"() {a = ["s", "t"], b = [1 : i32, [2.0 : f64, "x", []], i8], c = [[1 : i32], [2 : i32]], d = [[[]]],
             e = [dense<0> : tensor<4xi64>, dense<[1, 2]> : tensor<2xi64>], f = [#corert.shape<*>, i32],
             g = [1 : i32, 1 : i64]} : () -> ()
      "tfrt.return"() : () -> ()
    }
    func @tensors() {
      "k"() {a = dense<[true, false]> : tensor<2xi1>, b = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>,
             c = dense<7> : tensor<3xui16>, d = dense<1.5> : tensor<f32>, e = dense<[]> : tensor<0xi32>,
             f = dense<[1.0, -2.0]> : tensor<2xbf16>, g = dense<(1.0, 2.0)> : tensor<3xcomplex<f64>>,
             h = dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>} : () -> ()
      "corert.executeop"() {a = 1 : i32, b = [["k", 2.0 : f64], ["l", i32]], c = "s", d = [1 : i64], e = [], f = i8}
        : () -> ()
      "tfrt.return"() : () -> ()
    }
    "#,
];

#[test]
fn programs_come_back_as_they_were() {
    for program in PROGRAMS {
        let module = parse(program);
        assert_eq!(print(&round_trip(&module)), print(&module));
    }
}

#[test]
fn locations_come_back() {
    let module = parse(PROGRAMS[1]);
    let back = round_trip(&module);
    let locations = |module: &Module, name: &str| {
        let ops = module.walk(module.root()).map(|op| module.op(op)).filter(|op| op.name == name);
        ops.map(|op| op.location.to_string()).collect::<Vec<_>>()
    };
    for name in ["three", "inner", "tfrt.if", "cond", "func"] {
        assert_eq!(locations(&back, name), locations(&module, name));
        assert!(locations(&module, name)[0].contains("program.mlir"));
    }
}

#[test]
fn every_op_has_a_location_of_its_own() {
    let text = r#"func @f() { "k"() : () -> () loc(unknown) "k"() : () -> () loc(unknown) "tfrt.return"() : () -> () }"#;
    let bef =
        VerifiedBef::new(mlir_to_bef(&parse(text), &OpRegistry::new(), ConvertOptions::default()).unwrap())
            .unwrap();
    let function = bef.function(0).unwrap();
    let locations: Vec<_> = function.kernels().skip(1).map(|kernel| kernel.location()).collect();
    assert_ne!(locations[0], locations[1]);
    assert_eq!(bef.location(locations[0]), bef.location(locations[1]));
}

#[test]
fn regions_come_before_the_functions_they_are_in() {
    let bef = VerifiedBef::new(
        mlir_to_bef(&parse(PROGRAMS[1]), &OpRegistry::new(), ConvertOptions::default()).unwrap(),
    )
    .unwrap();
    let names: Vec<_> = bef.functions().iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["", "", "", "", "f", "g"]);
    let if_kernel = bef.function(4).unwrap().kernel(2).unwrap();
    assert_eq!(if_kernel.functions(), [2, 3]);
    assert_eq!(bef.function(2).unwrap().kernel(1).unwrap().functions(), [5, 0, 1]);
}

#[test]
fn function_kinds_are_kept() {
    let bef = VerifiedBef::new(
        mlir_to_bef(&parse(PROGRAMS[0]), &OpRegistry::new(), ConvertOptions::default()).unwrap(),
    )
    .unwrap();
    let kinds: Vec<_> = bef.functions().iter().map(|function| function.kind).collect();
    use FunctionKind::{Async, Native, Sync};
    assert_eq!(kinds, [Async, Async, Async, Native, Sync]);
}

/// The last user comes first, which is the order single-threaded executors start kernels in.
#[test]
fn users_are_listed_last_first() {
    let text = r#"
    func @f() {
      %a = "a"() : () -> i32
      "b"(%a) : (i32) -> ()
      "c"(%a, %a) : (i32, i32) -> ()
      "tfrt.return"() : () -> ()
    }"#;
    let bef =
        VerifiedBef::new(mlir_to_bef(&parse(text), &OpRegistry::new(), ConvertOptions::default()).unwrap())
            .unwrap();
    assert_eq!(bef.function(0).unwrap().kernel(1).unwrap().used_bys(0), [3, 3, 2]);
}

#[test]
fn without_optional_sections_a_sketch_comes_back() {
    let text = r#"
    func @f(%a: i32) -> i32 {
      %b, %c = "k"(%a) {value = 42 : i32, callee = @f} : (i32) -> (i32, f32)
      "l"(%c) : (f32) -> ()
      "tfrt.return"(%b) : (i32) -> ()
    }"#;
    let options = ConvertOptions { disable_optional_sections: true };
    let bytes = mlir_to_bef(&parse(text), &OpRegistry::new(), options).unwrap();
    let converted = bef_to_mlir(bytes, &OpRegistry::new(), &Location::Unknown).unwrap();
    let warnings = converted.warnings.to_string();
    assert!(warnings.contains("warning: Missing AttributeTypes, AttributeNames or RegisterTypes sections."));
    let expected = r#"
    func @f(%a: i32) -> i32 {
      %b, %c = "k"(%a) {attr0 = -559038737 : i32, callee = @f} : (i32) -> (i32, none)
      "l"(%c) : (none) -> ()
      "tfrt.return"(%b) : (i32) -> ()
    }"#;
    assert_eq!(print(&converted.module), print(&parse(expected)));
}

#[test]
fn what_cannot_be_encoded_is_reported_where_it_stands() {
    let table = [
        (r#"func @f() -> i32 { %x = "someop"() : () -> i32 }"#, "all functions need to have a tfrt.return"),
        ("func private @f() -> i32", "external functions are not allowed"),
        (
            r#"func @f() { "call"() {name = @missing} : () -> () "tfrt.return"() : () -> () }"#,
            "function @missing not defined",
        ),
        (
            r#"func @f() { "k"() {type = tensor<1xf32>} : () -> () "tfrt.return"() : () -> () }"#,
            "BEF files cannot encode the 'type' attribute",
        ),
        (
            r#"func @f() { "k"() {unit} : () -> () "tfrt.return"() : () -> () }"#,
            "BEF files cannot encode the 'unit' attribute",
        ),
        (
            r#"func @f() { "k"() {list = [@f, 1 : i32]} : () -> () "tfrt.return"() : () -> () }"#,
            "BEF files cannot encode the 'list' attribute",
        ),
        (
            r#"func @f() { "call"() {list = [@f, @missing]} : () -> () "tfrt.return"() : () -> () }"#,
            "function @missing not defined",
        ),
        (
            r#"func @f(%a: i32) -> i32 attributes {tfrt.sync} { "tfrt.return"(%a) : (i32) -> () }"#,
            "return value 0 is an argument in a sync function",
        ),
        (
            r#"func @f() -> (i32, i32) attributes {tfrt.sync} {
                 %a = "k"() : () -> i32
                 "tfrt.return"(%a, %a) : (i32, i32) -> () }"#,
            "return value 1 is duplicated in a sync function",
        ),
        (
            r#"func @f(%a: i32) {
                 "k"() ( { "l"(%a) : (i32) -> () "tfrt.return"() : () -> () }) : () -> ()
                 "tfrt.return"() : () -> () }"#,
            "BEF executor only supports references to kernels within the current region",
        ),
        (
            r#"func @f() { "tfrt.return"() : () -> () "k"() : () -> () }"#,
            "return op must be at the end of its block",
        ),
        (r#""k"() : () -> ()"#, "BEF files cannot encode 'k' outside of functions"),
    ];
    for (text, expected) in table {
        let errors = mlir_to_bef(&parse(text), &OpRegistry::new(), ConvertOptions::default()).unwrap_err();
        assert!(errors.iter().any(|error| error.message == expected), "{text}\n{errors}");
        assert!(errors.to_string().starts_with("program.mlir:"), "{errors}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let text = r#"
    func private @a()
    func @b() { "k"() {u, v} : () -> () "k"() {f = @missing} : () -> () "tfrt.return"() : () -> () }
    "#;
    let errors = mlir_to_bef(&parse(text), &OpRegistry::new(), ConvertOptions::default()).unwrap_err();
    assert_eq!(errors.len(), 4, "{errors}");
}
