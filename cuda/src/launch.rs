//! Launches.

use half::{bf16, f16};
use smallvec::SmallVec;
use tfrt_device::front::{Argument, Context, DeviceBuffer, Function, Stream};
use tfrt_device::hal::{Dim3, LaunchConfig};
use tfrt_host::{Arg, AsyncValue, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, Rest};
use tfrt_launch::strided_launch;
use tfrt_tensor::{Accessor, HostTensor};

use crate::{from, module};

/// Arguments of a launch that need no allocation.
const INLINE_ARGUMENTS: usize = 16;

/// Returns a value of the program as an argument, or `None` for a host tensor, which must be read
/// first.
fn argument(index: usize, value: &AsyncValue) -> Result<Option<Argument<'_>>, Diagnostic> {
    macro_rules! scalars {
        ($($type:ty),*) => {
            $(if let Some(&value) = value.get::<$type>() {
                return Ok(Some(Argument::from(value)));
            })*
        };
    }
    if let Some(buffer) = value.get::<DeviceBuffer>() {
        return Ok(Some(Argument::from(buffer)));
    }
    scalars!(i32, f32, i64, u32, u64, f64, i8, i16, u8, u16, f16, bf16, bool);
    if value.get::<HostTensor>().is_some() {
        return Ok(None);
    }
    Err(Diagnostic::invalid_argument(format!(
        "Unsupported argument type provided to tfrt_cuda.launch: argument {index} is a {}",
        value.type_name()
    )))
}

fn run(
    stream: &Stream,
    function: &Function,
    config: LaunchConfig,
    values: &Rest<AsyncValue>,
) -> Result<Chain, Diagnostic> {
    let mut arguments = SmallVec::<[Argument<'_>; INLINE_ARGUMENTS]>::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        match argument(index, value?)? {
            Some(argument) => arguments.push(argument),
            None => return run_with_structs(stream, function, config, values),
        }
    }
    stream.launch(function, &config, &arguments)?;
    Ok(Chain)
}

/// Does the same as [`run`] where some arguments are host tensors, whose bytes the function takes by
/// value.
#[cold]
fn run_with_structs(
    stream: &Stream,
    function: &Function,
    config: LaunchConfig,
    values: &Rest<AsyncValue>,
) -> Result<Chain, Diagnostic> {
    static STRUCT: Accessor = Accessor::new("tfrt_cuda.function.launch");
    let mut structs = Vec::with_capacity(values.len());
    for value in values.iter() {
        let tensor = value?.get::<HostTensor>();
        structs.push(tensor.map(|tensor| tensor.dense()?.read_bytes(&STRUCT)).transpose()?);
    }
    let mut arguments = Vec::with_capacity(values.len());
    for (index, (value, bytes)) in values.iter().zip(&structs).enumerate() {
        arguments.extend(match bytes {
            Some(bytes) => Some(Argument::Struct(bytes)),
            None => argument(index, value?)?,
        });
    }
    stream.launch(function, &config, &arguments)?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn launch(
    _chain: Chain,
    context: Arg<Context>,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_memory_bytes: u32,
    stream: Arg<Stream>,
    values: Rest<AsyncValue>,
    handle: Attr<u64>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    context.check_stream(&stream)?;
    let table = module::table(cx)?;
    let functions = table.functions_of(context.device().ordinal())?;
    let function = usize::try_from(handle.0).ok().and_then(|handle| functions.get(handle));
    let function = function.ok_or_else(|| {
        Diagnostic::invalid_argument(format!(
            "function handle {} is not one of the {} that were loaded",
            handle.0,
            functions.len()
        ))
    })?;
    let config = LaunchConfig {
        grid: Dim3::new(grid_x, grid_y, grid_z),
        block: Dim3::new(block_x, block_y, block_z),
        shared_memory_bytes,
        cooperative: false,
    };
    from(cx, &context, || run(&stream, function, config, &values))
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn launch_function(
    function: Arg<Function>,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_memory_bytes: u32,
    stream: Arg<Stream>,
    _chain: Chain,
    values: Rest<AsyncValue>,
    cooperative: Attr<bool>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let config = LaunchConfig {
        grid: Dim3::new(grid_x, grid_y, grid_z),
        block: Dim3::new(block_x, block_y, block_z),
        shared_memory_bytes,
        cooperative: cooperative.0,
    };
    from(cx, stream.context(), || run(&stream, &function, config, &values))
}

fn launch_strided(
    function: Arg<Function>,
    threads: u32,
    stream: Arg<Stream>,
    _chain: Chain,
    values: Rest<AsyncValue>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let config = strided_launch(stream.context().device().properties(), threads.into());
    from(cx, stream.context(), || run(&stream, &function, config, &values))
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.launch", launch)
        .attributes(&["function_handle"])
        .side_effecting()
        .assembly(
            "$arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 attr-dict \
             (`(` $args^ `)` `:` `(` type($args) `)`)?",
        )
        .doc(
            "Launches a function of 'module.load_static' on a stream: context, grid, block, shared memory, stream, \
             then the function's own arguments. Returns at once.",
        );
    registry
        .add("tfrt_cuda.function.launch", launch_function)
        .attributes(&["cooperative"])
        .side_effecting()
        .assembly(
            "$arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 attr-dict \
             (`(` $args^ `)` `:` `(` type($args) `)`)?",
        )
        .doc(
            "Launches a function: grid, block, shared memory, stream, chain, then the function's own arguments: \
             buffers by address, numbers by value, and host tensors as the bytes of a struct by value.",
        );
    registry
        .add("tfrt_cuda.function.launch_strided", launch_strided)
        .side_effecting()
        .assembly("$arg0 $arg1 $arg2 $arg3 attr-dict (`(` $args^ `)` `:` `(` type($args) `)`)?")
        .doc(
            "Launches a function whose loop strides over the grid, so that any number of blocks computes the same: \
             threads that have something to do, stream, chain, then the function's own arguments. The device's size \
             says how many blocks there are.",
        );
}
