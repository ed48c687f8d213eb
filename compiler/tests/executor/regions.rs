//! Regions, cases and calls, run as functions.

use crate::runner::{Path, Runner};

/// The function of the dialect's description, made concrete: the condition is a function's result.
const SOME_FUNCTION: &str = r#"
func @main(%input: tensor<*xi32>) -> tensor<*xi32> {
  %added = "tf.Add"(%input, %input) : (tensor<*xi32>, tensor<*xi32>) -> tensor<*xi32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %mul = "tf.Mul"(%input, %three) : (tensor<*xi32>, tensor<i32>) -> tensor<*xi32>
  %cond = "tf.PartitionedCall"(%added, %mul) {f = @cond_func} : (tensor<*xi32>, tensor<*xi32>) -> tensor<i1>
  %value = "tf.If"(%cond, %added, %mul) {then_branch = @func_foo, else_branch = @func_bar} : (tensor<i1>, tensor<*xi32>, tensor<*xi32>) -> tensor<*xi32>
  return %value : tensor<*xi32>
}
func @cond_func(%added: tensor<*xi32>, %mul: tensor<*xi32>) -> tensor<i1> {
  %axes = "tf.Const"() {value = dense<[]> : tensor<0xi32>} : () -> tensor<0xi32>
  %less = "tf.Less"(%added, %mul) : (tensor<*xi32>, tensor<*xi32>) -> tensor<*xi1>
  %all = "tf.All"(%less, %axes) : (tensor<*xi1>, tensor<0xi32>) -> tensor<i1>
  return %all : tensor<i1>
}
func @func_foo(%added: tensor<*xi32>, %mul: tensor<*xi32>) -> tensor<*xi32> {
  %r = "tf.Sub"(%mul, %added) : (tensor<*xi32>, tensor<*xi32>) -> tensor<*xi32>
  return %r : tensor<*xi32>
}
func @func_bar(%added: tensor<*xi32>, %mul: tensor<*xi32>) -> tensor<*xi32> {
  %r = "tf.Neg"(%mul) : (tensor<*xi32>) -> tensor<*xi32>
  return %r : tensor<*xi32>
}
"#;

#[test]
fn the_function_of_the_description_runs() {
    let runner = Runner::new();
    for (input, expected) in [(5, 5), (-5, 15), (0, 0)] {
        assert_eq!(runner.run(SOME_FUNCTION, Path::Functional, &[input]), Ok(vec![expected]), "{input}");
    }
}

/// A loop over a case, with a conditional in one of its branches: all of them regions.
const REGIONS: &str = r#"
func @main(%n: tensor<i32>, %step: tensor<i32>) -> tensor<i32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %r:2 = "tf.WhileRegion"(%zero, %zero) ({
  ^bb0(%i: tensor<i32>, %sum: tensor<i32>):
    %more = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %sum: tensor<i32>):
    %kind = "tf.FloorMod"(%i, %three) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %next = "tf.CaseRegion"(%kind) ({
      %a = "tf.AddV2"(%sum, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tf.Yield"(%a) : (tensor<i32>) -> ()
    }, {
      %large = "tf.Greater"(%sum, %three) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %b = "tf.IfRegion"(%large) ({
        %half = "tf.FloorDiv"(%sum, %three) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "tf.Yield"(%half) : (tensor<i32>) -> ()
      }, {
        "tf.Yield"(%sum) : (tensor<i32>) -> ()
      }) : (tensor<i1>) -> tensor<i32>
      "tf.Yield"(%b) : (tensor<i32>) -> ()
    }, {
      %c = "tf.Mul"(%sum, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tf.Yield"(%c) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    %j = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "tf.Yield"(%j, %next) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return %r#1 : tensor<i32>
}
"#;

/// What the loop computes.
fn expected(n: i32, step: i32) -> i32 {
    (0..n).fold(0, |sum, i| match i % 3 {
        0 => sum + step,
        1 if sum > 3 => sum.div_euclid(3),
        1 => sum,
        _ => sum * i,
    })
}

#[test]
fn regions_give_what_their_functions_give() {
    let runner = Runner::new();
    for path in [Path::Functional, Path::Compiled] {
        for (n, step) in [(0, 4), (1, 4), (2, 9), (3, 9), (11, 2), (14, -3)] {
            assert_eq!(
                runner.run(REGIONS, path, &[n, step]),
                Ok(vec![expected(n, step)]),
                "{path:?} {n} {step}"
            );
        }
    }
}

#[test]
fn numbers_out_of_range_choose_the_last_branch() {
    let text = r#"
func @main(%i: tensor<i32>, %x: tensor<i32>) -> tensor<i32> {
  %y = "tf.Case"(%i, %x) {branches = [@a, @b, @c]} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %y : tensor<i32>
}
func @a(%x: tensor<i32>) -> tensor<i32> { return %x : tensor<i32> }
func @b(%x: tensor<i32>) -> tensor<i32> {
  %y = "tf.Neg"(%x) : (tensor<i32>) -> tensor<i32>
  return %y : tensor<i32>
}
func @c(%x: tensor<i32>) -> tensor<i32> {
  %y = "tf.Square"(%x) : (tensor<i32>) -> tensor<i32>
  return %y : tensor<i32>
}
"#;
    let runner = Runner::new();
    for (index, expected) in [(0, 7), (1, -7), (2, 49), (3, 49), (-1, 49)] {
        assert_eq!(runner.run(text, Path::Functional, &[index, 7]), Ok(vec![expected]), "{index}");
    }
}
