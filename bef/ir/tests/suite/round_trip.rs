//! Texts print as expected, and what is printed parses back to print the same, in every mode.

use crate::common::reprint;
use tfrt_ir::PrintOptions;

/// Checks that the body of a function prints as given (or as itself), and is stable in every mode.
#[track_caller]
fn check_module(text: &str, expected: &str) {
    let printed = reprint(text, PrintOptions::default());
    assert_eq!(printed, expected);
    for generic in [false, true] {
        for debug_info in [false, true] {
            let options = PrintOptions { generic, debug_info, ..PrintOptions::default() };
            let once = reprint(text, options);
            assert_eq!(reprint(&once, options), once, "in mode {options:?}");
            if !debug_info {
                assert_eq!(reprint(&once, PrintOptions::default()), printed, "from mode {options:?}");
            }
        }
    }
}

/// A function that statements may call.
const G: &str = "  func private @g(!tfrt.chain, !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle, \
                 !corert.tensorhandle)\n  func private @step(i32) -> (i32, i1)\n";

#[track_caller]
fn check(text: &str, expected: &str) {
    let wrap = |body: &str| {
        let lines: String = body.trim_matches('\n').lines().map(|line| format!("    {line}\n")).collect();
        format!(
            "module {{\n{G}  func @f(%arg0: i32, %arg1: !tfrt.chain, %arg2: i1) {{\n{lines}    tfrt.return\n  }}\n}}\n"
        )
    };
    check_module(&wrap(text), &wrap(expected));
}

/// Checks that a text prints as itself.
#[track_caller]
fn check_same(text: &str) {
    check(text, text);
}

#[test]
fn default_forms() {
    check_same("%0 = tfrt.new.chain");
    check_same("%0 = tfrt.merge.chains %arg1, %arg1");
    check_same("%0 = tfrt.add.i32 %arg0, %arg0 {note = \"x\"}");
    check_same("%0 = ts.build_shape [1 : i32, 2, 3 : ui8]");
    check_same("%0 = corert.get_op_handler %arg1 \"cpu\"");
    check_same("%0 = test.const dense<[1, 2]> : tensor<2xi32>");
    check_same("test.pair true");
    check("test.pair true {b = @f}", "test.pair true {b = @f}");
    check("test.pair {a = false}", "test.pair false");
    check_same("%0:2 = test.any %arg0, %arg1 : (i32, !tfrt.chain) -> (i64, f32)");
    check_same("\"test.generic_only\"() : () -> ()");
}

#[test]
fn attributes_of_a_fixed_type_may_repeat_it() {
    let text = "%t = \"make\"() : () -> !t.tensor\n%c = tfrt_dht.fill.f32 %t, %arg1 1.5 : f32";
    check(text, "%0 = \"make\"() : () -> !t.tensor\n%1 = tfrt_dht.fill.f32 %0, %arg1 1.500000e+00 : f32");
}

#[test]
fn formats_with_optional_groups() {
    let grid = "%0 = tfrt.constant.ui32 4000000000\n";
    check_same(&format!("{grid}%1 = test.launch %arg1 %0 {{handle = 7 : ui64}}"));
    check_same(&format!("{grid}%1 = test.launch %arg1 %0 {{handle = 7 : ui64}}(%arg0, %arg2) : (i32, i1)"));
}

#[test]
fn constants() {
    check_same("%0 = tfrt.constant.i1 1");
    check("%0 = tfrt.constant.i1 false", "%0 = tfrt.constant.i1 0");
    check_same("%0 = tfrt.constant.i32 -42");
    check_same("%0 = tfrt.constant.i64 42 {a}");
    check("%0 = tfrt.constant.i64 {a} 42", "%0 = tfrt.constant.i64 42 {a}");
    check("%0 = tfrt.constant.f32 0.7", "%0 = tfrt.constant.f32 7.000000e-01");
    check("%0 = tfrt.constant.f64 0.33333333333333331", "%0 = tfrt.constant.f64 0.33333333333333331");
    check_same("%0 = tfrt.constant_s.f32 1.000000e+30");
}

