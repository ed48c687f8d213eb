//! What a launch says when its kernel does wrong (`faults.cu`, compiled with source lines): the
//! whole text of each report.

use std::sync::{Mutex, atomic::AtomicBool};

use tfrt_ptx::{Fault, FaultKind, Launch, Params};

use crate::support::{Gpu, Struct, args};

const PTX: &str = include_str!("ptx/faults.compute_75.ptx");

/// Instructions a kernel may execute, where nothing else ends it.
const BUDGET: u64 = 1_000_000;

/// A launch of `threads` threads a block, which must fail.
#[track_caller]
fn fault(gpu: &Gpu, name: &str, (blocks, threads): (u32, u32), params: &Params) -> Fault {
    fault_of(gpu, name, |launch| launch.grid(blocks).block(threads), params)
}

/// The same, as told.
#[track_caller]
fn fault_of(
    gpu: &Gpu,
    name: &str,
    prepare: impl for<'l> FnOnce(Launch<'l>) -> Launch<'l>,
    params: &Params,
) -> Fault {
    let result = gpu.try_launch(name, |launch| prepare(launch.threads(1)), params);
    result.expect_err("a fault")
}

#[track_caller]
fn assert_report(fault: &Fault, kind: &FaultKind, text: &str) {
    assert_eq!(fault.to_string(), text);
    assert_eq!(&fault.kind, kind);
}

#[test]
fn out_of_bounds() {
    let gpu = Gpu::new(PTX);
    let (x, y) = (gpu.zeros::<f32>(10), gpu.zeros::<f32>(64));
    let mut index = [0i64; 64];
    index[37] = 12;
    let params = args![x, gpu.upload(&index), y];
    let report = fault(&gpu, "gather", (2, 32), &params);
    assert_report(
        &report,
        &FaultKind::OutOfBounds,
        &format!(
            "kernel gather: out of bounds: global read of 4 bytes at address {:#x}, 8 bytes past the end of an allocation of \
         40 bytes at {:#x}; ld.global.f32 at PTX line 70 (faults.cu:10); block (1, 0, 0), thread (5, 0, 0)",
            x.address + 48,
            x.address
        ),
    );

    index[37] = -3;
    let params = args![x, gpu.upload(&index), y];
    let report = fault(&gpu, "gather", (2, 32), &params);
    assert_report(
        &report,
        &FaultKind::OutOfBounds,
        &format!(
            "kernel gather: out of bounds: global read of 4 bytes at address {:#x}, 12 bytes before an allocation of \
         40 bytes at {:#x}; ld.global.f32 at PTX line 70 (faults.cu:10); block (1, 0, 0), thread (5, 0, 0)",
            x.address - 12,
            x.address
        ),
    );
}

#[test]
fn null_pointer() {
    let gpu = Gpu::new(PTX);
    let report = fault(&gpu, "sum_words", (1, 1), &args![0u64, 0u64, 4i32]);
    let text = "kernel sum_words: out of bounds: global read of 4 bytes at address 0x0; ld.global.u32 at PTX line 328 \
                (faults.cu:54); block (0, 0, 0), thread (0, 0, 0)";
    assert_report(&report, &FaultKind::OutOfBounds, text);
}

#[test]
fn misaligned() {
    let gpu = Gpu::new(PTX);
    let (x, y) = (gpu.zeros::<f64>(40), gpu.zeros::<f64>(32));
    let report = fault(&gpu, "misaligned", (1, 32), &args![x, y, 12i32]);
    assert_report(
        &report,
        &FaultKind::Misaligned,
        &format!(
            "kernel misaligned: misaligned address: global read of 8 bytes at address {:#x}, 12 bytes into an allocation of \
         320 bytes at {:#x}; ld.global.f64 at PTX line 131 (faults.cu:20); block (0, 0, 0), thread (0, 0, 0)",
            x.address + 12,
            x.address
        ),
    );
}

