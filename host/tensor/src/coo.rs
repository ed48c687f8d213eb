//! [`CooHostTensor`]: the elements of a sparse tensor that are not zero, with their coordinates.
//!
//! Both lists are dense tensors and as mutable as those are, so that coordinates are checked
//! whenever they are used, not only when the tensor is made.

use std::sync::Arc;

use tfrt_host::{DType, Diagnostic, ErrorCode};

use crate::accessor::Accessor;
use crate::dense::{DenseHostTensor, SharedAllocator};
use crate::element::Element;
use crate::metadata::TensorMetadata;
use crate::scalar::ScalarHostTensor;
use crate::shape::{List, TensorShape};

/// A sparse tensor as a list of coordinates and values.
#[derive(Clone, Debug)]
pub struct CooHostTensor {
    metadata: TensorMetadata,
    /// Shared, so that every tensor is as small as a dense one: see
    /// [`HostTensor`](crate::HostTensor).
    parts: Arc<Parts>,
    converted: bool,
}

#[derive(Debug)]
struct Parts {
    /// Coordinates, one row of `rank` numbers for each value.
    indices: DenseHostTensor,
    values: DenseHostTensor,
}

impl CooHostTensor {
    /// A sparse tensor of these parts: `indices` is I64 of shape `[n, rank]`, `values` has shape
    /// `[n]`.
    ///
    /// # Errors
    /// InvalidArgument if the parts do not fit one another.
    pub fn new(
        shape: impl Into<TensorShape>,
        indices: DenseHostTensor,
        values: DenseHostTensor,
    ) -> Result<Self, Diagnostic> {
        let shape = shape.into();
        let &[count] = values.shape().dims() else {
            return Err(Diagnostic::invalid_argument(format!(
                "values of a sparse tensor have rank 1, got shape {}",
                values.shape()
            )));
        };
        if indices.dtype() != DType::I64 || *indices.shape() != [count, shape.rank()] {
            return Err(Diagnostic::invalid_argument(format!(
                "indices of a sparse tensor of shape {shape} with {count} values are I64 [{count}, {}], got {}",
                shape.rank(),
                indices.metadata()
            )));
        }
        let metadata = TensorMetadata::new(values.dtype(), shape);
        Ok(Self { metadata, parts: Arc::new(Parts { indices, values }), converted: false })
    }

    /// The elements of a dense tensor that are not zero, in row-major order.
    ///
    /// # Errors
    /// As [`DenseHostTensor::read`]; OutOfMemory.
    pub fn from_dense(
        dense: &DenseHostTensor,
        accessor: &Accessor,
        allocator: &SharedAllocator,
    ) -> Result<Self, Diagnostic> {
        crate::with_element!(
            dense.dtype(),
            |T| Self::from_dense_of::<T>(dense, accessor, allocator),
            else Err(Diagnostic::invalid_argument("a dense tensor of a data type without a memory form"))
        )
    }

    fn from_dense_of<T: Element>(
        dense: &DenseHostTensor,
        accessor: &Accessor,
        allocator: &SharedAllocator,
    ) -> Result<Self, Diagnostic> {
        let dims = dense.shape().dims();
        let elements = dense.read::<T>(accessor)?;
        let count = elements.iter().filter(|element| !element.is_zero()).count();
        let mut values = DenseHostTensor::allocate(TensorMetadata::new(T::DTYPE, [count]), allocator)?;
        let mut indices =
            DenseHostTensor::allocate(TensorMetadata::new(DType::I64, [count, dims.len()]), allocator)?;
        let slots = values.elements_mut::<T>()?;
        let coordinates = indices.elements_mut::<i64>()?;
        let nonzero = elements.iter().enumerate().filter(|(_, element)| !element.is_zero());
        for (place, (offset, &element)) in nonzero.enumerate() {
            slots[place] = element;
            let mut rest = offset;
            let row = &mut coordinates[place * dims.len()..][..dims.len()];
            for (coordinate, &dim) in row.iter_mut().zip(dims).rev() {
                *coordinate = (rest % dim) as i64;
                rest /= dim;
            }
        }
        Ok(Self { converted: true, ..Self::new(dense.shape().clone(), indices, values)? })
    }

    /// Data type and shape.
    pub fn metadata(&self) -> &TensorMetadata {
        &self.metadata
    }

    /// Data type of each element.
    pub fn dtype(&self) -> DType {
        self.metadata.dtype
    }

    /// The extents of the whole tensor.
    pub fn shape(&self) -> &TensorShape {
        &self.metadata.shape
    }

