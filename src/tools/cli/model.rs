//! Models as programs: an ONNX file, a GraphDef or a SavedModel is compiled when it is opened; a
//! BEF file that was compiled from a model brings its weights along.

use std::{ops::ControlFlow, path::Path, time::Duration};

use tfrt_compiler::{
    CompileOptions, CompiledModel, Evaluator, Observer, PASSES, Stage, Target, TensorType,
    import::{ImportOptions, onnx::describe_file, tensorflow},
    lower::{SIGNATURE, cuda::CudaOptions},
};
use tfrt_host::{AsyncValue, Diagnostic};
use tfrt_models::kernels::{ModelSignature, ModelWeights};

use super::{
    Failure, file_error, host_ops,
    model_inputs::{ImageArgs, given_shape},
    program::named,
    progress::Spinner,
    weights,
};
use crate::{Console, Errors, Program, Runtime, devices::kernel_generator};

/// What the user says of a model's inputs and outputs.
#[derive(clap::Args)]
pub(super) struct ImportArgs {
    /// Set the shape of a model's input: x=1x3x224x224 (? for an extent that stays open), or of a
    /// named dimension: batch=8
    #[arg(long = "input-shape", value_name = "NAME=SHAPE")]
    input_shapes: Vec<String>,
    /// Call the signature NAME of a SavedModel [default: serving_default, or the only one]
    #[arg(long, value_name = "NAME")]
    signature: Option<String>,
    /// Use the graph of a SavedModel that has these TAGS [default: serve]
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    tags: Vec<String>,
    /// Make tensor NAME an output of a GraphDef, in the place of the tensors that nothing uses
    #[arg(long = "output-tensor", value_name = "NAME")]
    output_tensors: Vec<String>,
}

impl ImportArgs {
    /// Adds the arguments to the options of the importer.
    pub(super) fn apply(&self, options: &mut ImportOptions) -> Result<(), Failure> {
        options.signature.clone_from(&self.signature);
        options.tags.clone_from(&self.tags);
        options.outputs.clone_from(&self.output_tensors);
        for text in &self.input_shapes {
            let wrong = || {
                Failure::Usage(format!(
                    "invalid value '{text}' for '--input-shape': write NAME=SHAPE, as x=1x3x224x224 or batch=8"
                ))
            };
            let (name, shape) = text.split_once('=').ok_or_else(wrong)?;
            let extent = |extent: &str| match extent {
                "?" => Some(None),
                extent => extent.parse().ok().map(Some),
            };
            let dims: Vec<Option<u64>> =
                shape.split('x').map(extent).collect::<Option<_>>().ok_or_else(wrong)?;
            // A single number is the extent of a named dimension, and the shape of an input that is
            // a vector.
            if let [Some(extent)] = dims[..] {
                options.dimensions.insert(name.to_owned(), extent);
            }
            options.input_shapes.insert(name.to_owned(), dims);
        }
        Ok(())
    }
}

/// The options of commands that open models.
#[derive(clap::Args)]
pub(super) struct ModelArgs {
    #[command(flatten)]
    import: ImportArgs,
    /// Print how long each phase and each pass of compiling a model took
    #[arg(long)]
    pub(super) timing: bool,
    /// Verify a model's op graph after each pass of the compiler
    #[arg(long)]
    verify_each: bool,
    /// Name each op of a model that has no form for devices and runs in host memory, if the model
    /// runs on a device
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Run a model as a device program: its memory and streams are planned, and its work is
    /// recorded once and launched as one graph
    #[arg(long)]
    graph: bool,
    /// Check all weights of a compiled model against their checksum, however large their file is
    #[arg(long)]
    pub(super) verify_weights: bool,
    #[command(flatten)]
    pub(super) images: ImageArgs,
}

impl ModelArgs {
    /// What the arguments say, as options of the compiler.
    pub(super) fn options(&self) -> Result<CompileOptions, Failure> {
        let mut options = CompileOptions::default();
        options.passes.verify_each = self.verify_each;
        if self.graph {
            let generator = kernel_generator().ok();
            options.target = Target::Cuda(CudaOptions { generator, ..CudaOptions::default() });
        }
        self.import.apply(&mut options.import)?;
        Ok(options)
    }
}

