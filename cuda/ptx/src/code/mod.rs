//! Translates functions to the compact form of `exec::program`, and checks the types and modifiers
//! of every instruction.
//!
//! A `Program` is a kernel with all functions it may call, as one list of instructions (`Inst`): a
//! handler, the slots of its operands in the register window, and constants. Translation decides
//! everything that can be decided before a launch: which handler fits the modifiers and types,
//! where registers, constants and variables are, and where the paths of a branch meet. An unknown
//! instruction is an error that names the instruction and its line.
//!
//! - `emit` gives registers and constants their slots, `operand` checks and resolves operands;
//! - `select` has a function for each opcode, which checks the instruction and picks handlers;
//! - `needs` knows which version of the PTX ISA and which target an instruction requires;
//! - `repeat` finds loads from addresses that an earlier load has checked;
//! - `flow`, with `dominators`, finds where paths meet, and orders the instructions;
//! - `translate` assembles programs from functions.
//!
//! Nothing here runs an instruction.

mod dominators;
mod emit;
mod flow;
mod layout;
mod needs;
mod operand;
mod repeat;
mod select;
mod translate;

pub(crate) use layout::{Addresses, Outline};
pub(crate) use translate::{check_function, translate};

use crate::syntax::ast::Function;

/// Returns the offset and size of each of a kernel's parameters.
pub(crate) fn parameter_places(function: &Function<'_>) -> Vec<(u32, u32)> {
    layout::place_parameters(&function.signature.parameters, &mut 0)
}
