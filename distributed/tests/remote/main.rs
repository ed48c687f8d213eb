//! Remote calls over real sockets: semantics, faults of each call, limits, certificates, many clients.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod faults;
mod hostile;
mod load;
mod proxy;
mod security;
mod semantics;
mod support;
