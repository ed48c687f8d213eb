//! Turns a function into a kernel: the function's signature is the kernel's.

use std::sync::Arc;

use super::{
    frame::KernelFrame,
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
    note = "a kernel is a function of up to 12 `KernelParameter`s that returns a `KernelResult`"
)]
pub trait IntoKernel<Sig>: Send + Sync + 'static {
    /// The function's signature.
    fn signature() -> KernelSignature;
    /// Erases the function.
    fn into_kernel(self) -> Arc<KernelFn>;
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
