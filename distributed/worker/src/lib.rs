//! The server of the distributed runtime, as a program: `tfrt_worker --listen ADDR --config
//! cluster.toml`.

mod certificates;

use std::{ffi::OsString, io::Write as _, path::PathBuf, process::ExitCode, sync::Arc, task::Poll};

use clap::{Args, Parser, Subcommand, ValueEnum};
use tfrt::{Choice, DeviceOptions, RuntimeBackend, host::Diagnostic};
use tfrt_distributed::{Config, Fabric, Server, ServerOptions, TlsFiles};
use tokio::signal::unix::{Signal, SignalKind, signal};

pub use certificates::write_certificates;

/// Executes programs for other tasks of a cluster
#[derive(Parser)]
#[command(name = "tfrt_worker", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Option<Serve>,
}

#[derive(Subcommand)]
enum Command {
    /// Write a test authority and certificates that it signs to DIR
    Certificates {
        /// Folder for ca.pem, task.pem and task.key
        dir: PathBuf,
        /// Add NAME, a host name or an IP address, to the certificate
        #[arg(long = "host", value_name = "NAME")]
        hosts: Vec<String>,
    },
}

#[derive(Args)]
struct Serve {
    /// Listen at ADDR, such as 10.0.0.1:5000
    #[arg(long, value_name = "ADDR")]
    listen: String,
    /// Read the cluster, the limits and the certificates from FILE
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Be the task NAME, such as /job:worker/task:0 [default: the one with the address ADDR]
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// Serve addresses other than loopback without certificates
    #[arg(long)]
    insecure: bool,
    /// Run programs on DEVICE: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: Choice,
    /// Run kernels on one thread per core (mstd) or on N threads (mstd:N)
    #[arg(long, value_name = "TYPE", default_value = "mstd")]
    work_queue: String,
    /// Log to standard error from this LEVEL
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: Level,
}

#[derive(Clone, Copy, ValueEnum)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

/// Runs the program. Returns 2 for wrong usage.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed output needs no message.
            drop(error.print());
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let done = match (cli.command, cli.serve) {
        (Some(Command::Certificates { dir, hosts }), _) => write_certificates(&dir, &hosts),
        (None, Some(serve)) => serve.run(),
        (None, None) => Err(Diagnostic::invalid_argument("--listen and --config are missing; see --help")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "error: {error}"));
            ExitCode::FAILURE
        }
    }
}

impl Serve {
    fn run(self) -> Result<(), Diagnostic> {
        log_from(self.log);
        let config = Config::read(&self.config)?;
        let task = self.task(&config)?;
        let tls = config.tls.as_ref().map(TlsFiles::read).transpose()?;
        let max_bytes = config.server.max_program_bytes.saturating_add(1 << 20);
        let fabric = Fabric::new(config.calls.clone(), tls.clone(), self.insecure, max_bytes)?;
        // Nobody knows the address yet, so that a signal during the start ends the worker in
        // order, too.
        let mut stop = fabric.block_on(async { StopSignals::new() })?;
        let folders = config.server.folders.clone();
        let devices = DeviceOptions::new(self.device, 1);
        let backend = Arc::new(RuntimeBackend::new(&self.work_queue, devices, folders)?);
        let options = ServerOptions { task, config, tls, is_insecure: self.insecure };
        let task = options.task.clone();
        let server = Server::start(&fabric, &self.listen, options, backend)?;
        tracing::info!(task, address = %server.address(), "listening");
        let mut output = std::io::stdout();
        // Who started the worker may wait for this line, and may have closed the output.
        drop(writeln!(output, "{task} listens at {}", server.address()).and_then(|()| output.flush()));
        fabric.block_on(stop.wait());
        tracing::info!("shutting down");
        server.shut_down();
        Ok(())
    }

    /// The name of this task: as it was said, or that of the task with the address.
    fn task(&self, config: &Config) -> Result<String, Diagnostic> {
        if let Some(task) = &self.task {
            return Ok(task.clone());
        }
        let cluster = config.cluster();
        let tasks = cluster.jobs.iter().flat_map(|(job, tasks)| tasks.iter().map(move |task| (job, task)));
        let mut found = tasks.filter(|(_, (_, address))| **address == self.listen);
        let first = found.next().ok_or_else(|| {
            let message =
                format!("no task of the cluster has the address '{}'; name one with --task", self.listen);
            Diagnostic::invalid_argument(message)
        })?;
        let (job, (number, _)) = first;
        Ok(format!("/job:{job}/task:{number}"))
    }
}

/// The signals that ask the worker to end: SIGTERM and SIGINT.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Installs the handlers. From here on, the signals no longer kill the process.
    ///
    /// Must be called inside the runtime of tokio.
    fn new() -> std::io::Result<StopSignals> {
        Ok(StopSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one of the signals. Returns at once if one has arrived since the handlers were
    /// installed.
    async fn wait(&mut self) {
        std::future::poll_fn(|cx| match self.terminate.poll_recv(cx) {
            Poll::Pending => self.interrupt.poll_recv(cx),
            ready => ready,
        })
        .await;
    }
}

/// Logs to standard error, one JSON object a line.
fn log_from(level: Level) {
    let level = match level {
        Level::Error => tracing::Level::ERROR,
        Level::Warn => tracing::Level::WARN,
        Level::Info => tracing::Level::INFO,
        Level::Debug => tracing::Level::DEBUG,
    };
    // A process that logs already keeps its log.
    drop(tracing_subscriber::fmt().json().with_max_level(level).with_writer(std::io::stderr).try_init());
}
