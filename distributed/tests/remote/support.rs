//! A server in this process, whose programs are MLIR text and use test kernels, and clients of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tfrt_convert::{ConvertOptions, mlir_to_bef, operations};
use tfrt_distributed::{
    Backend, Config, ContextHost, ContextOutput, DeviceInfo, Fabric, Language, LoadedProgram, RemoteClient,
    Server, ServerOptions, TlsMaterial,
    proto::{self, remote_client::RemoteClient as Stub},
};
use tfrt_host::{
    AsyncValueRef, BefFile, Chain, Diagnostic, ExecutionContext, HostContext, KernelRegistry, Promise,
    ResourceContext,
    allocator::{LimitedAllocator, SystemAllocator},
    bef::VerifiedBef,
    work_queue,
};
use tfrt_ir::{ParseOptions, Source, parse_module};
use tfrt_tensor::DenseHostTensor;
use tonic::transport::Channel;

use crate::requests::{TASK, allocator, create_context, execute, id, register};

/// What the test kernels have counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) executed: AtomicUsize,
    pub(crate) blocked: AtomicUsize,
    pub(crate) cancelled: AtomicUsize,
}

struct TestBackend {
    registry: Arc<KernelRegistry>,
    queue: Arc<dyn work_queue::ConcurrentWorkQueue>,
}

struct TestHost {
    registry: Arc<KernelRegistry>,
    host: Arc<HostContext>,
}

/// A value that nobody produces until the request is cancelled.
fn block(cx: &ExecutionContext, counts: &Arc<Counts>) -> AsyncValueRef<Chain> {
    let (promise, value) = Promise::new();
    let at_end = counts.clone();
    let hook = cx.request().when_cancelled(move |reason| {
        at_end.cancelled.fetch_add(1, Ordering::SeqCst);
        promise.set_error(reason.clone());
    });
    // The request keeps the call; dropping the hook would cancel the registration.
    std::mem::forget(hook);
    counts.blocked.fetch_add(1, Ordering::SeqCst);
    value
}

fn registry(counts: &Arc<Counts>) -> KernelRegistry {
    let mut registry = KernelRegistry::new();
    tfrt_kernels::register(&mut registry);
    tfrt_distributed::register(&mut registry);
    let counted = counts.clone();
    registry.add("test.count", move |_: Chain| {
        counted.executed.fetch_add(1, Ordering::SeqCst);
        Chain
    });
    let counted = counts.clone();
    registry.add("test.block", move |_: Chain, cx: &ExecutionContext| block(cx, &counted));
    registry
}

fn invalid(error: String) -> Vec<Diagnostic> {
    vec![Diagnostic::invalid_argument(error)]
}

fn convert(registry: &KernelRegistry, name: &str, program: &[u8]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let ops = operations(registry).map_err(|errors| invalid(errors.join(", ")))?;
    let source = Source::new(name, program.to_vec());
    let module = parse_module(&source, &ops, &ParseOptions::default());
    let module = module.map_err(|errors| invalid(format!("{errors:?}")))?;
    mlir_to_bef(&module, &ops, ConvertOptions::default()).map_err(|errors| invalid(format!("{errors:?}")))
}

/// Returns a program as a BEF file.
pub(crate) fn bef_of(program: &str) -> Vec<u8> {
    convert(&registry(&Arc::default()), "program.mlir", program.as_bytes()).unwrap()
}

impl Backend for TestBackend {
    fn open(
        &self,
        output: ContextOutput,
        max_memory_bytes: usize,
    ) -> Result<Arc<dyn ContextHost>, Diagnostic> {
        let allocator = LimitedAllocator::new(Arc::new(SystemAllocator), max_memory_bytes);
        let host = HostContext::builder(self.queue.clone(), Arc::new(allocator)).output(output).build();
        Ok(Arc::new(TestHost { registry: self.registry.clone(), host }))
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        vec![DeviceInfo { name: "CPU:0".into(), kind: "CPU".to_owned() }]
    }
}

