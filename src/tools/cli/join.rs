//! Ranks that `torchrun` or a shell has started, for MPI, which knows only ranks that its own
//! launcher has started.
//!
//! Rank 0 starts `mpirun`, whose processes only stand by: each tells rank 0 the variables by which
//! MPI knows it, and waits. Every rank then takes the variables of the process with its number, and
//! starts again with them. All ranks must be on one host. They meet at a socket that is named after
//! the launcher's port.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, DirBuilder},
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{DirBuilderExt, MetadataExt},
        net::{UnixListener, UnixStream},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tfrt_collectives::World;
use tfrt_host::{Diagnostic, ErrorCode};

use crate::tools::Outcome;

use super::Failure;

/// The start of the names of the variables by which MPI knows a process.
const OF_MPI: [&str; 4] = ["PMIX_", "PRTE_", "OMPI_", "OPAL_"];
/// Variables that are there if a launcher of MPI has started this process.
const LAUNCHED: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
const PAUSE: Duration = Duration::from_millis(10);
/// What a process says first: who it is.
const RANK: u8 = b'r';
const STAND_BY: u8 = b's';

type Variables = Vec<(OsString, OsString)>;

/// Starts this process again as a rank of MPI's, if another launcher has started it as one of
/// several ranks of this host. Returns if there is nothing to do or MPI's launcher is missing:
/// programs without collectives need none.
///
/// # Errors
/// If the other ranks do not come within `limit`.
pub(super) fn join(world: &World, limit: Duration) -> Result<(), Diagnostic> {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let Ok(port) = env::var("MASTER_PORT") else { return Ok(()) };
    // torchrun says how many ranks are on this host; a shell says that they meet here.
    let is_one_host = match number("LOCAL_WORLD_SIZE") {
        Some(size) => size == world.size,
        None => env::var("MASTER_ADDR").is_ok_and(|address| LOOPBACK.contains(&address.as_str())),
    };
    if world.size < 2 || !is_one_host || LAUNCHED.iter().any(|name| env::var_os(name).is_some()) {
        return Ok(());
    }
    let failed = |error: io::Error| {
        let code =
            if error.kind() == ErrorKind::TimedOut { ErrorCode::DeadlineExceeded } else { ErrorCode::Io };
        let message = format!("{world} cannot join the ranks on this host: {error}");
        Diagnostic::new(code, message).note("start the ranks with mpirun or 'tfrt launch' instead")
    };
    let deadline = Instant::now() + limit;
    let place = meeting_place(&port).map_err(failed)?;
    let joined = match world.rank {
        0 => lead(&place, world.size, deadline),
        rank => follow(&place, rank, deadline),
    };
    let variables = joined.map_err(failed)?;
    if variables.is_empty() {
        return Ok(());
    }
    let own = env::current_exe().map_err(failed)?;
    // Returns only if it fails.
    Err(failed(Command::new(own).args(env::args_os().skip(1)).envs(variables).exec()))
}

/// The socket at which the ranks meet, in a folder that other users cannot enter: variables decide
/// what MPI loads.
fn meeting_place(port: &str) -> io::Result<PathBuf> {
    let user = fs::metadata("/proc/self")?.uid();
    let folder = env::temp_dir().join(format!("tfrt-ranks-{user}"));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("'{}' is not a folder of this user alone", folder.display())));
    }
    let host = env::var("MASTER_ADDR").unwrap_or_default().replace('/', "_");
    let restart = env::var("TORCHELASTIC_RESTART_COUNT").unwrap_or_default();
    Ok(folder.join(format!("{host}-{port}-{restart}")))
}

fn late(what: &str) -> io::Error {
    io::Error::new(ErrorKind::TimedOut, format!("{what} did not come in time"))
}

