//! Prints a [`crate::Module`] as text that parses back to it.

mod attrs;
mod float;
mod location;
mod names;
mod printer;
mod types;

pub(crate) use attrs::TypeElision;
pub use printer::{PrintOptions, Printer, print_module, write_module};
pub(crate) use types::TypeList;
