//! Models: compiled once, run many times.

use std::{path::Path, sync::Arc};

use tfrt_compiler::{
    CompileOptions, TensorType,
    lower::{SETUP, SIGNATURE},
};
use tfrt_host::{AsyncValue, Diagnostic, RequestContext, ResourceContext};
use tfrt_models::kernels::{MODEL_WEIGHTS, ModelSignature, ModelWeights};
use tfrt_tensor::HostTensor;

use crate::{Call, Errors, Program, Runtime};

/// A model that is ready to run. Cloning a model shares it.
///
/// ```no_run
/// use tfrt::{Runtime, tensor::{DenseHostTensor, TensorShape}};
///
/// let runtime = Runtime::builder().build()?;
/// let model = runtime.load_model("resnet50.onnx", &Default::default())?;
/// for (name, ty) in model.inputs() {
///     println!("{name}: {ty}");
/// }
/// let shape = TensorShape::new(&[1, 3, 224, 224])?;
/// let image = DenseHostTensor::from_vec(shape, vec![0.5_f32; 3 * 224 * 224])?;
/// let outputs = model.run([("data", image.into())])?;
/// println!("scores of shape {}", outputs[0].shape());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    program: Program,
    signature: ModelSignature,
    /// What `main` takes before the model's inputs: the op handler and the constants.
    prepared: Vec<AsyncValue>,
    resources: Arc<ResourceContext>,
}

impl Runtime {
    /// Compiles a model's file and prepares it to run: on a CUDA device if the runtime has one,
    /// else on the host.
    ///
    /// # Errors
    /// If the file cannot be read, every node that cannot be compiled, and a model whose constants
    /// cannot be prepared.
    pub fn load_model(&self, path: impl AsRef<Path>, options: &CompileOptions) -> Result<Model, Errors> {
        let path = path.as_ref();
        let compiled = self.compile_model(path, options)?;
        let program = self.load(&path.to_string_lossy(), compiled.bef)?;
        Model::prepare(program, ModelWeights::of_compiled(compiled.weights, self.host().allocator()))
    }
}

impl Model {
    /// Prepares a program that was compiled from a model, with its weights.
    ///
    /// # Errors
    /// If the program was not compiled from a model, or its constants cannot be prepared.
    pub fn prepare(program: Program, weights: ModelWeights) -> Result<Self, Errors> {
        let resources = Arc::new(ResourceContext::new());
        resources.insert(MODEL_WEIGHTS, weights);
        let described = call(&program, &resources, SIGNATURE)?;
        let signature = described.first().and_then(AsyncValue::get::<ModelSignature>).cloned();
        let signature = signature
            .ok_or_else(|| Diagnostic::invalid_argument("the program was not compiled from a model"))?;
        let prepared = call(&program, &resources, SETUP)?;
        Ok(Self { program, signature, prepared, resources })
    }

    /// Returns the program, whose function `main` takes [`Model::prepared`] before the model's
    /// inputs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns what `main` takes before the model's inputs: the op handler and the constants.
    pub fn prepared(&self) -> &[AsyncValue] {
        &self.prepared
    }

    /// Returns the names and types of the inputs, such as `("data", "1x3x224x224xf32")`. A `?` is
    /// an extent that each call may choose.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.signature.inputs.iter().map(|(name, ty)| (&**name, &**ty))
    }

    /// Returns the names and types of the outputs.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.signature.outputs.iter().map(|(name, ty)| (&**name, &**ty))
    }

    /// Runs the model and waits for its outputs, which come in the order of [`Model::outputs`].
    ///
    /// # Errors
    /// [`tfrt_host::ErrorCode::InvalidArgument`] if an input is missing, unknown or given twice,
    /// and the errors of the ops, each of which names its node.
    pub fn run<'n>(
        &self,
        inputs: impl IntoIterator<Item = (&'n str, HostTensor)>,
    ) -> Result<Vec<HostTensor>, Errors> {
        let results = self.start(inputs)?.wait()?;
        let tensors = take_values(&results)?.into_iter().map(|value| {
            let tensor = value.get::<HostTensor>().cloned();
            tensor.ok_or_else(|| Diagnostic::internal("an output of the model is not a tensor").into())
        });
        tensors.collect()
    }

    /// Runs the model and does not wait for its outputs. `model.start(inputs)?.await` returns them
    /// in `async` code; each is a [`HostTensor`] or an error.
    ///
    /// # Errors
    /// [`tfrt_host::ErrorCode::InvalidArgument`] if an input is missing, unknown or given twice.
    pub fn start<'n>(
        &self,
        inputs: impl IntoIterator<Item = (&'n str, HostTensor)>,
    ) -> Result<Call, Diagnostic> {
        let mut places: Vec<Option<AsyncValue>> = vec![None; self.signature.inputs.len()];
        for (name, tensor) in inputs {
            let found = self.signature.inputs.iter().position(|(input, _)| input == name);
            let place = found.and_then(|position| places.get_mut(position)).ok_or_else(|| {
                let names: Vec<_> = self.inputs().map(|(name, _)| name).collect();
                let message = format!("the model has no input '{name}'; it has {}", names.join(", "));
                Diagnostic::invalid_argument(message)
            })?;
            if place.replace(AsyncValue::new(tensor)).is_some() {
                return Err(Diagnostic::invalid_argument(format!("input '{name}' is given twice")));
            }
        }
        let mut arguments = self.prepared.clone();
        for (place, (name, ty)) in places.into_iter().zip(&self.signature.inputs) {
            let missing = || Diagnostic::invalid_argument(format!("input '{name}' ({ty}) is missing"));
            let value = place.ok_or_else(missing)?;
            check_dtype(name, ty, &value)?;
            arguments.push(value);
        }
        self.program.start_in(&self.request(), tfrt_compiler::MAIN, arguments)
    }

    fn request(&self) -> Arc<RequestContext> {
        request(&self.program, &self.resources)
    }
}

