//! Processes that end with the process that started them, however that one ends.

use std::{io, os::unix::process::CommandExt, process::Command};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

/// Makes the system send `signal` to the command when the thread that starts it ends.
#[expect(unsafe_code, reason = "runs code between fork and exec, where safe interfaces have no place for it")]
pub(super) fn tie(command: &mut Command, signal: Signal) -> &mut Command {
    let parent = getpid();
    // SAFETY: the closure allocates nothing, takes no locks, and makes two system calls, which are
    // safe to make in a process that was forked from one with several threads.
    unsafe { command.pre_exec(move || follow(parent, signal)) }
}

/// Asks for `signal` at the end of the parent, which may have ended already.
fn follow(parent: Pid, signal: Signal) -> io::Result<()> {
    set_parent_process_death_signal(Some(signal))?;
    if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}

/// Kills this process when its parent ends.
pub(super) fn end_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}
