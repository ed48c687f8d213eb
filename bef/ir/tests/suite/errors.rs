//! Errors: each is found, with its place, and one does not hide or cause others.

use crate::common::errors;

/// Checks the lines of the errors and a part of each message.
#[track_caller]
fn check(text: &str, expected: &[(u32, &str)]) {
    let found = errors(text);
    let matches = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(found, expected)| found.0 == expected.0 && found.1.contains(expected.1));
    assert!(matches, "found {found:#?}, expected {expected:#?}");
}

#[test]
fn all_syntax_errors_of_a_file_are_reported() {
    let text = "func @a(%x: i32) {
  %0 = tfrt.add.i32 %x %x
  %1 = tfrt.add.i32 %0, %x
  %2 = tfrt.unknown %1
  %3:2 = tfrt.add.i32 %2, %2
  %4 = \"x\"(%3#1 : () -> ()
  tfrt.return %4 : i32
}
func b() {
  tfrt.return
}
func @c() {
  tfrt.call @b() : () -> ()
  \"y\"() {a = , b} : () -> ()
  tfrt.retrun
}
func @d() { tfrt.return }
}
func @e() -> i33333333333 { tfrt.return }
func @f() -> i32 { tfrt.return }
";
    check(
        text,
        &[
            (2, "operands present, but expected 2"),
            (4, "custom op 'tfrt.unknown' is unknown"),
            (5, "operation defines 1 results but was provided 2 to bind"),
            (6, "expected ')'"),
            (9, "expected a symbol name"),
            (14, "expected an attribute value"),
            (15, "custom op 'tfrt.retrun' is unknown; did you mean 'tfrt.return'?"),
            (18, "expected an operation, found '}'"),
            (19, "expected a type"),
            (20, "has 0 operands, but enclosing function returns 1"),
        ],
    );
}

#[test]
fn the_lines_of_a_failed_statement_are_one() {
    let text = "func @a(%x: i32, %y: i32) {
  %0 = tfrt.unknown %x,
       %x, %y
  %1:2, %2 = \"two\"(%0)
      : (i32) -> (i32, i32)
  %3 = \"x\"(%1#1,
    %2) {a = 1 +
    : (i32, i32) -> i32
  tfrt.call @nope(
    %3) : (i32) -> ()
  %4 = tfrt.unknown2
  tfrt.return
}";
    check(
        text,
        &[
            (2, "custom op 'tfrt.unknown' is unknown"),
            (4, "operation defines 2 results but was provided 3"),
            (7, "expected '}'"),
            (11, "custom op 'tfrt.unknown2' is unknown"),
        ],
    );
}

#[test]
fn names_of_values() {
    check(
        "func @a(%x: i32) {\n  %x = tfrt.constant.i32 1\n  %y = tfrt.add.i32 %z, %x#1\n  tfrt.return\n}",
        &[
            (2, "redefinition of SSA value '%x'"),
            (3, "reference to invalid result number"),
            (3, "use of undeclared SSA value name '%z'"),
        ],
    );
    check(
        "func @a(%x: i32) {\n  tfrt.repeat.i32 %x {\n    %y = tfrt.add.i32 %x, %x\n    tfrt.return\n  }\n  tfrt.return\n}",
        &[(3, "use of undeclared SSA value name '%x'")],
    );
    check(
        "func @a(%x: i32) {\n  %c = tfrt.print.i32 %x, %x\n  tfrt.return\n}",
        &[(2, "expects different type than prior uses: '!tfrt.chain' vs 'i32'")],
    );
}

