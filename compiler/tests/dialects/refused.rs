//! Texts that break a rule, each with the line and a part of the message.

use super::errors;

/// Puts nodes into a graph of a function with arguments of many types.
fn in_graph(nodes: &str) -> String {
    format!(
        "func @f(%t: tensor<*xf32>, %p: tensor<i1>, %s: tensor<i32>, %i: i32, %c: !tf_executor.control, \
         %ref: tensor<4x!tf.f32ref>, %four: tensor<4xf32>, %token: !tf_executor.token) {{\n \
         tf_executor.graph {{\n{nodes}\n }}\n return\n}}\n"
    )
}

#[track_caller]
fn assert_refused(text: &str, line: u32, message: &str) {
    let found = errors(text);
    let fits = |(at, text): &(u32, String)| *at == line && text.contains(message);
    assert!(found.iter().any(fits), "'{message}' on line {line}, but found {found:?}\n{text}");
}

#[test]
fn nodes_that_do_not_fit_are_refused() {
    let cases = [
        ("%0 = addf %t, %t : tensor<*xf32>", "wrap it in a tf_executor.island"),
        ("tf_executor.graph {}", "unallowed directly inside another tf_executor.graph"),
        ("\"tf_executor.nothing\"() : () -> ()", "is not registered"),
        ("%0:3 = tf_executor.Switch %t : tensor<*xf32>", "expects a single data type and a predicate"),
        (
            "%0:3 = \"tf_executor.Switch\"(%t, %t) : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, !tf_executor.control)",
            "operand #1 must be tensor of 1-bit",
        ),
        (
            "%0:3 = \"tf_executor.Switch\"(%p, %p) : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<*xf32>, !tf_executor.control)",
            "cannot become the true result",
        ),
        (
            "%0:3 = \"tf_executor._SwitchN\"(%t, %s) {num_outs = 5} : (tensor<*xf32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>, !tf_executor.control)",
            "as many outputs as 'num_outs' (5)",
        ),
        (
            "%0:3 = \"tf_executor._SwitchN\"(%i, %s) {num_outs = 2} : (i32, tensor<i32>) -> (tensor<i32>, tensor<i32>, !tf_executor.control)",
            "expects data operand to have tensor type",
        ),
        ("%0:3 = tf_executor._SwitchN %t, %s of 2 : tensor<*xf32>, i32", "expects only a single data type"),
        (
            "%0:3 = \"tf_executor.Merge\"() : () -> (tensor<*xf32>, tensor<i32>, !tf_executor.control)",
            "expects at least one operand",
        ),
        (
            "%0:3 = \"tf_executor.Merge\"(%c) : (!tf_executor.control) -> (tensor<*xf32>, tensor<i32>, !tf_executor.control)",
            "expects a non-control input",
        ),
        (
            "%0:3 = \"tf_executor.Merge\"(%t, %c, %t) : (tensor<*xf32>, !tf_executor.control, tensor<*xf32>) -> (tensor<*xf32>, tensor<i32>, !tf_executor.control)",
            "move control operands last",
        ),
        (
            "%0:3 = \"tf_executor.Merge\"(%ref, %four) : (tensor<4x!tf.f32ref>, tensor<4xf32>) -> (tensor<4x!tf.f32ref>, tensor<i32>, !tf_executor.control)",
            "cannot become the output",
        ),
        (
            "%0:3 = \"tf_executor.Merge\"(%t, %i) : (tensor<*xf32>, i32) -> (tensor<*xf32>, tensor<i32>, !tf_executor.control)",
            "to have tensor type",
        ),
        (
            "%0:2 = \"tf_executor.Enter\"(%i) {frame_name = \"a\"} : (i32) -> (tensor<*xf32>, !tf_executor.control)",
            "cannot become the result",
        ),
        ("%0:2 = tf_executor.Enter %t frame \"a\" parallel_iterations 0 : tensor<*xf32>", "must be from 1"),
        (
            "%0:2 = \"tf_executor.Enter\"(%t) : (tensor<*xf32>) -> (tensor<*xf32>, !tf_executor.control)",
            "requires attribute 'frame_name'",
        ),
        (
            "%0:2 = \"tf_executor.Exit\"(%s) : (tensor<i32>) -> (tensor<*xf32>, !tf_executor.control)",
            "cannot become the result",
        ),
        ("%0:2 = tf_executor.LoopCond %t : tensor<*xf32>", "operand #0 must be tensor of 1-bit"),
        (
            "%0:3 = tf_executor.NextIteration.Source : tensor<*xf32>",
            "expects a single user for produced token",
        ),
        (
            "\"tf_executor.NextIteration.Sink\"(%token, %t) : (!tf_executor.token, tensor<*xf32>) -> ()",
            "expects a token directly produced by",
        ),
        (
            "%0:3 = tf_executor.NextIteration.Source : tensor<*xf32> \"tf_executor.NextIteration.Sink\"(%0#1, %i) : (!tf_executor.token, i32) -> ()",
            "mismatch the",
        ),
        (
            "\"tf_executor.island\"(%t) ({ tf_executor.yield }) : (tensor<*xf32>) -> (!tf_executor.control)",
            "operand #0 must be !tf_executor.control",
        ),
        ("\"tf_executor.island\"() ({ tf_executor.yield }) : () -> ()", "requires at least 1 result"),
        ("\"tf_executor.island\"() ({}) : () -> (!tf_executor.control)", "expects a body of one block"),
        (
            "\"tf_executor.island\"() ({ ^b(%a: i32): tf_executor.yield }) : () -> (!tf_executor.control)",
            "without any arguments",
        ),
        (
            "\"tf_executor.island\"() ({ return }) : () -> (!tf_executor.control)",
            "which expects 'tf_executor.yield' there",
        ),
        (
            "\"tf_executor.island\"() ({ tf_executor.yield %t : tensor<*xf32> }) : () -> (!tf_executor.control)",
            "has 1 operand, but island returns 0",
        ),
        (
            "\"tf_executor.island\"() ({ tf_executor.yield %t : tensor<*xf32> }) : () -> (i32, !tf_executor.control)",
            "operand #0 type mismatch",
        ),
        (
            "%0 = tf_executor.island { tf_executor.yield %c : !tf_executor.control }",
            "unexpected control type",
        ),
        ("%0 = tf_executor.ControlTrigger %t", "different type than prior uses"),
        ("%0 = tf_executor.island wraps %x = \"tf.A\"() : () -> i32", "have no names here"),
        ("tf_executor.fetch %c, %t : !tf_executor.control, tensor<*xf32>", "move control operands last"),
        ("tf_executor.fetch %t : tensor<*xf32> tf_executor.fetch", "must be the last operation"),
    ];
    for (node, message) in cases {
        assert_refused(&in_graph(node), 3, message);
    }
}

