//! How operations are written: the default rule, formats, and grammars in code.
//!
//! A format is a list of what stands after an operation's name, in the manner of MLIR's declarative assembly format:
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
//! A type the definition fixes need not be written; any other must be.

mod format;
mod parse;
mod print;

use std::fmt;
use std::sync::Arc;

pub use format::Format;

use crate::parser::{Parsed, Parser};
use crate::print::Printer;
use crate::{OpId, OpState};

/// A grammar in code, for operations whose form no format expresses.
pub trait CustomAssembly: fmt::Debug + Send + Sync {
    /// Reads what stands after the operation's name into `state`, whose name and location are set.
    ///
    /// # Errors
    /// Any, once reported to the parser.
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()>;

    /// Writes what stands after the operation's name.
    ///
    /// # Errors
    /// Those of the output.
    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result;

    /// Whether the form can express this operation; if not, it is printed in generic form.
    fn can_print(&self, module: &crate::Module, op: OpId) -> bool {
        let _ = (module, op);
        true
    }
}

/// How an operation is written.
#[derive(Clone, Debug, Default)]
pub enum Assembly {
    /// As derived from its definition: operands, the attribute if exactly one is required, `attr-dict`, and the types
    /// if the definition does not fix them all; in generic form only if there are several variadic groups. See
    /// [`Format::default_of`].
    #[default]
    Default,
    /// In generic form only.
    Generic,
    /// By a format.
    Format(Arc<Format>),
    /// By code.
    Custom(Arc<dyn CustomAssembly>),
}