/// Checks that the elements of an input have the type that the model declares.
fn check_dtype(name: &str, ty: &str, value: &AsyncValue) -> Result<(), Diagnostic> {
    let (Some(declared), Some(tensor)) = (TensorType::parse(ty), value.get::<HostTensor>()) else {
        return Ok(());
    };
    if declared.dtype == tensor.dtype() {
        return Ok(());
    }
    let (wanted, given) = (declared.dtype.mlir_name(), tensor.dtype().mlir_name());
    Err(Diagnostic::invalid_argument(format!(
        "input '{name}' ({ty}): its elements must be of type {wanted}, and those given are of type {given}"
    )))
}

fn request(program: &Program, resources: &Arc<ResourceContext>) -> Arc<RequestContext> {
    RequestContext::new(program.runtime().host().clone(), resources.clone())
}

/// Calls a function without arguments. The first error among its results is an error of the call.
fn call(
    program: &Program,
    resources: &Arc<ResourceContext>,
    function: &str,
) -> Result<Vec<AsyncValue>, Errors> {
    take_values(&program.call_in(&request(program, resources), function, [])?)
}

fn take_values(results: &[AsyncValue]) -> Result<Vec<AsyncValue>, Errors> {
    let errors: Vec<_> = results.iter().filter_map(AsyncValue::error).map(|error| (*error).clone()).collect();
    if errors.is_empty() { Ok(results.to_vec()) } else { Err(errors.into()) }
}

#[cfg(test)]
mod tests {
    use tfrt_tensor::{Accessor, DenseHostTensor, TensorShape};

    use super::*;

    static READ: Accessor = Accessor::new("test");

    #[test]
    fn a_model_runs_by_names() {
        let runtime = Runtime::builder().build().unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/layer.onnx");
        let model = runtime.load_model(path, &CompileOptions::default()).unwrap();
        assert_eq!(model.inputs().collect::<Vec<_>>(), [("x", "?x3xf32")]);
        assert_eq!(model.outputs().collect::<Vec<_>>(), [("y", "?x40xf32")]);
        let x = || -> HostTensor {
            let shape = TensorShape::new(&[1, 3]).unwrap();
            DenseHostTensor::from_vec(shape, vec![1_f32, 0., 2.]).unwrap().into()
        };
        let outputs = model.run([("x", x())]).unwrap();
        let y = outputs[0].dense().unwrap();
        assert_eq!(y.shape().dims(), [1, 40]);
        // Row 0 of the weights begins at -60, row 2 at 20.
        assert_eq!(y.read::<f32>(&READ).unwrap()[39], (-60. + 39.) + 2. * (20. + 39.) + 0.5);

        let refused = |inputs: Vec<(&str, HostTensor)>| model.start(inputs).unwrap_err().message;
        assert_eq!(&*refused(vec![]), "input 'x' (?x3xf32) is missing");
        assert_eq!(&*refused(vec![("z", x())]), "the model has no input 'z'; it has x");
        assert_eq!(&*refused(vec![("x", x()), ("x", x())]), "input 'x' is given twice");
        let doubles = DenseHostTensor::from_vec(TensorShape::new(&[1, 3]).unwrap(), vec![1_f64; 3]).unwrap();
        assert_eq!(
            &*refused(vec![("x", doubles.into())]),
            "input 'x' (?x3xf32): its elements must be of type f32, and those given are of type f64"
        );
    }

    #[test]
    fn other_programs_are_no_models() {
        let runtime = Runtime::builder().build().unwrap();
        let program = runtime.load("empty.mlir", b"func @main() { tfrt.return }".to_vec()).unwrap();
        let weights = ModelWeights::Tensors(Default::default());
        assert!(Model::prepare(program, weights).is_err());
    }
}
