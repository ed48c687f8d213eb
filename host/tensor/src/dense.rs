//! [`DenseHostTensor`]: elements of one data type, row-major, in a host buffer.
//!
//! The tensor is a handle: clones share the elements. Elements are mutable and shared, and a
//! program's chains order the accesses; every access here goes through a guard, so that a missing
//! chain ends in a DataRace error. A tensor never changes its data type, shape or buffer.

use std::fmt;
use std::sync::Arc;

use tfrt_host::allocator::HostAllocator;
use tfrt_host::host_buffer::{HostBuffer, ReadGuard, WriteGuard};
use tfrt_host::{DType, Diagnostic, ErrorCode};

use crate::accessor::Accessor;
use crate::element::{Element, bits_of};
use crate::elements::{self, Elements, ElementsMut};
use crate::metadata::{TensorMetadata, element_align, element_size};
use crate::ranked::{RankedElements, RankedElementsMut};
use crate::shape::TensorShape;

/// The allocator that tensors take their memory from.
pub type SharedAllocator = Arc<dyn HostAllocator>;

/// A dense tensor in host memory. Cloning shares the elements.
#[derive(Clone)]
pub struct DenseHostTensor {
    metadata: TensorMetadata,
    /// Exactly as long as the metadata says, and aligned for the data type.
    buffer: HostBuffer,
}

// Counts of elements are counts of bytes, shifted: a division would take as long as a small op's
// loop.
const _: () = {
    let mut number = 0;
    while number < DType::ALL.len() {
        if let Some(size) = DType::ALL[number].size() {
            assert!(size.is_power_of_two());
        }
        number += 1;
    }
};

impl DenseHostTensor {
    /// A tensor whose elements are all zero (false).
    ///
    /// # Errors
    /// OutOfMemory if the allocator has none; what [`TensorMetadata::size_bytes`] says of
    /// impossible tensors.
    pub fn allocate(metadata: TensorMetadata, allocator: &SharedAllocator) -> Result<Self, Diagnostic> {
        let size = metadata.size_bytes()?;
        let buffer = HostBuffer::allocate(size, element_align(metadata.dtype), allocator)
            .ok_or_else(|| out_of_memory(&metadata))?;
        Ok(Self { metadata, buffer })
    }

    /// As [`DenseHostTensor::allocate`], but the elements may be anything: for results, all of
    /// which are written. (Booleans are false, as not every byte is one.)
    ///
    /// # Errors
    /// As [`DenseHostTensor::allocate`].
    pub fn allocate_unset(metadata: TensorMetadata, allocator: &SharedAllocator) -> Result<Self, Diagnostic> {
        if metadata.dtype == DType::I1 {
            return Self::allocate(metadata, allocator);
        }
        let size = metadata.size_bytes()?;
        let buffer = HostBuffer::allocate_unset(size, element_align(metadata.dtype), allocator)
            .ok_or_else(|| out_of_memory(&metadata))?;
        Ok(Self { metadata, buffer })
    }

    /// A tensor over the bytes of `buffer`, shared with whoever else holds it.
    ///
    /// # Errors
    /// InvalidArgument if the buffer's size or alignment does not suit the metadata.
    pub fn from_buffer(metadata: TensorMetadata, buffer: HostBuffer) -> Result<Self, Diagnostic> {
        let size = metadata.size_bytes()?;
        if buffer.len() != size {
            return Err(Diagnostic::invalid_argument(format!(
                "buffer_size ({}) is not equal to the number of elements in shape ({}) times element size ({})",
                buffer.len(),
                metadata.shape,
                element_size(metadata.dtype)?
            )));
        }
        let align = element_align(metadata.dtype);
        if size != 0 && !buffer.as_ptr().addr().is_multiple_of(align) {
            return Err(Diagnostic::invalid_argument(format!(
                "the buffer is not aligned to {align} bytes, as elements of dtype {:?} must be",
                metadata.dtype
            )));
        }
        Ok(Self { metadata, buffer })
    }

