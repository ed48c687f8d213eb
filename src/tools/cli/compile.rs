//! `tfrt compile`: a model as a program and its weights.

use std::{
    ffi::OsStr,
    io::{self, Write as _},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use tfrt_compiler::{
    CompiledModel, IMPORT, LOWER, Stage, Target,
    lower::cuda::{CudaOptions, DevicePlan},
    pass,
};
use tfrt_host::Diagnostic;
use tfrt_ir::{OpRegistry, PrintOptions, print_module};
use tfrt_tensor::Accessor;

use super::{
    Failure,
    explain::ExplainArgs,
    file_error,
    model::{self, ModelArgs},
    precision::{self, PrecisionArgs},
    weights,
};
use crate::{
    Console, Runtime, SharedWriter,
    devices::kernel_generator,
    files::{check_output_path, replace_file},
};

static WRITE: Accessor = Accessor::new("weights of a compiled model");

/// Stands for all steps of the compiler.
const ALL: &str = "all";
/// Larger constants show no elements on a terminal.
const MAX_SHOWN_BYTES: usize = 256;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model to compile: an ONNX file, a GraphDef (.pb or .pbtxt), or the folder of a SavedModel
    model: PathBuf,
    /// Write the program to FILE, and its weights beside it with the extension .safetensors; with
    /// --stop-after, the text
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["stop_after", "explain"])]
    output: Option<PathBuf>,
    /// Compile for the core runtime, for host memory alone, or make a device program with planned
    /// memory
    #[arg(long, value_enum, default_value = "corert")]
    target: TargetName,
    /// Queue each op of a device program at every call, instead of launching a graph of them
    #[arg(long)]
    no_graph: bool,
    /// Use the runtime's own kernels alone in a device program, instead of compiling kernels for the
    /// model's elementwise functions where NVRTC is installed
    #[arg(long)]
    fixed_kernels: bool,
    /// Plan a device program for each of these batch sizes, the first extent of the inputs; a run
    /// chooses by its inputs
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    batch: Vec<u64>,
    #[command(flatten)]
    precision: PrecisionArgs,
    /// Refuse ops that no device can run in planned memory, instead of running them on the host
    #[arg(long)]
    strict: bool,
    /// Print the program as MLIR text
    #[arg(long)]
    print: bool,
    /// Print the model to standard error after the step NAME: 'import', a pass, 'lower' or 'all'
    #[arg(long, value_name = "NAME", value_parser = step_or_all)]
    print_ir_after: Vec<String>,
    /// End after the step NAME, and print the model's op graph or program as text
    #[arg(long, value_name = "NAME", value_parser = step, conflicts_with = "print")]
    stop_after: Option<String>,
    #[command(flatten)]
    plan: ExplainArgs,
    #[command(flatten)]
    options: ModelArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TargetName {
    /// Ops of the core runtime, on the device that is chosen when the program runs
    Corert,
    /// The same ops in host memory, also where there is a device
    Host,
    /// A device program, which needs static shapes
    Cuda,
}

