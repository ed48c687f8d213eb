//! Comparing dense tensors.

use tfrt_host::{Arg, Chain, Diagnostic, KernelRegistry};
use tfrt_tensor::{Accessor, Complex, DenseHostTensor, Element, bf16, f16};

static EQUAL: Accessor = Accessor::new("tfrt_dht.tensor_equal");
static ALL_CLOSE: Accessor = Accessor::new("tfrt_dht.tensor_allclose");

/// Whether two tensors have one shape and, place by place, elements that `same` accepts.
pub(super) fn all<T: Element>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    accessor: &Accessor,
    same: impl Fn(T, T) -> bool,
) -> Result<bool, Diagnostic> {
    let (elements, others) = (a.read::<T>(accessor)?, b.read::<T>(accessor)?);
    Ok(a.shape() == b.shape() && elements.iter().zip(others.iter()).all(|(&x, &y)| same(x, y)))
}

/// Elements that may be equal up to rounding.
trait Close: Element {
    /// Whether two elements differ by at most `ulps` units in the last place of their sum, or by
    /// less than the smallest normal number. Numbers that are not floating point must be equal.
    fn close(self, other: Self, ulps: f64) -> bool;
}

macro_rules! exact {
    ($($type:ty)*) => {$(
        impl Close for $type {
            fn close(self, other: Self, _: f64) -> bool {
                self == other
            }
        }
    )*};
}

macro_rules! floating {
    ($($type:ty, $epsilon:expr, $smallest:expr;)*) => {$(
        impl Close for $type {
            fn close(self, other: Self, ulps: f64) -> bool {
                close(f64::from(self), f64::from(other), f64::from($epsilon) * ulps, f64::from($smallest))
            }
        }
    )*};
}

/// The formula that existing programs expect; so infinity is close to every other number, and not
/// to itself.
fn close(x: f64, y: f64, tolerance: f64, smallest: f64) -> bool {
    let difference = (x - y).abs();
    difference <= tolerance * (x + y).abs() || difference < smallest
}

exact!(bool i8 i16 i32 i64 u8 u16 u32 u64);

floating! {
    f16, f16::EPSILON, f16::MIN_POSITIVE;
    bf16, bf16::EPSILON, bf16::MIN_POSITIVE;
    f32, f32::EPSILON, f32::MIN_POSITIVE;
    f64, f64::EPSILON, f64::MIN_POSITIVE;
}

impl Close for Complex<f32> {
    fn close(self, other: Self, ulps: f64) -> bool {
        self.re.close(other.re, ulps) && self.im.close(other.im, ulps)
    }
}

impl Close for Complex<f64> {
    fn close(self, other: Self, ulps: f64) -> bool {
        self.re.close(other.re, ulps) && self.im.close(other.im, ulps)
    }
}

fn equal<T: Element>(
    a: Arg<DenseHostTensor>,
    b: Arg<DenseHostTensor>,
    chain: Chain,
) -> Result<(bool, Chain), Diagnostic> {
    Ok((all::<T>(&a, &b, &EQUAL, |x, y| x == y)?, chain))
}

/// Tolerances in units in the last place, by their part of a kernel's name.
const TOLERANCES: [(f64, &str); 5] =
    [(2.0, ""), (3.0, ".3ulp"), (1000.0, ".1000ulp"), (2000.0, ".2000ulp"), (100_000.0, ".100000ulp")];

fn register_for<T: Close>(registry: &mut KernelRegistry, suffix: &str) {
    registry
        .add(format!("tfrt_dht.tensor_equal.{suffix}"), equal::<T>)
        .doc("Whether two tensors have the same shape and elements.");
    for (ulps, tolerance) in TOLERANCES {
        registry
            .add(
                format!("tfrt_dht.tensor_allclose{tolerance}.{suffix}"),
                move |a: Arg<DenseHostTensor>, b: Arg<DenseHostTensor>, chain: Chain| {
                    all::<T>(&a, &b, &ALL_CLOSE, |x, y| x.close(y, ulps)).map(|close| (close, chain))
                },
            )
            .doc("Whether two tensors have the same shape and elements, up to so many units in the last place.");
    }
}

pub(super) fn register(registry: &mut KernelRegistry) {
    register_for::<bool>(registry, "bool");
    register_for::<i8>(registry, "i8");
    register_for::<i16>(registry, "i16");
    register_for::<i32>(registry, "i32");
    register_for::<i64>(registry, "i64");
    register_for::<u8>(registry, "ui8");
    register_for::<u16>(registry, "ui16");
    register_for::<u32>(registry, "ui32");
    register_for::<u64>(registry, "ui64");
    register_for::<f16>(registry, "f16");
    register_for::<bf16>(registry, "bf16");
    register_for::<f32>(registry, "f32");
    register_for::<f64>(registry, "f64");
    register_for::<Complex<f32>>(registry, "complex64");
    register_for::<Complex<f64>>(registry, "complex128");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closeness_scales_with_the_values() {
        let next = |x: f32, ulps: u32| f32::from_bits(x.to_bits() + ulps);
        assert!(1.0f32.close(next(1.0, 4), 2.0), "2 ulps of the sum are 4 of one value");
        assert!(!1.0f32.close(next(1.0, 5), 2.0));
        assert!(1.0f32.close(next(1.0, 5), 3.0));
        assert!(1e30f32.close(next(1e30, 1), 2.0) && !1e30f32.close(1.001e30, 1000.0));
        assert!(0.0f32.close(f32::MIN_POSITIVE / 2.0, 2.0), "subnormal differences do not count");
        assert!(!f32::NAN.close(f32::NAN, 2.0) && !5i32.close(6, 1000.0));
        assert!(Complex::new(1.0f64, 0.0).close(Complex::new(1.0, 0.0), 2.0));
        assert!(!Complex::new(1.0f64, 0.0).close(Complex::new(1.0, 1.0), 2.0));
    }
}
