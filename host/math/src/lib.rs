//! Tensor mathematics on plain slices.
//!
//! Every operation is a **plan**: a small value made once from shapes and parameters. It divides
//! the work into independent blocks and computes any one of them. A plan is run in one of two ways:
//!
//! - [`BlockOp::run`] hands the blocks to a [`ParallelFor`] and returns when all are done;
//! - a runtime that must not block calls [`BlockOp::split`] to cut the output into exclusive
//!   pieces, moves each piece into a separate task that calls [`BlockOp::run_block`], and continues
//!   when the last task ends.
//!
//! Conventions, which hold everywhere unless an operation says otherwise:
//! - Tensors are dense, row-major slices; images are `NHWC` and filters `HWIO`.
//! - Lengths and parameters are checked. An invalid one is a [`ShapeError`], never a panic.
//!   Dimensions of zero are allowed.
//! - Results do not depend on the number of workers or on the order of blocks, bit for bit.
//! - NaN propagates through `maximum`, `minimum`, `relu`, max pooling and the reductions, and
//!   `argmax` returns the position of the first NaN, as NumPy does. Comparisons with NaN are false,
//!   `not_equal` is true.
//! - Integer arithmetic wraps; an integer divided by zero is zero.
//!
//! The crate knows no tensor type, no asynchronous value, no device and no thread pool, and it
//! never prints.

mod argmax;
mod attention;
mod bytes;
mod cast;
mod circular;
mod conv;
mod cross_entropy;
mod element;
mod elementwise;
mod error;
mod exp;
mod matmul;
mod micro;
mod narrow;
mod normalize;
mod pad;
mod parallel;
mod philox;
mod pool;
mod quantize;
mod reduce;
mod shape;
mod simd;
mod softmax;
mod special;
mod tile;
mod transpose;
mod window;

pub use argmax::{ArgExtreme, IndexElement};
pub use attention::{Attention, AttentionInput, AttentionShape, Reordered};
pub use bytes::{ByteElements, ByteOperation, ByteScale, look_up, mean_of_bytes};
pub use bytes::{ByteFilter, ByteInput, ByteMatrix, ByteProduct, ByteResult, Bytes, FilterOrder, Rescale};
pub use cast::{CastTo, cast};
pub use circular::Circular;
pub use conv::{
    Conv2d, Conv2dInput, Conv2dShape, ConvBackwardFilter, ConvBackwardInput, ConvElement, PackedFilter,
    PackedGradientFilter,
};
pub use cross_entropy::{CrossEntropy, CrossEntropyInput, Labels, SparseCrossEntropy};
pub use element::{Element, Float, Number};
pub use elementwise::{
    BiasAdd, Binary, BinaryLoop, Broadcast, Function, Fused, Prepared, Program, RunFn, Runs, Step, Term,
    Unary, UnaryLoop, Update, axpy, broadcast_shapes, map_in_place, ops, with_left, with_right, zip_in_place,
};
pub use error::ShapeError;
pub use matmul::{Activation, Layout, MatMul, MatMulElement, MatMulInput, PreparedMatrix, small_matmul};
pub use narrow::{
    NarrowInput, NarrowMatrix, NarrowPrecision, NarrowProduct, NarrowRows, NarrowScales, NarrowShape,
    NarrowZeros,
};
pub use normalize::{
    BatchNormBackward, BatchNormBackwardInput, BatchNormGradients, BatchNormOutput, BatchNormTraining,
    Coefficients, ColumnStatistics, InputGradient, ScaleShift, ScaleShiftInput, fold_batch_norm,
    normalize_row,
};
pub use pad::Pad;
pub use parallel::{BlockOp, ParallelFor, Pieces, Serial};
pub use philox::{Distribution, Philox, RandomIntegers};
pub use pool::{
    AvgPool, AvgPoolBackward, MaxPool, MaxPoolBackward, MaxPoolWithArgmax, PoolShape, global_avg_pool,
};
pub use quantize::{Quantized, Scaling, range_with_zero};
pub use reduce::{Max, Mean, Min, Prod, Reduce, ReducePartials, Reduction, Sum, column_sums};
pub use softmax::{LogSoftmax, Softmax, softmax_columns};
pub use tile::{TileMut, matrices_overlap};
pub use transpose::Transpose;
pub use window::{Extent2, Padding};
