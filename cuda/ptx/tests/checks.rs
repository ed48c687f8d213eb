//! What a launch is watched for when asked: races, reads of what nobody wrote, and counts.

#![expect(clippy::panic, clippy::unwrap_used, reason = "what fails here fails the test")]

use tfrt_ptx::{Fault, FaultKind, Function, Launch, Memory, Module, OpcodeCount, Params, Report};

/// A kernel with parameters `p` and `q`, whose addresses are in `%p` and `%q`, and the thread's and
/// the block's number in `%t` and `%c`; it begins in line 4.
fn kernel(declarations: &str, body: &str) -> Function {
    let text = format!(
        ".version 8.4 .target sm_90 .address_size 64 {declarations}\n\
         .visible .entry k(.param .u64 pp, .param .u64 pq) {{ .reg .b32 %r<20>, %t, %c; .reg .b64 %d<20>, %p, %q; .reg .pred %o<9>;\n\
         ld.param.u64 %p, [pp]; ld.param.u64 %q, [pq]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;\n\
         {body}\nret; }}"
    );
    match Module::parse(&text) {
        Ok(module) => module.function("k").unwrap().clone(),
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

/// Launches with two allocations of 4096 bytes, of which the host has written the first.
fn run<'l>(
    function: &'l Function,
    grid: u32,
    block: u32,
    configure: impl FnOnce(Launch<'l>) -> Launch<'l>,
) -> Result<Report, Fault> {
    let memory = Memory::new();
    let p = memory.allocate_labelled(4096, "p").unwrap();
    let q = memory.allocate_labelled(4096, "q").unwrap();
    memory.write(p, &[0; 4096]).unwrap();
    configure(Launch::new(function).grid(grid).block(block)).run(&Params::new().push(p).push(q), &memory)
}

#[track_caller]
fn races(declarations: &str, body: &str, grid: u32, block: u32) -> Option<Fault> {
    let function = kernel(declarations, body);
    match run(&function, grid, block, |launch| launch.check_races(true)) {
        Ok(_) => None,
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::Race, "{fault}");
            Some(fault)
        }
    }
}

/// Each thread writes its word and reads that of the thread opposite.
fn exchange(between: &str) -> String {
    format!(
        "mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %t;\n{between}\n\
         mov.u32 %r4, %ntid.x; sub.u32 %r4, %r4, 1; sub.u32 %r4, %r4, %t; shl.b32 %r4, %r4, 2; add.u32 %r5, %r1, %r4;\n\
         ld.shared.u32 %r6, [%r5]; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %p; st.global.u32 [%d1], %r6;"
    )
}

const SHARED: &str = ".shared .align 4 .b8 s[4096];";

#[test]
fn a_missing_barrier_is_a_race() {
    assert!(races(SHARED, &exchange("bar.sync 0;"), 1, 128).is_none());
    assert!(races(SHARED, &exchange("barrier.sync 3, 128;"), 1, 128).is_none());
    // The first warp has read what the last one writes.
    let fault = races(SHARED, &exchange(""), 1, 128).expect("there is no barrier");
    assert_eq!(fault.place.as_ref().unwrap().line, 4);
    let message = fault.to_string();
    assert!(message.contains("shared write of 4 bytes that thread"), "{message}");
    assert!(message.contains("has read by ld.shared.u32 at PTX line 7"), "{message}");
}

#[test]
fn lanes_of_a_warp_need_a_barrier_too() {
    assert!(races(SHARED, &exchange(""), 1, 32).is_some());
    assert!(races(SHARED, &exchange("bar.warp.sync 0xffffffff;"), 1, 32).is_none());
    assert!(races(SHARED, &exchange("shfl.sync.idx.b32 %r9, %t, 0, 31, 0xffffffff;"), 1, 32).is_none());
    // A warp's barrier is none for other warps.
    assert!(races(SHARED, &exchange("bar.warp.sync 0xffffffff;"), 1, 64).is_some());
}

#[test]
fn accesses_before_the_next_round_race() {
    // Reads of one round and writes of the next.
    let body = |end: &str| {
        format!(
            "mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; mov.u32 %r9, 0;\n\
             L: st.shared.u32 [%r3], %t; bar.sync 0; ld.shared.u32 %r6, [%r1]; {end}\n\
             add.u32 %r9, %r9, 1; setp.lt.u32 %o1, %r9, 3; @%o1 bra L;"
        )
    };
    assert!(races(SHARED, &body("bar.sync 0;"), 1, 64).is_none());
    let fault = races(SHARED, &body(""), 1, 64).expect("a barrier is missing");
    assert!(fault.to_string().contains("has read by"), "{fault}");
}