#[test]
fn use_after_free() {
    let gpu = Gpu::new(PTX);
    let (x, y) = (gpu.zeros::<i32>(10), gpu.zeros::<i32>(1));
    gpu.memory.free(x.address).unwrap();
    let report = fault(&gpu, "sum_words", (1, 1), &args![x, y, 10i32]);
    assert_report(
        &report,
        &FaultKind::UseAfterFree,
        &format!(
            "kernel sum_words: use after free: global read of 4 bytes at address {0:#x}, 0 bytes into an allocation of \
         40 bytes at {0:#x}, which was freed; ld.global.u32 at PTX line 328 (faults.cu:54); block (0, 0, 0), \
         thread (0, 0, 0)",
            x.address
        ),
    );
}

#[test]
fn wrong_space() {
    let gpu = Gpu::new(PTX);
    let (x, y) = (gpu.zeros::<i32>(4), gpu.zeros::<i32>(4));
    let report = fault(&gpu, "wrong_space", (1, 4), &args![x, y]);
    assert_report(
        &report,
        &FaultKind::OutOfBounds,
        &format!(
            "kernel wrong_space: out of bounds: shared read of 4 bytes; there are 16 at address {:#x}; ld.shared.u32 at PTX \
         line 167 (faults.cu:31); block (0, 0, 0), thread (0, 0, 0)",
            x.address as u32
        ),
    );
}

#[test]
fn constants_are_read_only() {
    let gpu = Gpu::new(PTX);
    let table = gpu.module.global("table").unwrap();
    assert_eq!(table.bytes, 16);
    let address = gpu.upload(&[table.address]);
    let report = fault(&gpu, "poke", (1, 32), &args![address, 7i32]);
    assert_report(
        &report,
        &FaultKind::WrongSpace,
        &format!(
            "kernel poke: wrong address space: variable table is constant at address {0:#x}, 0 bytes into variable table of \
         16 bytes at {0:#x}; st.global.u32 at PTX line 100 (faults.cu:15); block (0, 0, 0), thread (5, 0, 0)",
            table.address
        ),
    );
}

#[test]
fn arrays_end() {
    let gpu = Gpu::new(PTX);
    let y = gpu.zeros::<i32>(32);
    let report = fault(&gpu, "shared_overrun", (1, 32), &args![y, 9i32]);
    let text = "kernel shared_overrun: out of bounds: shared read of 4 bytes; there are 32 at address 0x24; ld.shared.u32 \
                at PTX line 208 (faults.cu:39); block (0, 0, 0), thread (0, 0, 0)";
    assert_report(&report, &FaultKind::OutOfBounds, text);
    let report = fault(&gpu, "local_overrun", (1, 32), &args![y, 1000i32]);
    let text = "kernel local_overrun: out of bounds: local write of 4 bytes; there are 32 at address 0xfa0; st.local.u32 at \
                PTX line 249 (faults.cu:45); block (0, 0, 0), thread (0, 0, 0)";
    assert_report(&report, &FaultKind::OutOfBounds, text);
    let report = fault(&gpu, "constant_overrun", (1, 32), &args![y, 4i32]);
    let table = gpu.module.global("table").unwrap().address;
    let text = format!(
        "kernel constant_overrun: out of bounds: constant read of 4 bytes at address {:#x}, 0 bytes past the end of \
         variable table of 16 bytes at {table:#x}; ld.const.u32 at PTX line 286 (faults.cu:49); block (0, 0, 0), \
         thread (0, 0, 0)",
        table + 16
    );
    assert_report(&report, &FaultKind::OutOfBounds, &text);
}

#[test]
fn deadlock() {
    let gpu = Gpu::new(PTX);
    let y = gpu.zeros::<i32>(64);
    let report = fault(&gpu, "deadlock", (1, 64), &args![y]);
    let text = "kernel deadlock: barrier deadlock: 64 threads are left, all waiting: warp 0 at barrier 1 (32 of 64 arrived), \
                bar.sync at PTX line 488 (faults.cu:80); warp 1 at barrier 2 (32 of 64 arrived), bar.sync at PTX line 495 \
                (faults.cu:82); block (0, 0, 0)";
    assert_report(&report, &FaultKind::BarrierDeadlock, text);
}