#[test]
fn attributes() {
    let table = [
        ("300 : i8", "out of range for type i8"),
        ("-1 : ui8", "out of range for type ui8"),
        ("1 : f32", "add a trailing dot"),
        ("1.0 : i32", "a floating-point number cannot have type i32"),
        ("0x123456789 : f32", "more bits than type f32"),
        ("-0x1 : f32", "take no sign"),
        ("1.0 : !a.b", "a number cannot have type !a.b"),
        ("{b, c, b}", "duplicate key 'b'"),
        ("#nope", "undefined alias '#nope'"),
        ("\"\\q\"", "unknown escape"),
        ("dense<[1, [2]]> : tensor<2xi32>", "has shape [1], but the elements before it have shape []"),
        ("dense<[1, 2]> : tensor<3xi32>", "have shape [2], but the type has shape [3]"),
        ("dense<[1.5]> : tensor<1xi32>", "a floating-point number cannot have type i32"),
        ("dense<1> : tensor<?xi32>", "static shape"),
        ("dense<> : tensor<2xi32>", "expected 2 elements, found none"),
        ("dense<\"0x00\"> : tensor<2xi32>", "1 bytes of dense data do not match"),
        ("dense<(1, 2)> : tensor<2xi32>", "complex numbers for element type i32"),
        ("dense<1> : tensor<2xcomplex<i32>>", "expected pairs"),
        ("tensor<2x3", "expected 'x' after the dimension"),
        ("tensor<99999999999999999999xi32>", "dimension is too large"),
        ("vector<?xi32>", "needs a static shape"),
        ("!a.b<(>", "unbalanced brackets"),
        ("sparse<0, 1>", "not supported"),
        ("array<i8: 1, 300>", "out of range for type i8"),
        ("array<i8, 1>", "after the type of no elements"),
        ("dense<1.> : tensor<0xi32>", "a floating-point number cannot have type i32"),
    ];
    for (value, message) in table {
        check(&format!("\"x\"() {{a = {value}}} : () -> ()"), &[(1, message)]);
    }
}

#[test]
fn names_of_a_functions_arguments() {
    let message = "a function with a body needs names for its arguments";
    check("func @f(i32) {\n  tfrt.return\n}", &[(1, message)]);
    check("func @f(i32) {\n^bb0(%a: f32):\n  tfrt.return\n}", &[(1, message)]);
    check("func @f(i32, %b: i32) {\n  tfrt.return\n}", &[(1, message)]);
    check("\"x\"() <{a = 1}> {a = 2} : () -> ()", &[(1, "'a' is a property and an attribute")]);
    check("\"x\"() <{a = 1} {b} : () -> ()", &[(1, "after the properties")]);
}

#[test]
fn aliases() {
    check("#a = #b\n#b = #a\n\"x\"() {v = #a} : () -> ()", &[(1, "alias '#b' is defined by itself")]);
    check("#a = 1\n#a = 2\n", &[(2, "redefinition of alias '#a'")]);
    check("!a = i32\n\"x\"() {v = #a} : () -> !a", &[(2, "undefined alias '#a'")]);
    check("\"x\"() {v = #late} : () -> ()\n#late = 1 : i8", &[]);
}