impl ContextHost for TestHost {
    fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    fn load(&self, name: &str, program: &Bytes, _: Language) -> Result<LoadedProgram, Vec<Diagnostic>> {
        let bytes = if program.starts_with(&tfrt_host::bef::MAGIC) {
            program.to_vec()
        } else {
            convert(&self.registry, name, program)?
        };
        let bef = VerifiedBef::new(bytes).map_err(|errors| invalid(format!("{errors:?}")))?;
        Ok(LoadedProgram::new(name, BefFile::load(bef, &self.registry)?))
    }

    fn offer(&self, _: &ResourceContext) {}
}

/// A server, and the threads that serve it.
pub(crate) struct TestServer {
    pub(crate) server: Server,
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) config: Config,
}

pub(crate) fn fabric(config: &Config, tls: Option<TlsMaterial>) -> Arc<Fabric> {
    Fabric::new(config.calls.clone(), tls, false, 64 << 20).unwrap()
}

impl TestServer {
    pub(crate) fn start(change: impl FnOnce(&mut Config), tls: Option<TlsMaterial>) -> Self {
        let mut config = Config::default();
        config.calls.deadline_ms = 20_000;
        change(&mut config);
        let counts = Arc::<Counts>::default();
        let queue = work_queue::from_str("mstd:2").unwrap();
        let backend = Arc::new(TestBackend { registry: Arc::new(registry(&counts)), queue });
        let fabric = fabric(&config, tls.clone());
        // The server's cluster lists no tasks, so that clients may reach it through other
        // addresses.
        let options =
            ServerOptions { task: TASK.to_owned(), config: config.clone(), tls, is_insecure: false };
        let server = Server::start(&fabric, "127.0.0.1:0", options, backend).unwrap();
        Self { server, fabric, counts, config }
    }

    pub(crate) fn address(&self) -> String {
        self.server.address().to_string()
    }

    pub(crate) fn executed(&self) -> usize {
        self.counts.executed.load(Ordering::SeqCst)
    }

    pub(crate) fn blocked(&self) -> usize {
        self.counts.blocked.load(Ordering::SeqCst)
    }

    pub(crate) fn cancelled(&self) -> usize {
        self.counts.cancelled.load(Ordering::SeqCst)
    }
}

/// A client process, as far as the server can tell, with one context.
pub(crate) struct TestClient {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) client: RemoteClient,
}

impl TestClient {
    /// Connects without creating a context.
    pub(crate) fn new(address: &str, config: &Config, tls: Option<TlsMaterial>, context: u64) -> Self {
        let fabric = fabric(config, tls);
        let client = fabric.client(TASK, address, context).unwrap();
        Self { fabric, client }
    }

    /// Connects and creates the context.
    pub(crate) fn connect(address: &str, config: &Config, context: u64) -> Self {
        let client = Self::new(address, config, None, context);
        client.fabric.block_on(client.client.create_context(create_context())).unwrap();
        client
    }

    pub(crate) fn register(&self, name: &str, program: &str) -> Result<(), Diagnostic> {
        self.fabric.block_on(self.client.register_function(register(name, program))).map(drop)
    }

    /// Reads an object.
    pub(crate) fn fetch(&self, object: u64) -> Result<DenseHostTensor, Diagnostic> {
        self.wait(self.client.fetch_object(&id(object), &allocator()))
    }

    pub(crate) fn execute(
        &self,
        name: &str,
        outputs: &[u64],
    ) -> Result<proto::RemoteExecuteResponse, Diagnostic> {
        self.fabric.block_on(self.client.remote_execute(execute(name, outputs)))
    }

    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.fabric.block_on(future)
    }
}

/// A stub that sends what it is given.
pub(crate) fn stub(server: &TestServer) -> Stub<Channel> {
    let address = format!("http://{}", server.address());
    Stub::new(server.fabric.block_on(Channel::from_shared(address).unwrap().connect()).unwrap())
}

/// Waits until `condition` holds.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..500 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(condition(), "{what}");
}
