//! A worker process, and a client that makes every call.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tfrt_distributed::{CallOptions, Fabric, RemoteClient, proto};
use tfrt_host::Diagnostic;

use crate::{
    calls::CALLS,
    requests::{TASK, TENSOR, create_context, execute, register},
};

pub(crate) const DEADLINE: Duration = Duration::from_secs(1);

/// What the function that calls execute prints.
const EXECUTED: &str = "executed\n";
const COUNT: &str = r#"func @count() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %text = tfrt_test.get_string {value = "executed"}
  %c1 = "tfrt_test.print_string"(%text, %c0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}"#;

/// A worker process whose cluster lists no tasks, so that clients may reach it through any address.
pub(crate) struct Worker {
    pub(crate) child: Child,
    address: String,
    _folder: TempDir,
}

impl Worker {
    /// Starts a worker at an address by a command that ends before the worker's path.
    pub(crate) fn start(before: &[&str], listen: &str, environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("cluster.toml");
        std::fs::write(&config, "").unwrap();
        let words =
            [before, &[env!("CARGO_BIN_EXE_tfrt_worker"), "--listen", listen, "--task", TASK]].concat();
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .args(["--insecure", "--device", "cpu", "--work-queue", "mstd:2", "--log", "error", "--config"])
            .arg(config)
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(address.contains(':'), "{line}");
        Self { child, address, _folder: folder }
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
        // Its threads stop a little later, and may answer a call until then.
        while name == "STOP" && !self.has_stopped() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Returns whether all threads have stopped, by the state after the name in parentheses.
    fn has_stopped(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads.flatten().all(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that has ended already needs no signal.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client with the context 7.
pub(crate) struct Client {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) client: RemoteClient,
}

impl Client {
    pub(crate) fn new(worker: &Worker, deadline: Duration) -> Self {
        let options = CallOptions { deadline_ms: deadline.as_millis() as u64, ..CallOptions::default() };
        let fabric = Fabric::new(options, None, true, 64 << 20).unwrap();
        let client = fabric.client(TASK, &worker.address, 7).unwrap();
        Self { fabric, client }
    }

    /// Creates the context and what the calls of [`CALLS`] need.
    pub(crate) fn prepare(worker: &Worker) -> Self {
        let this = Self::new(worker, Duration::from_secs(20));
        this.fabric.block_on(async {
            this.client.create_context(create_context()).await.unwrap();
            this.client.register_function(register("count", COUNT)).await.unwrap();
            this.client.register_function(register("tensor", TENSOR)).await.unwrap();
            this.client.remote_execute(execute("tensor", &[1])).await.unwrap();
        });
        this
    }

    /// Connects.
    pub(crate) fn ask(&self) {
        self.fabric.block_on(self.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
    }

    /// Makes all calls at the same time, while `disturb` runs, and returns their outcomes. Those
    /// that fail name the call, the task and the address, and no call takes much longer than the
    /// deadline.
    pub(crate) fn call_all(
        &self,
        first: u64,
        deadline: Duration,
        disturb: impl FnOnce(),
    ) -> Vec<(&'static str, Result<(), Diagnostic>)> {
        let running: Vec<_> = (first..)
            .zip(CALLS)
            .map(|(number, (name, call))| {
                let (client, call) = (self.client.clone(), *call);
                let timed = async move {
                    let start = Instant::now();
                    (call(client, number).await, start.elapsed())
                };
                (*name, self.fabric.handle().spawn(timed))
            })
            .collect();
        disturb();
        let address = self.client_address();
        let ended = running.into_iter().map(|(name, running)| {
            let (outcome, elapsed) = self.fabric.block_on(running).unwrap();
            assert!(elapsed < deadline + Duration::from_secs(2), "{name} took {elapsed:?}");
            if let Err(error) = &outcome {
                let text = error.to_string();
                assert!(
                    text.contains(name) && text.contains(TASK) && text.contains(&address),
                    "{name}: {text}"
                );
            }
            (name, outcome)
        });
        ended.collect()
    }

    fn client_address(&self) -> String {
        format!("{:?}", self.client).rsplit(' ').next().unwrap().trim_end_matches(')').to_owned()
    }

    /// How often the function has printed since the last reply, by a call that works again.
    pub(crate) fn executed(&self) -> usize {
        let reply = self.fabric.block_on(self.client.keep_alive(proto::KeepAliveRequest::default())).unwrap();
        String::from_utf8_lossy(&reply.printed).matches(EXECUTED).count()
    }
}
