//! `--precision`: models in numbers of 16 bits, and how much their results differ from those of
//! f32.

use std::path::Path;

use tfrt_compiler::{CompileOptions, CompiledModel, Target, TensorType};
use tfrt_host::{DType, Diagnostic};
use tfrt_models::kernels::ModelWeights;
use tfrt_tensor::{Accessor, HostTensor};

use super::values::random;
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
    /// 11 bits, and a range up to 65504
    F16,
    /// 8 bits, and the range of f32
    Bf16,
}

impl Precision {
    /// The type that f32 is narrowed to.
    pub(super) fn narrow(self) -> Option<DType> {
        match self {
            Self::F32 => None,
            Self::F16 => Some(DType::F16),
            Self::Bf16 => Some(DType::BF16),
        }
    }
}

/// Runs a model in both precisions on random inputs, on the host, and reports how far its outputs
/// are apart.
pub(super) fn report(path: &Path, options: &CompileOptions, runtime: &Runtime, console: &mut Console) {
    match differences(path, options, runtime) {
        Ok(lines) => lines.iter().for_each(|line| console.complain(line)),
        // The program is as good as it was; only the report is missing.
        Err(errors) => {
            let why = errors.0.first().map_or_else(String::new, |error| error.message.to_string());
            console.complain(format_args!("note: the error against f32 is not known: {why}"));
        }
    }
}

fn differences(path: &Path, options: &CompileOptions, runtime: &Runtime) -> Result<Vec<String>, Errors> {
    let mut options = CompileOptions { target: Target::CoreRuntime, ..options.clone() };
    let narrow = results(path, &options, runtime)?;
    let name = options.passes.narrow.take().map_or("f32", DType::mlir_name);
    let wide = results(path, &options, runtime)?;
    let mut lines = Vec::new();
    for ((port, narrow), (_, wide)) in narrow.iter().zip(&wide) {
        if let Some((difference, largest)) = difference(narrow, wide)? {
            let part = 100. * difference / largest.max(f64::MIN_POSITIVE);
            lines.push(format!(
                "precision {name}: '{port}' differs from f32 by at most {difference:.3e}, {part:.3} % of its largest \
                 value, on random inputs"
            ));
        }
    }
    Ok(lines)
}

/// The outputs of a model for random inputs, with their names.
fn results(
    path: &Path,
    options: &CompileOptions,
    runtime: &Runtime,
) -> Result<Vec<(String, HostTensor)>, Errors> {
    let CompiledModel { bef, weights, .. } = runtime.compile_model(path, options)?;
    let program = runtime.load(&path.to_string_lossy(), bef)?;
    let model = Model::prepare(program, ModelWeights::Tensors(weights.into_iter().collect()))?;
    let mut inputs = Vec::new();
    for (name, ty) in model.inputs() {
        let unknown = || Diagnostic::invalid_argument(format!("input '{name}' has the type {ty}"));
        let ty = TensorType::parse(ty).ok_or_else(unknown)?;
        // An extent that is open is one.
        let dims = ty.dims.map(|dims| dims.into_iter().map(|dim| Some(dim.unwrap_or(1))).collect());
        let metadata = TensorType { dtype: ty.dtype, dims }.metadata().ok_or_else(unknown)?;
        let allocator = runtime.host().allocator();
        let tensor = random::tensor(metadata.dtype, metadata.shape, SEED, allocator)?;
        inputs.push((name, HostTensor::from(tensor)));
    }
    let outputs = model.run(inputs)?;
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
