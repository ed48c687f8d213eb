//! Tests the stream executors that cores of each layout receive. TensorFlow's first releases have
//! the platform of the later ones and the stream executor of the RFC, which has no function that
//! fills memory, so that all members after it are at other offsets.
#![expect(unsafe_code, reason = "the plug-in is called as a core calls it")]

use std::ptr::null_mut;

use tfrt_plugin::Plugin;
use tfrt_plugin::abi::{
    SE_CreateStreamExecutorParams, SE_MAJOR, SE_PlatformRegistrationParams, SP_Platform, SP_PlatformFns,
    SP_StreamExecutor, Zeroed, released, sizes,
};

/// A struct, followed by memory that must not be changed.
#[repr(C)]
struct WithRoom<T>(T, [usize; 8]);

/// Registers a core with this platform and these functions, whose sizes are set, and makes it
/// create a stream executor.
macro_rules! given {
    ($platform:ty, $size:expr, $fns:ty, $executor:ty) => {{
        let (mut platform, mut fns) = (<$platform>::zeroed(), <$fns>::zeroed());
        (platform.struct_size, fns.struct_size) = ($size, size_of::<$fns>());
        let mut params = SE_PlatformRegistrationParams::zeroed();
        (params.struct_size, params.major_version) = (size_of::<SE_PlatformRegistrationParams>(), SE_MAJOR);
        (params.platform, params.platform_fns) = ((&raw mut platform).cast(), (&raw mut fns).cast());
        let mut executor = WithRoom(<$executor>::zeroed(), [0; 8]);
        executor.0.struct_size = size_of::<$executor>();
        let mut create = SE_CreateStreamExecutorParams::zeroed();
        create.struct_size = size_of::<SE_CreateStreamExecutorParams>();
        create.stream_executor = (&raw mut executor).cast();
        // SAFETY: the structs are those of the API, each as long as it says. Our `TF_SetStatus`
        // accepts a null status.
        unsafe {
            tfrt_cpu_plugin::SE_InitPlugin(&raw mut params, null_mut());
            let call = fns.create_stream_executor.expect("a core that is registered");
            call((&raw const platform).cast(), &raw mut create, null_mut());
        }
        assert_eq!(executor.1, [0; 8]);
        executor.0
    }};
}

#[test]
fn cores_of_each_layout_are_given_the_stream_executor_that_they_have() {
    // Programs that load plug-ins define `TF_SetStatus`, without which nothing is registered.
    let library = std::env::current_exe().expect("a name").with_file_name("libtfrt_cpu_plugin.so");
    let _plugin = Plugin::load(&library).expect("our plug-in");

    let rfc = given!(SP_Platform, size_of::<SP_Platform>(), SP_PlatformFns, SP_StreamExecutor);
    let size = sizes::RELEASED_PLATFORM;
    let first = given!(released::SP_Platform, size, released::SP_PlatformFns, SP_StreamExecutor);
    let later = given!(released::SP_Platform, size, released::SP_PlatformFns, released::SP_StreamExecutor);

    let synchronize = rfc.synchronize_all_activity.expect("a function") as usize;
    let callback = rfc.host_callback.expect("a function") as usize;
    let is = |function: Option<usize>, expected: usize| assert_eq!(function, Some(expected));
    is(first.synchronize_all_activity.map(|function| function as usize), synchronize);
    is(first.host_callback.map(|function| function as usize), callback);
    is(later.synchronize_all_activity.map(|function| function as usize), synchronize);
    is(later.host_callback.map(|function| function as usize), callback);
    assert!(later.mem_zero.is_some() && later.memset.is_some() && later.memset32.is_some());
    let sizes = [rfc.struct_size, first.struct_size, later.struct_size];
    let (short, long) = (size_of::<SP_StreamExecutor>(), size_of::<released::SP_StreamExecutor>());
    assert_eq!(sizes, [short, short, long]);
}