#[test]
fn verification() {
    let wrap = |body: &str| format!("func @f(%i: i32, %c: !tfrt.chain, %b: i1) -> i32 {{\n{body}\n}}");
    let table: &[(&str, &[(u32, &str)])] = &[
        ("tfrt.return %c : !tfrt.chain", &[(2, "type of return operand 0 ('!tfrt.chain') doesn't match")]),
        ("tfrt.return", &[(2, "'tfrt.return' op has 0 operands, but enclosing function returns 1")]),
        ("tfrt.return %i : i32\ntfrt.return %i : i32", &[(2, "must be the last operation")]),
        ("%0 = tfrt.add.i32 %i, %i", &[(2, "is not a terminator such as tfrt.return")]),
        ("%0 = \"not_known\"() : () -> i32", &[]),
        (
            "tfrt.call @g() : () -> ()\ntfrt.return %i : i32",
            &[(2, "'g' does not reference a valid function")],
        ),
        (
            "tfrt.call @f(%i) : (i32) -> f32\ntfrt.return %i : i32",
            &[
                (2, "incorrect number of operands for callee: 1, expected 3"),
                (2, "result type mismatch for callee"),
            ],
        ),
        (
            "tfrt.cond %b @f @g(%i) : (i32) -> ()\ntfrt.return %i : i32",
            &[
                (2, "incorrect number of operands for true function"),
                (2, "incorrect number of results for true function"),
                (2, "'g' does not reference"),
            ],
        ),
        (
            "%0 = \"tfrt.add.i32\"(%i, %b) : (i32, i1) -> f32\ntfrt.return %i : i32",
            &[(2, "operand #1 must be i32, but got 'i1'"), (2, "result #0 must be i32, but got 'f32'")],
        ),
        (
            "%0 = \"tfrt.add.i32\"(%i) ({\n}) : (i32) -> i32\ntfrt.return %i : i32",
            &[(2, "requires 2 operands, but has 1"), (2, "requires 0 regions, but has 1")],
        ),
        (
            "%0 = \"ts.build_shape\"() {value = 1} : () -> !ts.shape\ntfrt.return %i : i32",
            &[(2, "attribute 'value' must be an array, but is 1 : i64")],
        ),
        (
            "%0 = \"ts.build_shape\"() : () -> !ts.shape\ntfrt.return %i : i32",
            &[(2, "requires attribute 'value'")],
        ),
        (
            "%0 = tfrt.if %b, %i : (i32) -> (f32) {\n  tfrt.return %i : i32\n} else {\n  %1 = tfrt.constant.i32 1\n}\n\
             tfrt.return %i : i32",
            &[
                (3, "operand types don't match 'tfrt.if' result"),
                (2, "expected tfrt.return in body"),
                (5, "ends the body of 'tfrt.if'"),
            ],
        ),
        (
            "\"tfrt.repeat.i32\"(%i) ({\n  %0 = tfrt.add.i32 %i, %i\n  tfrt.return\n}) : (i32) -> ()\n\
             tfrt.return %i : i32",
            &[(3, "using value defined outside the region"), (3, "using value defined outside the region")],
        ),
        (
            "\"x\"() ({\n  %0 = tfrt.new.chain\n}, {\n  \"y\"(%0) : (!tfrt.chain) -> ()\n}) : () -> ()\n\
             tfrt.return %i : i32",
            &[(5, "use of undeclared SSA value name '%0'")],
        ),
    ];
    for (body, expected) in table {
        check(&wrap(body), expected);
    }
    check("func @f() {\n}", &[(1, "empty block")]);
    check(
        "func @callee() {\n  tfrt.call @calee() : () -> ()\n  \"x\"(%chain) : (i1) -> ()\n  %chian = tfrt.new.chain\n  tfrt.return\n}",
        &[(3, "name '%chain'; did you mean '%chian'?")],
    );
    check(
        "func @callee() {\n  tfrt.call @calee() : () -> ()\n  tfrt.return\n}",
        &[(2, "valid function; did you mean 'callee'?")],
    );
    check("func private @f()\nfunc private @f()", &[(2, "redefinition of symbol named 'f'")]);
    check("\"func\"() ({\n}) {sym_name = \"f\"} : () -> ()", &[(1, "requires a 'type' attribute")]);
    check(
        "\"func\"() ({\n^bb0(%a: i1):\n  tfrt.return\n}) {sym_name = \"f\", type = (i32) -> ()} : () -> ()",
        &[(1, "argument 0 of the body has type 'i1', but input 0 'i32'")],
    );
}

#[test]
fn functions_that_parsed_are_verified_even_if_others_did_not() {
    let text = "func @a() {\n  oops\n  tfrt.return\n}\nfunc @b() {\n  tfrt.call @c() : () -> ()\n  tfrt.call @a() : () -> ()\n  \
                tfrt.return\n}";
    check(text, &[(2, "custom op 'oops' is unknown"), (6, "'c' does not reference a valid function")]);
}
