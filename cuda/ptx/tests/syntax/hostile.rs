//! Texts that mean harm, or are broken: they end in a module or in errors, in time that grows as
//! they do.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tfrt_ptx::{
    MAX_ERRORS,
    syntax::{MAX_DEPTH, MAX_NAME_BYTES, parse},
};

use super::{errors, kernel, text};

/// All PTX files of the tests; under Miri, the shortest.
fn corpus() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for folder in ["tests/corpus/ptx", "tests/triton/ptx"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("the folder can be read").path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    assert!(paths.len() >= 40, "the corpus is missing");
    if cfg!(miri) {
        paths.sort_by_key(|path| fs::metadata(path).map_or(u64::MAX, |metadata| metadata.len()));
        paths.truncate(1);
    }
    let read = |path: &PathBuf| fs::read_to_string(path).expect("it is text");
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// Errors have places within the text, in its order.
fn check(text: &str) {
    let Err(errors) = parse(text) else { return };
    let lines = text.lines().count() as u32;
    let mut last = None;
    for error in &errors {
        assert!(error.span.line >= 1 && error.span.line <= lines + 1 && error.span.column >= 1, "{error}");
        assert!(Some(error.span) >= last, "{errors}");
        last = Some(error.span);
    }
}

#[test]
fn the_corpus_is_sound() {
    for (path, text) in corpus() {
        if let Err(errors) = parse(&text) {
            panic!("{path}:\n{errors}");
        }
    }
}

/// Every file, cut at places spread over it, each file at others.
#[test]
fn truncated_files() {
    const CUTS: usize = if cfg!(miri) { 1 } else { 20 };
    for (number, (path, text)) in corpus().iter().enumerate() {
        for cut in 0..CUTS {
            let end = (text.len() * cut / CUTS + 7 * number + 1).min(text.len() - 1);
            let cut = &text[..text.floor_char_boundary(end)];
            check(cut);
            let in_function = cut.matches("\n{").count() > cut.matches("\n}").count();
            assert!(!in_function || !errors(cut).is_empty(), "{path} cut at {end} is still a module");
        }
    }
}

/// Every file without one of its lines, or with a line twice.
#[test]
fn lines_left_out_and_doubled() {
    const LINES: usize = if cfg!(miri) { 1 } else { 12 };
    for (number, (_, text)) in corpus().iter().enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        for sample in 0..LINES {
            let line = (lines.len() * sample / LINES + number) % lines.len();
            let mut changed = lines.clone();
            changed.remove(line);
            check(&changed.join("\n"));
            changed.insert(line, lines[line]);
            changed.insert(line, lines[line]);
            check(&changed.join("\n"));
        }
    }
}

