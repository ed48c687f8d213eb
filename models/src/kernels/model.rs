//! What programs that were compiled from models need: their weights, and what they say of
//! themselves.

use std::{collections::HashMap, fmt};

use tfrt_host::{
    Arg, Attr, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry, bef::AggregateAttribute, value_type,
};
use tfrt_tensor::{
    HostTensor, SharedAllocator,
    files::{in_temporary_file, safetensors::SafeTensorsFile},
};

/// Name of the resource with the weights of a compiled model: [`ModelWeights`].
pub const MODEL_WEIGHTS: &str = "model_weights";

/// The weights of a compiled model, by name.
#[derive(Clone, Debug)]
pub enum ModelWeights {
    /// In memory, as the compiler left them.
    Tensors(HashMap<String, HostTensor>),
    /// In a mapped file.
    File(SafeTensorsFile),
}

impl ModelWeights {
    /// The weights as the compiler left them, for running the program in this process. Large ones
    /// that are in memory move to temporary files without names, which are mapped: so their memory
    /// is free once they are laid out for the processor. A weight stays in memory where no such
    /// file can be written. `allocator`, which the compiler used, frees what it keeps for reuse.
    pub fn of_compiled(
        weights: impl IntoIterator<Item = (String, HostTensor)>,
        allocator: &SharedAllocator,
    ) -> Self {
        let place = |tensor: HostTensor| match tensor.dense().map(in_temporary_file) {
            Ok(Ok(Some(moved))) => moved.into(),
            _ => tensor,
        };
        let placed = weights.into_iter().map(|(name, tensor)| (name, place(tensor))).collect();
        allocator.trim();
        Self::Tensors(placed)
    }

    /// The weight of this name.
    fn tensor(&self, name: &str, cx: &ExecutionContext) -> Result<HostTensor, Diagnostic> {
        match self {
            Self::Tensors(tensors) => tensors.get(name).cloned().ok_or_else(|| {
                Diagnostic::new(ErrorCode::NotFound, format!("the model has no weight '{name}'"))
            }),
            Self::File(file) => file.tensor(name, cx.host().allocator()).map(HostTensor::from),
        }
    }
}

/// What a compiled model takes and gives: names and types such as `1x3x224x224xf32`, `?` for an
/// extent that is not fixed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSignature {
    /// The inputs, in order.
    pub inputs: Vec<(String, String)>,
    /// The outputs, in order.
    pub outputs: Vec<(String, String)>,
}

value_type!(ModelSignature, "!tfrt_model.signature");

impl fmt::Display for ModelSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |ports: &[(String, String)]| {
            ports.iter().map(|(name, ty)| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ")
        };
        write!(f, "({}) -> ({})", list(&self.inputs), list(&self.outputs))
    }
}

fn weight(name: Attr<str>, cx: &ExecutionContext) -> Result<HostTensor, Diagnostic> {
    match cx.resources().get::<ModelWeights>(MODEL_WEIGHTS) {
        Ok(weights) => weights.tensor(name.0, cx),
        Err(error) if error.code == ErrorCode::NotFound => Err(Diagnostic::new(
            ErrorCode::FailedPrecondition,
            "the program was compiled from a model, and its weights are not loaded: they are in the \
             .safetensors file that was written with it",
        )),
        Err(error) => Err(error),
    }
}

/// The strings of an attribute.
fn texts(list: AggregateAttribute<'_>) -> Result<Vec<String>, Diagnostic> {
    let malformed = || Diagnostic::invalid_argument("a signature is made of lists of strings");
    let text = |element: Result<tfrt_host::bef::AttributeView<'_>, _>| {
        element.ok().and_then(|element| element.string().map(str::to_owned)).ok_or_else(malformed)
    };
    list.iter().map(text).collect()
}