/// On rank 0: starts `mpirun`, and gives each rank the variables of the process that stands by for
/// it.
fn lead(place: &Path, size: u32, deadline: Instant) -> io::Result<Variables> {
    // That of an earlier job may have been left behind.
    drop(fs::remove_file(place));
    let listener = UnixListener::bind(place)?;
    listener.set_nonblocking(true)?;
    let mut mpirun = stand_by_processes(place, size);
    let count = size as usize;
    let (mut ranks, mut standing) = (Vec::new(), Vec::new());
    while ranks.len() + 1 < count || standing.len() < count {
        if let Ok(process) = &mut mpirun
            && process.try_wait()?.is_some()
        {
            mpirun = Err(io::Error::other("mpirun has ended"));
        }
        if mpirun.is_err() && ranks.len() + 1 == count {
            // Without MPI's launcher, the ranks are told to go on as they are.
            return Ok(Vec::new());
        }
        match listener.accept() {
            Ok((stream, _)) => {
                let (kind, number, stream) = greeting(stream)?;
                let found = if kind == RANK { &mut ranks } else { &mut standing };
                found.push((number, stream));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() >= deadline {
                    return Err(late("other ranks"));
                }
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
    drop(fs::remove_file(place));
    hand_over(ranks, standing)
}

/// Gives each rank its variables and returns those of rank 0.
fn hand_over(ranks: Vec<(u32, UnixStream)>, standing: Vec<(u32, UnixStream)>) -> io::Result<Variables> {
    let mut all = Vec::new();
    for (number, mut stream) in standing {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        all.push((number, bytes));
        // It stands by as long as this process has the connection, which outlives the new start.
        rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::empty())?;
        std::mem::forget(stream);
    }
    let of = |wanted: u32| {
        let found = all.iter().find(|(number, _)| *number == wanted);
        found
            .map(|(_, bytes)| bytes)
            .ok_or_else(|| io::Error::other(format!("nothing stands by for rank {wanted}")))
    };
    for (number, mut stream) in ranks {
        stream.write_all(of(number)?)?;
    }
    Ok(decode(of(0)?))
}

fn stand_by_processes(place: &Path, size: u32) -> io::Result<Child> {
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--oversubscribe", "--allow-run-as-root", "-n"]).arg(size.to_string());
    mpirun.arg(env::current_exe()?).args(["launch", "--stand-by"]).arg(place).args(["--", "nothing"]);
    mpirun.stdin(Stdio::null()).spawn()
}

/// Reads who has connected.
fn greeting(mut stream: UnixStream) -> io::Result<(u8, u32, UnixStream)> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut bytes = [0; 5];
    stream.read_exact(&mut bytes)?;
    let [kind, number @ ..] = bytes;
    Ok((kind, u32::from_le_bytes(number), stream))
}

fn connect(place: &Path, kind: u8, rank: u32, deadline: Instant) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(place) {
            Ok(mut stream) => {
                stream.write_all(&[kind])?;
                stream.write_all(&rank.to_le_bytes())?;
                return Ok(stream);
            }
            Err(_) if Instant::now() < deadline => thread::sleep(PAUSE),
            Err(_) => return Err(late("rank 0")),
        }
    }
}

/// On the other ranks: waits for the variables.
fn follow(place: &Path, rank: u32, deadline: Instant) -> io::Result<Variables> {
    let mut stream = connect(place, RANK, rank, deadline)?;
    let left = deadline.saturating_duration_since(Instant::now());
    stream.set_read_timeout(Some(left.max(PAUSE)))?;
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(late("MPI's variables")),
        read => read.map(|_| decode(&bytes)),
    }
}

/// Stands by for a rank: `tfrt launch --stand-by PLACE`, as a process of `mpirun`.
pub(super) fn stand_by(place: &Path) -> Result<Outcome, Failure> {
    let failed = |error: io::Error| Diagnostic::new(ErrorCode::Io, format!("cannot stand by: {error}"));
    let world = World::detect((None, None), |name| {
        // The launcher's own variables are those of rank 0.
        name.starts_with("OMPI_").then(|| env::var(name).ok()).flatten()
    })?;
    let variables =
        env::vars_os().filter(|(name, _)| OF_MPI.iter().any(|of| name.as_bytes().starts_with(of.as_bytes())));
    let wait = || {
        let mut stream = connect(place, STAND_BY, world.rank, Instant::now() + Duration::from_secs(10))?;
        stream.write_all(&encode(variables))?;
        stream.shutdown(Shutdown::Write)?;
        // Until rank 0 has ended.
        stream.read_to_end(&mut Vec::new())
    };
    wait().map_err(failed)?;
    Ok(Outcome::Fine)
}

fn encode(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in variables {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Returns the variables, of which no other than MPI's are taken.
fn decode(bytes: &[u8]) -> Variables {
    let variable = |entry: &[u8]| {
        let at = entry.iter().position(|&byte| byte == b'=')?;
        let is_of_mpi = OF_MPI.iter().any(|of| entry.starts_with(of.as_bytes()));
        let value = OsString::from_vec(entry[at + 1..].to_vec());
        is_of_mpi.then(|| (OsStr::from_bytes(&entry[..at]).to_owned(), value))
    };
    bytes.split(|&byte| byte == 0).filter_map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_mpi_are_taken() {
        let variables = [("PMIX_RANK", "3"), ("LD_PRELOAD", "x"), ("OMPI_A", "b=c")];
        let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let taken = decode(&encode(variables.clone().into_iter()));
        assert_eq!(taken, [variables[0].clone(), variables[2].clone()]);
        assert!(decode(b"").is_empty() && decode(b"PMIX_").is_empty());
    }

    #[test]
    fn ranks_get_the_variables_of_their_numbers() {
        let pair = || UnixStream::pair().unwrap();
        let ((mut rank, rank_there), (mut first, first_there), (mut second, second_there)) =
            (pair(), pair(), pair());
        first.write_all(b"PMIX_RANK=0\0").unwrap();
        second.write_all(b"PMIX_RANK=1\0").unwrap();
        for stream in [&first, &second] {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        let own = hand_over(vec![(1, rank_there)], vec![(1, second_there), (0, first_there)]).unwrap();
        assert_eq!(own, [("PMIX_RANK".into(), "0".into())]);
        let mut told = Vec::new();
        rank.read_to_end(&mut told).unwrap();
        assert_eq!(decode(&told), [("PMIX_RANK".into(), "1".into())]);
    }
}
