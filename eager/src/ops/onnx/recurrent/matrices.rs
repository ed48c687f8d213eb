//! The matrices of a recurrent op, laid out for products.

use std::sync::Arc;

use tfrt_compute::shape_error;
use tfrt_host::Diagnostic;
use tfrt_math::{ConvElement, Layout, PreparedMatrix, ShapeError};
use tfrt_tensor::{Accessor, DenseHostTensor};

use super::super::work::{Computable, in_work};

static ME: Accessor = Accessor::new("onnx recurrent op");

/// For each direction, the transposed matrices of the gates that come first and of those that come
/// second, which may be none.
pub(super) struct Matrices<W: ConvElement> {
    directions: Vec<[PreparedMatrix<W>; 2]>,
    gates: [usize; 2],
}

impl<W: ConvElement<Work = W>> Matrices<W> {
    /// The matrices of a tensor of shape (directions, elements of all gates, depth), of which the
    /// first `gates[0]` elements come first. They are kept with the tensor.
    pub(super) fn of<T: Computable<Work = W>>(
        tensor: &DenseHostTensor,
        directions: usize,
        gates: [usize; 2],
    ) -> Result<Arc<Self>, Diagnostic> {
        let elements = tensor.read::<T>(&ME)?;
        let fits = |kept: &Self| kept.directions.len() == directions && kept.gates == gates;
        elements.derived(fits, |elements| Self::new(&in_work::<T>(elements)?, directions, gates))
    }

    fn new(elements: &[W], directions: usize, gates: [usize; 2]) -> Result<Self, Diagnostic> {
        let rows = directions * (gates[0] + gates[1]);
        let depth = elements.len().checked_div(rows).unwrap_or(0);
        let mut rest = elements;
        let mut next = |columns: usize| {
            let (matrix, after) = rest.split_at(columns * depth);
            rest = after;
            PreparedMatrix::new((depth, columns), (matrix, Layout::transposed(depth, columns)))
        };
        let pairs = (0..directions).map(|_| Ok([next(gates[0])?, next(gates[1])?]));
        let directions = pairs.collect::<Result<Vec<_>, ShapeError>>().map_err(shape_error)?;
        Ok(Self { directions, gates })
    }

    /// The matrices of a direction.
    pub(super) fn direction(&self, direction: usize) -> [&PreparedMatrix<W>; 2] {
        self.directions[direction].each_ref()
    }
}
