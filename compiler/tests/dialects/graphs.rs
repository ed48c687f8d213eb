//! Texts that are right.

use super::assert_round_trip;

/// The loop of the dialects' description, made concrete: it counts down to zero.
pub(crate) const COUNT_DOWN: &str = r#"
func @main(%count: tensor<i32>) -> tensor<i32> {
  %result = tf_executor.graph {
    %one, %c0 = tf_executor.island wraps "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %zero, %c1 = tf_executor.island wraps "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %one_in, %c2 = tf_executor.Enter %one frame "loop" constant : tensor<i32>
    %zero_in, %c3 = tf_executor.Enter %zero frame "loop" constant : tensor<i32>
    %init, %c4 = tf_executor.Enter %count frame "loop" parallel_iterations 4 : tensor<i32>
    %next, %token, %c5 = tf_executor.NextIteration.Source : tensor<i32>
    %current, %index, %c6 = tf_executor.Merge %init, %next : tensor<i32>
    %left, %c7 = tf_executor.island wraps "tf.NotEqual"(%current, %zero_in) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %cond, %c8 = tf_executor.LoopCond %left : tensor<i1>
    %done, %body, %c9 = tf_executor.Switch %current, %cond : tensor<i32>
    %less, %c10 = tf_executor.island wraps "tf.Sub"(%body, %one_in) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink [%token] %less, %c9 : tensor<i32>
    %exit, %c11 = tf_executor.Exit %done : tensor<i32>
    tf_executor.fetch %exit : tensor<i32>
  }
  return %result : tensor<i32>
}
"#;

