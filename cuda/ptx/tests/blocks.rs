//! Blocks and warps beside each other: memory that one frees while another uses it, barriers that
//! are used again at once, barriers that nobody completes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]

use tfrt_ptx::{Fault, FaultKind, Launch, Memory, Module, Params};

/// A module of one kernel `k` with a parameter `p`, which is in `%rd0`; the numbers of the thread,
/// the warp and the block are in `%t`, `%w` and `%c`.
fn kernel(body: &str) -> Module {
    let text = format!(
        ".version 8.4 .target sm_90 .address_size 64
         .extern .func (.param .b64 address) malloc (.param .b64 bytes);
         .extern .func free (.param .b64 address);
         .shared .align 8 .b8 buffer[1024];
         .visible .entry k(.param .u64 p)
         {{
             .reg .b64 %rd<20>; .reg .b32 %r<20>, %t, %w, %c; .reg .pred %p<9>;
             ld.param.u64 %rd0, [p];
             mov.u32 %t, %tid.x;
             mov.u32 %c, %ctaid.x;
             shr.u32 %w, %t, 5;
             {body}
             ret;
         }}"
    );
    Module::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The words at the parameter after a launch on one thread; they are zero before.
fn run(module: &Module, grid: u32, block: u32, words: usize) -> Result<Vec<u32>, Fault> {
    let memory = Memory::new();
    let address = memory.allocate(4 * words as u64).unwrap();
    let function = module.function("k").unwrap();
    Launch::new(&function)
        .grid(grid)
        .block(block)
        .threads(1)
        .instruction_limit(1_000_000)
        .run(&Params::new().push(address), &memory)?;
    let mut after = vec![0u32; words];
    memory.read(address, bytemuck::cast_slice_mut(&mut after)).unwrap();
    Ok(after)
}

/// Block 0 allocates, gives the address to block 1, frees when block 1 has used the memory, and
/// allocates again. The words at `p` are whose turn it is, two of nothing, the two addresses.
fn owner_and_user(user: &str) -> Module {
    const ALLOCATE: &str = "{ .param .b64 bytes; .param .b64 address; st.param.b64 [bytes], 64;
        call.uni (address), malloc, (bytes); ld.param.b64 %rd1, [address]; }";
    let wait = |label: &str, turn: u32| {
        format!(
            "{label}: ld.acquire.gpu.global.u32 %r1, [%rd0]; setp.ne.u32 %p1, %r1, {turn}; @%p1 bra {label};"
        )
    };
    kernel(&format!(
        "setp.ne.u32 %p0, %c, 0; @%p0 bra USER;
         setp.ne.u32 %p0, %t, 0; @%p0 ret;
         {ALLOCATE} st.global.u64 [%rd0+16], %rd1; st.release.gpu.global.u32 [%rd0], 1;
         {}
         {{ .param .b64 address; st.param.b64 [address], %rd1; call.uni free, (address); }}
         {ALLOCATE} st.global.u64 [%rd0+24], %rd1; st.release.gpu.global.u32 [%rd0], 3;
         ret;
         USER:
         {}
         ld.global.u64 %rd2, [%rd0+16];
         {}",
        wait("FREE", 2),
        wait("START", 1),
        user.replace("SIGNAL;", &format!("st.release.gpu.global.u32 [%rd0], 2; {}", wait("GO", 3)))
    ))
}

/// An instruction that has accessed memory looks again once the memory may be gone.
#[test]
fn memory_another_block_frees_is_not_used() {
    let module = owner_and_user(
        "mov.u32 %r2, 0;
         AGAIN:
         st.global.u32 [%rd2], 7;
         setp.ne.u32 %p2, %r2, 0; @%p2 ret;
         mov.u32 %r2, 1;
         SIGNAL;
         ld.global.u64 %rd3, [%rd0+24];
         st.global.u32 [%rd3], 8;
         bra AGAIN;",
    );
    let fault = run(&module, 2, 1, 8).unwrap_err();
    assert_eq!(fault.kind, FaultKind::UseAfterFree, "{fault}");
}

/// Lanes of one instruction, the first of which reads memory that is freed, and the second memory
/// it has not seen yet.
#[test]
fn memory_another_block_frees_is_read_before_it_goes() {
    let module = owner_and_user(
        "st.global.v2.u32 [%rd2], {%r15, %r15};
         mov.u32 %r2, 7; st.global.v2.u32 [%rd2], {%r2, %r2};
         SIGNAL;
         ld.global.u64 %rd3, [%rd0+24];
         setp.eq.u32 %p2, %t, 0;
         selp.b64 %rd4, %rd2, %rd3, %p2;
         ld.global.v2.u32 {%r3, %r4}, [%rd4];
         mul.wide.u32 %rd5, %t, 8; add.u64 %rd5, %rd0, %rd5; st.global.v2.u32 [%rd5+32], {%r3, %r4};",
    );
    let after = run(&module, 2, 2, 12).unwrap();
    assert_eq!(after[8..], [7, 7, 0, 0]);
}

/// Two warps pass a reduction and go on only when two others have passed the same barrier again.
#[test]
fn a_reduction_is_that_of_its_phase() {
    let module = kernel(
        "setp.lt.u32 %p1, %w, 2;
         @%p1 bar.sync 2, 96;
         setp.lt.u32 %p2, %t, 5; setp.ge.u32 %p3, %t, 64; or.pred %p2, %p2, %p3;
         bar.red.popc.u32 %r1, 1, 64, %p2;
         setp.eq.u32 %p4, %w, 3;
         @%p4 bar.arrive 2, 96;
         mul.wide.u32 %rd1, %t, 4; add.u64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r1;",
    );
    let after = run(&module, 1, 128, 128).unwrap();
    assert_eq!((&after[..64], &after[64..]), (&[5; 64][..], &[64; 64][..]));
}

