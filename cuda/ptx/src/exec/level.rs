//! Sets of vector instructions, and the variants of handlers compiled for them.
//!
//! A handler is written once, as an inlined generic function. The macro `handlers!` compiles a
//! variant for every [`Level`]. A program refers to all variants until it is linked for the
//! processor it runs on. All variants compute the same results, as they differ only in the
//! instructions that the compiler may use.

#![expect(unsafe_code, reason = "handlers of typed instructions become handlers of untyped ones")]

use super::machine::{Flow, Handler, Machine};
use super::program::Inst;
use super::slots::{FIELDS, FieldType, Use};

/// A set of instructions that handlers are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Level {
    /// The instructions that every processor of the architecture has.
    Baseline,
    /// AVX2 with FMA, BMI and F16C.
    Avx2,
    /// AVX-512 with its byte, word and 128-bit extensions.
    Avx512,
}

impl Level {
    /// Returns the best level that this processor supports.
    pub(crate) fn current() -> Level {
        #[cfg(test)]
        if let Some(level) = tests::FORCED.get() {
            return level;
        }
        *Self::available().last().unwrap_or(&Level::Baseline)
    }

    /// Returns the levels that this processor supports, the best one last.
    fn available() -> &'static [Level] {
        const ALL: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("f16c");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx512 {
                return &ALL;
            }
            if avx2 {
                return &ALL[..2];
            }
        }
        &ALL[..1]
    }
}

/// A handler as it is written: a function of an instruction with typed fields.
pub(crate) type Body<Dst, A, B, C, D, Site> =
    unsafe fn(&mut Machine<'_>, &Inst<Dst, A, B, C, D, Site>) -> Flow;

/// The variants of one handler, and how it uses the fields of its instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handlers {
    /// The variants for plain launches, by [`Level`].
    plain: [Handler; 3],
    /// The variants for launches with [`super::instrument::Instruments`], by [`Level`].
    instrumented: [Handler; 3],
    uses: [Use; FIELDS],
}

impl Handlers {
    /// Creates the handlers for a body that does not gain from vector instructions: all variants
    /// are the same.
    pub(crate) const fn uniform<Dst, A, B, C, D, Site>(body: Body<Dst, A, B, C, D, Site>) -> Handlers
    where
        Dst: FieldType,
        A: FieldType,
        B: FieldType,
        C: FieldType,
        D: FieldType,
        Site: FieldType,
    {
        Handlers::new([body; 3], [body; 3])
    }

    /// Creates the handlers from their variants by [`Level`], for plain and for instrumented
    /// launches.
    pub(crate) const fn new<Dst, A, B, C, D, Site>(
        plain: [Body<Dst, A, B, C, D, Site>; 3],
        instrumented: [Body<Dst, A, B, C, D, Site>; 3],
    ) -> Handlers
    where
        Dst: FieldType,
        A: FieldType,
        B: FieldType,
        C: FieldType,
        D: FieldType,
        Site: FieldType,
    {
        const fn erase<Dst, A, B, C, D, Site>(body: Body<Dst, A, B, C, D, Site>) -> Handler {
            // SAFETY: the two function types differ only in the pointee of a thin reference, so
            // they have the same ABI. `Handler` requires its caller to pass an instruction with
            // fields of these types, which `uses` records.
            unsafe { std::mem::transmute::<Body<Dst, A, B, C, D, Site>, Handler>(body) }
        }
        let [p0, p1, p2] = plain;
        let [i0, i1, i2] = instrumented;
        Handlers {
            plain: [erase(p0), erase(p1), erase(p2)],
            instrumented: [erase(i0), erase(i1), erase(i2)],
            uses: [Dst::USE, A::USE, B::USE, C::USE, D::USE, Site::USE],
        }
    }

    /// Returns how the handler uses `dst`, `a`, `b`, `c`, `d` and `site`.
    pub(crate) fn uses(&self) -> &[Use; FIELDS] {
        &self.uses
    }

    /// Returns the variant for a level.
    pub(crate) fn pick(&self, level: Level, instrumented: bool) -> Handler {
        let copies = if instrumented { &self.instrumented } else { &self.plain };
        copies[level as usize]
    }
}