#[test]
fn assertion() {
    let gpu = Gpu::new(PTX);
    let x = gpu.upload(&[3, 2, 1, 0, -1]);
    let report = fault(&gpu, "check_positive", (1, 5), &args![x]);
    let kind = FaultKind::Assert {
        message: "x[threadIdx.x] > 0".into(),
        file: "faults.cu".into(),
        line: 87,
        function: "void check_positive(const int *)".into(),
    };
    let text = "kernel check_positive: assertion failed: x[threadIdx.x] > 0 in void check_positive(const int *) at \
                faults.cu:87; call.uni at PTX line 549 (faults.cu:87); block (0, 0, 0), thread (3, 0, 0)";
    assert_report(&report, &kind, text);
}

#[test]
fn trap() {
    let gpu = Gpu::new(PTX);
    let x = gpu.upload(&[3, 2, 1, 0, -1]);
    let report = fault(&gpu, "stop", (1, 5), &args![x]);
    let text = "kernel stop: trap; trap at PTX line 586 (faults.cu:90); block (0, 0, 0), thread (4, 0, 0)";
    assert_report(&report, &FaultKind::Trap, text);
}

#[test]
fn endless_loops_can_be_stopped() {
    let gpu = Gpu::new(PTX);
    let flag = gpu.zeros::<i32>(1);
    let report = fault_of(&gpu, "forever", |launch| launch.instruction_limit(BUDGET), &args![flag]);
    let text = "kernel forever: instruction limit reached: 1000000 warp instructions; block (0, 0, 0)";
    assert_report(&report, &FaultKind::InstructionLimit, text);
    static CANCEL: AtomicBool = AtomicBool::new(true);
    let report = fault_of(&gpu, "forever", |launch| launch.cancel(&CANCEL), &args![flag]);
    let text = "kernel forever: cancelled: by the caller; block (0, 0, 0)";
    assert_report(&report, &FaultKind::Cancelled, text);
}

#[test]
fn parameters_are_checked() {
    let gpu = Gpu::new(PTX);
    let report = fault(&gpu, "sum_words", (1, 1), &args![0u64, 0u64]);
    let text = "kernel sum_words: invalid launch: 2 parameters where 3 are needed";
    assert_report(&report, &FaultKind::InvalidLaunch, text);
    let report = fault(&gpu, "sum_words", (1, 1), &args![0u64, 0u64, 1i32, 2i32]);
    let text = "kernel sum_words: invalid launch: 4 parameters where 3 are needed";
    assert_report(&report, &FaultKind::InvalidLaunch, text);
    let report = fault(&gpu, "sum_words", (1, 1), &args![0u64, Struct([1u8; 3]), 1i32]);
    let text = "kernel sum_words: invalid launch: 3 bytes for parameter sum_words_param_1, which has 8";
    assert_report(&report, &FaultKind::InvalidLaunch, text);
}

#[test]
fn sizes_are_checked() {
    let gpu = Gpu::new(PTX);
    let params = args![0u64];
    for (grid, block, shared, text) in [
        ((0, 1, 1), (1, 1, 1), 0, "grid (0, 1, 1) of blocks (1, 1, 1) is empty"),
        (
            (1, 1, 1),
            (32, 33, 1),
            0,
            "block (32, 33, 1) is too large: 1024 threads, (1024, 1024, 64) are the most",
        ),
        (
            (1, 70_000, 1),
            (1, 1, 1),
            0,
            "grid (1, 70000, 1) is too large; (2147483647, 65535, 65535) is the most",
        ),
        ((1, 1, 1), (1, 1, 1), 1 << 20, "1048576 bytes of shared memory, more than 232448"),
    ] {
        let report = fault_of(&gpu, "stop", |launch| launch.grid(grid).block(block).shared(shared), &params);
        assert_report(&report, &FaultKind::InvalidLaunch, &format!("kernel stop: invalid launch: {text}"));
    }
}

