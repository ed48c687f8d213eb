//! `--precision`: models in numbers of 16 bits, how much their results differ from those of f32, and
//! which nodes stay in f32 so that they differ by no more than the user allows.

mod search;

use std::{collections::BTreeSet, ops::ControlFlow, path::Path, sync::Arc};

use tfrt_compiler::{CompileOptions, CompiledModel, Stage, Target, TensorType, pass};
use tfrt_host::{DType, Diagnostic, ErrorCode};
use tfrt_models::kernels::ModelWeights;
use tfrt_tensor::{Accessor, HostTensor};

use super::{
    Failure, model,
    model_inputs::{self, ImageArgs},
    program::MAX_INPUT_BYTES,
    progress::Spinner,
    values,
};
use crate::{Console, Errors, Model, Runtime};

static READ: Accessor = Accessor::new("results in two precisions");

/// The seed of the inputs on which precisions are compared.
const SEED: u64 = 1;

/// The type in which a model computes products and convolutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Precision {
    /// As the model says
    #[default]
    F32,
    /// As f32, with operands rounded to 11 bits where a device has units for that, as NVIDIA's have
    /// since Ampere: for device programs
    Tf32,
    /// 11 bits, and a range up to 65504
    F16,
    /// 8 bits, and the range of f32
    Bf16,
}

impl Precision {
    /// The type that f32 is narrowed to.
    pub(super) fn narrow(self) -> Option<DType> {
        match self {
            Self::F32 | Self::Tf32 => None,
            Self::F16 => Some(DType::F16),
            Self::Bf16 => Some(DType::BF16),
        }
    }
}

/// On which inputs precisions are compared, and how far they may be apart.
#[derive(clap::Args)]
pub(super) struct PrecisionArgs {
    /// Compute products and convolutions of f32 in TYPE, and report the difference
    #[arg(long, value_enum, value_name = "TYPE", default_value = "f32")]
    precision: Precision,
    /// Keep as many nodes in f32 as it takes for no output to differ from that of f32 by more than
    /// PART of its largest value, such as 0.02. The model runs many times
    #[arg(long, value_name = "PART", value_parser = part)]
    max_error: Option<f64>,
    /// Compare precisions on this VALUE of an input, by its name or in order, as 'tfrt run' takes it,
    /// in the place of random numbers
    #[arg(short, long = "input", value_name = "[NAME=]VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,
}

/// Parses a positive number.
fn part(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.);
    number.ok_or_else(|| "it must be a positive number".to_owned())
}

impl PrecisionArgs {
    /// The type that f32 is narrowed to.
    pub(super) fn narrow(&self) -> Option<DType> {
        self.precision.narrow()
    }

    /// Whether operands of f32 may be rounded to TF32.
    pub(super) fn allows_tf32(&self) -> bool {
        self.precision == Precision::Tf32
    }

    /// Refuses options that mean nothing without another precision.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.narrow().is_none() && (self.max_error.is_some() || !self.inputs.is_empty()) {
            return Err(Failure::Usage("--max-error and --input are for --precision f16 or bf16".to_owned()));
        }
        Ok(())
    }

    /// Chooses the nodes that stay in f32, if the user bounds the error. Returns the comparison that
    /// it takes.
    pub(super) fn choose<'a>(
        &self,
        path: &'a Path,
        options: &mut CompileOptions,
        images: &ImageArgs,
        runtime: &'a Runtime,
        console: &mut Console,
    ) -> Result<Option<Comparison<'a>>, Failure> {
        if self.max_error.is_none() && self.inputs.is_empty() {
            return Ok(None);
        }
        let comparison = Comparison::new(path, options, (self, images), runtime, console)?;
        if let Some(max_error) = self.max_error {
            let wide = comparison.wide_nodes(max_error, console)?;
            options.wide_nodes = Arc::new(wide.into_iter().collect());
        }
        Ok(Some(comparison))
    }
}

/// A model in f32 and its results, with which those of other precisions are compared.
pub(super) struct Comparison<'a> {
    path: &'a Path,
    /// How the model is compiled in the narrow type, to run op by op.
    options: CompileOptions,
    runtime: &'a Runtime,
    inputs: Vec<(String, HostTensor)>,
    expected: Vec<(String, HostTensor)>,
    is_random: bool,
}