    /// The coordinates, I64 of shape `[n, rank]`.
    pub fn indices(&self) -> &DenseHostTensor {
        &self.parts.indices
    }

    /// The values, of shape `[n]`.
    pub fn values(&self) -> &DenseHostTensor {
        &self.parts.values
    }

    /// The coordinates as the tensor prints them.
    ///
    /// Programs check how a converted dense tensor prints, and the original prints not its
    /// coordinates but the digits of each element's row-major offset, with the extents as radices
    /// in reverse order. For equal extents the two are the same. [`Self::indices`] always holds
    /// coordinates.
    ///
    /// # Errors
    /// DataRace while somebody writes.
    pub(crate) fn printed_indices(&self, accessor: &Accessor) -> Result<Vec<i64>, Diagnostic> {
        let mut printed = self.parts.indices.read::<i64>(accessor)?.to_vec();
        let dims = self.shape().dims();
        if !self.converted || dims.is_empty() {
            return Ok(printed);
        }
        for row in printed.chunks_exact_mut(dims.len()) {
            let Some(mut rest) = offset_of(dims, row) else { continue };
            for (digit, &radix) in row.iter_mut().rev().zip(dims) {
                *digit = (rest % radix) as i64;
                rest /= radix;
            }
        }
        Ok(printed)
    }

    /// The tensor with its zeros written out. Of values with equal coordinates the last one counts.
    ///
    /// # Errors
    /// OutOfRange for coordinates outside the shape; DataRace; as [`DenseHostTensor::allocate`].
    pub fn to_dense(
        &self,
        accessor: &Accessor,
        allocator: &SharedAllocator,
    ) -> Result<DenseHostTensor, Diagnostic> {
        crate::with_element!(
            self.dtype(),
            |T| self.to_dense_of::<T>(accessor, allocator),
            else Err(Diagnostic::internal("a sparse tensor of a data type without a memory form"))
        )
    }

    fn to_dense_of<T: Element>(
        &self,
        accessor: &Accessor,
        allocator: &SharedAllocator,
    ) -> Result<DenseHostTensor, Diagnostic> {
        let mut dense = DenseHostTensor::allocate(self.metadata.clone(), allocator)?;
        let values = self.parts.values.read::<T>(accessor)?;
        let indices = self.parts.indices.read::<i64>(accessor)?;
        let rank = self.shape().rank();
        let elements = dense.elements_mut::<T>()?;
        for (place, &value) in values.iter().enumerate() {
            let row = &indices[place * rank..][..rank];
            let slot = offset_of(self.shape().dims(), row).and_then(|offset| elements.get_mut(offset));
            *slot.ok_or_else(|| self.bad_coordinates(row))? = value;
        }
        Ok(dense)
    }

    /// The tensor as one value, if it has at most one element or none that is not zero.
    ///
    /// # Errors
    /// FailedPrecondition if it does not; DataRace; OutOfRange for impossible shapes.
    pub fn to_scalar(&self, accessor: &Accessor) -> Result<ScalarHostTensor, Diagnostic> {
        let elements = self.shape().num_elements()?;
        if elements > 1 && self.parts.values.num_elements() > 0 {
            return Err(Diagnostic::new(
                ErrorCode::FailedPrecondition,
                "failed to convert coo tensor to scalar host tensor",
            ));
        }
        crate::with_element!(
            self.dtype(),
            |T| {
                let values = self.parts.values.read::<T>(accessor)?;
                Ok(ScalarHostTensor::new(self.shape().clone(), values.last().copied().unwrap_or_default()))
            },
            else Err(Diagnostic::internal("a sparse tensor of a data type without a memory form"))
        )
    }

    /// Checks that every coordinate lies within the shape.
    ///
    /// # Errors
    /// OutOfRange naming the first that does not; DataRace.
    pub fn check_coordinates(&self, accessor: &Accessor) -> Result<(), Diagnostic> {
        let rank = self.shape().rank();
        if rank == 0 {
            return Ok(());
        }
        let indices = self.parts.indices.read::<i64>(accessor)?;
        match indices.chunks_exact(rank).find(|row| offset_of(self.shape().dims(), row).is_none()) {
            Some(row) => Err(self.bad_coordinates(row)),
            None => Ok(()),
        }
    }

    fn bad_coordinates(&self, row: &[i64]) -> Diagnostic {
        Diagnostic::new(
            ErrorCode::OutOfRange,
            format!("coordinates {} lie outside the sparse tensor's shape {}", List(row), self.shape()),
        )
    }
}

