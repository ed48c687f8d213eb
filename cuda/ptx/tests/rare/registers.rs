//! Registers of 128 bits, vectors, and values narrower than their registers.

use tfrt_ptx::{Launch, Memory, Params};

use super::{kernel, run};

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
