//! Parses PTX text, resolves names and checks declarations.
//!
//! [`parse`] returns a [`Module`](ast::Module) in which every name is resolved and every
//! declaration is valid, or all errors of the text. This module never interprets instructions:
//! `code` knows which modifiers and operands `ld` takes.
//!
//! What is checked:
//!
//! - version, target and address size are known ones;
//! - every name except a label is declared before its use, once in its block, and is of the kind
//!   that its place requires;
//! - guards and negated operands are predicates, bases of addresses are integers of 32 or 64 bits;
//! - a function is defined once, and declared with the same parameters everywhere;
//! - calls pass as many values as the function, prototype or table takes, of the same sizes;
//! - variables have a size, an alignment and a state space that exist, and initial values of their
//!   type;
//! - unsupported directives and features are errors; only those that change no result are skipped:
//!   hints (`.pragma`), debugging information, and the driver's placement of a variable
//!   (`.attribute`).
//!
//! The text is not trusted. The size of the text, the depth of blocks, expressions and
//! initializers, the length of names, the size of variables and the number of errors are bounded.
//! Parsing takes time in proportion to the text.

pub mod ast;
mod expression;
mod lexer;
mod number;
mod parser;
mod scope;
mod suggest;
pub mod types;

use crate::{Error, Errors, Span};

/// The size of the longest text.
pub const MAX_TEXT_BYTES: usize = 256 << 20;

/// The length of the longest name.
pub const MAX_NAME_BYTES: usize = 64 << 10;

/// The deepest nesting of blocks, of expressions and of initializers.
pub const MAX_DEPTH: usize = 100;

/// The size of the largest variable.
pub const MAX_VARIABLE_BYTES: u64 = 1 << 40;

/// The bytes that the initial values of a module's variables may take.
pub const MAX_INITIALIZED_BYTES: u64 = 256 << 20;

/// The number of instructions that a module may have. Each takes about a hundred bytes while the
/// module is loaded.
pub const MAX_INSTRUCTIONS: usize = 1 << 23;

/// The number of functions that a module may define or declare. Each takes about a thousand bytes.
pub const MAX_FUNCTIONS: usize = 1 << 20;

/// Parses a module.
///
/// # Errors
/// All errors of the text, each with its position.
pub fn parse(text: &str) -> Result<ast::Module<'_>, Errors> {
    if text.len() > MAX_TEXT_BYTES {
        let message = format!("the text is longer than {MAX_TEXT_BYTES} bytes");
        return Err(Error::new(Span { line: 1, column: 1 }, message).into());
    }
    parser::parse(text)
}
