//! From a [`crate::Module`] to text that parses back to it.

mod attrs;
mod float;
mod names;
mod printer;

pub(crate) use attrs::{Quoted, TypeElision, attribute, dialect_body};
pub(crate) use printer::NamedAttr;
pub use printer::{PrintOptions, Printer, print_module, write_module};
