//! How tensors print: form, data type, shape and the first elements, with a fingerprint of long
//! ones.

use std::fmt::{self, Write as _};

use tfrt_host::Diagnostic;

use crate::accessor::Accessor;
use crate::coo::CooHostTensor;
use crate::dense::DenseHostTensor;
use crate::element::Element;
use crate::host_tensor::HostTensor;
use crate::md5::Md5;
use crate::scalar::ScalarHostTensor;
use crate::string::StringHostTensor;

/// Most elements a dense or string tensor prints.
const MAX_ELEMENTS: usize = 32;

impl HostTensor {
    /// The tensor as text, e.g. `DenseHostTensor dtype = I32, shape = [2], values = [1, 2]`. Of
    /// more than 32 elements the first 32 follow an MD5 fingerprint of all; a sparse tensor prints
    /// everything and ends its line.
    ///
    /// # Errors
    /// DataRace while somebody writes.
    pub fn print(&self, accessor: &Accessor) -> Result<String, Diagnostic> {
        let mut text = String::new();
        match self {
            Self::Dense(tensor) => print_dense(tensor, accessor, &mut text)?,
            Self::Scalar(tensor) => print_scalar(tensor, &mut text)?,
            Self::Coo(tensor) => print_coo(tensor, accessor, &mut text)?,
            Self::String(tensor) => print_strings(tensor, &mut text).map_err(unprintable)?,
        }
        Ok(text)
    }
}

/// Writing to a `String` does not fail; the error type has to go somewhere.
fn unprintable(_: fmt::Error) -> Diagnostic {
    Diagnostic::internal("a tensor that cannot be printed")
}

/// `a, b, c` of at most `count` elements.
fn print_elements<T: Element>(
    tensor: &DenseHostTensor,
    count: usize,
    accessor: &Accessor,
    out: &mut String,
) -> Result<(), Diagnostic> {
    for (i, element) in tensor.read::<T>(accessor)?.iter().take(count).enumerate() {
        if i != 0 {
            out.push_str(", ");
        }
        element.print(out).map_err(unprintable)?;
    }
    Ok(())
}

fn print_values(
    tensor: &DenseHostTensor,
    count: usize,
    accessor: &Accessor,
    out: &mut String,
) -> Result<(), Diagnostic> {
    crate::with_element!(tensor.dtype(), |T| print_elements::<T>(tensor, count, accessor, out), else Ok(()))
}

fn print_dense(tensor: &DenseHostTensor, accessor: &Accessor, out: &mut String) -> Result<(), Diagnostic> {
    write!(out, "DenseHostTensor dtype = {:?}, shape = {}", tensor.dtype(), tensor.shape())
        .map_err(unprintable)?;
    let is_long = tensor.num_elements() > MAX_ELEMENTS;
    if is_long {
        let mut md5 = Md5::new();
        md5.update(&tensor.read_bytes(accessor)?);
        // Dense tensors print the lower half of what string tensors print.
        write!(out, ", md5sum = {}", md5.finish_low() as u32).map_err(unprintable)?;
    }
    out.push_str(", values = [");
    print_values(tensor, MAX_ELEMENTS, accessor, out)?;
    out.push_str(if is_long { ", ... ]" } else { "]" });
    Ok(())
}

fn print_scalar(tensor: &ScalarHostTensor, out: &mut String) -> Result<(), Diagnostic> {
    write!(out, "ScalarHostTensor dtype = {:?}, shape = {}, value = ", tensor.dtype(), tensor.shape())
        .map_err(unprintable)?;
    crate::with_element!(tensor.dtype(), |T| tensor.value::<T>()?.print(out).map_err(unprintable), else Ok(()))
}

fn print_coo(tensor: &CooHostTensor, accessor: &Accessor, out: &mut String) -> Result<(), Diagnostic> {
    write!(out, "CooHostTensor dtype = {:?}, shape = {}, indices = [", tensor.dtype(), tensor.shape())
        .map_err(unprintable)?;
    for (i, index) in tensor.printed_indices(accessor)?.into_iter().enumerate() {
        write!(out, "{}{index}", if i == 0 { "" } else { ", " }).map_err(unprintable)?;
    }
    out.push_str("], values = [");
    print_values(tensor.values(), usize::MAX, accessor, out)?;
    out.push_str("]\n");
    Ok(())
}

