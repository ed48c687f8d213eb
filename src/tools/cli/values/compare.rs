//! Compares values with expected ones.

use std::fmt;

use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_tensor::{Complex, DenseHostTensor, Element, HostTensor, with_element};

use super::{Allocator, ME, show};

/// The first difference between a value and its expected value.
#[derive(Debug, PartialEq)]
pub(in crate::tools::cli) struct Difference {
    /// The element in row-major order, if tensors of one shape and type were compared.
    pub(in crate::tools::cli) index: Option<usize>,
    /// The value, or its type and shape.
    pub(in crate::tools::cli) actual: String,
    /// The expected value, or its type and shape.
    pub(in crate::tools::cli) expected: String,
    /// The number of elements that differ, and of all elements.
    pub(in crate::tools::cli) count: Option<(usize, usize)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, actual, expected, count } = self;
        match index {
            Some(index) => write!(f, "element {index} is {actual}, expected {expected}")?,
            None => write!(f, "it is {actual}, expected {expected}")?,
        }
        match count {
            Some((differing, all)) => write!(f, " ({differing} of {all} differ)"),
            None => Ok(()),
        }
    }
}

/// Compares a value with its expected value. Floats, and the parts of complex numbers, may differ
/// by `tolerance`, absolutely or relative to the greater of the two.
///
/// # Errors
/// If the values cannot be compared.
pub(in crate::tools::cli) fn difference(
    value: &AsyncValue,
    expected: &AsyncValue,
    ty: &str,
    tolerance: f64,
    allocator: &Allocator,
) -> Result<Option<Difference>, Diagnostic> {
    let whole = |actual, expected| Difference { index: None, actual, expected, count: None };
    let (Some(actual), Some(wanted)) = (value.get::<HostTensor>(), expected.get::<HostTensor>()) else {
        let (actual, wanted) = (show(value, ty)?, show(expected, ty)?);
        let tolerance = ["f16", "bf16", "f32", "f64"].contains(&ty).then_some(tolerance);
        let is_close = is_as_expected(&actual, &wanted, tolerance);
        return Ok((!is_close).then(|| whole(actual, wanted)));
    };
    if actual.metadata() != wanted.metadata() {
        let form = |tensor: &HostTensor| format!("a {} {:?}", tensor.shape(), tensor.dtype());
        return Ok(Some(whole(form(actual), form(wanted))));
    }
    if let (HostTensor::String(actual), HostTensor::String(wanted)) = (actual, wanted) {
        return Ok(first_of(actual.strings(), wanted.strings(), |a, w| a == w));
    }
    let (actual, wanted) = (actual.to_dense(&ME, allocator)?, wanted.to_dense(&ME, allocator)?);
    let is_float = matches!(actual.dtype(), DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let of_floats = is_float.then_some(tolerance);
    match actual.dtype() {
        DType::Complex64 => first_difference::<Complex<f32>>(&actual, &wanted, |a, w| {
            is_close(a.re.into(), w.re.into(), tolerance) && is_close(a.im.into(), w.im.into(), tolerance)
        }),
        DType::Complex128 => first_difference::<Complex<f64>>(&actual, &wanted, |a, w| {
            is_close(a.re, w.re, tolerance) && is_close(a.im, w.im, tolerance)
        }),
        dtype => with_element!(dtype, |T| first_difference::<T>(&actual, &wanted, |a, w| {
            is_as_expected(&a.to_string(), &w.to_string(), of_floats)
        }), else Ok(None)),
    }
}

fn first_difference<T: Element + fmt::Display>(
    actual: &DenseHostTensor,
    wanted: &DenseHostTensor,
    same: impl Fn(&T, &T) -> bool,
) -> Result<Option<Difference>, Diagnostic> {
    let (actual, wanted) = (actual.read::<T>(&ME)?, wanted.read::<T>(&ME)?);
    Ok(first_of(&actual, &wanted, same))
}

fn first_of<T: fmt::Display>(
    actual: &[T],
    wanted: &[T],
    same: impl Fn(&T, &T) -> bool,
) -> Option<Difference> {
    let differs = |(a, w): (&T, &T)| !same(a, w);
    let count = actual.iter().zip(wanted).filter(|&pair| differs(pair)).count();
    let index = actual.iter().zip(wanted).position(differs)?;
    Some(Difference {
        index: Some(index),
        actual: actual[index].to_string(),
        expected: wanted[index].to_string(),
        count: Some((count, actual.len())),
    })
}

/// Whether two values, as they are written, are the same, or close if there is a tolerance.
/// Integers are compared as text, since `f64` cannot represent all of them.
fn is_as_expected(actual: &str, wanted: &str, tolerance: Option<f64>) -> bool {
    let close = |tolerance| Some(is_close(actual.parse().ok()?, wanted.parse().ok()?, tolerance));
    tolerance.and_then(close).unwrap_or(actual == wanted)
}

/// Whether two numbers are the same or less than a tolerance apart. If one of them is infinite,
/// both sides of the comparison are infinite.
fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() < tolerance * a.abs().max(b.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;

    use super::*;

    fn value(text: &str, ty: &str) -> AsyncValue {
        let value = super::super::parse(text, ty, u64::MAX, &(Arc::new(SystemAllocator) as Allocator));
        value.unwrap_or_else(|_| panic!("{text} is not a value"))
    }

    #[test]
    fn differences_are_told() {
        let allocator: Allocator = Arc::new(SystemAllocator);
        let tell = |a: &str, b: &str, ty: &str| {
            let found = difference(&value(a, ty), &value(b, ty), ty, 1e-3, &allocator).unwrap();
            found.map(|difference| difference.to_string())
        };
        assert_eq!(tell("1.0", "1.0001", "f32"), None);
        assert_eq!(tell("inf", "inf", "f32"), None);
        assert!(tell("inf", "5.0", "f32").is_some() && tell("-inf", "inf", "f32").is_some());
        assert!(tell("2xf32=[1,inf]", "2xf32=[1,5]", "!t.tensor").is_some());
        assert_eq!(tell("1", "2", "i32").unwrap(), "it is 1, expected 2");
        assert!(tell("1000000", "1000001", "i32").is_some());
        assert!(tell("9007199254740993", "9007199254740992", "i64").is_some());
        assert!(tell("2xi64=[1,9007199254740993]", "2xi64=[1,9007199254740992]", "!t.tensor").is_some());
        assert_eq!(tell("2xf32=[1,2]", "2xf32=[1,2.0005]", "!t.tensor"), None);
        assert_eq!(
            tell("2xf32=[1,2]", "2xf32=[1,3]", "!t.tensor").unwrap(),
            "element 1 is 2, expected 3 (1 of 2 differ)"
        );
        assert!(tell("2xf32=[1,2]", "1xf32=[1]", "!t.tensor").is_some());
        for of in ["complex<f32>", "complex<f64>"] {
            let tell = |a: &str, b: &str| tell(&format!("{of}={a}"), &format!("{of}={b}"), "!t.tensor");
            assert_eq!(tell("1+2i", "1.0005+2.0005i"), None);
            for other in ["1.1+2i", "1+2.1i", "1-2i"] {
                assert!(tell("1+2i", other).is_some(), "{of} {other}");
            }
        }
    }
}
