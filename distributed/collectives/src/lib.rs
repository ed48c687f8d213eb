//! Clusters of processes, and the collectives that they run together.
//!
//! A [`Cluster`] lists the tasks of a distributed job, and a [`DistributedContext`] is the view
//! that one of them has of it. Kernels named `tfrt_dist.*` find the context of their request with
//! [`DistributedContext::of`].
//!
//! Nothing here opens a connection. Remote execution keeps its state in
//! [`DistributedContext::extensions`].

pub mod cluster;
pub mod context;
pub mod engine;
mod kernels;
pub mod mpi;
pub mod world;

pub use cluster::{Cluster, ClusterConfig, DeviceName, Group, Task, TaskHandle, TaskName};
pub use context::{DistributedContext, WeakDistributedContext};
pub use kernels::register;
pub use world::{World, WorldOptions};

/// The name of the request's resource with the folder of its checkpoints, a
/// [`PathBuf`](std::path::PathBuf).
pub const CHECKPOINT_DIR: &str = "tfrt_dist.checkpoint_dir";
