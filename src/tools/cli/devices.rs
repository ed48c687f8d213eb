//! `tfrt devices`: lists the devices, and the reason if there are no CUDA devices.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::json;
use tfrt_device::front::{Device, Platform};
use tfrt_host::Diagnostic;
use tfrt_plugin::PluginRegistry;

use super::{Failure, print_json, program::ClusterArgs};
use crate::{Choice, Console, DeviceOptions, Errors, Runtime, tools::args::device_count};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Create N CPU devices
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = device_count)]
    cpu_devices: u32,
    /// List the devices of a plug-in (StreamExecutor C API) as well, whose code runs in this
    /// process
    #[arg(long = "plugin", value_name = "LIBRARY")]
    plugins: Vec<PathBuf>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Print the devices as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs the command. It succeeds without CUDA devices.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    if args.cluster.cluster.is_some() {
        return list_cluster(args, console);
    }
    let find = |choice| DeviceOptions::new(choice, args.cpu_devices).open();
    let cuda = find(Choice::Cuda(None));
    let absence = cuda.as_ref().err().map(ToString::to_string);
    let mut devices = cuda.map_or_else(|_| Ok(Vec::new()), |platform| list(&platform))?;
    devices.extend(list(&find(Choice::Cpu).map_err(Diagnostic::from)?)?);
    let mut plugins = PluginRegistry::new();
    for library in &args.plugins {
        let backend = plugins.load(library)?.backend();
        devices.extend(list(&Platform::new(backend))?);
    }
    if args.json {
        let listed: Vec<_> = devices.iter().map(to_json).collect();
        print_json(console, &json!({ "devices": listed, "cuda_absent_because": absence }));
        return Ok(());
    }
    let mut text = String::new();
    for device in &devices {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", line(device));
    }
    if let Some(why) = absence {
        let _ = writeln!(text, "no CUDA devices: {why}");
    }
    console.print(text);
    Ok(())
}

/// Lists the devices of all tasks of a cluster.
fn list_cluster(args: &Args, console: &mut Console) -> Result<(), Failure> {
    let runtime = args.cluster.add_kernels(Runtime::builder())?.build()?;
    let Some(cluster) = args.cluster.connect(&runtime, false)? else { return Ok(()) };
    let devices = cluster.devices();
    let (_, errors) = cluster.close();
    if args.json {
        let listed: Vec<_> =
            devices.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
        print_json(console, &json!({ "devices": listed }));
    } else {
        console.print(devices.iter().map(|(name, kind)| format!("{name}  {kind}\n")).collect::<String>());
    }
    if errors.is_empty() { Ok(()) } else { Err(Errors(errors).into()) }
}

fn list(platform: &Platform) -> Result<Vec<Device>, Diagnostic> {
    (0..platform.device_count()).map(|ordinal| Ok(platform.device(ordinal.into())?)).collect()
}

fn line(device: &Device) -> String {
    let p = device.properties();
    if p.compute_capability == (0, 0) {
        let memory = match p.memory_bytes {
            0 => "unknown memory".to_owned(),
            bytes => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
        };
        return format!(
            "{}:{}  {}, {memory}, plug-in {}",
            device.backend(),
            device.ordinal(),
            p.name,
            p.driver
        );
    }
    let (major, minor) = p.compute_capability;
    format!(
        "{}:{}  {}, {:.1} GiB, compute capability {major}.{minor}, driver {}",
        device.backend(),
        device.ordinal(),
        p.name,
        p.memory_bytes as f64 / f64::from(1 << 30),
        p.driver
    )
}

fn to_json(device: &Device) -> serde_json::Value {
    let p = device.properties();
    json!({
        "backend": device.backend(),
        "ordinal": device.ordinal(),
        "name": p.name,
        "memory_bytes": p.memory_bytes,
        "compute_capability": [p.compute_capability.0, p.compute_capability.1],
        "driver": p.driver,
        "multiprocessors": p.multiprocessors,
        "bus_id": p.bus_id,
    })
}
