//! Copies of ranges, and the barriers that wait for them.

use tfrt_ptx::{FaultKind, Launch, Memory, Module, Params};

use super::{kernel, run};

/// A range and single words go to shared memory and are waited for at a barrier; a range comes
/// back.
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

/// A barrier by generic address, whose count is in the first register there is; nothing else looks
/// at memory.
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