/// Where the element at these coordinates lies in row-major order; `None` outside the shape.
fn offset_of(dims: &[usize], coordinates: &[i64]) -> Option<usize> {
    dims.iter().zip(coordinates).try_fold(0usize, |offset, (&dim, &coordinate)| {
        let coordinate = usize::try_from(coordinate).ok().filter(|&coordinate| coordinate < dim)?;
        offset.checked_mul(dim)?.checked_add(coordinate)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use tfrt_host::allocator::SystemAllocator;

    use super::*;

    static ME: Accessor = Accessor::new("test.coo");

    fn system() -> SharedAllocator {
        Arc::new(SystemAllocator)
    }

    fn coo(shape: &[usize], indices: &[i64], values: &[i32]) -> Result<CooHostTensor, Diagnostic> {
        let (n, rank) = (values.len(), shape.len());
        let indices = DenseHostTensor::from_slice([n, rank], indices, &system()).unwrap();
        let values = DenseHostTensor::from_slice([n], values, &system()).unwrap();
        CooHostTensor::new(TensorShape::new(shape).unwrap(), indices, values)
    }

    #[test]
    fn keeps_what_is_not_zero() {
        let dense = DenseHostTensor::from_slice([2, 3], &[0, 5, 0, 0, 0, -7], &system()).unwrap();
        let sparse = CooHostTensor::from_dense(&dense, &ME, &system()).unwrap();
        assert_eq!(*sparse.indices().read::<i64>(&ME).unwrap(), [0, 1, 1, 2]);
        assert_eq!(*sparse.values().read::<i32>(&ME).unwrap(), [5, -7]);
        assert_eq!((sparse.dtype(), sparse.shape()), (DType::I32, dense.shape()));
    }

    #[test]
    fn coordinates_outside_are_errors() {
        for indices in [[0, 3], [2, 0], [-1, 0], [i64::MAX, i64::MAX]] {
            let sparse = coo(&[2, 3], &indices, &[1]).unwrap();
            let error = sparse.to_dense(&ME, &system()).unwrap_err();
            assert_eq!(error.code, ErrorCode::OutOfRange);
            assert!(error.message.contains("outside the sparse tensor's shape [2, 3]"), "{error}");
            assert_eq!(sparse.check_coordinates(&ME).unwrap_err(), error);
        }
        assert!(coo(&[0], &[0], &[1]).unwrap().to_dense(&ME, &system()).is_err());
    }

    #[test]
    fn parts_must_fit() {
        let numbers = |n: usize| DenseHostTensor::full([n], 1i64, &system()).unwrap();
        assert!(CooHostTensor::new([4], numbers(3), numbers(3)).is_err());
        assert!(CooHostTensor::new([4], numbers(3).reshape([3, 1]).unwrap(), numbers(2)).is_err());
        let square = numbers(4).reshape([2, 2]).unwrap();
        assert!(CooHostTensor::new([4, 4], square.clone(), square).is_err());
        let error = coo(&[4, 4], &[0, 0], &[1])
            .map(|c| CooHostTensor::new([4], c.indices().clone(), c.values().clone()));
        assert_eq!(
            error.unwrap().unwrap_err().message,
            "indices of a sparse tensor of shape [4] with 1 values are I64 [1, 1], got I64 [1, 2]"
        );
    }

    #[test]
    fn becomes_a_scalar_when_it_can() {
        assert_eq!(coo(&[3, 3], &[], &[]).unwrap().to_scalar(&ME).unwrap().value(), Ok(0i32));
        assert_eq!(coo(&[1], &[0], &[4]).unwrap().to_scalar(&ME).unwrap().value(), Ok(4i32));
        assert_eq!(coo(&[], &[], &[6]).unwrap().to_scalar(&ME).unwrap().value(), Ok(6i32));
        assert!(coo(&[3], &[0], &[4]).unwrap().to_scalar(&ME).is_err());
    }

    proptest! {
        #[test]
        fn round_trips(dims in prop::collection::vec(0usize..4, 0..5), seed in any::<u64>()) {
            let shape = TensorShape::new(&dims).unwrap();
            let count = shape.num_elements().unwrap();
            let elements: Vec<f32> = (0..count as u64)
                .map(|i| ((seed.rotate_left(i as u32 * 7) % 3) as f32) - 1.0)
                .collect();
            let dense = DenseHostTensor::from_vec(shape, elements.clone()).unwrap();
            let sparse = CooHostTensor::from_dense(&dense, &ME, &system()).unwrap();
            sparse.check_coordinates(&ME).unwrap();
            let back = sparse.to_dense(&ME, &system()).unwrap();
            prop_assert_eq!(&*back.read::<f32>(&ME).unwrap(), &elements[..]);
        }
    }
}
