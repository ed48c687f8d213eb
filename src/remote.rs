//! [`RuntimeBackend`]: what runs the programs of other tasks, with a runtime for each context.

use std::{fmt, path::PathBuf, sync::Arc};

use bytes::Bytes;
use tempfile::TempDir;
use tfrt_compiler::CompileOptions;
use tfrt_distributed::{Backend, ContextHost, ContextOutput, DeviceInfo, Language, LoadedProgram};
use tfrt_host::{
    Diagnostic, ErrorCode, HostContext, ResourceContext,
    allocator::{HostAllocator, LimitedAllocator, RecyclingAllocator, SystemAllocator},
    work_queue::{self, ConcurrentWorkQueue},
};

use crate::{DeviceOptions, Errors, Model, Runtime};

/// Makes a runtime for each context. All share the threads.
pub struct RuntimeBackend {
    queue: Arc<dyn ConcurrentWorkQueue>,
    devices: DeviceOptions,
    folders: Vec<PathBuf>,
    /// Where op graphs are written for the compiler.
    scratch: Arc<TempDir>,
}

impl RuntimeBackend {
    /// Runs programs on this work queue and these devices. They may read the files of these
    /// folders.
    ///
    /// # Errors
    /// InvalidArgument if there is no such work queue, Io without a folder for temporary files.
    pub fn new(work_queue: &str, devices: DeviceOptions, folders: Vec<PathBuf>) -> Result<Self, Diagnostic> {
        let queue = work_queue::from_str(work_queue)
            .map_err(|error| Diagnostic::invalid_argument(format!("'{work_queue}': {error}")))?;
        let scratch = Arc::new(tempfile::tempdir()?);
        Ok(Self { queue, devices, folders, scratch })
    }
}

fn first(errors: Errors) -> Diagnostic {
    errors.0.into_iter().next().unwrap_or_else(|| Diagnostic::internal("the runtime cannot be made"))
}

impl Backend for RuntimeBackend {
    fn open(
        &self,
        output: ContextOutput,
        max_memory_bytes: usize,
    ) -> Result<Arc<dyn ContextHost>, Diagnostic> {
        let memory: Arc<dyn HostAllocator> = Arc::new(RecyclingAllocator::new(SystemAllocator));
        let runtime = Runtime::builder()
            .work_queue(self.queue.clone())
            .allocator(Arc::new(LimitedAllocator::new(memory, max_memory_bytes)))
            .output(output)
            .kernels(tfrt_distributed::register)
            .readable_folders(self.folders.clone())
            .devices(self.devices.clone())
            .build()
            .map_err(first)?;
        Ok(Arc::new(RuntimeHost { runtime, scratch: self.scratch.clone() }))
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        let mut devices = vec![DeviceInfo { name: "CPU:0".into(), kind: "CPU".to_owned() }];
        let gpus = match self.devices.open() {
            Ok(platform) if platform.backend() != "cpu" => platform.device_count(),
            _ => 0,
        };
        let gpu = |number| DeviceInfo { name: format!("GPU:{number}").into(), kind: "GPU".to_owned() };
        devices.extend((0..gpus).map(gpu));
        devices
    }
}

impl fmt::Debug for RuntimeBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBackend").field("devices", &self.devices).finish_non_exhaustive()
    }
}

struct RuntimeHost {
    runtime: Runtime,
    scratch: Arc<TempDir>,
}

impl ContextHost for RuntimeHost {
    fn host(&self) -> &Arc<HostContext> {
        self.runtime.host()
    }

    fn load(
        &self,
        name: &str,
        program: &Bytes,
        language: Language,
    ) -> Result<LoadedProgram, Vec<Diagnostic>> {
        match language {
            Language::Kernels => {
                let program = self.runtime.load(name, program.to_vec()).map_err(|errors| errors.0)?;
                Ok(LoadedProgram::new(name, program.file().clone()))
            }
            Language::Ops => self.compile(program).map_err(|errors| errors.0),
        }
    }

    fn offer(&self, _: &ResourceContext) {}
}

impl RuntimeHost {
    /// Compiles an op graph and prepares its constants.
    fn compile(&self, graph: &Bytes) -> Result<LoadedProgram, Errors> {
        let cannot_write = |error: std::io::Error| {
            let message = format!("the worker cannot keep the program for its compiler: {error}");
            Diagnostic::new(ErrorCode::Io, message)
        };
        let file = tempfile::Builder::new().suffix(".mlir").tempfile_in(self.scratch.path());
        let file = file.map_err(cannot_write)?;
        std::fs::write(file.path(), graph).map_err(cannot_write)?;
        let model = self.runtime.load_model(file.path(), &CompileOptions::default())?;
        Ok(loaded(&model))
    }
}

fn loaded(model: &Model) -> LoadedProgram {
    let outputs = model.outputs().len();
    LoadedProgram {
        file: model.program().file().clone(),
        function: "main".to_owned(),
        prepared: model.prepared().to_vec(),
        output_devices: vec!["CPU:0".to_owned(); outputs],
    }
}
