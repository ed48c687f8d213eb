//! The commands in README.md and docs/programs.md do what the text says.
//!
//! A line `` `name.mlir`: `` names the `mlir` block after it. Commands of `console` blocks run in a
//! folder with these files, and must print what follows them. `TFRT_BLESS=1` writes what they print
//! into the text.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// A guide while its commands run.
struct Guide {
    folder: tempfile::TempDir,
    /// The name for the next program.
    name: String,
    /// The text as it should be.
    text: String,
    commands: usize,
}

impl Guide {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["examples", "models", "tests"] {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            std::os::unix::fs::symlink(root, folder.path().join(name)).expect("a link");
        }
        Self { folder, name: String::new(), text: String::new(), commands: 0 }
    }

    fn line(&mut self, line: &str) {
        self.text += line;
        self.text += "\n";
    }

    fn read(&mut self, guide: &str) {
        let mut lines = guide.lines();
        while let Some(line) = lines.next() {
            self.line(line);
            if let Some(name) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
                name.clone_into(&mut self.name);
            }
            if line.starts_with("```") {
                let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
                match line {
                    "```mlir" => self.program(&block),
                    "```console" => self.console(&block),
                    _ => block.iter().for_each(|line| self.line(line)),
                }
                self.line("```");
            }
        }
    }

    fn program(&mut self, block: &[&str]) {
        block.iter().for_each(|line| self.line(line));
        fs::write(self.folder.path().join(&self.name), block.join("\n") + "\n").expect("a file");
    }

    fn console(&mut self, block: &[&str]) {
        // Models are slow in builds for tests, and have separate tests.
        let is_run = |command: &str| command.starts_with("$ tfrt ") && !command.contains(" models/");
        let mut lines = block.iter().peekable();
        while let Some(command) = lines.next() {
            self.line(command);
            let mut printed = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                printed.push((*line).to_owned());
            }
            if is_run(command) {
                printed = self.run(command);
            }
            printed.iter().for_each(|line| self.line(line));
        }
    }

    /// Returns the lines that a command prints.
    fn run(&mut self, command: &str) -> Vec<String> {
        self.commands += 1;
        let arguments = command.split_whitespace().skip(2);
        let mut tfrt = Command::new(env!("CARGO_BIN_EXE_tfrt"));
        tfrt.args(arguments).current_dir(&self.folder).env_remove("CLICOLOR_FORCE");
        let Output { stdout, stderr, .. } = tfrt.output().expect("tfrt runs");
        let printed = [stdout, stderr].concat();
        String::from_utf8_lossy(&printed).trim_end().lines().map(str::to_owned).collect()
    }
}

/// Compares a guide with what its commands print; at least `least` of them.
fn check(file: &str, least: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let before = fs::read_to_string(&path).expect("the guide");
    let mut guide = Guide::new();
    guide.read(&before);
    assert!(guide.commands >= least, "{file} has {} commands", guide.commands);
    if std::env::var_os("TFRT_BLESS").is_some() {
        fs::write(&path, guide.text).expect("the guide");
        return;
    }
    for (number, (is, should)) in before.lines().zip(guide.text.lines()).enumerate() {
        assert_eq!(is, should, "{file}, line {} (TFRT_BLESS=1 writes what is printed)", number + 1);
    }
    assert_eq!(before.lines().count(), guide.text.lines().count(), "{file}");
}

#[test]
fn readme_shows_what_its_commands_print() {
    check("README.md", 2);
}

#[test]
fn the_guide_to_programs_shows_what_its_commands_print() {
    check("docs/programs.md", 15);
}
