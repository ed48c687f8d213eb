//! Errors: each text, and all that is said of it, with its places.

use super::{errors, kernel, text};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "\n{text}");
}

#[test]
fn headers() {
    for (text, expected) in [
        ("", &["1:1: a module begins with '.version'"][..]),
        (".target sm_80\n", &["1:1: a module begins with '.version'"]),
        (".version 8.0\n", &["2:1: expected '.target' behind '.version'"]),
        (".version 9.5\n.target sm_80", &["1:10: PTX ISA 9.5 is not supported: 3.0 to 9.4 are"]),
        (
            ".version 2.3\n.target sm_30",
            &[
                "1:10: PTX ISA 2.3 is not supported: 3.0 to 9.4 are",
                "2:9: sm_30 needs PTX ISA 3.0; this is a module of version 2.3",
            ],
        ),
        (".version 8\n.target sm_80", &["1:10: '8' is no version; one looks like 8.4"]),
        (".version 6.0\n.target sm_90", &["2:9: sm_90 needs PTX ISA 7.8; this is a module of version 6.0"]),
        (".version 9.0\n.target sm_130", &["2:9: unknown target 'sm_130'; sm_30 to sm_121f are known"]),
        (".version 9.0\n.target sm80", &["2:9: unknown target 'sm80'; did you mean 'sm_80'?"]),
        (".version 8.0\n.target sm_80, map_f64_to_f32", &["2:16: 'map_f64_to_f32' is not supported"]),
        (".version 8.0\n.target sm_80\n.address_size 32", &["3:15: addresses of 32 bits are not supported"]),
        (
            ".version 8.0\n.target sm_80\n.version 8.0",
            &["3:1: '.version' belongs at the beginning of the module, once"],
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn directives() {
    for (body, expected) in [
        (".globl .u32 x;", &["2:1: unknown directive '.globl'; did you mean '.global'?"][..]),
        ("mov.u32 %r1, 1;", &["2:1: expected a directive, found 'mov'"]),
        (".visible .u32 x;", &["2:10: expected '.entry', '.func' or a state space, found '.u32'"]),
        (".tex .u32 t;", &["2:1: '.tex' is not supported"]),
        (".global .texref t;", &["2:9: '.texref' is not supported"]),
        (".reg .u32 x;", &["2:1: registers are declared within functions"]),
        (".local .u32 x;", &["2:1: .local variables are declared within functions"]),
        (".file 1 \"a\"\n.file 1 \"b\"", &["3:1: there is a file 1 already"]),
        (".section .text { }", &["2:10: unknown section '.text'"]),
        (".section .debug_info { .b8 1", &["2:22: the section has no end"]),
        (
            ".section .debug_info { .u8 1 }",
            &["2:24: expected '.b8', '.b16', '.b32', '.b64', a label or '}', found '.u8'"],
        ),
        ("#include <x>", &["2:1: preprocessor directives are not supported"]),
        ("/* no end", &["2:1: the comment has no end"]),
        (".pragma \"no end", &["2:9: the quoted text has no end on its line"]),
        (".global .u32 é;", &["2:14: unexpected character 'é'"]),
        // What is behind an error is read as well.
        (
            ".global .u32 x\n.global .u33 y;\n.global .u32 x;",
            &[
                "2:15: expected ';'",
                "3:9: expected a type, found '.u33'",
                "4:14: 'x' is declared twice; see 2:14",
            ],
        ),
    ] {
        check(&text(body), expected);
    }
}

#[test]
fn variables() {
    for (body, expected) in [
        (
            ".global .u32 x[];",
            &["2:14: the size of 'x' is missing; only .extern variables may leave it open"][..],
        ),
        (
            ".global .u32 x[2][];",
            &[
                "2:14: the size of 'x' is missing; only .extern variables may leave it open",
                "2:18: only the first dimension may be left open",
            ],
        ),
        (".global .align 3 .u32 x;", &["2:16: an alignment is a power of two up to 65536, not 3"]),
        (".global .v4 .f64 x;", &["2:9: a vector of 4 .f64 is no type: 16 bytes is the most"]),
        (".global .pred x;", &["2:1: predicates are in registers only"]),
        (".global .bf16 x;", &["2:9: .bf16 is the type of an instruction only; declare .b16"]),
        (".global .b8 x[2000000000000];", &["2:14: a variable takes at most 1099511627776 bytes"]),
        (
            ".global .b8 x[4000000000][4000000000][4000000000];",
            &["2:26: a variable takes at most 1099511627776 bytes"],
        ),
        (".const .b8 x[65537];", &["2:12: the module's .const variables take more than 65536 bytes"]),
        (".common .const .u32 x;", &["2:9: .common variables are in .global"]),
        (".shared .u32 x = 1;", &["2:16: a .shared variable has no initial value"]),
        (".global .u32 x[2] = {1, 2, 3};", &["2:28: there are more than 2 values"]),
        (".global .u32 x[2] = 1;", &["2:21: expected '{', found '1'"]),
        (".global .u32 x = {1};", &["2:18: expected a constant, found '{'"]),
        (".global .u32 x = 1.5;", &["2:18: a variable of type .u32 cannot hold a floating-point number"]),
        (".global .f32 x = 1;", &["2:18: a variable of type .f32 cannot hold an integer; write 1.0 for 1"]),
        (".global .f16 x = 1.0;", &["2:18: a variable of type .f16 has no initial value; use .b16 or .b32"]),
        (".global .u64 x = y;", &["2:18: 'y' is not declared"]),
        (".global .u64 x = x;", &["2:18: 'x' is not declared"]),
        (".shared .u32 s; .global .u64 x = s;", &["2:34: 's' is in .shared and has no constant address"]),
        (".global .u32 y; .global .u8 x = y;", &["2:33: a variable of type .u8 cannot hold an address"]),
        (".global .u32 y; .global .u8 x = 0xFFF(y);", &["2:33: the mask picks no part that fits in .u8"]),
        (
            ".global .u8 x[2][400000000] = {{1}, {2}};",
            &["2:38: the initial values of all variables take more than 268435456 bytes"],
        ),
        (".global .u32 x = 1/0;", &["2:19: division by zero"]),
        (".global .u32 x = 1<<64;", &["2:19: a shift by 64 or more bits has no value"]),
        (".global .u32 x = (.u32)1;", &["2:19: constants can be converted to .s64 or .u64 only"]),
        (".global .u32 x = 18446744073709551616;", &["2:18: '18446744073709551616' does not fit in 64 bits"]),
        (".extern .global .u32 x; .global .f32 x;", &["2:38: 'x' is declared differently before; see 2:22"]),
        (".func f() { ret; } .global .u32 f;", &["2:33: 'f' is a function already"]),
    ] {
        check(&text(body), expected);
    }
}

#[test]
fn functions() {
    for (body, expected) in [
        (".entry (.param .u32 r) k() { ret; }", &["2:8: a kernel returns nothing"][..]),
        (".entry k(.reg .u32 x) { ret; }", &["2:20: a kernel takes its parameters in .param, not in .reg"]),
        (".entry k(.param .u32 x, .param .u32 x) { ret; }", &["2:37: two parameters are called 'x'"]),
        (".entry k(.param .b8 x[]) { ret; }", &["2:21: a kernel's parameter needs a size"]),
        (
            ".entry k(.param .b8 x[40000]) { ret; }",
            &["2:8: the parameters take 40000 bytes; 32764 is the most"],
        ),
        (".entry k(.param .b8 x[4353]) { ret; }", &[]),
        (".entry k() .maxntid 0 { ret; }", &["2:21: the size must not be 0"]),
        (".entry k() .maxntid 1 .reqntid 1 { ret; }", &["2:8: .maxntid and .reqntid exclude each other"]),
        (".entry k() .maxtid 1 { ret; }", &["2:12: unknown directive '.maxtid'; did you mean '.maxntid'?"]),
        (".entry k() .blocksareclusters { ret; }", &["2:12: '.blocksareclusters' is not supported"]),
        (".func f() .maxntid 1 { ret; }", &["2:11: '.maxntid' belongs to kernels"]),
        (".func f() { ret; } .func f() { ret; }", &["2:26: 'f' is defined twice; see 2:7"]),
        (
            ".func f(); .func f(.param .u32 x) { ret; }",
            &["2:18: 'f' is declared with other parameters before; see 2:7"],
        ),
        (
            ".func f(); .entry f() { ret; }",
            &["2:19: 'f' is a kernel in one declaration and a function in the other; see 2:7"],
        ),
        (".extern .func f() { ret; }", &["2:15: 'f' is .extern and has a body"]),
        (".func f(); .alias f, g;", &["2:22: there is no function 'g'"]),
        (
            ".func f(); .func g(.param .u32 x) { ret; } .alias f, g;",
            &["2:51: alias and function have different parameters"],
        ),
        (".entry k() { ret;", &["2:12: the function has no end: '{' is not closed"]),
        (".entry k() { ret;\n.entry l() { ret; }", &["3:1: expected '}' before '.entry'"]),
        (".entry k() { ret; } }", &["2:21: expected a directive, found '}'"]),
    ] {
        check(&text(body), expected);
    }
}

/// The manual and ptxas: 32,764 bytes of parameters from PTX ISA 8.1 and sm_70 on.
#[test]
fn parameters_of_old_modules() {
    for (version, target, bytes, fits) in [
        ("8.0", "sm_90", 4352, true),
        ("8.0", "sm_90", 4353, false),
        ("8.1", "sm_60", 4353, false),
        ("8.1", "sm_70", 32764, true),
    ] {
        let expected: &[&str] =
            if fits { &[] } else { &["4:8: the parameters take 4353 bytes; 4352 is the most"] };
        let header = format!(".version {version}\n.target {target}\n.address_size 64\n");
        check(&format!("{header}.entry k(.param .b8 x[{bytes}]) {{ ret; }}"), expected);
    }
}

#[test]
fn names() {
    for (body, expected) in [
        ("mov.b32 %r1, %r10;", &["3:14: '%r10' is not declared: '%r<10>' declares %r0 to %r9"][..]),
        ("mov.b32 %r1, %x;", &["3:14: '%x' is not declared"]),
        // It is said once.
        ("mov.b32 %x, 1; mov.b32 %x, 2;", &["3:9: '%x' is not declared"]),
        ("mov.b32 %r1, tid.x;", &["3:14: 'tid' is not declared; did you mean '%tid'?"]),
        ("mov.b32 %r1, %tid.q;", &["3:18: '%tid' has no component '.q'"]),
        ("mov.b32 %r1, %laneid.x;", &["3:21: '%laneid' has no component '.x'"]),
        ("mov.b32 %r1, %r2.x;", &["3:17: a scalar register has no component '.x'"]),
        (".reg .b32 a; .reg .b32 a;", &["3:24: 'a' is declared twice; see 3:11"]),
        (".reg .b32 a<3>; .reg .b32 a<3>;", &["3:27: 'a<…>' is declared twice; see 3:11"]),
        (".reg .b32 a<3>; .reg .b64 a1, a3;", &["3:27: 'a1' is declared twice; see 3:11"]),
        (".reg .b64 a1, a3; .reg .b32 a<3>;", &["3:29: 'a<…>' is declared twice; see 3:11"]),
        (".reg .b32 p;", &["3:11: 'p' is declared twice; see 2:31"]),
        (".reg .b32 _;", &["3:11: '_' cannot be a name"]),
        ("mov.b32 a, 1; .reg .b32 a;", &["3:9: 'a' is not declared"]),
        ("{ .reg .b32 a; } mov.b32 a, 1;", &["3:26: 'a' is not declared"]),
        ("bra L;", &["3:5: there is no label 'L'"]),
        ("{ L: } bra L;", &["3:12: there is no label 'L'"]),
        ("L: L:", &["3:4: 'L' is declared twice; see 3:1"]),
        (
            "L: { bra L; L: }",
            &["3:13: label 'L' was used before in this block, where it meant that of a block around it"],
        ),
        ("L: mov.b32 %r1, L;", &["3:17: 'L' is a label, not an operand of this instruction"]),
        ("T: .branchtargets A, B; A:", &["3:22: there is no label 'B'"]),
        ("T: .calltargets nope;", &["3:17: there is no function 'nope'"]),
        (".branchtargets A;", &["3:1: '.branchtargets' needs a label before it"]),
    ] {
        check(&kernel(body), expected);
    }
}

#[test]
fn instructions() {
    for (body, expected) in [
        ("@%r1 ret;", &["3:2: '%r1' is of type .b32, not a predicate"][..]),
        ("and.pred %p1, %p2, !%r3;", &["3:21: '%r3' is of type .b32, not a predicate"]),
        ("ld.global.b32 %r1, [%f1];", &["3:21: '%f1' is of type .f32 and cannot be an address"]),
        ("ld.global.b32 %r1, [%p1];", &["3:21: '%p1' is of type .pred and cannot be an address"]),
        ("ld.global.b32 %r1, [%tid.x];", &["3:21: '%tid' cannot be an address"]),
        ("ld.global.b32 %r1, [%d1;", &["3:24: expected '+' or ']', found ';'"]),
        ("ld.global.b32 %r1, [%d1+%d2];", &["3:25: expected a constant, found '%d2'"]),
        ("mov.b64 %d1, {%r1, %r2;", &["3:23: expected ',' or '}', found ';'"]),
        ("mov.b64 %d1, {%r1, [%r2]};", &["3:20: expected a register or a constant, found '['"]),
        ("mov.b32 %r1, 0f3f8;", &["3:14: '0f3f8' must have 8 hexadecimal digits"]),
        ("mov.b32 %r1, 09;", &["3:14: '09' is no number"]),
        ("mov.b32 %r1 1;", &["3:13: expected ';', found '1'"]),
        ("mov.b32 %r1, 1\nmov.b32 %r1, 2", &["3:15: expected ';'", "4:15: expected ';'"]),
        ("mov.b32 %r1,;", &["3:13: expected a constant, found ';'"]),
        (
            "tex.2d.v4.f32.f32 {%f1, %f2, %f3, _}, [p, {%f1, %f2}];",
            &["3:41: 'tex' of a texture or a tensor is not supported"],
        ),
        (
            ".shared .u32 s[4]; ld.shared.u32 %r1, s[%r2];",
            &["3:41: an index must be constant; compute the address instead"],
        ),
        (".reg .v2 .b32 v; mov.b32 %r1, v.z;", &["3:32: a vector of 2 registers has no component '.z'"]),
        // One statement's error does not hide the next one's.
        (
            "mov.b32 %r1, $; mov.b32 %r77, 1;\nadd.s32 {%r1, }; mov.b32 %r88, 1;",
            &[
                "3:14: '$' is not declared",
                "3:25: '%r77' is not declared: '%r<10>' declares %r0 to %r9",
                "4:15: expected a constant, found '}'",
                "4:26: '%r88' is not declared: '%r<10>' declares %r0 to %r9",
            ],
        ),
    ] {
        check(&kernel(body), expected);
    }
}

#[test]
fn calls() {
    let before =
        ".func (.param .b32 r) f(.param .b64 a, .param .align 4 .b8 s[12]) { ret; } .func g() { ret; }";
    let declarations = ".param .b32 r; .param .b64 a; .param .align 4 .b8 s[12];";
    for (call, expected) in [
        ("call (r), f, (a, s);", &[][..]),
        ("call g;", &[]),
        ("call (%r1), f, (%d1, s);", &[]),
        ("call (_), f, (5, s);", &[]),
        ("call f, (a, s);", &["4:6: 'f' returns 1 value, not 0"]),
        ("call (r), f, (a);", &["4:6: 'f' takes 2 values, not 1"]),
        ("call (r), f, (s, s);", &["4:15: 'f' takes another type as 'a'"]),
        ("call (r), f, (a, 5);", &["4:18: 'f' takes another type as 's'"]),
        ("call (%d1), f, (a, s);", &["4:7: 'f' returns another type as 'r'"]),
        ("call (r), f, (%r1, s);", &["4:15: 'f' takes another type as 'a'"]),
        ("call h;", &["4:6: 'h' is not declared"]),
        ("call k;", &["4:6: 'k' is a kernel and cannot be called"]),
        ("call %d1;", &["4:6: a call through a register needs a prototype or a list of targets"]),
        ("call %d1, r;", &["4:11: 'r' is no prototype and no list of targets"]),
        ("P: .callprototype _ (.param .b64 _); call %d1, (%d2), P;", &[]),
        ("P: .callprototype _ (.param .b64 _); call %d1, (), P;", &["4:43: 'P' takes 1 value, not 0"]),
        ("T: .calltargets g; call %d1, T;", &[]),
        ("T: .calltargets g, f;", &["4:20: 'f' has other parameters than the targets before it"]),
        ("T: .calltargets k;", &["4:17: 'k' is a kernel and cannot be called"]),
        ("call (p|r), g;", &["4:8: expected ',' or ')', found '|'"]),
    ] {
        let text = text(&format!(
            "{before}\n.entry k(.param .u64 p) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; {declarations}\n{call}\nret; }}"
        ));
        check(&text, expected);
    }
}