/// Reports how far the outputs of a compiled model are from those of f32: of a comparison that was
/// made, or on random inputs.
pub(super) fn report(
    comparison: Option<Comparison<'_>>,
    (args, images): (&PrecisionArgs, &ImageArgs),
    (path, options): (&Path, &CompileOptions),
    runtime: &Runtime,
    console: &mut Console,
) {
    let comparison = match comparison {
        Some(comparison) => Ok(comparison),
        None => Comparison::new(path, options, (args, images), runtime, console),
    };
    let reported = comparison.and_then(|made| Ok(made.report(&options.wide_nodes, console)?));
    // The program is as good as it was; only the report is missing.
    if let Err(failure) = reported {
        let why = match failure {
            Failure::Usage(message) => message,
            Failure::Errors(Errors(errors)) => {
                errors.first().map_or_else(String::new, |error| error.message.to_string())
            }
            Failure::Reported | Failure::Interrupted => return,
        };
        console.complain(format_args!("note: the error against f32 is not known: {why}"));
    }
}

/// How far an output is from that of f32.
struct Difference {
    output: String,
    largest_difference: f64,
    /// That by the largest value of f32.
    part: f64,
}

impl<'a> Comparison<'a> {
    /// Runs a model in f32, on inputs that the command line gives or on random ones.
    pub(super) fn new(
        path: &'a Path,
        options: &CompileOptions,
        (args, images): (&PrecisionArgs, &ImageArgs),
        runtime: &'a Runtime,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let options = CompileOptions { target: Target::CoreRuntime, ..options.clone() };
        let mut wide = options.clone();
        wide.passes.narrow = None;
        let model = loaded(path, &wide, runtime)?;
        let inputs = inputs(&model, (args, images), runtime, console)?;
        let expected = results(&model, &inputs)?;
        Ok(Self { path, options, runtime, inputs, expected, is_random: args.inputs.is_empty() })
    }

    /// The differences of all outputs of f32 if these nodes stay in f32.
    fn differences(&self, wide_nodes: BTreeSet<String>) -> Result<Vec<Difference>, Errors> {
        let options = CompileOptions { wide_nodes: Arc::new(wide_nodes), ..self.options.clone() };
        let found = results(&loaded(self.path, &options, self.runtime)?, &self.inputs)?;
        let mut differences = Vec::new();
        for ((output, narrow), (_, wide)) in found.iter().zip(&self.expected) {
            if let Some((largest_difference, largest)) = difference(narrow, wide)? {
                let part = largest_difference / largest.max(f64::MIN_POSITIVE);
                differences.push(Difference { output: output.clone(), largest_difference, part });
            }
        }
        Ok(differences)
    }

    /// The nodes that the narrow type is used for if none stays in f32.
    fn candidates(&self) -> Result<Vec<String>, Errors> {
        let mut nodes = Vec::new();
        let mut observer = |step: &str, stage: Stage<'_>| match stage {
            Stage::Ops(graph) if [pass::NARROW_TO_F16, pass::NARROW_TO_BF16].contains(&step) => {
                nodes = pass::narrowed_nodes(graph);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        };
        let host = self.runtime.host();
        tfrt_compiler::compile_observed(self.path, &self.options, host, &mut observer)?;
        Ok(nodes)
    }

    /// Finds nodes that must stay in f32 for no output to be further away than this part of its
    /// largest value.
    ///
    /// # Errors
    /// FailedPrecondition if an output is further away although all nodes stay, as a random one is.
    fn wide_nodes(&self, max_error: f64, console: &mut Console) -> Result<Vec<String>, Errors> {
        let spinner = Spinner::new(console.is_terminal);
        let candidates = self.candidates()?;
        let mut trials = 0;
        let is_near = |nodes: &[String]| -> Result<bool, Errors> {
            trials += 1;
            spinner.say(format!("trial {trials}: {} of {} nodes in f32", nodes.len(), candidates.len()));
            let differences = self.differences(nodes.iter().cloned().collect())?;
            Ok(differences.iter().all(|difference| difference.part <= max_error))
        };
        let wide = search::fewest(&candidates, is_near)?;
        drop(spinner);
        let all_stay = wide.len() == candidates.len();
        let differences = if all_stay { self.differences(wide.iter().cloned().collect())? } else { vec![] };
        if let Some(far) = differences.iter().find(|difference| difference.part > max_error) {
            let message = format!(
                "output '{}' differs by {:.3} % of its largest value from one run in f32 to the next, so no \
                 choice of nodes keeps it within {} %",
                far.output,
                100. * far.part,
                100. * max_error
            );
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message).into());
        }
        let shown: String = wide.iter().map(|node| format!("\n  {node}")).collect();
        console.complain(format_args!(
            "precision: {} of {} products, convolutions and attentions stay in f32{shown}",
            wide.len(),
            candidates.len()
        ));
        Ok(wide)
    }

    /// Reports how far the outputs are from those of f32 if these nodes stay in f32.
    fn report(&self, wide_nodes: &BTreeSet<String>, console: &mut Console) -> Result<(), Errors> {
        let name = self.options.passes.narrow.map_or("f32", DType::mlir_name);
        let inputs = if self.is_random { "random inputs" } else { "these inputs" };
        for Difference { output, largest_difference, part } in self.differences(wide_nodes.clone())? {
            console.complain(format_args!(
                "precision {name}: '{output}' differs from f32 by at most {largest_difference:.3e}, {:.3} % of its \
                 largest value, on {inputs}",
                100. * part
            ));
        }
        Ok(())
    }
}

