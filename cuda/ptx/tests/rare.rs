//! Instructions that compilers emit rarely, each in a kernel of its own: room on the stack, registers of 128 bits, the
//! smallest matrix products, loads that follow others.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]

use half::f16;
use tfrt_ptx::{FaultKind, Launch, Memory, Module, Params};

/// A module of one kernel `k` with a parameter `p`, which is in `%rd0`; the number of the thread is in `%r0`.
fn kernel(body: &str) -> Module {
    let text = format!(
        ".version 8.6
         .target sm_90
         .address_size 64
         .shared .align 16 .b8 buffer[4096];
         .visible .entry k(.param .u64 p)
         {{
             .reg .b128 %q<4>; .reg .b64 %rd<20>; .reg .f64 %d<4>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .pred %p<4>;
             ld.param.u64 %rd0, [p];
             mov.u32 %r0, %tid.x;
             {body}
             ret;
         }}"
    );
    Module::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The words at the parameter after a launch of one block, and what they were before.
fn run<const THREADS: u32>(module: &Module, words: &[u32]) -> Vec<u32> {
    let memory = Memory::new();
    let address = memory.allocate_from(bytemuck::cast_slice(words)).unwrap();
    let function = module.function("k").unwrap();
    function.launch(1, THREADS, 0, &Params::new().push(address), &memory).unwrap();
    let mut after = vec![0u32; words.len()];
    memory.read(address, bytemuck::cast_slice_mut(&mut after)).unwrap();
    after
}

/// A list of `n` numbers on the stack, which is given back, `n` different in each lane.
const LISTS: &str = "
    mov.u32 %r1, 0;
    AGAIN:
    stacksave.u64 %rd1;
    add.u32 %r2, %r0, %r1;
    and.b32 %r2, %r2, 7;
    add.u32 %r3, %r2, 1;
    mul.wide.u32 %rd2, %r3, 4;
    alloca.u64 %rd3, %rd2, 16;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd5, %rd3, %rd4;
    st.local.u32 [%rd3], %r1;
    st.local.u32 [%rd5], %r0;
    cvta.local.u64 %rd6, %rd5;
    ld.u32 %r4, [%rd6];
    mul.wide.u32 %rd7, %r0, 4;
    add.s64 %rd8, %rd0, %rd7;
    ld.global.u32 %r5, [%rd8];
    add.u32 %r5, %r5, %r4;
    st.global.u32 [%rd8], %r5;
    stackrestore.u64 %rd1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, ROUNDS;
    @%p1 bra AGAIN;";

#[test]
fn room_on_the_stack_is_given_back() {
    const ROUNDS: u32 = if cfg!(miri) { 10 } else { 20_000 };
    // Without `stackrestore` it would be gone after 4,000 rounds.
    let module = kernel(&LISTS.replace("ROUNDS", &ROUNDS.to_string()));
    let after = run::<32>(&module, &[0; 32]);
    for (lane, sum) in (0u32..).zip(after) {
        assert_eq!(sum, lane * ROUNDS, "lane {lane}");
    }
}

#[test]
fn room_on_the_stack_ends() {
    let module =
        kernel("mul.wide.u32 %rd1, %r0, 1000000; alloca.u64 %rd2, %rd1; st.global.u64 [%rd0], %rd2;");
    let memory = Memory::new();
    let address = memory.allocate(8).unwrap();
    let function = module.function("k").unwrap();
    let fault = function.launch(1, 4, 0, &Params::new().push(address), &memory).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StackOverflow, "{fault}");
    assert!(fault.to_string().contains("thread (3, 0, 0)"), "{fault}");
}

#[test]
fn the_end_of_another_frame_is_no_end() {
    let module = kernel("mov.u64 %rd1, 123456; stackrestore.u64 %rd1;");
    let memory = Memory::new();
    let function = module.function("k").unwrap();
    let fault = function.launch(1, 1, 0, &Params::new().push(0u64), &memory).unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidOperand, "{fault}");
}

#[test]
fn registers_of_128_bits() {
    let module = kernel(
        "ld.global.b128 %q1, [%rd0];
         mov.b128 {%rd1, %rd2}, %q1;
         add.u64 %rd1, %rd1, 1;
         mov.b128 %q2, {%rd2, %rd1};
         mov.b128 %q3, %q2;
         st.shared.b128 [buffer+16], %q3;
         ld.shared.u64 %rd3, [buffer+24];
         st.global.b128 [%rd0+16], %q3;
         st.global.u64 [%rd0+32], %rd3;",
    );
    let after = run::<1>(&module, &[1, 2, 3, 4, 0, 0, 0, 0, 0, 0]);
    assert_eq!(after, [1, 2, 3, 4, 3, 4, 2, 2, 2, 2]);
}

