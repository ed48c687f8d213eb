//! A runtime with everything a program needs, and the programs loaded into it.

use std::{
    fmt,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use tfrt_bef::{MAGIC, VerifiedBef};
use tfrt_host::{
    AsyncValue, BefFile, Diagnostic, ErrorCode, ExecutionContext, HostContext, KernelRegistry, MappedFile,
    RequestContext, ResourceContext,
    allocator::{HostAllocator, RecyclingAllocator, SystemAllocator},
    library::load_kernel_library,
    work_queue::{self, ConcurrentWorkQueue},
};

use crate::{Errors, SharedWriter, register_kernels};

/// The queue of a runtime that nobody chose one for.
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
    #[cfg(feature = "full")]
    devices: crate::DeviceOptions,
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
            #[cfg(feature = "full")]
            devices: crate::DeviceOptions::default(),
        }
    }
}

impl RuntimeBuilder {
    /// Runs work on this queue.
    pub fn work_queue(mut self, queue: Arc<dyn ConcurrentWorkQueue>) -> Self {
        self.work_queue = Some(queue);
        self
    }

    /// Takes memory for tensors and buffers from this allocator: [`RecyclingAllocator`] if nothing else is said.
    pub fn allocator(mut self, allocator: Arc<dyn HostAllocator>) -> Self {
        self.allocator = allocator;
        self
    }

    /// Where text goes that kernels print: standard output if nothing else is said.
    pub fn output(mut self, output: impl Write + Send + 'static) -> Self {
        self.output = Box::new(output);
        self
    }

    /// Who is told of each error when it is made, before it becomes a value.
    pub fn diagnostics(mut self, handler: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        self.handler = Some(Box::new(handler));
        self
    }

    /// Adds kernels beside those that come with the runtime.
    pub fn kernels(mut self, register: impl FnOnce(&mut KernelRegistry) + 'static) -> Self {
        self.registrations.push(Box::new(register));
        self
    }

    /// Leaves out the kernels that come with the runtime, and all added so far.
    pub fn no_kernels(mut self) -> Self {
        self.registrations.clear();
        self
    }

    /// Adds the kernels of a shared library; see [`tfrt_host::library`]. Its code runs in this process.
    pub fn shared_library(mut self, path: impl Into<PathBuf>) -> Self {
        self.shared_libraries.push(path.into());
        self
    }

    /// Which devices programs run on: CUDA devices if there are any, else CPU devices, if nothing else is said. What kernels
    /// print on CPU devices goes to [`RuntimeBuilder::output`] unless the options say where.
    #[cfg(feature = "full")]
    pub fn devices(mut self, options: crate::DeviceOptions) -> Self {
        self.devices = options;
        self
    }

    /// The runtime.
    ///
    /// # Errors
    /// If no queue can be made, a shared library cannot be loaded, or two kernels have the same name.
    pub fn build(self) -> Result<Runtime, Errors> {
        let work_queue = match self.work_queue {
            Some(queue) => queue,
            None => work_queue::from_str(WORK_QUEUE)
                .map_err(|error| Diagnostic::new(ErrorCode::ResourceExhausted, error.to_string()))?,
        };
        let output = SharedWriter::new(self.output);
        let mut host = HostContext::builder(work_queue, self.allocator).output(output.clone());
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
            // As what kernels of the host's print: text of one call stays together, and a failing output is ignored.
            let print = move |text: &str| drop(output.clone().write_all(text.as_bytes()));
            let devices = self.devices.or_printing_to(print);
            tfrt_device::Devices::configure(&host, move || devices.open());
        }
        Ok(Runtime { host, registry: Arc::new(registry) })
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder").finish_non_exhaustive()
    }
}

/// A host with its kernels: loads and runs programs. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Runtime {
    host: Arc<HostContext>,
    registry: Arc<KernelRegistry>,
}

impl Runtime {
    /// A builder with the kernels that come with the runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Where the runtime's work runs and its memory comes from.
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// The kernels programs may use.
    pub fn registry(&self) -> &KernelRegistry {
        &self.registry
    }

    /// Loads a program from a file, MLIR or BEF as its content says.
    ///
    /// # Errors
    /// If it cannot be read, and as [`Runtime::load`].
    pub fn load_file(&self, path: impl AsRef<Path>) -> Result<Program, Errors> {
        self.link(self.read_file(path)?)
    }

    /// Loads a program, MLIR text or BEF as its content says. `name` stands for the file in messages.
    ///
    /// # Errors
    /// Everything wrong with the text or the file, and all kernels it uses that the runtime lacks.
    pub fn load(&self, name: &str, bytes: Vec<u8>) -> Result<Program, Errors> {
        self.link(self.read(name, bytes)?)
    }

