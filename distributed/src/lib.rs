//! The distributed runtime: programs that other tasks execute, over gRPC.
//!
//! A [`Server`] answers the calls of a [`RemoteClient`]. Kernels named `tfrt_dist.*` make these
//! calls for programs. The crate knows neither the facade nor the compiler: a server loads programs
//! through a [`Backend`].
//!
//! README.md describes the messages, lifetimes, failures and security.

mod attributes;
mod callbacks;
mod chains;
mod client;
mod config;
mod context;
mod functions;
mod kernels;
mod objects;
mod op_handler;
mod payload;
mod pieces;
#[allow(
    missing_docs,
    clippy::all,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated from proto/remote.proto, which describes it"
)]
pub mod proto {
    tonic::include_proto!("tfrt.distributed.v1");
}
mod server;
mod session;
mod tensors;
mod wire;

pub use callbacks::CallbackRegistry;
pub use chains::RemoteChainManager;
pub use client::{CERTIFICATE_NAME, Destination, Fabric, RemoteClient};
pub use config::{CLIENT_TASK, CallOptions, Config, Limits, TlsFiles, TlsMaterial, is_loopback};
pub use context::{DeviceInfo, RemoteContext};
pub use functions::{FunctionCache, RegisteredFunction};
pub use kernels::{MakeBackend, register, register_test_kernels};
pub use objects::{RemoteObjectId, RemoteObjectManager};
pub use payload::{Payload, deserialize, serialize};
pub use pieces::Pieces;
pub use server::{Backend, ContextHost, ContextOutput, Language, LoadedProgram, Server, ServerOptions};
pub use session::{Session, SessionOptions, TaskTrace};
pub use tfrt_collectives::{Cluster, ClusterConfig, DistributedContext, TaskHandle, TaskName};
pub use wire::PROTOCOL_VERSION;