/// `.b8` to `.b32` may stand in floating-point registers that are wider: above them are zeros.
#[test]
fn narrow_bits_in_floating_point_registers() {
    let module = kernel(
        "ld.global.b8 %f1, [%rd0];
         ld.global.b32 %d1, [%rd0];
         mov.b32 %r1, %f1;
         mov.b64 %rd1, %d1;
         st.global.u32 [%rd0+8], %r1;
         st.global.u64 [%rd0+16], %rd1;
         st.global.b16 [%rd0+24], %f1;
         st.global.b32 [%rd0+28], %d1;",
    );
    let after = run::<1>(&module, &[0x8182_8384, 0, 7, 0, 7, 7, 0x7777_7777, 7]);
    assert_eq!(after[2..], [0x84, 0, 0x8182_8384, 0, 0x7777_0084, 0x8182_8384]);
}

/// Every thread adds one to a number of 128 bits, whose low half overflows on the way.
#[test]
fn atomic_accesses_of_128_bits() {
    const BLOCKS: u32 = if cfg!(miri) { 2 } else { 64 };
    let module = kernel(
        "AGAIN:
         ld.relaxed.gpu.global.b128 %q1, [%rd0];
         mov.b128 {%rd1, %rd2}, %q1;
         add.cc.u64 %rd3, %rd1, 1;
         addc.u64 %rd4, %rd2, 0;
         mov.b128 %q2, {%rd3, %rd4};
         atom.acq_rel.gpu.global.cas.b128 %q3, [%rd0], %q1, %q2;
         mov.b128 {%rd5, %rd6}, %q3;
         setp.ne.u64 %p1, %rd5, %rd1;
         @%p1 bra AGAIN;",
    );
    let memory = Memory::new();
    let address = memory.allocate(16).unwrap();
    let start = u128::from(u64::MAX - 5);
    memory.write(address, &start.to_le_bytes()).unwrap();
    let function = module.function("k").unwrap();
    Launch::new(&function)
        .grid(BLOCKS)
        .block(32)
        .threads(2)
        .run(&Params::new().push(address), &memory)
        .unwrap();
    let mut after = [0; 16];
    memory.read(address, &mut after).unwrap();
    assert_eq!(u128::from_le_bytes(after), start + u128::from(32 * BLOCKS));
}

