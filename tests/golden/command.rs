//! One command of a `RUN` line.
//!
//! Beside our tools there are `FileCheck FILE` and `golden FILE`, which look at their input; `cat
//! FILE`; and `not`, which turns success into failure; and `alone`, which runs a tool in a separate
//! process. `%s` is the golden file, `%t` a scratch file, `$(bef_name %s)` the file's binary form;
//! `2>&1` joins the streams.

use std::{
    ffi::OsString,
    io::{Cursor, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::Stdio,
};

use tfrt::{
    Console, SharedWriter,
    tools::{self, Outcome},
};

use crate::{
    case::{BINARY, bef_of},
    filecheck,
};

/// A program's name, its arguments, and what to do with its streams and result.
pub(crate) struct Command {
    program: String,
    arguments: Vec<String>,
    joined: bool,
    negated: bool,
    is_alone: bool,
}

/// A command that has run.
pub(crate) struct Finished {
    pub(crate) succeeded: bool,
    pub(crate) output: Vec<u8>,
    pub(crate) error: Vec<u8>,
}

impl Command {
    pub(crate) fn parse(stage: &str, file: &Path, scratch: &Path) -> Result<Self, String> {
        let mut stage = stage.to_owned();
        if stage.contains(BINARY) {
            stage = stage.replace(BINARY, &bef_of(file, scratch)?);
        }
        let stage = stage
            .replace("%s", &file.to_string_lossy())
            .replace("%t", &scratch.join("scratch").to_string_lossy());
        let mut words: Vec<_> = stage.split_whitespace().map(str::to_owned).collect();
        let joined = words.iter().any(|word| word == "2>&1");
        words.retain(|word| word != "2>&1");
        let negated = words.first().is_some_and(|word| word == "not");
        words.drain(..usize::from(negated));
        let is_alone = words.first().is_some_and(|word| word == "alone");
        words.drain(..usize::from(is_alone));
        if words.is_empty() {
            return Err("an empty command".to_owned());
        }
        let program = words.remove(0);
        if let Some(device) = device()
            && program == "bef_executor"
            && !words.iter().any(|word| word.starts_with("--device"))
        {
            words.insert(0, format!("--device={device}"));
        }
        Ok(Self { program, arguments: words, joined, negated, is_alone })
    }

    pub(crate) fn run(self, input: Vec<u8>) -> Result<Finished, String> {
        let mut finished = match self.program.as_str() {
            "FileCheck" => file_check(&self.arguments, &input),
            "golden" => golden(&self.arguments, &input),
            "cat" => cat(&self.arguments),
            name if self.is_alone => run_alone(name, &self.arguments, &input),
            name => run_tool(name, self.arguments, input, self.joined),
        }?;
        finished.succeeded ^= self.negated;
        Ok(finished)
    }
}

/// The device that programs run on which name none.
fn device() -> Option<String> {
    std::env::var("TFRT_TEST_DEVICE").ok()
}

/// Whether a command is for the device that tests run on: on a GPU, those for other devices are
/// left out.
pub(crate) fn is_for_device(line: &str) -> bool {
    device().is_none_or(|device| {
        device != "cuda" || !["--device", "--check", "--cpu"].iter().any(|other| line.contains(other))
    })
}

/// Runs one of our tools in a separate process, because it leaves the device unusable: this program
/// by the tool's name.
fn run_alone(name: &str, arguments: &[String], input: &[u8]) -> Result<Finished, String> {
    let text = |error: std::io::Error| error.to_string();
    let mut command = std::process::Command::new(std::env::current_exe().map_err(text)?);
    command.arg0(name).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(text)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input).map_err(text)?;
    }
    let output = child.wait_with_output().map_err(text)?;
    Ok(Finished { succeeded: output.status.success(), output: output.stdout, error: output.stderr })
}

/// Runs one of our tools in this process.
pub(crate) fn tool(name: &str, arguments: Vec<String>, input: Vec<u8>) -> Result<Finished, String> {
    run_tool(name, arguments, input, false)
}

