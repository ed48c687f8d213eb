//! Whatever the text: no panic, no overflow, an end soon.

use crate::common::{errors, registry};
use proptest::prelude::*;
use tfrt_ir::{MAX_DIAGNOSTICS, ParseOptions, PrintOptions, Source, parse_module, print_module, render};

/// A text that uses most of the grammar.
const SAMPLE: &str = r##"#alias = {a = [1 : i8, -2.5, "s\n\22", @x::@"y z"], b}
!t = tensor<2x?xf32>
module @m attributes {k = #alias, d = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} {
  func private @ext(i32 {x.a}, !t) -> (f32, !foo.bar<a, (b)>) attributes {tfrt.native}
  func @f(%x: i32, %c: !tfrt.chain, %b: i1) -> i32 {
    %0:2 = "two"(%x) ({
    ^bb0(%p: i32):
      "in"(%p, %x) : (i32, i32) -> ()
    }, {}) {s = #corert.shape<1x?>, c = dense<(1., 2.)> : tensor<complex<f64>>} : (i32) -> (i32, f32) loc("f":1:2)
    %1 = tfrt.if %b, %0#0 attributes {q} : (i32) -> (i32) {
      tfrt.return %0#0 : i32
    } else {
      %2 = tfrt.add.i32 %0, %0 // comment
      tfrt.return %2 : i32
    }
    %h = corert.get_op_handler %c "cpu"
    %r:2 = corert.executeop(%h) "tf.X"() {z = 1, a = true} {f = "g"} : 2
    %ch = tfrt_test.benchmark "n"(%x : i32) max_count = 1, duration_secs = 2 {
      tfrt.return %x : i32
    }
    %l = test.launch %c %u {handle = 1 : ui64} (%x) : (i32)
    %u = tfrt.constant.ui32 1
    %call = tfrt.call @f(%x, %c, %b) : (i32, !tfrt.chain, i1) -> i32 loc(callsite("a" at fused<1>[unknown]))
    tfrt.return %call : i32
  }
}
"##;

/// Parses, and if that works prints and parses again; otherwise renders the errors.
fn exercise(text: &[u8]) {
    let registry = registry();
    let source = Source::new("hostile.mlir", text);
    match parse_module(&source, registry, &ParseOptions::default()) {
        Ok(module) => {
            let printed = print_module(&module, registry, PrintOptions::default());
            let again =
                parse_module(&Source::new("printed", printed.as_str()), registry, &ParseOptions::default());
            let again = again.expect(&printed);
            assert_eq!(print_module(&again, registry, PrintOptions::default()), printed);
        }
        Err(diagnostics) => {
            assert!(diagnostics.has_errors() && diagnostics.len() <= MAX_DIAGNOSTICS);
            assert!(!render(&diagnostics, &[&source], false).is_empty());
        }
    }
}

#[test]
fn the_sample_parses_but_for_one_error() {
    let found = errors(SAMPLE);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("operand #1 does not dominate"), "{found:?}");
}

#[test]
fn every_prefix_of_a_text() {
    for end in 0..SAMPLE.len() {
        exercise(&SAMPLE.as_bytes()[..end]);
    }
}

