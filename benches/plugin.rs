//! What a call through the plug-in boundary takes beyond the plug-in's function itself: the same C
//! functions, which do nothing, called through the device layer's backend and through their
//! pointers.
//!
//! `cargo bench -p tfrt-plugin`
#![expect(
    unsafe_code,
    clippy::unwrap_used,
    reason = "C functions of our own plug-in are called; benches end that way"
)]

use std::ffi::c_void;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use criterion::{Criterion, criterion_group, criterion_main};
use libloading::os::unix::Library;
use tfrt_device::hal::{EventOptions, StreamOptions};
use tfrt_plugin::Plugin;
use tfrt_plugin::abi::{SP_DeviceMemoryBase, SP_Event};
use tfrt_plugin::status::TF_Status;

type Copy = unsafe extern "C" fn(
    *const c_void,
    *const c_void,
    *mut SP_DeviceMemoryBase,
    *const c_void,
    u64,
    *mut TF_Status,
);
type Query = unsafe extern "C" fn(*const c_void, SP_Event) -> i32;

fn built() -> std::path::PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let library = std::env::temp_dir().join(format!("tfrt-instant-{}.so", std::process::id()));
    let compiled = Command::new("cc")
        .current_dir(root)
        .args([
            "-std=c11",
            "-O2",
            "-shared",
            "-fPIC",
            "-pthread",
            "-Iplugin/include",
            "tests/plugin/instant.c",
            "-o",
        ])
        .arg(&library)
        .status()
        .unwrap();
    assert!(compiled.success());
    library
}

fn boundary(criterion: &mut Criterion) {
    let path = built();
    let backend = Plugin::load(&path).unwrap().backend();
    let context = backend.create_context(0).unwrap();
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let event = context.create_event(EventOptions::default()).unwrap();
    context.record_event(&event, &stream).unwrap();
    let address = context.allocate(64).unwrap();
    let source = [0u8; 64];
    // SAFETY: functions of our own plug-in, which have these types.
    let (copy, query) = unsafe {
        let library = Library::new(&path).unwrap();
        let copy: Copy = *library.get::<Copy>(b"instant_memcpy_htod\0").unwrap();
        let query: Query = *library.get::<Query>(b"instant_get_event_status\0").unwrap();
        std::mem::forget(library);
        (copy, query)
    };
    std::fs::remove_file(path).unwrap();
    let mut group = criterion.benchmark_group("plugin");
    group.bench_function("memcpy_htod/direct", |b| {
        b.iter(|| {
            let mut part = SP_DeviceMemoryBase {
                struct_size: size_of::<SP_DeviceMemoryBase>(),
                ext: std::ptr::null_mut(),
                opaque: std::ptr::without_provenance_mut(address as usize),
                size: 64,
                payload: 0,
            };
            let null = std::ptr::null();
            // SAFETY: the function looks at nothing.
            unsafe {
                black_box(copy)(null, null, &raw mut part, source.as_ptr().cast(), 64, std::ptr::null_mut());
            }
        });
    });
    group.bench_function("memcpy_htod/boundary", |b| {
        b.iter(|| {
            // SAFETY: the function copies nothing.
            unsafe { context.copy_host_to_device(&stream, address, source.as_ptr(), 64).unwrap() };
        });
    });
    group.bench_function("get_event_status/direct", |b| {
        b.iter(|| {
            // SAFETY: the function looks at nothing.
            unsafe { black_box(query)(std::ptr::null(), std::ptr::null_mut()) }
        });
    });
    group.bench_function("get_event_status/boundary", |b| b.iter(|| context.query_event(&event).unwrap()));
    group.finish();
}

criterion_group!(benches, boundary);
criterion_main!(benches);
