//! Tests plug-ins that break one rule each, listed in `tests/plugin/hostile.c`. Each leads to an
//! error that names the plug-in and the broken rule, or does no harm, and all created objects are
//! destroyed in reverse order.
#![expect(
    clippy::unwrap_used,
    unsafe_code,
    reason = "tests end that way; the plug-in gets its rule by a call"
)]

mod support;

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use libloading::os::unix::Library;
use tfrt_device::allocator::Options;
use tfrt_device::error::DeviceError;
use tfrt_device::front::{Context, Event, Platform, PlatformOptions, Stream};
use tfrt_device::hal::{EventOptions, Pattern, StreamOptions};
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Diagnostic, ErrorCode};
use tfrt_plugin::{Plugin, PluginRegistry};

/// An error with a message.
trait Said {
    fn said(&self) -> String;
}
impl Said for Diagnostic {
    fn said(&self) -> String {
        self.message.clone()
    }
}
impl Said for DeviceError {
    fn said(&self) -> String {
        self.to_string()
    }
}

#[track_caller]
fn says<T: std::fmt::Debug>(result: Result<T, impl Said>, parts: &[&str]) {
    let message = result.map_err(|error| error.said()).unwrap_err();
    for part in parts {
        assert!(message.contains(part), "expected '{part}' in: {message}");
    }
}

/// A separate copy of the plug-in, with the rule that it breaks.
struct Hostile {
    path: PathBuf,
    library: Library,
}

impl Hostile {
    fn new(fault: &str, number: i32) -> Self {
        static BUILT: OnceLock<PathBuf> = OnceLock::new();
        static COPIES: AtomicU32 = AtomicU32::new(0);
        let built = BUILT.get_or_init(|| {
            let built = support::scratch("hostile").join("hostile.so");
            support::plugin(&support::sources().join("hostile.c"), &built, &[]);
            built
        });
        // A copy is a separate library with its own statics.
        let path = built.with_file_name(format!("copy-{}.so", COPIES.fetch_add(1, Ordering::Relaxed)));
        std::fs::copy(built, &path).unwrap();
        // The functions that the plug-in expects of a core are only defined once a plug-in has been
        // loaded.
        drop(Plugin::load("/nothing.so").unwrap_err());
        // SAFETY: the plug-in is part of this repository, and its functions have these types.
        let library = unsafe {
            let library = Library::new(&path).unwrap();
            let choose =
                library.get::<unsafe extern "C" fn(*const c_char, c_int)>(b"hostile_choose\0").unwrap();
            choose(CString::new(fault).unwrap().as_ptr(), number);
            library
        };
        Self { path, library }
    }

    fn load(&self) -> Result<Plugin, Diagnostic> {
        Plugin::load(&self.path)
    }

    /// Returns the log of created and destroyed objects.
    fn log(&self) -> String {
        // SAFETY: the function returns a C string of the plug-in.
        unsafe {
            let log = self.library.get::<unsafe extern "C" fn() -> *const c_char>(b"sample_log\0").unwrap();
            CStr::from_ptr(log()).to_str().unwrap().to_owned()
        }
    }

    fn allocations(&self) -> i64 {
        // SAFETY: the function of the plug-in has this type.
        unsafe { self.library.get::<unsafe extern "C" fn() -> i64>(b"hostile_allocations\0").unwrap()() }
    }

    fn call_again(&self) {
        // SAFETY: the function of the plug-in has this type.
        unsafe { self.library.get::<unsafe extern "C" fn()>(b"hostile_call_again\0").unwrap()() }
    }
}

/// A device of such a plug-in, with the objects that programs use.
struct Bench {
    context: Context,
    stream: Stream,
    platform: Platform,
    hostile: Hostile,
}

impl Bench {
    fn new(fault: &str, number: i32) -> Self {
        let hostile = Hostile::new(fault, number);
        let plugin = hostile.load().unwrap();
        let platform = Platform::new(plugin.backend());
        let context = platform.device(0).unwrap().create_context().unwrap();
        let stream = context.create_stream(StreamOptions::default()).unwrap();
        Self { context, stream, platform, hostile }
    }

    fn event(&self, timing: bool) -> Result<Event, DeviceError> {
        self.context.create_event(EventOptions { timing, internal: false })
    }

