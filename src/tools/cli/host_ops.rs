//! The ops of a program that run in host memory although it runs on a device.

use std::collections::BTreeMap;

use tfrt_convert::bef_to_mlir;
use tfrt_device::Devices;
use tfrt_eager::OpRegistry;
use tfrt_host::Diagnostic;
use tfrt_ir::{Attribute, Location};

use super::{Failure, report::visible};
use crate::{Console, Errors, Runtime};

/// Names each op of the program that has no form for devices, if the program runs on a device. The
/// attributes of `corert.executeop` name the ops.
pub(super) fn report(bef: &[u8], runtime: &Runtime, console: &mut Console) -> Result<(), Failure> {
    if Devices::of(runtime.host()).chosen_device().map_err(Diagnostic::from)?.is_none() {
        return Ok(());
    }
    let ops = crate::operations(runtime.registry())?;
    let module = bef_to_mlir(bef.to_vec(), &ops, &Location::Unknown).map_err(Errors::from)?.module;
    let mut registry = OpRegistry::new();
    tfrt_eager::ops::register(&mut registry);
    let on_devices: BTreeMap<&str, bool> =
        registry.ops().map(|op| (op.name(), op.runs_on_devices())).collect();
    // The number of calls of each op, and where the first one comes from.
    let mut found: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for id in module.walk(module.root()) {
        let op = module.op(id);
        let Some(name) = op.attr("op_name").and_then(Attribute::as_str) else { continue };
        if on_devices.get(name) == Some(&false) {
            let place =
                || op.location.file_position().map_or_else(String::new, |(file, ..)| file.to_string());
            found.entry(name).or_insert_with(|| (0, place())).0 += 1;
        }
    }
    for (name, (count, place)) in found {
        let text =
            format!("{name} has no form for devices and runs in host memory: {count} calls, first {place}");
        console.complain(visible(&text));
    }
    Ok(())
}
