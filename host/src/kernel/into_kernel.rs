//! Turns a function into a kernel: the function's signature is the kernel's.

#![expect(unsafe_code, reason = "functions without state are called without being carried along")]

use std::{ptr::NonNull, sync::Arc};

use super::{
    frame::{KernelFrame, ScalarFn, ScalarFrame},
    parameters::{Cursor, KernelParameter, ParameterError},
    results::KernelResult,
    signature::KernelSignature,
};

/// A kernel's erased form.
pub type KernelFn = dyn Fn(&mut KernelFrame<'_>) + Send + Sync;

/// Implemented for every function whose parameters are [`KernelParameter`]s and whose result is a
/// [`KernelResult`]; `Sig` only keeps the implementations apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    note = "a kernel is a function of up to 22 `KernelParameter`s that returns a `KernelResult`"
)]
pub trait IntoKernel<Sig>: Send + Sync + 'static {
    /// The function's signature.
    fn signature() -> KernelSignature;
    /// Erases the function.
    fn into_kernel(self) -> Arc<KernelFn>;
    /// A shorter way to call the function, if it takes and gives nothing but scalars and keeps no state.
    #[doc(hidden)]
    fn scalar_fn(&self) -> Option<ScalarFn>;
}

/// The value of a type without size, of which the caller knows that there is one for good.
///
/// # Safety
/// An `F` exists and is not destroyed while the reference is used. `F` has no size.
#[inline(always)]
unsafe fn stateless<'f, F>() -> &'f F {
    debug_assert!(size_of::<F>() == 0);
    // SAFETY: a reference to nothing may point anywhere, and by contract the value exists.
    unsafe { NonNull::<F>::dangling().as_ref() }
}

macro_rules! into_kernel {
    ($($p:ident),*) => {
        #[expect(clippy::allow_attributes, reason = "the lints below fire for some arities only")]
        #[allow(non_snake_case, unused_variables, unused_mut, clippy::too_many_arguments, reason = "macro-generated")]
        impl<F, R, $($p,)*> IntoKernel<fn($($p,)*) -> R> for F
        where
            R: KernelResult + 'static,
            $($p: KernelParameter + 'static,)*
            F: Send + Sync + 'static,
            // The first bound names the types as written, the second as they are for the frame at hand; together
            // they let `Arg<T>` stand in a closure's parameters.
            F: Fn($($p),*) -> R,
            F: for<'f> Fn($($p::Item<'f>),*) -> R,
        {
            fn signature() -> KernelSignature {
                let mut signature = KernelSignature::default();
                $($p::describe(&mut signature);)*
                R::describe(&mut signature);
                signature
            }

            fn scalar_fn(&self) -> Option<ScalarFn> {
                #[inline(always)]
                fn call<R, $($p),*>(function: impl Fn($($p),*) -> R, $($p: $p),*) -> R {
                    function($($p),*)
                }
                if !(R::SCALAR $(&& $p::SCALAR)*) || size_of::<F>() != 0 {
                    return None;
                }
                Some(|mut frame: ScalarFrame<'_>| {
                    let mut run = || -> Option<()> {
                        let mut next = 0..;
                        $(let $p = $p::fetch_scalar(&frame, next.next()?)?;)*
                        // SAFETY: `F` has no size, as checked above; the kernel, which is called through this
                        // function alone, keeps the function that `self` is.
                        let function = unsafe { stateless::<F>() };
                        let result = call(function, $($p),*);
                        result.store_scalar(&mut frame, next.next()?);
                        Some(())
                    };
                    run().is_some()
                })
            }

            fn into_kernel(self) -> Arc<KernelFn> {
                #[inline(always)]
                fn call<R, $($p),*>(function: impl Fn($($p),*) -> R, $($p: $p),*) -> R {
                    function($($p),*)
                }
                Arc::new(move |frame: &mut KernelFrame<'_>| {
                    let run = |frame: &KernelFrame<'_>| -> Result<R, ParameterError> {
                        let mut cursor = Cursor::default();
                        $(let $p = $p::fetch(frame, &mut cursor)?;)*
                        Ok(call(&self, $($p),*))
                    };
                    match run(frame) {
                        Ok(results) => results.store(frame),
                        Err(error) => error.report(frame),
                    }
                })
            }
        }
    };
}

into_kernel!();
into_kernel!(A);
into_kernel!(A, B);
into_kernel!(A, B, C);
into_kernel!(A, B, C, D);
into_kernel!(A, B, C, D, E);
into_kernel!(A, B, C, D, E, G);
into_kernel!(A, B, C, D, E, G, H);
into_kernel!(A, B, C, D, E, G, H, I);
into_kernel!(A, B, C, D, E, G, H, I, J);
into_kernel!(A, B, C, D, E, G, H, I, J, K);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P, Q);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P, Q, S);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P, Q, S, T);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P, Q, S, T, U);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P, Q, S, T, U, V);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P, Q, S, T, U, V, W);
into_kernel!(A, B, C, D, E, G, H, I, J, K, L, M, N, O, P, Q, S, T, U, V, W, X);