/// `D = A · B + C` for four products of 8 × 8 × 4, of which each lane has what the manual's tables say.
fn quads(a_rows: bool, b_rows: bool, single: bool) {
    let word = |rows: bool| if rows { "row" } else { "col" };
    let (ty, count) = if single { ("f32", 8) } else { ("f16", 4) };
    let registers = |first: usize| {
        let prefix = if single { "%f" } else { "%r" };
        (first..first + count).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>().join(", ")
    };
    let mut body = String::from("mul.wide.u32 %rd1, %r0, 80; add.s64 %rd1, %rd0, %rd1;");
    for index in 0..4 {
        body += &format!("ld.global.b32 %r{}, [%rd1+{}];", 20 + index, 4 * index);
    }
    for index in 0..count {
        let register = if single { "%f" } else { "%r" };
        body += &format!("ld.global.b32 {register}{}, [%rd1+{}];", 1 + index, 16 + 4 * index);
    }
    body += &format!(
        "mma.sync.aligned.m8n8k4.{}.{}.{ty}.f16.f16.{ty} {{{}}}, {{%r20, %r21}}, {{%r22, %r23}}, {{{}}};",
        word(a_rows),
        word(b_rows),
        registers(10),
        registers(1)
    );
    for index in 0..count {
        let register = if single { "%f" } else { "%r" };
        body += &format!("st.global.b32 [%rd1+{}], {register}{};", 48 + 4 * index, 10 + index);
    }
    let (a, b, c) =
        (|q, i, k| (q + 2 * i + 3 * k) as f32, |q, k, j| (q * k + j) as f32, |q, i, j| (q + i * j) as f32);
    // The tables of the manual: the row of A, the column of B, row and column of C, by lane and element.
    let upper = |lane: usize| if lane < 16 { 0 } else { 4 };
    let place_a = |lane: usize, e: usize| {
        if a_rows { (lane % 4 + upper(lane), e) } else { (e + upper(lane), lane % 4) }
    };
    let place_b = |lane: usize, e: usize| {
        if b_rows { (lane % 4, e + upper(lane)) } else { (e, lane % 4 + upper(lane)) }
    };
    let place_c = |lane: usize, e: usize| {
        if single {
            ((lane & 1) + (e & 2) + upper(lane), (e & 4) + (lane & 2) + (e & 1))
        } else {
            (lane % 4 + upper(lane), e)
        }
    };
    let quad = |lane: usize| lane % 16 / 4;
    let half = |value: f32| u32::from(f16::from_f32(value).to_bits());
    let pack = |low: f32, high: f32| half(low) | half(high) << 16;
    let mut words = vec![0u32; 32 * 20];
    for (lane, words) in words.chunks_exact_mut(20).enumerate() {
        let q = quad(lane);
        for pair in 0..2 {
            let ([a0, a1], [b0, b1]) = (
                [0, 1].map(|e| place_a(lane, 2 * pair + e)).map(|(i, k)| a(q, i, k)),
                [0, 1].map(|e| place_b(lane, 2 * pair + e)).map(|(k, j)| b(q, k, j)),
            );
            words[pair] = pack(a0, a1);
            words[2 + pair] = pack(b0, b1);
        }
        let value = |e: usize| c(q, place_c(lane, e).0, place_c(lane, e).1);
        for index in 0..count {
            words[4 + index] =
                if single { value(index).to_bits() } else { pack(value(2 * index), value(2 * index + 1)) };
        }
    }
    let after = run::<32>(&kernel(&body), &words);
    for (lane, words) in after.chunks_exact(20).enumerate() {
        let q = quad(lane);
        let expected = |e: usize| {
            let (i, j) = place_c(lane, e);
            c(q, i, j) + (0..4).map(|k| a(q, i, k) * b(q, k, j)).sum::<f32>()
        };
        for index in 0..count {
            let wanted = if single {
                expected(index).to_bits()
            } else {
                pack(expected(2 * index), expected(2 * index + 1))
            };
            assert_eq!(
                words[12 + index],
                wanted,
                "lane {lane}, register {index}, {a_rows} {b_rows} {single}"
            );
        }
    }
}

#[test]
fn products_of_quads() {
    const LAYOUTS: [(bool, bool); 4] = [(true, false), (true, true), (false, true), (false, false)];
    for (a_rows, b_rows) in LAYOUTS.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
        quads(a_rows, b_rows, true);
        quads(a_rows, b_rows, false);
    }
}

/// `atom.add.f32` flushes subnormals on global memory and keeps them on shared memory, also by generic addresses.
#[test]
fn subnormal_sums_depend_on_the_memory() {
    let module = kernel(
        "mov.f32 %f1, 0f00000001;
         mov.u64 %rd1, buffer;
         cvta.shared.u64 %rd1, %rd1;
         mov.u32 %r1, 0;
         st.u32 [%rd1], %r1;
         atom.add.f32 %f2, [%rd1], %f1;
         ld.u32 %r2, [%rd1];
         atom.add.f32 %f2, [%rd0+4], %f1;
         st.global.u32 [%rd0], %r2;",
    );
    assert_eq!(run::<1>(&module, &[7, 0]), [1, 0]);
}

