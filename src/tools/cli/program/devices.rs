//! The devices that a program sees, as the command line names them.

use std::{path::PathBuf, sync::Arc};

use tfrt_device::{checker::Checker, front::MemoryTimeline};
use tfrt_plugin::PluginRegistry;

use crate::{
    Choice, DeviceOptions,
    tools::{args::device_count, cli::Failure},
};

/// The devices, and the optional checker and recorder of their memory.
type WatchedDevices = (DeviceOptions, Option<Arc<Checker>>, Option<Arc<MemoryTimeline>>);

/// The devices that a program sees.
#[derive(clap::Args)]
pub(in crate::tools::cli) struct DeviceArgs {
    /// Run on DEVICE: auto, cpu, cuda or gpu, cuda:N or gpu:N, noop, or a plug-in's TYPE or TYPE:N
    ///
    /// auto selects CUDA devices if there are any, else CPU devices. The default is the first
    /// plug-in if one is loaded, else auto.
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Load a device plug-in (StreamExecutor C API) from a shared LIBRARY, whose code runs in this
    /// process
    #[arg(long = "plugin", value_name = "LIBRARY")]
    plugins: Vec<PathBuf>,
    /// Create N CPU devices
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = device_count)]
    cpu_devices: u32,
    /// Report missing chains, missing synchronization of devices, reads of uninitialized memory and
    /// leaks
    #[arg(long)]
    check: bool,
    /// Write a timeline of device memory to FILE, as an HTML page
    #[arg(long, value_name = "FILE")]
    pub(super) memory_timeline: Option<PathBuf>,
    /// Allocate memory of CUDA devices in contiguous segments instead of pages
    #[arg(long)]
    memory_in_segments: bool,
    /// Let CUDA devices round the operands of f32 products and convolutions to TF32, which is
    /// faster
    #[arg(long)]
    allow_tf32: bool,
    /// Choose the kernels of convolutions on CUDA devices by shape instead of by time, so that
    /// results have the same bits on every machine with this device
    #[arg(long)]
    deterministic: bool,
}

impl DeviceArgs {
    /// Returns the devices that the arguments ask for.
    pub(super) fn options(&self) -> Result<WatchedDevices, Failure> {
        let (mut options, checker) = self.checked()?;
        if self.memory_in_segments {
            options = options.with_memory_in_segments();
        }
        if self.allow_tf32 {
            options = options.with_tf32();
        }
        if self.deterministic {
            options = options.with_deterministic_kernels();
        }
        Ok(match self.memory_timeline.is_some().then(MemoryTimeline::new) {
            Some(timeline) => (options.recorded_by(timeline.clone()), checker, Some(timeline)),
            None => (options, checker, None),
        })
    }

    fn checked(&self) -> Result<(DeviceOptions, Option<Arc<Checker>>), Failure> {
        let mut options = self.chosen()?;
        if !self.check {
            return Ok((options, None));
        }
        // The checker observes memory on CPU devices alone.
        let refused = match &options.choice {
            Choice::Auto => {
                options.choice = Choice::Cpu;
                None
            }
            Choice::Cpu => None,
            Choice::Cuda(_) => Some("what a GPU does with its memory cannot be observed"),
            Choice::Noop => Some("noop devices do no work"),
            Choice::Backend(..) => Some("what a plug-in does with its memory cannot be observed"),
        };
        if let Some(why) = refused {
            return Err(Failure::Usage(format!("--check needs CPU devices: {why}")));
        }
        let checker = Checker::new();
        Ok((options.checked_by(checker.clone()), Some(checker)))
    }

    fn chosen(&self) -> Result<DeviceOptions, Failure> {
        let mut plugins = PluginRegistry::new();
        for library in &self.plugins {
            plugins.load(library)?;
        }
        match (self.device.as_deref(), plugins.plugins().next()) {
            (None, Some(first)) => Ok(DeviceOptions::new(Choice::Backend(first.backend(), None), 1)),
            (None, None) => Ok(DeviceOptions::new(Choice::Auto, self.cpu_devices)),
            (Some(name), first) => match name.parse() {
                Ok(choice) => Ok(DeviceOptions::new(choice, self.cpu_devices)),
                Err(why) if first.is_none() => Err(Failure::Usage(format!(
                    "invalid value for '--device <DEVICE>': {why}, and no plug-in is loaded"
                ))),
                Err(_) => {
                    let (backend, only) = plugins.find(name)?;
                    Ok(DeviceOptions::new(Choice::Backend(backend, only), 1))
                }
            },
        }
    }
}
