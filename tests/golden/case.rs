//! One golden file: its `RUN` lines, each a pipeline of our tools.

use std::path::Path;

use crate::command::{self, Command, Finished};

/// Runs a file's commands.
///
/// # Errors
/// The first command that does not do what it should.
pub(crate) fn run(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let commands: Vec<_> =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("// RUN:")).map(str::trim).collect();
    if commands.is_empty() {
        return Err("the file has no '// RUN:' line".to_owned());
    }
    let commands = commands.into_iter().filter(|line| command::is_for_device(line));
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    for line in commands {
        pipeline(line, file, scratch.path()).map_err(|error| format!("RUN: {line}\n{error}"))?;
    }
    Ok(())
}

/// Stands for the binary form of a program.
pub(crate) const BINARY: &str = "$(bef_name %s)";

/// Runs the commands of a file that use its binary form, on another one.
///
/// # Errors
/// The first command that does not do what it should.
pub(crate) fn run_binary(file: &Path, binary: &Path, scratch: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let commands = text.lines().filter_map(|line| line.trim_start().strip_prefix("// RUN:"));
    for line in commands.map(str::trim).filter(|line| line.contains(BINARY)) {
        let line = line.replace(BINARY, &binary.to_string_lossy());
        pipeline(&line, file, scratch).map_err(|error| format!("RUN: {line}\n{error}"))?;
    }
    Ok(())
}

/// Whether a file has commands for the device that tests run on.
pub(crate) fn has_commands(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut commands = text.lines().filter(|line| line.contains("// RUN:"));
    text.is_empty() || commands.any(command::is_for_device)
}

/// Runs commands, each on the output of the one before. All must succeed.
fn pipeline(line: &str, file: &Path, scratch: &Path) -> Result<(), String> {
    let mut input = Vec::new();
    for stage in line.split('|') {
        let command = Command::parse(stage, file, scratch)?;
        let Finished { succeeded, output, error } = command.run(input)?;
        if !succeeded {
            let (output, error) = (String::from_utf8_lossy(&output), String::from_utf8_lossy(&error));
            return Err(format!("'{}' failed\n{error}\n{output}", stage.trim()));
        }
        input = output;
    }
    Ok(())
}

/// The binary form of a program, made by our own translator beside other scratch files.
pub(crate) fn bef_of(file: &Path, scratch: &Path) -> Result<String, String> {
    let bef = scratch.join("program.bef");
    let (from, to) = (file.to_string_lossy(), bef.to_string_lossy());
    let arguments = ["--mlir-to-bef", &from, "-o", &to];
    let finished = command::tool("tfrt_translate", arguments.map(str::to_owned).to_vec(), Vec::new())?;
    if finished.succeeded {
        Ok(to.into_owned())
    } else {
        Err(String::from_utf8_lossy(&finished.error).into())
    }
}
