//! `tfrt launch` when it or its launcher is killed, or its launcher stays: no process stays behind.
//!
//! A script stands for `mpirun`, so that this needs no MPI; `ci/mpi launchers` does the same with
//! MPI's own.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// Starts the ranks as `mpirun` does, without MPI.
const MPIRUN: &str = r#"#!/bin/sh
while [ "$1" != -n ]; do shift; done
size=$2
shift 2
rank=0
while [ $rank -lt $size ]; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$size "$@" &
    rank=$((rank + 1))
done
wait
"#;

/// The state of a process as one letter, and its parent; nothing if there is no such process.
fn process(id: u32) -> Option<(char, u32)> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some((field("State:")?.chars().next()?, field("PPid:")?.parse().ok()?))
}

/// Whether a process has ended. Nobody may have asked for its exit code yet.
fn has_ended(id: u32) -> bool {
    process(id).is_none_or(|(state, _)| state == 'Z')
}

fn parent(id: u32) -> u32 {
    process(id).expect("a process").1
}

/// Writes a script that stands for `mpirun`.
fn stand_in(folder: &Path, script: &str) -> PathBuf {
    let mpirun = folder.join("mpirun");
    fs::write(&mpirun, script).expect("a file");
    fs::set_permissions(&mpirun, fs::Permissions::from_mode(0o755)).expect("permissions");
    mpirun
}

#[test]
fn a_launcher_that_stays_without_ranks_is_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("{MPIRUN}\nexec sleep 600\n");
    let ended = Command::new(env!("CARGO_BIN_EXE_tfrt"))
        .args(["launch", "-n", "2", "--mpirun"])
        .arg(stand_in(folder.path(), &script))
        .args(["--", "sh", "-c", "[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 7"])
        .output()
        .expect("tfrt starts");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(told.contains("rank 1 has failed first: sh ended with exit code 7"), "{told}");
    assert_eq!(ended.status.code(), Some(7), "{told}");
}

#[test]
fn no_process_outlives_a_killed_launcher() {
    let folder = tempfile::tempdir().expect("a folder");
    let mpirun = stand_in(folder.path(), MPIRUN);
    for victim in ["tfrt launch", "mpirun"] {
        let mut launcher = Command::new(env!("CARGO_BIN_EXE_tfrt"))
            .args(["launch", "-n", "2", "--mpirun"])
            .arg(&mpirun)
            .args(["--", "sh", "-c", "echo $$; exec sleep 600"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("tfrt starts");
        let lines = BufReader::new(launcher.stdout.take().expect("a pipe")).lines();
        let id = |line: std::io::Result<String>| {
            let line = line.expect("a line");
            line.split_whitespace().last().and_then(|id| id.parse().ok()).expect("a process's number")
        };
        let ranks: Vec<u32> = lines.take(2).map(id).collect();
        let relays: Vec<u32> = ranks.iter().copied().map(parent).collect();
        let mpirun = parent(relays[0]);
        assert_eq!(parent(mpirun), launcher.id());
        let killed = if victim == "mpirun" { mpirun } else { launcher.id() };
        assert!(Command::new("kill").args(["-KILL", &killed.to_string()]).status().expect("kill").success());
        assert!(!launcher.wait().expect("a status").success());
        let all = || [&ranks[..], &relays, &[mpirun]].concat();
        for _ in 0..500 {
            if all().into_iter().all(has_ended) {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let left: Vec<_> = all().into_iter().filter(|&id| !has_ended(id)).collect();
        for id in &left {
            // The test fails, but leaves nothing behind.
            drop(Command::new("kill").args(["-KILL", &id.to_string()]).status());
        }
        assert!(
            left.is_empty(),
            "after {victim} was killed, {left:?} of {ranks:?}, {relays:?} and {mpirun} stay"
        );
    }
}