fn signature(
    input_names: Attr<AggregateAttribute<'_>>,
    input_types: Attr<AggregateAttribute<'_>>,
    output_names: Attr<AggregateAttribute<'_>>,
    output_types: Attr<AggregateAttribute<'_>>,
) -> Result<ModelSignature, Diagnostic> {
    let ports = |names, types| -> Result<Vec<(String, String)>, Diagnostic> {
        let (names, types) = (texts(names)?, texts(types)?);
        match names.len() == types.len() {
            true => Ok(names.into_iter().zip(types).collect()),
            false => Err(Diagnostic::invalid_argument("a signature has as many names as types")),
        }
    };
    Ok(ModelSignature {
        inputs: ports(input_names.0, input_types.0)?,
        outputs: ports(output_names.0, output_types.0)?,
    })
}

/// Returns the place of a tensor's first extent among the sizes that a program was compiled for.
fn batch_number(tensor: Arg<HostTensor>, name: Attr<str>, sizes: Attr<[i64]>) -> Result<i32, Diagnostic> {
    let sizes = sizes.0;
    let shape = tensor.shape();
    let found = shape.dims().first().and_then(|&dim| i64::try_from(dim).ok());
    let place =
        sizes.iter().position(|&size| Some(size) == found).and_then(|place| i32::try_from(place).ok());
    place.ok_or_else(|| {
        let sizes = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        Diagnostic::invalid_argument(format!(
            "'{}' has the shape {shape}, but the program was compiled for batches of {sizes}",
            name.0
        ))
    })
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry.add("tfrt_model.batch_number", batch_number).reads(&[]).attributes(&["name", "sizes"]).doc(
        "Returns the number of a tensor's first extent in a list of batch sizes. Errors call the tensor by its name.",
    );
    registry
        .add("tfrt_model.weight", weight)
        .attributes(&["name"])
        .doc("Returns the weight of this name, of the model that the program was compiled from.");
    registry
        .add("tfrt_model.signature", signature)
        .attributes(&["input_names", "input_types", "output_names", "output_types"])
        .doc("Describes the inputs and outputs of the model that the program was compiled from.");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::{
        DType,
        allocator::{HostAllocator, LeakCheckAllocator, RecyclingAllocator, SystemAllocator},
        is_in_mapped_file,
    };
    use tfrt_tensor::{Accessor, DenseHostTensor, TensorMetadata};

    use super::*;

    static TEST: Accessor = Accessor::new("test");

    /// How many elements a weight of 1 MiB has.
    const MEBIBYTE: usize = (1 << 20) / 4;

    #[test]
    fn large_weights_leave_memory() {
        let counted = Arc::new(RecyclingAllocator::new(LeakCheckAllocator::new(SystemAllocator)));
        let allocator: SharedAllocator = counted.clone();
        let tensor = |count: usize| {
            let metadata = TensorMetadata::new(DType::F32, [count]);
            let tensor = DenseHostTensor::allocate(metadata, &allocator).unwrap();
            for (number, place) in tensor.write::<f32>(&TEST).unwrap().iter_mut().enumerate() {
                *place = number as f32;
            }
            tensor
        };
        let (small, large) = (MEBIBYTE - 1, MEBIBYTE + 5);
        let named = [("small", small), ("large", large)];
        let weights = ModelWeights::of_compiled(
            named.map(|(name, count)| (name.to_owned(), tensor(count).into())),
            &allocator,
        );
        let ModelWeights::Tensors(weights) = weights else { panic!("the weights are tensors") };
        for (name, count) in named {
            let weight = weights[name].dense().unwrap();
            assert_eq!(is_in_mapped_file(&weight.read_bytes(&TEST).unwrap()), name == "large");
            let elements = weight.read::<f32>(&TEST).unwrap();
            assert!(elements.len() == count && elements.iter().enumerate().all(|(at, &x)| x == at as f32));
        }
        let in_memory = counted.report().unwrap().bytes_current as usize;
        assert!((small * 4..MEBIBYTE * 6).contains(&in_memory), "{in_memory}");
    }
}
