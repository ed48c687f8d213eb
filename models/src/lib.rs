//! What the model programs need: handwritten-like digits of our own making, and the files of the
//! real MNIST; images; the layers and programs of ResNet-50; and the kernels with which programs
//! use them.
//!
//! The data modules deal in bytes and know no runtime. Nothing here prints but through a host, or
//! reaches for the network.

pub mod digits;
pub mod idx;
pub mod image;
pub mod kernels;
mod random;
pub mod resnet50;
