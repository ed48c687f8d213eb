//! Data for the model programs: handwritten-like digits of our own making, and the files of the real MNIST; and the
//! kernels with which programs use them.
//!
//! The data modules deal in bytes and know no runtime. Nothing here prints but through a host, or reaches for the network.

pub mod digits;
pub mod idx;
pub mod kernels;
mod random;
pub mod resnet50;
