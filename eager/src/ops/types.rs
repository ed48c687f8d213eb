//! Lists of element types that several ops have in common.

use tfrt_host::DType::{
    self, BF16, Complex64, Complex128, F16, F32, F64, I1, I8, I16, I32, I64, String, UI8, UI16, UI32, UI64,
};

type Types = &'static [DType];

pub(super) const BOOL: Types = &[I1];
/// What loops over scalars compute with.
pub(super) const SCALARS: Types = &[I1, I32, I64, F32, F64];
pub(super) const FLOATS: Types = &[F16, BF16, F32, F64];
pub(super) const NARROW_FLOATS: Types = &[F16, BF16, F32];
pub(super) const COMPLEX: Types = &[Complex64, Complex128];
/// Floating-point and complex numbers.
pub(super) const FRACTIONS: Types = &[F16, BF16, F32, F64, Complex64, Complex128];
pub(super) const INTEGERS: Types = &[I8, I16, I32, I64, UI8, UI16, UI32, UI64];
pub(super) const INDICES: Types = &[I32, I64];
/// Real numbers.
pub(super) const NUMBERS: Types = &[I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64];
/// Real and complex numbers.
pub(super) const FIELDS: Types =
    &[I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, Complex64, Complex128];
/// Truth values and real numbers.
pub(super) const ORDERED: Types = &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64];
/// Whatever has an order: truth values, real numbers and strings.
pub(super) const ORDERED_OR_STRINGS: Types =
    &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, String];
/// The types that matrix products take.
pub(super) const FACTORS: Types = &[I8, I16, I32, I64, UI8, F16, BF16, F32, F64, Complex64, Complex128];
/// The types of dense tensors.
pub(super) const ELEMENTS: Types =
    &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, Complex64, Complex128];
/// The types of all tensors.
pub(super) const ANY: Types =
    &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, Complex64, Complex128, String];
pub(super) const STRINGS: Types = &[String];
