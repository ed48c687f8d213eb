//! MLIR text: parse, verify and print the programs TFRT runs.
//!
//! A [`Module`] owns operations, blocks, regions and values in arenas and hands out ids. The text is MLIR's generic form
//! and TFRT's custom forms as of December 2020, without successor blocks.
//!
//! ```
//! use tfrt_ir::{OpRegistry, ParseOptions, Source, parse_module};
//!
//! let text = r#"
//!   func @answer() -> i32 {
//!     %x = "my.constant"() {value = 42 : i32} : () -> i32
//!     "tfrt.return"(%x) : (i32) -> ()
//!   }
//! "#;
//! let registry = OpRegistry::new();
//! let module = parse_module(&Source::new("answer.mlir", text), &registry, &ParseOptions::default())?;
//! let func = module.function("answer").expect("it was parsed");
//! let body = func.body().expect("it is not external");
//! let names: Vec<&str> = module.ops_in(body).map(|(_, op)| op.name.as_str()).collect();
//! assert_eq!(names, ["my.constant", "tfrt.return"]);
//! # Ok::<(), tfrt_ir::Diagnostics>(())
//! ```

mod assembly;
mod attr;
mod dense;
mod diagnostic;
mod expect;
mod func;
mod lexer;
mod location;
mod module;
mod name;
mod ops;
mod parser;
mod print;
mod registry;
mod render;
mod source;
mod types;
mod verify;

pub use assembly::{Assembly, CustomAssembly, Format};
pub use attr::{AttrDict, Attribute};
pub use dense::{DenseData, DenseElements, MAX_DENSE_BYTES, element_size};
pub use diagnostic::{Diagnostic, Diagnostics, MAX_DIAGNOSTICS, Severity};
pub use expect::{Finding, findings, split_source, verify_expectations};
pub use func::{FUNC, FUNC_TYPE, Func, SYM_NAME, SYM_VISIBILITY};
pub use lexer::MAX_NAME_BYTES;
pub use location::Location;
pub use module::{
    Block, BlockId, Module, OpId, OpState, Operation, Region, RegionId, Value, ValueDef, ValueId, Walk,
};
pub use name::Name;
pub use parser::{
    Failed, MAX_ALIAS_EXPANSION, MAX_DEPTH, ParseOptions, Parsed, Parser, UnresolvedOperand, parse_module,
};
pub use print::{PrintOptions, Printer, print_module, write_module};
pub use registry::{AttrKind, AttrSpec, OpDefinition, OpRegistry, TypeConstraint, ValueSpec};
pub use render::{render, render_one};
pub use source::{MAX_SOURCE_BYTES, Source, Span};
pub use types::{DialectSymbol, Dim, FunctionType, MAX_INTEGER_WIDTH, ShapedType, Signedness, Type};
pub use verify::{Verifier, verify};
