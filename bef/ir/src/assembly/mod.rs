//! The text form of operations: the default rule, formats, and grammars in code.
//!
//! A format lists the elements after an operation's name, in the style of MLIR's declarative
//! assembly format:
//!
//! | element | stands for |
//! |---|---|
//! | `operands` | all operands, separated by commas |
//! | `$name` | one operand (or a variadic run of them), or an attribute without its name |
//! | `attr-dict` | the attributes that no `$name` stands for, in braces; nothing if there are none |
//! | `type(operands)`, `type(results)`, `type($name)` | the types, separated by commas |
//! | `functional-type(operands, results)`, `functional-type($a, $b)` | `(types) -> types` |
//! | `count($name)` | how many results of this variadic run there are, when the definition fixes their type |
//! | `` `text` `` | this keyword or punctuation; `:` `,` `->` need no quotes |
//! | `( … $name^ … )?` | all of it if the marked operands or attribute are there, else nothing |
//!
//! A type that the definition fixes need not be written; all other types must be.

mod format;
mod parse;
mod print;

use std::fmt;
use std::sync::Arc;

pub use format::Format;

use crate::parser::{Parsed, Parser};
use crate::print::Printer;
use crate::{OpId, OpState};

/// A grammar in code, for operations whose text no format can express.
pub trait CustomAssembly: fmt::Debug + Send + Sync {
    /// Parses the text after the operation's name into `state`, whose name and location are set.
    ///
    /// # Errors
    /// Any error, after it was reported to the parser.
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()>;

    /// Writes the text after the operation's name.
    ///
    /// # Errors
    /// The errors of the output.
    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result;

    /// Returns whether the form can express this operation. If not, the operation is printed in
    /// generic form.
    fn can_print(&self, module: &crate::Module, op: OpId) -> bool {
        let _ = (module, op);
        true
    }
}

/// The text form of an operation.
#[derive(Clone, Debug, Default)]
pub enum Assembly {
    /// Derived from the definition: operands, the attribute if exactly one is required,
    /// `attr-dict`, and the types if the definition does not fix them all. With several variadic
    /// groups, only the generic form. See [`Format::default_of`].
    #[default]
    Default,
    /// Only the generic form.
    Generic,
    /// A compiled format.
    Format(Arc<Format>),
    /// A grammar in code.
    Custom(Arc<dyn CustomAssembly>),
}
