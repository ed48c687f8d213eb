//! Modules and launches.

use tfrt_device::error::Status;
use tfrt_device::front::{Argument, Context};
use tfrt_device::hal::{Dim3, LaunchConfig, Pattern};

use super::Case;
use super::support::{Bench, VECTOR_ADD, config, fails, function};

pub(crate) const CASES: &[Case] = &[
    ("launches/vector_add", vector_add),
    ("launches/shared_memory_reverse", shared_memory_reverse),
    ("launches/shared_memory_is_asked_for_by_two", shared_memory_is_asked_for_by_two),
    ("launches/scalars_of_all_sizes", scalars_of_all_sizes),
    ("launches/module_variables", module_variables),
    ("launches/images", images),
    ("launches/bad_ptx", bad_ptx),
    ("launches/unknown_function", unknown_function),
    ("launches/extents_are_checked", extents_are_checked),
    ("launches/wrong_arguments", wrong_arguments),
];

fn vector_add(context: &Context) {
    let bench = Bench::new(context);
    let add = function(context, VECTOR_ADD, "vector_add");
    for count in [1usize, 31, 32, 1000, 5000] {
        let x = bench.upload(&(0..count).map(|i| i as f32).collect::<Vec<_>>());
        let y = bench.upload(&vec![0.5f32; count]);
        let arguments = [(count as u32).into(), (&x).into(), (&y).into()];
        bench.stream.launch(&add, &config(count.div_ceil(128) as u32, 128), &arguments).unwrap();
        let expected: Vec<f32> = (0..count).map(|i| i as f32 + 0.5).collect();
        assert_eq!(bench.download::<f32>(&y, count), expected);
    }
}

/// Reverses a block's elements through dynamic shared memory.
fn shared_memory_reverse(context: &Context) {
    const REVERSE: &str = r"
.version 6.4
.target sm_52
.address_size 64
.extern .shared .align 4 .b8 tile[];
.visible .entry reverse(.param .u64 x)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r3, %r4;
  st.shared.u32 [%r5], %r2;
  bar.sync 0;
  mov.u32 %r6, %ntid.x;
  sub.u32 %r6, %r6, 1;
  sub.u32 %r6, %r6, %r1;
  shl.b32 %r7, %r6, 2;
  add.u32 %r7, %r3, %r7;
  ld.shared.u32 %r8, [%r7];
  st.global.u32 [%rd4], %r8;
  ret;
}
";
    let bench = Bench::new(context);
    let reverse = function(context, REVERSE, "reverse");
    let x = bench.upload(&(0..100u32).collect::<Vec<_>>());
    let config = LaunchConfig { shared_memory_bytes: 400, ..config(1, 100) };
    bench.stream.launch(&reverse, &config, &[(&x).into()]).unwrap();
    assert_eq!(bench.download::<u32>(&x, 100), (0..100u32).rev().collect::<Vec<_>>());
}

fn scalars_of_all_sizes(context: &Context) {
    const STORE: &str = r"
.version 6.4
.target sm_52
.address_size 64
.visible .entry store(.param .u8 a, .param .u16 b, .param .f64 c, .param .f32 d, .param .u64 out)
{
  .reg .b16 %rs<3>;
  .reg .b32 %r<2>;
  .reg .f32 %f<2>;
  .reg .f64 %fd<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u8 %rs1, [a];
  ld.param.u16 %rs2, [b];
  ld.param.f64 %fd1, [c];
  ld.param.f32 %f1, [d];
  st.global.u8 [%rd2], %rs1;
  st.global.u16 [%rd2+2], %rs2;
  st.global.f32 [%rd2+4], %f1;
  st.global.f64 [%rd2+8], %fd1;
  ret;
}
";
    let bench = Bench::new(context);
    let store = function(context, STORE, "store");
    let out = bench.upload(&[0u8; 16]);
    let arguments = [
        Argument::from(7u8),
        Argument::from(0x1234u16),
        Argument::from(2.5f64),
        Argument::from(-1.5f32),
        (&out).into(),
    ];
    bench.stream.launch(&store, &config(1, 1), &arguments).unwrap();
    let bytes = bench.download::<u8>(&out, 16);
    assert_eq!((bytes[0], &bytes[2..4]), (7, &[0x34, 0x12][..]));
    assert_eq!(bytes[4..8], (-1.5f32).to_le_bytes());
    assert_eq!(bytes[8..16], 2.5f64.to_le_bytes());
}

fn images(context: &Context) {
    for image in [&b""[..], b"This is bad!", b"\xff\xfe\x00", b"\x7fEL"] {
        fails(context.load_module(image), Status::InvalidImage);
    }
}

