//! Delivers a generated reference: prints it or some of its entries, writes it to a file, or
//! compares it with a file.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Failure, file_error, print_json};
use crate::{
    Console,
    files::{check_output_path, replace_file},
};

/// Arguments of the commands that print a reference.
#[derive(clap::Args)]
pub(super) struct ReferenceArgs {
    /// Print only entries whose name is NAME or begins with 'NAME.'
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Write the reference to FILE instead of printing it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "json"])]
    write: Option<PathBuf>,
    /// Fail if FILE differs from the reference
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "json", "write"])]
    check: Option<PathBuf>,
}

/// An entry of a reference.
pub(super) struct Entry {
    pub(super) name: String,
    /// A description of several lines.
    pub(super) text: String,
    pub(super) json: Value,
}

impl ReferenceArgs {
    /// Delivers the reference of `command` in the way that the command line asks for. `reference`
    /// returns the whole document, `entries` its entries in order.
    pub(super) fn deliver(
        &self,
        command: &str,
        reference: impl FnOnce() -> String,
        entries: impl FnOnce() -> Vec<Entry>,
        console: &mut Console,
    ) -> Result<(), Failure> {
        if let Some(file) = &self.check {
            let known = std::fs::read_to_string(file).map_err(|error| file_error("read", file, error))?;
            if known == reference() {
                return Ok(());
            }
            let file = file.display();
            console.complain(format_args!(
                "error: {file} is out of date; update it with 'tfrt {command} --write {file}'"
            ));
            return Err(Failure::Reported);
        }
        if let Some(file) = &self.write {
            check_output_path(file).map_err(|error| file_error("write", file, error))?;
            let text = reference();
            replace_file(file, |temporary| std::fs::write(temporary, &text))
                .map_err(|error| file_error("write", file, error))?;
            return Ok(());
        }
        if self.name.is_none() && !self.json {
            console.print(reference());
            return Ok(());
        }
        let entries = self.select(command, entries())?;
        if self.json {
            let entries: Vec<_> = entries.into_iter().map(|entry| entry.json).collect();
            print_json(console, &json!({ command: entries }));
        } else {
            let texts: Vec<_> = entries.into_iter().map(|entry| entry.text).collect();
            console.print(texts.join("\n"));
        }
        Ok(())
    }

    /// Returns the entries of the name on the command line, or all.
    fn select(&self, command: &str, mut entries: Vec<Entry>) -> Result<Vec<Entry>, Failure> {
        let Some(name) = &self.name else { return Ok(entries) };
        let is_selected = |entry: &Entry| {
            entry.name.strip_prefix(&**name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if !entries.iter().any(is_selected) {
            let near = entries.iter().map(|entry| &*entry.name).filter(|other| other.contains(&**name));
            let near = super::program::enumerate_names(near);
            let hint = if near.is_empty() { String::new() } else { format!("; similar names: {near}") };
            return Err(Failure::Usage(format!("'tfrt {command}' knows no '{name}'{hint}")));
        }
        entries.retain(is_selected);
        Ok(entries)
    }
}
