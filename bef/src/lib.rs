//! The Binary Executable Format (BEF): kernel graphs as bytes that execute in place.
//!
//! A file is the magic number `0B EF` and a list of [sections](SectionId). [`VerifiedBef::new`]
//! checks a file once and gives access to its contents; kernel records and attributes are slices of
//! the file. [`BefBuilder`] writes files, and [`VerifiedBef::inspect`] summarizes them.
//!
//! This crate knows neither values, kernel implementations nor MLIR, and depends on no other part
//! of the project. It contains no unsafe code. All numbers in a file are little-endian and are read
//! in place, so it builds only for little-endian machines.

const _: () = assert!(cfg!(target_endian = "little"), "BEF files are read in place and are little-endian");

mod attribute;
mod contents;
mod cursor;
mod element;
mod error;
mod inspect;
mod kernel;
mod reader;
mod storage;
mod table;
pub mod verify;
mod view;
mod writer;

pub use attribute::{MAX_AGGREGATE_DEPTH, RawAttribute};
pub use contents::FunctionInfo;
pub use element::Element;
pub use error::{BefError, Fault};
pub use inspect::{FunctionSummary, Inspection, SectionSummary};
pub use kernel::KernelRecord;
pub use reader::{Function, Location, VerifiedBef};
pub use storage::Storage;
pub use table::{
    AttributeKind, DType, FunctionKind, MAGIC, MAX_ALIGNMENT, SectionId, TableRow, VERSION, describe,
};
pub use view::{AggregateAttribute, AttributeView, DataArray, DataTypes, DenseAttribute, ShapeAttribute};
pub use writer::{
    Attribute, AttributeId, BefBuilder, FunctionBuilder, FunctionId, KernelId, KernelSpec, LocationId,
    NameId, OptionalSections, Register, TypeId,
};
