//! Packs the challenging instances of MiniMalloc. `TFRT_MINIMALLOC` names a checkout of
//! `google/minimalloc`; without the variable nothing runs. Builds without optimization are not
//! timed.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{fs, path::Path, time::Instant};

use tfrt_compiler::plan::Instance;

/// How much larger than the capacity that the file's name says a packing may be.
const MAX_RATIO: f64 = 1.10;
const MAX_SECONDS: f64 = 10.0;
const MAX_STEPS: u64 = 700_000;

#[test]
fn challenging_instances_fit_almost() {
    let Some(checkout) = std::env::var_os("TFRT_MINIMALLOC") else { return };
    let folder = Path::new(&checkout).join("benchmarks/challenging");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 11);
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let capacity: u64 = name.split('.').nth(1).unwrap().parse().unwrap();
        let instance = Instance::of_intervals(&read(&file));
        let start = Instant::now();
        let packing = instance.pack(MAX_STEPS);
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(instance.overlap(&packing.offsets), None);
        let ratio = packing.size as f64 / capacity as f64;
        println!("{name}: {ratio:.4} of the capacity in {seconds:.1} s");
        assert!(ratio <= MAX_RATIO, "{name}: {ratio:.3}");
        assert!(cfg!(debug_assertions) || seconds < MAX_SECONDS, "{name}: {seconds:.1} s");
    }
}

/// Reads the beginning, the end and the size of each buffer.
fn read(file: &Path) -> Vec<(u64, u64, u64)> {
    let text = fs::read_to_string(file).unwrap();
    let row = |line: &str| {
        let numbers: Vec<u64> = line.split(',').map(|number| number.trim().parse().unwrap()).collect();
        (numbers[1], numbers[2], numbers[3])
    };
    text.lines().skip(1).map(row).collect()
}