impl Args {
    /// The batch sizes in ascending order, each once.
    fn batches(&self) -> Vec<u64> {
        let mut sizes = self.batch.clone();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn cuda_options(&self) -> Result<CudaOptions, Failure> {
        Ok(CudaOptions {
            records_graph: !self.no_graph,
            streams: self.plan.streams,
            is_strict: self.strict,
            machine: self.plan.predict_for,
            costs: self.plan.costs()?.map(Arc::new),
            allows_tf32: self.precision.allows_tf32(),
            batches: self.batches(),
            generator: kernel_generator().ok().filter(|_| !self.fixed_kernels),
            ..CudaOptions::default()
        })
    }
}

/// Parses the name of a step of the compiler.
fn step(name: &str) -> Result<String, String> {
    let is_step = name == IMPORT || name == LOWER || pass::find(name).is_some();
    is_step.then(|| name.to_owned()).ok_or_else(|| {
        let passes: Vec<_> = pass::PASSES.iter().map(|pass| pass.name).collect();
        format!("the steps are {IMPORT}, {}, {LOWER}", passes.join(", "))
    })
}

fn step_or_all(name: &str) -> Result<String, String> {
    if name == ALL { Ok(name.to_owned()) } else { step(name) }
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    if !model::is_model(&args.model) {
        let message = format!(
            "'{}' is not a model: it is no .onnx, .pb or .pbtxt file and no folder of a SavedModel",
            args.model.display()
        );
        return Err(Failure::Usage(message));
    }
    let needs_device =
        args.strict || args.fixed_kernels || !args.batch.is_empty() || args.precision.allows_tf32();
    if needs_device && args.target != TargetName::Cuda {
        let message = "--strict, --fixed-kernels, --batch and --precision tf32 are for device programs: add \
                       --target cuda";
        return Err(Failure::Usage(message.to_owned()));
    }
    let files = output_files(args)?;
    args.plan.check()?;
    args.precision.check()?;
    let runtime = Runtime::builder().build()?;
    let ops = crate::operations(runtime.registry())?;
    let mut watch = Watch { args, ops: &ops, log: console.error.clone(), stopped: None, explained: None };
    let mut options = args.options.options()?;
    options.passes.narrow = args.precision.narrow();
    options.target = match args.target {
        TargetName::Corert => Target::CoreRuntime,
        TargetName::Host => Target::Host,
        TargetName::Cuda => Target::Cuda(args.cuda_options()?),
    };
    let comparison =
        args.precision.choose(&args.model, &mut options, &args.options.images, &runtime, console)?;
    let compiled = model::compile_observed(&args.model, &options, &runtime, console, &mut |step, stage| {
        watch.after(step, stage)
    });
    let compiled = compiled?;
    if let Some(plan) = compiled.as_ref().and_then(|compiled| compiled.plan.as_ref()) {
        report_plan(plan, args, console)?;
    }
    if let Some(explained) = watch.explained {
        console.print(explained?);
    }
    let Some(compiled) = compiled else {
        let text = watch.stopped.unwrap_or_default();
        match &args.output {
            Some(file) => write(file, text.as_bytes())?,
            None => console.print(text),
        }
        return Ok(());
    };
    model::report_compilation(&compiled, &args.options, console);
    if options.passes.narrow.is_some() {
        let parts = (&args.precision, &args.options.images);
        precision::report(comparison, parts, (&args.model, &options), &runtime, console);
    }
    if args.print {
        console.print(print_module(&compiled.module, &ops, PrintOptions::default()));
    }
    match files {
        Some((program, weights)) => write_program(&compiled, program, &weights, &ops, &runtime),
        None => Ok(()),
    }
}

/// Explains a device program if the user asks, and else says what of it runs on the host.
fn report_plan(plan: &DevicePlan, args: &Args, console: &mut Console) -> Result<(), Failure> {
    if args.plan.explain {
        console.print(args.plan.explain_program(plan, args.fixed_kernels)?);
    } else if !plan.host_ops.is_empty() {
        let (ops, graphs) = (plan.host_ops.len(), plan.region_count);
        console.complain(format_args!(
            "note: ops that run on the host: {ops}, between graphs of the device: {graphs}; --explain lists them"
        ));
    }
    Ok(())
}

/// The files of the program and of its weights, which must be different and in folders that exist.
fn output_files(args: &Args) -> Result<Option<(&Path, PathBuf)>, Failure> {
    let Some(program) = args.output.as_deref() else { return Ok(None) };
    let check = |file: &Path| check_output_path(file).map_err(|error| file_error("write", file, error));
    check(program)?;
    if args.stop_after.is_some() {
        return Ok(None);
    }
    let is_program =
        |extension: &OsStr| ["bef", "mlir"].iter().any(|own| extension.eq_ignore_ascii_case(own));
    if !program.extension().is_some_and(is_program) {
        let message = format!("'{}' is no name of a program: write FILE.bef or FILE.mlir", program.display());
        return Err(Failure::Usage(message));
    }
    let weights = program.with_extension("safetensors");
    let real = |file: &Path| file.canonicalize().ok();
    if let Some(model) = real(&args.model)
        && [real(program), real(&weights)].contains(&Some(model))
    {
        return Err(Failure::Usage("the program would overwrite the model; name it otherwise".to_owned()));
    }
    check(&weights)?;
    Ok(Some((program, weights)))
}

/// Shows the model after the steps that the command line names.
struct Watch<'a> {
    args: &'a Args,
    ops: &'a OpRegistry,
    log: SharedWriter,
    /// The model's text after the last step.
    stopped: Option<String>,
    /// The plan as text.
    explained: Option<Result<String, Failure>>,
}

