//! Random tensors, the same for the same seed.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape, bf16, f16};

use super::{Allocator, ME, wrong};

/// The seed that `random(SEED)` names; `None` for other texts.
///
/// # Errors
/// InvalidArgument if the seed is not a number.
pub(in crate::tools::cli) fn seed(text: &str) -> Result<Option<u64>, Diagnostic> {
    let Some(rest) = text.trim().strip_prefix("random") else { return Ok(None) };
    let seed = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let seed = seed.and_then(|seed| seed.trim().parse().ok());
    seed.map(Some).ok_or_else(|| wrong("random numbers are written as random(SEED), and SEED is a number"))
}

/// A tensor of random numbers: floating-point ones from -1 to 1, others 0 or 1.
///
/// # Errors
/// InvalidArgument for types that have no numbers; OutOfMemory.
pub(in crate::tools::cli) fn tensor(
    dtype: DType,
    shape: TensorShape,
    seed: u64,
    allocator: &Allocator,
) -> Result<DenseHostTensor, Diagnostic> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    if matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        // A model may ask for more than there is: the allocator says so before there are numbers.
        let tensor = DenseHostTensor::allocate(TensorMetadata { dtype, shape }, allocator)?;
        let mut number = || (next() >> 40) as f32 / (1 << 23) as f32 - 1.0;
        match dtype {
            DType::F32 => tensor.write::<f32>(&ME)?.fill_with(number),
            DType::F16 => tensor.write::<f16>(&ME)?.fill_with(|| f16::from_f32(number())),
            DType::BF16 => tensor.write::<bf16>(&ME)?.fill_with(|| bf16::from_f32(number())),
            _ => tensor.write::<f64>(&ME)?.fill_with(|| number().into()),
        }
        return Ok(tensor);
    }
    let size = dtype.size().filter(|_| !matches!(dtype, DType::Complex64 | DType::Complex128));
    let size = size.ok_or_else(|| wrong(format!("there are no random tensors of {}", dtype.mlir_name())))?;
    let tensor = DenseHostTensor::allocate(TensorMetadata { dtype, shape }, allocator)?;
    let mut bytes = tensor.write_bytes(&ME)?;
    bytes.fill(0);
    // The lowest byte of each element comes first.
    bytes.chunks_exact_mut(size).for_each(|element| element[0] = (next() & 1) as u8);
    drop(bytes);
    Ok(tensor)
}

/// A tensor of these numbers, in a data type of floating-point numbers.
///
/// # Errors
/// InvalidArgument for other types; OutOfMemory.
pub(in crate::tools::cli) fn of_numbers(
    dtype: DType,
    shape: TensorShape,
    numbers: &[f32],
    allocator: &Allocator,
) -> Result<DenseHostTensor, Diagnostic> {
    match dtype {
        DType::F32 => DenseHostTensor::from_slice(shape, numbers, allocator),
        DType::F16 => {
            let halves: Vec<_> = numbers.iter().map(|&number| f16::from_f32(number)).collect();
            DenseHostTensor::from_slice(shape, &halves, allocator)
        }
        DType::BF16 => {
            let halves: Vec<_> = numbers.iter().map(|&number| bf16::from_f32(number)).collect();
            DenseHostTensor::from_slice(shape, &halves, allocator)
        }
        DType::F64 => {
            let wide: Vec<_> = numbers.iter().map(|&number| f64::from(number)).collect();
            DenseHostTensor::from_slice(shape, &wide, allocator)
        }
        other => Err(wrong(format!("floating-point numbers cannot be elements of {}", other.mlir_name()))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::{ErrorCode, allocator::SystemAllocator};

    use super::*;

    #[test]
    fn more_numbers_than_fit_into_memory_are_an_error() {
        let allocator: Allocator = Arc::new(SystemAllocator);
        let shape = TensorShape::new(&[3, 1 << 50]).unwrap();
        let error = tensor(DType::F32, shape, 1, &allocator).unwrap_err();
        assert_eq!(error.code, ErrorCode::OutOfMemory, "{}", error.message);
        let few = tensor(DType::F32, TensorShape::new(&[4]).unwrap(), 1, &allocator).unwrap();
        assert!(few.read::<f32>(&ME).unwrap().iter().all(|number| (-1.0..1.0).contains(number)));
    }
}
