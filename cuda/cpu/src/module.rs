//! Modules of the CPU devices: PTX, executed by `tfrt-ptx`.

#![expect(unsafe_code, reason = "launching is unsafe: drivers cannot check parameters")]

use std::ops::Range;
use std::sync::Arc;

use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Dim3, FunctionAttributes, LaunchConfig, Modules, PackedParameters, ParameterInfo};
use tfrt_device::observer::{Access, AccessKind, Handover};
use tfrt_device::trace::WorkSize;
use tfrt_ptx::{Dim3 as PtxDim3, Fault, FaultKind, Launch, ParallelFor, TouchKind, Touched};

use super::Shared;
use super::access::Manner;
use super::context::CpuContext;
use super::operation::{Operation, Run};
use super::pool::Pool;
use super::stream::Stream;

impl ParallelFor for Pool {
    fn parallelism(&self) -> usize {
        self.threads()
    }

    fn run(&self, tasks: usize, body: &(dyn Fn(usize) + Sync)) {
        self.parallel_for(tasks, 1, &|range: Range<usize>| range.for_each(body));
    }
}

/// The prefix of the names of launches in reports.
pub(super) const LAUNCH: &str = "launch of ";

/// A loaded module.
pub(crate) struct Module(Arc<Loaded>);

/// A module whose variables are part of device memory.
struct Loaded {
    module: tfrt_ptx::Module,
    shared: Arc<Shared>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.module.detach(&self.shared.space.memory);
    }
}

/// A function of a module, which it keeps loaded.
pub(crate) struct Function {
    function: tfrt_ptx::Function,
    module: Arc<Loaded>,
}

/// Returns the driver's status for a fault.
fn status(kind: &FaultKind) -> Status {
    match kind {
        FaultKind::OutOfBounds | FaultKind::UseAfterFree | FaultKind::WrongSpace => Status::IllegalAddress,
        FaultKind::Misaligned => Status::MisalignedAddress,
        FaultKind::Assert { .. } => Status::Assert,
        FaultKind::Race => Status::Race,
        FaultKind::Uninitialized => Status::Uninitialized,
        FaultKind::Cancelled | FaultKind::DeadlineExceeded | FaultKind::InstructionLimit => {
            Status::LaunchTimeout
        }
        FaultKind::OutOfMemory => Status::OutOfMemory,
        _ => Status::LaunchFailed,
    }
}

fn device_error(fault: &Fault) -> DeviceError {
    DeviceError::new(status(&fault.kind), fault.to_string())
}

/// Converts what a launch did with memory to an access for the checker.
fn access(&Touched { address, bytes, kind }: &Touched) -> Access {
    let kind = match kind {
        TouchKind::Read => AccessKind::Read,
        TouchKind::Written => AccessKind::Write,
        TouchKind::Atomic => AccessKind::Atomic,
        TouchKind::Polled => AccessKind::Poll,
    };
    Access { address, bytes, kind }
}

fn extents(extent: Dim3) -> PtxDim3 {
    PtxDim3::new(extent.x, extent.y, extent.z)
}

/// Returns the text of an image, up to a final zero.
fn text(image: &[u8]) -> Result<&str> {
    /// The first bytes of a cubin, which is text up to the first zero.
    const ELF: &[u8] = b"\x7fELF";
    let end = image.iter().position(|&byte| byte == 0).unwrap_or(image.len());
    let text = (!image.starts_with(ELF)).then(|| std::str::from_utf8(&image[..end]).ok()).flatten();
    text.ok_or_else(|| {
        DeviceError::new(Status::NoBinaryForGpu, "the CPU device runs PTX, and the image is a binary")
    })
}

