//! Programs of this crate's kernels, on every work queue.

mod basic;
mod control_flow;
mod support;
mod test_kernels;
