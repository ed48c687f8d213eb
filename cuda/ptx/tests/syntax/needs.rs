//! Which version of the PTX ISA and which target an instruction needs.

use tfrt_ptx::Module;

/// The first version and the first target for which ptxas took each instruction.
const TABLE: &str = include_str!("needs.txt");

/// Versions, each with the last target it knows.
const VERSIONS: [(&str, &str); 35] = [
    ("3.0", "sm_30"),
    ("3.1", "sm_35"),
    ("3.2", "sm_35"),
    ("4.0", "sm_50"),
    ("4.1", "sm_52"),
    ("4.2", "sm_53"),
    ("4.3", "sm_53"),
    ("5.0", "sm_62"),
    ("6.0", "sm_70"),
    ("6.1", "sm_72"),
    ("6.2", "sm_72"),
    ("6.3", "sm_75"),
    ("6.4", "sm_75"),
    ("6.5", "sm_75"),
    ("7.0", "sm_80"),
    ("7.1", "sm_86"),
    ("7.2", "sm_86"),
    ("7.3", "sm_86"),
    ("7.4", "sm_87"),
    ("7.5", "sm_87"),
    ("7.6", "sm_87"),
    ("7.7", "sm_87"),
    ("7.8", "sm_90"),
    ("8.0", "sm_90a"),
    ("8.1", "sm_90a"),
    ("8.2", "sm_90a"),
    ("8.3", "sm_90a"),
    ("8.4", "sm_90a"),
    ("8.5", "sm_90a"),
    ("8.6", "sm_100a"),
    ("8.7", "sm_100a"),
    ("8.8", "sm_103a"),
    ("9.0", "sm_103a"),
    ("9.1", "sm_103a"),
    ("9.2", "sm_103a"),
];
const TARGETS: [&str; 22] = [
    "sm_30", "sm_32", "sm_35", "sm_37", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70",
    "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a",
];

/// What is wrong with a kernel of this instruction.
fn errors(version: &str, target: &str, instruction: &str) -> String {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .global .align 16 .b8 g[64]; .const .align 16 .b8 cst[64]; .shared .align 16 .b8 buf[64]; .func fun() {{ ret; }}\n\
         .entry k(.param .u64 prm) {{\n\
         .reg .b8 %b<4>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .b128 %q<8>; .reg .f32 %f<64>; .reg .f64 %d<32>;\n\
         .reg .pred %p<8>;\n{instruction}\nret; }}\n"
    );
    Module::parse(&text).map_or_else(|errors| errors.to_string(), |_| String::new())
}

#[test]
fn versions_and_targets() {
    let mut refused = 0;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let [version, target, instruction] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("not a line of the table: {line}");
        };
        let version = VERSIONS.iter().position(|(known, _)| *known == version).unwrap();
        let target = TARGETS.iter().position(|known| *known == target).unwrap();
        let (first, last) = (VERSIONS[version], VERSIONS[VERSIONS.len() - 1]);
        for (version, target) in [first, (last.0, TARGETS[target])] {
            assert_eq!(errors(version, target, instruction), "", "{line}");
        }
        let older = version.checked_sub(1).map(|older| VERSIONS[older]);
        let lesser = target.checked_sub(1).map(|lesser| (last.0, TARGETS[lesser]));
        for (version, target) in older.into_iter().chain(lesser) {
            let errors = errors(version, target, instruction);
            assert!(errors.contains(" needed; this is a module "), "{line}, {version} {target}: {errors}");
            refused += 1;
        }
    }
    assert!(refused > 300, "{refused} refusals");
}

#[test]
fn what_is_said() {
    for (version, target, instruction, expected) in [
        (
            "6.0",
            "sm_70",
            "cp.async.wait_all;",
            "8:1: cp.async.wait_all: PTX ISA 7.0 and sm_80 are needed; this is a module of version 6.0 for sm_70",
        ),
        (
            "8.0",
            "sm_75",
            "cp.async.wait_all;",
            "8:1: cp.async.wait_all: sm_80 is needed; this is a module for sm_75",
        ),
        (
            "7.0",
            "sm_80",
            "mov.u64 %rd1, %current_graph_exec;",
            "8:1: mov.u64: PTX ISA 8.0 is needed; this is a module of version 7.0",
        ),
        (
            "8.0",
            "sm_90",
            "wgmma.fence.sync.aligned;",
            "8:1: wgmma.fence.sync.aligned: sm_90a is needed; this is a module for sm_90",
        ),
        (
            "6.4",
            "sm_70",
            "vote.all.pred %p1, %p2;",
            "8:1: vote.all.pred: .sync is needed; in PTX ISA 6.4, sm_70 has no other form",
        ),
        (
            "9.0",
            "sm_90",
            "ld.volatile.local.u32 %r1, [%rd1];",
            "8:1: ld.volatile.local.u32: PTX ISA 9.1 is needed; this is a module of version 9.0",
        ),
    ] {
        assert_eq!(errors(version, target, instruction), expected);
    }
    assert_eq!(errors("9.1", "sm_90", "ld.volatile.local.u32 %r1, [%rd1];"), "");
}
