//! From a [`crate::Module`] to text that parses back to it.

mod attrs;
mod float;

pub(crate) use attrs::{Quoted, TypeElision, attribute, dialect_body};
