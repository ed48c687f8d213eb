//! Compiles a loop once more for wider vectors and picks that version where the processor has them.
//!
//! Never changes a result: no fused multiply-add is introduced, since the compiler does not
//! contract on its own.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "a function compiled for a processor feature may only be called where it exists"
    )
)]

/// Runs `body`, compiled for the widest vectors that this processor has. `body` must be small
/// enough to be inlined, or it simply runs as compiled for the baseline.
#[inline]
pub(crate) fn vectorize<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just found to have AVX2, the one feature that the function
            // asks for.
            return unsafe { with_avx2(body) };
        }
    }
    body()
}

/// A loop that is compiled for several widths of vectors. Its function is `#[inline(always)]`, and
/// so should be what it calls: what is not inlined is compiled for the baseline.
pub(crate) trait Loop {
    /// Runs the loop.
    fn run(self);
}

/// Runs a loop, compiled for the widest vectors that this processor has, however large its body is.
#[inline]
pub(crate) fn run_wide(body: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just found to have AVX2, the one feature that the function
            // asks for.
            return unsafe { loop_with_avx2(body) };
        }
    }
    body.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn loop_with_avx2(body: impl Loop) {
    body.run();
}

/// Calls `body`, compiled for the widest vectors that this processor has, with [`Fused`] where
/// products can be added with one rounding, else with [`Plain`]. As for [`vectorize`], it must be
/// small.
#[inline]
pub(crate) fn vectorize_products(body: impl Body) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("fma") {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor was just found to have both features that the function asks
                // for.
                return unsafe { with_avx512(body) };
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor was just found to have both features that the function asks
                // for.
                return unsafe { with_fma(body) };
            }
        }
    }
    #[cfg(target_arch = "aarch64")]
    return body.run::<Fused>();
    #[cfg(not(target_arch = "aarch64"))]
    body.run::<Plain>()
}

/// A loop for [`vectorize_products`].
pub(crate) trait Body {
    /// Runs the loop. Implementations must be inlined.
    fn run<P: Products>(self);
}

/// How a product is added.
pub(crate) trait Products {
    /// Returns `a · b + c`.
    fn product_plus(a: f32, b: f32, c: f32) -> f32;
}

/// With one rounding.
pub(crate) struct Fused;
/// With two roundings.
pub(crate) struct Plain;

impl Products for Fused {
    #[inline(always)]
    fn product_plus(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Products for Plain {
    #[inline(always)]
    fn product_plus(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn with_avx512(body: impl Body) {
    body.run::<Fused>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_fma(body: impl Body) {
    body.run::<Fused>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}
