//! Workers as processes on loopback, for tests.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]
#![allow(dead_code, clippy::allow_attributes, reason = "each test uses a part")]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;
use tfrt::{Console, SharedWriter, tools};

/// The processes of a cluster, and the file that describes it. Dropping it ends them.
pub(crate) struct Workers {
    children: Vec<Child>,
    addresses: Vec<String>,
    folder: TempDir,
}

/// Addresses that nothing listens at.
pub(crate) fn free_addresses(count: usize) -> Vec<String> {
    let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect()
}

impl Workers {
    /// Starts so many workers. `more` is added to the configuration.
    pub(crate) fn start(count: usize, more: &str) -> Self {
        let addresses = free_addresses(count);
        let text = format!("[jobs]\nworker = {addresses:?}\n{more}\n");
        Self::with_config(&addresses, &text)
    }

    /// Starts workers at these addresses, with a configuration.
    pub(crate) fn with_config(addresses: &[String], text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cluster.toml"), text).unwrap();
        let mut workers = Self { children: Vec::new(), addresses: addresses.to_vec(), folder };
        for address in addresses {
            workers.children.push(workers.spawn(address));
        }
        for child in &mut workers.children {
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(line.contains("listens at"), "{line}");
        }
        workers
    }

    fn spawn(&self, address: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_tfrt_worker"))
            .args([
                "--listen",
                address,
                "--device",
                "cpu",
                "--work-queue",
                "mstd:2",
                "--log",
                "error",
                "--config",
            ])
            .arg(self.config())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The file that describes the cluster.
    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("cluster.toml")
    }

    pub(crate) fn address(&self, worker: usize) -> &str {
        &self.addresses[worker]
    }

    pub(crate) fn child(&mut self, worker: usize) -> &mut Child {
        &mut self.children[worker]
    }

    /// Sends a signal to a worker, such as `STOP`.
    pub(crate) fn signal(&self, worker: usize, name: &str) {
        let id = self.children[worker].id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// Runs `tfrt run` on a program, and returns what it prints to both streams.
    pub(crate) fn run(&self, program: &Path, options: &[&str]) -> String {
        let (output, printed) = SharedWriter::buffer();
        self.run_into(program, options, output);
        self.text(program, &printed.lock())
    }

    /// Runs `tfrt run` on a program, which prints to both streams of `output`.
    pub(crate) fn run_into(&self, program: &Path, options: &[&str], output: SharedWriter) {
        self.tfrt_into(&[&["run", &*program.to_string_lossy()], options].concat(), output);
    }

    /// Returns what `tfrt run` on a program has printed, without what differs from run to run.
    pub(crate) fn text(&self, program: &Path, printed: &[u8]) -> String {
        let text = String::from_utf8_lossy(printed).replace(&*program.to_string_lossy(), "PROGRAM");
        let addresses = self.addresses.iter().enumerate();
        addresses.fold(text, |text, (number, address)| text.replace(address, &format!("ADDRESS{number}")))
    }

    /// Runs a command of `tfrt` on the cluster, and returns what it prints to both streams.
    pub(crate) fn tfrt(&self, arguments: &[&str]) -> String {
        let (output, printed) = SharedWriter::buffer();
        self.tfrt_into(arguments, output);
        String::from_utf8_lossy(&printed.lock()).into_owned()
    }

    fn tfrt_into(&self, arguments: &[&str], output: SharedWriter) {
        let config = self.config();
        let arguments = ["tfrt"].iter().chain(arguments).chain(&["--cluster"]).map(Into::into);
        let console = Console::new(std::io::empty(), output.clone(), output);
        tools::cli::run(arguments.chain([config.into()]), console);
    }

    /// Writes a program given as text to a file.
    pub(crate) fn write(&self, text: &str) -> PathBuf {
        let program = self.folder.path().join("program.mlir");
        fs::write(&program, expand(text)).unwrap();
        program
    }

    /// Runs a program given as text.
    pub(crate) fn run_text(&self, text: &str, options: &[&str]) -> String {
        self.run(&self.write(text), options)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for child in &mut self.children {
            // One that has ended already needs no signal.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Puts the programs for workers into the program of the client. Each follows a line `// -----
/// NAME`, and the client's program names it as `<NAME>`.
pub(crate) fn expand(text: &str) -> String {
    let mut parts = text.split("// ----- ");
    let mut program = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, remote) = part.split_once('\n').unwrap();
        let escaped = remote.trim_end().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let placeholder = format!("<{}>", name.trim());
        if !program.contains(&placeholder) {
            panic!("nothing registers {placeholder}");
        }
        program = program.replace(&placeholder, &escaped);
    }
    program
}