#[test]
fn every_text_with_one_byte_gone_or_changed() {
    for at in 0..SAMPLE.len() {
        let mut text = SAMPLE.as_bytes().to_vec();
        text.remove(at);
        exercise(&text);
        for byte in *b"({[<>]}),%#!@\"\\:=0x\xFF\0" {
            let mut text = SAMPLE.as_bytes().to_vec();
            text[at] = byte;
            if at % 7 == usize::from(byte) % 7 {
                exercise(&text);
            }
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for open in [
        "(",
        "[",
        "{",
        "<",
        "{a = [",
        "{a = {b = ",
        "\"x\"() ({",
        "tuple<",
        "complex<",
        "!a.b<(",
        "loc(\"a\"(",
    ] {
        let nested = open.repeat(100_000 / open.len());
        for prefix in ["", "\"x\"() {a = ", "\"x\"() : () -> ", "\"x\"() {a = dense<", "%0 = "] {
            exercise(format!("{prefix}{nested}").as_bytes());
        }
    }
    let regions = format!("{}{}", "\"x\"() ({\n".repeat(20_000), "}) : () -> ()\n".repeat(20_000));
    let found = errors(&regions);
    assert!(found.iter().any(|(_, message)| message.contains("levels deep")), "{found:?}");
}

#[test]
fn nesting_up_to_the_limit_is_fine() {
    let depth = tfrt_ir::MAX_DEPTH - 1;
    let text = format!("{}{}", "\"x\"() ({\n".repeat(depth), "}) : () -> ()\n".repeat(depth));
    assert_eq!(errors(&text), []);
    let text = format!("\"x\"() {{a = {}{}}} : () -> ()", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(errors(&text), []);
    let bodies = |n: usize| {
        format!(
            "{}{}",
            "tfrt.repeat.i32 %n {\n%n = tfrt.constant.i32 1\n".repeat(n),
            "tfrt.return }\n".repeat(n)
        )
    };
    let text = format!("func @f(%n: i32) {{\n{}tfrt.return\n}}", bodies(depth - 1));
    assert_eq!(errors(&text), []);
}

#[test]
fn aliases_of_aliases_are_bounded() {
    let deep: String = (1..1000).map(|n| format!("#a{n} = [#a{}]\n", n - 1)).collect();
    let found = errors(&format!("#a0 = 1\n{deep}\"x\"() {{v = #a999}} : () -> ()"));
    assert!(
        found.iter().all(|(_, message)| message.contains("levels deep")) && !found.is_empty(),
        "{found:?}"
    );
    let found = errors(&format!("\"x\"() {{v = #a999}} : () -> ()\n{deep}#a0 = 1\n"));
    assert!(
        found.iter().all(|(_, message)| message.contains("levels deep")) && !found.is_empty(),
        "{found:?}"
    );
    let wide: String = (1..60).map(|n| format!("!a{n} = tuple<!a{}, !a{}>\n", n - 1, n - 1)).collect();
    let found = errors(&format!("!a0 = i32\n{wide}\"x\"() : () -> !a59"));
    assert!(found.iter().all(|(_, message)| message.contains("expand to more than")), "{found:?}");
    assert!(!found.is_empty());
}

#[test]
fn long_names_and_many_errors_are_bounded() {
    let found = errors(&format!("\"x\"(%{}) : () -> ()", "a".repeat(5000)));
    assert!(found[0].1.contains("longer than 4096 bytes"), "{found:?}");
    assert_eq!(errors(&"a.oops\n".repeat(10_000)).len(), MAX_DIAGNOSTICS);
    assert_eq!(errors(&"}\n".repeat(10_000)).len(), MAX_DIAGNOSTICS);
    exercise(&vec![b'%'; 100_000]);
    exercise(&vec![0xFF; 1 << 20]);
    exercise(&vec![0; 1 << 20]);
    exercise("%a, ".repeat(100_000).as_bytes());
    exercise(format!("%a:{}", "1".repeat(100_000)).as_bytes());
    exercise("\"x\"() {a = -".as_bytes());
    exercise("%a:65536 = \"x\"() : () -> ()\n%b:65537 = \"x\"() : () -> ()".as_bytes());
    exercise(
        "%h = \"h\"() : () -> !corert.ophandler\n%r = corert.executeop(%h) \"a\"() : 4000000000".as_bytes(),
    );
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        exercise(&bytes);
    }

    #[test]
    fn random_tokens(picks in prop::collection::vec(0usize..TOKENS.len(), 0..200)) {
        let text: String = picks.iter().map(|&pick| format!("{} ", TOKENS[pick])).collect();
        exercise(text.as_bytes());
    }

    #[test]
    fn shuffled_samples(cuts in prop::collection::vec((0..SAMPLE.len(), 0usize..60), 1..20)) {
        let mut text = Vec::new();
        for (start, length) in cuts {
            text.extend_from_slice(&SAMPLE.as_bytes()[start..(start + length).min(SAMPLE.len())]);
        }
        exercise(&text);
    }
}

const TOKENS: &[&str] = &[
    "func",
    "@f",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "->",
    ":",
    ",",
    "=",
    "%0",
    "%1:2",
    "%1#1",
    "\"x\"",
    "i32",
    "1",
    "-",
    "2.5",
    "tfrt.return",
    "tfrt.add.i32",
    "tfrt.if",
    "else",
    "\n",
    "dense",
    "tensor<2xi32>",
    "!a.b",
    "#a",
    "loc",
    "attributes",
    "tfrt.call",
    "corert.executeop",
    "^bb0",
    "module",
    "true",
    "unknown",
    "tfrt.repeat.i32",
    "test.launch",
    "tfrt.constant.f32",
];
