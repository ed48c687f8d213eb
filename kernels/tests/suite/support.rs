//! Builds and runs small programs of the crate's kernels.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use tfrt_host::{
    AsyncValue, BefFile, Diagnostic, ExecutionContext, HostContext, KernelRegistry, RequestContext,
    ResourceContext,
    allocator::SystemAllocator,
    bef::{
        Attribute, BefBuilder, FunctionBuilder, FunctionId, FunctionKind, KernelSpec, OptionalSections,
        VerifiedBef,
    },
    work_queue,
};

pub(crate) use tfrt_host::bef::Register;

/// The queues every test runs on.
pub(crate) const QUEUES: [&str; 2] = ["s", "mstd:3"];

/// A program in the making; the line of a kernel is its number from 1.
pub(crate) struct Program {
    bef: BefBuilder,
    line: u32,
}

/// A function in the making.
pub(crate) struct Body<'p> {
    program: &'p mut Program,
    builder: FunctionBuilder,
    pub(crate) parameters: Vec<Register>,
}

/// What a kernel has besides its arguments.
#[derive(Default)]
pub(crate) struct With<'a> {
    pub(crate) attributes: &'a [(&'a str, Attribute)],
    pub(crate) functions: &'a [FunctionId],
    pub(crate) nonstrict: bool,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { bef: BefBuilder::new(OptionalSections::Keep), line: 0 }
    }

    pub(crate) fn function(
        &mut self,
        name: &str,
        parameters: &[&str],
        body: impl FnOnce(&mut Body<'_>) -> Vec<Register>,
    ) -> FunctionId {
        self.function_of(FunctionKind::Async, name, parameters, body)
    }

    pub(crate) fn function_of(
        &mut self,
        kind: FunctionKind,
        name: &str,
        parameters: &[&str],
        body: impl FnOnce(&mut Body<'_>) -> Vec<Register>,
    ) -> FunctionId {
        let id = self.bef.declare_function(name);
        let types: Vec<_> = parameters.iter().map(|name| self.bef.type_name(name)).collect();
        let builder = FunctionBuilder::new(self.bef.location("test.mlir", 1, 1), &types);
        let mut function = Body { parameters: builder.arguments(), builder, program: self };
        let results = body(&mut function);
        let builder = function.builder;
        self.bef.define_function(id, kind, &builder, &results);
        id
    }

    pub(crate) fn native(&mut self, name: &str, arguments: &[&str], results: &[&str]) -> FunctionId {
        let arguments: Vec<_> = arguments.iter().map(|name| self.bef.type_name(name)).collect();
        let results: Vec<_> = results.iter().map(|name| self.bef.type_name(name)).collect();
        self.bef.native_function(name, &arguments, &results)
    }

    pub(crate) fn load(self) -> Arc<BefFile> {
        self.load_with(|_| ())
    }

    /// Loads the program with further kernels.
    pub(crate) fn load_with(self, register: impl FnOnce(&mut KernelRegistry)) -> Arc<BefFile> {
        let mut registry = KernelRegistry::new();
        tfrt_kernels::register(&mut registry);
        register(&mut registry);
        let bytes = self.bef.finish().expect("a program that can be written");
        BefFile::load(VerifiedBef::new(bytes).expect("a program that verifies"), &registry)
            .expect("known kernels")
    }
}

impl Body<'_> {
    /// Adds a kernel.
    pub(crate) fn with(
        &mut self,
        name: &str,
        arguments: &[Register],
        results: &[&str],
        with: With<'_>,
    ) -> Vec<Register> {
        let bef = &mut self.program.bef;
        self.program.line += 1;
        let result_types: Vec<_> = results.iter().map(|name| bef.type_name(name)).collect();
        let attributes: Vec<_> = with
            .attributes
            .iter()
            .map(|(name, value)| (bef.attribute_name(name), bef.attribute(value, false)))
            .collect();
        self.builder.kernel(&KernelSpec {
            kernel: bef.kernel(name),
            location: bef.location("test.mlir", self.program.line, 1),
            arguments,
            attributes: &attributes,
            functions: with.functions,
            result_types: &result_types,
            nonstrict: with.nonstrict,
        })
    }

    /// Adds a kernel of one result that has neither attributes nor functions.
    pub(crate) fn op(&mut self, name: &str, arguments: &[Register], result: &str) -> Register {
        self.with(name, arguments, &[result], With::default())[0]
    }

    pub(crate) fn i32(&mut self, value: i32) -> Register {
        self.attribute("tfrt.constant.i32", Attribute::scalar(value), "i32")
    }

    pub(crate) fn attribute(&mut self, name: &str, value: Attribute, result: &str) -> Register {
        let with = With { attributes: &[("value", value)], ..With::default() };
        self.with(name, &[], &[result], with)[0]
    }

    pub(crate) fn chain(&mut self) -> Register {
        self.op("tfrt.new.chain", &[], "!tfrt.chain")
    }

    /// Adds a kernel that is given functions and does not wait for its arguments.
    pub(crate) fn flow(
        &mut self,
        name: &str,
        functions: &[FunctionId],
        arguments: &[Register],
        results: &[&str],
    ) -> Vec<Register> {
        self.with(name, arguments, results, With { functions, nonstrict: true, ..With::default() })
    }
}

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A host whose output and diagnostics are recorded.
pub(crate) struct Host {
    pub(crate) host: Arc<HostContext>,
    output: Output,
    pub(crate) errors: Arc<Mutex<Vec<Diagnostic>>>,
}

impl Host {
    pub(crate) fn new(queue: &str) -> Self {
        let output = Output::default();
        let errors = Arc::new(Mutex::new(Vec::new()));
        let seen = errors.clone();
        let host =
            HostContext::builder(work_queue::from_str(queue).expect("a queue"), Arc::new(SystemAllocator))
                .diagnostic_handler(move |error| seen.lock().expect("no panic").push(error.clone()))
                .output(output.clone())
                .build();
        Self { host, output, errors }
    }

    pub(crate) fn request(&self) -> Arc<RequestContext> {
        RequestContext::new(self.host.clone(), Arc::new(ResourceContext::new()))
    }

    /// Runs a function and waits for its results and for everything else it started.
    pub(crate) fn run(
        &self,
        program: &Arc<BefFile>,
        name: &str,
        arguments: Vec<AsyncValue>,
    ) -> Vec<AsyncValue> {
        let cx = ExecutionContext::new(self.request(), program.clone());
        let results = program.function(name).expect("a function").execute(&cx, arguments);
        self.host.await_values(&results).expect("not on a compute thread");
        self.host.quiesce().expect("not on a compute thread");
        results
    }

    /// What was printed since the last call.
    pub(crate) fn printed(&self) -> String {
        let bytes = std::mem::take(&mut *self.output.0.lock().expect("no panic"));
        String::from_utf8(bytes).expect("UTF-8")
    }
}

/// Runs `main` of a program on each queue and gives its results and what it printed to `check`.
pub(crate) fn run(program: Program, check: impl Fn(&[AsyncValue], &str)) {
    let program = program.load();
    for queue in QUEUES {
        let host = Host::new(queue);
        let results = host.run(&program, "main", Vec::new());
        check(&results, &host.printed());
    }
}

/// The integer a value is.
pub(crate) fn int(value: &AsyncValue) -> i32 {
    match value.error() {
        None => *value.get::<i32>().expect("an i32"),
        Some(error) => unreachable!("{error}"),
    }
}

/// The message of the error a value is.
pub(crate) fn message(value: &AsyncValue) -> String {
    value.error().expect("an error").message.clone()
}
