//! Faults: memory that runs out, requests that are cancelled, hosts that go away. Whatever happens,
//! a program ends with results or errors and leaves nothing behind.

mod allocation;
mod cancellation;
mod codes;
mod depth;
mod device;
mod leaks;
mod shutdown;
mod support;
