//! A small machine for tests: a module, memory, random numbers, launches.
//!
//! A test is a function of a [`Gpu`]. [`run`] calls it twice with the same random numbers: as it
//! is, blocks in parallel, and with the checks of uninitialized memory and of races. Inputs differ
//! in every run; a failing test prints its seed, and `PTX_SEED` repeats it.

pub(crate) mod compare;
pub(crate) mod floats;

use std::{fmt::Debug, marker::PhantomData};

use bytemuck::Pod;
use fastrand::Rng;
use tfrt_ptx::{Dim3, Fault, Launch, Memory, Module, Param, Params};

/// Instructions after which a kernel counts as endless.
const MAX_INSTRUCTIONS: u64 = 200_000_000;

/// An array in device memory.
pub(crate) struct Buffer<T> {
    pub(crate) address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Buffer<T> {}

impl<T: Copy> Param for Buffer<T> {
    fn to_bytes(self) -> Vec<u8> {
        self.address.to_le_bytes().to_vec()
    }
}

/// A struct passed by value.
#[derive(Clone, Copy)]
pub(crate) struct Struct<T>(pub(crate) T);

impl<T: Pod> Param for Struct<T> {
    fn to_bytes(self) -> Vec<u8> {
        bytemuck::bytes_of(&self.0).to_vec()
    }
}

/// Parameters of a launch, in order.
macro_rules! args {
    ($($value:expr),* $(,)?) => { tfrt_ptx::Params::new()$(.push($value))* };
}
pub(crate) use args;

/// A type that random inputs are made of: integers over their whole range, floats from -1 to 1.
pub(crate) trait Random: Pod + Debug {
    fn random(rng: &mut Rng) -> Self;
}

macro_rules! random {
    ($($ty:ident)*) => {$(
        impl Random for $ty {
            fn random(rng: &mut Rng) -> Self {
                rng.$ty(..)
            }
        }
    )*};
}
random! { i8 u8 i16 u16 i32 u32 i64 u64 }

impl<T: Random, const N: usize> Random for [T; N]
where
    [T; N]: Pod,
{
    fn random(rng: &mut Rng) -> [T; N] {
        std::array::from_fn(|_| T::random(rng))
    }
}

impl Random for f64 {
    fn random(rng: &mut Rng) -> f64 {
        rng.f64() * 2.0 - 1.0
    }
}
impl Random for f32 {
    fn random(rng: &mut Rng) -> f32 {
        f64::random(rng) as f32
    }
}
impl Random for half::f16 {
    fn random(rng: &mut Rng) -> Self {
        Self::from_f64(f64::random(rng))
    }
}
impl Random for half::bf16 {
    fn random(rng: &mut Rng) -> Self {
        Self::from_f64(f64::random(rng))
    }
}

/// A module that is loaded, and memory for it.
pub(crate) struct Gpu {
    pub(crate) module: Module,
    pub(crate) memory: Memory,
    pub(crate) rng: Rng,
    checked: bool,
    races: bool,
}

impl Gpu {
    pub(crate) fn new(ptx: &str) -> Gpu {
        let module = Module::parse(ptx);
        let errors = module.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let Ok(module) = module else { unreachable!("{errors}") };
        Gpu { module, memory: Memory::new(), rng: Rng::new(), checked: false, races: true }
    }

    /// For a program whose accesses have an order that the check does not follow, or that need
    /// none.
    pub(crate) fn without_race_check(&mut self) {
        self.races = false;
    }

    pub(crate) fn random<T: Random>(&mut self, len: usize) -> Vec<T> {
        (0..len).map(|_| T::random(&mut self.rng)).collect()
    }

    /// Floats of every kind: random bits, ordinary numbers, special values.
    pub(crate) fn any_f32(&mut self, len: usize) -> Vec<f32> {
        let special =
            [0.0, -0.0, 1.0, -1.5, f32::MIN_POSITIVE, 1e-42, -3e-45, f32::MAX, f32::INFINITY, f32::NAN];
        let draw = |_| match self.rng.u8(..4) {
            0 => f32::from_bits(self.rng.u32(..)),
            1 => special[self.rng.usize(..special.len())] * if self.rng.bool() { 1.0 } else { -1.0 },
            _ => f32::random(&mut self.rng) * 10f32.powi(self.rng.i32(-3..6)),
        };
        (0..len).map(draw).collect()
    }