/// A model that is ready to run on the host.
fn loaded(path: &Path, options: &CompileOptions, runtime: &Runtime) -> Result<Model, Errors> {
    let CompiledModel { bef, weights, .. } = runtime.compile_model(path, options)?;
    let program = runtime.load(&path.to_string_lossy(), bef)?;
    Model::prepare(program, ModelWeights::Tensors(weights.into_iter().collect()))
}

/// The inputs of a model: those that the command line gives, and random ones.
fn inputs(
    model: &Model,
    (args, images): (&PrecisionArgs, &ImageArgs),
    runtime: &Runtime,
    console: &mut Console,
) -> Result<Vec<(String, HostTensor)>, Failure> {
    let allocator = runtime.host().allocator();
    let ports: Vec<_> = model.inputs().map(|(name, ty)| (name.to_owned(), ty.to_owned())).collect();
    let mut given: Vec<Option<&str>> = vec![None; ports.len()];
    for input in &args.inputs {
        let by_name =
            input.split_once('=').and_then(|(name, text)| Some((model::position(&ports, name)?, text)));
        let is_value = input.starts_with('@')
            || input.split_once('=').is_none_or(|(ty, _)| TensorType::parse(ty).is_some());
        let next = given.iter().position(Option::is_none).filter(|_| is_value);
        let Some((number, text)) = by_name.or_else(|| Some((next?, input.as_str()))) else {
            let names = ports.iter().map(|(name, ty)| format!("'{name}' ({ty})")).collect::<Vec<_>>();
            let message =
                format!("'{input}' is for none of the model's inputs, which are {}", names.join(", "));
            return Err(Failure::Usage(message));
        };
        if given[number].replace(text).is_some() {
            return Err(Failure::Usage(format!("input '{}' is given twice", ports[number].0)));
        }
    }
    let mut inputs = Vec::new();
    for ((name, ty), text) in ports.into_iter().zip(given) {
        let unknown = || Diagnostic::invalid_argument(format!("input '{name}' has the type {ty}"));
        let parsed = TensorType::parse(&ty).ok_or_else(unknown)?;
        let value = match text {
            None => model_inputs::random(&parsed, SEED, allocator)?,
            Some(text) => {
                let read = |text: &str, ty: &str| values::parse(text, ty, MAX_INPUT_BYTES, allocator);
                model_inputs::parse(text, Some(&parsed), images, allocator, console, read)
                    .map_err(|failure| failure.in_context(format!("input '{name}' ({ty})")))?
            }
        };
        let tensor = value.get::<HostTensor>().cloned().ok_or_else(unknown)?;
        inputs.push((name, tensor));
    }
    Ok(inputs)
}

/// The outputs of a model, with their names.
fn results(model: &Model, inputs: &[(String, HostTensor)]) -> Result<Vec<(String, HostTensor)>, Errors> {
    let outputs = model.run(inputs.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())))?;
    Ok(model.outputs().map(|(name, _)| name.to_owned()).zip(outputs).collect())
}

/// The largest difference of two tensors of f32 and the largest number; nothing for other types.
fn difference(narrow: &HostTensor, wide: &HostTensor) -> Result<Option<(f64, f64)>, Diagnostic> {
    if wide.dtype() != DType::F32 || narrow.metadata() != wide.metadata() {
        return Ok(None);
    }
    let (narrow, wide) = (narrow.dense()?.read::<f32>(&READ)?, wide.dense()?.read::<f32>(&READ)?);
    // A number that is none in one of them is as far away as any.
    let apart = |(&a, &b): (&f32, &f32)| match f64::from(a) - f64::from(b) {
        _ if a == b || a.is_nan() && b.is_nan() => 0.,
        apart if apart.is_nan() => f64::INFINITY,
        apart => apart.abs(),
    };
    let largest =
        wide.iter().filter(|x| x.is_finite()).fold(0., |most: f64, &x| most.max(f64::from(x).abs()));
    Ok(Some((narrow.iter().zip(wide.iter()).map(apart).fold(0., f64::max), largest)))
}
