//! `onnx.Narrow`: rounds numbers to those of a type of eight bits or fewer, which no tensor has:
//! `f32`, `i8` or `ui8` elements hold them.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{Accessor, Element, TensorMetadata};

use super::arguments::{flag, text_or, unknown};
use crate::ops::support::{Computed, Described, compute, one, with_float};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.Narrow");

/// A narrow type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Narrow {
    Integer {
        bits: u32,
        is_signed: bool,
    },
    Float(Format),
    /// Powers of two, by the exponent alone.
    Exponent(Rounding),
}

/// A format of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Format {
    /// The bits behind the leading one.
    mantissa: i32,
    /// The exponent of the smallest normal number.
    least_exponent: i32,
    greatest: f64,
    /// What numbers beyond the greatest one become.
    beyond: Beyond,
    has_negative_zero: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Beyond {
    Infinity,
    NotANumber,
    /// The type has neither.
    Greatest,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rounding {
    Up,
    Down,
    Nearest,
}

impl Narrow {
    fn new(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let float = |mantissa, least_exponent, greatest, beyond, has_negative_zero| {
            Self::Float(Format { mantissa, least_exponent, greatest, beyond, has_negative_zero })
        };
        let integer = |bits, is_signed| Self::Integer { bits, is_signed };
        Ok(match text_or(attrs, "type", "")? {
            "float8e4m3fn" => float(3, -6, 448.0, Beyond::NotANumber, true),
            "float8e4m3fnuz" => float(3, -7, 240.0, Beyond::NotANumber, false),
            "float8e5m2" => float(2, -14, 57344.0, Beyond::Infinity, true),
            "float8e5m2fnuz" => float(2, -15, 57344.0, Beyond::NotANumber, false),
            "float4e2m1" => float(1, 0, 6.0, Beyond::Greatest, true),
            "float8e8m0" => Self::Exponent(match text_or(attrs, "round_mode", "up")? {
                "up" => Rounding::Up,
                "down" => Rounding::Down,
                "nearest" => Rounding::Nearest,
                other => return Err(unknown("round_mode", other)),
            }),
            "int4" => integer(4, true),
            "uint4" => integer(4, false),
            "int2" => integer(2, true),
            "uint2" => integer(2, false),
            other => return Err(unknown("type", other)),
        })
    }

    /// The type of the elements that hold the numbers.
    fn held(self) -> DType {
        match self {
            Self::Integer { is_signed: true, .. } => DType::I8,
            Self::Integer { .. } => DType::UI8,
            Self::Float(_) | Self::Exponent(_) => DType::F32,
        }
    }
}

impl Format {
    fn round(&self, x: f64, saturates: bool) -> f64 {
        if x.is_nan() {
            // A type without NaN has nothing that is closer; ONNX's reference gives minus zero.
            return if self.beyond == Beyond::Greatest { -0.0 } else { x };
        }
        let size = x.abs();
        let rounded = if size.is_finite() && size > 0.0 {
            // Numbers below the smallest normal one have its distance from each other.
            let exponent = (size.log2().floor() as i32).max(self.least_exponent);
            let step = f64::from(exponent - self.mantissa).exp2();
            (size / step).round_ties_even() * step
        } else {
            size
        };
        let bounded = match self.beyond {
            _ if rounded <= self.greatest => rounded,
            Beyond::Infinity if !saturates => f64::INFINITY,
            Beyond::NotANumber if !saturates => f64::NAN,
            _ => self.greatest,
        };
        if bounded == 0.0 && !self.has_negative_zero { 0.0 } else { bounded.copysign(x) }
    }
}

/// The power of two for a number that is not negative.
fn power(x: f64, rounding: Rounding, saturates: bool) -> f64 {
    let (least, greatest) = (f64::from(-127).exp2(), f64::from(127).exp2());
    if x.is_nan() || (!saturates && (x == 0.0 || !x.is_finite())) {
        return f64::NAN;
    }
    let below = x.max(least).min(greatest).log2().floor().exp2();
    let rounded = match rounding {
        Rounding::Down => below,
        Rounding::Up => {
            if below < x {
                2.0 * below
            } else {
                below
            }
        }
        Rounding::Nearest => {
            if x >= 1.5 * below {
                2.0 * below
            } else {
                below
            }
        }
    };
    if saturates || rounded <= greatest { rounded.min(greatest) } else { f64::NAN }
}

/// The integer that the low bits stand for.
fn low_bits(x: i64, bits: u32, is_signed: bool) -> i64 {
    let unused = 64 - bits;
    let shifted = x << unused;
    if is_signed { shifted >> unused } else { ((shifted as u64) >> unused) as i64 }
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    one(TensorMetadata::new(Narrow::new(call.attrs)?.held(), x.shape.clone()))
}

fn narrow<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x], out, count) = (call.dense()?, call.allocate_unset(0)?, call.result(0)?.shape.num_elements()?);
    let saturates = flag(call.attrs, "saturate", true)?;
    let x = x.read_owned::<T>(&ME)?;
    match Narrow::new(call.attrs)? {
        Narrow::Float(format) => compute(call, &ME, out, (count, 1, 16), move |range, out: &mut [f32]| {
            out.iter_mut()
                .zip(&x[range])
                .for_each(|(out, x)| *out = format.round(x.to_f64(), saturates) as f32);
            Ok(())
        }),
        Narrow::Exponent(rounding) => {
            compute(call, &ME, out, (count, 1, 16), move |range, out: &mut [f32]| {
                out.iter_mut()
                    .zip(&x[range])
                    .for_each(|(out, x)| *out = power(x.to_f64(), rounding, saturates) as f32);
                Ok(())
            })
        }
        Narrow::Integer { bits, is_signed: true } => {
            compute(call, &ME, out, (count, 1, 4), move |range, out: &mut [i8]| {
                let integers = x[range].iter().map(|x| low_bits(x.to_f64() as i64, bits, true) as i8);
                out.iter_mut().zip(integers).for_each(|(out, integer)| *out = integer);
                Ok(())
            })
        }
        Narrow::Integer { bits, .. } => {
            compute(call, &ME, out, (count, 1, 4), move |range, out: &mut [u8]| {
                let integers = x[range].iter().map(|x| low_bits(x.to_f64() as i64, bits, false) as u8);
                out.iter_mut().zip(integers).for_each(|(out, integer)| *out = integer);
                Ok(())
            })
        }
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Narrow")
        .types(types::FLOATS)
        .attrs([attr::string("type"), attr::string_or("round_mode", "up"), attr::int_or("saturate", 1)])
        .metadata(metadata)
        .cpu(|call| {
            let dtype = call.arguments.first().map_or(DType::F32, |x| x.dtype());
            with_float!(dtype, "onnx.Narrow", |T| narrow::<T>(&call))
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ty: &str) -> Narrow {
        let mut attrs = OpAttrs::new();
        attrs.set_string("type", ty).unwrap();
        Narrow::new(&attrs).unwrap()
    }

    #[test]
    fn numbers_are_rounded_to_even_and_bounded() {
        let Narrow::Float(format) = of("float8e4m3fn") else { panic!("a floating-point type") };
        for (x, rounded) in
            [(1.0, 1.0), (1.06, 1.0), (1.0625, 1.0), (1.1875, 1.25), (0.001, 0.001953125), (500.0, 448.0)]
        {
            assert_eq!(format.round(x, true), rounded, "{x}");
            assert_eq!(format.round(-x, true), -rounded, "{x}");
        }
        assert!(format.round(500.0, false).is_nan());
        assert_eq!(format.round(0.0004, true), 0.0);
    }

    #[test]
    fn four_bits_wrap() {
        assert_eq!([7, 8, 15, 16, -9].map(|x| low_bits(x, 4, true)), [7, -8, -1, 0, 7]);
        assert_eq!([7, 8, 15, 16, -1].map(|x| low_bits(x, 4, false)), [7, 8, 15, 0, 15]);
    }
}
