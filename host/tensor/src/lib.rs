//! Host tensors: data types, shapes, dense, scalar, sparse and string tensors, and the files they
//! are kept in.
//!
//! It computes nothing with the elements but conversions between forms; mathematics is elsewhere.
//! Every access to elements that others can reach goes through a guard named by an [`Accessor`], so
//! that two kernels without a chain between them end in a DataRace error instead of undefined
//! behaviour.

mod accessor;
mod attribute;
mod coo;
mod dense;
mod element;
mod elements;
pub mod files;
mod host_tensor;
mod md5;
mod metadata;
mod partial_shape;
mod print;
mod ranked;
mod scalar;
mod shape;
mod string;

pub use accessor::Accessor;
pub use attribute::dense_from_attribute;
pub use bstr::BString;
pub use coo::CooHostTensor;
pub use dense::{DenseHostTensor, SharedAllocator};
pub use element::{Complex, Element, print_exponent};
pub use elements::{Elements, ElementsMut};
pub use half::{bf16, f16};
pub use host_tensor::HostTensor;
pub use metadata::TensorMetadata;
pub use partial_shape::{PartialTensorShape, UNKNOWN_DIM};
pub use ranked::{RankedElements, RankedElementsMut};
pub use scalar::ScalarHostTensor;
pub use shape::{FixedRankShape, MAX_RANK, TensorShape};
pub use string::StringHostTensor;
pub use tfrt_host::DType;
