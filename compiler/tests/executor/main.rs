//! Graphs with live and dead values, frames and iterations: run directly, and as functions.

mod program;
mod regions;
mod runner;

use std::time::Duration;

use runner::{PATHS, Path, Runner};

/// The loop of the dialects' description, made concrete.
const COUNT_DOWN: &str = r#"
func @main(%count: tensor<i32>) -> tensor<i32> {
  %result = tf_executor.graph {
    %one, %c0 = tf_executor.island wraps "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %zero, %c1 = tf_executor.island wraps "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %one_in, %c2 = tf_executor.Enter %one frame "loop" constant : tensor<i32>
    %zero_in, %c3 = tf_executor.Enter %zero frame "loop" constant : tensor<i32>
    %init, %c4 = tf_executor.Enter %count frame "loop" : tensor<i32>
    %next, %token, %c5 = tf_executor.NextIteration.Source : tensor<i32>
    %current, %index, %c6 = tf_executor.Merge %init, %next : tensor<i32>
    %left, %c7 = tf_executor.island wraps "tf.NotEqual"(%current, %zero_in) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %cond, %c8 = tf_executor.LoopCond %left : tensor<i1>
    %done, %body, %c9 = tf_executor.Switch %current, %cond : tensor<i32>
    %less, %c10 = tf_executor.island wraps "tf.Sub"(%body, %one_in) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink [%token] %less : tensor<i32>
    %exit, %c11 = tf_executor.Exit %done : tensor<i32>
    tf_executor.fetch %exit : tensor<i32>
  }
  return %result : tensor<i32>
}
"#;

#[test]
fn a_loop_ends_at_zero_on_all_paths() {
    let runner = Runner::new();
    for path in PATHS {
        for count in [0, 1, 7, 1000] {
            assert_eq!(runner.run(COUNT_DOWN, path, &[count]), Ok(vec![0]), "{path:?} {count}");
        }
    }
    let (_, names) = runner.compile(COUNT_DOWN, Path::Functional).expect("it compiles");
    assert!(names.iter().any(|name| name == "corert.while"), "{names:?}");
    assert!(!names.iter().any(|name| name == "corert.execute_graph"), "{names:?}");
    let (_, names) = runner.compile(COUNT_DOWN, Path::Compiled).expect("it compiles");
    assert!(names.iter().any(|name| name == "corert.executeop"), "{names:?}");
    assert!(!names.iter().any(|name| name == "corert.while"), "{names:?}");
}

#[test]
fn random_programs_give_the_same_on_all_paths() {
    let runner = Runner::new();
    let mut random = program::Random(1);
    for round in 0..150 {
        let program = program::Program::new(&mut random);
        let text = program.to_graph();
        let mut variables = [random.number(), random.number(), random.number()];
        let inputs = variables;
        program.run(&mut variables);
        let (functional, names) = runner.compile(&text, Path::Functional).expect(&text);
        assert!(
            !names.iter().any(|name| name == "corert.execute_graph"),
            "round {round} stays a graph:\n{text}"
        );
        assert_eq!(runner.call(functional, &inputs), Ok(variables.to_vec()), "{round} {inputs:?}\n{text}");
        assert_eq!(
            runner.run(&text, Path::Direct, &inputs),
            Ok(variables.to_vec()),
            "{round} {inputs:?}\n{text}"
        );
    }
}

/// A graph of a function of two scalars and a condition that is whether the first one is less.
fn graph(nodes: &str, fetch: &str) -> String {
    format!(
        "func @main(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {{\n %r = tf_executor.graph {{\n  %p:2 = \
         tf_executor.island wraps \"tf.Less\"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i1>\n{nodes}\n  \
         tf_executor.fetch {fetch}\n }}\n return %r : tensor<i32>\n}}\n"
    )
}

#[test]
fn a_dead_fetch_is_an_error_with_a_place() {
    let runner = Runner::new();
    let text = graph("  %s:3 = tf_executor.Switch %a, %p#0 : tensor<i32>", "%s#1 : tensor<i32>");
    for path in PATHS {
        assert_eq!(runner.run(&text, path, &[1, 2]), Ok(vec![1]));
        let error = runner.run(&text, path, &[2, 1]).expect_err("it is dead");
        assert!(error.contains("'tf_executor.fetch' at graph.mlir:5:3: operand 0 is dead"), "{error}");
    }
}