/// Loads that follow another by the same register see what is in it, in every pattern of addresses, with lanes left out
/// in between, and where the register changes.
#[test]
fn loads_that_follow_another() {
    let module = kernel(
        "mul.wide.u32 %rd1, %r0, 4;
         add.s64 %rd2, %rd0, %rd1;
         ld.global.u32 %r1, [%rd2];
         ld.global.u32 %r2, [%rd2+128];
         setp.lt.u32 %p1, %r0, 5;
         @%p1 add.s64 %rd2, %rd2, 4;
         ld.global.u32 %r3, [%rd2];
         ld.global.u32 %r4, [%rd2+128];
         @%p1 ld.global.u32 %r3, [%rd2+4];
         ld.global.u32 %r5, [%rd2+4];
         and.b32 %r6, %r0, 16;
         mul.wide.u32 %rd3, %r6, 4;
         add.s64 %rd3, %rd0, %rd3;
         ld.global.u32 %r7, [%rd3];
         ld.global.u32 %r8, [%rd3+8];
         ld.global.u64 %rd3, [%rd3+16];
         cvt.u32.u64 %r9, %rd3;
         mad.lo.u32 %r1, %r1, 3, %r2;
         mad.lo.u32 %r1, %r1, 5, %r3;
         mad.lo.u32 %r1, %r1, 7, %r4;
         mad.lo.u32 %r1, %r1, 11, %r5;
         mad.lo.u32 %r1, %r1, 13, %r7;
         mad.lo.u32 %r1, %r1, 17, %r8;
         mad.lo.u32 %r1, %r1, 19, %r9;
         add.s64 %rd2, %rd0, %rd1;
         st.global.u32 [%rd2+512], %r1;",
    );
    let words: Vec<u32> = (0..160u32).map(|word| word.wrapping_mul(2_654_435_761)).collect();
    let after = run::<32>(&module, &words);
    for lane in 0..32 {
        let moved = lane + usize::from(lane < 5);
        let half = lane & 16;
        let third = if lane < 5 { words[moved + 1] } else { words[moved] };
        let rest = [
            words[lane + 32],
            third,
            words[moved + 32],
            words[moved + 1],
            words[half],
            words[half + 2],
            words[half + 4],
        ];
        let factors = [3u32, 5, 7, 11, 13, 17, 19];
        let expected = rest
            .iter()
            .zip(factors)
            .fold(words[lane], |sum, (word, by)| sum.wrapping_mul(by).wrapping_add(*word));
        assert_eq!(after[128 + lane], expected, "lane {lane}");
    }
}

/// A load behind another is checked by itself.
#[test]
fn loads_that_follow_another_stay_inside() {
    let module = kernel(
        "mul.wide.u32 %rd1, %r0, 4;
         add.s64 %rd2, %rd0, %rd1;
         ld.global.u32 %r1, [%rd2];
         ld.global.u32 %r2, [%rd2+4];
         st.global.u32 [%rd2], %r2;",
    );
    let memory = Memory::new();
    let address = memory.allocate(128).unwrap();
    let function = module.function("k").unwrap();
    let fault = function.launch(1, 32, 0, &Params::new().push(address), &memory).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds, "{fault}");
    assert!(fault.to_string().contains("thread (31, 0, 0)"), "{fault}");
}

/// What the crate lacks is an error with the instruction and its place when the module is loaded.
#[test]
fn what_is_missing_is_refused() {
    for (instruction, reason) in [
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %r1, 0, 1, 1, 1, 0, 0;",
            "types .sp.",
        ),
        ("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0}, %rd1, %rd2, 1, 1, 1, 0, 0;", "this form"),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0}, %rd1, %rd2, 1, 1, 2, 0, 0;",
            "a scale is 1 or -1",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0}, %rd1, %rd2, 1, 1, 1, 0, 0;",
            "1 registers where 4",
        ),
        (
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0}, {%r0}, {%r1}, {%f1}, %r2, 0;",
            "types .sp.",
        ),
        ("cp.async.bulk.prefetch.L2.shared::cta [%rd0], 16;", "this form"),
        ("cp.async.bulk.prefetch.L2.global [%rd0], 16, %rd1;", "this form"),
        ("fma.rn.oob.f16 %h0, %h1, %h2, %h3;", "modifier .oob"),
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%r1], 16;",
            "the instruction is not",
        ),
        ("tcgen05.fence::before_thread_sync;", "the instruction is not supported"),
        ("cvt.ftz.f16.f16 %h0, %h1;", "modifier .ftz is for"),
        ("cvt.rni.ftz.s32.f16 %r0, %h1;", "modifier .ftz is for"),
        ("vshl.u32.u32.s32.clamp %r0, %r1, -1;", "the amount of a shift is of type .u32"),
        ("vmad.s32.s32.s32 %r0, -%r1, %r2, -%r3;", "either the product"),
        ("multimem.red.relaxed.gpu.global.add.u32 [%rd0], %r1;", "the instruction is not supported"),
    ] {
        let text = format!(
            ".version 8.4\n.target sm_90a\n.address_size 64\n.entry k() {{\n\
             .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b16 %h<4>;\n{instruction}\nret;\n}}\n"
        );
        let errors = Module::parse(&text).unwrap_err().to_string();
        let name = instruction.split([' ', ';']).next().unwrap();
        assert!(errors.starts_with(&format!("6:1: {name}: {reason}")), "{errors}");
    }
}

