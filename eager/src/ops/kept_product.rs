//! Products by one matrix that is laid out once and kept with its elements, as filters are: the
//! weights of a layer, by which many rows are multiplied. To the host's mathematics such a product
//! is a convolution by a filter of one pixel.
//!
//! Only read-only memory is taken for weights. Another matrix may be a new one at each call, and
//! laying it out would cost more than it saves. When the same matrix comes again must not matter,
//! because the two ways of computing round differently.

use std::{borrow::Cow, sync::Arc};

use tfrt_compute::{run, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{
    Activation, BlockOp, Conv2d, Conv2dInput, Conv2dShape, ConvElement, Extent2, Float, PackedFilter, Padding,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, bf16, f16};

use super::activation::Activation as Elementwise;
use super::fused::channel_vector;
use super::matmul::{batch_dims, oriented};
use super::support::{Computed, product};
use crate::CpuCall;

static ME: Accessor = Accessor::new("tf product by a kept matrix");

/// The greatest size of a matrix that is laid out for a single row as it is. A larger one comes from
/// memory, which takes as long in either layout, and a copy would need that memory twice. In 16 bits
/// it takes half as long.
const MAX_BYTES_OF_ONE_ROW: usize = 4 << 20;

/// The number of products from which on several threads compute them: about 10 µs on one, or 20 µs
/// for a single row.
const LEAST_PRODUCTS: usize = 1 << 19;

/// A matrix that is laid out, as it is or transposed.
struct LaidOut<T: ConvElement> {
    is_transposed: bool,
    /// Nothing if a single row is better multiplied by the matrix where it is.
    matrix: Option<Arc<PackedFilter<T>>>,
}

/// A product by a matrix that is laid out, of one of the types that are computed in `f32`.
pub(super) enum KeptProduct {
    F32(Product<f32>),
    F16(Product<f16>),
    Bf16(Product<bf16>),
}

impl KeptProduct {
    /// Returns the product of the rows of `a` and the matrix `b`, whose result is stored by way of
    /// `activation`. Returns `None` if it is of another kind or too small.
    pub(super) fn new(
        call: &CpuCall<'_>,
        operands: (&DenseHostTensor, &DenseHostTensor),
        transposed: [bool; 2],
        activation: Option<Elementwise>,
    ) -> Result<Option<Self>, Diagnostic> {
        Ok(match operands.1.dtype() {
            DType::F32 => Product::new(call, operands, transposed, activation)?.map(Self::F32),
            DType::F16 => Product::new(call, operands, transposed, activation)?.map(Self::F16),
            DType::BF16 => Product::new(call, operands, transposed, activation)?.map(Self::Bf16),
            _ => None,
        })
    }

    /// Computes the product of `a` into `out`, plus a bias for each column if there is one.
    pub(super) fn run(
        self,
        call: &CpuCall<'_>,
        a: &DenseHostTensor,
        bias: Option<&HostTensor>,
        out: DenseHostTensor,
    ) -> Computed {
        match self {
            Self::F32(product) => product.run(call, a, bias, out),
            Self::F16(product) => product.run(call, a, bias, out),
            Self::Bf16(product) => product.run(call, a, bias, out),
        }
    }
}

/// A product of one type.
pub(super) struct Product<T: ConvElement> {
    plan: Conv2d<T>,
    right: Arc<PackedFilter<T>>,
}

impl<T: Element + Float + ConvElement> Product<T> {
    fn new(
        call: &CpuCall<'_>,
        (a, b): (&DenseHostTensor, &DenseHostTensor),
        [transposed_a, transposed_b]: [bool; 2],
        activation: Option<Elementwise>,
    ) -> Result<Option<Self>, Diagnostic> {
        let [depth, columns] = oriented(b.shape(), transposed_b);
        let rows = a.num_elements().checked_div(depth).unwrap_or(0);
        let is_one = product(batch_dims(b.shape()).unwrap_or_default()) == 1;
        if b.buffer().is_writable() || transposed_a || !is_one {
            return Ok(None);
        }
        let bytes = b.num_elements().saturating_mul(size_of::<T>());
        // Elements that are computed in a wider type are also widened once.
        let is_large = T::DTYPE == DType::F32 && bytes > MAX_BYTES_OF_ONE_ROW;
        let is_large_row = rows == 1 && is_large;
        if rows == 0 || columns == 0 {
            return Ok(None);
        }
        let one = Extent2::new(1, 1);
        let images = (1, Extent2::new(rows, 1), depth);
        let shape = Conv2dShape::new(images, (one, columns), Padding::Valid);
        let stored = if activation == Some(Elementwise::Relu) { Activation::Relu } else { Activation::None };
        let products = rows.saturating_mul(b.num_elements());
        let workers = if products < LEAST_PRODUCTS { 1 } else { workers(call.cx) };
        let mut plan = Conv2d::for_kept_filters(&shape, stored, workers).map_err(shape_error)?;
        if let Some(last) = activation.filter(|_| stored == Activation::None) {
            plan = plan.finished_by(move |elements| last.apply_to(elements));
        }
        let pack = |elements: &[T]| {
            let halved = PackedFilter::in_halves([depth, columns], elements, transposed_b)?;
            if halved.is_some() || is_large_row {
                return Ok(LaidOut { is_transposed: transposed_b, matrix: halved.map(Arc::new) });
            }
            let elements = if transposed_b {
                let at = |place: usize| elements[(place % columns) * depth + place / columns];
                Cow::Owned((0..elements.len()).map(at).collect())
            } else {
                Cow::Borrowed(elements)
            };
            let matrix = PackedFilter::new([1, 1, depth, columns], &elements)?;
            Ok(LaidOut { is_transposed: transposed_b, matrix: Some(Arc::new(matrix)) })
        };
        let fits = |kept: &LaidOut<T>| {
            kept.is_transposed == transposed_b
                && kept.matrix.as_ref().map_or(is_large_row, |matrix| plan.takes(matrix))
        };
        let kept = b.read::<T>(&ME)?.derived(fits, pack).map_err(shape_error)?;
        Ok(kept.matrix.clone().map(|right| Self { plan, right }))
    }

    fn run(
        self,
        call: &CpuCall<'_>,
        a: &DenseHostTensor,
        bias: Option<&HostTensor>,
        mut out: DenseHostTensor,
    ) -> Computed {
        let bias = bias
            .map(|bias| channel_vector::<T>(Some(bias), "Bias", oriented(out.shape(), false)[1], &ME))
            .transpose()?;
        if self.plan.block_count() <= 1 {
            // Nothing else computes at the same time, so no handles are needed.
            let a = a.read::<T>(&ME)?;
            let input = Conv2dInput { bias: bias.as_deref(), ..Conv2dInput::new(&a, &self.right) };
            self.plan.run_in_turn(input, out.elements_mut::<T>()?).map_err(shape_error)?;
            return Ok(out.into());
        }
        let reads = (a.read_owned::<T>(&ME)?, self.right, bias);
        let (result, operands) = (HostTensor::from(out.clone()), (reads, out.write_owned::<T>(&ME)?));
        run(
            call.cx,
            Ok(self.plan),
            operands,
            |(a, right, bias)| Conv2dInput { bias: bias.as_deref(), ..Conv2dInput::new(a, right) },
            |out| out,
            result,
        )
        .map(Into::into)
    }
}
