//! A runtime with everything a program needs, and the programs loaded into it.

use std::{
    fmt,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use tfrt_bef::{MAGIC, VerifiedBef};
use tfrt_host::{
    AsyncValue, BefFile, Diagnostic, ErrorCode, ExecutionContext, HostContext, KernelRegistry,
    MAX_PENDING_CALLS, RequestContext, ResourceContext,
    allocator::{HostAllocator, RecyclingAllocator, SystemAllocator},
    library::load_kernel_library,
    work_queue::{self, ConcurrentWorkQueue},
};

use crate::{Call, Errors, SharedWriter, files::read_program, register_kernels};

/// The default work queue.
const WORK_QUEUE: &str = "mstd";

type Registration = Box<dyn FnOnce(&mut KernelRegistry)>;
type Handler = Box<dyn Fn(&Diagnostic) + Send + Sync>;

/// Assembles a [`Runtime`].
#[must_use]
pub struct RuntimeBuilder {
    work_queue: Option<Arc<dyn ConcurrentWorkQueue>>,
    allocator: Arc<dyn HostAllocator>,
    output: Box<dyn Write + Send>,
    handler: Option<Handler>,
    registrations: Vec<Registration>,
    shared_libraries: Vec<PathBuf>,
    max_pending_calls: usize,
    readable_folders: Option<Vec<PathBuf>>,
    #[cfg(feature = "full")]
    devices: crate::DeviceOptions,
    #[cfg(feature = "full")]
    world: tfrt_collectives::WorldOptions,
}

impl Default for RuntimeBuilder {
    fn default() -> Self {
        Self {
            work_queue: None,
            allocator: Arc::new(RecyclingAllocator::new(SystemAllocator)),
            output: Box::new(std::io::stdout()),
            handler: None,
            registrations: vec![Box::new(register_kernels)],
            shared_libraries: Vec::new(),
            max_pending_calls: MAX_PENDING_CALLS,
            readable_folders: None,
            #[cfg(feature = "full")]
            devices: crate::DeviceOptions::default(),
            #[cfg(feature = "full")]
            world: tfrt_collectives::WorldOptions::default(),
        }
    }
}

impl RuntimeBuilder {
    /// Sets the work queue. The default runs one thread per core.
    pub fn work_queue(mut self, queue: Arc<dyn ConcurrentWorkQueue>) -> Self {
        self.work_queue = Some(queue);
        self
    }

    /// Sets the allocator of tensors and buffers. The default is a [`RecyclingAllocator`].
    pub fn allocator(mut self, allocator: Arc<dyn HostAllocator>) -> Self {
        self.allocator = allocator;
        self
    }

    /// Sets the destination of text that kernels print. The default is standard output.
    pub fn output(mut self, output: impl Write + Send + 'static) -> Self {
        self.output = Box::new(output);
        self
    }

    /// Sets a handler that is called with each error when a kernel fails, before the error becomes
    /// a value.
    pub fn diagnostics(mut self, handler: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        self.handler = Some(Box::new(handler));
        self
    }

    /// Adds kernels to those that come with the runtime.
    pub fn kernels(mut self, register: impl FnOnce(&mut KernelRegistry) + 'static) -> Self {
        self.registrations.push(Box::new(register));
        self
    }

    /// Removes the kernels that come with the runtime, and all kernels added so far.
    pub fn no_kernels(mut self) -> Self {
        self.registrations.clear();
        self
    }

    /// Adds the kernels of a shared library; see [`tfrt_host::library`]. Its code runs in this
    /// process.
    pub fn shared_library(mut self, path: impl Into<PathBuf>) -> Self {
        self.shared_libraries.push(path.into());
        self
    }

    /// Sets how many calls of functions a request may have pending at a time, [`MAX_PENDING_CALLS`]
    /// by default. A request that exceeds the bound is cancelled with
    /// [`ErrorCode::ResourceExhausted`].
    pub fn max_pending_calls(mut self, count: usize) -> Self {
        self.max_pending_calls = count;
        self
    }

    /// Lets programs read the files of these folders alone, of those that they name themselves. By
    /// default they may read all files.
    pub fn readable_folders(mut self, folders: Vec<PathBuf>) -> Self {
        self.readable_folders = Some(folders);
        self
    }

    /// Selects the devices that programs run on. The default is CUDA devices if there are any, else
    /// CPU devices. Text that kernels print on CPU devices goes to [`RuntimeBuilder::output`]
    /// unless the options name another destination.
    #[cfg(feature = "full")]
    pub fn devices(mut self, options: crate::DeviceOptions) -> Self {
        self.devices = options;
        self
    }

    /// Sets how this process finds the other ranks of its job. The default is to ask what launched
    /// it. Ranks are found when a program first asks for them.
    #[cfg(feature = "full")]
    pub fn world(mut self, options: tfrt_collectives::WorldOptions) -> Self {
        self.world = options;
        self
    }

    /// Builds the runtime.
    ///
    /// # Errors
    /// If the work queue cannot be created, a shared library cannot be loaded, or two kernels have
    /// the same name.
    pub fn build(self) -> Result<Runtime, Errors> {
        let work_queue = match self.work_queue {
            Some(queue) => queue,
            None => work_queue::from_str(WORK_QUEUE)
                .map_err(|error| Diagnostic::new(ErrorCode::ResourceExhausted, error.to_string()))?,
        };
        let output = SharedWriter::new(self.output);
        let mut host = HostContext::builder(work_queue, self.allocator)
            .output(output.clone())
            .max_pending_calls(self.max_pending_calls);
        if let Some(folders) = self.readable_folders {
            host = host.readable_folders(folders);
        }
        if let Some(handler) = self.handler {
            host = host.diagnostic_handler(handler);
        }
        let mut registry = KernelRegistry::new();
        for register in self.registrations {
            register(&mut registry);
        }
        for library in &self.shared_libraries {
            load_kernel_library(&mut registry, library)?;
        }
        registry.check()?;
        let host = host.build();
        #[cfg(feature = "full")]
        {
            // As for host kernels, the text of one call stays together, and errors of the output
            // are ignored.
            let print = move |text: &str| drop(output.clone().write_all(text.as_bytes()));
            let devices = self.devices.or_printing_to(print);
            tfrt_device::Devices::configure(&host, move || devices.open());
            let world = self.world;
            tfrt_collectives::context::HostDistribution::configure(&host, move || world.open());
        }
        Ok(Runtime { host, registry: Arc::new(registry) })
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder").finish_non_exhaustive()
    }
}

/// A host with its kernels, which loads and runs programs. Cloning a runtime shares it.
#[derive(Clone, Debug)]
pub struct Runtime {
    host: Arc<HostContext>,
    registry: Arc<KernelRegistry>,
}

impl Runtime {
    /// Creates a builder with the kernels that come with the runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Returns the host, which owns the work queue and the allocator.
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// Returns the kernels that programs may use.
    pub fn registry(&self) -> &KernelRegistry {
        &self.registry
    }

    /// Loads a program from a file with MLIR text or BEF, told apart by content.
    ///
    /// # Errors
    /// If the file cannot be read, and the errors of [`Runtime::load`].
    pub fn load_file(&self, path: impl AsRef<Path>) -> Result<Program, Errors> {
        self.link(self.read_file(path)?)
    }

    /// Loads a program from MLIR text or BEF, told apart by content. `name` is the file's name in
    /// messages.
    ///
    /// # Errors
    /// All errors of the text or the file, and all kernels that the runtime lacks.
    pub fn load(&self, name: &str, bytes: Vec<u8>) -> Result<Program, Errors> {
        self.link(self.read(name, bytes)?)
    }

    /// Reads and verifies a file as [`Runtime::load_file`] does, but does not look for its kernels.
    ///
    /// # Errors
    /// If the file cannot be read, and all its errors.
    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<VerifiedBef, Errors> {
        let path = path.as_ref();
        self.read(&path.to_string_lossy(), read_program(path)?)
    }

    /// Reads and verifies a program as [`Runtime::load`] does, but does not look for its kernels.
    ///
    /// # Errors
    /// All errors of the text or the file.
    pub fn read(&self, name: &str, bytes: Vec<u8>) -> Result<VerifiedBef, Errors> {
        let bytes = if bytes.starts_with(&MAGIC) { bytes } else { self.translate(name, bytes)? };
        VerifiedBef::new(bytes).map_err(|errors| Errors::of_bef(name, errors))
    }

    /// Finds the kernels of a program and makes it ready to run.
    ///
    /// # Errors
    /// All kernels that the runtime lacks, and all uses that do not match the kernels' signatures.
    pub fn link(&self, bef: VerifiedBef) -> Result<Program, Errors> {
        let file = BefFile::load(bef, &self.registry)?;
        Ok(Program { runtime: self.clone(), file })
    }

    #[cfg(feature = "full")]
    fn translate(&self, name: &str, text: Vec<u8>) -> Result<Vec<u8>, Errors> {
        if let Some(format) = tfrt_compiler::import::binary_format(&text) {
            return Err(Diagnostic::invalid_argument(format!("'{name}' is {format}")).into());
        }
        let ops = crate::operations(&self.registry)?;
        let source = tfrt_ir::Source::new(name, text);
        Ok(crate::text::compile(&source, &ops, &tfrt_ir::ParseOptions::default())?)
    }

    #[cfg(not(feature = "full"))]
    #[expect(clippy::unused_self, reason = "the full build looks at its kernels")]
    fn translate(&self, name: &str, _text: Vec<u8>) -> Result<Vec<u8>, Errors> {
        Err(Diagnostic::invalid_argument(format!("'{name}' is not a BEF file")).into())
    }

    /// Compiles a model's file into a program. Load the program with [`Runtime::load`], and offer its
    /// weights to requests as the resource [`tfrt_models::kernels::MODEL_WEIGHTS`].
    ///
    /// # Errors
    /// If the file cannot be read, and every node that cannot be compiled.
    #[cfg(feature = "full")]
    pub fn compile_model(
        &self,
        path: impl AsRef<Path>,
        options: &tfrt_compiler::CompileOptions,
    ) -> Result<tfrt_compiler::CompiledModel, Errors> {
        Ok(tfrt_compiler::compile(path.as_ref(), &self.adapted(options), &self.host)?)
    }

    /// Adapts the options to where models run on this runtime.
    #[cfg(feature = "full")]
    pub(crate) fn adapted(&self, options: &tfrt_compiler::CompileOptions) -> tfrt_compiler::CompileOptions {
        let mut options = options.clone();
        // A device that cannot be used is an error when the program asks for it, with its place.
        let is_on_device =
            tfrt_device::Devices::of(&self.host).chosen_device().is_ok_and(|device| device.is_some());
        options.passes.lay_out_filters |= is_on_device;
        options
    }

    /// Ends the connection with the other ranks of the job, and waits for that: for ten seconds at
    /// most if one of them does not come to its end. Later collectives are errors.
    ///
    /// Otherwise this happens when the last handle to the runtime is dropped, on whatever thread. To
    /// its launcher, a process that exits before that has failed.
    #[cfg(feature = "full")]
    pub fn leave_world(&self) {
        tfrt_collectives::context::HostDistribution::of(&self.host).end();
    }

    /// Returns the ops of the core runtime, to be called from Rust in host memory. The calls belong
    /// to one request.
    ///
    /// # Errors
    /// [`ErrorCode::Internal`] if a program without functions cannot be loaded.
    #[cfg(feature = "full")]
    pub fn cpu(&self) -> Result<tfrt_eager::Eager, Diagnostic> {
        tfrt_eager::Eager::on_cpu(&self.host)
    }

    /// Creates a request with its own resources and without a deadline.
    pub fn request(&self) -> Arc<RequestContext> {
        RequestContext::new(self.host.clone(), Arc::new(ResourceContext::new()))
    }
}

/// A program that is ready to run. Cloning a program shares it.
#[derive(Clone, Debug)]
pub struct Program {
    runtime: Runtime,
    file: Arc<BefFile>,
}

impl Program {
    /// Returns the runtime that the program was loaded into.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the loaded file with its functions.
    pub fn file(&self) -> &Arc<BefFile> {
        &self.file
    }

    /// Calls a function in a new request and waits for its results. Each result may be an error.
    ///
    /// # Errors
    /// If the program has no such function, or the number of arguments is wrong.
    pub fn call(
        &self,
        function: &str,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        self.start(function, arguments)?.wait()
    }

    /// Calls a function in an existing request and waits for its results. Each result may be an
    /// error.
    ///
    /// Once the request is cancelled or its deadline has passed, results that are still pending are
    /// that error.
    ///
    /// # Errors
    /// If the program has no such function, or the number of arguments is wrong.
    pub fn call_in(
        &self,
        request: &Arc<RequestContext>,
        function: &str,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        self.start_in(request, function, arguments)?.wait()
    }

    /// Calls a function in a new request and does not wait for its results, which can be awaited.
    ///
    /// # Errors
    /// If the program has no such function, or the number of arguments is wrong.
    pub fn start(
        &self,
        function: &str,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Result<Call, Diagnostic> {
        self.start_in(&self.runtime.request(), function, arguments)
    }

    /// Calls a function in an existing request, as [`Program::start`] does in a new one.
    ///
    /// # Errors
    /// If the program has no such function, or the number of arguments is wrong.
    pub fn start_in(
        &self,
        request: &Arc<RequestContext>,
        function: &str,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Result<Call, Diagnostic> {
        let found = self.file.function(function).ok_or_else(|| {
            Diagnostic::new(ErrorCode::NotFound, format!("the program has no function '{function}'"))
        })?;
        let arguments: Vec<_> = arguments.into_iter().collect();
        let expected = found.argument_types().len();
        if arguments.len() != expected {
            let message =
                format!("function '{function}' takes {expected} arguments, but got {}", arguments.len());
            return Err(Diagnostic::invalid_argument(message));
        }
        let context = ExecutionContext::new(request.clone(), self.file.clone());
        Ok(Call::new(request.clone(), found.execute(&context, arguments)))
    }
}

#[cfg(all(test, feature = "full"))]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Choice, DeviceOptions};
    use parking_lot::Mutex;

    #[test]
    fn broken_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broken.bef");
        fs::write(&path, MAGIC).unwrap();
        let runtime = Runtime::builder().build().unwrap();
        let message = |errors: Errors| errors.0.into_iter().map(|error| error.message).collect::<String>();
        let name = path.to_str().unwrap();
        let told = message(runtime.load_file(&path).unwrap_err());
        assert!(told.starts_with(&format!("{name}: invalid BEF file: ")), "{told}");
        assert_eq!(message(runtime.load(name, MAGIC.to_vec()).unwrap_err()), told);
    }

    #[test]
    fn a_printer_of_the_devices_own_stays() {
        let (output, of_host) = SharedWriter::buffer();
        let of_device = Arc::new(Mutex::new(String::new()));
        let kept = of_device.clone();
        let devices = DeviceOptions::new(Choice::Cpu, 1).printing_to(move |text| kept.lock().push_str(text));
        let runtime = Runtime::builder().output(output).devices(devices).build().unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mlir/cuda/printf.mlir");
        let results = runtime.load_file(path).unwrap().call("main", []).unwrap();
        assert!(results[0].error().is_none());
        assert_eq!(*of_device.lock(), "seven 7\nseven 8\n");
        assert_eq!(*of_host.lock(), b"int32 = 7\n");
    }
}