/// Every block would be a cluster of its own.
#[test]
fn clusters_of_several_blocks_are_refused() {
    let load = |directive: &str| {
        let text = format!(
            ".version 8.4\n.target sm_90\n.address_size 64\n.shared .u32 x;\n.visible .entry k() {directive} {{\n\
             .reg .b32 %r<3>;\nmapa.shared::cluster.u32 %r1, x, 1; ld.shared::cluster.u32 %r2, [%r1];\nret;\n}}\n"
        );
        Module::parse(&text).map_err(|errors| errors.to_string())
    };
    for directive in [".reqnctapercluster 2, 1, 1", ".reqnctapercluster 1, 2", ".explicitcluster"] {
        let errors = load(directive).unwrap_err();
        assert_eq!(errors, "5:17: k: clusters of several blocks are not supported", "{directive}");
    }
    for directive in
        ["", ".reqnctapercluster 1", ".explicitcluster .reqnctapercluster 1, 1, 1", ".maxclusterrank 8"]
    {
        load(directive).unwrap();
    }
}

/// Of a vector, a component may be added that the instruction also writes.
#[test]
fn atomic_vectors_read_before_they_write() {
    let module = kernel(
        "mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;
         atom.global.v2.f32.add {%f1, %f2}, [%rd0], {%f2, %f1};
         st.global.v2.f32 [%rd0+8], {%f1, %f2};",
    );
    let words = |values: [f32; 4]| values.map(f32::to_bits);
    assert_eq!(run::<1>(&module, &words([10.0, 20.0, 0.0, 0.0])), words([12.0, 21.0, 10.0, 20.0]));
}

/// A range and single words go to shared memory and are waited for at a barrier; a range comes back.
const BULK: &str = "
    mov.u32 %r1, buffer;
    mbarrier.init.shared.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 44;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+64], [%rd0], 32, [%r1];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+68], 100, [%r1];
    mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;
    mov.u32 %r2, 7;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1+96], {%r2, %r2}, [%r1];
    WAIT:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
    @!%p1 bra WAIT;
    selp.u32 %r3, 1, 0, %p2;
    st.shared.v2.u32 [%r1+104], {%r3, %r3};
    fence.proxy.async.shared::cta;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0+32], [%r1+64], 48;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;";

#[test]
fn ranges_are_copied() {
    let words: Vec<u32> = (10..30).collect();
    let after = run::<1>(&kernel(BULK), &words);
    assert_eq!(after[..8], words[..8]);
    assert_eq!(after[8..], [10, 111, 12, 13, 14, 15, 16, 17, 7, 7, 0, 0]);
}

#[test]
fn ranges_are_checked() {
    let memory = Memory::new();
    let address = memory.allocate(24).unwrap();
    for (bytes, kind) in [(32, FaultKind::OutOfBounds), (24, FaultKind::InvalidOperand)] {
        let text = format!("mov.u32 %r9, {bytes};\n{}", BULK.replace("[%rd0], 32", "[%rd0], %r9"));
        let function = kernel(&text).function("k").unwrap();
        let fault = function.launch(1, 1, 0, &Params::new().push(address), &memory).unwrap_err();
        assert_eq!(fault.kind, kind, "{fault}");
    }
}

/// A barrier by generic address, whose count is in the first register there is; nothing else looks at memory.
#[test]
fn a_barrier_alone() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b64 barrier;\n.entry k() {
         .reg .b32 %r<2>; .reg .b64 %rd<2>;
         mov.u32 %r1, 3;
         cvta.shared.u64 %rd1, barrier;
         mbarrier.init.b64 [%rd1], %r1;
         ret;\n}";
    let function = Module::parse(text).unwrap().function("k").unwrap();
    for checked in [false, true] {
        let launch = Launch::new(&function).block(1).check_races(checked).check_uninitialized(checked);
        launch.run(&Params::new(), &Memory::new()).unwrap();
    }
}

