//! Calls by an alias, and of `vprintf`.

use tfrt_ptx::{FaultKind, Memory, Module, Params};

use super::run;

/// A function is called, and its address taken, by a name of its own and by an alias that stands
/// behind it in the text.
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
fn printf_returns_the_number_of_arguments() {
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
