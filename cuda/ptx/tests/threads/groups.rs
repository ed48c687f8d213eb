//! Cooperative groups of several warps and of a whole grid. The kernels are in `groups.cu`.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tfrt_ptx::{FaultKind, Function, Launch, MAX_BLOCKS_BEGUN, Memory, Module, Params};

use super::{upload, words};

fn function(name: &str) -> Function {
    Module::parse(include_str!("ptx/groups.compute_80.ptx")).unwrap().function(name).unwrap()
}

#[test]
fn tiles_of_several_warps_meet() {
    let tiles = function("wide_tiles");
    for checked in [false, true] {
        let memory = Memory::new();
        let out = memory.allocate(4 * 256).unwrap();
        Launch::new(&tiles)
            .block(256)
            .check_uninitialized(checked)
            .check_races(checked)
            .run(&Params::new().push(out), &memory)
            .unwrap();
        let expected: Vec<i32> = (0..256)
            .map(|thread| {
                let first = thread & !63;
                let tile = first..first + 64;
                let (squares, sum): (i32, i32) = (tile.clone().map(|t| t * t).sum(), tile.clone().sum());
                squares + 1_000_000 * (first + 1) + sum * if tile.contains(&70) { 2 } else { 1 }
            })
            .collect();
        assert_eq!(words(&memory, out, 256), expected, "checked: {checked}");
    }
}

/// What `grid_rounds` computes, one step after the other.
fn rounds(threads: usize, rounds: usize) -> Vec<i32> {
    let (mut counts, mut out) = (vec![0i32; threads], vec![0i32; threads]);
    for round in 0..rounds {
        for thread in 0..threads {
            let more = if round == 0 { thread as i32 } else { out[(thread + 1) % threads] };
            counts[thread] = counts[thread].wrapping_add(more);
        }
        out = (0..threads).map(|thread| counts[(thread + 1) % threads]).collect();
    }
    out
}

#[test]
fn a_cooperative_grid_meets() {
    let kernel = function("grid_rounds");
    let (blocks, threads) = (8, 8 * 64);
    for (workers, checked) in [(1, false), (2, false), (1, true)] {
        let memory = Memory::new();
        let [counts, out] = [(); 2].map(|()| upload(&memory, &vec![0; threads]));
        let params = Params::new().push(counts).push(out).push(2i32);
        let launch = || Launch::new(&kernel).grid(blocks).block(64).threads(workers);
        let report = launch()
            .cooperative(true)
            .check_uninitialized(checked)
            .check_races(checked)
            .footprint(checked)
            .run(&params, &memory)
            .unwrap();
        assert_eq!(words(&memory, out, threads), rounds(threads, 2), "{workers} workers, checked: {checked}");
        // Where the blocks met is no part of what the launch did.
        let arrays = [counts, out].map(|array| array..array + 4 * threads as u64);
        let known = |address: u64| arrays.iter().any(|array| array.contains(&address));
        assert!(report.touched.iter().all(|touched| known(touched.address)), "{:x?}", report.touched);
        let fault = launch().run(&params, &memory).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Trap, "without a cooperative launch: {fault}");
    }
}

#[test]
fn a_cooperative_grid_has_bounds() {
    let memory = Memory::new();
    let [counts, out] = [(); 2].map(|()| upload(&memory, &[0; 64]));
    let params = Params::new().push(counts).push(out).push(1i32);
    let kernel = function("grid_rounds");
    let blocks = MAX_BLOCKS_BEGUN as u32 + 1;
    let fault = Launch::new(&kernel).grid(blocks).cooperative(true).run(&params, &memory).unwrap_err();
    let expected =
        "kernel grid_rounds: invalid launch: a cooperative launch of 4097 blocks; 4096 at most run at once";
    assert_eq!(fault.to_string(), expected);
}

#[test]
fn the_systems_shared_memory_comes_first() {
    let memory = Memory::new();
    let out = memory.allocate(4 * 7).unwrap();
    let kernel = function("places");
    assert_eq!(kernel.shared_bytes(), 16);
    kernel.launch(1, 1, 100, &Params::new().push(out), &memory).unwrap();
    assert_eq!(words(&memory, out, 7), [0, 1024, 1024, 0, 512, 116, 1024]);
}

#[test]
fn short_blocks_end_when_the_launch_is_to() {
    let memory = Memory::new();
    let kernel = function("places");
    let out = upload(&memory, &[-1; 7]);
    let params = Params::new().push(out);
    let launch = || Launch::new(&kernel).grid(1 << 20);
    let cancelled = AtomicBool::new(true);
    let fault = launch().cancel(&cancelled).run(&params, &memory).unwrap_err();
    assert_eq!(fault.to_string(), "kernel places: cancelled: by the caller; block (0, 0, 0)");
    let fault = launch().deadline(Instant::now()).run(&params, &memory).unwrap_err();
    assert_eq!(fault.kind, FaultKind::DeadlineExceeded);
    assert_eq!(words(&memory, out, 7), [-1; 7], "no block has begun");
    // Long before a thousand million blocks are done.
    let deadline = Instant::now() + Duration::from_millis(20);
    let fault = Launch::new(&kernel).grid(1 << 30).deadline(deadline).run(&params, &memory).unwrap_err();
    assert_eq!(fault.kind, FaultKind::DeadlineExceeded);
    assert!(fault.to_string().starts_with("kernel places: deadline exceeded: after "), "{fault}");
    assert_eq!(words(&memory, out, 1), [0]);
}
