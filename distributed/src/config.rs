//! The cluster's configuration file.
//!
//! ```toml
//! [jobs]
//! worker = ["10.0.0.1:5000", "10.0.0.2:5000"]
//!
//! [tls]
//! ca = "ca.pem"
//! certificate = "task.pem"
//! key = "task.key"
//! ```

use std::{
    collections::BTreeMap,
    fs,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use tfrt_collectives::{Cluster, ClusterConfig};
use tfrt_host::{Diagnostic, ErrorCode, SourceLocation};

/// The job of a client that the configuration does not list.
pub const CLIENT_TASK: &str = "/job:client/task:0";

/// What a configuration file says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The addresses of each job's tasks, in the order of their numbers.
    pub jobs: BTreeMap<String, Vec<String>>,
    /// The members of each group of tasks.
    pub groups: BTreeMap<String, Vec<String>>,
    /// The task that leads the others.
    pub lead: Option<String>,
    /// How calls are made.
    pub calls: CallOptions,
    /// What a server allows its clients.
    pub server: Limits,
    /// The files of this task's certificate.
    pub tls: Option<TlsFiles>,
}

/// How a client calls other tasks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CallOptions {
    /// A call that takes longer fails.
    pub deadline_ms: u64,
    /// How often a call without effects is repeated if the connection fails.
    pub max_retries: u32,
    /// How often a client tells the servers that it is there.
    pub keep_alive_ms: u64,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self { deadline_ms: 60_000, max_retries: 3, keep_alive_ms: 10_000 }
    }
}

impl CallOptions {
    /// Returns how long a call may take.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }
}

/// What a server allows its clients. Except for contexts and clients, each bound holds for one
/// context.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The folders whose files programs may read.
    pub folders: Vec<PathBuf>,
    /// The number of clients whose replies are kept.
    pub max_clients: usize,
    /// The number of contexts.
    pub max_contexts: usize,
    /// The number of requests that execute at the same time.
    pub max_requests: usize,
    /// The number of replies that are kept for each client.
    pub max_replies: usize,
    /// The size of a program as it is sent.
    pub max_program_bytes: usize,
    /// The number of registered programs.
    pub max_functions: usize,
    /// The size of all registered programs as they were sent.
    pub max_functions_bytes: usize,
    /// The number of remote objects.
    pub max_objects: usize,
    /// The number of values that wait for their receivers.
    pub max_waiting: usize,
    /// The memory of tensors, and the size of values that wait for their receivers.
    pub max_memory_bytes: usize,
    /// A context that is not used for so long is closed.
    pub context_idle_ms: u64,
    /// A call without a deadline of its own is cancelled after so long.
    pub max_deadline_ms: u64,
    /// Calls in progress may end within this time when the server shuts down.
    pub shutdown_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            max_clients: 10_000,
            max_contexts: 2_000,
            max_requests: 1_000,
            max_replies: 4_096,
            max_program_bytes: 64 << 20,
            max_functions: 10_000,
            max_functions_bytes: 256 << 20,
            max_objects: 1_000_000,
            max_waiting: 100_000,
            max_memory_bytes: 8 << 30,
            context_idle_ms: 600_000,
            max_deadline_ms: 3_600_000,
            shutdown_ms: 10_000,
        }
    }
}

/// Files in PEM format.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate of the authority that signs the certificates of all tasks.
    pub ca: PathBuf,
    /// The certificate of this task.
    pub certificate: PathBuf,
    /// The key of this task's certificate.
    pub key: PathBuf,
}

/// The contents of [`TlsFiles`].
#[derive(Clone)]
pub struct TlsMaterial {
    pub(crate) ca: Vec<u8>,
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Config {
    /// Reads a configuration file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// Io if the file cannot be read, InvalidArgument at the place of a mistake.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let name = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| Diagnostic::new(ErrorCode::Io, format!("cannot read '{name}': {error}")))?;
        let mut config: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.chars().rev().take_while(|&letter| letter != '\n').count() as u32 + 1;
            let at = SourceLocation { file: name.to_string().into(), line, column };
            Diagnostic::invalid_argument(error.message()).at(at)
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(tls) = &mut config.tls {
            for file in [&mut tls.ca, &mut tls.certificate, &mut tls.key] {
                *file = folder.join(&file);
            }
        }
        for allowed in &mut config.server.folders {
            *allowed = folder.join(&allowed);
        }
        Cluster::new(&config.cluster())?;
        Ok(config)
    }

    /// Returns the tasks and groups.
    pub fn cluster(&self) -> ClusterConfig {
        let numbered = |addresses: &Vec<String>| (0..).zip(addresses.iter().cloned()).collect();
        ClusterConfig {
            jobs: self.jobs.iter().map(|(job, addresses)| (job.clone(), numbered(addresses))).collect(),
            groups: self.groups.clone(),
            lead: self.lead.clone(),
        }
    }

    /// Returns the tasks and groups as the task `own` sees them: with a task for a client that the
    /// file does not list.
    pub fn cluster_with(&self, own: &str) -> ClusterConfig {
        let mut cluster = self.cluster();
        if own == CLIENT_TASK {
            cluster.jobs.entry("client".to_owned()).or_default().entry(0).or_default();
        }
        cluster
    }
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// Io if one cannot be read.
    pub fn read(&self) -> Result<TlsMaterial, Diagnostic> {
        let read = |path: &Path| {
            fs::read(path).map_err(|error| {
                Diagnostic::new(ErrorCode::Io, format!("cannot read '{}': {error}", path.display()))
            })
        };
        Ok(TlsMaterial { ca: read(&self.ca)?, certificate: read(&self.certificate)?, key: read(&self.key)? })
    }
}

impl std::fmt::Debug for TlsMaterial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsMaterial")
    }
}

/// Returns whether an address such as `127.0.0.1:5000` or `localhost:5000` cannot be reached from
/// other hosts.
pub fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, Diagnostic> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cluster.toml");
        fs::write(&path, text).unwrap();
        Config::read(&path)
    }

    #[test]
    fn files_describe_clusters() {
        let text = "[jobs]\nworker = [\"a:1\", \"b:2\"]\n[groups]\nall = [\"/job:worker/task:1\"]\n[calls]\ndeadline_ms = 5\n";
        let config = read(text).unwrap();
        assert_eq!(config.cluster().jobs["worker"][&1], "b:2");
        assert_eq!((config.calls.deadline_ms, config.calls.max_retries), (5, 3));
        assert_eq!(config.cluster_with(CLIENT_TASK).jobs["client"][&0], "");
    }

    #[test]
    fn mistakes_are_found_in_the_file() {
        let error = read("[jobs]\nworker = [\"a:1\"]\n\n[calls]\ndeadline = 5\n").unwrap_err();
        assert_eq!(error.location.as_ref().map(|at| at.line), Some(5), "{error}");
        assert!(error.message.contains("unknown field `deadline`"), "{error}");
        assert!(read("[jobs]\nworker = [\"a:1\"]\n[groups]\ng = [\"/job:worker/task:7\"]").is_err());
        assert_eq!(Config::read(Path::new("/does/not/exist")).unwrap_err().code, ErrorCode::Io);
    }

    #[test]
    fn loopback_addresses_are_known() {
        for local in ["127.0.0.1:1", "localhost:1", "[::1]:1", "127.9.9.9:0"] {
            assert!(is_loopback(local), "{local}");
        }
        for other in ["0.0.0.0:1", "10.0.0.1:1", "example.org:1", "[::]:1"] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
