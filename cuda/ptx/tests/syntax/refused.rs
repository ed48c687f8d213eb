//! Forms that look like instructions and are none: ptxas refuses each of them, and so do we.

use tfrt_ptx::Module;

/// What is said of an instruction, behind its name.
fn refusal(instruction: &str) -> String {
    let text = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.entry k() {{\n\
         .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .pred %p<4>; .reg .f64 %d<2>;\n\
         {instruction}\nret; }}\n"
    );
    let said = Module::parse(&text).map_or_else(|errors| errors.to_string(), |_| "nothing".into());
    let name = instruction.split([' ', ';']).next().unwrap();
    said.strip_prefix(&format!("6:1: {name}: ")).unwrap_or(&said).to_owned()
}

#[test]
fn places_of_special_registers() {
    const SPECIAL: &str = "a special register, which only mov and conversions of integers read";
    for instruction in [
        "add.u32 %r1, %tid.x, 1;",
        "mad.lo.u32 %r1, %ctaid.x, %ntid.x, %r2;",
        "setp.eq.u32 %p1, %tid.x, 0;",
        "shl.b32 %r1, %tid.x, 2;",
        "mul.wide.u32 %rd2, %tid.x, 4;",
        "st.global.u32 [%rd1], %tid.x;",
        "selp.b32 %r1, %tid.x, %r2, %p1;",
        "sub.u64 %rd2, %clock64, %rd3;",
        "cvt.rn.f32.u32 %f1, %tid.x;",
        "cvt.pack.sat.u16.s32 %r1, %tid.x, %r2;",
        "atom.global.add.u32 %r1, [%rd1], %tid.x;",
        "bar.sync %tid.x;",
        "popc.b32 %r1, %lanemask_lt;",
        "and.pred %p1, %is_explicit_cluster, %p2;",
    ] {
        assert_eq!(refusal(instruction), SPECIAL, "{instruction}");
    }
    for instruction in [
        "mov.u32 %r1, %tid.x;",
        "mov.u16 %h1, %tid.x;",
        "mov.u64 %rd2, %clock64;",
        "mov.b64 %rd2, {%tid.x, %tid.y};",
        "mov.pred %p1, %is_explicit_cluster;",
        "cvt.u64.u32 %rd2, %tid.x;",
        "cvt.u16.u32 %h1, %tid.x;",
        "cvt.u32.u64 %r1, %clock64;",
    ] {
        assert_eq!(refusal(instruction), "nothing", "{instruction}");
    }
}

#[test]
fn widths_of_special_registers() {
    for (instruction, found, needed) in [
        ("mov.u64 %rd2, %tid.x;", ".u32", ".u64"),
        ("mov.u64 %rd2, %laneid;", ".u32", ".u64"),
        ("mov.u16 %h1, %laneid;", ".u32", ".u16"),
        ("mov.v2.u16 {%h1, %h2}, {%tid.x, %tid.y};", ".u32", ".u16"),
        ("mov.v2.b16 {%h1, %h2}, {%tid.x, %h3};", ".u32", ".b16"),
        ("mov.v4.u16 {%h0, %h1, %h2, %h3}, {%tid.x, %tid.y, %tid.z, %h3};", ".u32", ".u16"),
        ("mov.v4.u16 {%h0, %h1, %h2, %h3}, {%tid.x, %tid.x, %tid.x, 0};", ".u32", ".u16"),
        ("mov.u16 %h1, %clusterid.x;", ".u32", ".u16"),
        ("mov.u32 %r1, %clock64;", ".u64", ".u32"),
        ("mov.u32 %r1, %globaltimer;", ".u64", ".u32"),
        ("mov.f32 %f1, %gridid;", ".u64", ".f32"),
        ("mov.b32 %r1, {%tid.x, %tid.y};", ".u32", ".b16"),
        ("mov.b64 {%r1, %r2}, %laneid;", ".u32", ".b64"),
        ("cvt.u64.s64 %rd2, %laneid;", ".u32", ".s64"),
        ("cvt.u32.u64 %r1, %tid.x;", ".u32", ".u64"),
    ] {
        let said = format!("a special register of type {found} where type {needed} is needed");
        assert_eq!(refusal(instruction), said, "{instruction}");
    }
    for instruction in ["cvt.f32.f16 %f1, %tid.x;", "cvt.f32.bf16 %f1, %clock64;"] {
        let said = "a special register, which only mov and conversions of integers read";
        assert_eq!(refusal(instruction), said, "{instruction}");
    }
    for instruction in [
        "mov.u16 %h1, %nctaid.z;",
        "mov.u16 %h1, %gridid;",
        "mov.u32 %r1, %gridid;",
        "mov.v4.u16 {%h0, %h1, %h2, %h3}, %tid;",
        "mov.b32 {%h1, %h2}, %gridid;",
        "mov.b64 {%r1, %r2}, %clock64;",
        "cvt.u32.u8 %r1, %laneid;",
        "cvt.u32.u16 %r1, %clock64;",
        "cvt.u64.u32 %rd2, %globaltimer;",
    ] {
        assert_eq!(refusal(instruction), "nothing", "{instruction}");
    }
}

