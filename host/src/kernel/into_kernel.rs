//! Turns a function into a kernel: the function's signature is the kernel's.

#![expect(unsafe_code, reason = "functions without state are called without being carried along")]

use std::{ptr::NonNull, sync::Arc};

use super::{
    parameters::{Cursor, KernelParameter, ParameterError},
    results::KernelResult,
    signature::KernelSignature,
};
use crate::program::{KernelFn, KernelFrame, ScalarFn, ScalarFrame};

/// A function with its signature, without its type.
///
/// No path outside of this crate leads to this type, which seals [`IntoKernel`]: code that cannot
/// name it cannot implement the trait, so that `scalar` always fits `signature`.
pub struct ErasedKernel {
    pub(super) signature: KernelSignature,
    pub(super) run: Arc<KernelFn>,
    /// A shorter way to call the function, if its arguments and its one result are scalars and it
    /// keeps no state.
    pub(super) scalar: Option<ScalarFn>,
}

/// A function that can be registered as a kernel.
///
/// Every function with up to 22 [`KernelParameter`]s that returns a [`KernelResult`] implements it.
/// `Sig` only tells the implementations apart. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    note = "a kernel is a function of up to 22 `KernelParameter`s that returns a `KernelResult`"
)]
pub trait IntoKernel<Sig>: Send + Sync + 'static {
    /// Takes the function's signature and erases its type.
    #[doc(hidden)]
    fn erase(self) -> ErasedKernel;
}

/// Returns the value of a type without size.
///
/// # Safety
/// `F` has no size, and an `F` exists and is not destroyed while the reference is used.
#[inline(always)]
unsafe fn stateless<'f, F>() -> &'f F {
    debug_assert!(size_of::<F>() == 0);
    // SAFETY: a reference to a type without size may point to any aligned address, and this
    // function demands that the value exists.
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
            // The first bound names the types as written, the second as they are for the frame at
            // hand; together they let `Arg<T>` stand in a closure's parameters.
            F: Fn($($p),*) -> R,
            F: for<'f> Fn($($p::Item<'f>),*) -> R,
        {
            fn erase(self) -> ErasedKernel {
                #[inline(always)]
                fn call<R, $($p),*>(function: impl Fn($($p),*) -> R, $($p: $p),*) -> R {
                    function($($p),*)
                }

                let mut signature = KernelSignature::default();
                $($p::describe(&mut signature);)*
                R::describe(&mut signature);

                let has_scalar = R::SCALAR.is_some() $(&& $p::SCALAR.is_some())* && size_of::<F>() == 0;
                let scalar: ScalarFn = |mut frame: ScalarFrame<'_>| {
                    let mut run = || -> Option<()> {
                        let mut next = 0..;
                        // SAFETY: the frame has an operand for each argument and result of the
                        // kernel. The parameters are `next` in number and each of them is one
                        // argument, because each has a `SCALAR`.
                        $(let $p = unsafe { $p::SCALAR?.fetch(&frame, next.next()?) }?;)*
                        // SAFETY: `F` has no size, or there would be no `scalar`. The kernel keeps
                        // the function that `self` is, and is itself kept while it is called.
                        let function = unsafe { stateless::<F>() };
                        let result = call(function, $($p),*);
                        // SAFETY: the result's operand comes after those of the arguments.
                        unsafe { R::SCALAR?.store(result, &mut frame, next.next()?) };
                        Some(())
                    };
                    run().is_some()
                };

                let run = Arc::new(move |frame: &mut KernelFrame<'_>| {
                    let run = |frame: &KernelFrame<'_>| -> Result<R, ParameterError> {
                        let mut cursor = Cursor::default();
                        $(let $p = $p::fetch(frame, &mut cursor)?;)*
                        Ok(call(&self, $($p),*))
                    };
                    match run(frame) {
                        Ok(results) => results.store(frame),
                        Err(error) => error.report(frame),
                    }
                });
                ErasedKernel { signature, run, scalar: has_scalar.then_some(scalar) }
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
