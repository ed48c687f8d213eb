//! [`Element`]: the Rust types that elements of tensors have, and how they print.
//!
//! This is the one place that links a Rust type to a [`DType`]. It never touches a tensor.

use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit};
use half::{bf16, f16};
pub use num_complex::Complex;
use tfrt_host::DType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is the memory form of one data type. Sealed: the data types are fixed.
///
/// The bounds say what a buffer of bytes needs to be read as `[Self]`: no padding, and bit patterns
/// that can be checked (only `bool` has invalid ones).
pub trait Element:
    sealed::Sealed + CheckedBitPattern + NoUninit + PartialEq + Default + fmt::Debug + Send + Sync + 'static
{
    /// The data type this is the memory form of.
    const DTYPE: DType;

    /// Whether every bit pattern is a value.
    #[doc(hidden)]
    const ANY_BITS: bool;

    /// Prints as tensors print: integers in decimal, `bool` as 0 or 1, floating point as `%e` does,
    /// complex numbers as `(re,im)`.
    fn print(self, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Whether this is the element a sparse tensor leaves out.
    fn is_zero(self) -> bool {
        self == Self::default()
    }
}

/// A floating-point number the way C's `%e` prints it, with `nan`, `INF` and `-INF` for the rest.
pub fn print_exponent(value: f64, out: &mut dyn fmt::Write) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("nan");
    }
    if value.is_infinite() {
        return out.write_str(if value < 0.0 { "-INF" } else { "INF" });
    }
    let text = format!("{value:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    write!(out, "{mantissa}e{sign}{digits:0>2}")
}

macro_rules! elements {
    ($($type:ty => $dtype:ident, any_bits: $any:literal, |$value:ident, $out:ident| $print:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            const ANY_BITS: bool = $any;
            fn print(self, $out: &mut dyn fmt::Write) -> fmt::Result {
                let $value = self;
                $print
            }
        }
        const _: () = assert!(matches!(DType::$dtype.size(), Some(size) if size == size_of::<$type>()));
    )*};
}

elements! {
    bool => I1, any_bits: false, |v, out| write!(out, "{}", u8::from(v));
    i8 => I8, any_bits: true, |v, out| write!(out, "{v}");
    i16 => I16, any_bits: true, |v, out| write!(out, "{v}");
    i32 => I32, any_bits: true, |v, out| write!(out, "{v}");
    i64 => I64, any_bits: true, |v, out| write!(out, "{v}");
    u8 => UI8, any_bits: true, |v, out| write!(out, "{v}");
    u16 => UI16, any_bits: true, |v, out| write!(out, "{v}");
    u32 => UI32, any_bits: true, |v, out| write!(out, "{v}");
    u64 => UI64, any_bits: true, |v, out| write!(out, "{v}");
    f16 => F16, any_bits: true, |v, out| print_exponent(v.to_f64(), out);
    bf16 => BF16, any_bits: true, |v, out| print_exponent(v.to_f64(), out);
    f32 => F32, any_bits: true, |v, out| print_exponent(f64::from(v), out);
    f64 => F64, any_bits: true, |v, out| print_exponent(v, out);
    Complex<f32> => Complex64, any_bits: true, |v, out| print_complex(f64::from(v.re), f64::from(v.im), out);
    Complex<f64> => Complex128, any_bits: true, |v, out| print_complex(v.re, v.im, out);
}

/// The types whose every bit pattern is a value are plain data; this fails to compile if the table
/// above errs.
const _: () = {
    const fn any_bits<T: Element + bytemuck::AnyBitPattern>() {
        assert!(T::ANY_BITS);
    }
    any_bits::<i8>();
    any_bits::<i16>();
    any_bits::<i32>();
    any_bits::<i64>();
    any_bits::<u8>();
    any_bits::<u16>();
    any_bits::<u32>();
    any_bits::<u64>();
    any_bits::<f16>();
    any_bits::<bf16>();
    any_bits::<f32>();
    any_bits::<f64>();
    any_bits::<Complex<f32>>();
    any_bits::<Complex<f64>>();
};