#[test]
fn places_of_sinks() {
    for instruction in [
        "add.u32 _, %r1, 1;",
        "mov.u32 _, %r1;",
        "mov.b64 {_, _}, %rd2;",
        "ld.global.u32 _, [%rd1];",
        "ld.global.v2.u32 {_, _}, [%rd1];",
        "cvt.u64.u32 _, %r1;",
        "set.eq.u32.u32 _, %r1, %r2;",
        "setp.eq.u32 _|_, %r1, %r2;",
        "shfl.sync.idx.b32 _, %r1, 0, 31, -1;",
        "shfl.sync.idx.b32 _|%p1, %r1, 0, 31, -1;",
        "elect.sync %r1|_, -1;",
        "lop3.or.b32 %r1|_, %r1, %r2, %r3, 1, %p2;",
        "vote.sync.ballot.b32 _, %p1, -1;",
        "match.any.sync.b32 _, %r1, -1;",
        "mbarrier.pending_count.b64 _, %rd2;",
        "isspacep.global _, %rd1;",
        "activemask.b32 _;",
    ] {
        assert_eq!(refusal(instruction), "a sink where a register is needed", "{instruction}");
    }
    for instruction in [
        "mov.b64 {_, %r1}, %rd2;",
        "ld.global.v4.u32 {_, _, _, %r1}, [%rd1];",
        "atom.global.add.u32 _, [%rd1], 1;",
        "atom.global.cas.b32 _, [%rd1], 1, 2;",
        "setp.eq.u32 _, %r1, %r2;",
        "setp.eq.u32 %p1|_, %r1, %r2;",
        "setp.eq.u32 _|%p1, %r1, %r2;",
        "shfl.sync.idx.b32 %r1|_, %r1, 0, 31, -1;",
        "match.all.sync.b32 %r1|_, %r1, -1;",
        "elect.sync _|%p1, -1;",
        "lop3.or.b32 _|%p1, %r1, %r2, %r3, 1, %p2;",
        "mbarrier.arrive.shared.b64 _, [%rd1];",
    ] {
        assert_eq!(refusal(instruction), "nothing", "{instruction}");
    }
}

/// An integer is no constant of half precision, wherever it stands.
#[test]
fn integers_for_halves() {
    for instruction in ["add.f16 %h1, %h2, 1;", "set.lt.u32.f16 %r1, %h2, 1;", "cvt.f32.f16 %f1, 0x3c00;"] {
        let said = refusal(instruction);
        assert!(said.starts_with("an integer where a constant"), "{instruction} {said}");
    }
    for (instruction, ty) in [
        ("atom.global.add.noftz.f16 %h1, [%rd1], 1;", ".f16"),
        ("atom.global.add.noftz.bf16 %h1, [%rd1], 1;", ".bf16"),
        ("red.global.add.noftz.bf16x2 [%rd1], 1;", ".bf16x2"),
    ] {
        let said = format!("a constant where a register of type {ty} is needed");
        assert_eq!(refusal(instruction), said, "{instruction}");
    }
    for instruction in ["mov.b16 %h1, 1;", "selp.b16 %h1, 1, 2, %p1;", "cvt.rn.f16.s32 %h1, 1;"] {
        assert_eq!(refusal(instruction), "nothing", "{instruction}");
    }
}