fn print_strings(tensor: &StringHostTensor, out: &mut String) -> fmt::Result {
    write!(out, "StringHostTensor shape = {}", tensor.shape())?;
    let is_long = tensor.strings().len() > MAX_ELEMENTS;
    if is_long {
        let mut md5 = Md5::new();
        for string in tensor.strings() {
            md5.update(string);
        }
        write!(out, ", md5sum = {}", md5.finish_low())?;
    }
    out.push_str(", values = [");
    for (i, string) in tensor.strings().iter().take(MAX_ELEMENTS).enumerate() {
        write!(out, "{}\"{string}\"", if i == 0 { "" } else { ", " })?;
    }
    out.push_str(if is_long { ", ... ]" } else { "]" });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;
    use tfrt_host::{DType, ErrorCode};

    use super::*;
    use crate::dense::SharedAllocator;
    use crate::metadata::TensorMetadata;

    static ME: Accessor = Accessor::new("test.print");

    fn system() -> SharedAllocator {
        Arc::new(SystemAllocator)
    }

    fn printed(tensor: impl Into<HostTensor>) -> String {
        tensor.into().print(&ME).unwrap()
    }

    #[test]
    fn short_tensors_print_whole() {
        let ints = DenseHostTensor::from_vec([3, 2], vec![1, -1, 1, -1, 1, -1]).unwrap();
        let text = "DenseHostTensor dtype = I32, shape = [3, 2], values = [1, -1, 1, -1, 1, -1]";
        assert_eq!(printed(ints.clone()), text);
        let bools = DenseHostTensor::from_slice([2], &[false, true], &system()).unwrap();
        assert_eq!(printed(bools), "DenseHostTensor dtype = I1, shape = [2], values = [0, 1]");
        let none = DenseHostTensor::allocate(TensorMetadata::new(DType::F32, [0]), &system()).unwrap();
        assert_eq!(printed(none), "DenseHostTensor dtype = F32, shape = [0], values = []");
        let scalar = ScalarHostTensor::new([2, 2], 1.5f32);
        assert_eq!(printed(scalar), "ScalarHostTensor dtype = F32, shape = [2, 2], value = 1.500000e+00");
        let zero = DenseHostTensor::full([2, 3], 0, &system()).unwrap();
        assert_eq!(
            printed(CooHostTensor::from_dense(&zero, &ME, &system()).unwrap()),
            "CooHostTensor dtype = I32, shape = [2, 3], indices = [], values = []\n"
        );
        assert_eq!(
            printed(CooHostTensor::from_dense(&ints, &ME, &system()).unwrap()),
            "CooHostTensor dtype = I32, shape = [3, 2], indices = [0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2], \
             values = [1, -1, 1, -1, 1, -1]\n"
        );
        let indices = DenseHostTensor::from_slice([1, 2], &[2i64, 1], &system()).unwrap();
        let values = DenseHostTensor::from_slice([1], &[8u8], &system()).unwrap();
        assert_eq!(
            printed(CooHostTensor::new([3, 2], indices, values).unwrap()),
            "CooHostTensor dtype = UI8, shape = [3, 2], indices = [2, 1], values = [8]\n"
        );
        let strings = StringHostTensor::new([2], vec!["string", "tensor"]).unwrap();
        assert_eq!(printed(strings), "StringHostTensor shape = [2], values = [\"string\", \"tensor\"]");
    }

    #[test]
    fn long_tensors_print_a_fingerprint() {
        let tensor = DenseHostTensor::full([4, 2, 2, 4], 36.0f32, &system()).unwrap();
        let text = printed(tensor);
        let start = "DenseHostTensor dtype = F32, shape = [4, 2, 2, 4], md5sum = 1215977510, values = [3.600000e+01, ";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("3.600000e+01, ... ]"), "{text}");
        assert_eq!(text.matches("3.600000e+01").count(), 32);
        let strings = StringHostTensor::new([33], vec!["a".to_owned(); 33]).unwrap();
        assert!(printed(strings).contains("md5sum = "));
    }

    #[test]
    fn a_tensor_being_written_is_an_error() {
        static WRITER: Accessor = Accessor::new("test.print.writer");
        let tensor = DenseHostTensor::full([2], 1u8, &system()).unwrap();
        let _writing = tensor.write::<u8>(&WRITER).unwrap();
        let error = HostTensor::from(tensor.clone()).print(&ME).unwrap_err();
        assert_eq!(error.code, ErrorCode::DataRace);
    }
}
