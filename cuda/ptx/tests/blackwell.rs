//! What sm_100 has and sm_90 has not, but for what computes on registers alone, which is in
//! `semantics`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]

use tfrt_ptx::{Fault, FaultKind, Launch, Memory, Module, Params};

/// Runs a kernel on one block; the address of its parameter is in `%rd0`, the number of the thread
/// in `%r0`.
fn run(threads: u32, words: &[u32], body: &str) -> Result<Vec<u32>, Fault> {
    let text = format!(
        ".version 8.8
         .target sm_100a
         .address_size 64
         .shared .align 32 .b8 buffer[64];
         .visible .entry k(.param .u64 p)
         {{
             .reg .b64 %rd<20>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .pred %p<4>;
             ld.param.u64 %rd0, [p];
             mov.u32 %r0, %tid.x;
             {body}
             ret;
         }}"
    );
    let module = Module::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
    let memory = Memory::new();
    let address = memory.allocate_from(bytemuck::cast_slice(words)).unwrap();
    let function = module.function("k").unwrap();
    Launch::new(&function).block(threads).run(&Params::new().push(address), &memory)?;
    let mut after = vec![0_u32; words.len()];
    memory.read(address, bytemuck::cast_slice_mut(&mut after)).unwrap();
    Ok(after)
}

#[test]
fn accesses_of_256_bits() {
    let words: Vec<u32> = (0..24).collect();
    let after = run(
        1,
        &words,
        "ld.global.v8.b32 {%r1, _, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd0];
         mov.u32 %r2, 100;
         st.v8.b32 [%rd0+32], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};
         ld.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd0];
         st.global.v4.u64 [%rd0+64], {%rd2, %rd1, %rd4, %rd3};",
    );
    let back = [7, 6, 5, 4, 3, 2, 100, 0, 2, 3, 0, 1, 6, 7, 4, 5];
    assert_eq!(after.unwrap()[8..], back);
    let fault = run(1, &words, "ld.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd0+16];").unwrap_err();
    assert_eq!(fault.kind, FaultKind::Misaligned, "{fault}");
}

/// Lanes 0 to 3 and the others reduce by themselves.
#[test]
fn redux_of_floats() {
    let body = |redux: &str| {
        format!(
            "mul.wide.u32 %rd1, %r0, 4;
             add.s64 %rd1, %rd0, %rd1;
             ld.global.f32 %f1, [%rd1];
             setp.lt.u32 %p1, %r0, 4;
             selp.b32 %r1, 0xf, 0xfffffff0, %p1;
             @%p1 bra FEW;
             redux.sync.{redux}.f32 %f2, %f1, 0xfffffff0;
             bra END;
             FEW:
             redux.sync.{redux}.f32 %f2, %f1, 0xf;
             END:
             st.global.f32 [%rd1], %f2;"
        )
    };
    let mut words: Vec<u32> = (0_u8..32).map(|lane| f32::from(lane).to_bits()).collect();
    words[..4].copy_from_slice(&[0x7fc0_1234, 1_f32.to_bits(), (-8_f32).to_bits(), (-0_f32).to_bits()]);
    let canonical = 0x7fff_ffff;
    for (redux, few, others) in [
        ("min", (-8_f32).to_bits(), 4_f32.to_bits()),
        ("max", 1_f32.to_bits(), 31_f32.to_bits()),
        ("max.abs", 8_f32.to_bits(), 31_f32.to_bits()),
        ("min.abs", 0, 4_f32.to_bits()),
        ("min.NaN", canonical, 4_f32.to_bits()),
        ("max.abs.NaN", canonical, 31_f32.to_bits()),
    ] {
        let after = run(32, &words, &body(redux)).unwrap();
        assert_eq!(after[..4], [few; 4], "{redux}");
        assert_eq!(after[4..], [others; 28], "{redux}");
    }
    // Of one number alone: its magnitude, and of a NaN the canonical one.
    for (redux, word, result) in [("min", 0x7fc0_1234, canonical), ("min.abs", 0xc000_0000, 0x4000_0000)] {
        let alone = format!(
            "ld.global.f32 %f1, [%rd0]; redux.sync.{redux}.f32 %f2, %f1, 1; st.global.f32 [%rd0], %f2;"
        );
        assert_eq!(run(1, &[word], &alone).unwrap(), [result], "{redux}");
    }
}

