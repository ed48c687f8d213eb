//! Builds and runs small programs.

#![expect(clippy::panic, reason = "one kernel panics on purpose")]

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use tfrt_bef::{
    Attribute, BefBuilder, FunctionBuilder, FunctionId, FunctionKind, KernelSpec, LocationId,
    OptionalSections, Register, VerifiedBef,
};
use tfrt_host::{
    AsyncValue, BefFile, Chain, Diagnostic, ExecutionContext, HostContext, KernelRegistry, KernelSignature,
    Promise, RequestContext, ResourceContext,
    allocator::SystemAllocator,
    work_queue::{self, ConcurrentWorkQueue, Task},
};

/// A program in the making; the line of a kernel is its number from 1.
pub(crate) struct Program {
    bef: BefBuilder,
    line: u32,
}

/// A function in the making.
pub(crate) struct Body {
    pub(crate) builder: RefCell<FunctionBuilder>,
    pub(crate) parameters: Vec<Register>,
}

/// What a kernel is given besides its arguments.
#[derive(Default)]
pub(crate) struct With<'a> {
    pub(crate) attribute: Option<Attribute>,
    pub(crate) functions: &'a [FunctionId],
    pub(crate) nonstrict: bool,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { bef: BefBuilder::new(OptionalSections::Keep), line: 0 }
    }

    fn location(&mut self) -> LocationId {
        self.line += 1;
        self.bef.location("test.mlir", self.line, 1)
    }

    pub(crate) fn function(&mut self, parameters: &[&str]) -> Body {
        let types: Vec<_> = parameters.iter().map(|name| self.bef.type_name(name)).collect();
        let location = self.bef.location("test.mlir", 1, 1);
        let builder = FunctionBuilder::new(location, &types);
        Body { parameters: builder.arguments(), builder: RefCell::new(builder) }
    }

    pub(crate) fn with(
        &mut self,
        body: &Body,
        name: &str,
        arguments: &[Register],
        results: &[&str],
        with: With<'_>,
    ) -> Vec<Register> {
        let location = self.location();
        let kernel = self.bef.kernel(name);
        let result_types: Vec<_> = results.iter().map(|name| self.bef.type_name(name)).collect();
        let attributes: Vec<_> = with
            .attribute
            .iter()
            .map(|attribute| (self.bef.attribute_name("value"), self.bef.attribute(attribute, false)))
            .collect();
        body.builder.borrow_mut().kernel(&KernelSpec {
            kernel,
            location,
            arguments,
            attributes: &attributes,
            functions: with.functions,
            result_types: &result_types,
            nonstrict: with.nonstrict,
        })
    }

    pub(crate) fn kernel(
        &mut self,
        body: &Body,
        name: &str,
        arguments: &[Register],
        results: &[&str],
    ) -> Vec<Register> {
        self.with(body, name, arguments, results, With::default())
    }

    pub(crate) fn i32(&mut self, body: &Body, value: i32) -> Register {
        let with = With { attribute: Some(Attribute::scalar(value)), ..With::default() };
        self.with(body, "constant", &[], &["i32"], with)[0]
    }

    pub(crate) fn declare(&mut self, name: &str) -> FunctionId {
        self.bef.declare_function(name)
    }

    pub(crate) fn define(&mut self, id: FunctionId, kind: FunctionKind, body: &Body, results: &[Register]) {
        self.bef.define_function(id, kind, &body.builder.borrow(), results);
    }

    pub(crate) fn add(&mut self, name: &str, body: &Body, results: &[Register]) -> FunctionId {
        let id = self.declare(name);
        self.define(id, FunctionKind::Async, body, results);
        id
    }

    pub(crate) fn native(&mut self, name: &str, arguments: &[&str], results: &[&str]) -> FunctionId {
        let arguments: Vec<_> = arguments.iter().map(|name| self.bef.type_name(name)).collect();
        let results: Vec<_> = results.iter().map(|name| self.bef.type_name(name)).collect();
        self.bef.native_function(name, &arguments, &results)
    }

    pub(crate) fn load(self, registry: &KernelRegistry) -> Result<Arc<BefFile>, Vec<Diagnostic>> {
        let bytes = self.bef.finish().expect("a program that can be written");
        let verified = VerifiedBef::new(bytes).expect("a program that verifies");
        BefFile::load(verified, registry)
    }
}

/// A host with its diagnostics recorded.
pub(crate) struct Host {
    pub(crate) host: Arc<HostContext>,
    pub(crate) errors: Arc<Mutex<Vec<Diagnostic>>>,
}

impl Host {
    pub(crate) fn new(queue: &str) -> Self {
        Self::with_max_pending_calls(queue, tfrt_host::MAX_PENDING_CALLS)
    }

    pub(crate) fn with_max_pending_calls(queue: &str, count: usize) -> Self {
        let queue: Arc<dyn ConcurrentWorkQueue> = work_queue::from_str(queue).expect("a queue");
        let errors = Arc::new(Mutex::new(Vec::new()));
        let seen = errors.clone();
        let host = HostContext::builder(queue, Arc::new(SystemAllocator))
            .max_pending_calls(count)
            .diagnostic_handler(move |error| seen.lock().expect("no panic").push(error.clone()))
            .build();
        Self { host, errors }
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
        self.run_in(&self.request(), program, name, arguments)
    }

    pub(crate) fn run_in(
        &self,
        request: &Arc<RequestContext>,
        program: &Arc<BefFile>,
        name: &str,
        arguments: Vec<AsyncValue>,
    ) -> Vec<AsyncValue> {
        let cx = ExecutionContext::new(request.clone(), program.clone());
        let results = program.function(name).expect("a function").execute(&cx, arguments);
        self.host.await_values(&results).expect("not on a compute thread");
        self.host.quiesce().expect("not on a compute thread");
        results
    }
}

/// Kernels the tests use.
pub(crate) fn registry() -> KernelRegistry {
    let mut registry = KernelRegistry::new();
    registry.add("constant", |value: tfrt_host::Attr<i32>| value.0);
    registry.add("add", |a: i32, b: i32| a.wrapping_add(b));
    registry.add("div", |a: i32, b: i32| a.checked_div(b).ok_or("Divide by zero"));
    registry.add("new.chain", || Chain);
    registry.add("panic", |_: i32| -> i32 { std::panic::panic_any("oh no") });
    registry.add("async_add", |a: i32, b: i32, cx: &ExecutionContext| {
        let (promise, value) = Promise::new();
        cx.host().add_task(Task::new(move || promise.emplace(a.wrapping_add(b))));
        value
    });
    registry.add("heavy_add", |a: i32, b: i32| a.wrapping_add(b)).parallel();
    registry.add("blocking_add", |a: i32, b: i32| a.wrapping_add(b)).blocking();
    registry.add("impatient", |_: tfrt_host::Arg<AsyncValue>| 0i32).blocking().non_strict();
    registry
        .add_raw("call", KernelSignature::any(), |frame| {
            let Some(function) = frame.function(0) else { return };
            let results = function.execute(frame.context(), frame.arguments().cloned());
            frame.set_results(results);
        })
        .non_strict();
    registry
}
