//! Remote calls over real sockets: semantics, faults of each call, limits, certificates.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod calls;
mod faults;
mod hostile;
mod mutated;
mod proxy;
mod requests;
mod security;
mod semantics;
mod support;
mod under;