#[test]
fn atomic_operations_do_not_race() {
    assert!(races(SHARED, "atom.shared.add.u32 %r1, [s], 1; red.global.add.u32 [%p], 1;", 4, 128).is_none());
    assert!(
        races(SHARED, "ld.volatile.shared.u32 %r1, [s]; st.volatile.shared.u32 [s], 1;", 1, 128).is_none()
    );
    // With others they do.
    let body = "setp.ne.u32 %o1, %t, 64; @%o1 red.shared.add.u32 [s], 1; @!%o1 st.shared.u32 [s], 1;";
    assert!(races(SHARED, body, 1, 128).is_some());
}

#[test]
fn neighbouring_bytes_are_apart() {
    let bytes = "cvt.u64.u32 %d1, %t; mov.u64 %d2, s; add.u64 %d1, %d1, %d2; st.shared.u8 [%d1], %r1;";
    assert!(races(SHARED, bytes, 1, 128).is_none());
    let blocks =
        "cvt.u64.u32 %d1, %c; add.u64 %d1, %d1, %p; st.global.u8 [%d1], %r1; ld.global.u8 %r2, [%d1];";
    assert!(races("", blocks, 64, 1).is_none());
}

#[test]
fn blocks_that_write_one_place_race() {
    let fault = races("", "st.global.u32 [%p+8], %c;", 2, 1).expect("both write");
    let message = fault.to_string();
    assert!(message.contains("global write of 4 bytes that block"), "{message}");
    assert!(message.contains("8 bytes into p of 4096 bytes"), "{message}");
    assert!(races("", "ld.global.u32 %r1, [%p];", 64, 32).is_none());
    let reads_and_one_writes =
        "setp.eq.u32 %o1, %c, 3; @%o1 st.global.u32 [%p], 1; @!%o1 ld.global.u32 %r1, [%p];";
    assert!(races("", reads_and_one_writes, 8, 1).is_some());
}

#[test]
fn writing_the_same_is_no_race() {
    assert!(races(SHARED, "st.shared.u32 [s], 7;", 1, 128).is_none());
    assert!(races(SHARED, "st.shared.u32 [s], %t;", 1, 128).is_some());
    assert!(races("", "st.global.u32 [%p], 7;", 8, 32).is_none());
}

/// Every block writes its word; the last one to count itself reads all.
fn last_block(fence: &str) -> String {
    format!(
        "mul.wide.u32 %d1, %c, 4; add.u64 %d1, %d1, %p; st.global.u32 [%d1], %c;\n{fence}\n\
         atom.global.add.u32 %r1, [%p+2048], 1; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1;\n\
         setp.ne.u32 %o1, %r1, %r2; @%o1 ret; mov.u32 %r3, 0; mov.u64 %d2, %p;\n\
         L: ld.global.u32 %r4, [%d2]; add.u64 %d2, %d2, 4; add.u32 %r3, %r3, 1; setp.le.u32 %o2, %r3, %r2; @%o2 bra L;"
    )
}

#[test]
fn a_counter_with_fences_orders_blocks() {
    const BLOCKS: u32 = if cfg!(miri) { 4 } else { 40 };
    assert!(races("", &last_block("membar.gl;"), BLOCKS, 1).is_none());
    assert!(races("", &last_block("fence.acq_rel.gpu;"), BLOCKS, 1).is_none());
    assert!(races("", &last_block(""), BLOCKS, 1).is_some());
}

#[test]
fn a_counter_that_releases_and_acquires_orders_blocks() {
    let body = last_block("").replace("atom.global", "atom.acq_rel.gpu.global");
    assert!(races("", &body, 4, 1).is_none());
}

#[test]
fn a_barrier_in_memory_orders_threads() {
    const ALIGNED: &str = ".shared .align 8 .b8 s[4096];";
    let body = |between: &str| {
        format!(
            "mov.u32 %r9, s; add.u32 %r9, %r9, 2048; setp.eq.u32 %o3, %t, 0;\n\
             @%o3 mbarrier.init.shared.b64 [%r9], 64; bar.sync 0; {}",
            exchange(between)
        )
    };
    let arrive = "mbarrier.arrive.shared.b64 %d5, [%r9];";
    let wait = "WAIT: mbarrier.test_wait.shared.b64 %o4, [%r9], %d5; @!%o4 bra WAIT;";
    assert!(races(ALIGNED, &body(&format!("{arrive} {wait}")), 1, 64).is_none());
    assert!(races(ALIGNED, &body(arrive), 1, 64).is_some());
}

