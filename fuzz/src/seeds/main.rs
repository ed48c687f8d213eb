//! Writes the files fuzzing starts from, made from the repository's own: `seeds REPOSITORY CORPUS`.
//!
//! Each target has a folder in the corpus.

#[cfg(feature = "runtime")]
mod runtime;

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

/// Larger programs make each attempt slow.
const PROGRAM_BYTES_MAX: usize = 8 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(repository), Some(corpus)) = (arguments.next(), arguments.next()) else {
        return Err("seeds REPOSITORY CORPUS".into());
    };
    let mut seeds = Seeds { corpus, count: 0 };
    #[cfg(feature = "runtime")]
    runtime::add(&repository, &mut seeds)?;
    ptx(&repository, &mut seeds)?;
    decisions(&mut seeds)?;
    println!("{} seeds", seeds.count);
    Ok(())
}

struct Seeds {
    corpus: PathBuf,
    count: usize,
}

impl Seeds {
    fn add(&mut self, target: &str, bytes: &[u8]) -> std::io::Result<()> {
        let folder = self.corpus.join(target);
        fs::create_dir_all(&folder)?;
        self.count += 1;
        fs::write(folder.join(format!("seed-{}", self.count)), bytes)
    }

    fn add_ptx(&mut self, text: &str) -> std::io::Result<()> {
        if text.len() > PROGRAM_BYTES_MAX { Ok(()) } else { self.add("ptx", text.as_bytes()) }
    }
}

/// Kernels of the PTX tests, each with its module's head and the module's variables.
fn ptx(repository: &Path, seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    files(&repository.join("cuda/ptx/tests"), "ptx", &mut paths)?;
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.trim().is_empty();
        let text: String = text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect();
        let mut parts = text.split_inclusive("\n}\n");
        let Some(first) = parts.next() else { continue };
        let head = first.split("\n.visible .entry").next().unwrap_or_default();
        seeds.add_ptx(first)?;
        for kernel in parts {
            seeds.add_ptx(&format!("{head}\n{kernel}"))?;
        }
    }
    Ok(())
}

/// Bytes that a generator takes for decisions: of every length, so that not only short programs are
/// tried.
fn decisions(seeds: &mut Seeds) -> std::io::Result<()> {
    let mut state = 1u64;
    for length in (16..=512).step_by(16) {
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        seeds.add("ptx_execute", &bytes)?;
    }
    Ok(())
}

/// The files in a folder and those in it, by their extension.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, extension, found)?;
        } else if path.extension().is_some_and(|its| its == extension) {
            found.push(path);
        }
    }
    Ok(())
}
