//! Values as JSON, written element by element.

use std::fmt;

use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::{Value as Json, json};
use tfrt_host::{AsyncValue, Diagnostic};
use tfrt_tensor::{DenseHostTensor, Element, HostTensor, StringHostTensor, bf16, f16, with_element};

use super::{Allocator, ME};

/// A value that serializes as an object with its type. Tensors serialize with all their elements,
/// which are converted one at a time.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::tools::cli) enum JsonValue<'t> {
    /// Anything but a tensor, or an error.
    Whole(Json),
    Tensor {
        dtype: &'static str,
        shape: Vec<usize>,
        #[serde(rename = "type")]
        ty: &'t str,
        values: Elements,
    },
}

impl<'t> JsonValue<'t> {
    /// Converts a value of the MLIR type `ty`.
    ///
    /// # Errors
    /// If the tensor is in use.
    pub(in crate::tools::cli) fn new(
        value: &AsyncValue,
        ty: &'t str,
        allocator: &Allocator,
    ) -> Result<Self, Diagnostic> {
        macro_rules! json_scalar {
            ($($scalar:ident $name:literal),*) => {
                $(if let Some(number) = value.get::<$scalar>() {
                    return Ok(Self::Whole(json!({ "type": ty, "value": json_number(number) })));
                })*
            };
        }
        scalars!(json_scalar);
        if let Some(flag) = value.get::<bool>() {
            return Ok(Self::Whole(json!({ "type": ty, "value": flag })));
        }
        if let Some(text) = value.get::<String>() {
            return Ok(Self::Whole(json!({ "type": ty, "value": text })));
        }
        let Some(tensor) = value.get::<HostTensor>() else { return Ok(Self::Whole(json!({ "type": ty }))) };
        let values = match tensor {
            HostTensor::String(strings) => Elements::Strings(strings.clone()),
            other => {
                let dense = other.to_dense(&ME, allocator)?;
                // A tensor that is being written is an error here, before anything is printed.
                with_element!(dense.dtype(), |T| drop(dense.read::<T>(&ME)?), else ());
                Elements::Dense(dense)
            }
        };
        Ok(Self::Tensor {
            dtype: tensor.dtype().mlir_name(),
            shape: tensor.shape().dims().to_vec(),
            ty,
            values,
        })
    }
}

/// The elements of a tensor in row-major order.
pub(in crate::tools::cli) enum Elements {
    Strings(StringHostTensor),
    Dense(DenseHostTensor),
}

impl Serialize for Elements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Strings(strings) => {
                serializer.collect_seq(strings.strings().iter().map(ToString::to_string))
            }
            Self::Dense(tensor) => {
                with_element!(tensor.dtype(), |T| serialize::<T, S>(tensor, serializer), else serializer.serialize_none())
            }
        }
    }
}

fn serialize<T: Element + fmt::Display, S: Serializer>(
    tensor: &DenseHostTensor,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let elements = tensor.read::<T>(&ME).map_err(|error| S::Error::custom(error.message))?;
    serializer.collect_seq(elements.iter().map(json_number))
}

/// Converts a number to JSON as it prints. JSON has no infinities and no complex numbers; they
/// become strings.
pub(super) fn json_number(number: impl fmt::Display) -> Json {
    let text = number.to_string();
    serde_json::from_str(&text).unwrap_or(Json::String(text))
}