#[test]
fn nodes_outside_of_graphs_are_refused() {
    for node in [
        "tf_executor.fetch",
        "%0 = tf_executor.island {}",
        "%0:3 = tf_executor.Switch %t, %p : tensor<f32>",
        "%0:3 = tf_executor.Merge %t, %t : tensor<f32>",
        "%0 = tf_executor.ControlTrigger",
        "%0:2 = tf_executor.Recv key \"a\" : tensor<f32>",
    ] {
        let text = format!(
            "func @f(%t: tensor<f32>, %p: tensor<i1>) {{\n \"tf.some_op\"() ({{\n{node}\n}}) : () -> ()\n return\n}}\n"
        );
        assert_refused(&text, 3, "expects parent op 'tf_executor.graph'");
    }
}

#[test]
fn graphs_that_do_not_end_well_are_refused() {
    let graph = |ty: &str, body: &str| {
        format!(
            "func @f(%a: tensor<*xf32>, %c: !tf_executor.control) {{\n%0 = \"tf_executor.graph\"() ({{\n{body}\n}}) : () -> {ty}\nreturn\n}}\n"
        )
    };
    for (ty, body, message) in [
        ("tensor<*xf32>", "\"tf_executor.fetch\"() : () -> ()", "enough operands to cover"),
        ("tensor<*xf32>", "tf_executor.fetch %c : !tf_executor.control", "operand #0 is a control type"),
        (
            "tensor<*xf32>",
            "tf_executor.fetch %a, %a : tensor<*xf32>, tensor<*xf32>",
            "operand #1 does not have",
        ),
        ("i32", "tf_executor.fetch %a : tensor<*xf32>", "operand #0 type mismatch"),
        ("tensor<*xf32>", "tf_executor.yield", "expects 'tf_executor.fetch' there"),
    ] {
        assert_refused(&graph(ty, body), 3, message);
    }
    assert_refused(
        "func @f() {\ntf_executor.graph {\nreturn\n}\nreturn\n}\n",
        2,
        "expects a tf_executor.fetch terminator",
    );
}