#[test]
fn a_flag_orders_warps() {
    let body = |fence: &str| {
        format!(
            "setp.ge.u32 %o1, %t, 32; @%o1 bra CONSUMER;\n\
             setp.ne.u32 %o2, %t, 0; @%o2 ret; st.shared.u32 [s+4], 7; {fence} st.volatile.shared.u32 [s], 1; ret;\n\
             CONSUMER: ld.volatile.shared.u32 %r1, [s]; setp.eq.u32 %o3, %r1, 0; @%o3 bra CONSUMER; ld.shared.u32 %r2, [s+4];"
        )
    };
    assert!(races(SHARED, &body("membar.cta;"), 1, 64).is_none());
    assert!(races(SHARED, &body(""), 1, 64).is_some());
}

#[track_caller]
fn uninitialized(declarations: &str, body: &str) -> Option<Fault> {
    let function = kernel(declarations, body);
    match run(&function, 2, 32, |launch| launch.check_uninitialized(true)) {
        Ok(_) => None,
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::Uninitialized, "{fault}");
            Some(fault)
        }
    }
}

#[test]
fn reads_of_what_nobody_wrote() {
    assert!(uninitialized("", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%p+4080];").is_none());
    let fault = uninitialized("", "ld.global.u32 %r1, [%q+16];").expect("nobody wrote it");
    assert!(fault.to_string().contains("16 bytes into q of 4096 bytes"), "{fault}");
    assert!(uninitialized("", "st.global.u32 [%q+16], 1; ld.global.u32 %r1, [%q+16];").is_none());
    assert!(uninitialized("", "st.global.u16 [%q+16], %r1; ld.global.u32 %r1, [%q+16];").is_some());
    assert!(uninitialized("", "atom.global.add.u32 %r1, [%q], 1;").is_some());
    assert!(uninitialized(SHARED, "ld.shared.u32 %r1, [s];").is_some());
    assert!(uninitialized(SHARED, "st.shared.u32 [s], 1; ld.shared.u32 %r1, [s];").is_none());
    assert!(uninitialized("", ".local .u32 l[4]; st.local.u32 [l], 1; ld.local.u32 %r1, [l];").is_none());
    assert!(uninitialized("", ".local .u32 l[4]; st.local.u32 [l], 1; ld.local.u32 %r1, [l+4];").is_some());
    assert!(
        uninitialized(".global .u32 g; .const .u32 c;", "ld.global.u32 %r1, [g]; ld.const.u32 %r2, [c];")
            .is_none()
    );
}

/// Shared memory is fresh in every block.
#[test]
fn blocks_do_not_inherit_shared_memory() {
    let body = "setp.eq.u32 %o1, %c, 0; @%o1 st.shared.u32 [s], 1; @!%o1 ld.shared.u32 %r1, [s];";
    let function = kernel(SHARED, body);
    let fault = run(&function, 2, 32, |launch| launch.threads(1).check_uninitialized(true)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Uninitialized);
}

/// What a launch that is not watched wrote is not known, and counts as written.
#[test]
fn launches_that_are_not_watched_count_as_writes() {
    let function = kernel("", "ld.global.u32 %r1, [%q];");
    let memory = Memory::new();
    let q = memory.allocate(64).unwrap();
    let params = Params::new().push(q).push(q);
    let watched = |memory: &Memory| Launch::new(&function).check_uninitialized(true).run(&params, memory);
    assert_eq!(watched(&memory).unwrap_err().kind, FaultKind::Uninitialized);
    Launch::new(&function).run(&params, &memory).unwrap();
    watched(&memory).unwrap();
}

#[test]
fn counts() {
    let body = "setp.lt.u32 %o1, %t, 8; @%o1 bra A; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %p; ld.global.u32 %r1, [%d1];\n\
                bra B; A: add.u32 %r2, %r2, 1; B: shl.b32 %r3, %t, 7; mov.u32 %r4, s; add.u32 %r3, %r3, %r4;\n\
                st.shared.u32 [%r3], %r2;";
    let function = kernel(SHARED, body);
    assert_eq!(run(&function, 2, 32, |launch| launch).unwrap().statistics, None);
    let report = run(&function, 2, 32, |launch| launch.statistics(true)).unwrap();
    let statistics = report.statistics.unwrap();
    let count = |name: &str| statistics.opcodes.get(name).copied().unwrap_or_default();
    assert_eq!(count("ld.global.u32"), OpcodeCount { warps: 2, threads: 48 });
    assert_eq!(count("add.u32").threads, 2 * (8 + 32));
    assert_eq!(count("st.shared.u32"), OpcodeCount { warps: 2, threads: 64 });
    assert_eq!(statistics.divergent_branches, 2);
    assert_eq!((statistics.global.requests, statistics.global.read_bytes), (2, 2 * 24 * 4));
    assert_eq!(statistics.global_sectors, 6);
    assert_eq!((statistics.shared.requests, statistics.shared.written_bytes), (2, 2 * 32 * 4));
    assert_eq!(statistics.bank_conflicts, 2 * 31);
}
