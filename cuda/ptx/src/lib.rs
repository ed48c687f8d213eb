//! Runs NVIDIA PTX modules on an ordinary processor: parses, checks and executes them.
//!
//! PTX is the assembly language that CUDA compilers emit and that NVIDIA's driver turns into
//! machine code. This crate runs it without a GPU, a driver or a toolkit. It takes modules as
//! NVRTC, nvcc, clang and Triton write them (PTX ISA 3.0 to 9.4, targets sm_30 to sm_121). A form
//! that it does not support is an error when the module is loaded, never a wrong result.
//!
//! A caller [parses](Module::parse) a module, [allocates](Memory::allocate) memory and
//! [launches](Launch) a kernel. A launch that goes wrong returns a [`Fault`] with the instruction,
//! its source line and the thread.
//!
//! - [`syntax`] reads text: it resolves names, checks declarations, and reports all errors of a
//!   module at once.
//! - `arith` holds what each instruction computes, as functions on scalars.
//! - `code` translates each function once to a compact form, and checks every instruction's types
//!   and modifiers.
//! - `exec` runs that form, a warp at a time, and checks every access to memory.
//! - `module` and `launch` are the interface.
//!
//! The crate knows no runtime and no device. It never prints, and never panics on input.

mod arith;
mod code;
mod effects;
mod error;
mod exec;
mod launch;
mod module;
pub mod syntax;

pub use effects::{Effects, Uses, effects};
pub use error::{Error, Errors, MAX_ERRORS, Span};
pub use exec::{
    Dim3, Fault, FaultKind, FaultParts, Handover, Held, MAX_BLOCKS_BEGUN, Memory, MemoryError, OpcodeCount,
    OwnThreads, Owner, ParallelFor, Param, Params, Place, Sequential, Sink, SpaceTraffic, Statistics,
    TouchKind, Touched,
};
pub use launch::{Launch, Report, Toucher};
pub use module::{Function, Global, Module, Parameter, UnknownFunction};
