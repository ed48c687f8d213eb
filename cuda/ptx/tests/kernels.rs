//! Kernels as compilers emit them, launched and compared with references: `corpus` holds our own in
//! CUDA C++, `triton` those in Triton, `faults` those that go wrong.

mod corpus;
mod faults;
mod support;
mod triton;
