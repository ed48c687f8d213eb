//! Conversion between MLIR and BEF, both ways.
//!
//! [`mlir_to_bef`] encodes the functions of a module; each region becomes an unnamed function.
//! [`bef_to_mlir`] rebuilds the module. Going there and back gives a module that prints to the same
//! text, as far as the format can tell: it keeps neither attributes of modules and functions (but
//! for `tfrt.native` and `tfrt.sync`), nor locations other than `file:line:column`, nor whether an
//! integer is signless or signed.
//!
//! Conversion knows no op by name: what is special about one, its definition says, and an op
//! without a definition converts like all others. [`operations`] makes the definitions from a
//! registry of kernels. Nothing here prints, or reads files.

mod attributes;
mod from_bef;
mod function_names;
mod signatures;
mod to_bef;

pub use attributes::{data_type, type_of};
pub use from_bef::{Converted, bef_to_mlir};
pub use signatures::{add_signatures, operations};
pub use to_bef::{ConvertOptions, mlir_to_bef};

/// The op that ends a function. The format has no kernel for it.
const RETURN: &str = "tfrt.return";
/// Marks functions that are provided by the host program.
const NATIVE: &str = "tfrt.native";
/// Marks functions that run in order.
const SYNC: &str = "tfrt.sync";
/// Marks kernels that start as soon as one argument is available.
const NONSTRICT: &str = "bef.nonstrict";
