//! Devices and contexts.

use tfrt_device::front::{Context, Device};
use tfrt_host::{Arg, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry};

use crate::platform;

fn init(_chain: Chain, cx: &ExecutionContext) -> Result<Chain, Diagnostic> {
    platform(cx).map(|_| Chain)
}

fn count(_chain: Chain, cx: &ExecutionContext) -> Result<(i32, Chain), Diagnostic> {
    let count = platform(cx)?.device_count();
    Ok((i32::try_from(count).unwrap_or(i32::MAX), Chain))
}

fn get(index: i32, _chain: Chain, cx: &ExecutionContext) -> Result<(Device, Chain), Diagnostic> {
    Ok((platform(cx)?.device(i64::from(index))?, Chain))
}

/// The numbers a program may ask for, by the names that the driver gives them.
fn attribute(device: Arg<Device>, _chain: Chain, name: Attr<str>) -> Result<(i64, Chain), Diagnostic> {
    let p = device.properties();
    let value = match name.0 {
        "compute_capability_major" => p.compute_capability.0.into(),
        "compute_capability_minor" => p.compute_capability.1.into(),
        "multiprocessor_count" => p.multiprocessors.into(),
        "warp_size" => p.warp_size.into(),
        "max_threads_per_block" => p.threads_per_block_max.into(),
        "max_threads_per_multiprocessor" => p.threads_per_multiprocessor_max.into(),
        "max_shared_memory_per_block" => p.shared_memory_per_block.into(),
        "max_shared_memory_per_block_optin" => p.shared_memory_per_block_max.into(),
        "max_registers_per_multiprocessor" => p.registers_per_multiprocessor.into(),
        "total_memory" => i64::try_from(p.memory_bytes).unwrap_or(i64::MAX),
        "l2_cache_size" => i64::try_from(p.l2_cache_bytes).unwrap_or(i64::MAX),
        "cooperative_launch" => (p.cooperative_blocks_max > 0).into(),
        other => {
            return Err(Diagnostic::invalid_argument(format!("a device has no attribute '{other}'")));
        }
    };
    Ok((value, Chain))
}

fn primary(device: Arg<Device>, _chain: Chain) -> Result<(Context, Chain), Diagnostic> {
    Ok((device.primary_context()?, Chain))
}

fn create(device: Arg<Device>, _chain: Chain) -> Result<(Context, Chain), Diagnostic> {
    Ok((device.create_context()?, Chain))
}

fn device_name(context: Arg<Context>, _chain: Chain) -> (String, Chain) {
    (context.device().properties().name.clone(), Chain)
}

fn memory_info(context: Arg<Context>, _chain: Chain) -> Result<(i64, i64, Chain), Diagnostic> {
    let info = context.memory_info()?;
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    Ok((signed(info.free), signed(info.total), Chain))
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.init", init)
        .side_effecting()
        .blocking()
        .doc("Looks for devices. An error says why those asked for are not there.");
    registry.add("tfrt_cuda.device.count", count).side_effecting().doc("How many devices there are.");
    registry.add("tfrt_cuda.device.get", get).side_effecting().doc("The device of this number.");
    registry
        .add("tfrt_cuda.device.attribute", attribute)
        .attributes(&["name"])
        .side_effecting()
        .doc("A number that describes a device: 'warp_size', 'max_threads_per_block', 'total_memory', ….");
    registry
        .add("tfrt_cuda.context.primary", primary)
        .side_effecting()
        .blocking()
        .doc("The context of a device that all share; a new one if the last has failed.");
    registry
        .add("tfrt_cuda.context.create", create)
        .side_effecting()
        .blocking()
        .doc("A context of its own on a device.");
    registry
        .add("tfrt_cuda.context.device_name", device_name)
        .side_effecting()
        .doc("What the device of a context is called.");
    registry
        .add("tfrt_cuda.context.memory_info", memory_info)
        .side_effecting()
        .doc("Bytes of device memory that are free, and in all.");
    registry
        .add("tfrt_cuda_test.context.get", primary)
        .side_effecting()
        .blocking()
        .doc("The context of a device that all share; a new one if the last has failed.");
}