fn print_complex(re: f64, im: f64, out: &mut dyn fmt::Write) -> fmt::Result {
    out.write_char('(')?;
    print_exponent(re, out)?;
    out.write_char(',')?;
    print_exponent(im, out)?;
    out.write_char(')')
}

/// Calls generic code with the Rust type of a data type that is known at run time only:
/// `with_element!(dtype, |T| f::<T>(x), else g(dtype))`. The last part is for the data types
/// without a plain memory form (strings, resources, variants).
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, |$T:ident| $body:expr, else $other:expr) => {
        $crate::with_element!(@arms $dtype, $T, $body, $other;
            I1 bool, I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64,
            F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64,
            Complex64 $crate::Complex<f32>, Complex128 $crate::Complex<f64>)
    };
    (@arms $dtype:expr, $T:ident, $body:expr, $other:expr; $($name:ident $type:ty),*) => {
        match $dtype {
            $($crate::DType::$name => {
                type $T = $type;
                $body
            })*
            $crate::DType::String | $crate::DType::Resource | $crate::DType::Variant => $other,
        }
    };
}

/// Calls generic code like [`with_element!`], with one type for all data types whose elements have
/// the same size and alignment: that of the elements of [`DenseHostTensor::as_bits`]. Code that only
/// moves elements is then compiled for six types instead of fifteen.
///
/// [`DenseHostTensor::as_bits`]: crate::DenseHostTensor::as_bits
#[macro_export]
macro_rules! with_bits {
    ($dtype:expr, |$T:ident| $body:expr, else $other:expr) => {
        match $dtype {
            $crate::DType::Complex64 => {
                type $T = $crate::Complex<f32>;
                $body
            }
            dtype => match $crate::DType::size(dtype) {
                Some(1) => {
                    type $T = u8;
                    $body
                }
                Some(2) => {
                    type $T = u16;
                    $body
                }
                Some(4) => {
                    type $T = u32;
                    $body
                }
                Some(8) => {
                    type $T = u64;
                    $body
                }
                Some(16) => {
                    type $T = $crate::Complex<f64>;
                    $body
                }
                _ => $other,
            },
        }
    };
}

/// Returns the data type whose elements stand for those of `dtype` in [`with_bits!`].
pub(crate) fn bits_of(dtype: DType) -> DType {
    with_bits!(dtype, |T| <T as Element>::DTYPE, else dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(element: impl Element) -> String {
        let mut text = String::new();
        element.print(&mut text).unwrap();
        text
    }

    #[test]
    fn elements_print_as_the_c_library_does() {
        let cases = [
            (printed(1.0f32), "1.000000e+00"),
            (printed(-0.1f32), "-1.000000e-01"),
            (printed(1.5e300f64), "1.500000e+300"),
            (printed(f64::MIN_POSITIVE / 4.0), "5.562685e-309"),
            (printed(0.0f64), "0.000000e+00"),
            (printed(-0.0f64), "-0.000000e+00"),
            (printed(f32::NAN), "nan"),
            (printed(f32::NEG_INFINITY), "-INF"),
            (printed(f64::INFINITY), "INF"),
            (printed(true), "1"),
            (printed(-3i8), "-3"),
            (printed(u64::MAX), "18446744073709551615"),
            (printed(bf16::from_f32(2.0)), "2.000000e+00"),
            (printed(Complex::new(1.0f32, -2.0)), "(1.000000e+00,-2.000000e+00)"),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
    }

    #[test]
    fn the_dispatch_reaches_the_type_of_each_data_type() {
        for &dtype in DType::ALL {
            let found = with_element!(dtype, |T| Some(T::DTYPE), else None);
            assert_eq!(found, dtype.size().map(|_| dtype));
        }
    }

    #[test]
    fn bits_have_the_size_and_alignment_of_the_elements_they_stand_for() {
        for &dtype in DType::ALL {
            let element = with_element!(dtype, |T| Some((size_of::<T>(), align_of::<T>())), else None);
            let bits = with_bits!(dtype, |T| Some((size_of::<T>(), align_of::<T>())), else None);
            assert_eq!(bits, element, "{dtype}");
            assert_eq!(bits_of(bits_of(dtype)), bits_of(dtype), "{dtype}");
        }
    }
}