    /// Copies bytes to the device, between two places there, and back.
    fn round_trip(&self) -> Result<Vec<u8>, Diagnostic> {
        let allocator = self.context.create_allocator(Options::default());
        let sent = HostBuffer::from_vec((0..=255u8).collect::<Vec<_>>());
        let (a, b) =
            (allocator.allocate(&self.stream, 256, "test")?, allocator.allocate(&self.stream, 256, "test")?);
        wait(|then| {
            self.stream.copy_from_host(&a, 0, &sent, 0, 256)?.when_done(then).map_err(Diagnostic::from)
        })?;
        self.stream.set(&b, 0, Pattern::U32(7), 64)?;
        self.stream.copy((&b, 0), (&a, 0), 256, false)?;
        let received = HostBuffer::from_vec(vec![0u8; 256]);
        wait(|then| {
            self.stream.copy_to_host(&received, 0, &b, 0, 256)?.when_done(then).map_err(Diagnostic::from)
        })?;
        self.stream.synchronize()?;
        Ok(received.read(0).unwrap().to_vec())
    }

    #[track_caller]
    fn works(&self) {
        assert_eq!(self.round_trip().unwrap(), (0..=255).collect::<Vec<u8>>());
        // Waits until everything that was dropped is released.
        self.platform.finish_teardown();
    }

