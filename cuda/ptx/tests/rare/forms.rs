//! Forms that are accepted or refused when a module is loaded.

use tfrt_ptx::Module;

use super::{kernel, run};

/// What the crate lacks is an error with the instruction and its place when the module is loaded.
#[test]
fn unsupported_instructions_are_rejected() {
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

/// What the assembler takes beyond the manual: modifiers behind the type, and a table of which it
/// takes the last eight bits.
#[test]
fn forms_that_assemblers_also_accept() {
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