impl Modules for CpuContext {
    fn load_module(&self, image: &[u8]) -> Result<Module> {
        self.device.check()?;
        let module = tfrt_ptx::Module::parse(text(image)?)
            .map_err(|errors| DeviceError::new(Status::InvalidPtx, errors.to_string()))?;
        let shared = self.device.shared.clone();
        module.attach(&shared.space.memory);
        Ok(Module(Arc::new(Loaded { module, shared })))
    }

    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>> {
        match &self.device.shared.compiler {
            Some(compile) => compile(source, options),
            None => {
                let detail = "this CPU device was made without a compiler for CUDA C++";
                Err(DeviceError::new(Status::NvrtcNotFound, detail))
            }
        }
    }

    fn function(&self, module: &Module, name: &str) -> Result<Function> {
        let function = module.0.module.function(name);
        let function = function.map_err(|unknown| DeviceError::new(Status::NotFound, unknown.to_string()))?;
        Ok(Function { function, module: module.0.clone() })
    }

    fn global(&self, module: &Module, name: &str) -> Result<(u64, u64)> {
        let global = module.0.module.global(name);
        let global = global.ok_or_else(|| {
            DeviceError::new(Status::NotFound, format!("the module has no variable {name}"))
        })?;
        Ok((global.address, global.bytes))
    }

    fn function_attributes(&self, function: &Function) -> Result<FunctionAttributes> {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let parameters = function.function.parameters().iter();
        let parameters =
            parameters.map(|p| ParameterInfo { offset: narrow(p.offset), size: narrow(p.bytes) }).collect();
        Ok(FunctionAttributes {
            parameters: Some(parameters),
            threads_per_block_max: function.function.max_threads(),
            shared_memory_bytes: function.function.shared_bytes(),
            local_memory_bytes: function.function.local_bytes(),
            constant_memory_bytes: 0,
            registers: function.function.registers(),
        })
    }

    fn occupancy(&self, _function: &Function, threads: u32, _shared: u32) -> Result<u32> {
        // Each host thread runs one block at a time.
        Ok(u32::from(threads > 0))
    }

    unsafe fn launch(
        &self,
        stream: &Stream,
        function: &Function,
        config: &LaunchConfig,
        parameters: PackedParameters<'_>,
    ) -> Result<()> {
        let (function, module, config) = (function.function.clone(), function.module.clone(), *config);
        let places = function.parameters().iter().map(|parameter| parameter.offset);
        if !places.eq(parameters.offsets.iter().copied().map(u64::from)) {
            return Err(Status::InvalidValue.into());
        }
        let params: Box<[u8]> = parameters.bytes.into();
        let device = stream.core.device.clone();
        let buffers = parameters.buffers.iter();
        let accesses: Vec<_> = buffers
            .map(|buffer| Access { address: buffer.address, bytes: buffer.bytes, kind: AccessKind::Launch })
            .collect();
        let name = format!("{LAUNCH}{}", function.name());
        let body = move |run: &mut Run<'_>| {
            // Memory that is freed during the launch stays valid until it ends, and so do its
            // module's variables.
            let (memory, _module) = (&run.shared.space.memory, &module);
            let launch = Launch::new(&function)
                .grid(extents(config.grid))
                .block(extents(config.block))
                .shared(config.shared_memory_bytes.into())
                .cooperative(config.cooperative)
                .footprint(run.shared.observer.is_some())
                .cancel(device.failed())
                .parallel(&run.shared.pool);
            let launch = match &run.shared.printer {
                Some(printer) => launch.printf(&**printer),
                None => launch,
            };
            let report = match launch.run_packed(&params, memory) {
                Ok(report) => report,
                Err(fault) => {
                    // The fault may be the consequence of a race.
                    run.observed.extend(fault.touched.iter().map(access));
                    return Err(device_error(&fault));
                }
            };
            run.observed.extend(report.touched.iter().map(access));
            run.handover = report.handover.as_ref().map(|handover| {
                let tfrt_ptx::Handover { kept, early, told, heard } = handover.clone();
                Handover { kept, early, told, heard }
            });
            run.report = Some(report);
            Ok(())
        };
        let size = WorkSize::from(&config);
        stream.core.submit(Operation::of_manner(Manner::Anywhere, name, size, accesses, body))
    }
}
