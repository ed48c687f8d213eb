//! Tensors of bytes as operands of the products of `tfrt-math`.

use std::sync::Arc;

use tfrt_compute::shape_error;
use tfrt_host::{DType, Diagnostic, host_buffer::HostBuffer};
use tfrt_math::{ByteFilter, ByteMatrix, Bytes, Conv2dShape, FilterOrder, Layout, ShapeError};
use tfrt_tensor::{Accessor, DenseHostTensor, Elements};

use super::quantize::integers_of;
use crate::ops::support::invalid;

static ME: Accessor = Accessor::new("onnx product of bytes");

/// The elements of a tensor of bytes.
pub(in crate::ops) enum Held {
    Signed(Elements<i8, HostBuffer>),
    Unsigned(Elements<u8, HostBuffer>),
}

impl Held {
    pub(in crate::ops) fn new(tensor: &DenseHostTensor) -> Result<Self, Diagnostic> {
        match tensor.dtype() {
            DType::I8 => Ok(Self::Signed(tensor.read_owned::<i8>(&ME)?)),
            DType::UI8 => Ok(Self::Unsigned(tensor.read_owned::<u8>(&ME)?)),
            other => Err(invalid(format!("the op takes bytes, got a tensor of {other}"))),
        }
    }

    pub(in crate::ops) fn bytes(&self) -> Bytes<'_> {
        match self {
            Self::Signed(elements) => Bytes::Signed(elements),
            Self::Unsigned(elements) => Bytes::Unsigned(elements),
        }
    }

    /// What `make` gives for the bytes. It is kept with them if they do not change.
    fn laid_out<D: Send + Sync + 'static>(
        &self,
        is_constant: bool,
        fits: impl FnOnce(&D, Bytes<'_>) -> bool,
        make: impl FnOnce(Bytes<'_>) -> Result<D, ShapeError>,
    ) -> Result<Arc<D>, Diagnostic> {
        match self {
            _ if !is_constant => make(self.bytes()).map(Arc::new),
            Self::Signed(elements) => {
                elements.derived(|kept| fits(kept, self.bytes()), |elements| make(Bytes::Signed(elements)))
            }
            Self::Unsigned(elements) => {
                elements.derived(|kept| fits(kept, self.bytes()), |elements| make(Bytes::Unsigned(elements)))
            }
        }
        .map_err(shape_error)
    }
}

/// The integers that stand for zero; 0 if there are none.
pub(in crate::ops) fn zeros_of(tensor: Option<&DenseHostTensor>) -> Result<Vec<i32>, Diagnostic> {
    tensor.map_or_else(|| Ok(vec![0]), integers_of)
}

/// Lays out a matrix with these zeros of its columns, and keeps it with a constant.
pub(super) fn matrix_of(
    tensor: &DenseHostTensor,
    [depth, columns]: [usize; 2],
    zeros: &[i32],
) -> Result<Arc<ByteMatrix>, Diagnostic> {
    let fits = |kept: &ByteMatrix, bytes: Bytes<'_>| kept.fits((depth, columns), bytes, zeros);
    Held::new(tensor)?.laid_out(!tensor.buffer().is_writable(), fits, |bytes| {
        ByteMatrix::new((depth, columns), (bytes, Layout::row_major(depth, columns)), zeros)
    })
}

/// Lays out a filter with these zeros of its outputs, and keeps it with a constant.
pub(in crate::ops) fn filter_of(
    tensor: &DenseHostTensor,
    (shape, order): (&Conv2dShape, FilterOrder),
    zeros: &[i32],
) -> Result<Arc<ByteFilter>, Diagnostic> {
    let fits = |kept: &ByteFilter, bytes: Bytes<'_>| kept.fits(shape, (bytes, order), zeros);
    Held::new(tensor)?
        .laid_out(!tensor.buffer().is_writable(), fits, |bytes| ByteFilter::new(shape, (bytes, order), zeros))
}