/// Variables of a module are buffers: what the host writes to them a launch reads, and the other
/// way round.
fn module_variables(context: &Context) {
    const SCALE: &str = r"
.version 6.4
.target sm_52
.address_size 64
.visible .const .align 4 .f32 factor = 0f40000000;
.visible .global .align 4 .u32 calls = 40;
.visible .entry scale(.param .u64 x)
{
  .reg .f32 %f<4>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [x];
  cvta.to.global.u64 %rd2, %rd1;
  ld.const.f32 %f1, [factor];
  ld.global.f32 %f2, [%rd2];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd2], %f3;
  atom.global.add.u32 %r1, [calls], 1;
  ret;
}
";
    let bench = Bench::new(context);
    let module = context.load_module(SCALE.as_bytes()).unwrap();
    let (scale, other) = (module.function("scale").unwrap(), context.load_module(SCALE.as_bytes()).unwrap());
    let (factor, calls) = (module.global("factor").unwrap(), module.global("calls").unwrap());
    drop(module);
    assert_eq!((factor.len(), bench.download::<f32>(&factor, 1)), (4, vec![2.0]));
    let x = bench.upload(&[3.0f32]);
    bench.stream.launch(&scale, &config(1, 1), &[(&x).into()]).unwrap();
    bench.stream.set(&factor, 0, Pattern::U32(10.0f32.to_bits()), 1).unwrap();
    bench.stream.launch(&scale, &config(1, 1), &[(&x).into()]).unwrap();
    assert_eq!(bench.download::<f32>(&x, 1), [60.0]);
    assert_eq!(bench.download::<u32>(&calls, 1), [42]);
    // Each module has its own.
    assert_eq!(bench.download::<u32>(&other.global("calls").unwrap(), 1), [40]);
    bench.stream.copy((&calls, 0), (&factor, 0), 4, false).unwrap();
    assert_eq!(bench.download::<f32>(&calls, 1), [10.0]);
    fails(bench.stream.set(&factor, 0, Pattern::U32(0), 2), Status::InvalidValue);
}

fn bad_ptx(context: &Context) {
    for text in [
        ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry f() { nonsense; }",
        ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry f() { add.u32 %r1, %r2, 1; ret; }",
        ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry f( {",
    ] {
        fails(context.load_module(text.as_bytes()), Status::InvalidPtx);
    }
}

fn unknown_function(context: &Context) {
    let module = context.load_module(VECTOR_ADD.as_bytes()).unwrap();
    fails(module.function("vector_sub"), Status::NotFound);
    fails(module.global("table"), Status::NotFound);
}

fn extents_are_checked(context: &Context) {
    let bench = Bench::new(context);
    let empty = ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }";
    let empty = function(context, empty, "empty");
    bench.stream.launch(&empty, &config(1, 1), &[]).unwrap();
    for wrong in [config(0, 1), config(1, 0), config(1, 1025), config(u32::MAX, 1)] {
        fails(bench.stream.launch(&empty, &wrong, &[]), Status::InvalidValue);
    }
    let flat = |block, grid| LaunchConfig { block, grid, ..config(1, 1) };
    let one = Dim3::from(1);
    fails(bench.stream.launch(&empty, &flat(Dim3::new(1, 1, 65), one), &[]), Status::InvalidValue);
    fails(bench.stream.launch(&empty, &flat(Dim3::new(32, 33, 1), one), &[]), Status::InvalidValue);
    fails(bench.stream.launch(&empty, &flat(one, Dim3::new(1, 65536, 1)), &[]), Status::InvalidValue);
    let shared = LaunchConfig { shared_memory_bytes: u32::MAX, ..config(1, 1) };
    fails(bench.stream.launch(&empty, &shared, &[]), Status::InvalidValue);
    bench.stream.synchronize().unwrap();
}

fn wrong_arguments(context: &Context) {
    let bench = Bench::new(context);
    let add = function(context, VECTOR_ADD, "vector_add");
    let x = bench.upload(&[0f32; 4]);
    let launch = |arguments: &[Argument<'_>]| bench.stream.launch(&add, &config(1, 4), arguments);
    fails(launch(&[]), Status::InvalidValue);
    fails(launch(&[4u32.into(), (&x).into()]), Status::InvalidValue);
    fails(launch(&[4u64.into(), (&x).into(), (&x).into()]), Status::InvalidValue);
    fails(launch(&[4u32.into(), 0f32.into(), (&x).into()]), Status::InvalidValue);
    launch(&[4u32.into(), (&x).into(), (&x).into()]).unwrap();
    bench.stream.synchronize().unwrap();
}

/// Threads that launch one function with different shared memory do not take it from each other.
fn shared_memory_is_asked_for_by_two(context: &Context) {
    const EMPTY: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }";
    let bench = Bench::new(context);
    for _ in 0..3 {
        let empty = function(context, EMPTY, "empty");
        let launch = |bytes: u32| {
            let config = LaunchConfig { shared_memory_bytes: bytes, ..config(1, 1) };
            bench.stream.launch(&empty, &config, &[]).unwrap();
        };
        std::thread::scope(|scope| {
            for bytes in [90 << 10, 60 << 10, 80 << 10] {
                scope.spawn(move || launch(bytes));
            }
        });
        [90 << 10, 60 << 10, 80 << 10].into_iter().for_each(launch);
    }
    bench.stream.synchronize().unwrap();
}
