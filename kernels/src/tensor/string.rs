//! String tensors: `tfrt_sht.*`.

use tfrt_host::bef::{AggregateAttribute, AttributeView};
use tfrt_host::{Attr, Diagnostic, KernelRegistry};
use tfrt_tensor::{StringHostTensor, TensorShape};

fn create(shape: Attr<[i64]>, values: Attr<AggregateAttribute<'_>>) -> Result<StringHostTensor, Diagnostic> {
    let strings = values
        .0
        .iter()
        .map(|value| match value {
            Ok(AttributeView::String(bytes)) => Ok(bytes.to_vec()),
            Ok(_) => Err(Diagnostic::invalid_argument("a value of the tensor is not a string")),
            Err(error) => Err(Diagnostic::invalid_argument(error.to_string())),
        })
        .collect::<Result<Vec<_>, _>>()?;
    StringHostTensor::new(TensorShape::from_signed(shape.0)?, strings)
}

fn create_empty(shape: Attr<[i64]>) -> Result<StringHostTensor, Diagnostic> {
    StringHostTensor::empty_strings(TensorShape::from_signed(shape.0)?)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    for dialect in ["tfrt_sht", "tfrt_sht_sync"] {
        registry
            .add(format!("{dialect}.create_tensor"), create)
            .attributes(&["shape", "values"])
            .attribute_alias("values", "value")
            .doc("A tensor of these strings, row-major; there must be one for each place.");
        registry
            .add(format!("{dialect}.create_uninitialized_tensor"), create_empty)
            .attributes(&["shape"])
            .doc("A tensor of empty strings.");
    }
}