#[test]
fn merges_of_dead_values_are_dead_and_triggers_are_live() {
    let runner = Runner::new();
    let nodes = r#"
  %s:3 = tf_executor.Switch %a, %p#0 : tensor<i32>
  %q:2 = tf_executor.island wraps "tf.Less"(%s#1, %s#1) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %t:3 = tf_executor.Switch %s#1, %q#0 : tensor<i32>
  %m:3 = tf_executor.Merge %t#0, %t#1 : tensor<i32>
  %n:3 = tf_executor.Merge %s#0, %m#0 : tensor<i32>
  %trigger = tf_executor.ControlTrigger %m#2
  %e:2 = tf_executor.island(%trigger) wraps "tf.AddV2"(%n#0, %n#1) : (tensor<i32>, tensor<i32>) -> tensor<i32>"#;
    for path in PATHS {
        assert_eq!(runner.run(&graph(nodes, "%e#0 : tensor<i32>"), path, &[3, 4]), Ok(vec![4]), "{path:?}");
        assert_eq!(runner.run(&graph(nodes, "%e#0 : tensor<i32>"), path, &[4, 3]), Ok(vec![4]), "{path:?}");
    }
}

#[test]
fn values_are_sent_and_received_or_waited_for_until_the_end() {
    let runner = Runner::new();
    let nodes = r#"
  %r:2 = tf_executor.Recv key "x" : tensor<i32>
  %c = tf_executor.Send %b key "x" : tensor<i32>
  %n:2 = tf_executor.island(%c) wraps "tf.Neg"(%r#0) : (tensor<i32>) -> tensor<i32>"#;
    assert_eq!(runner.run(&graph(nodes, "%n#0 : tensor<i32>"), Path::Direct, &[3, 4]), Ok(vec![-4]));
    assert_eq!(runner.run(&graph(nodes, "%n#0 : tensor<i32>"), Path::Functional, &[3, 4]), Ok(vec![-4]));
    // What nothing sends is an error when the request ends.
    let text = graph("  %r:2 = tf_executor.Recv key \"x\" : tensor<i32>", "%r#0 : tensor<i32>");
    let (bef, _) = runner.compile(&text, Path::Direct).expect("it compiles");
    let error =
        runner.call_until(bef, &[1, 2], Some(Duration::from_millis(50))).expect_err("nothing was sent");
    assert!(error.contains("deadline"), "{error}");
}

#[test]
fn nodes_run_once_the_last_of_several_branches_chose() {
    let runner = Runner::new();
    let nodes = r#"
  %i:2 = tf_executor.island wraps "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %s:4 = tf_executor._SwitchN %a, %i#0 of 3 : tensor<i32>
  %x:2 = tf_executor.island wraps "tf.Neg"(%s#1) : (tensor<i32>) -> tensor<i32>
  %m:3 = tf_executor.Merge %s#0, %x#0 : tensor<i32>"#;
    for path in PATHS {
        assert_eq!(runner.run(&graph(nodes, "%m#0 : tensor<i32>"), path, &[3, 4]), Ok(vec![-3]));
    }
}

#[test]
fn graphs_that_cannot_run_are_errors() {
    let runner = Runner::new();
    let exit = graph("  %e:2 = tf_executor.Exit %a : tensor<i32>", "%e#0 : tensor<i32>");
    for path in PATHS {
        let error = runner.compile(&exit, path).expect_err("it leaves no frame");
        assert!(
            error.contains("graph.mlir:4") && error.contains("in no frame that it could leave"),
            "{error}"
        );
    }
    let mixed = graph(
        "  %e:2 = tf_executor.Enter %a frame \"f\" : tensor<i32>\n  %n:2 = tf_executor.island wraps \"tf.Select\"(%p#0, %e#0, \
         %e#0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>",
        "%n#0, %p#1 : tensor<i32>, !tf_executor.control",
    );
    let error = runner.compile(&mixed, Path::Functional).expect_err("it mixes frames");
    assert!(error.contains("takes inputs from several frames"), "{error}");
}
