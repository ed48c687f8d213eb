//! What instructions compute, one by one and in random programs.

mod differential;
mod programs;
mod semantics;
