//! MLIR text: parses, verifies and prints the programs that TFRT runs.
//!
//! A [`Module`] owns operations, blocks, regions and values in arenas and identifies them by ids
//! ([`OpId`], [`BlockId`], [`RegionId`], [`ValueId`]). [`Type`] and [`Attribute`] are plain values.
//! The text is MLIR's generic form and TFRT's custom forms of December 2020, without successor
//! blocks. `func` and `func.func` are the same operation, dialect types and attributes are balanced
//! text, and aliases are expanded. This crate knows neither kernels nor BEF. An [`OpRegistry`],
//! which others fill, defines the operations and their text.
//!
//! ```
//! use tfrt_ir::{OpDefinition, OpRegistry, ParseOptions, PrintOptions, Source, Type, parse_module, print_module};
//!
//! let mut registry = OpRegistry::new();
//! registry.add(OpDefinition::new("tfrt.add.i32").operand(Type::int(32)).operand(Type::int(32)).result(Type::int(32)));
//! registry.add_core_ops()?; // tfrt.return, tfrt.call, tfrt.constant.i32, …
//!
//! let text = "
//!   func @double(%x: i32) -> i32 {
//!     %y = tfrt.add.i32 %x, %x
//!     tfrt.return %y : i32
//!   }
//! ";
//! let module = parse_module(&Source::new("double.mlir", text), &registry, &ParseOptions::default())?;
//! let func = module.function("double").expect("it was parsed");
//! let body = func.body().expect("it is not external");
//! let names: Vec<&str> = module.ops_in(body).map(|(_, op)| op.name.as_str()).collect();
//! assert_eq!(names, ["tfrt.add.i32", "tfrt.return"]);
//! assert!(print_module(&module, &registry, PrintOptions::default()).contains("%0 = tfrt.add.i32 %arg0, %arg0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A parse reports all errors of a text, and [`render`] displays them with their source lines:
//!
//! ```
//! use tfrt_ir::{OpRegistry, ParseOptions, Source, parse_module, render};
//!
//! let source = Source::new("bad.mlir", "\"x\"() {a = } : () -> ()\n\"y\"(%nope) : (i32) -> ()\n");
//! let errors = parse_module(&source, &OpRegistry::new(), &ParseOptions::default()).expect_err("it is bad");
//! assert_eq!(errors.len(), 2);
//! assert!(render(&errors, &[&source], false).contains("bad.mlir:2:5"));
//! ```
//!
//! Tools that check announced diagnostics (`// expected-error @+1 {{…}}`) split a file with
//! [`split_source`], parse each part, and pass [`findings`] to [`verify_expectations`].
//!
//! # Bounds
//!
//! No text makes this crate overflow the stack or use memory out of proportion. It accepts
//! [`MAX_SOURCE_BYTES`] of text, [`MAX_DEPTH`] levels of nesting, [`MAX_NAME_BYTES`] per name and
//! [`MAX_ALIAS_EXPANSION`] bytes of expanded aliases, and reports [`MAX_DIAGNOSTICS`] errors.
//!
//! Successors, sparse and opaque elements, affine maps and tensor encodings are not supported, and
//! are reported as errors. Integers hold at most 127 bits and a sign, regardless of their type's
//! width.

mod assembly;
mod attr;
mod bytes;
mod definition;
mod dense;
mod diagnostic;
mod expect;
mod func;
mod lexer;
mod location;
mod module;
mod name;
mod name_hash;
mod ops;
mod parser;
mod print;
mod registry;
mod render;
mod source;
mod suggest;
mod types;
mod verifier;
mod verify;

pub use assembly::{Assembly, CustomAssembly, Format};
pub use attr::{AttrDict, Attribute};
pub use bytes::SharedBytes;
pub use definition::{
    Alias, AttrKind, AttrSpec, Effects, FunctionAttr, OPERAND_SEGMENT_SIZES, OpDefinition,
    RESULT_SEGMENT_SIZES, TypeConstraint, ValueSpec, segment_sizes,
};
pub use dense::{DenseData, DenseElements, MAX_DENSE_BYTES, element_size};
pub use diagnostic::{Diagnostic, Diagnostics, MAX_DIAGNOSTICS, Severity};
pub use expect::{Finding, findings, split_source, verify_expectations};
pub use func::{FUNC, FUNC_TYPE, Func, SYM_NAME, SYM_VISIBILITY};
pub use lexer::{MAX_DEPTH, MAX_NAME_BYTES};
pub use location::Location;
pub use module::{
    Block, BlockId, BlockOps, Builder, IdMaps, InsertionPoint, Module, OpId, OpMut, OpState, Operation,
    Region, RegionId, Use, Uses, Value, ValueDef, ValueId, ValueMap, Walk,
};
pub use name::Name;
pub use parser::{
    Failed, MAX_ALIAS_EXPANSION, ParseOptions, Parsed, Parser, UnresolvedOperand, parse_module,
};
pub use print::{PrintOptions, Printer, print_module, write_module};
pub use registry::{OpRegistry, TypeCheck};
pub use render::{render, render_one};
pub use source::{MAX_SOURCE_BYTES, Source, Span};
pub use types::{DialectSymbol, Dim, FunctionType, MAX_INTEGER_WIDTH, ShapedType, Signedness, Type};
pub use verifier::Verifier;
pub use verify::verify;