#[test]
fn a_loop_comes_back_as_it_was() {
    let printed = assert_round_trip(COUNT_DOWN);
    for part in [
        "tf_executor.Enter %outputs frame \"loop\" constant : tensor<i32>",
        "frame \"loop\" parallel_iterations 4 : tensor<i32>",
        "%output_3, %value_index, %control_5 = tf_executor.Merge",
        "tf_executor.island wraps \"tf.NotEqual\"(",
        "tf_executor.NextIteration.Sink [%token] ",
        "tf_executor.LoopCond ",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}

#[test]
fn terminators_may_be_left_out() {
    let printed = assert_round_trip(
        "func @f() {\n tf_executor.graph {\n %c = tf_executor.island {\n }\n }\n return\n}\n",
    );
    assert!(printed.contains("tf_executor.yield") && printed.contains("tf_executor.fetch"), "{printed}");
}

#[test]
fn one_type_is_written_where_it_says_all() {
    let text = r#"
func @f(%a: tensor<*xf32>, %b: tensor<2xf32>, %p: tensor<i1>, %i: tensor<i32>, %c: !tf_executor.control) {
  tf_executor.graph {
    %0:3 = tf_executor.Switch %a, %p, %c : tensor<*xf32>
    %1:3 = tf_executor.Switch %b, %p : (tensor<2xf32>, tensor<i1>) -> (tensor<*xf32>, tensor<2xf32>, !tf_executor.control)
    %2:4 = tf_executor._SwitchN %a, %i of 3 (%c) : tensor<*xf32>
    %3:3 = tf_executor.Merge %0#0, %0#1, %c : tensor<*xf32>
    %4:3 = tf_executor.Merge %0#0 : (tensor<*xf32>) -> (tensor<*xf32>, tensor<i32>, !tf_executor.control)
    %5:2 = tf_executor.Exit %a, %c : tensor<*xf32>
    %6 = tf_executor.ControlTrigger %c, %5#1 {some = 1 : i32}
    %7 = tf_executor.Send %a, %6 key "a\22b" : tensor<*xf32>
    %8:2 = tf_executor.Recv %7 key "a\22b" : tensor<*xf32>
    tf_executor.fetch %7 : !tf_executor.control {last = true}
  } {outer = "x"}
  return
}
"#;
    let printed = assert_round_trip(text);
    for part in [
        ", %arg4 : tensor<*xf32>\n",
        ": (tensor<2xf32>, tensor<i1>) -> (tensor<*xf32>, tensor<2xf32>, !tf_executor.control)\n",
        " of 3 (%arg4) : tensor<*xf32>\n",
        " : (tensor<*xf32>) -> (tensor<*xf32>, tensor<i32>, !tf_executor.control)\n",
        " {some = 1 : i32}\n",
        " key \"a\\22b\" : tensor<*xf32>\n",
        "{last = true}\n",
        "} {outer = \"x\"}\n",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}

#[test]
fn islands_hold_several_ops_and_graphs() {
    assert_round_trip(
        r#"
func @f(%a: tensor<i32>) -> tensor<i32> {
  %r = tf_executor.graph {
    %0:2 = tf_executor.island {
      %x = "tf.Neg"(%a) : (tensor<i32>) -> tensor<i32>
      %y = tf_executor.graph {
        %1:2 = tf_executor.island wraps "tf.Neg"(%x) : (tensor<i32>) -> tensor<i32>
        tf_executor.fetch %1#0 : tensor<i32>
      }
      tf_executor.yield %y : tensor<i32> {k = 1 : i64}
    } {m = 2 : i64}
    tf_executor.fetch %0#0, %0#1 : tensor<i32>, !tf_executor.control
  }
  return %r : tensor<i32>
}
"#,
    );
}

#[test]
fn every_type_comes_back_as_it_was() {
    assert_round_trip(
        r#"
func @f(%0: tensor<2x!tf.string>, %1: tensor<!tf.resource<tensor<4xi32>>>, %2: tensor<*x!tf.variant<tensor<*xf32>, tensor<2x!tf.string>>>,
        %3: tensor<!tf.qint8>, %4: tensor<!tf.quint16>, %5: tensor<?x!tf.f32ref>, %6: tensor<!tf.uint8ref>, %7: tensor<!tf.resource>,
        %8: tensor<!tf.stringref>, %9: tensor<!tf.complex64ref>, %10: tensor<!tf.qint32ref>) {
  return
}
"#,
    );
}

#[test]
fn functional_control_flow_comes_back_as_it_was() {
    assert_round_trip(
        r#"
func @then(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
func @cond(%a: tensor<f32>) -> tensor<i1> {
  %0 = "tf.IsNan"(%a) : (tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func @main(%p: tensor<i1>, %i: tensor<i32>, %a: tensor<f32>) -> tensor<*xf32> {
  %0 = "tf.If"(%p, %a) {then_branch = @then, else_branch = @then, is_stateless = false} : (tensor<i1>, tensor<f32>) -> tensor<*xf32>
  %1 = "tf.While"(%a) {cond = @cond, body = @then} : (tensor<f32>) -> tensor<f32>
  %2 = "tf.Case"(%i, %a) {branches = [@then, @then]} : (tensor<i32>, tensor<f32>) -> tensor<f32>
  %3 = "tf.PartitionedCall"(%2) {f = @then, config = ""} : (tensor<f32>) -> tensor<f32>
  %4 = "tf.StatefulPartitionedCall"(%3) {f = @then} : (tensor<f32>) -> tensor<f32>
  %5 = "tf.IfRegion"(%p) ({
    "tf.Yield"(%4) : (tensor<f32>) -> ()
  }, {
    %6 = "tf.Neg"(%4) : (tensor<f32>) -> tensor<f32>
    "tf.Yield"(%6) : (tensor<f32>) -> ()
  }) {is_stateless = true} : (tensor<i1>) -> tensor<f32>
  %7 = "tf.WhileRegion"(%5) ({
  ^bb0(%x: tensor<f32>):
    %8 = "tf.IsNan"(%x) : (tensor<f32>) -> tensor<i1>
    "tf.Yield"(%8) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<f32>):
    "tf.Yield"(%x) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  %9 = "tf.CaseRegion"(%i) ({
    "tf.Yield"(%7) : (tensor<f32>) -> ()
  }) : (tensor<i32>) -> tensor<f32>
  return %0 : tensor<*xf32>
}
"#,
    );
}
