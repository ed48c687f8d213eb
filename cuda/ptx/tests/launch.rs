//! Launches of small kernels, end to end.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use tfrt_ptx::{FaultKind, Launch, Memory, Module, Params};

const SAXPY: &str = r"
.version 7.0
.target sm_75
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
";

fn floats(memory: &Memory, address: u64, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; count * 4];
    memory.read(address, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

fn upload(memory: &Memory, values: &[f32]) -> u64 {
    memory.allocate_from(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap()
}

#[test]
fn saxpy_with_a_partial_block() {
    let module = Module::parse(SAXPY).unwrap();
    let function = module.function("saxpy").unwrap();
    let memory = Memory::new();
    let n = 1000usize;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let (dx, dy) = (upload(&memory, &x), upload(&memory, &y));
    let params = Params::new().push(dx).push(dy).push(2.0f32).push(n as u32);
    function.launch(4, 256, 0, &params, &memory).unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.0 * x + y).collect();
    assert_eq!(floats(&memory, dy, n), expected);
}

#[test]
fn an_overrun_names_the_place() {
    let module = Module::parse(SAXPY).unwrap();
    let function = module.function("saxpy").unwrap();
    let memory = Memory::new();
    let (dx, dy) = (upload(&memory, &[0.0; 100]), upload(&memory, &[0.0; 1000]));
    let params = Params::new().push(dx).push(dy).push(2.0f32).push(1000u32);
    let fault = function.launch(4, 256, 0, &params, &memory).unwrap_err().to_string();
    for part in [
        "saxpy",
        "out of bounds",
        "ld.global.f32",
        "PTX line 26",
        "thread (100, 0, 0)",
        "0 bytes past the end",
    ] {
        assert!(fault.contains(part), "{part} in {fault}");
    }
}

/// Parameters that are laid out already, and some that are too few or too many.
#[test]
fn packed_parameters() {
    let module = Module::parse(SAXPY).unwrap();
    let function = module.function("saxpy").unwrap();
    let memory = Memory::new();
    let (dx, dy) = (upload(&memory, &[1.0, 2.0, 3.0]), upload(&memory, &[10.0, 20.0, 30.0]));
    let mut packed = [dx.to_le_bytes(), dy.to_le_bytes()].concat();
    packed.extend(2.0f32.to_le_bytes());
    packed.extend(3u32.to_le_bytes());
    let launch = || Launch::new(&function).block(4);
    launch().run_packed(&packed, &memory).unwrap();
    assert_eq!(floats(&memory, dy, 3), [12.0, 24.0, 36.0]);
    packed.push(0);
    for bytes in [&packed[..], &packed[..23], &[]] {
        let fault = launch().run_packed(bytes, &memory).unwrap_err();
        assert_eq!(fault.kind, FaultKind::InvalidLaunch, "{fault}");
    }
}

#[test]
fn the_first_to_touch_a_byte_is_named() {
    let module = Module::parse(SAXPY).unwrap();
    let function = module.function("saxpy").unwrap();
    let memory = Memory::new();
    let (dx, dy) = (upload(&memory, &[1.0; 1000]), upload(&memory, &[2.0; 1000]));
    let params = Params::new().push(dx).push(dy).push(2.0f32).push(1000u32);
    let launch = Launch::new(&function).grid(4).block(256).footprint(true);
    let report = launch.run(&params, &memory).unwrap();
    let toucher = |address, written| report.toucher(address, written).map(|toucher| toucher.to_string());
    let expected = "ld.global.f32 at PTX line 26; block (2, 0, 0), thread (88, 0, 0)";
    assert_eq!(toucher(dx + 4 * 600 + 2, false).as_deref(), Some(expected));
    let expected = "st.global.f32 at PTX line 29; block (3, 0, 0), thread (231, 0, 0)";
    assert_eq!(toucher(dy + 4 * 999, true).as_deref(), Some(expected));
    assert_eq!((toucher(dx, true), toucher(dx + 4000, false)), (None, None));
    let unwatched = function.launch(4, 256, 0, &params, &memory).unwrap();
    assert_eq!(unwatched.toucher(dx, false), None);
}
