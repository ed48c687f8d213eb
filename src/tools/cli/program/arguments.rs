//! The arguments of a function: what the command line gives, what a setup function prepared, and
//! chains.

use tfrt_compiler::TensorType;
use tfrt_host::{AsyncValue, DType, Diagnostic, FunctionRef};
use tfrt_tensor::HostTensor;

use super::ending::Ending;
use crate::{
    Console, Runtime,
    tools::cli::{
        Failure,
        model::Model,
        model_inputs::{self, ImageArgs},
        values::{self, CHAIN},
    },
};

/// Puts the results of the setup function first, the values of the command line in their places,
/// and chains in the rest.
pub(super) fn arguments(
    function: &FunctionRef<'_>,
    prepared: Vec<AsyncValue>,
    inputs: &[String],
    mut model: Option<ModelInputs<'_>>,
    reader: &Reader<'_>,
) -> Result<Vec<AsyncValue>, Failure> {
    let types: Vec<_> = function.argument_types().collect();
    if prepared.len() > types.len() {
        let (name, many, few) = (function.name(), prepared.len(), types.len());
        let message =
            format!("'{name}' takes {few} arguments, but the setup function returns {many} results");
        return Err(Failure::Usage(message));
    }
    let first = prepared.len();
    let mut places: Vec<Option<AsyncValue>> = prepared.into_iter().map(Some).collect();
    places.resize(types.len(), None);
    for input in inputs {
        let named = model.as_ref().and_then(|inputs| {
            let (name, text) = input.split_once('=')?;
            Some((first + inputs.model.input(name)?, text))
        });
        let (place, text) =
            named.map_or_else(|| place_of(input, &places, &types), Ok).map_err(|failure| {
                let inputs = model.as_ref().and_then(|inputs| inputs.check_name(input, None).err());
                inputs.unwrap_or(failure)
            })?;
        if named.is_none()
            && let Some(inputs) = &model
            && let Some(number) = place.checked_sub(first)
        {
            inputs.check_name(input, Some(number))?;
        }
        let described = || {
            let port = model.as_ref().zip(place.checked_sub(first));
            let port = port.and_then(|(inputs, number)| inputs.model.signature.inputs.get(number));
            port.map_or_else(
                || format!("argument {place} ({})", types[place]),
                |(name, ty)| format!("input '{name}' ({ty})"),
            )
        };
        let described = described();
        if places[place].is_some() {
            return Err(Failure::Usage(format!("{described} is given twice, the second time by '{input}'")));
        }
        let value = match (&mut model, place.checked_sub(first)) {
            (Some(inputs), Some(number)) => inputs.parse(text, number, reader),
            _ => reader.parse(text, types[place]),
        };
        places[place] = Some(value.map_err(|failure| failure.in_context(described))?);
    }
    let filled = places.into_iter().zip(&types).enumerate().map(|(place, (value, ty))| match value {
        Some(value) => Ok(value),
        None if *ty == CHAIN => Ok(AsyncValue::new(tfrt_host::Chain)),
        None if model.is_some() => {
            let inputs = model.as_ref().map(|inputs| inputs.missing(place - first, reader.runtime));
            inputs.unwrap_or_else(|| Err(Failure::Usage("an input is missing".to_owned())))
        }
        None => Err(Failure::Usage(format!(
            "'{}' needs argument {place} ({ty}): pass it with --input",
            function.name()
        ))),
    });
    filled.collect()
}

/// What becomes of a model's inputs that the command line does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools::cli) enum MissingInputs {
    /// They are an error.
    Refuse,
    /// They are random numbers.
    Random,
}

/// Reads values, at most until the run ends.
pub(super) struct Reader<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) ending: &'a Ending,
    /// The most bytes of a file.
    pub(super) max_bytes: u64,
}

impl Reader<'_> {
    /// Parses a value. It may name a file that is never read to its end, such as a pipe.
    fn parse(&self, text: &str, ty: &str) -> Result<AsyncValue, Failure> {
        let (text, ty) = (text.to_owned(), ty.to_owned());
        let (allocator, max_bytes) = (self.runtime.host().allocator().clone(), self.max_bytes);
        self.ending.in_time(move || values::parse(&text, &ty, max_bytes, &allocator), || false)?
    }
}