impl ModelArgs {
    /// Refuses options that a program which is compiled already cannot follow.
    pub(super) fn check_program(&self, path: &Path) -> Result<(), Failure> {
        if !self.import.input_shapes.is_empty() {
            return Err(Failure::Usage(format!(
                "--input-shape is for models, and {} is a program; give inputs of the shape with -i, or compile it with --input-shape",
                path.display()
            )));
        }
        if self.graph {
            return Err(Failure::Usage(format!(
                "--graph compiles a model, and {} is a program; 'tfrt compile --target cuda' makes one that launches a graph",
                path.display()
            )));
        }
        Ok(())
    }
}

/// A program that was compiled from a model.
pub(super) struct Model {
    pub(super) signature: ModelSignature,
    pub(super) weights: Option<ModelWeights>,
}

/// Whether a file is a model that must be compiled. A pipe is not read to find out, because it can
/// be read only once.
pub(super) fn is_model(path: &Path) -> bool {
    is_graph(path)
        || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"))
        || tensorflow::is_saved_model(path)
        || path.is_file() && tfrt_compiler::is_op_graph(path)
}

/// Whether a file is a GraphDef, whose outputs are the tensors that the caller names.
fn is_graph(path: &Path) -> bool {
    path.is_file() && tensorflow::is_tensorflow(path)
}

/// Compiles a model and loads the program. The caller names inputs that it gives, and `outputs`
/// that are tensors of a GraphDef.
pub(super) fn open(
    path: &Path,
    args: &ModelArgs,
    inputs: &[String],
    outputs: &[String],
    runtime: &Runtime,
    console: &mut Console,
) -> Result<(Program, Model), Failure> {
    let mut options = runtime.adapted(&args.options()?);
    options.import.given.extend(inputs.iter().filter_map(|text| named(text)).map(str::to_owned));
    if is_graph(path) {
        let named = outputs.iter().filter(|name| !options.import.outputs.contains(name)).cloned();
        let named: Vec<_> = named.collect();
        options.import.outputs.extend(named);
    }
    let mut proceed = |_: &str, _: Stage<'_>| ControlFlow::Continue(());
    let compiled = match compile_observed(path, &options, runtime, console, &mut proceed) {
        // Some ops can only be imported once shapes are known.
        Err(error) => with_given_shapes(path, &options, inputs, runtime)
            .and_then(|options| compile_observed(path, &options, runtime, console, &mut proceed).ok())
            .ok_or(error)?,
        Ok(compiled) => compiled,
    };
    let compiled = compiled.ok_or_else(|| Diagnostic::internal("the compilation was stopped"))?;
    report_compilation(&compiled, args, console);
    if args.verbose {
        host_ops::report(&compiled.bef, runtime, console)?;
    }
    let program = runtime.load(&path.to_string_lossy(), compiled.bef)?;
    let signature = signature_of(&program)?.unwrap_or_default();
    let weights = ModelWeights::of_compiled(compiled.weights, runtime.host().allocator());
    Ok((program, Model { signature, weights: Some(weights) }))
}

/// Returns the options with the shapes of the values that the caller gives, if that sets the shape of
/// another input.
fn with_given_shapes(
    path: &Path,
    options: &CompileOptions,
    inputs: &[String],
    runtime: &Runtime,
) -> Option<CompileOptions> {
    let evaluator = Evaluator::new(runtime.host()).ok()?;
    // The outcome of the import is told anyway.
    let described = describe_file(path, &evaluator).ok()?;
    let mut unnamed = described.inputs.iter().map(|(name, _)| name);
    let mut with_shapes = options.clone();
    for text in inputs {
        let (name, value) = match named(text) {
            Some(name) => (name, text.get(name.len() + 1..)?),
            None => (unnamed.next()?.as_str(), text.as_str()),
        };
        let Some(dims) = given_shape(value, runtime.host().allocator()) else { continue };
        let shapes = &mut with_shapes.import.input_shapes;
        shapes.entry(name.to_owned()).or_insert_with(|| dims.into_iter().map(Some).collect());
    }
    (with_shapes.import.input_shapes.len() > options.import.input_shapes.len()).then_some(with_shapes)
}

