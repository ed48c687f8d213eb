//! The engine that runs collectives on MPI, which is loaded at run time.

mod deadlines;
mod library;
mod message;
mod progress;
mod watch;

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};

use crate::engine::{Call, Done, Engine};
use library::Library;
use progress::{Command, Progress};
use watch::Watch;

/// How long the end of the job may take, when all ranks wait for each other.
const END: Duration = Duration::from_secs(10);

/// Collectives on MPI. The process must not have used MPI before, and can open one engine in its
/// life.
pub struct MpiEngine {
    name: String,
    rank: usize,
    size: usize,
    hosts: Vec<String>,
    commands: Mutex<Option<Sender<Command>>>,
    watch: Arc<Watch>,
    over: Mutex<Receiver<()>>,
    watcher: Option<JoinHandle<()>>,
}

/// What the progress thread tells when it has started.
struct Opened {
    name: String,
    rank: usize,
    size: usize,
    hosts: Vec<String>,
}

/// Loads MPI and opens the groups.
fn open(
    groups: &[Arc<[usize]>],
    commands: Receiver<Command>,
    watch: Arc<Watch>,
) -> Result<(Progress, Opened), Diagnostic> {
    let library = Library::load()?;
    let world = library.init()?;
    // Nothing has set it before.
    let _ = watch.own.set(world.to_string());
    let hosts = library.hosts(&world)?;
    let ulfm = if world.has_ulfm { ", with ULFM" } else { "" };
    let opened = Opened {
        name: format!("MPI ({}{ulfm})", world.version),
        rank: world.rank,
        size: world.size,
        hosts: hosts.clone(),
    };
    let everyone: Arc<[usize]> = (0..world.size).collect();
    let groups: Vec<_> = std::iter::once(everyone).chain(groups.iter().cloned()).collect();
    Ok((Progress::new((library, world, hosts), &groups, (commands, watch))?, opened))
}

impl MpiEngine {
    /// Loads `libtfrt_mpi.so` and starts MPI, with the group of all ranks and further `groups`. All
    /// ranks name the same groups in the same order.
    ///
    /// # Errors
    /// FailedPrecondition if the library cannot be loaded or has another version; DeadlineExceeded
    /// if MPI does not start in time; any error of MPI.
    pub fn open(groups: Vec<Arc<[usize]>>, timeout: Duration) -> Result<Self, Diagnostic> {
        let (commands, receiver) = mpsc::channel();
        let (tell, opened) = mpsc::sync_channel(1);
        let (end, over) = mpsc::channel();
        let watch = Arc::new(Watch::default());
        let serve = {
            let watch = watch.clone();
            move || match open(&groups, receiver, watch) {
                Ok((mut progress, opened)) => {
                    // The engine may have given up meanwhile, which drops the receiver and the
                    // commands.
                    let _ = tell.send(Ok(opened));
                    if progress.run() {
                        // Nobody is left who could use the error.
                        let _ = progress.finalize();
                    }
                    drop(end);
                }
                Err(error) => drop(tell.send(Err(error))),
            }
        };
        spawn("tfrt-mpi", serve)?;
        let opened = opened.recv_timeout(timeout).map_err(|error| match error {
            RecvTimeoutError::Timeout => Diagnostic::new(
                ErrorCode::DeadlineExceeded,
                format!("MPI has not started within {timeout:?}: not all ranks have come"),
            ),
            RecvTimeoutError::Disconnected => Diagnostic::internal("the thread of MPI has ended"),
        })??;
        let watching = watch.clone();
        let watcher = Some(spawn("tfrt-mpi-watch", move || watching.run())?);
        let Opened { name, rank, size, hosts } = opened;
        let (commands, over) = (Mutex::new(Some(commands)), Mutex::new(over));
        Ok(Self { name, rank, size, hosts, commands, watch, over, watcher })
    }

    /// Returns the names of the ranks' hosts.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Diagnostic> {
    thread::Builder::new().name(name.into()).spawn(work).map_err(|error| {
        Diagnostic::new(ErrorCode::ResourceExhausted, format!("cannot start the thread '{name}': {error}"))
    })
}

impl Engine for MpiEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn start(&self, call: Call, done: Done) {
        if let Err(error) = call.check(self.rank) {
            return done(Err(error));
        }
        let number = self.watch.add(call.deadline, call.place(), done);
        let sent =
            self.commands.lock().as_ref().map(|commands| commands.send(Command::Start(number, call)).is_ok());
        if sent != Some(true) {
            self.watch.finish(number, Err(Diagnostic::internal("the thread of MPI has ended")));
        }
    }

    /// Ends MPI, unless the job has failed or the other ranks do not come to the end.
    fn end(&self) {
        drop(self.commands.lock().take());
        // The channel ends with the thread, or is given up.
        let _ = self.over.lock().recv_timeout(END);
    }
}

impl Drop for MpiEngine {
    fn drop(&mut self) {
        self.end();
        self.watch.stop();
        if let Some(watcher) = self.watcher.take().filter(|w| w.thread().id() != thread::current().id()) {
            let _ = watcher.join();
        }
    }
}