#[test]
fn unknown_kernels() {
    let gpu = Gpu::new(PTX);
    let error = gpu.module.function("gahter").err().unwrap();
    let text = "the module has no kernel gahter; it has gather, poke, misaligned, wrong_space, shared_overrun, local_overrun, \
                constant_overrun, sum_words, shared_uninitialized, shared_race, global_race, deadlock, check_positive, stop, \
                forever, report";
    assert_eq!(error.to_string(), text);
}

#[test]
fn printf() {
    let gpu = Gpu::new(PTX);
    let (x, y) = (gpu.upload(&[7, -1, 0, 3]), gpu.upload(&[0.0, 0.0, 0.0, 1.5e10]));
    let text = Mutex::new(String::new());
    let sink = |part: &str| text.lock().unwrap().push_str(part);
    let function = gpu.module.function("report").unwrap();
    Launch::new(&function).block(4).printf(&sink).run(&args![x, y], &gpu.memory).unwrap();
    let want = "thread 0: 7 7 0x7 a\nthread 1: -1 4294967295 0xffffffff b\n\
                lane three has 25769803776, 15000000000.00 and 1.500000e+10| %\n";
    assert_eq!(*text.lock().unwrap(), want);
}
#[test]
fn uninitialized() {
    let gpu = Gpu::new(PTX);
    let (x, y) = (gpu.uninit::<i32>(10), gpu.zeros::<i32>(64));
    gpu.memory.write(x.address, &[0; 28]).unwrap();
    let report = fault_of(&gpu, "sum_words", |launch| launch.check_uninitialized(true), &args![x, y, 10i32]);
    let text = format!(
        "kernel sum_words: uninitialized read: global read of 4 bytes, of which some were never written at address {:#x}, \
         28 bytes into an allocation of 40 bytes at {:#x}; ld.global.u32 at PTX line 334 (faults.cu:54); block (0, 0, 0), \
         thread (0, 0, 0)",
        x.address + 28,
        x.address
    );
    assert_report(&report, &FaultKind::Uninitialized, &text);
    let report = fault_of(
        &gpu,
        "shared_uninitialized",
        |launch| launch.check_uninitialized(true).block(64),
        &args![y],
    );
    let text = "kernel shared_uninitialized: uninitialized read: shared read of 4 bytes, of which some were never written at \
                address 0xa0; ld.shared.u32 at PTX line 397 (faults.cu:62); block (0, 0, 0), thread (40, 0, 0)";
    assert_report(&report, &FaultKind::Uninitialized, text);
    // Without the switch it is read as something.
    assert!(gpu.try_launch("sum_words", |launch| launch, &args![x, y, 10i32]).is_ok());
}

#[test]
fn races() {
    let gpu = Gpu::new(PTX);
    let y = gpu.zeros::<i32>(64);
    let report = fault_of(&gpu, "shared_race", |launch| launch.check_races(true).block(64), &args![y]);
    let text = "kernel shared_race: data race: shared write of 4 bytes that thread (31, 0, 0) has read by ld.shared.u32 at PTX \
                line 431 (faults.cu:69), and nothing orders the two at address 0x80; st.shared.u32 at PTX line 425 \
                (faults.cu:68); block (0, 0, 0), thread (32, 0, 0)";
    assert_report(&report, &FaultKind::Race, text);
    let report =
        fault_of(&gpu, "global_race", |launch| launch.check_races(true).grid(4).block(32), &args![y]);
    let text = format!(
        "kernel global_race: data race: global write of 4 bytes that block (0, 0, 0), thread (0, 0, 0) has written by \
         st.global.u32 at PTX line 460 (faults.cu:74), and nothing orders the two at address {0:#x}, 0 bytes into an \
         allocation of 256 bytes at {0:#x}; st.global.u32 at PTX line 460 (faults.cu:74); block (1, 0, 0), \
         thread (0, 0, 0)",
        y.address
    );
    assert_report(&report, &FaultKind::Race, &text);
}