/// Compiles a model and shows the progress on terminals.
pub(super) fn compile_observed(
    path: &Path,
    options: &CompileOptions,
    runtime: &Runtime,
    console: &Console,
    observer: Observer<'_>,
) -> Result<Option<CompiledModel>, Failure> {
    let spinner = Spinner::new(console.is_terminal);
    spinner.say(format!("importing {}", path.display()));
    let compiled = tfrt_compiler::compile_observed(path, options, runtime.host(), &mut |step, stage| {
        spinner.say(format!("compiling {}: after {step}", path.display()));
        observer(step, stage)
    });
    Ok(compiled.map_err(Errors::from)?)
}

/// Tells what the compiler noticed, and how long it took if the user asks.
pub(super) fn report_compilation(compiled: &CompiledModel, args: &ModelArgs, console: &mut Console) {
    for warning in &compiled.warnings {
        console.complain(format_args!("{warning}"));
    }
    if !args.timing {
        return;
    }
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    for (phase, time) in &compiled.timing.phases {
        console.complain(format_args!("{phase}: {:.1} ms", ms(time)));
        if *phase == PASSES {
            for (pass, time) in &compiled.timing.passes {
                console.complain(format_args!("  {pass}: {:.1} ms", ms(time)));
            }
        }
    }
}

/// The model that a program was compiled from, if it was. Its weights are in `file`, or in the file
/// of the same name beside it.
///
/// # Errors
/// A weight file that is named and does not exist, belongs to another program, or whose weights have
/// changed.
pub(super) fn of_program(
    program: &Program,
    path: &Path,
    file: Option<&Path>,
    verify_weights: bool,
    runtime: &Runtime,
) -> Result<Option<Model>, Failure> {
    let Some(signature) = signature_of(program)? else { return Ok(None) };
    let is_named = file.is_some();
    let file = file.map_or_else(|| path.with_extension("safetensors"), Path::to_owned);
    if !is_named && !file.exists() {
        return Ok(Some(Model { signature, weights: None }));
    }
    let bytes = std::fs::read(path).map_err(|error| file_error("read", path, error))?;
    let weights = weights::open(&file, path, &bytes, verify_weights, runtime.host().allocator())?;
    Ok(Some(Model { signature, weights: Some(ModelWeights::File(weights)) }))
}

/// What a program says of itself, if it was compiled from a model.
fn signature_of(program: &Program) -> Result<Option<ModelSignature>, Failure> {
    match program.file().function(SIGNATURE) {
        Some(function) if function.argument_types().len() == 0 => {}
        _ => return Ok(None),
    }
    let results = program.call(SIGNATURE, [])?;
    Ok(results.first().and_then(AsyncValue::get::<ModelSignature>).cloned())
}

impl Model {
    /// The type of an input.
    pub(super) fn input_type(&self, index: usize) -> Option<TensorType> {
        TensorType::parse(&self.signature.inputs.get(index)?.1)
    }

    /// The number of the output of this name.
    pub(super) fn output(&self, name: &str) -> Option<usize> {
        position(&self.signature.outputs, name)
    }

    /// The number of the input of this name.
    pub(super) fn input(&self, name: &str) -> Option<usize> {
        position(&self.signature.inputs, name)
    }
}

/// The number of the port of this name. TensorFlow's tensors have two names: `x` is short for
/// `x:0`.
pub(super) fn position(ports: &[(String, String)], name: &str) -> Option<usize> {
    let short = |name: &str| name.strip_suffix(":0").unwrap_or(name).to_owned();
    let exact = ports.iter().position(|(port, _)| port == name);
    exact.or_else(|| ports.iter().position(|(port, _)| short(port) == short(name)))
}
