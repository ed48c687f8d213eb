//! Tests of parser, printer and verifier together, through the public interface.

mod common;
mod edit_model;
mod edits;
mod errors;
mod formats;
mod hostile;
mod random_modules;
mod round_trip;
