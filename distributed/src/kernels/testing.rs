//! Kernels of tests: a cluster in one process, whose servers wait before each call.

use std::{collections::HashMap, net::TcpListener, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use tfrt_collectives::DistributedContext;
use tfrt_host::{
    Arg, AsyncValue, AsyncValueRef, Attr, Chain, Diagnostic, ErrorCode, ExecutionContext, HostContext,
    KernelFrame, KernelRegistry, KernelSignature, Promise, ResourceContext, Rest, TypeSpec, Value,
    value_type, work_queue::Task,
};

use crate::{
    Backend, Config, ContextHost, ContextOutput, DeviceInfo, Fabric, Language, LoadedProgram, Server,
    ServerOptions, Session, SessionOptions,
    server::{Gate, max_message_bytes},
};

/// Makes the backend of the servers.
pub type MakeBackend = fn() -> Result<Arc<dyn Backend>, Diagnostic>;

/// The compiler pass that compiles op graphs.
const PASS: &str = "tf";

/// A task of a cluster in one process.
#[derive(Clone, Debug)]
struct Configuration {
    config: Config,
    task: String,
    address: String,
}

value_type!(Configuration, "!tfrt_dist.dist_context_configuration");

/// What a context of such a cluster owns until it is closed.
#[derive(Default)]
struct TestTask {
    session: Mutex<Option<Session>>,
    server: Mutex<Option<Server>>,
    gate: Option<Arc<Gate>>,
}

/// Programs that stand for what a compiler would make of any op graph, with the devices of their
/// results, by the names of compiler passes.
#[derive(Default)]
struct FakePasses(Mutex<HashMap<String, (Bytes, Vec<String>)>>);

/// A backend whose compiler may be a fake pass.
struct TestBackend {
    backend: Arc<dyn Backend>,
    passes: Arc<FakePasses>,
}

struct TestHost {
    host: Arc<dyn ContextHost>,
    passes: Arc<FakePasses>,
}

impl Backend for TestBackend {
    fn open(
        &self,
        output: ContextOutput,
        max_memory_bytes: usize,
    ) -> Result<Arc<dyn ContextHost>, Diagnostic> {
        let host = self.backend.open(output, max_memory_bytes)?;
        Ok(Arc::new(TestHost { host, passes: self.passes.clone() }))
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        self.backend.devices()
    }
}

impl ContextHost for TestHost {
    fn host(&self) -> &Arc<HostContext> {
        self.host.host()
    }

    fn load(
        &self,
        name: &str,
        program: &Bytes,
        language: Language,
    ) -> Result<LoadedProgram, Vec<Diagnostic>> {
        let fake = self.passes.0.lock().get(PASS).filter(|_| language == Language::Ops).cloned();
        let Some((compiled, output_devices)) = fake else { return self.host.load(name, program, language) };
        let loaded = self.host.load(name, &compiled, Language::Kernels)?;
        Ok(LoadedProgram { output_devices, ..loaded })
    }

    fn offer(&self, resources: &ResourceContext) {
        self.host.offer(resources);
    }
}

/// Makes configurations of as many tasks as the call has results, at free ports of loopback.
fn configurations(frame: &mut KernelFrame<'_>) {
    let listeners = (0..frame.result_count()).map(|_| TcpListener::bind("127.0.0.1:0"));
    let addresses = listeners.collect::<Result<Vec<_>, _>>().and_then(|listeners| {
        listeners.iter().map(|listener| Ok(listener.local_addr()?.to_string())).collect()
    });
    let addresses: Vec<String> = match addresses {
        Ok(addresses) => addresses,
        Err(error) => return frame.fail(Diagnostic::new(ErrorCode::Io, format!("no free port: {error}"))),
    };
    let mut config = Config::default();
    config.jobs.insert("worker".to_owned(), addresses.clone());
    let configuration = |(number, address)| {
        let task = format!("/job:worker/task:{number}");
        AsyncValue::new(Configuration { config: config.clone(), task, address })
    };
    let results: Vec<_> = addresses.into_iter().enumerate().map(configuration).collect();
    frame.set_results(results);
}

impl Configuration {
    /// Starts the server of the task.
    fn serve(&self, backend: &Arc<dyn Backend>, gate: &Arc<Gate>) -> Result<Server, Diagnostic> {
        let max_bytes = max_message_bytes(&self.config.server);
        let fabric = Fabric::new(self.config.calls.clone(), None, false, max_bytes)?;
        let options = ServerOptions {
            task: self.task.clone(),
            config: self.config.clone(),
            tls: None,
            is_insecure: false,
        };
        Server::start_gated(&fabric, &self.address, options, backend.clone(), Some(gate.clone()))
    }
}

/// Starts a server for each configuration but the first, and connects the task of the first to
/// them.
fn connect(
    configurations: &[Configuration],
    cx: &ExecutionContext,
    make: MakeBackend,
) -> Result<Vec<DistributedContext>, Diagnostic> {
    let (first, others) = configurations
        .split_first()
        .ok_or_else(|| Diagnostic::invalid_argument("a cluster needs at least one configuration"))?;
    let passes = cx.host().shared_context(FakePasses::default);
    let backend: Arc<dyn Backend> = Arc::new(TestBackend { backend: make()?, passes });
    let mut servers = Vec::new();
    for other in others {
        let gate = Arc::new(Gate::new());
        servers.push((other.serve(&backend, &gate)?, gate));
    }
    let options = SessionOptions { task: Some(first.task.clone()), ..SessionOptions::default() };
    let session = Session::connect(cx.host(), &first.config, &options)?;
    let own = session.context().clone();
    let mut contexts = vec![own.clone()];
    for (server, gate) in servers {
        let context = server.context(own.id());
        let context = context.ok_or_else(|| Diagnostic::internal("a server has not got the context"))?;
        let server = Mutex::new(Some(server));
        context.extensions().only_or_create(|| TestTask { server, gate: Some(gate), ..TestTask::default() });
        contexts.push(context);
    }
    let session = Mutex::new(Some(session));
    own.extensions().only_or_create(|| TestTask { session, ..TestTask::default() });
    Ok(contexts)
}

fn create(frame: &mut KernelFrame<'_>, make: MakeBackend) {
    let configurations: Option<Vec<_>> =
        frame.arguments().map(|argument| argument.get::<Configuration>().cloned()).collect();
    let connected = match configurations {
        Some(configurations) if configurations.len() == frame.result_count() => {
            connect(&configurations, frame.context(), make)
        }
        _ => Err(Diagnostic::invalid_argument("a cluster has a context for each configuration")),
    };
    match connected {
        Ok(contexts) => frame.set_results(contexts.into_iter().map(AsyncValue::new).collect::<Vec<_>>()),
        Err(error) => frame.fail(error),
    }
}

fn task(context: &DistributedContext) -> Result<&TestTask, Diagnostic> {
    context.extensions().only::<TestTask>().ok_or_else(|| {
        let message = "the context is not one of 'tfrt_dist.test_create_distributed_context'";
        Diagnostic::new(ErrorCode::FailedPrecondition, message)
    })
}

fn process_next_request(
    context: Arg<DistributedContext>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>, Diagnostic> {
    let gate = task(&context)?.gate.clone().ok_or_else(|| {
        Diagnostic::new(ErrorCode::FailedPrecondition, "the first task of the cluster serves no requests")
    })?;
    let (promise, chain) = Promise::new();
    let (host, work) = (cx.host().clone(), cx.host().external_work());
    gate.let_through(Box::new(move || {
        host.add_task(Task::new(move || promise.emplace(Chain)));
        drop(work);
    }));
    Ok(chain)
}

fn close(context: Arg<DistributedContext>, _chain: Chain) -> Result<Chain, Diagnostic> {
    let task = task(&context)?;
    if let Some(mut session) = task.session.lock().take() {
        let (_, errors) = session.close();
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
    }
    if let Some(server) = task.server.lock().take() {
        server.shut_down();
    }
    Ok(Chain)
}

fn register_fake_pass(
    devices: Rest<AsyncValue>,
    program: Attr<str>,
    name: Attr<str>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let device = |value: Result<&AsyncValue, Diagnostic>| {
        let name = value?.get::<String>().cloned();
        name.ok_or_else(|| Diagnostic::invalid_argument("the name of a device is a string"))
    };
    let devices = devices.iter().map(device).collect::<Result<_, _>>()?;
    let program = Bytes::copy_from_slice(program.0.as_bytes());
    let passes = cx.host().shared_context(FakePasses::default);
    passes.0.lock().insert(name.0.to_owned(), (program, devices));
    Ok(Chain)
}

/// Adds the kernels of tests, whose servers run programs with the backend that `make` returns.
pub fn register_test_kernels(registry: &mut KernelRegistry, make: MakeBackend) {
    let configuration = || Some(TypeSpec::Named(Configuration::TYPE_NAME));
    let signature = KernelSignature { rest_results: configuration(), ..KernelSignature::default() };
    registry
        .add_raw("tfrt_dist.test_create_configurations", signature, configurations)
        .side_effecting()
        .doc("Returns configurations of as many tasks, at free ports of this host.");
    let signature = KernelSignature {
        rest_arguments: configuration(),
        rest_results: Some(TypeSpec::Named(DistributedContext::TYPE_NAME)),
        ..KernelSignature::default()
    };
    registry
        .add_raw("tfrt_dist.test_create_distributed_context", signature, move |frame| create(frame, make))
        .side_effecting()
        .blocking()
        .doc(
            "Creates a context on all tasks of a cluster in this process, and returns that of each task. The first task is \
             the client. The servers of the others execute functions when 'tfrt_dist.test_process_next_request' says so.",
        );
    registry
        .add("tfrt_dist.test_process_next_request", process_next_request)
        .side_effecting()
        .doc("Lets a server execute the next function that it was asked to. Completes when that has ended.");
    registry
        .add("tfrt_dist.test_close_distributed_context", close)
        .side_effecting()
        .blocking()
        .doc("Closes a context of a cluster in this process, and ends its server. The client's context is closed first.");
    registry
        .add("tfrt_dist.test_register_fake_compiler_pass", register_fake_pass)
        .attributes(&["compiled_program", "compiler_pass_name"])
        .side_effecting()
        .doc(
            "Lets servers of clusters in this process load a program in place of every op graph, with these devices of its \
             results. The pass that compiles op graphs is named 'tf'.",
        );
}