    /// The same in double precision.
    pub(crate) fn any_f64(&mut self, len: usize) -> Vec<f64> {
        let special = [0.0, -0.0, 1.0, -1.5, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::INFINITY, f64::NAN];
        let draw = |_| match self.rng.u8(..4) {
            0 => f64::from_bits(self.rng.u64(..)),
            1 => special[self.rng.usize(..special.len())] * if self.rng.bool() { 1.0 } else { -1.0 },
            _ => f64::random(&mut self.rng) * 10f64.powi(self.rng.i32(-3..12)),
        };
        (0..len).map(draw).collect()
    }

    /// A number of elements from 1 to `max`, often odd.
    pub(crate) fn len(&mut self, max: usize) -> usize {
        self.rng.usize(1..=max)
    }

    /// A new array with these contents.
    pub(crate) fn upload<T: Pod>(&self, data: &[T]) -> Buffer<T> {
        let buffer = self.uninit(data.len());
        self.write(buffer, data);
        buffer
    }

    pub(crate) fn zeros<T: Pod>(&self, len: usize) -> Buffer<T> {
        self.upload(&vec![T::zeroed(); len])
    }

    /// A new array that nobody has written.
    pub(crate) fn uninit<T>(&self, len: usize) -> Buffer<T> {
        let bytes = (len * size_of::<T>()).max(1) as u64;
        Buffer { address: self.memory.allocate(bytes).expect("memory"), len, element: PhantomData }
    }

    pub(crate) fn write<T: Pod>(&self, buffer: Buffer<T>, data: &[T]) {
        self.memory.write(buffer.address, bytemuck::cast_slice(data)).expect("a buffer of that size");
    }

    pub(crate) fn read<T: Pod>(&self, buffer: Buffer<T>) -> Vec<T> {
        let mut data = vec![T::zeroed(); buffer.len];
        self.memory.read(buffer.address, bytemuck::cast_slice_mut(&mut data)).expect("a buffer");
        data
    }

    /// Runs a kernel, which must succeed.
    pub(crate) fn launch(&self, name: &str, grid: impl Into<Dim3>, block: impl Into<Dim3>, params: Params) {
        self.launch_shared(name, grid, block, 0, params);
    }

    /// With dynamic shared memory.
    pub(crate) fn launch_shared(
        &self,
        name: &str,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        shared: u64,
        params: Params,
    ) {
        let result = self.try_launch(name, |launch| launch.grid(grid).block(block).shared(shared), &params);
        assert!(result.is_ok(), "{}", result.map_or_else(|fault| fault.to_string(), |()| String::new()));
    }

    /// Runs a kernel as told.
    pub(crate) fn try_launch(
        &self,
        name: &str,
        prepare: impl for<'l> FnOnce(Launch<'l>) -> Launch<'l>,
        params: &Params,
    ) -> Result<(), Fault> {
        let function = self.module.function(name).expect("a kernel of the module");
        let launch = Launch::new(&function)
            .check_uninitialized(self.checked)
            .check_races(self.checked && self.races)
            .instruction_limit(MAX_INSTRUCTIONS);
        prepare(launch).run(params, &self.memory).map(|_| ())
    }
}

/// Runs a test on a module of PTX, plain and checked.
#[expect(clippy::print_stdout, reason = "shown where a test fails")]
pub(crate) fn run(ptx: &str, test: fn(&mut Gpu)) {
    let seed = std::env::var("PTX_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    for checked in [false, true] {
        println!("PTX_SEED={seed}{}", if checked { ", with checks" } else { "" });
        let mut gpu = Gpu::new(ptx);
        gpu.checked = checked;
        gpu.rng = Rng::with_seed(seed);
        test(&mut gpu);
    }
}

/// Tests of the kernels of a file: for each target a module with a test for each kernel, which
/// calls the function of that name. A last one sees that no kernel of the PTX is left out.
macro_rules! kernels {
    ($file:ident: $($target:ident)+ => $names:tt) => {$(
        mod $target {
            $crate::support::kernels! { @tests $file $target $names }
        }
    )+};
    (@tests $file:ident $target:ident [$($name:ident)+]) => {
        const PTX: &str = include_str!(concat!("ptx/", stringify!($file), ".", stringify!($target), ".ptx"));
        $(
            #[test]
            fn $name() {
                $crate::support::run(PTX, super::$name);
            }
        )+
    };
}
pub(crate) use kernels;
