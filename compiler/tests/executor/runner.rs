//! Compiles op graphs and runs them.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use tfrt_bef::VerifiedBef;
use tfrt_compiler::{Evaluator, Graph, dialect, lower, pass};
use tfrt_convert::{ConvertOptions, mlir_to_bef, operations};
use tfrt_host::{
    AsyncValue, BefFile, ExecutionContext, HostContext, KernelRegistry, RequestContext, ResourceContext,
    allocator::SystemAllocator, work_queue,
};
use tfrt_ir::{InsertionPoint, Module, OpRegistry, OpState, ParseOptions, Source, parse_module};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor};

static READ: Accessor = Accessor::new("test");

/// How a graph runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// As a graph.
    Direct,
    /// As conditionals and loops.
    Functional,
    /// As conditionals and loops, those over scalars as one op each.
    Compiled,
}

pub(crate) const PATHS: [Path; 3] = [Path::Direct, Path::Functional, Path::Compiled];

pub(crate) struct Runner {
    host: Arc<HostContext>,
    kernels: KernelRegistry,
    ops: OpRegistry,
    kernel_ops: OpRegistry,
    evaluator: Evaluator,
}

impl Runner {
    pub(crate) fn new() -> Self {
        let queue = work_queue::from_str("mstd:2").expect("a queue");
        let host = HostContext::builder(queue, Arc::new(SystemAllocator)).build();
        let mut kernels = KernelRegistry::new();
        tfrt_kernels::register(&mut kernels);
        tfrt_eager::kernels::register(&mut kernels);
        let mut ops = OpRegistry::new();
        ops.add_core_ops().expect("good formats");
        dialect::register(&mut ops).expect("good formats");
        let kernel_ops = operations(&kernels).expect("good kernels");
        let evaluator = Evaluator::new(&host).expect("an evaluator");
        Self { host, kernels, ops, kernel_ops, evaluator }
    }

    /// Lowers an op graph. Returns the program, and the names of the kernels in its functions.
    pub(crate) fn compile(&self, text: &str, path: Path) -> Result<(Vec<u8>, Vec<String>), String> {
        let module = parse_module(&Source::new("graph.mlir", text), &self.ops, &ParseOptions::default());
        let module = module.map_err(|errors| errors.to_string())?;
        let mut graph = Graph::from_module(module, &self.evaluator).map_err(|errors| errors.to_string())?;
        let is_chosen = |pass: &pass::Pass| match pass.name {
            "scalar-loops" => path == Path::Compiled,
            _ => true,
        };
        let keep_graphs = path == Path::Direct;
        let options = pass::PassOptions { verify_each: true, keep_graphs, ..pass::PassOptions::default() };
        let mut passes = pass::pipeline(options);
        passes.retain(is_chosen);
        let mut after = |_: &pass::Pass, _: &Graph, _: Duration| ControlFlow::Continue(());
        let run = pass::run(&passes, &mut graph, &self.evaluator, options, &mut after);
        assert!(run.map_err(|errors| errors.to_string())?.is_continue());
        let lowered = lower::corert::lower(&graph, &self.evaluator, lower::corert::Place::Default);
        let mut module = lowered.map_err(|errors| errors.to_string())?.module;
        // Its kernel comes with the tools for models.
        if let Some(signature) = module.function(lower::SIGNATURE).map(|function| function.op()) {
            module.erase_op(signature);
        }
        use_host_memory(&mut module);
        let names = module.walk(module.root()).map(|op| module.op(op).name.to_string()).collect();
        let bef = mlir_to_bef(&module, &self.kernel_ops, ConvertOptions::default());
        Ok((bef.map_err(|errors| errors.to_string())?, names))
    }

    /// Runs a function of scalars.
    pub(crate) fn run(&self, text: &str, path: Path, inputs: &[i32]) -> Result<Vec<i32>, String> {
        let (bef, names) = self.compile(text, path)?;
        let is_direct = names.iter().any(|name| name == "corert.execute_graph");
        assert!(path != Path::Direct || is_direct, "{names:?}");
        self.call(bef, inputs)
    }

    pub(crate) fn call(&self, bef: Vec<u8>, inputs: &[i32]) -> Result<Vec<i32>, String> {
        self.call_until(bef, inputs, None)
    }

    /// Calls a program with a deadline.
    pub(crate) fn call_until(
        &self,
        bef: Vec<u8>,
        inputs: &[i32],
        deadline: Option<Duration>,
    ) -> Result<Vec<i32>, String> {
        let bef = VerifiedBef::new(bef).map_err(|errors| format!("{errors:?}"))?;
        let file = BefFile::load(bef, &self.kernels).map_err(|errors| format!("{errors:?}"))?;
        let request = RequestContext::new(self.host.clone(), Arc::new(ResourceContext::new()));
        if let Some(deadline) = deadline {
            request.set_deadline(deadline).map_err(|error| error.message)?;
        }
        let cx = ExecutionContext::new(request.clone(), file.clone());
        let call = |name: &str, arguments: Vec<AsyncValue>| {
            let function = file.function(name).expect("the compiler makes it");
            request.await_values(function.execute(&cx, arguments)).map_err(|error| error.message)
        };
        let mut arguments = call(lower::SETUP, Vec::new())?;
        for &input in inputs {
            let tensor = DenseHostTensor::from_slice([], &[input], self.evaluator.allocator());
            arguments.push(AsyncValue::new(HostTensor::from(tensor.expect("memory"))));
        }
        call("main", arguments)?.iter().map(|result| self.integer(result)).collect()
    }

    fn integer(&self, value: &AsyncValue) -> Result<i32, String> {
        if let Some(error) = value.error() {
            return Err(error.message.clone());
        }
        let tensor = value.get::<HostTensor>().ok_or("not a tensor")?;
        let dense = tensor.to_dense(&READ, self.evaluator.allocator()).map_err(|error| error.message)?;
        Ok(dense.read::<i32>(&READ).map_err(|error| error.message)?[0])
    }
}

/// Makes the op handler one for host memory. The default one looks for devices.
fn use_host_memory(module: &mut Module) {
    let found =
        module.walk(module.root()).find(|&op| module.op(op).name == "corert.create_default_op_handler");
    let op = found.expect("setup makes a handler");
    let ty = module.result_types(op);
    let none = module.create_op(OpState::new("corert.create_null_op_handler").results(ty));
    module.insert_op(InsertionPoint::Before(op), none);
    let none = module.op(none).results[0];
    module.set_operands(op, [none]);
    *module.op_mut(op).name = "corert.create_cpu_op_handler".into();
}
