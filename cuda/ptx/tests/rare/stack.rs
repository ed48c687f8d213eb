//! Room on the stack: `alloca`, `stacksave` and `stackrestore`.

use tfrt_ptx::{FaultKind, Memory, Params};

use super::{kernel, run};

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