    /// A copy of `elements`.
    ///
    /// # Errors
    /// InvalidArgument if the shape has another number of elements; OutOfMemory.
    pub fn from_slice<T: Element>(
        shape: impl Into<TensorShape>,
        elements: &[T],
        allocator: &SharedAllocator,
    ) -> Result<Self, Diagnostic> {
        let metadata = TensorMetadata::new(T::DTYPE, shape);
        check_count(&metadata, elements.len())?;
        let buffer = HostBuffer::copy_from_slice(bytemuck::cast_slice(elements), align_of::<T>(), allocator)
            .ok_or_else(|| out_of_memory(&metadata))?;
        Ok(Self { metadata, buffer })
    }

    /// Takes the elements over without copying them.
    ///
    /// # Errors
    /// InvalidArgument if the shape has another number of elements.
    pub fn from_vec<T: Element + bytemuck::Pod>(
        shape: impl Into<TensorShape>,
        elements: Vec<T>,
    ) -> Result<Self, Diagnostic> {
        let metadata = TensorMetadata::new(T::DTYPE, shape);
        check_count(&metadata, elements.len())?;
        Ok(Self { metadata, buffer: HostBuffer::from_vec(elements) })
    }

    /// A tensor all of whose elements are `value`.
    ///
    /// # Errors
    /// As [`DenseHostTensor::allocate`].
    pub fn full<T: Element>(
        shape: impl Into<TensorShape>,
        value: T,
        allocator: &SharedAllocator,
    ) -> Result<Self, Diagnostic> {
        let mut tensor = Self::allocate(TensorMetadata::new(T::DTYPE, shape), allocator)?;
        if !value.is_zero() {
            tensor.elements_mut::<T>()?.fill(value);
        }
        Ok(tensor)
    }

    /// Data type and shape.
    #[inline]
    pub fn metadata(&self) -> &TensorMetadata {
        &self.metadata
    }

