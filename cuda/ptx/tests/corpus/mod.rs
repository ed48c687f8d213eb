//! CUDA kernels, compiled to PTX by `ci/ptx`, against plain Rust on random inputs. One module a
//! theme, with the sources (`NAME.cu`), the references (`NAME.rs`) and the PTX
//! (`ptx/NAME.compute_XX.ptx`) side by side.

mod atomics;
mod control;
mod convert;
mod convolution;
mod elementwise;
mod fast_math;
mod half;
mod hopper;
mod integer;
mod math_f32;
mod math_f64;
mod matmul;
mod memory;
mod mma;
mod normalize;
mod reduce;
mod rounding;
mod scan;
mod sort;
mod tensor_core;
mod transpose;
mod warp;
mod whole;
