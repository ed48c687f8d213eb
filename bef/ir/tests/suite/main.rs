//! Tests of parser, printer and verifier together, through the public interface.

mod common;
mod errors;
mod formats;
mod hostile;
mod random_modules;
mod round_trip;