/// Reads what the command line gives a model.
pub(super) struct ModelInputs<'a> {
    pub(super) model: &'a Model,
    pub(super) images: &'a ImageArgs,
    pub(super) missing: MissingInputs,
    pub(super) console: &'a mut Console,
}

impl ModelInputs<'_> {
    fn parse(&mut self, text: &str, number: usize, reader: &Reader<'_>) -> Result<AsyncValue, Failure> {
        let (ty, allocator) = (self.model.input_type(number), reader.runtime.host().allocator());
        let read = |text: &str, ty: &str| reader.parse(text, ty);
        let value = model_inputs::parse(text, ty.as_ref(), self.images, allocator, self.console, read)?;
        let (Some(ty), Some(tensor)) = (ty, value.get::<HostTensor>()) else { return Ok(value) };
        if ty.dtype != tensor.dtype() {
            let (given, wanted) = (tensor.dtype().mlir_name(), ty.dtype.mlir_name());
            let message =
                format!("its elements must be of type {wanted}, and those given are of type {given}");
            return Err(Diagnostic::invalid_argument(message).into());
        }
        // Some models declare a narrower shape than they take, so this is no error.
        if !fits(&ty, tensor) {
            let name = &self.model.signature.inputs[number].0;
            let given = tensor.metadata();
            self.console.complain(format_args!(
                "warning: the model declares input '{name}' as {ty}, and a tensor {given} is given"
            ));
        }
        Ok(value)
    }

    /// Checks that a value which stands for the input of this number, or for none, does not name
    /// another one.
    fn check_name(&self, input: &str, number: Option<usize>) -> Result<(), Failure> {
        let Some((name, _)) = input.split_once('=') else { return Ok(()) };
        let is_string = |number| self.model.input_type(number).is_none_or(|ty| ty.dtype == DType::String);
        let is_text = number.is_some_and(is_string);
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_./:-".contains(letter));
        if is_text || !is_name || name.parse::<usize>().is_ok() || TensorType::parse(name).is_some() {
            return Ok(());
        }
        let inputs = self.model.signature.inputs.iter().map(|(name, ty)| format!("'{name}' ({ty})"));
        let inputs = inputs.collect::<Vec<_>>().join(", ");
        Err(Failure::Usage(format!("the model has no input '{name}', its inputs are {inputs}")))
    }

    /// An input that the command line does not give.
    fn missing(&self, number: usize, runtime: &Runtime) -> Result<AsyncValue, Failure> {
        let (name, ty) = &self.model.signature.inputs[number];
        match self.model.input_type(number) {
            Some(ty) if self.missing == MissingInputs::Random => {
                Ok(model_inputs::random(&ty, number as u64, runtime.host().allocator())?)
            }
            _ => Err(Failure::Usage(format!("the model needs input '{name}' ({ty}): pass it with --input"))),
        }
    }
}

/// Whether a tensor has the shape that a model declares, as far as that is known.
fn fits(ty: &TensorType, tensor: &HostTensor) -> bool {
    let dims = tensor.shape().dims();
    let has_extents = |declared: &Vec<Option<u64>>| {
        let pairs = || declared.iter().zip(dims);
        declared.len() == dims.len() && pairs().all(|(want, &dim)| want.is_none_or(|want| want == dim as u64))
    };
    ty.dims.as_ref().is_none_or(has_extents)
}

/// Returns the place of an argument and its value: `3=VALUE` is argument 3, any other value is the
/// first argument that is still open and not a chain.
fn place_of<'i>(
    input: &'i str,
    places: &[Option<AsyncValue>],
    types: &[&str],
) -> Result<(usize, &'i str), Failure> {
    if let Some((number, value)) = input.split_once('=')
        && let Ok(place) = number.parse::<usize>()
    {
        return match types.get(place) {
            Some(_) => Ok((place, value)),
            None => {
                Err(Failure::Usage(format!("there is no argument {place}: the function has {}", types.len())))
            }
        };
    }
    let open = (0..types.len()).find(|&place| places[place].is_none() && types[place] != CHAIN);
    open.map(|place| (place, input))
        .ok_or_else(|| Failure::Usage(format!("there is no argument for --input {input}")))
}
