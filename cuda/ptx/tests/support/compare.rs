//! Comparisons of results with references. A failure names the first elements that differ.

use std::fmt::Debug;

use half::{bf16, f16};

/// Equality of results: floats by their bits, so that zeros have signs, and all NaNs alike.
pub(crate) trait Same: Copy + Debug {
    fn same(self, other: Self) -> bool;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Same for $ty {
            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}
integers! { i8 u8 i16 u16 i32 u32 i64 u64 bool }

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Same for $ty {
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    )*};
}
floats! { f16 bf16 f32 f64 }

impl<T: Same, const N: usize> Same for [T; N] {
    fn same(self, other: Self) -> bool {
        self.iter().zip(other).all(|(a, b)| a.same(b))
    }
}

/// The same elements, exactly.
#[track_caller]
pub(crate) fn assert_same<T: Same>(got: &[T], want: &[T]) {
    report(got, want, |i| got[i].same(want[i]));
}

/// Elements nearer than `absolute + relative * |want|`; infinities and NaNs where the reference has
/// them.
#[track_caller]
pub(crate) fn assert_close<T: Copy + Debug + Into<f64>>(
    got: &[T],
    want: &[f64],
    relative: f64,
    absolute: f64,
) {
    report(got, want, |i| {
        let (got, want) = (got[i].into(), want[i]);
        got == want || got.is_nan() && want.is_nan() || (got - want).abs() < absolute + relative * want.abs()
    });
}

/// Elements within so many units in the last place of an `f32`, of results in double precision.
#[track_caller]
pub(crate) fn assert_ulps_f32(x: &[f32], got: &[f32], want: &[f64], ulps: f64) {
    report(got, want, |i| {
        let error = ulp_error_f32(got[i], want[i]);
        assert!(error <= ulps, "f({:e}) = {:e}, not {:e}: {error:.2} ulp", x[i], got[i], want[i]);
        true
    });
}

/// Distance in units in the last place of the wanted number; 0 where both are NaN or the same
/// infinity.
pub(crate) fn ulp_error_f32(got: f32, want: f64) -> f64 {
    let nearest = want as f32;
    if got == nearest || got.is_nan() && want.is_nan() {
        return 0.0;
    }
    // Beyond the largest number, the next power of two stands for infinity.
    let value =
        if got.is_infinite() && want.is_finite() { 2f64.powi(128).copysign(got.into()) } else { got.into() };
    let exponent =
        if nearest == 0.0 { -149 } else { (want.abs().log2().floor() as i32).clamp(-126, 127) - 23 };
    (value - want).abs() / 2f64.powi(exponent.max(-149))
}

/// The same for `f64`, of a reference that is an `f64` itself.
pub(crate) fn ulp_error_f64(got: f64, want: f64) -> f64 {
    if got == want || got.is_nan() && want.is_nan() {
        return 0.0;
    }
    if got.is_nan() || want.is_nan() || got.is_infinite() != want.is_infinite() {
        return f64::INFINITY;
    }
    let order = |v: f64| {
        let bits = v.to_bits() as i64;
        i128::from(if bits < 0 { i64::MIN - bits } else { bits })
    };
    (order(got) - order(want)).unsigned_abs() as f64
}

#[track_caller]
fn report<T: Debug, U: Debug>(got: &[T], want: &[U], fits: impl Fn(usize) -> bool) {
    assert_eq!(got.len(), want.len(), "numbers of elements");
    let wrong: Vec<usize> = (0..got.len()).filter(|&i| !fits(i)).collect();
    let list: Vec<String> =
        wrong.iter().take(5).map(|&i| format!("[{i}] {:?}, not {:?}", got[i], want[i])).collect();
    assert!(wrong.is_empty(), "{} of {} differ: {}", wrong.len(), got.len(), list.join("; "));
}
