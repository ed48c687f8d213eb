//! Data for the model programs: handwritten-like digits of our own making, and the files of the real MNIST.
//!
//! This crate knows no runtime: it deals in bytes. It never prints and never reaches for the network.

pub mod digits;
pub mod idx;