#[test]
fn zeros_in_bulk() {
    let body = |store: &str| {
        format!(
            "mov.u64 %rd1, buffer;
             cvta.shared.u64 %rd2, %rd1;
             mov.u64 %rd4, 0x0000000200000001;
             mov.u32 %r1, 0;
             FILL:
             add.u64 %rd3, %rd1, %rd5;
             st.shared.u64 [%rd3], %rd4;
             add.u64 %rd5, %rd5, 8;
             setp.lt.u64 %p1, %rd5, 64;
             @%p1 bra FILL;
             {store}
             ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [buffer+16];
             ld.shared.v4.u32 {{%r5, %r6, %r7, %r8}}, [buffer+32];
             st.global.v4.u32 [%rd0], {{%r1, %r2, %r3, %r4}};
             st.global.v4.u32 [%rd0+16], {{%r5, %r6, %r7, %r8}};"
        )
    };
    for store in ["st.bulk.weak.shared::cta [%rd1+24], %rd6, 0;", "st.bulk [%rd2+24], %rd6, 0;"] {
        let after = run(1, &[7; 8], &body(&format!("mov.u64 %rd6, 16; {store}"))).unwrap();
        assert_eq!(after, [1, 2, 0, 0, 0, 0, 1, 2], "{store}");
    }
    for (bytes, kind) in [
        (72, FaultKind::OutOfBounds),
        (12, FaultKind::InvalidOperand),
        (1_u64 << 40, FaultKind::InvalidOperand),
    ] {
        let store = format!("mov.u64 %rd6, {bytes}; st.bulk.shared::cta [%rd1], %rd6, 0;");
        let fault = run(1, &[7; 8], &body(&store)).unwrap_err();
        assert_eq!(fault.kind, kind, "{fault}");
    }
    let fault = run(1, &[7; 8], &body("mov.u64 %rd6, 16; st.bulk [%rd1+4], %rd6, 0;"));
    assert!(fault.is_err());
    // Global memory.
    let fault = run(1, &[7; 8], &body("mov.u64 %rd6, 16; st.bulk [%rd0], %rd6, 0;")).unwrap_err();
    assert_eq!(fault.kind, FaultKind::WrongSpace, "{fault}");
}

/// Pairs of numbers of four bits are in registers of eight, as the compiler's headers use them.
#[test]
fn pairs_of_four_bits() {
    let body = "ld.global.f32 %f1, [%rd0];
         ld.global.f32 %f2, [%rd0+4];
         {
             .reg .b8 %b<2>; .reg .b16 %h1;
             cvt.rn.satfinite.e2m1x2.f32 %b0, %f1, %f2;
             mov.b16 %h1, {%b0, 0};
             st.global.u16 [%rd0+8], %h1;
             mov.b16 {%b1, _}, %h1;
             cvt.rn.f16x2.e2m1x2 %r1, %b1;
         }
         st.global.u32 [%rd0+12], %r1;";
    let pair = |a: f32, b: f32| run(1, &[a.to_bits(), b.to_bits(), 0, 0], body).unwrap()[2..].to_vec();
    assert_eq!(pair(1.0, -6.0), [0x2f, 0x3c00_c600]);
    assert_eq!(pair(-1000.0, 0.25), [0xf0, 0xc600_0000]);
    assert_eq!(pair(f32::NAN, 0.75), [0x72, 0x4600_3c00]);
}

/// Later families have the formats of four bits, too, but only for modules that target no others.
#[test]
fn targets_of_four_bits() {
    for (target, is_known) in
        [("sm_100f", true), ("sm_103a", true), ("sm_120a", true), ("sm_121f", true), ("sm_120", false)]
    {
        let text = format!(
            ".version 8.8\n.target {target}\n.address_size 64\n.entry k() {{ .reg .b8 %b1; .reg .f32 %f1;
             cvt.rn.satfinite.e2m1x2.f32 %b1, %f1, %f1; ret; }}"
        );
        assert_eq!(Module::parse(&text).is_ok(), is_known, "{target}");
    }
}