/// A function is called, and its address taken, by a name of its own and by an alias that stands behind it in the text.
#[test]
fn calls_by_an_alias() {
    let text = ".version 8.4\n.target sm_90\n.address_size 64
        .func (.param .b32 r) other(.param .b32 x);
        .global .u64 table = other;
        .func (.param .b32 r) calls(.param .b32 x) {
            .reg .b32 %r<2>;
            .param .b32 a; .param .b32 b;
            ld.param.b32 %r1, [x];
            st.param.b32 [a], %r1;
            call (b), other, (a);
            ld.param.b32 %r1, [b];
            st.param.b32 [r], %r1;
            ret;
        }
        .func (.param .b32 r) doubled(.param .b32 x) {
            .reg .b32 %r<2>;
            ld.param.b32 %r1, [x];
            add.u32 %r1, %r1, %r1;
            st.param.b32 [r], %r1;
            ret;
        }
        .alias other, doubled;
        .entry k(.param .u64 p) {
            .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .pred %p;
            .param .b32 a; .param .b32 b;
            ld.param.u64 %rd0, [p];
            mov.u64 %rd1, other;
            mov.u64 %rd2, doubled;
            setp.eq.u64 %p, %rd1, %rd2;
            selp.u32 %r1, 1, 0, %p;
            st.global.u32 [%rd0], %r1;
            st.param.b32 [a], 21;
            call (b), calls, (a);
            ld.param.b32 %r2, [b];
            st.global.u32 [%rd0+4], %r2;
            FORM: .callprototype (.param .b32 _) _ (.param .b32 _);
            ld.global.u64 %rd3, [table];
            call (b), %rd3, (a), FORM;
            ld.param.b32 %r3, [b];
            st.global.u32 [%rd0+8], %r3;
            LIST: .calltargets other;
            st.param.b32 [a], 4;
            call (b), %rd2, (a), LIST;
            ld.param.b32 %r4, [b];
            st.global.u32 [%rd0+12], %r4;
            ret;
        }";
    assert_eq!(run::<1>(&Module::parse(text).unwrap(), &[0; 4]), [1, 42, 42, 8]);
}

/// `printf` gives how many arguments it has printed; arguments that are nowhere are a fault.
#[test]
fn what_printf_gives() {
    let text = ".version 8.4\n.target sm_90\n.address_size 64
        .extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
        .global .b8 format[8] = {37, 100, 37, 42, 100, 37, 37, 0};
        .global .b8 plain[3] = {104, 105, 0};
        .global .align 8 .u32 arguments[4] = {7, 3, 5, 0};
        .entry k(.param .u64 p) {
            .reg .b32 %r<3>; .reg .b64 %rd<5>; .reg .pred %p;
            .param .b64 f; .param .b64 a; .param .b32 r;
            ld.param.u64 %rd0, [p];
            mov.u32 %r0, %tid.x;
            cvta.global.u64 %rd1, NAME;
            ARGUMENTS
            st.param.b64 [f], %rd1;
            st.param.b64 [a], %rd2;
            call (r), vprintf, (f, a);
            ld.param.b32 %r1, [r];
            mad.wide.u32 %rd3, %r0, 4, %rd0;
            st.global.u32 [%rd3], %r1;
            ret;
        }";
    let with = |name: &str, arguments: &str| {
        Module::parse(&text.replace("NAME", name).replace("ARGUMENTS", arguments)).unwrap()
    };
    let good = "cvta.global.u64 %rd2, arguments;";
    assert_eq!(run::<2>(&with("format", good), &[9; 2]), [3; 2]);
    assert_eq!(run::<2>(&with("plain", good), &[9; 2]), [0; 2]);
    let function = with("format", "mov.u64 %rd2, -1;").function("k").unwrap();
    let fault = function.launch(1, 1, 0, &Params::new().push(0u64), &Memory::new()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds, "{fault}");
}

/// Advice to the cache, and fences between proxies, have no effect.
#[test]
fn hints_of_sm_90() {
    let module = kernel(
        "cp.async.bulk.prefetch.L2.global [%rd0], 16;
         createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;
         cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd0+16], 32, %rd1;
         fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
         fence.proxy.async.shared::cta;
         mov.u32 %r1, 5;
         st.global.u32 [%rd0], %r1;",
    );
    assert_eq!(run::<1>(&module, &[1, 2]), [5, 2]);
}

/// The name of a variable says where it is where the instruction does not.
#[test]
fn names_in_generic_accesses() {
    let module = kernel(
        ".local .align 4 .b8 mine[16];
         st.u32 [buffer+4], 5;
         st.u32 [mine+8], 70;
         atom.add.u32 %r1, [buffer+4], 600;
         ld.shared.u32 %r2, [buffer+4];
         ld.local.u32 %r3, [mine+8];
         ld.volatile.u32 %r4, [buffer+4];
         st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};",
    );
    assert_eq!(run::<1>(&module, &[0; 4]), [5, 605, 70, 605]);
}

