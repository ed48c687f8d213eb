//! The Rust types of data types.

use bytemuck::{CheckedBitPattern, NoUninit};
use half::{bf16, f16};
use num_complex::Complex;

use crate::table::DType;

/// A Rust type that is the memory form of a data type.
pub trait Element: NoUninit + CheckedBitPattern + Send + Sync + 'static {
    /// The data type.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($native:ty => $dtype:ident),+ $(,)?) => {
        $(impl Element for $native { const DTYPE: DType = DType::$dtype; })+

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn sizes_agree_with_the_table() {
                $(assert_eq!(DType::$dtype.size(), Some(size_of::<$native>()));)+
                let with_size = DType::ALL.iter().filter(|dtype| dtype.size().is_some()).count();
                assert_eq!(with_size, [$(DType::$dtype),+].len());
            }
        }
    };
}

elements! {
    u8 => UI8,
    u16 => UI16,
    u32 => UI32,
    u64 => UI64,
    bool => I1,
    i8 => I8,
    i16 => I16,
    i32 => I32,
    i64 => I64,
    f32 => F32,
    f64 => F64,
    Complex<f32> => Complex64,
    Complex<f64> => Complex128,
    f16 => F16,
    bf16 => BF16,
}
