//! Remote calls over real sockets: semantics, faults of each call, limits, certificates.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod faults;
mod hostile;
mod proxy;
mod security;
mod semantics;
mod support;