/// A constant is no global memory, though its address is generic.
#[test]
fn spaces_of_addresses() {
    let text = ".version 8.4\n.target sm_90\n.address_size 64
        .const .align 4 .u32 constant[2] = {1, 2};
        .global .align 4 .u32 global[2];
        .shared .align 4 .u32 shared[2];
        .entry k(.param .u64 p) {
            .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p<3>;
            ld.param.u64 %rd0, [p];
            cvta.const.u64 %rd1, constant;
            cvta.global.u64 %rd2, global;
            cvta.shared.u64 %rd3, shared;
            mov.u32 %r0, %tid.x;
            setp.eq.u32 %p0, %r0, 1;
            @%p0 mov.b64 %rd1, %rd2;
            setp.eq.u32 %p0, %r0, 2;
            @%p0 mov.b64 %rd1, %rd3;
            isspacep.const %p1, %rd1;
            isspacep.global %p2, %rd1;
            isspacep.shared %p0, %rd1;
            selp.u32 %r1, 1, 0, %p1;
            selp.u32 %r2, 2, 0, %p2;
            selp.u32 %r3, 4, 0, %p0;
            or.b32 %r1, %r1, %r2;
            or.b32 %r1, %r1, %r3;
            mad.wide.u32 %rd4, %r0, 4, %rd0;
            st.global.u32 [%rd4], %r1;
            ret;
        }";
    assert_eq!(run::<3>(&Module::parse(text).unwrap(), &[0; 3]), [1, 2, 4]);
}

/// Vectors are moved as a whole, also onto themselves.
#[test]
fn moves_of_vectors() {
    let module = kernel(
        ".reg .v4 .b32 v;
         mov.v4.u32 v, %tid;
         ld.global.v2.u32 {%r1, %r2}, [%rd0];
         mov.v2.b32 {%r1, %r2}, {%r2, %r1};
         add.u32 v.y, v.x, 3;
         st.global.v4.u32 [%rd0], {%r1, %r2, v.y, v.w};",
    );
    assert_eq!(run::<1>(&module, &[8, 9, 1, 1]), [9, 8, 3, 0]);
}

/// Constants that no GPU's assembler takes are errors when the module is loaded, not when it runs.
#[test]
fn constants_out_of_range_are_refused() {
    for (instruction, reason) in [
        ("bar.sync 16;", "16 where a barrier from 0 to 15 is needed"),
        ("bar.sync -1;", "-1 where a barrier from 0 to 15 is needed"),
        ("barrier.arrive 1, 48;", "48 where a number of threads in whole warps is needed"),
        ("bar.arrive 1, 0;", "0 where a number of threads is needed"),
        ("bar.red.popc.u32 %r1, 17, %p1;", "17 where a barrier from 0 to 15 is needed"),
        ("setmaxnreg.inc.sync.aligned.u32 33;", "33 where a multiple of 8 from 24 to 256 is needed"),
        ("pmevent 16;", "16 where a constant from 0 to 15 is needed"),
        ("pmevent.mask 65536;", "65536 where a constant of 16 bits is needed"),
        ("bfe.u32 %r1, %r2, 256, 1;", "256 where a number from 0 to 255 is needed"),
        ("bfi.b32 %r1, %r2, %r3, 1, -1;", "-1 where a number from 0 to 255 is needed"),
        (
            "cp.async.ca.shared.global [%r1], [%rd0], 8, 9;",
            "9 where at most as many bytes as are copied is needed",
        ),
        ("cp.async.bulk.prefetch.L2.global [%rd0], 24;", "24 where a multiple of 16 is needed"),
        ("mbarrier.arrive.shared.b64 %rd1, [%r1], 0;", "0 where a number of arrivals is needed"),
        ("mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 2;", "2 where 0 or 1 is needed"),
        ("discard.global.L2 [%rd0], 64;", "64 where 128 is needed"),
        ("fence.gl;", "this form is not supported"),
        ("fence.proxy.tensormap::generic.acquire.gpu [%rd0], 64;", "an address and its 128 bytes are needed"),
        ("membar.gl 1;", "1 operands where 0 are needed"),
        ("prefetch.shared.L1 [%rd0];", "this form is not supported"),
        ("createpolicy.range.L2::evict_last.b64 %rd1, [%rd0], 64;", "a wrong number of operands"),
        ("cvta.shared.u64 %rd1, table;", "a name of global space in an access to shared space"),
        ("div.f32 %f1, %f2, %f3;", "one of .approx, .full and a rounding modifier is needed"),
        ("mad.f32 %f1, %f2, %f3, %f1;", "a rounding modifier is needed"),
        ("exit.uni;", "modifier .uni is not supported here"),
        ("nop 1;", "1 operands where 0 are needed"),
        ("cvt.rna.relu.tf32.f32 %r1, %f1;", "a conversion with these modifiers is not supported"),
        ("cvt.rna.f16x2.f32 %r1, %f1, %f2;", "a conversion with these modifiers is not supported"),
        (
            "wmma.load.a.sync.aligned.m8n8k4.row.f64 {%d1}, [fixed];",
            "matrices are in global and shared memory",
        ),
        ("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [fixed];", "tiles are in shared memory"),
        ("mbarrier.init.b64 [fixed], 1;", "memory barriers are in shared memory"),
        ("mbarrier.init.b64 [own], 1;", "memory barriers are in shared memory"),
    ] {
        let text = format!(
            ".version 8.4\n.target sm_90a\n.address_size 64\n.global .u32 table; .const .align 16 .b8 fixed[64];\n\
             .entry k() {{ .local .align 16 .b8 own[64]; .reg .f64 %d<2>;\n\
             .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p<4>;\n{instruction}\nret;\n}}\n"
        );
        let errors = Module::parse(&text).unwrap_err().to_string();
        let name = instruction.split([' ', ';']).next().unwrap();
        assert_eq!(errors, format!("7:1: {name}: {reason}"));
    }
}

