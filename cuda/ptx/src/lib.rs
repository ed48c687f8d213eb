//! NVIDIA PTX modules on an ordinary processor: parsed, checked, executed.
//!
//! PTX is the assembly language that CUDA compilers emit and that NVIDIA's driver turns into machine code. This crate runs
//! it without a GPU, a driver or a toolkit. It takes modules as NVRTC, nvcc, clang and Triton write them (PTX ISA 3.0 to
//! 9.4, targets sm_30 to sm_121). What it does not know is an error when the module is loaded, never a wrong result.
//!
//! - [`syntax`] reads text: names are resolved, declarations checked, all errors of a module reported at once.
//! - `arith` is what each instruction computes, as functions on scalars.
//! - `code` translates a function to a compact form, once, and checks every instruction's types and modifiers.
//! - `exec` has that form and runs it, a warp at a time, and checks every access to memory.
//!
//! The crate knows no runtime and no device. It never prints, and never panics on input.

mod arith;
mod code;
mod error;
mod exec;
mod launch;
mod module;
pub mod syntax;

pub use error::{Error, Errors, MAX_ERRORS, Span};
pub use exec::{
    BLOCKS_BEGUN_MAX, Dim3, Fault, FaultKind, FaultParts, Held, Memory, MemoryError, OpcodeCount, OwnThreads,
    Owner, ParallelFor, Param, Params, Place, Sequential, Sink, SpaceTraffic, Statistics, Touched,
};
pub use launch::{Launch, Report, Toucher};
pub use module::{Function, Global, Module, Parameter, UnknownFunction};