/// Predicates are given to each thread as counts are.
#[test]
fn reductions_of_predicates() {
    for (operation, of_some, of_all) in [("and", 0, 1), ("or", 1, 1)] {
        for (below, expected) in [(0, 0), (40, of_some), (64, of_all)] {
            let module = kernel(&format!(
                "setp.lt.u32 %p1, %t, {below};
                 barrier.cta.red.{operation}.pred %p2, 3, %p1;
                 selp.u32 %r1, 1, 0, %p2;
                 mul.wide.u32 %rd1, %t, 4; add.u64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r1;"
            ));
            assert_eq!(run(&module, 1, 64, 64).unwrap(), [expected; 64], "{operation} of {below}");
        }
    }
}

#[track_caller]
fn fault_of(body: &str) -> Fault {
    run(&kernel(&format!("mov.u32 %r9, buffer; {body}")), 1, 1, 8).unwrap_err()
}

/// Numbers of bytes that a barrier cannot count, one by one and together.
#[test]
fn bytes_that_are_too_many_for_a_barrier() {
    for body in [
        "mbarrier.init.shared.b64 [%r9], 1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 8388608;",
        "mbarrier.init.shared.b64 [%r9], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 1048576;",
        "mbarrier.init.shared.b64 [%r9], 1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 1048575;
         mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 1;",
    ] {
        let fault = fault_of(body);
        assert_eq!(fault.kind, FaultKind::InvalidOperand, "{fault}");
        assert!(fault.to_string().contains("the number of bytes"), "{fault}");
    }
}

/// Barriers and rows of tiles are in shared memory, also where a generic address says where.
#[test]
fn barriers_elsewhere() {
    for body in [
        "mbarrier.init.b64 [%rd0], 1;",
        "ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd0];",
        "stmatrix.sync.aligned.m8n8.x1.b16 [%rd0], {%r1};",
    ] {
        let fault = run(&kernel(body), 1, 32, 64).unwrap_err();
        assert_eq!(fault.kind, FaultKind::WrongSpace, "{fault}");
    }
}

/// Two arrivals are expected, and one comes: however the program asks, alone, beside threads that
/// wait elsewhere, and with lanes that go different ways.
#[test]
#[cfg_attr(miri, ignore = "it waits for long")]
fn a_memory_barrier_nobody_completes() {
    const ARRIVE: &str = "setp.eq.u32 %p1, %t, 0; @!%p1 bra READY;
        mbarrier.init.shared.b64 [%r9], 2; mbarrier.arrive.shared.b64 %rd1, [%r9]; READY: bar.sync 0;";
    for wait in [
        "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0; @!%p2 bra WAIT;",
        "WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 0; @%p2 bra DONE; nanosleep.u32 20; bra WAIT; DONE:",
        "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0; selp.b32 %r2, 1, 0, %p2; setp.eq.s32 %p3, %r2, 0;
         @%p3 bra WAIT;",
        "setp.gt.u32 %p4, %t, 2; @%p4 bra OTHERS;
         WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0; @!%p2 bra WAIT;
         OTHERS: bar.sync 1;",
    ] {
        for threads in [1, 8, 64] {
            let fault = run(&kernel(&format!("mov.u32 %r9, buffer; {ARRIVE} {wait}")), 2, threads, 1);
            let fault = fault.unwrap_err();
            assert_eq!(fault.kind, FaultKind::BarrierDeadlock, "{wait}: {fault}");
            let text = "the memory barrier at shared address 0x0 (1 arrivals and 0 bytes missing), mbarrier.t";
            assert!(fault.to_string().contains(text), "{wait}: {fault}");
        }
    }
}

/// Loops that ask a barrier in vain for a while: a counter, a clock, memory another block writes,
/// or another warp ends them.
#[test]
#[cfg_attr(miri, ignore = "it waits for long")]
fn a_memory_barrier_that_is_not_waited_for_for_ever() {
    const ROUNDS: u32 = 60_000;
    const ASK: &str = "mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0; @%p2 bra DONE;";
    for wait in [
        format!(
            "mov.u32 %r2, 0; WAIT: {ASK} add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, {ROUNDS}; @%p3 bra WAIT;"
        ),
        format!(
            "mov.u64 %rd1, %clock64; WAIT: {ASK} mov.u64 %rd2, %clock64; sub.u64 %rd2, %rd2, %rd1;
             setp.lt.u64 %p3, %rd2, 20000000; @%p3 bra WAIT;"
        ),
        format!(
            "setp.eq.u32 %p4, %c, 1; @%p4 st.release.gpu.global.u32 [%rd0], 1; @%p4 bra DONE;
             WAIT: {ASK} ld.acquire.gpu.global.u32 %r2, [%rd0]; setp.eq.u32 %p3, %r2, 0; @%p3 bra WAIT;"
        ),
        format!(
            "setp.eq.u32 %p4, %t, 32; @!%p4 bra WAIT; mov.u32 %r2, 0;
             WORK: add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, {ROUNDS}0; @%p3 bra WORK;
             mbarrier.arrive.shared.b64 %rd1, [%r9]; bra DONE;
             WAIT: {ASK} bra WAIT;"
        ),
    ] {
        let start = "mov.u32 %r9, buffer; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%r9], 1; bar.sync 0;";
        let module = kernel(&format!("{start} {wait} DONE:"));
        let memory = Memory::new();
        let params = Params::new().push(memory.allocate(8).unwrap());
        let function = module.function("k").unwrap();
        if let Err(fault) = Launch::new(&function).grid(2).block(33).threads(1).run(&params, &memory) {
            panic!("{wait}: {fault}");
        }
    }
}