/// Assemblers took `mad.f32` for `mad.rn.f32` before PTX ISA 3.2.
#[test]
fn mad_of_old_modules() {
    let load = |version: &str| {
        let text = format!(
            ".version {version}\n.target sm_30\n.address_size 64\n.entry k(.param .u64 p) {{\n\
             .reg .f32 %f<4>; .reg .b64 %rd<2>;\nld.param.u64 %rd0, [p];\nld.global.f32 %f1, [%rd0];\n\
             mad.f32 %f1, %f1, %f1, %f1;\nst.global.f32 [%rd0], %f1;\nret;\n}}"
        );
        Module::parse(&text)
    };
    let before = load("3.1").unwrap();
    assert_eq!(run::<1>(&before, &[3f32.to_bits()]), [12f32.to_bits()]);
    let since = load("3.2").unwrap_err().to_string();
    assert_eq!(since, "8:1: mad.f32: a rounding modifier is needed");
}

/// Variables in shared memory have less room than a launch may ask for.
#[test]
fn shared_variables_have_48_kib() {
    let load = |bytes: u32| {
        let text = format!(
            ".version 8.4\n.target sm_90\n.address_size 64\n.shared .b8 x[{bytes}];\n.visible .entry k() {{\n\
             .reg .b32 %r<2>;\nmov.u32 %r1, x;\nret;\n}}"
        );
        Module::parse(&text).map(drop).map_err(|errors| errors.to_string())
    };
    assert_eq!(load(49152), Ok(()));
    let error = load(49153).unwrap_err();
    assert_eq!(error, "5:17: k: 49153 bytes of variables in shared memory, more than 49152");
}

/// What the assembler takes beyond the manual: modifiers behind the type, and a table of which it takes the last eight bits.
#[test]
fn what_assemblers_take_besides() {
    let module = kernel(
        "ld.u32.global %r1, [%rd0];
         ld.global.u32.volatile %r2, [%rd0+4];
         atom.global.u32.add %r3, [%rd0], %r2;
         setp.u32.lt %p1, %r1, %r2;
         selp.u32 %r4, 1, 0, %p1;
         lop3.b32 %r5, %r1, %r2, %r4, 0x196;
         st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r2};",
    );
    assert_eq!(run::<1>(&module, &[5, 9, 0, 0]), [5, 1, 5 ^ 9 ^ 1, 9]);
}

/// `printf` without a format gives -1.
#[test]
fn printf_of_nothing() {
    let text = ".version 8.4\n.target sm_90\n.address_size 64
        .extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
        .entry k(.param .u64 p) {
            .reg .b32 %r1; .reg .b64 %rd0;
            .param .b64 f; .param .b64 a; .param .b32 r;
            ld.param.u64 %rd0, [p];
            st.param.b64 [f], 0;
            st.param.b64 [a], 0;
            call (r), vprintf, (f, a);
            ld.param.b32 %r1, [r];
            st.global.u32 [%rd0], %r1;
            ret;
        }";
    assert_eq!(run::<1>(&Module::parse(text).unwrap(), &[9]), [u32::MAX]);
}
