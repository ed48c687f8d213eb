//! The cluster that a program may call, as the command line names it.

use std::path::PathBuf;

#[cfg(feature = "distributed")]
pub(in crate::tools::cli) use connected::Cluster;

/// What another task recorded, as a trace in Chrome's format.
#[cfg_attr(
    not(feature = "distributed"),
    allow(
        dead_code,
        clippy::allow_attributes,
        reason = "tests alone make one in a build that connects to nothing"
    )
)]
pub(in crate::tools::cli) struct RemoteTrace {
    pub(in crate::tools::cli) task: String,
    pub(in crate::tools::cli) json: Vec<u8>,
    /// This process's clock less the task's.
    pub(in crate::tools::cli) offset_ns: i64,
}

/// The cluster that a program may call.
#[derive(clap::Args)]
#[cfg_attr(
    not(feature = "distributed"),
    allow(
        dead_code,
        clippy::allow_attributes,
        reason = "a build that connects to nothing refuses the options"
    )
)]
pub(in crate::tools::cli) struct ClusterArgs {
    /// Let the program call the tasks of the cluster that FILE describes
    #[arg(long, value_name = "FILE")]
    pub(in crate::tools::cli) cluster: Option<PathBuf>,
    /// Be the task NAME of the cluster, at whose address other tasks send data [default:
    /// /job:client/task:0]
    #[arg(long, value_name = "NAME", requires = "cluster")]
    task: Option<String>,
    /// Call other hosts without certificates
    #[arg(long, requires = "cluster")]
    insecure: bool,
}

#[cfg(feature = "distributed")]
mod connected {
    use std::sync::Arc;

    use tfrt_distributed::{Backend, Config, Session, SessionOptions};
    use tfrt_host::{Diagnostic, KernelRegistry, ResourceContext};

    use super::{ClusterArgs, RemoteTrace};
    use crate::{Choice, DeviceOptions, Runtime, RuntimeBackend, RuntimeBuilder};

    /// The connections to a cluster.
    pub(in crate::tools::cli) struct Cluster(Session);

    impl ClusterArgs {
        /// Adds the kernels that call a cluster.
        pub(in crate::tools::cli) fn add_kernels(
            &self,
            builder: RuntimeBuilder,
        ) -> Result<RuntimeBuilder, crate::tools::cli::Failure> {
            let register: fn(&mut KernelRegistry) = |registry| {
                tfrt_distributed::register(registry);
                tfrt_distributed::register_test_kernels(registry, test_backend);
            };
            Ok(builder.kernels(register))
        }

        /// Connects to the cluster, if the command line names one.
        pub(in crate::tools::cli) fn connect(
            &self,
            runtime: &Runtime,
            is_traced: bool,
        ) -> Result<Option<Cluster>, Diagnostic> {
            let Some(file) = &self.cluster else { return Ok(None) };
            let config = Config::read(file)?;
            let options = SessionOptions { task: self.task.clone(), is_insecure: self.insecure, is_traced };
            Session::connect(runtime.host(), &config, &options).map(|session| Some(Cluster(session)))
        }
    }

    /// What runs programs on the servers of a test.
    fn test_backend() -> Result<Arc<dyn Backend>, Diagnostic> {
        let devices = DeviceOptions::new(Choice::Cpu, 1);
        Ok(Arc::new(RuntimeBackend::new("mstd:2", devices, Vec::new())?))
    }

    impl Cluster {
        /// Makes the cluster known to a request.
        pub(in crate::tools::cli) fn offer(&self, resources: &ResourceContext) {
            self.0.offer(resources);
        }

        /// Returns the names and types of the devices of all tasks.
        pub(in crate::tools::cli) fn devices(&self) -> Vec<(String, String)> {
            self.0.devices().into_iter().map(|device| (device.name.to_string(), device.kind)).collect()
        }

        /// Closes the connections. Returns the traces of the tasks, and errors.
        pub(in crate::tools::cli) fn close(mut self) -> (Vec<RemoteTrace>, Vec<Diagnostic>) {
            let (traces, errors) = self.0.close();
            let traces = traces.into_iter().map(|trace| RemoteTrace {
                task: trace.task,
                json: trace.json.to_vec(),
                offset_ns: trace.offset_ns,
            });
            (traces.collect(), errors)
        }
    }
}

/// What stands for connections in a build without remote execution: nothing.
#[cfg(not(feature = "distributed"))]
pub(in crate::tools::cli) enum Cluster {}

#[cfg(not(feature = "distributed"))]
mod absent {
    use tfrt_host::{Diagnostic, ResourceContext};

    use super::{Cluster, ClusterArgs, RemoteTrace};
    use crate::{Runtime, RuntimeBuilder, tools::cli::Failure};

    impl ClusterArgs {
        /// Refuses a cluster.
        pub(in crate::tools::cli) fn add_kernels(
            &self,
            builder: RuntimeBuilder,
        ) -> Result<RuntimeBuilder, Failure> {
            let absent = "this build cannot call other tasks; build one with 'cargo build --release --features \
                          distributed'";
            if self.cluster.is_some() { Err(Failure::Usage(absent.to_owned())) } else { Ok(builder) }
        }

        /// Connects to nothing.
        pub(in crate::tools::cli) fn connect(
            &self,
            _: &Runtime,
            _: bool,
        ) -> Result<Option<Cluster>, Diagnostic> {
            Ok(None)
        }
    }

    impl Cluster {
        /// Cannot be called.
        pub(in crate::tools::cli) fn offer(&self, _: &ResourceContext) {
            match *self {}
        }

        /// Cannot be called.
        pub(in crate::tools::cli) fn devices(&self) -> Vec<(String, String)> {
            match *self {}
        }

        /// Cannot be called.
        pub(in crate::tools::cli) fn close(self) -> (Vec<RemoteTrace>, Vec<Diagnostic>) {
            match self {}
        }
    }
}
