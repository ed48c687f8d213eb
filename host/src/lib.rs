//! The host runtime.

pub mod sync;
