//! Calls that nest deeply.

use std::fmt::Write;

use crate::support::{Census, QUEUES, builder, run};

/// Functions of which each calls the next and adds one to what it gives.
fn nested(depth: usize, kernel: &str) -> String {
    let mut text = String::new();
    for level in 0..depth {
        let name = if level == 0 { "main".to_owned() } else { format!("f{level}") };
        write!(
            text,
            "func @{name}() -> i32 {{
  %one = tfrt.constant.i32 1
  %x = tfrt.call @f{}() : () -> i32
  %y = \"{kernel}\"(%x, %one) : (i32, i32) -> i32
  tfrt.return %y : i32
}}\n",
            level + 1
        )
        .expect("strings take all text");
    }
    write!(text, "func @f{depth}() -> i32 {{\n  %z = tfrt.constant.i32 0\n  tfrt.return %z : i32\n}}\n")
        .expect("strings take all text");
    text
}

#[test]
fn ten_thousand_nested_calls_return() {
    const DEPTH: usize = 10_000;
    for kernel in ["tfrt.add.i32", "tfrt_test.async_add.i32"] {
        let text = nested(DEPTH, kernel);
        for queue in QUEUES {
            let census = Census::take();
            let runtime = builder(queue).build().expect("a runtime");
            let results = run(&runtime, &text);
            assert_eq!(results[0].get(), Some(&(DEPTH as i32)), "{kernel} on {queue}");
            drop(results);
            assert_eq!(census.newly_alive(), (0, 0), "{kernel} on {queue}");
        }
    }
}
