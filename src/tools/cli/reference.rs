//! What becomes of a generated reference: it is printed, written to a file, or compared with one.

use std::path::PathBuf;

use super::{Failure, file_error};
use crate::Console;

/// Arguments of the commands that print a reference.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Write the reference to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Fail if this file is not the reference
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    check: Option<PathBuf>,
}

impl Args {
    /// Does with the reference that `command` made what the command line asks for.
    pub(super) fn deliver(
        &self,
        command: &str,
        reference: &str,
        console: &mut Console,
    ) -> Result<(), Failure> {
        if let Some(file) = &self.check {
            let known = std::fs::read_to_string(file).map_err(|error| file_error("read", file, error))?;
            if known == reference {
                return Ok(());
            }
            let file = file.display();
            console.complain(format_args!(
                "error: {file} is not up to date; write it with tfrt {command} --write {file}"
            ));
            return Err(Failure::Told);
        }
        match &self.write {
            Some(file) => {
                std::fs::write(file, reference).map_err(|error| file_error("write", file, error))?
            }
            None => console.print(reference),
        }
        Ok(())
    }
}
