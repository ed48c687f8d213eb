//! Threads that wait for each other, part and meet. The kernels are in `threads.cu`.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod groups;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tfrt_ptx::{Fault, FaultKind, Function, Launch, Memory, Module, Params};

fn function(name: &str) -> Function {
    Module::parse(include_str!("ptx/threads.compute_75.ptx")).unwrap().function(name).unwrap()
}

fn words(memory: &Memory, address: u64, count: usize) -> Vec<i32> {
    let mut bytes = vec![0; 4 * count];
    memory.read(address, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|chunk| i32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

fn upload(memory: &Memory, values: &[i32]) -> u64 {
    memory.allocate_from(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap()
}

/// Runs a kernel of one block, whose one parameter is memory for `count` words, and gives these.
fn run(name: &str, threads: u32, count: usize) -> Vec<i32> {
    let memory = Memory::new();
    let out = memory.allocate(4 * count as u64).unwrap();
    function(name).launch(1, threads, 0, &Params::new().push(out), &memory).unwrap();
    words(&memory, out, count)
}

fn expect(name: &str, threads: u32, expected: impl Fn(i32) -> i32) {
    let expected: Vec<i32> = (0..threads as i32).map(expected).collect();
    assert_eq!(run(name, threads, threads as usize), expected, "{name}");
}

#[test]
fn lanes_of_a_warp_take_turns_with_a_lock() {
    for (name, blocks) in [("spin_lock", 4), ("spin_lock_naive", 2)] {
        let memory = Memory::new();
        let (lock, count) = (upload(&memory, &[0]), upload(&memory, &[0]));
        function(name).launch(blocks, 64, 0, &Params::new().push(lock).push(count), &memory).unwrap();
        assert_eq!(words(&memory, count, 1), [64 * blocks as i32], "{name}");
    }
}

#[test]
fn shuffles_meet_on_different_paths() {
    expect("shuffle_paths", 32, |lane| {
        // Odd lanes get what even ones show, which is one more.
        if lane & 1 == 1 { (lane - 1) * 10 + 1 + 1000 } else { (lane + 1) * 10 + 2000 }
    });
}

#[test]
fn tiles_of_a_warp_shuffle_on_their_own() {
    expect("tiles", 64, |thread| {
        let first = thread & !3;
        let votes = (first..first + 4).filter(|t| (t & 31) % 3 == 0).count() as i32;
        4 * first + 6 + 100 * votes
    });
}

#[test]
fn functions_recurse() {
    fn fib(n: i32) -> i32 {
        if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
    }
    expect("recursion", 96, |thread| fib(thread % 12));
}

#[test]
fn lanes_call_different_functions() {
    let bits = |x: f32| x.to_bits() as i32;
    expect("indirect", 40, |thread| {
        let x = thread as f32;
        bits([x + 1.0, x * 2.0, x * x][thread as usize % 3])
    });
}

#[test]
fn a_switch_takes_every_way() {
    let memory = Memory::new();
    let input: Vec<i32> = (0..64).map(|thread| thread * 7 % 9).collect();
    let (from, to) = (upload(&memory, &input), upload(&memory, &[0; 64]));
    function("switches").launch(1, 64, 0, &Params::new().push(from).push(to), &memory).unwrap();
    let expected: Vec<i32> = (0..64)
        .zip(&input)
        .map(|(thread, &x)| match x {
            0 => 5,
            1 => 7 + thread,
            2 => 10,
            3 => 11,
            4 => (0..thread).map(|i| i * 4).sum(),
            5 => 55,
            6 => 66,
            _ => 99,
        })
        .collect();
    assert_eq!(words(&memory, to, 64), expected);
}

#[test]
fn barriers_meet_on_different_paths() {
    expect("barrier_paths", 64, |thread| if 63 - thread < 32 { 63 - thread } else { 2 * (63 - thread) });
}

#[test]
fn warps_hand_over_at_named_barriers() {
    let out = run("producer", 64, 32);
    assert_eq!(out, (0..32).map(|lane| 600 + 4 * lane).collect::<Vec<i32>>());
}

#[test]
fn barriers_reduce() {
    expect("syncs", 100, |_| 34 * 4 + 2 + 1);
    expect("syncs", 70, |_| 24 * 4 + 2);
}

#[test]
fn threads_leave_early() {
    let memory = Memory::new();
    let out = upload(&memory, &[0; 80]);
    function("exits").launch(1, 80, 0, &Params::new().push(out).push(50), &memory).unwrap();
    let expected: Vec<i32> = (0..80)
        .map(|thread| {
            if thread >= 50 {
                0
            } else if thread & 1 == 1 {
                1
            } else {
                7
            }
        })
        .collect();
    assert_eq!(words(&memory, out, 80), expected);
}

#[test]
fn lanes_leave_a_loop_at_different_times() {
    let memory = Memory::new();
    let out = upload(&memory, &[0; 256]);
    function("collatz").launch(2, 128, 0, &Params::new().push(out), &memory).unwrap();
    let steps = |mut n: u32| {
        let mut steps = 0;
        while n != 1 {
            n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    assert_eq!(words(&memory, out, 256), (1..=256).map(steps).collect::<Vec<i32>>());
}

#[test]
fn structs_are_passed_by_value() {
    let memory = Memory::new();
    let out = memory.allocate(8 * 32).unwrap();
    let mut p = [0u8; 24];
    p[..4].copy_from_slice(&3i32.to_le_bytes());
    p[4..8].copy_from_slice(&2.5f32.to_le_bytes());
    p[8..16].copy_from_slice(&10f64.to_le_bytes());
    p[16..21].copy_from_slice(&[1, 2, 3, 4, 5]);
    function("structs").launch(1, 32, 0, &Params::new().bytes(&p).push(out), &memory).unwrap();
    let mut bytes = [0; 8 * 32];
    memory.read(out, &mut bytes).unwrap();
    for (thread, value) in bytes.chunks_exact(8).enumerate() {
        let k = thread as f64;
        let mut c = [1.0, 2.0, 3.0, 4.0, 5.0];
        c[thread % 5] = k;
        c[2] = 2.0;
        let expected = (3.0 + k + 2.0) + 2.5 * k * 2.0 + (10.0 - k - 2.0) + c[thread % 5] + c[2];
        assert_eq!(f64::from_le_bytes(value.try_into().unwrap()), expected, "thread {thread}");
    }
}

#[test]
fn arrays_of_a_thread_are_its_own() {
    let memory = Memory::new();
    let input: Vec<i32> = (0..16).map(|i| i * i + 1).collect();
    let (from, to) = (upload(&memory, &input), upload(&memory, &[0; 64]));
    function("locals").launch(1, 64, 0, &Params::new().push(from).push(to).push(5), &memory).unwrap();
    let expected: Vec<i32> = (0..64)
        .map(|thread| (input[(thread % 8 + 5) as usize] + input[(thread * 7 % 16) as usize]) * thread)
        .collect();
    assert_eq!(words(&memory, to, 64), expected);
}

#[test]
fn lanes_vote_and_match() {
    let all = 0..64i32;
    expect("votes", 64, |t| {
        let warp = t & !31;
        let mask = |holds: &dyn Fn(i32) -> bool| {
            (0..32).filter(|lane| holds(warp + lane)).fold(0u32, |mask, lane| mask | 1 << lane)
        };
        let mut r = mask(&|u| u % 5 == 1) ^ mask(&|u| u % 7 == t % 7);
        r = r.wrapping_add(u32::MAX);
        r = r.wrapping_add(1 + u32::from(warp == 0) + 2);
        if t < 20 {
            r ^= ((1 << 20) - 1) << 8;
        }
        r as i32
    });
    assert_eq!(all.end, 64);
}

#[test]
fn output_goes_to_the_sink() {
    let memory = Memory::new();
    let text = Mutex::new(String::new());
    let sink = |part: &str| text.lock().unwrap().push_str(part);
    let function = function("say");
    Launch::new(&function).block(3).printf(&sink).run(&Params::new().push(7), &memory).unwrap();
    assert_eq!(text.into_inner().unwrap(), "7  0.00 hey|8  1.50 hey|9  3.00 hey|");
}

#[test]
fn a_deadlock_says_who_waits_where() {
    let fault = function("deadlock").launch(1, 96, 0, &Params::new(), &Memory::new());
    // The second and third warps meet at barrier 2; the first waits for 96 threads at barrier 1.
    let fault = fault.unwrap_err();
    assert_eq!(fault.kind, FaultKind::BarrierDeadlock);
    let text = fault.to_string();
    assert!(text.contains("warp 0 at barrier 1 (32 of 96 arrived)") && text.contains("PTX line"), "{text}");
}

#[test]
fn an_endless_kernel_can_be_stopped() {
    let memory = Memory::new();
    let params = Params::new().push(upload(&memory, &[0]));
    let function = function("endless");
    let fault: Fault =
        Launch::new(&function).block(64).instruction_limit(100_000).run(&params, &memory).unwrap_err();
    assert_eq!(fault.kind, FaultKind::InstructionLimit);
    let cancel = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            cancel.store(true, Ordering::Relaxed);
        });
        let fault =
            Launch::new(&function).grid(3).block(64).cancel(&cancel).run(&params, &memory).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Cancelled);
    });
}

#[test]
fn blocks_wait_for_each_other() {
    let memory = Memory::new();
    let (arrived, out) = (upload(&memory, &[0]), upload(&memory, &[0; 40 * 64]));
    let barrier = function("grid_barrier");
    Launch::new(&barrier)
        .grid(40)
        .block(64)
        .threads(2)
        .run(&Params::new().push(arrived).push(out), &memory)
        .unwrap();
    assert_eq!(words(&memory, out, 40 * 64), [40; 40 * 64]);
    let (flags, out) = (upload(&memory, &[0; 50]), upload(&memory, &[0; 50]));
    function("look_back").launch(50, 32, 0, &Params::new().push(flags).push(out), &memory).unwrap();
    assert_eq!(words(&memory, out, 50), (0..50).collect::<Vec<i32>>());
}