#[test]
fn calls_and_choices() {
    check_same("tfrt.call @f(%arg0, %arg1, %arg2) : (i32, !tfrt.chain, i1) -> ()");
    check_same("tfrt.call @f(%arg0, %arg1, %arg2) {note} : (i32, !tfrt.chain, i1) -> ()");
    check(
        "tfrt.call @\"f\"(%arg0, %arg1, %arg2) {bef.nonstrict} : (i32, !tfrt.chain, i1) -> ()",
        "tfrt.call @f(%arg0, %arg1, %arg2) : (i32, !tfrt.chain, i1) -> ()",
    );
    check_same("tfrt.cond %arg2 @f @f(%arg0, %arg1, %arg2) : (i32, !tfrt.chain, i1) -> ()");
    check_same("tfrt.case %arg0 [@f, @f](%arg0, %arg1, %arg2) : (i32, !tfrt.chain, i1) -> ()");
}

#[test]
fn bodies_reuse_the_operands_names() {
    check_same(
        "%0 = tfrt.if %arg2, %arg0 : (i32) -> (i32) {\n  tfrt.return %arg0 : i32\n} else {\n  \
         %2 = tfrt.add.i32 %arg0, %arg0\n  tfrt.return %2 : i32\n}\n%1 = tfrt.new.chain",
    );
    check(
        "tfrt.if %arg2, %arg1 attributes {a} : (!tfrt.chain) -> () {\n  tfrt.return\n}",
        "tfrt.if %arg2, %arg1 attributes {a} : (!tfrt.chain) -> () {\n  tfrt.return\n} else {\n  tfrt.return\n}",
    );
    check_same("tfrt.repeat.i32 %arg0 {\n  tfrt.return\n}");
    check(
        "%a:2 = \"two\"() : () -> (i32, i32)\n%b:2 = tfrt.repeat.i32 %arg0, %a#1, %a#0 : i32, i32 {\n  \
         tfrt.return %a#0, %a#1 : i32, i32\n}",
        "%0:2 = \"two\"() : () -> (i32, i32)\n%1:2 = tfrt.repeat.i32 %arg0, %0#1, %0#0 : i32, i32 {\n  \
         tfrt.return %0#0, %0#1 : i32, i32\n}",
    );
    check_same(
        "%0 = tfrt_test.do.async %arg0 : (i32) -> (i32) {\n  tfrt.return %arg0 : i32\n}\n\
         %1 = tfrt.parallel_for.i32 %arg0 to %0 fixed %0, %arg1 : !tfrt.chain {\n  \
         %2 = tfrt.print.i32 %arg0, %arg1\n  tfrt.return %2 : !tfrt.chain\n}",
    );
}

#[test]
fn an_operand_twice_is_printed_generic() {
    check_same(
        "%0:2 = \"tfrt.repeat.i32\"(%arg0, %arg0, %arg0) ({\n^bb0(%arg3: i32, %arg4: i32):\n  \
         tfrt.return %arg4, %arg3 : i32, i32\n}) {bef.nonstrict} : (i32, i32, i32) -> (i32, i32)",
    );
}

#[test]
fn benchmarks() {
    check(
        "tfrt_test.benchmark \"b\"(%arg0 : i32) duration_secs = 1, max_count = 100 {\n  tfrt.return %arg0 : i32\n}",
        "%0 = tfrt_test.benchmark \"b\"(%arg0 : i32) duration_secs = 1, max_count = 100, num_warmup_runs = 1 {\n  \
         tfrt.return %arg0 : i32\n}",
    );
    check_same(
        "tfrt_test.sync_benchmark @f(%arg0 : i32, %arg1 : !tfrt.chain, %arg2 : i1) duration_secs = 1, \
         max_count = 100, num_warmup_runs = 5",
    );
}

#[test]
fn execute_op_keeps_the_order_of_its_attributes() {
    let handler = "%0 = corert.get_op_handler %arg1 \"cpu\"\n";
    check_same(&format!("{handler}corert.executeop(%0) \"tf.A\"()"));
    check_same(&format!(
        "{handler}%1:2 = corert.executeop(%0) \"tf.A\"() {{z = 1 : i32, a = [1, 2.500000e+00]}} : 2"
    ));
    check_same(&format!("{handler}%1 = corert.executeop(%0) \"tf.A\"() {{a}} {{f = \"g\"}} : 1"));
    check_same(&format!("{handler}%1 = corert.executeop(%0) \"tf.A\"() {{}} {{f = \"g\"}} : 1"));
    check(
        &format!("{handler}%c, %t = corert.executeop.seq(%0, %arg1) \"tf.A\"() : 1"),
        &format!("{handler}%out_op_chain, %results = corert.executeop.seq(%0, %arg1) \"tf.A\"() : 1"),
    );
}

