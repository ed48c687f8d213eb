//! Programs that call workers over real sockets: each file in `tests/programs`, and the example for
//! users, says how many workers it needs and, in `// OUT:` lines, what `tfrt run` prints. `TFRT_BLESS=1` rewrites these
//! lines. Of the numbers of workers that a file lists, the first and the last are tried, or all
//! with `TFRT_TEST_WORKERS=all`.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod cluster;

use std::{fs, path::Path};

use cluster::Workers;

const OUT: &str = "// OUT:";

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .find_map(|line| line.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).unwrap();
    let mut failures = String::new();
    let counts: Vec<_> = field(&text, "WORKERS").unwrap().split_whitespace().collect();
    let is_tried = |place: usize| {
        place == 0 || place + 1 == counts.len() || std::env::var_os("TFRT_TEST_WORKERS").is_some()
    };
    for (_, count) in counts.iter().enumerate().filter(|(place, _)| is_tried(*place)) {
        let workers = Workers::start(count.parse().unwrap(), "");
        let options: Vec<_> = field(&text, "OPTIONS").unwrap_or_default().split_whitespace().collect();
        let code: String =
            text.lines().filter(|line| !line.starts_with(OUT)).map(|line| format!("{line}\n")).collect();
        let printed = workers.run_text(&code, &options);
        let now: Vec<_> = printed.lines().map(|line| format!("{OUT} {line}").trim_end().to_owned()).collect();
        let then: Vec<_> = text.lines().filter(|line| line.starts_with(OUT)).collect();
        if now == then {
            continue;
        }
        if std::env::var_os("TFRT_BLESS").is_some() {
            fs::write(path, format!("{}\n\n{}\n", code.trim_end(), now.join("\n"))).unwrap();
            return Ok(());
        }
        failures += &format!("{} with {count} workers printed\n{}\n", path.display(), now.join("\n"));
    }
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

#[test]
fn programs_print_what_they_should() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = fs::read_dir(here.join("tests/programs")).unwrap();
    let mut files: Vec<_> = programs.map(|entry| entry.unwrap().path()).collect();
    files.push(here.join("../../examples/remote.mlir"));
    files.retain(|file| {
        std::env::var("TFRT_ONLY").map_or(true, |only| file.to_string_lossy().contains(&only))
    });
    files.sort();
    let failures: Vec<_> = files.iter().filter_map(|file| check(file).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
