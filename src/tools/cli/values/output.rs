//! A model's output as a line of text, in the syntax of `--input`.

use std::fmt::Display;

use tfrt_host::{AsyncValue, Diagnostic};
use tfrt_tensor::{Element, HostTensor, with_element};

use super::{Allocator, ME, json::json_number};

/// The greatest number of elements that are shown.
const SHOWN: usize = 16;

/// Formats a tensor as `2x2xf32 = [1, 2, 3, 4]`, with its first elements if it has many. Returns
/// `None` for other values.
///
/// # Errors
/// If the tensor is in use.
pub(in crate::tools::cli) fn show_output(
    value: &AsyncValue,
    allocator: &Allocator,
) -> Result<Option<String>, Diagnostic> {
    let Some(tensor) = value.get::<HostTensor>() else { return Ok(None) };
    let mut elements = match tensor {
        HostTensor::String(strings) => {
            strings.strings().iter().take(SHOWN).map(|text| format!("{:?}", text.to_string())).collect()
        }
        other => {
            let dense = other.to_dense(&ME, allocator)?;
            with_element!(dense.dtype(), |T| first(&dense.read::<T>(&ME)?), else return Ok(None))
        }
    };
    let shape: String = tensor.shape().dims().iter().map(|dim| format!("{dim}x")).collect();
    if tensor.shape().num_elements()? > SHOWN {
        elements.push("...".to_owned());
    }
    let elements = match &elements[..] {
        [element] if tensor.shape().dims().is_empty() => element.clone(),
        elements => format!("[{}]", elements.join(", ")),
    };
    Ok(Some(format!("{shape}{} = {elements}", tensor.dtype().mlir_name())))
}

/// Returns the texts of the first elements.
fn first<T: Element + Display>(elements: &[T]) -> Vec<String> {
    let text = |element: &T| {
        let number = json_number(element);
        number.as_str().map_or_else(|| number.to_string(), str::to_owned)
    };
    elements.iter().take(SHOWN).map(text).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;
    use tfrt_tensor::{DenseHostTensor, TensorShape};

    use super::*;

    fn shown<T: Element>(dims: &[usize], elements: &[T]) -> String {
        let allocator: Allocator = Arc::new(SystemAllocator);
        let tensor =
            DenseHostTensor::from_slice(TensorShape::new(dims).unwrap(), elements, &allocator).unwrap();
        show_output(&AsyncValue::new(HostTensor::from(tensor)), &allocator).unwrap().unwrap()
    }

    #[test]
    fn outputs_are_shown_as_inputs_are_written() {
        assert_eq!(shown(&[2, 2], &[1.0f32, 0.1, 1e-20, f32::INFINITY]), "2x2xf32 = [1, 0.1, 1e-20, inf]");
        assert_eq!(shown(&[], &[7i64]), "i64 = 7");
        assert_eq!(shown(&[1, 0], &[0u8; 0]), "1x0xui8 = []");
        let many: Vec<i32> = (0..17).collect();
        assert!(shown(&[17], &many).ends_with("14, 15, ...]"));
        let flag = AsyncValue::new(true);
        assert_eq!(show_output(&flag, &(Arc::new(SystemAllocator) as Allocator)).unwrap(), None);
    }
}