impl Watch<'_> {
    fn after(&mut self, step: &str, stage: Stage<'_>) -> ControlFlow<()> {
        if self.args.print_ir_after.iter().any(|name| name == ALL || name == step) {
            let text = self.text(stage, MAX_SHOWN_BYTES);
            // If nobody reads the log, that does not stop the compiler.
            let _ = write!(self.log, "// After {step}\n{text}");
        }
        let is_last_pass = pass::PASSES.last().is_some_and(|pass| pass.name == step);
        // A device program is explained as it was lowered.
        if self.args.plan.explain
            && self.args.target == TargetName::Corert
            && is_last_pass
            && let Stage::Ops(graph) = stage
        {
            let explained = self.args.plan.explain(graph);
            let is_done = explained.is_err() || (self.args.output.is_none() && !self.args.print);
            self.explained = Some(explained);
            if is_done {
                return ControlFlow::Break(());
            }
        }
        if self.args.stop_after.as_deref() != Some(step) {
            return ControlFlow::Continue(());
        }
        // Text in a file is complete, so that other tools can read it.
        let max_bytes = if self.args.output.is_some() { usize::MAX } else { MAX_SHOWN_BYTES };
        self.stopped = Some(self.text(stage, max_bytes));
        ControlFlow::Break(())
    }

    /// The model as text; constants of an op graph with at most `max_bytes` show their elements.
    fn text(&self, stage: Stage<'_>, max_bytes: usize) -> String {
        match stage {
            Stage::Ops(graph) => print_module(&graph.to_module(max_bytes), self.ops, PrintOptions::default()),
            Stage::Kernels(module) => print_module(module, self.ops, PrintOptions::default()),
        }
    }
}

/// Writes the program and its weights. A program whose file ends in `.mlir` is written as text.
fn write_program(
    compiled: &CompiledModel,
    program: &Path,
    weights_file: &Path,
    ops: &OpRegistry,
    runtime: &Runtime,
) -> Result<(), Failure> {
    let allocator = runtime.host().allocator();
    let dense = compiled
        .weights
        .iter()
        .map(|(name, tensor)| Ok((name.as_str(), tensor.to_dense(&WRITE, allocator)?)));
    let dense = dense.collect::<Result<Vec<_>, Diagnostic>>()?;
    let dense: Vec<_> = dense.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let is_text = program.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mlir"));
    let options = PrintOptions { debug_info: true, ..PrintOptions::default() };
    // Kernels that no node of the model became are not worth a word.
    let text = is_text.then(|| print_module(&compiled.module, ops, options).replace(" loc(unknown)", ""));
    let program_bytes = text.as_ref().map_or(&*compiled.bef, |text| text.as_bytes());
    replace_file(weights_file, |temporary| {
        weights::write(temporary, &dense, program_bytes).map_err(|error| io::Error::other(error.message))
    })
    .map_err(|error| file_error("write", weights_file, error))?;
    write(program, program_bytes)?;
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    replace_file(file, |temporary| std::fs::write(temporary, bytes))
        .map_err(|error| file_error("write", file, error))
}