    /// Drops everything and returns the plug-in's log.
    fn end(self) -> String {
        drop((self.stream, self.context, self.platform));
        // The thread that watches completions may hold the last handle.
        for _ in 0..2000 {
            if self.hostile.log().ends_with("destroy_platform_fns\n") {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.hostile.log()
    }
}

fn wait(
    start: impl FnOnce(Box<dyn FnOnce(Result<(), DeviceError>) + Send>) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    let (sender, receiver) = mpsc::channel();
    start(Box::new(move |outcome| drop(sender.send(outcome))))?;
    Ok(receiver.recv().unwrap()?)
}

const ALL_CREATED: &str =
    "create_device 0\ncreate_device 1\ncreate_stream_executor\ncreate_stream_executor\ncreate_timer_fns\n";
const ALL_DESTROYED: &str = "destroy_timer_fns\ndestroy_stream_executor\ndestroy_stream_executor\n\
    destroy_device 1, 0 bytes in use\ndestroy_device 0, 0 bytes in use\ndestroy_platform\ndestroy_platform_fns\n";

#[test]
fn objects_are_destroyed_in_reverse_order() {
    let bench = Bench::new("", 0);
    bench.works();
    assert_eq!(bench.hostile.log(), ALL_CREATED);
    let log = bench.end();
    assert_eq!(log, format!("{ALL_CREATED}{ALL_DESTROYED}"));
}

/// Checks that a plug-in is rejected and that it destroys what it created.
#[track_caller]
fn refused(fault: &str, number: i32, message: &str, log: &str) {
    let hostile = Hostile::new(fault, number);
    let path = hostile.path.display().to_string();
    says(hostile.load(), &[message, &path]);
    assert_eq!(hostile.log(), log, "{fault}");
}

const PLATFORM_DESTROYED: &str = "destroy_platform\ndestroy_platform_fns\n";

#[test]
fn platforms_are_validated() {
    for (fault, number, message) in [
        ("no name", 0, "SP_Platform.name is null"),
        ("empty type", 0, "SP_Platform.type is empty"),
        ("strange type", 0, "SP_Platform.type is 'a:0'"),
        ("no devices", 0, "has no devices"),
        ("too many devices", 0, "claims 18446744073709551615 devices"),
        ("platform size", 0, "SP_Platform.struct_size is 0; at least 32"),
        ("platform size", 24, "SP_Platform.struct_size is 24; at least 32"),
        ("functions size", 0, "SP_PlatformFns.struct_size is 0; at least 64"),
        ("functions size", 63, "SP_PlatformFns.struct_size is 63; at least 64"),
        ("functions ext", 0, "SP_PlatformFns.ext is not null"),
        ("params size", 48, "SE_PlatformRegistrationParams.struct_size is 48; at least 64"),
        ("no destroy_device", 0, "SP_PlatformFns.destroy_device is missing"),
        ("version", 1, "version 1.0.1 of the API, but this core is for 0.0.1"),
        ("version", -1, "version -1.0.1 of the API"),
        ("both allocators", 0, "both create_allocator and create_custom_allocator"),
    ] {
        let log = if fault == "params size" { "" } else { PLATFORM_DESTROYED };
        refused(fault, number, message, log);
    }
    refused("SE_InitPlugin", 0, "SE_InitPlugin: not today (TF_UNAVAILABLE)", "");
    refused("no destroy_platform", 0, "destroy_platform is null", "destroy_platform_fns\n");
    refused("no platform", 0, "SE_PlatformRegistrationParams.platform is null", "destroy_platform_fns\n");
}

#[test]
fn failures_between_steps_undo_the_steps_before() {
    let failed = |call: &str| format!("{call}: made to fail [why: the test wants it] (TF_INTERNAL)");
    let devices = "create_device 0\ncreate_device 1\n";
    let no_devices = "destroy_device 1, 0 bytes in use\ndestroy_device 0, 0 bytes in use\n";
    refused("create_device", 0, &failed("create_device"), PLATFORM_DESTROYED);
    let log = format!("create_device 0\ndestroy_device 0, 0 bytes in use\n{PLATFORM_DESTROYED}");
    refused("create_device", 1, &failed("create_device"), &log);
    let log = format!("{devices}{no_devices}{PLATFORM_DESTROYED}");
    refused("create_stream_executor", 0, &failed("create_stream_executor"), &log);
    let one = "create_stream_executor\ndestroy_stream_executor\n";
    let log = format!("{devices}{one}{no_devices}{PLATFORM_DESTROYED}");
    refused("create_stream_executor", 1, &failed("create_stream_executor"), &log);
    let two = "create_stream_executor\ncreate_stream_executor\n";
    let none = "destroy_stream_executor\ndestroy_stream_executor\n";
    let log = format!("{devices}{two}{none}{no_devices}{PLATFORM_DESTROYED}");
    refused("create_timer_fns", 0, &failed("create_timer_fns"), &log);
    let timer = "create_timer_fns\ndestroy_timer_fns\n";
    let log = format!("{devices}{two}{timer}{none}{no_devices}{PLATFORM_DESTROYED}");
    refused("no nanoseconds", 0, "SP_TimerFns.nanoseconds is missing", &log);
    let timer = "create_timer_fns\ncreate_allocator\ndestroy_timer_fns\n";
    let log = format!("{devices}{two}{timer}{none}{no_devices}{PLATFORM_DESTROYED}");
    refused("create_allocator", 0, &failed("create_allocator"), &log);
    let timer = "create_timer_fns\ncreate_allocator\ndestroy_allocator\ndestroy_timer_fns\n";
    let log = format!("{devices}{two}{timer}{none}{no_devices}{PLATFORM_DESTROYED}");
    refused("half an allocator", 0, "SP_AllocatorFns.deallocate is missing", &log);
}

#[test]
fn devices_and_executors_are_validated() {
    let one_device = format!("create_device 0\ndestroy_device 0, 0 bytes in use\n{PLATFORM_DESTROYED}");
    refused("other ordinal", 0, "SP_Device.ordinal is 5, but device 0 was requested", &one_device);
    refused("short device", 0, "SP_Device.struct_size is 8; at least 32", &one_device);
    let executor = "create_device 0\ncreate_device 1\ncreate_stream_executor\ndestroy_stream_executor\n\
        destroy_device 1, 0 bytes in use\ndestroy_device 0, 0 bytes in use\n";
    let log = format!("{executor}{PLATFORM_DESTROYED}");
    refused("executor ext", 0, "SP_StreamExecutor.ext is not null", &log);
    for size in [0, 8, 100] {
        refused("executor size", size, &format!("SP_StreamExecutor.struct_size is {size}; at least "), &log);
    }
    // Each function, by its position after the size and `ext`.
    let functions =
        tfrt_plugin::abi::STRUCTS.iter().find(|(name, ..)| *name == "SP_StreamExecutor").unwrap().1;
    let optional = [
        "unified_memory_allocate",
        "unified_memory_deallocate",
        "get_allocator_stats",
        "device_memory_usage",
        "block_host_until_done",
    ];
    for (index, (name, ..)) in functions[2..].iter().enumerate() {
        if !optional.contains(name) {
            refused("missing", index as i32, &format!("SP_StreamExecutor.{name} is missing"), &log);
        }
    }
}

#[test]
fn optional_functions_may_be_missing() {
    for index in 4..8 {
        Bench::new("missing", index).works();
    }
    // Without block_host_until_done, an event is recorded and waited for.
    Bench::new("missing", 28).works();
    let bench = Bench::new("missing", 7);
    says(bench.context.memory_info(), &["sample platform", "does not report its memory"]);
}

#[test]
fn a_flag_behind_the_count_says_whether_there_is_unified_memory() {
    let allocate = |fault: &str, number: i32| {
        let context = Hostile::new(fault, number).load().unwrap().backend().create_context(0).unwrap();
        context.allocate_managed(1000).map(|memory| context.free(memory.address).unwrap())
    };
    allocate("unified flag", 1).unwrap();
    for (fault, number) in [("unified flag", 0), ("", 0)] {
        says(allocate(fault, number), &["the device has no unified memory"]);
    }
}

#[test]
fn older_and_newer_plugins_work() {
    for fault in ["newer", "older", "much older"] {
        let bench = Bench::new(fault, 0);
        bench.works();
        // The bytes that a newer platform has after the count are not flags.
        says(bench.context.allocate_managed(1000).map(drop), &["the device has no unified memory"]);
        let event = bench.event(false).unwrap();
        event.record(&bench.stream).unwrap();
        event.synchronize().unwrap();
        drop(event);
        let called = bench.stream.host_callback(|| ());
        if fault == "newer" {
            called.unwrap();
            bench.stream.synchronize().unwrap();
        } else {
            says(called, &["CUDA_ERROR_NOT_SUPPORTED", "it was built without host_callback"]);
        }
        assert_eq!(bench.end(), format!("{ALL_CREATED}{ALL_DESTROYED}"), "{fault}");
    }
}

/// Checks that the call fails with its name in the error, and that the device still works.
#[track_caller]
fn fails(call: &str, what: impl FnOnce(&Bench) -> Result<(), String>) {
    let bench = Bench::new("", 0);
    // SAFETY: the function of the plug-in has this type.
    let choose = |fault: &str| unsafe {
        let library = &bench.hostile.library;
        library.get::<unsafe extern "C" fn(*const c_char, c_int)>(b"hostile_choose\0").unwrap()(
            CString::new(fault).unwrap().as_ptr(),
            0,
        );
    };
    choose(call);
    let message = what(&bench).unwrap_err();
    let expected = format!("{call}: made to fail [why: the test wants it] (TF_INTERNAL)");
    assert!(message.contains(&expected) && message.contains("plug-in 'sample platform'"), "{message}");
    choose("");
    bench.works();
    assert_eq!(bench.end(), format!("{ALL_CREATED}{ALL_DESTROYED}"), "{call}");
}

#[test]
fn failing_calls_are_named() {
    let text = |error: DeviceError| error.to_string();
    fails("create_stream", |bench| {
        bench.context.create_stream(StreamOptions::default()).map(drop).map_err(text)
    });
    fails("create_event", |bench| bench.event(false).map(drop).map_err(text));
    fails("get_stream_status", |bench| bench.stream.query().map(drop).map_err(text));
    fails("record_event", |bench| bench.event(false).unwrap().record(&bench.stream).map_err(text));
    fails("block_host_until_done", |bench| bench.stream.synchronize().map_err(text));
    for call in ["memcpy_htod", "memcpy_dtoh", "memcpy_dtod"] {
        fails(call, |bench| bench.round_trip().map(drop).map_err(|error| error.message));
    }
    for call in ["wait_for_event", "block_host_for_event"] {
        fails(call, |bench| {
            let event = bench.event(false).unwrap();
            event.record(&bench.stream).unwrap();
            if call == "wait_for_event" { bench.stream.wait(&event) } else { event.synchronize() }
                .map_err(text)
        });
    }
    for call in ["create_timer", "start_timer", "stop_timer"] {
        fails(call, |bench| {
            bench.event(true).unwrap().record(&bench.stream).map_err(text)?;
            bench.event(true).unwrap().record(&bench.stream).map_err(text)
        });
    }
    // At the end, no caller can receive the error.
    let bench = Bench::new("synchronize_all_activity", 0);
    bench.works();
    assert_eq!(bench.end(), format!("{ALL_CREATED}{ALL_DESTROYED}"));
}

#[test]
fn memory_that_cannot_be_is_refused() {
    let ask = |bench: &Bench, bytes: i64| {
        let allocator = bench.context.create_allocator(Options::default());
        allocator.allocate(&bench.stream, bytes, "test").map(drop)
    };
    let bench = Bench::new("no memory", 0);
    let error = ask(&bench, 100).unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory);
    let all = format!("{error:?}");
    assert!(
        all.contains("plug-in 'sample platform'") && all.contains("allocate returned no memory for"),
        "{all}"
    );
    for (fault, message) in
        [("smaller", "allocate returned"), ("beyond all addresses", "exceed the address space")]
    {
        let bench = Bench::new(fault, 0);
        says(ask(&bench, 100), &["plug-in 'sample platform'", message]);
        assert_eq!(
            bench.end(),
            format!("{ALL_CREATED}{ALL_DESTROYED}").replace(
                "destroy_device 0, 0 bytes",
                if fault == "smaller" {
                    "destroy_device 0, 0 bytes"
                } else {
                    "destroy_device 0, 2097152 bytes"
                },
            )
        );
    }
    let hostile = Hostile::new("unified beyond all addresses", 0);
    let context = hostile.load().unwrap().backend().create_context(0).unwrap();
    says(
        context.allocate_managed(1000),
        &["unified_memory_allocate returned 1000 bytes", "exceed the address space"],
    );
    assert_eq!(hostile.allocations(), 0, "it is given back");
    let bench = Bench::new("twice", 0);
    let allocators = [0, 1].map(|_| bench.context.create_allocator(Options::default()));
    let _first = allocators[0].allocate(&bench.stream, 100, "test").unwrap();
    says(allocators[1].allocate(&bench.stream, 100, "test"), &["where 2097152 bytes at ", "are in use"]);
    for size in [0, 24, 31] {
        let bench = Bench::new("memory size", size);
        let message =
            format!("allocate returned an SP_DeviceMemoryBase of {size} bytes, but at least 32 are needed");
        says(ask(&bench, 100), &["plug-in 'sample platform'", &message]);
        assert_eq!(bench.end(), format!("{ALL_CREATED}deallocate\n{ALL_DESTROYED}"), "it is given back");
    }
    for (fault, number) in [("misaligned", 0), ("odd host memory", 0), ("described", 0), ("described", 1)] {
        let bench = Bench::new(fault, number);
        bench.works();
        assert_eq!(bench.end(), format!("{ALL_CREATED}{ALL_DESTROYED}"), "{fault}");
    }
}

#[test]
fn handles_and_states_that_are_none_are_refused() {
    let hostile = Hostile::new("null stream", 0);
    let platform = Platform::new(hostile.load().unwrap().backend());
    let context = platform.device(1).unwrap().create_context().unwrap();
    says(context.create_stream(StreamOptions::default()), &["create_stream returned no stream"]);
    let bench = Bench::new("null event", 0);
    says(bench.event(false), &["create_event returned no event"]);
    for state in [0, 1, 77, -1] {
        let bench = Bench::new("event status", state);
        let event = bench.event(false).unwrap();
        event.record(&bench.stream).unwrap();
        says(event.query(), &[&format!("get_event_status returned {state}")]);
        assert!(event.synchronize().is_err());
    }
}

#[test]
fn callbacks_are_called_once_and_in_time() {
    let counted = |fault: &str| {
        let bench = Bench::new(fault, 0);
        let (sender, calls) = mpsc::channel();
        let queued = bench.stream.host_callback(move || _ = sender.send(()));
        bench.stream.synchronize().unwrap();
        (bench, calls, queued)
    };
    let (bench, calls, queued) = counted("callback twice");
    queued.unwrap();
    bench.hostile.call_again();
    assert_eq!(calls.iter().count(), 1);
    let (bench, calls, queued) = counted("callback refused");
    says(queued, &["host_callback refused the callback"]);
    bench.hostile.call_again();
    assert_eq!(calls.iter().count(), 0);
    let (_bench, calls, queued) = counted("callback called and refused");
    says(queued, &["host_callback refused the callback"]);
    assert_eq!(calls.iter().count(), 1);
    // From another thread, and once more without a status.
    let (_bench, calls, queued) = counted("callback from another thread");
    queued.unwrap();
    assert_eq!(calls.iter().count(), 1);
    // A callback that never came is dropped with the device. Calling it after that has no effect.
    let (bench, calls, queued) = counted("callback never called");
    queued.unwrap();
    assert!(calls.try_recv().is_err());
    drop((bench.stream, bench.context, bench.platform));
    bench.hostile.call_again();
    assert_eq!(calls.iter().count(), 0);
    // A callback that panics fails the stream.
    let bench = Bench::new("", 0);
    bench.stream.host_callback(|| std::panic::resume_unwind(Box::new(()))).unwrap();
    says(bench.stream.synchronize(), &["work on the stream failed", "(TF_INTERNAL)"]);
}

#[test]
fn statuses_kept_or_deleted_do_no_harm() {
    for fault in ["status kept", "status deleted"] {
        let bench = Bench::new(fault, 0);
        for _ in 0..3 {
            bench.works();
        }
        let other = Bench::new("", 0);
        other.works();
    }
}

#[test]
fn allocators_take_the_place_of_the_executors() {
    let bench = Bench::new("allocator", 0);
    bench.works();
    assert_eq!(bench.hostile.allocations(), 0, "the caching allocator is gone");
    let allocator = bench.context.create_allocator(Options::default());
    drop(allocator.allocate(&bench.stream, 100, "test").unwrap());
    assert_eq!(bench.hostile.allocations(), 1, "what is free is kept");
    drop(allocator);
    let log = bench.end();
    let created = format!("{ALL_CREATED}create_allocator\ndestroy_allocator\n");
    assert_eq!(log, format!("{created}{ALL_DESTROYED}"));

    let bench = Bench::new("custom allocator", 0);
    bench.works();
    let allocator = bench.context.create_allocator(Options::default());
    let buffers: Vec<_> = (0..4).map(|_| allocator.allocate(&bench.stream, 1000, "test").unwrap()).collect();
    assert_eq!(bench.hostile.allocations(), 4, "each is the plug-in's own");
    assert_eq!(allocator.statistics().bytes_reserved, 4 * 1024);
    drop(buffers);
    bench.stream.synchronize().unwrap();
    let last = allocator.allocate(&bench.stream, 2000, "test").unwrap();
    bench.platform.finish_teardown();
    assert_eq!(bench.hostile.allocations(), 1, "what nobody uses is given back");
    drop(last);
    let info = bench.context.memory_info().unwrap();
    assert_eq!(info.total, 256 << 20, "the counts say it where the usage does not");
    drop(allocator);
    let created = format!("{ALL_CREATED}create_custom_allocator\ndestroy_custom_allocator\n");
    assert_eq!(bench.end(), format!("{created}{ALL_DESTROYED}"));
}

#[test]
fn the_registry_knows_types_once() {
    let mut registry = PluginRegistry::new();
    let sample = Hostile::new("", 0);
    assert_eq!(registry.load(&sample.path).unwrap().device_type(), "SAMPLE");
    registry.load(&sample.path).unwrap();
    assert_eq!(registry.plugins().count(), 1);
    says(registry.load(&Hostile::new("", 0).path), &["the device type 'SAMPLE' is taken"]);
    says(registry.load(&Hostile::new("reserved type", 0).path), &["the device type 'cpu' is taken"]);
    let platform = |name: &str| {
        let (backend, only) = registry.find(name).unwrap();
        Platform::with_options(backend, &PlatformOptions { only, ..PlatformOptions::default() })
    };
    assert_eq!(platform("SAMPLE").unwrap().device_count(), 2);
    assert_eq!(platform("SAMPLE:1").unwrap().device_count(), 1);
    says(platform("SAMPLE:2"), &["there is no SAMPLE device 2; the number of devices is 2"]);
    says(
        registry.find("OTHER:0").map(|_| ()),
        &["there is no device 'OTHER:0'; the plug-ins provide SAMPLE"],
    );
}

#[test]
fn files_that_are_no_plugins() {
    let dir = support::scratch("no-plugins");
    let text = dir.join("text.so");
    std::fs::write(&text, "not a library\n".repeat(100)).unwrap();
    says(Plugin::load(&text), &["text.so", "invalid ELF header"]);
    let (source, empty) = (dir.join("empty.c"), dir.join("empty.so"));
    std::fs::write(&source, "int nothing;\n").unwrap();
    support::plugin(&source, &empty, &[]);
    says(Plugin::load(&empty), &["empty.so", "exports no function SE_InitPlugin"]);
    says(Plugin::load("/nowhere.so"), &["/nowhere.so", "No such file"]);
}
