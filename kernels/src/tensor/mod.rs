//! Tensor kernels: shapes (`ts.*`), dense tensors and buffers (`tfrt_dht.*`), sparse ones
//! (`coo.*`), strings (`tfrt_sht.*`) and BTF files (`btf.*`).
//!
//! They create, compare, convert, print and read tensors; they compute nothing with them.
//!
//! A dialect's `_sync` twin holds the same kernels without chains, for functions that run in order.

mod attribute;
mod btf;
mod buffer;
mod compare;
mod coo;
mod dense;
mod fill;
mod print;
mod shape;
mod string;

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, KernelRegistry};
use tfrt_tensor::HostTensor;

/// Adds every kernel of this family.
pub(super) fn register(registry: &mut KernelRegistry) {
    registry.add_mutable_type::<HostTensor>();
    registry.add_mutable_type::<HostBuffer>();
    attribute::register(registry);
    shape::register(registry);
    buffer::register(registry);
    dense::register(registry);
    fill::register(registry);
    compare::register(registry);
    print::register(registry);
    coo::register(registry);
    string::register(registry);
    btf::register(registry);
}

/// The data types of dense kernels, by their part of a kernel's name.
const DENSE_DTYPES: [(DType, &str); 15] = [
    (DType::I1, "bool"),
    (DType::I8, "i8"),
    (DType::I16, "i16"),
    (DType::I32, "i32"),
    (DType::I64, "i64"),
    (DType::UI8, "ui8"),
    (DType::UI16, "ui16"),
    (DType::UI32, "ui32"),
    (DType::UI64, "ui64"),
    (DType::F16, "f16"),
    (DType::BF16, "bf16"),
    (DType::F32, "f32"),
    (DType::F64, "f64"),
    (DType::Complex64, "complex64"),
    (DType::Complex128, "complex128"),
];