    /// Data type of each element.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.metadata.dtype
    }

    /// The extents.
    #[inline]
    pub fn shape(&self) -> &TensorShape {
        &self.metadata.shape
    }

    /// Number of elements.
    #[inline]
    pub fn num_elements(&self) -> usize {
        self.metadata.dtype.size().map_or(0, |size| self.buffer.len() >> size.trailing_zeros())
    }

    /// Number of bytes.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The memory the elements lie in.
    #[inline]
    pub fn buffer(&self) -> &HostBuffer {
        &self.buffer
    }

    /// Makes the elements read-only for good, if nobody else can access them: see
    /// [`HostBuffer::make_readonly`].
    pub fn make_readonly(&mut self) -> bool {
        self.buffer.make_readonly()
    }

    /// The same elements in another shape, shared.
    ///
    /// # Errors
    /// InvalidArgument if the shape has another number of elements.
    pub fn reshape(&self, shape: impl Into<TensorShape>) -> Result<Self, Diagnostic> {
        let metadata = TensorMetadata::new(self.dtype(), shape);
        check_count(&metadata, self.num_elements())?;
        Ok(Self { metadata, buffer: self.buffer.clone() })
    }

    /// A tensor with the same elements and memory of its own.
    ///
    /// # Errors
    /// OutOfMemory; DataRace while somebody writes.
    pub fn deep_copy(&self, accessor: &Accessor, allocator: &SharedAllocator) -> Result<Self, Diagnostic> {
        let bytes = self.read_bytes(accessor)?;
        let buffer = HostBuffer::copy_from_slice(&bytes, element_align(self.dtype()), allocator)
            .ok_or_else(|| out_of_memory(&self.metadata))?;
        Ok(Self { metadata: self.metadata.clone(), buffer })
    }

    /// The tensor under the data type that stands for all of this size and alignment, sharing the
    /// elements: `ui8`, `ui16`, `ui32`, `ui64`, `complex64` or `complex128`. For code that only moves
    /// elements: see [`with_bits!`](crate::with_bits).
    pub fn as_bits(&self) -> Self {
        let Self { metadata: TensorMetadata { dtype, shape }, buffer } = self;
        Self { metadata: TensorMetadata::new(bits_of(*dtype), shape.clone()), buffer: buffer.clone() }
    }

    /// As [`DenseHostTensor::as_bits`], for a tensor whose elements are put among others of `dtype`.
    ///
    /// # Errors
    /// InvalidArgument if that is not the tensor's data type.
    pub fn as_bits_of(&self, dtype: DType) -> Result<Self, Diagnostic> {
        if self.dtype() == dtype { Ok(self.as_bits()) } else { Err(self.wrong_dtype(dtype)) }
    }

    /// Takes the elements for reading, next to other readers, in the name of `accessor`.
    ///
    /// # Errors
    /// InvalidArgument if `T` is not the tensor's data type; DataRace while somebody writes.
    #[inline]
    pub fn read<T: Element>(&self, accessor: &Accessor) -> Result<Elements<T, &HostBuffer>, Diagnostic> {
        self.check_dtype::<T>()?;
        Elements::new(elements::read(&self.buffer, accessor)?)
    }

    /// Takes the elements for writing, alone, in the name of `accessor`.
    ///
    /// # Errors
    /// InvalidArgument if `T` is not the tensor's data type; DataRace while anybody else reads or
    /// writes; FailedPrecondition if the memory is read-only.
    #[inline]
    pub fn write<T: Element>(&self, accessor: &Accessor) -> Result<ElementsMut<T, &HostBuffer>, Diagnostic> {
        self.check_dtype::<T>()?;
        ElementsMut::new(elements::write(&self.buffer, accessor)?)
    }

    /// As [`DenseHostTensor::read`], with a guard that keeps the buffer alive and may move to
    /// another thread.
    ///
    /// # Errors
    /// As [`DenseHostTensor::read`].
    pub fn read_owned<T: Element>(&self, accessor: &Accessor) -> Result<Elements<T, HostBuffer>, Diagnostic> {
        self.check_dtype::<T>()?;
        Elements::new(elements::read_owned(&self.buffer, accessor)?)
    }

    /// As [`DenseHostTensor::write`], with a guard that keeps the buffer alive and may move to
    /// another thread.
    ///
    /// # Errors
    /// As [`DenseHostTensor::write`].
    pub fn write_owned<T: Element>(
        &self,
        accessor: &Accessor,
    ) -> Result<ElementsMut<T, HostBuffer>, Diagnostic> {
        self.check_dtype::<T>()?;
        ElementsMut::new(elements::write_owned(&self.buffer, accessor)?)
    }

    /// As [`DenseHostTensor::read`], to be indexed by `N` coordinates.
    ///
    /// # Errors
    /// As [`DenseHostTensor::read`]; InvalidArgument if the rank is not `N`.
    pub fn read_ranked<T: Element, const N: usize>(
        &self,
        accessor: &Accessor,
    ) -> Result<RankedElements<T, &HostBuffer, N>, Diagnostic> {
        Ok(RankedElements::new(self.shape().fixed()?, self.read(accessor)?))
    }

    /// As [`DenseHostTensor::write`], to be indexed by `N` coordinates.
    ///
    /// # Errors
    /// As [`DenseHostTensor::write`]; InvalidArgument if the rank is not `N`.
    pub fn write_ranked<T: Element, const N: usize>(
        &self,
        accessor: &Accessor,
    ) -> Result<RankedElementsMut<T, &HostBuffer, N>, Diagnostic> {
        Ok(RankedElementsMut::new(self.shape().fixed()?, self.write(accessor)?))
    }

    /// Takes the bytes for reading, whatever their type.
    ///
    /// # Errors
    /// DataRace while somebody writes.
    pub fn read_bytes(&self, accessor: &Accessor) -> Result<ReadGuard<&HostBuffer>, Diagnostic> {
        elements::read(&self.buffer, accessor)
    }

    /// Takes the bytes for writing, whatever their type. Bytes that are no values of the data type
    /// make later accesses by type an error.
    ///
    /// # Errors
    /// DataRace while anybody else reads or writes; FailedPrecondition if the memory is read-only.
    pub fn write_bytes(&self, accessor: &Accessor) -> Result<WriteGuard<&HostBuffer>, Diagnostic> {
        elements::write(&self.buffer, accessor)
    }

    /// The elements of a tensor that nobody else can reach.
    ///
    /// # Errors
    /// InvalidArgument if `T` is not the tensor's data type; FailedPrecondition if the buffer is
    /// shared or read-only.
    pub fn elements_mut<T: Element>(&mut self) -> Result<&mut [T], Diagnostic> {
        self.check_dtype::<T>()?;
        let bytes = self.buffer.get_mut().ok_or_else(|| {
            Diagnostic::new(ErrorCode::FailedPrecondition, "the tensor's memory is shared or read-only")
        })?;
        if bytes.is_empty() {
            return Ok(&mut []);
        }
        bytemuck::checked::try_cast_slice_mut(bytes).map_err(|_| {
            Diagnostic::invalid_argument(format!("the buffer's bytes are not values of dtype {:?}", T::DTYPE))
        })
    }

    /// # Errors
    /// InvalidArgument if `T` is not the tensor's data type.
    #[inline]
    fn check_dtype<T: Element>(&self) -> Result<(), Diagnostic> {
        if self.dtype() == T::DTYPE { Ok(()) } else { Err(self.wrong_dtype(T::DTYPE)) }
    }

    #[cold]
    fn wrong_dtype(&self, expected: DType) -> Diagnostic {
        Diagnostic::invalid_argument(format!(
            "expected a tensor of dtype {expected:?}, got {:?}",
            self.dtype()
        ))
    }
}