#[test]
fn unknown_types_are_refused() {
    assert_refused("func @f() -> !tf_executor.foobar", 1, "unknown tf_executor type: foobar");
    assert_refused("func @f() -> tensor<!tf.float>", 1, "unknown tf type: float");
    assert_refused(
        "func @f() -> tensor<!tf.resource<i32>>",
        1,
        "subtypes of resources and variants are tensor types",
    );
}

#[test]
fn control_flow_that_does_not_fit_its_functions_is_refused() {
    let with = |op: &str| {
        format!(
            "func @g(%a: tensor<f32>) -> tensor<f32> {{\n return %a : tensor<f32>\n}}\nfunc @f(%a: tensor<f32>, %i: tensor<i32>) {{\n{op}\nreturn\n}}\n"
        )
    };
    for (op, message) in [
        (
            "%0 = \"tf.If\"(%i, %i) {then_branch = @g, else_branch = @g} : (tensor<i32>, tensor<i32>) -> tensor<f32>",
            "arguments of @g: value #0",
        ),
        (
            "%0 = \"tf.If\"(%i, %a) {then_branch = @g, else_branch = @h} : (tensor<i32>, tensor<f32>) -> tensor<f32>",
            "'h' does not reference a valid function",
        ),
        (
            "%0 = \"tf.If\"(%i, %a) {then_branch = @g} : (tensor<i32>, tensor<f32>) -> tensor<f32>",
            "requires attribute 'else_branch'",
        ),
        (
            "%0 = \"tf.Case\"(%i, %a) {branches = []} : (tensor<i32>, tensor<f32>) -> tensor<f32>",
            "at least one branch",
        ),
        (
            "%0:2 = \"tf.While\"(%a, %a) {cond = @g, body = @g} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)",
            "2 values where 1 are expected",
        ),
        (
            "%0 = \"tf.IfRegion\"(%i) ({ \"tf.Yield\"() : () -> () }, { \"tf.Yield\"() : () -> () }) : (tensor<i32>) -> tensor<f32>",
            "0 values where 1 are expected",
        ),
        ("%0 = \"tf.CaseRegion\"(%i) : (tensor<i32>) -> tensor<f32>", "requires at least 1 regions"),
        ("\"tf.Some\"() ({ \"tf.Yield\"() : () -> () }) : () -> ()", "expects to be directly inside"),
    ] {
        assert_refused(&with(op), 5, message);
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("{}\"tf.A\"() : () -> ()", "tf_executor.island wraps ".repeat(10_000));
    assert_refused(&in_graph(&deep), 3, "levels deep");
    let deep = format!("{}{}", "%x = tf_executor.island {".repeat(5_000), "}".repeat(5_000));
    assert!(!errors(&in_graph(&deep)).is_empty());
    let deep = format!("func @f() -> tensor<{}{}>", "!tf.variant<tensor<".repeat(5_000), ">>".repeat(5_000));
    assert!(!errors(&deep).is_empty());
}