/// Defines `fn name<O: Bound>() -> Handlers` from the inlined generic function `body::<O, FMA>`,
/// which takes an instruction of type `inst`. `FMA` says whether a fused multiply-add is one
/// instruction. Instrumented launches call `slow` instead, if it is given.
macro_rules! handlers {
    ($(#[$meta:meta])* $name:ident, $body:ident, $bound:path, $inst:ty $(, instrumented: $slow:expr)?) => {
        $(#[$meta])*
        pub(crate) const fn $name<O: $bound>() -> $crate::exec::level::Handlers {
            use $crate::exec::level::{Body, Handlers};
            use $crate::exec::machine::{Flow, Machine};
            unsafe fn baseline<O: $bound>(m: &mut Machine<'_>, i: &$inst) -> Flow {
                // SAFETY: the caller upholds the contract of `Handler`.
                unsafe { $body::<O, { cfg!(target_feature = "fma") || cfg!(target_arch = "aarch64") }>(m, i) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            unsafe fn avx2<O: $bound>(m: &mut Machine<'_>, i: &$inst) -> Flow {
                // SAFETY: the caller upholds the contract of `Handler`.
                unsafe { $body::<O, true>(m, i) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            unsafe fn avx512<O: $bound>(m: &mut Machine<'_>, i: &$inst) -> Flow {
                // SAFETY: the caller upholds the contract of `Handler`.
                unsafe { $body::<O, true>(m, i) }
            }
            #[cfg(target_arch = "x86_64")]
            let plain: [Body<_, _, _, _, _, _>; 3] = [baseline::<O>, avx2::<O>, avx512::<O>];
            #[cfg(not(target_arch = "x86_64"))]
            let plain: [Body<_, _, _, _, _, _>; 3] = [baseline::<O>; 3];
            handlers!(@make plain $(, $slow)?)
        }
    };
    (@make $plain:ident) => { Handlers::new($plain, $plain) };
    (@make $plain:ident, $slow:expr) => { Handlers::new($plain, [$slow as Body<_, _, _, _, _, _>; 3]) };
}
pub(crate) use handlers;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Level;
    use crate::{Launch, Memory, Module, Params};

    thread_local! {
        /// The level that launches of this thread use instead of the best one.
        pub(super) static FORCED: Cell<Option<Level>> = const { Cell::new(None) };
    }

    /// Returns the results of a kernel with many mathematical functions at a level.
    fn results(level: Level) -> Vec<u8> {
        const N: u32 = 1000;
        let text = include_str!("../../tests/corpus/ptx/elementwise.compute_80.ptx");
        let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let function = module.function("activations").unwrap_or_else(|error| panic!("{error}"));
        let memory = Memory::new();
        let x: Vec<u8> = (0..N).flat_map(|i| (i as f32 * 0.013 - 6.5).to_le_bytes()).collect();
        let allocate = |bytes: &[u8]| memory.allocate_from(bytes).unwrap_or_else(|error| panic!("{error}"));
        let params = Params::new().push(allocate(&x));
        let outputs = [(); 4].map(|()| allocate(&vec![0; x.len()]));
        let params = outputs.iter().fold(params, |params, output| params.push(*output)).push(N as i32);
        FORCED.set(Some(level));
        let launched =
            Launch::new(&function).grid(N.div_ceil(256)).block(256).threads(1).run(&params, &memory);
        FORCED.set(None);
        launched.unwrap_or_else(|fault| panic!("{level:?}: {fault}"));
        let mut all = vec![0; outputs.len() * x.len()];
        for (output, bytes) in outputs.iter().zip(all.chunks_exact_mut(x.len())) {
            memory.read(*output, bytes).unwrap_or_else(|error| panic!("{error}"));
        }
        all
    }

    #[test]
    #[cfg_attr(miri, ignore = "there is one level")]
    fn all_levels_give_the_same() {
        let expected = results(Level::Baseline);
        assert!(expected.iter().any(|byte| *byte != 0));
        for &level in Level::available() {
            assert!(results(level) == expected, "{level:?}");
        }
    }
}