fn run_tool(name: &str, arguments: Vec<String>, input: Vec<u8>, joined: bool) -> Result<Finished, String> {
    let (output, printed) = SharedWriter::buffer();
    let (mut error, complaints) = SharedWriter::buffer();
    if joined {
        error = output.clone();
    }
    let console = Console::new(Cursor::new(input), output, error);
    let arguments = std::iter::once(name.to_owned()).chain(arguments).map(OsString::from);
    let outcome = run_by_name(name, arguments, console);
    let outcome = outcome.ok_or_else(|| format!("'{name}' is none of our tools"))?;
    let (output, error) = (printed.lock().clone(), complaints.lock().clone());
    Ok(Finished { succeeded: outcome == Outcome::Fine, output, error })
}

/// Runs the tool of this name, if there is one; the first argument is how it was called.
pub(crate) fn run_by_name(
    name: &str,
    arguments: impl Iterator<Item = OsString>,
    console: Console,
) -> Option<Outcome> {
    Some(match name {
        "bef_executor" => tools::bef_executor::run(arguments, console),
        "tfrt_translate" => tools::translate::run(arguments, console),
        "tfrt" => tools::cli::run(arguments, console),
        "tfrt_opt" => tools::opt::run(arguments, console),
        _ => return None,
    })
}

fn file_check(arguments: &[String], input: &[u8]) -> Result<Finished, String> {
    let prefix = arguments.iter().find_map(|argument| argument.strip_prefix("--check-prefix="));
    let file = arguments.iter().find(|argument| !argument.starts_with('-'));
    let file = file.ok_or("FileCheck needs a file")?;
    let checks = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let checked = filecheck::check(&checks, prefix.unwrap_or("CHECK"), &String::from_utf8_lossy(input));
    let error = checked.err();
    Ok(Finished {
        succeeded: error.is_none(),
        output: Vec::new(),
        error: error.map_or_else(Vec::new, |message| format!("{file}: {message}").into_bytes()),
    })
}

fn cat(arguments: &[String]) -> Result<Finished, String> {
    let mut output = Vec::new();
    for file in arguments {
        output.extend(std::fs::read(file).map_err(|error| format!("{file}: {error}"))?);
    }
    Ok(Finished { succeeded: true, output, error: Vec::new() })
}

const OUT: &str = "// OUT:";

/// Compares the whole input with the file's `// OUT:` lines, or makes them so.
fn golden(arguments: &[String], input: &[u8]) -> Result<Finished, String> {
    let file = arguments.first().ok_or("golden needs a file")?;
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let printed = String::from_utf8_lossy(input);
    let now: Vec<_> = printed.lines().map(|line| format!("{OUT} {line}").trim_end().to_owned()).collect();
    let then: Vec<_> = text.lines().filter(|line| line.starts_with(OUT)).map(str::trim_end).collect();
    let mut error = Vec::new();
    if now != then {
        if std::env::var_os("TFRT_BLESS").is_some() {
            let program: Vec<_> = text.lines().filter(|line| !line.starts_with(OUT)).collect();
            let blessed = format!("{}\n\n{}\n", program.join("\n").trim_end(), now.join("\n"));
            std::fs::write(file, blessed).map_err(|error| format!("{file}: {error}"))?;
        } else {
            let at = now.iter().zip(&then).take_while(|(now, then)| now == *then).count();
            let line = |lines: Option<String>| lines.unwrap_or_else(|| "(the end)".to_owned());
            error = format!(
                "{file}: output line {} is\n  {}\nbut should be\n  {}\n(TFRT_BLESS=1 makes the output right)",
                at + 1,
                line(now.get(at).cloned()),
                line(then.get(at).map(|line| (*line).to_owned())),
            )
            .into_bytes();
        }
    }
    Ok(Finished { succeeded: error.is_empty(), output: Vec::new(), error })
}