/// Every file with bytes changed at random.
#[test]
fn bytes_changed() {
    const ROUNDS: usize = if cfg!(miri) { 1 } else { 15 };
    let mut random = fastrand::Rng::with_seed(7);
    let signs = b";:,{}()[]<>@!%.$_|\"/*+- \n0xfU\xe9";
    for (_, text) in corpus() {
        for _ in 0..ROUNDS {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..random.usize(1..8) {
                let position = random.usize(..bytes.len());
                bytes[position] = signs[random.usize(..signs.len())];
            }
            check(&String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn deep_nesting() {
    let blocks = |depth: usize| kernel(&format!("{}{}", "{".repeat(depth), "}".repeat(depth)));
    assert_eq!(errors(&blocks(MAX_DEPTH - 1)), Vec::<String>::new());
    assert_eq!(errors(&blocks(MAX_DEPTH)), ["3:100: blocks are nested deeper than 100 levels"]);
    assert_eq!(errors(&kernel(&"{".repeat(1_000_000))), ["3:100: blocks are nested deeper than 100 levels"]);
    let expression =
        |depth: usize| kernel(&format!("mov.b32 %r1, {}1{};", "(".repeat(depth), ")".repeat(depth)));
    assert_eq!(errors(&expression(MAX_DEPTH)), Vec::<String>::new());
    assert_eq!(errors(&expression(100_000)), ["3:115: the expression is nested deeper than 100 levels"]);
    for repeated in ["-", "1?1:", "1?", "~!", "(.s64)"] {
        check(&kernel(&format!("mov.b32 %r1, {}1;", repeated.repeat(100_000))));
    }
    check(&text(&format!(".global .u32 x{} = {};", "[1]".repeat(100_000), "{".repeat(100_000))));
    check(&text(&format!(".global .u32 x{} = {};", "[1]".repeat(MAX_DEPTH), "{".repeat(100_000))));
}

#[test]
fn long_names() {
    let name = "x".repeat(MAX_NAME_BYTES);
    assert_eq!(errors(&text(&format!(".global .u32 {name};"))), Vec::<String>::new());
    assert_eq!(
        errors(&text(&format!(".global .u32 {name}x;"))),
        ["2:14: the name is longer than 65536 bytes"]
    );
    let [error] = &errors(&text(&format!(".global .u64 y = {name};")))[..] else { panic!() };
    assert!(error.len() < 300, "{error}");
}

#[test]
fn many_errors() {
    let body: String = (0..200).map(|number| format!("mov.b32 x{number}, 1;\n")).collect();
    let text = kernel(&body);
    let found = parse(&text).expect_err("nothing is declared");
    assert_eq!(found.len(), MAX_ERRORS);
    assert!(found.is_truncated());
    assert!(found.to_string().ends_with("and more: only the first 100 errors are shown"));
}

/// Much of anything takes little time. The bound is a hundred times what it takes, so that it fails
/// only where time grows faster than the text.
#[test]
fn time_grows_as_the_text() {
    let patterns = [
        "\0",
        "{",
        "}",
        "(",
        "[",
        "/*",
        "\"",
        "#",
        "@",
        ";",
        "é",
        "a ",
        "a:",
        ".b ",
        ".reg .b32 ",
        "L: bra L; ",
        "{ bra M; ",
        "1+",
        "1?1:",
        ".version 8.0\n",
        ".target\n",
        ".visible ",
        ".entry k() {",
        ".loc 1 1 1\n",
        ".global .u32 x;",
        ".extern .func f(); ",
        ".section .debug_x {",
        "mov.b32 %r1, %r2;\n",
        "%r1 ",
        "\n",
        "#\n",
        "# 1 \"\n",
        "*/",
        "::",
        "{ .reg .b32 %r<9>; ",
        "x[1]",
        ".x::y",
        "0f",
        "0x",
        "1e",
        ".file 1 \"a\"\n",
    ];
    let bytes = if cfg!(miri) { 1 << 8 } else { 1 << 18 };
    for pattern in patterns {
        let repeated = pattern.repeat(bytes / pattern.len());
        for text in [repeated.clone(), text(&repeated), kernel(&repeated)] {
            let start = Instant::now();
            check(&text);
            assert!(start.elapsed() < Duration::from_secs(60), "{pattern:?} takes {:?}", start.elapsed());
        }
    }
}

/// Modules with many functions, kernels, variables, labels or branches are loaded in time that
/// grows as they do.
#[test]
fn many_of_everything() {
    const COUNT: usize = if cfg!(miri) { 8 } else { 20_000 };
    let list = |item: &dyn Fn(usize) -> String| (0..COUNT).map(item).collect::<String>();
    let last = COUNT - 1;
    let chain = list(&|i| match i {
        0 => ".func f0() { .local .b32 x; ret; }\n".to_owned(),
        i => format!(".func f{i}() {{ .local .b32 x; call f{}; ret; }}\n", i - 1),
    });
    let modules = [
        format!("{chain}.entry k() {{ call f{last}; ret; }}"),
        list(&|i| format!(".entry k{i}() {{ ret; }}\n")),
        list(&|i| format!(".global .b32 g{i} = {i};\n")),
        format!(".entry k() {{ {} ret; }}", list(&|i| format!(".local .b8 x{i}; L{i}:\n"))),
        format!(".entry k() {{ .reg .pred %p; {} ret; }}", list(&|i| format!("L{i}: @%p bra L{};\n", i / 2))),
        format!(
            ".entry k() {{ .reg .pred %p; {} {} ret; }}",
            list(&|i| format!("@%p bra L{};\n", last - i)),
            list(&|i| format!("L{i}:\n"))
        ),
        format!(
            ".entry k() {{ .reg .b32 %r<3>; {} ret; }}",
            list(&|i| format!("t{i}: .branchtargets A{i}, B{i}; brx.idx %r1, t{i}; A{i}: B{i}:\n"))
        ),
    ];
    for module in modules {
        let (start, shown) = (Instant::now(), module[module.len() - 60..].to_owned());
        tfrt_ptx::Module::parse(&text(&module)).unwrap_or_else(|errors| panic!("{shown}: {errors}"));
        assert!(start.elapsed() < Duration::from_secs(60), "{shown} takes {:?}", start.elapsed());
    }
}

/// Names that are found in the outermost of many blocks, or nowhere.
#[test]
fn names_of_outer_blocks() {
    let depth = MAX_DEPTH - 2;
    let count = if cfg!(miri) { 10 } else { 20_000 };
    let body = format!(
        "{}{}{}",
        "{ .reg .b32 %q<3>; ".repeat(depth),
        "mov.b32 %r1, %r2; bra far;\n".repeat(count),
        "}".repeat(depth)
    );
    check(&kernel(&body));
    assert_eq!(errors(&kernel(&format!("{body} far:"))), Vec::<String>::new());
}
