//! Golden tests: each file `tests/mlir/**/*.mlir` and `examples/*.mlir` holds a program, the
//! commands to run it (`// RUN:`) and what they print (`// CHECK:`). The commands are our own
//! tools, called in this process.
//!
//! A file's whole output may be fixed instead: `// RUN: tool %s | golden %s` compares with the
//! file's `// OUT:` lines. `TFRT_BLESS=1 cargo test --test golden` rewrites those lines to what the
//! tools print now.
//!
//! Every kernel of the runtime and every op must be in one of these programs or of the models':
//! `every_kernel_and_op_has_a_golden_case`.
//!
//! `TFRT_TEST_DEVICE` (`cuda` or `cpu`) names the device of programs that name none. With `cuda`,
//! commands for other devices are left out.
//!
//! Called by the name of one of the tools, or of the device bench, this program is that tool: a GPU
//! machine is sent the runtime once (see `ci/gpu/bundle`).

mod agreement;
mod case;
mod command;
mod coverage;
#[path = "../../benches/device/main.rs"]
mod device_bench;
mod filecheck;
#[path = "../../benches/measure/main.rs"]
mod measure;
mod rechained;

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use libtest_mimic::{Arguments, Trial};
use tfrt::Console;

const FOLDER: &str = "tests/mlir";
/// Programs to learn from.
const EXAMPLES: &str = "examples";
/// Programs with separate tests.
const MODELS: &str = "models";

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&called).file_name().and_then(OsStr::to_str).unwrap_or_default();
    match name {
        "device_bench" => device_bench::main(),
        "measure" => measure::main(),
        _ => match command::run_by_name(name, std::env::args_os(), Console::process()) {
            Some(outcome) => outcome.into(),
            None => run_tests(),
        },
    }
}

fn run_tests() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The executor's leak check counts the values of the process, so that cases run one after the
    // other.
    arguments.test_threads = Some(1);
    let mut files = Vec::new();
    let found = find(Path::new(FOLDER), &mut files).and_then(|()| find(Path::new(EXAMPLES), &mut files));
    if let Err(error) = found {
        files.clear();
        let message = format!("{FOLDER}, {EXAMPLES}: {error}");
        return libtest_mimic::run(&arguments, vec![Trial::test("files", || Err(message.into()))])
            .exit_code();
    }
    files.sort();
    let mut programs = files.clone();
    let models = find(Path::new(MODELS), &mut programs);
    let mut trials = vec![
        Trial::test("filecheck", || Ok(filecheck::self_test()?)),
        Trial::test("every_kernel_and_op_has_a_golden_case", move || {
            models?;
            Ok(coverage::check(&programs)?)
        }),
    ];
    let ops = Arc::new(rechained::operations());
    for file in files.iter().filter(|file| rechained::applies(file)) {
        let name = file.strip_prefix(FOLDER).unwrap_or(file).with_extension("");
        let (ordered, ops_of_ordered) = (file.clone(), ops.clone());
        trials.push(Trial::test(format!("chains of {}", name.display()), move || {
            Ok(rechained::check_chains(&ordered, &ops_of_ordered)?)
        }));
        let (file, ops) = (file.clone(), ops.clone());
        trials.push(Trial::test(format!("{} rechained", name.display()), move || {
            Ok(rechained::run(&file, &ops)?)
        }));
    }
    for file in files.iter().filter(|file| agreement::applies(file)) {
        let name = file.strip_prefix(FOLDER).unwrap_or(file).with_extension("");
        let (file, ops) = (file.clone(), ops.clone());
        trials.push(Trial::test(format!("{} proved", name.display()), move || {
            Ok(agreement::check(&file, &ops)?)
        }));
    }
    trials.extend(files.into_iter().map(|file| {
        let name = file.strip_prefix(FOLDER).unwrap_or(&file).with_extension("");
        let is_for_others = !case::has_commands(&file);
        Trial::test(name.to_string_lossy(), move || Ok(case::run(&file)?)).with_ignored_flag(is_for_others)
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            files.push(path);
        }
    }
    Ok(())
}
