//! Runs the compact form of a program: warps, blocks, grids, and the memory they access.
//!
//! | file | contents |
//! |---|---|
//! | `grid` | a running launch: arguments, and blocks spread over threads |
//! | `block`, `stuck` | scheduling of the warps of a block; deadlocks |
//! | `warp`, `stack` | divergence and reconvergence of lanes: splits, joins, calls; stack allocation |
//! | `barrier` | barriers of a block |
//! | `program`, `slots` | the compact form that `code` produces; registers and their widths |
//! | `machine` | the state that instructions read and write: registers, mask, memory |
//! | `ops` | instructions that compute lane by lane |
//! | `access`, `survey`, `atomic`, `wide`, `locate`, `raw` | loads, stores, atomics; finding and checking addresses |
//! | `collective`, `matrix`, `warpgroup` | instructions in which lanes see each other's values |
//! | `transfer`, `bulk` | asynchronous copies, and the barriers that wait for them |
//! | `memory`, `address` | allocations, and the address space |
//! | `level` | compiled variants of handlers for each set of vector instructions |
//! | `special`, `printf` | special registers, output |
//! | `instrument` | optional checks and statistics |
//!
//! Nothing here reads PTX text or its syntax tree: `code` has already selected the handler of each
//! instruction.

pub(crate) mod access;
pub(crate) mod address;
pub(crate) mod atomic;
pub(crate) mod barrier;
mod block;
pub(crate) mod bulk;
pub(crate) mod collective;
pub(crate) mod control_flow;
mod dim;
mod fault;
pub(crate) mod grid;
pub(crate) mod instrument;
pub(crate) mod lanes;
pub(crate) mod level;
mod locate;
pub(crate) mod machine;
pub(crate) mod matrix;
pub(crate) mod memory;
pub(crate) mod ops;
mod parallel;
mod printf;
pub(crate) mod program;
mod raw;
pub(crate) mod slots;
pub(crate) mod special;
pub(crate) mod stack;
mod stuck;
mod survey;
pub(crate) mod system;
pub(crate) mod transfer;
pub(crate) mod video;
pub(crate) mod warp;
pub(crate) mod warpgroup;
pub(crate) mod wide;

pub use dim::Dim3;
pub use fault::{Fault, FaultKind, FaultParts, Place};
pub use grid::{MAX_BLOCKS_BEGUN, Param, Params};
pub use instrument::footprint::{TouchKind, Touched};
pub use instrument::handover::Handover;
pub use instrument::{OpcodeCount, SpaceTraffic, Statistics};
pub use memory::{Held, Memory, MemoryError, Owner};
pub use parallel::{OwnThreads, ParallelFor, Sequential};
pub use printf::Sink;
