//! Elementwise operations: unary, binary with broadcasting, updates in place, and adding a bias.
//!
//! A plan is generic over the function, so that each pair of function and type is a separate loop.
//! The functions are in [`ops`].

mod bias;
mod binary;
mod broadcast;
pub mod ops;
mod program;
mod runs;
mod stage;
mod unary;

pub use bias::BiasAdd;
pub use binary::Binary;
pub use broadcast::{Broadcast, broadcast_shapes};
pub use program::{Function, Fused, Prepared, Program, Step, Term};
pub use runs::{BinaryLoop, RunFn, Runs, UnaryLoop, map_in_place, with_left, with_right, zip_in_place};
pub use unary::{Unary, Update, axpy};