#[cold]
fn out_of_memory(metadata: &TensorMetadata) -> Diagnostic {
    Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate tensor {metadata}"))
}

fn check_count(metadata: &TensorMetadata, count: usize) -> Result<(), Diagnostic> {
    if metadata.shape.num_elements()? == count {
        return Ok(());
    }
    Err(Diagnostic::invalid_argument(format!(
        "{count} elements do not fill a tensor of shape {}",
        metadata.shape
    )))
}

impl fmt::Debug for DenseHostTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DenseHostTensor")
            .field("metadata", &format_args!("{}", self.metadata))
            .field("buffer", &self.buffer)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use tfrt_host::allocator::{FixedSizeAllocator, SystemAllocator};

    use super::*;

    static READER: Accessor = Accessor::new("test.dense.reader");
    static WRITER: Accessor = Accessor::new("test.dense.writer");

    fn system() -> SharedAllocator {
        Arc::new(SystemAllocator)
    }

    #[test]
    fn starts_zeroed_and_is_shared_by_clones() {
        let tensor = DenseHostTensor::allocate(TensorMetadata::new(DType::I32, [2, 3]), &system()).unwrap();
        let alias = tensor.clone();
        alias.write::<i32>(&WRITER).unwrap()[4] = 9;
        assert_eq!(*tensor.read::<i32>(&READER).unwrap(), [0, 0, 0, 0, 9, 0]);
        assert_eq!((tensor.num_elements(), tensor.size_bytes()), (6, 24));
    }

    #[test]
    fn unset_elements_are_elements_and_show_in_tests() {
        let unset =
            |dtype| DenseHostTensor::allocate_unset(TensorMetadata::new(dtype, [3]), &system()).unwrap();
        assert_eq!(*unset(DType::I1).read::<bool>(&READER).unwrap(), [false; 3]);
        let floats = unset(DType::F32);
        assert!(!cfg!(debug_assertions) || floats.read::<f32>(&READER).unwrap().iter().all(|x| x.is_nan()));
    }

    #[test]
    fn conflicting_accesses_name_both_kernels() {
        let tensor = DenseHostTensor::full([4], 1.0f32, &system()).unwrap();
        let (one, two) = (tensor.read::<f32>(&READER).unwrap(), tensor.read_owned::<f32>(&READER).unwrap());
        let error = tensor.write::<f32>(&WRITER).unwrap_err();
        assert_eq!(error.code, ErrorCode::DataRace);
        assert!(error.message.contains("test.dense.writer") && error.message.contains("test.dense.reader"));
        drop((one, two));
        assert_eq!(*tensor.write_owned::<f32>(&WRITER).unwrap(), [1.0; 4]);
    }

    #[test]
    fn a_wrong_type_is_an_error_that_takes_nothing() {
        let tensor = DenseHostTensor::full([2], 1i32, &system()).unwrap();
        let error = tensor.write::<f32>(&WRITER).unwrap_err();
        assert_eq!(error.message, "expected a tensor of dtype F32, got I32");
        assert!(tensor.write::<i32>(&WRITER).is_ok());
        assert!(tensor.read_ranked::<i32, 2>(&READER).is_err());
        assert!(tensor.write::<i32>(&WRITER).is_ok(), "a refused view holds nothing");
    }

    #[test]
    fn buffers_must_suit_the_metadata() {
        let buffer = HostBuffer::from_vec(vec![0u64; 2]);
        let f32s = |shape: [usize; 1]| TensorMetadata::new(DType::F32, shape);
        assert!(DenseHostTensor::from_buffer(f32s([4]), buffer.clone()).is_ok());
        assert_eq!(
            DenseHostTensor::from_buffer(f32s([3]), buffer.clone()).unwrap_err().message,
            "buffer_size (16) is not equal to the number of elements in shape ([3]) times element size (4)"
        );
        let odd = buffer.slice(2, 8).unwrap();
        let error = DenseHostTensor::from_buffer(f32s([2]), odd).unwrap_err();
        assert_eq!(error.message, "the buffer is not aligned to 4 bytes, as elements of dtype F32 must be");
        assert!(DenseHostTensor::from_buffer(f32s([0]), buffer.slice(3, 0).unwrap()).is_ok());
    }

    #[test]
    fn bytes_that_are_no_bool_are_an_error_not_a_bool() {
        let tensor = DenseHostTensor::from_buffer(
            TensorMetadata::new(DType::I1, [2]),
            HostBuffer::from_vec(vec![1u8, 7]),
        )
        .unwrap();
        assert!(tensor.read::<bool>(&READER).is_err());
        tensor.write_bytes(&WRITER).unwrap()[1] = 0;
        assert_eq!(*tensor.read::<bool>(&READER).unwrap(), [true, false]);
    }

    #[test]
    fn memory_may_run_out() {
        let allocator: SharedAllocator =
            Arc::new(FixedSizeAllocator::new(1024, Arc::new(|_| {}), SystemAllocator));
        let error =
            DenseHostTensor::allocate(TensorMetadata::new(DType::F32, [1024]), &allocator).unwrap_err();
        assert_eq!(
            (error.code, &*error.message),
            (ErrorCode::OutOfMemory, "Cannot allocate tensor F32 [1024]")
        );
        assert!(DenseHostTensor::full([32], 1f32, &allocator).is_ok());
        let huge = DenseHostTensor::allocate(TensorMetadata::new(DType::F32, [1 << 40, 1 << 40]), &allocator);
        assert_eq!(huge.unwrap_err().code, ErrorCode::OutOfRange);
    }

    #[test]
    fn bits_are_shared_and_move_unchanged() {
        let floats = [f32::from_bits(0x7fa0_0001), -0.0];
        let from = DenseHostTensor::from_slice([2], &floats, &system()).unwrap();
        let to = DenseHostTensor::from_slice([2], &[0.0f32; 2], &system()).unwrap();
        to.as_bits().write::<u32>(&WRITER).unwrap().copy_from_slice(&from.as_bits().read(&READER).unwrap());
        assert_eq!(to.dtype(), DType::F32);
        let moved = to.read::<f32>(&READER).unwrap();
        assert_eq!([moved[0].to_bits(), moved[1].to_bits()], floats.map(f32::to_bits));
        let error = from.as_bits().read::<u64>(&READER).unwrap_err();
        assert_eq!(error.message, "expected a tensor of dtype UI64, got UI32");
        let error = from.as_bits_of(DType::I32).unwrap_err();
        assert_eq!(error.message, "expected a tensor of dtype I32, got F32");
    }

    #[test]
    fn reshape_shares_and_copy_does_not() {
        let tensor = DenseHostTensor::from_vec([2, 3], (0..6).collect::<Vec<i64>>()).unwrap();
        let flat = tensor.reshape([6]).unwrap();
        let copy = tensor.deep_copy(&READER, &system()).unwrap();
        flat.write::<i64>(&WRITER).unwrap()[0] = 100;
        assert_eq!(tensor.read::<i64>(&READER).unwrap()[0], 100);
        assert_eq!(copy.read::<i64>(&READER).unwrap()[0], 0);
        assert!(tensor.reshape([5]).is_err());
        assert!(DenseHostTensor::from_slice([2], &[1u8], &system()).is_err());
    }

    #[test]
    fn exclusive_elements_need_an_exclusive_buffer() {
        let mut tensor = DenseHostTensor::from_slice([2], &[true, false], &system()).unwrap();
        tensor.elements_mut::<bool>().unwrap()[1] = true;
        let shared = tensor.clone();
        assert_eq!(tensor.elements_mut::<bool>().unwrap_err().code, ErrorCode::FailedPrecondition);
        assert_eq!(*shared.read::<bool>(&READER).unwrap(), [true, true]);
    }
}