    /// As [`Runtime::load_file`], without looking for the kernels.
    ///
    /// # Errors
    /// If it cannot be read, and everything wrong with it.
    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<VerifiedBef, Errors> {
        let path = path.as_ref();
        let file = MappedFile::open(path)?;
        if file.as_ref().starts_with(&MAGIC) {
            return VerifiedBef::new(file).map_err(|errors| Errors::of_bef(path.display(), errors));
        }
        self.read(&path.to_string_lossy(), file.as_ref().to_vec())
    }

    /// As [`Runtime::load`], without looking for the kernels.
    ///
    /// # Errors
    /// Everything wrong with the text or the file.
    pub fn read(&self, name: &str, bytes: Vec<u8>) -> Result<VerifiedBef, Errors> {
        let bytes = if bytes.starts_with(&MAGIC) { bytes } else { self.translate(name, bytes)? };
        VerifiedBef::new(bytes).map_err(|errors| Errors::of_bef(name, errors))
    }

    /// Looks for the kernels of a program that was read.
    ///
    /// # Errors
    /// All kernels that the runtime lacks, and all uses that do not fit their signatures.
    pub fn link(&self, bef: VerifiedBef) -> Result<Program, Errors> {
        let file = BefFile::load(bef, &self.registry)?;
        Ok(Program { runtime: self.clone(), file })
    }

    #[cfg(feature = "full")]
    fn translate(&self, name: &str, text: Vec<u8>) -> Result<Vec<u8>, Errors> {
        let ops = crate::operations(&self.registry)?;
        let source = tfrt_ir::Source::new(name, text);
        Ok(crate::text::compile(&source, &ops, &tfrt_ir::ParseOptions::default())?)
    }

    #[cfg(not(feature = "full"))]
    #[expect(clippy::unused_self, reason = "the full build looks at its kernels")]
    fn translate(&self, name: &str, _text: Vec<u8>) -> Result<Vec<u8>, Errors> {
        Err(Diagnostic::invalid_argument(format!("'{name}' is no BEF file")).into())
    }

    /// Compiles a model, an ONNX file, into a program. Load that with [`Runtime::load`], and offer its weights to requests as
    /// the resource [`tfrt_models::kernels::MODEL_WEIGHTS`].
    ///
    /// # Errors
    /// A file that cannot be read, and every node that cannot be compiled.
    #[cfg(feature = "full")]
    pub fn compile_model(
        &self,
        path: impl AsRef<Path>,
        options: &tfrt_compiler::CompileOptions,
    ) -> Result<tfrt_compiler::CompiledModel, Errors> {
        Ok(tfrt_compiler::compile(path.as_ref(), options, &self.host)?)
    }

    /// Ops in host memory, called from Rust, on behalf of a request of their own.
    ///
    /// # Errors
    /// Internal if a program without functions cannot be loaded.
    #[cfg(feature = "full")]
    pub fn cpu(&self) -> Result<tfrt_eager::Eager, Diagnostic> {
        tfrt_eager::Eager::on_cpu(&self.host)
    }

    /// A request with resources of its own and no deadline.
    pub fn request(&self) -> Arc<RequestContext> {
        RequestContext::new(self.host.clone(), Arc::new(ResourceContext::new()))
    }
}

/// A program ready to run. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Program {
    runtime: Runtime,
    file: Arc<BefFile>,
}

impl Program {
    /// The loaded file with its functions.
    pub fn file(&self) -> &Arc<BefFile> {
        &self.file
    }

    /// Calls a function in a request of its own and waits for its results, each of which may be an error.
    ///
    /// # Errors
    /// If there is no such function or it takes another number of arguments.
    pub fn call(
        &self,
        function: &str,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        self.call_in(&self.runtime.request(), function, arguments)
    }

    /// As [`Program::call`], in a request at hand.
    ///
    /// # Errors
    /// As [`Program::call`].
    pub fn call_in(
        &self,
        request: &Arc<RequestContext>,
        function: &str,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        let found = self.file.function(function).ok_or_else(|| {
            Diagnostic::new(ErrorCode::NotFound, format!("the program has no function '{function}'"))
        })?;
        let arguments: Vec<_> = arguments.into_iter().collect();
        let expected = found.argument_types().len();
        if arguments.len() != expected {
            let message =
                format!("function '{function}' takes {expected} arguments, got {}", arguments.len());
            return Err(Diagnostic::invalid_argument(message));
        }
        let context = ExecutionContext::new(request.clone(), self.file.clone());
        let results = found.execute(&context, arguments);
        self.runtime.host.await_values(&results)?;
        Ok(results)
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