#[test]
fn modifiers() {
    for (instruction, reason) in [
        ("mul24.s32.hi %r1, %r2, %r3;", "unknown type .hi"),
        ("mul.u32.lo %r1, %r2, %r3;", "unknown type .lo"),
        ("nanosleep 100;", "type .u32 is needed"),
        ("activemask.u32 %r1;", "type .u32 is not supported here"),
        ("min.xorsign.f32 %f1, %f2, %f3;", "modifier .xorsign needs .abs"),
        ("min.xorsign.abs.f32 %f1, %f2, %f3, %f4;", "modifier .xorsign is not supported here"),
        ("max.abs.f32 %f1, %f2, %f3;", "modifier .abs is not supported here"),
        ("red.global.add.f16x2 [%rd1], %r2;", ".noftz is needed"),
        ("atom.add.bf16 %h1, [%rd1], %h2;", ".noftz is needed"),
        ("cvt.satfinite.tf32.f32 %r1, %f1;", "a rounding modifier is needed"),
        ("movmatrix.sync.m8n8.trans.b16 %r1, %r2;", ".sync and .aligned are needed"),
        ("movmatrix.sync.aligned.m8n8.b16 %r1, %r2;", ".m8n8.trans.b16 is the only form"),
        ("ldmatrix.aligned.m8n8.x1.b16 {%r1}, [%rd1];", ".sync and .aligned are needed"),
        (
            "mma.sync.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};",
            ".sync and .aligned are needed",
        ),
        ("add.sat.f32x2 %rd1, %rd2, %rd3;", "modifier .sat is not supported here"),
        ("fma.f32x2 %rd1, %rd2, %rd3, %rd1;", "a rounding modifier is needed"),
        ("div.rn.f32x2 %rd1, %rd2, %rd3;", "type f32x2 is not supported here"),
        ("add.ftz.f32.f16 %f1, %h1, %f2;", "modifier .ftz is not supported here"),
        ("fma.f32.bf16 %f1, %h1, %h2, %f2;", "a rounding modifier is needed"),
        ("mul.f32.f16 %f1, %h1, %f2;", "modifier .f32 is not supported here"),
        ("redux.sync.add.f32 %f1, %f2, -1;", "type .f32 is not supported here"),
        ("ld.shared.v4.b64 {%rd1, %rd2, %rd1, %rd2}, [%rd1];", "256 bits at once are of global memory"),
    ] {
        assert_eq!(refusal(instruction), reason, "{instruction}");
    }
}

#[test]
fn constants() {
    for (instruction, reason) in [
        ("mov.b32 %r1, 1.5;", "a floating-point constant where type .b32 is needed"),
        ("and.b32 %r1, %r2, 0d3ff8000000000000;", "a floating-point constant where type .b32 is needed"),
        ("add.f16 %h1, %h2, 1;", "an integer where a constant of type .f16 is needed"),
        ("fma.rn.bf16x2 %r1, %r2, 1, %r3;", "an integer where a constant of type .bf16x2 is needed"),
        ("add.u16x2 %r1, %r2, 65537;", "a constant where a pair in a register is needed"),
        ("sub.rz.f32x2 %rd1, %rd2, 3.5;", "a constant where a pair in a register is needed"),
        ("st.bulk [%rd1], %rd2, 1;", "0 is the only value it stores"),
        ("st.bulk [%rd1], 12, 0;", "12 where a multiple of 8 is needed"),
        ("mov.b32 %r1, 0f3f800000;", "nothing"),
        ("or.b64 %rd1, %rd2, 0d3ff8000000000000;", "nothing"),
        ("mov.b64 %rd1, 1.5;", "nothing"),
    ] {
        assert_eq!(refusal(instruction), reason, "{instruction}");
    }
}

#[test]
fn registers() {
    for (instruction, reason) in [
        ("add.f16x2 %r1, %r2, %f3;", "register %f3 of type .f32 where type .f16x2 is needed"),
        ("tanh.approx.bf16x2 %f1, %r2;", "register %f1 of type .f32 where type .bf16x2 is needed"),
        ("add.f32.f16 %f1, %f2, %f3;", "register %f2 of type .f32 where type .f16 is needed"),
        ("mov.b32 %f1, %r1;", "nothing"),
    ] {
        assert_eq!(refusal(instruction), reason, "{instruction}");
    }
}