#[test]
fn loops_over_functions() {
    let value = "%0 = \"make\"() : () -> !corert.tensorhandle\n";
    check_same(&format!(
        "{value}%out_op_chain, %fn_outputs:2 = corert.while @g @g(%arg1, %0) : (!corert.tensorhandle, \
         !corert.tensorhandle)"
    ));
    check_same("%0 = tfrt.while %arg2 @step(%arg0) : (i32) -> (i32)");
}

#[test]
fn results_are_called_by_their_names_where_the_definition_says_so() {
    check(
        "%h = corert.get_op_handler %arg1 \"cpu\"
%c, %t:2 = corert.executeop.seq(%h, %arg1) \"tf.A\"() : 2
%d = corert.executeop.seq(%h, %c) \"tf.B\"(%t#1, %t#0)
%e, %u = corert.executeop.seq(%h, %d) \"tf.C\"() : 1
%f, %v:2 = corert.cond %u @g @g (%e, %t#1) : (!corert.tensorhandle, !corert.tensorhandle)
\"use\"(%f, %v#1) : (!tfrt.chain, !corert.tensorhandle) -> ()",
        "%0 = corert.get_op_handler %arg1 \"cpu\"
%out_op_chain, %results:2 = corert.executeop.seq(%0, %arg1) \"tf.A\"() : 2
%1 = corert.executeop.seq(%0, %out_op_chain) \"tf.B\"(%results#1, %results#0)
%out_op_chain_0, %results_0 = corert.executeop.seq(%0, %1) \"tf.C\"() : 1
%out_op_chain_1, %fn_outputs:2 = corert.cond %results_0 @g @g(%out_op_chain_0, %results#1) : \
         (!corert.tensorhandle, !corert.tensorhandle)
\"use\"(%out_op_chain_1, %fn_outputs#1) : (!tfrt.chain, !corert.tensorhandle) -> ()",
    );
}

#[test]
fn attributes_of_every_kind() {
    let table = [
        ("true", "true"),
        ("1 : i1", "true"),
        ("7", "7 : i64"),
        ("-7 : i8", "-7 : i8"),
        ("0xFF : i8", "-1 : i8"),
        ("255 : ui8", "255 : ui8"),
        ("-128 : si8", "-128 : si8"),
        ("3 : index", "3 : index"),
        ("170141183460469231731687303715884105727 : i200", "170141183460469231731687303715884105727 : i200"),
        ("1.", "1.000000e+00 : f64"),
        ("-2.5e-3 : bf16", "-2.502440e-03 : bf16"),
        ("0x7FC00000 : f32", "0x7FC00000 : f32"),
        ("[16777216., 0x7FF0000000000000 : f64]", "[0x4170000000000000 : f64, 0x7FF0000000000000 : f64]"),
        ("\"a\\n\\\"\\\\\\FF\"", "\"a\\0A\\22\\\\\\FF\""),
        ("\"s\" : !tf.string", "\"s\" : !tf.string"),
        ("unit", "unit"),
        ("[1, 2 : i32, [], [true, 1.0]]", "[1, 2 : i32, [], [true, 1.000000e+00]]"),
        ("array<i32: 1, -2>", "[1 : i32, -2 : i32]"),
        ("array<i1: true, false>", "[true, false]"),
        ("array<f32>", "[]"),
        ("{b = 1, a, \"x y\" = {}}", "{a, b = 1 : i64, \"x y\" = {}}"),
        ("i32", "i32"),
        ("tensor<2x?xf32>", "tensor<2x?xf32>"),
        ("(i32) -> ()", "(i32) -> ()"),
        ("memref<4xf32, affine_map<(i) -> (i)>>", "memref<4xf32, affine_map<(i) -> (i)>>"),
        ("!foo.bar<a, (b) -> c>", "!foo.bar<a, (b) -> c>"),
        ("!foo<\"bar\">", "!foo.bar"),
        ("!foo<\"1 odd >\">", "!foo<\"1 odd >\">"),
        ("@a::@\"b c\"", "@a::@\"b c\""),
        ("#corert.shape<1x?x3>", "#corert.shape<1x?x3>"),
        ("#tfrt.x", "#tfrt.x"),
        (
            "loc(fused<\"m\">[\"f\":1:2, callsite(\"n\"(unknown) at unknown)])",
            "loc(fused<\"m\">[\"f\":1:2, callsite(\"n\" at unknown)])",
        ),
    ];
    for (value, expected) in table {
        let expected = if expected == "unit" { "a".to_owned() } else { format!("a = {expected}") };
        check(&format!("\"x\"() {{a = {value}}} : () -> ()"), &format!("\"x\"() {{{expected}}} : () -> ()"));
    }
}

#[test]
fn dense_elements_of_every_kind() {
    let table = [
        ("dense<1> : tensor<2x2xi32>", "dense<1> : tensor<2x2xi32>"),
        ("dense<[[1, 1], [1, 1]]> : tensor<2x2xi32>", "dense<1> : tensor<2x2xi32>"),
        ("dense<[[1, 2], [-3, 4]]> : tensor<2x2xi8>", "dense<[[1, 2], [-3, 4]]> : tensor<2x2xi8>"),
        ("dense<[255, 1]> : tensor<2xui8>", "dense<[255, 1]> : tensor<2xui8>"),
        ("dense<[true, false]> : tensor<2xi1>", "dense<[true, false]> : tensor<2xi1>"),
        ("dense<[1., 0x7F800000]> : tensor<2xf32>", "dense<[1.000000e+00, 0x7F800000]> : tensor<2xf32>"),
        (
            "dense<(1., -2.)> : tensor<complex<f32>>",
            "dense<(1.000000e+00,-2.000000e+00)> : tensor<complex<f32>>",
        ),
        ("dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<i8>>", "dense<[(1,2), (3,4)]> : tensor<2xcomplex<i8>>"),
        ("dense<[]> : tensor<0xf32>", "dense<> : tensor<0xf32>"),
        ("dense<1.> : tensor<0xf32>", "dense<> : tensor<0xf32>"),
        ("dense<\"a\"> : tensor<0x!tf.string>", "dense<> : tensor<0x!tf.string>"),
        ("dense<> : tensor<2x0xf32>", "dense<> : tensor<2x0xf32>"),
        ("dense<[\"a\", \"b\"]> : tensor<2x!tf.string>", "dense<[\"a\", \"b\"]> : tensor<2x!tf.string>"),
        ("dense<\"a\"> : tensor<2x!tf.string>", "dense<\"a\"> : tensor<2x!tf.string>"),
        ("dense<\"0x01000200\"> : tensor<2xi16>", "dense<[1, 2]> : tensor<2xi16>"),
        ("dense<\"0x05\"> : tensor<3xi1>", "dense<[true, false, true]> : tensor<3xi1>"),
        ("dense<2> : vector<4xi32>", "dense<2> : vector<4xi32>"),
    ];
    for (value, expected) in table {
        check(
            &format!("\"x\"() {{a = {value}}} : () -> ()"),
            &format!("\"x\"() {{a = {expected}}} : () -> ()"),
        );
    }
    let many: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    let printed = reprint(
        &format!("\"x\"() {{a = dense<[{}]> : tensor<200xi16>}} : () -> ()", many.join(",")),
        PrintOptions::default(),
    );
    assert!(printed.contains("dense<\"0x000001000200"), "{printed}");
    let bits: Vec<&str> = (0..101).map(|n| if n % 3 == 0 { "true" } else { "false" }).collect();
    let text = format!("\"x\"() {{a = dense<[{}]> : tensor<101xi1>}} : () -> ()", bits.join(","));
    let once = reprint(&text, PrintOptions::default());
    assert!(once.contains("\"0x49922449"), "{once}");
    assert_eq!(reprint(&once, PrintOptions::default()), once);
}

#[test]
fn functions_and_modules() {
    check_module(
        "#a = 1 : i32\n!t = tensor<2xf32>\n\
         func.func private @ext(i32 {x.a = #a}, !t) -> (f32 {x.b}, () -> ()) attributes {tfrt.native}\n\
         func @\"odd name\"(%x: !t) -> !t { tfrt.return %x : !t }\n\
         module @inner attributes {k} { func @ext() -> (i32, i32) }\n",
        "module {\n  func private @ext(i32 {x.a = 1 : i32}, tensor<2xf32>) -> (f32 {x.b}, () -> ()) attributes \
         {tfrt.native}\n  func @\"odd name\"(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n    \
         tfrt.return %arg0 : tensor<2xf32>\n  }\n  module @inner attributes {k} {\n    \
         func @ext() -> (i32, i32)\n  }\n}\n",
    );
}

#[test]
fn the_label_of_the_first_block_may_name_a_functions_arguments() {
    check_module(
        "func @f(i32, f32) -> f32 {\n^bb0(%a: i32, %b: f32):\n  tfrt.return %b : f32\n}\n",
        "module {\n  func @f(%arg0: i32, %arg1: f32) -> f32 {\n    tfrt.return %arg1 : f32\n  }\n}\n",
    );
}

#[test]
fn properties_are_attributes() {
    check("\"x\"() <{a = 1 : i32}> {b} : () -> ()", "\"x\"() {a = 1 : i32, b} : () -> ()");
    check(
        "\"x\"(%arg0) <{a}> ({\n^bb0(%arg3: i32):\n}) : (i32) -> ()",
        "\"x\"(%arg0) ({\n^bb0(%arg3: i32):\n}) {a} : (i32) -> ()",
    );
}

#[test]
fn the_only_module_is_the_module() {
    check_module("module @m attributes {a} {\n}", "module @m attributes {a} {\n}\n");
    check_module("\"builtin.module\"() ({\n}) : () -> ()", "module {\n}\n");
    check_module("", "module {\n}\n");
}

#[test]
fn blocks_with_labels() {
    check_same(
        "\"x\"() ({\n^bb0(%arg3: i32):\n  %1 = tfrt.add.i32 %arg3, %arg0\n^bb1(%2: i32):\n  \
         \"y\"(%2) : (i32) -> ()\n}, {\n^bb0:\n}, {\n}) {a} : () -> ()\n%0 = tfrt.new.chain",
    );
}

#[test]
fn values_used_before_their_definition_are_left_to_the_verifier() {
    let text = "func @f() {\n  %1 = tfrt.add.i32 %0, %0\n  %0 = tfrt.add.i32 %1, %1\n  tfrt.return\n}";
    let messages: Vec<String> = crate::common::errors(text).into_iter().map(|(_, message)| message).collect();
    assert_eq!(
        messages,
        [
            "'tfrt.add.i32' op operand #0 does not dominate this use",
            "'tfrt.add.i32' op operand #1 does not dominate this use"
        ]
    );
}

#[test]
fn locations_print_and_parse() {
    let text = "func @f() {\n  %0 = \"a\"() : () -> i32 loc(#loc1)\n  tfrt.return loc(unknown)\n} loc(\"f\")\n\
                #loc0 = loc(\"x.py\":3:4)\n#loc1 = loc(callsite(\"name\"(#loc0) at #loc0))\n";
    let printed = reprint(text, PrintOptions { debug_info: true, ..PrintOptions::default() });
    let expected = "module {\n  func @f() {\n    %0 = \"a\"() : () -> i32 \
                    loc(callsite(\"name\"(\"x.py\":3:4) at \"x.py\":3:4))\n    tfrt.return loc(unknown)\n  } \
                    loc(\"f\")\n} loc(unknown)\n";
    assert_eq!(printed, expected);
    let default = reprint(
        "func @f() {\n  \"a\"() : () -> ()\n}",
        PrintOptions { debug_info: true, ..PrintOptions::default() },
    );
    assert!(default.contains("\"a\"() : () -> () loc(\"test.mlir\":2:3)"), "{default}");
}

#[test]
fn large_constants_can_be_left_out() {
    let text = "\"a\"() {large = [dense<[1, 2, 3]> : tensor<3xi32>], small = dense<[1, 2]> : tensor<2xi32>, \
                splat = dense<7> : tensor<9xi32>} : () -> ()";
    let printed = reprint(text, PrintOptions { max_dense_elements: Some(2), ..PrintOptions::default() });
    assert!(printed.contains("large = [dense_resource<__elided__> : tensor<3xi32>], "), "{printed}");
    assert!(printed.contains("dense<[1, 2]>") && printed.contains("dense<7>"), "{printed}");
}
