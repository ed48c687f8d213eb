//! Neural network primitives, over tensors described by extents and strides.
//!
//! Extents are in the order N, C, spatial (H, W); those of filters in the order K, C, R, S. The
//! strides give the memory layout, so `NHWC` is a matter of strides. Results are scaled as in the
//! library, `result = alpha · operation + beta · old contents`; the old contents are not read if
//! `beta` is zero.

use tfrt_host::DType;

use super::{F32Math, Resources, Result};

/// The layout of a tensor in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorLayout {
    /// The element type.
    pub dtype: DType,
    /// The extents, N and C first.
    pub dims: Vec<u64>,
    /// The distance between indices of each dimension, in elements.
    pub strides: Vec<u64>,
}

impl TensorLayout {
    /// Returns the number of elements.
    pub fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |product, &dim| product.saturating_mul(dim))
    }

    /// Returns the number of elements from the first to the last in memory.
    pub fn span(&self) -> u64 {
        if self.dims.contains(&0) {
            return 0;
        }
        let last = self
            .dims
            .iter()
            .zip(&self.strides)
            .fold(0u64, |sum, (&dim, &stride)| sum.saturating_add((dim - 1).saturating_mul(stride)));
        last.saturating_add(1)
    }

    /// Returns the number of bytes from the first to the last in memory.
    pub fn bytes(&self) -> u64 {
        self.span().saturating_mul(self.dtype.size().unwrap_or(0) as u64)
    }
}

/// A tensor on the device: its layout and address.
pub type Tensor<'a> = (&'a TensorLayout, u64);

/// The factors of an operation's result and of the old contents: `alpha · result + beta · old`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// The factor of the result.
    pub alpha: f64,
    /// The factor of the old contents.
    pub beta: f64,
}

impl Scaling {
    /// The result alone, without the old contents.
    pub const ONE: Self = Self { alpha: 1.0, beta: 0.0 };
}

/// The reduction of a pooling window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolingMode {
    /// The maximum.
    Max,
    /// The mean, including padding.
    AverageIncludePadding,
    /// The mean, excluding padding.
    AverageExcludePadding,
    /// The maximum; among equal elements, the first.
    MaxDeterministic,
}

/// Whether a NaN operand makes the result NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanPropagation {
    /// It does not.
    NotPropagate,
    /// It does.
    Propagate,
}

/// The windows of a pooling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pooling {
    /// The reduction of each window.
    pub mode: PoolingMode,
    /// The treatment of NaNs.
    pub nan: NanPropagation,
    /// The extents of a window.
    pub window: Vec<u64>,
    /// The padding before and after, in each direction.
    pub padding: Vec<u64>,
    /// The distance between windows.
    pub strides: Vec<u64>,
}

/// The geometry of a convolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// The padding before and after, in each direction.
    pub padding: Vec<u64>,
    /// The distance between windows.
    pub strides: Vec<u64>,
    /// The distance between elements of the filter.
    pub dilations: Vec<u64>,
    /// The number of groups of channels.
    pub groups: u64,
    /// If false, the filter is flipped, as in mathematics. Networks use true.
    pub cross_correlation: bool,
    /// The type in which products are accumulated.
    pub compute: DType,
    /// The number of the library's algorithm, or −1 for its choice, which is made once per shape.
    pub algorithm: i32,
}

/// The three tensors of a convolution. Each is an operand or the result.
#[derive(Clone, Copy, Debug)]
pub struct ConvolutionOperands<'a> {
    /// The images, or their gradient.
    pub x: Tensor<'a>,
    /// The filter (extents K, C, R, S), or its gradient.
    pub w: Tensor<'a>,
    /// The result, or its gradient.
    pub y: Tensor<'a>,
}

/// The epilogue of a convolution: `activation(alpha · conv + factor · residual + bias)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConvolutionEpilogue<'a> {
    /// One element per channel.
    pub bias: Option<Tensor<'a>>,
    /// A tensor that is added element by element, and its factor. It may be the result's memory.
    pub residual: Option<(Tensor<'a>, f64)>,
    /// Applied last.
    pub activation: Option<Activation>,
}

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activation {
    /// The function.
    pub mode: ActivationMode,
    /// The ceiling of a clipped ReLU, or alpha of an ELU.
    pub coefficient: f64,
    /// The treatment of NaNs.
    pub nan: NanPropagation,
}

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActivationMode {
    /// 1 / (1 + exp(−x)).
    Sigmoid,
    /// max(x, 0).
    Relu,
    /// tanh x.
    Tanh,
    /// min(max(x, 0), coefficient).
    ClippedRelu,
    /// x, or coefficient · (exp x − 1) below zero.
    Elu,
    /// x.
    Identity,
}

/// The elements over which a mean is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BatchNormMode {
    /// All images: one mean per C, H and W.
    PerActivation,
    /// All images and pixels: one mean per C.
    Spatial,
}

/// The operands that all batch normalizations share.
#[derive(Clone, Copy, Debug)]
pub struct BatchNormOperands<'a> {
    /// The elements over which the mean is taken.
    pub mode: BatchNormMode,
    /// The images.
    pub x: Tensor<'a>,
    /// The layout of scale, bias, mean and variance.
    pub parameters: &'a TensorLayout,
    /// A number that is added to the variance.
    pub epsilon: f64,
}

/// The mode of a softmax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftmaxMode {
    /// Whether to sum over C only, instead of C, H and W.
    pub per_pixel: bool,
    /// Whether to take the logarithm.
    pub log: bool,
    /// Whether to skip the subtraction of the maximum.
    pub fast: bool,
}

/// A DNN operation with its operands.
#[derive(Clone, Copy, Debug)]
pub enum DnnOperation<'a> {
    /// Pools `x` into `y`.
    PoolingForward {
        /// The windows.
        pooling: &'a Pooling,
        /// The images.
        x: Tensor<'a>,
        /// The result.
        y: Tensor<'a>,
    },
    /// The gradient of pooling `x` into `y`, from `dy` to `dx`.
    PoolingBackward {
        /// The windows.
        pooling: &'a Pooling,
        /// The result of the pooling.
        y: Tensor<'a>,
        /// The gradient of the result.
        dy: Tensor<'a>,
        /// The operand of the pooling.
        x: Tensor<'a>,
        /// The result.
        dx: Tensor<'a>,
    },
    /// Convolves `x` with `w` into `y` and applies the epilogue, in one pass if the library can.
    ConvolutionForward {
        /// The geometry.
        convolution: &'a Convolution,
        /// The tensors.
        operands: ConvolutionOperands<'a>,
        /// The operations on the result in the same pass.
        epilogue: ConvolutionEpilogue<'a>,
    },
    /// The gradient with respect to `x`, from the gradient in `y`.
    ConvolutionBackwardData {
        /// The geometry.
        convolution: &'a Convolution,
        /// The tensors.
        operands: ConvolutionOperands<'a>,
    },
    /// The gradient with respect to `w`, from the gradient in `y`.
    ConvolutionBackwardFilter {
        /// The geometry.
        convolution: &'a Convolution,
        /// The tensors.
        operands: ConvolutionOperands<'a>,
    },
    /// `y = scale · (x − mean) / sqrt(variance + epsilon) + bias`, with known statistics.
    BatchNormInference {
        /// The operands that all normalizations share.
        operands: BatchNormOperands<'a>,
        /// Scale, bias, mean, variance.
        parameters: [u64; 4],
        /// The result.
        y: Tensor<'a>,
    },
    /// Batch normalization with the statistics of the batch.
    BatchNormTraining {
        /// The operands that all normalizations share.
        operands: BatchNormOperands<'a>,
        /// Scale, bias.
        parameters: [u64; 2],
        /// Mean and variance, which move by the factor towards the (unbiased) values of the batch.
        running: Option<([u64; 2], f64)>,
        /// The addresses for mean and inverse deviation, which the gradient needs.
        saved: Option<[u64; 2]>,
        /// The result.
        y: Tensor<'a>,
    },
    /// The gradient of a batch normalization in training, from `dy` to `dx` and to the gradients of
    /// scale and bias.
    BatchNormBackward {
        /// The operands that all normalizations share.
        operands: BatchNormOperands<'a>,
        /// The gradient of the result.
        dy: Tensor<'a>,
        /// The gradient of `x`.
        dx: Tensor<'a>,
        /// The scale.
        scale: u64,
        /// The gradients of scale and bias.
        gradients: [u64; 2],
        /// The scaling of those two.
        gradient_scaling: Scaling,
        /// Mean and inverse deviation from training. Without them, they are computed again.
        saved: Option<[u64; 2]>,
    },
    /// The softmax of `x` into `y`.
    SoftmaxForward {
        /// The function.
        mode: SoftmaxMode,
        /// The logits.
        x: Tensor<'a>,
        /// The result.
        y: Tensor<'a>,
    },
    /// The gradient of softmax, from its result `y` and `dy` to `dx`.
    SoftmaxBackward {
        /// The function.
        mode: SoftmaxMode,
        /// The result of the softmax.
        y: Tensor<'a>,
        /// The gradient of the result.
        dy: Tensor<'a>,
        /// The result.
        dx: Tensor<'a>,
    },
    /// A function of each element of `x`.
    ActivationForward {
        /// The function.
        activation: Activation,
        /// Its arguments.
        x: Tensor<'a>,
        /// The result.
        y: Tensor<'a>,
    },
    /// The gradient of an activation, from `y`, `dy` and `x` to `dx`.
    ActivationBackward {
        /// The function.
        activation: Activation,
        /// The result of the activation.
        y: Tensor<'a>,
        /// The gradient of the result.
        dy: Tensor<'a>,
        /// Its arguments.
        x: Tensor<'a>,
        /// The result.
        dx: Tensor<'a>,
    },
    /// `c = alpha · a + beta · c`, where extents of 1 in `a` are broadcast, as for a bias.
    AddTensor {
        /// The addend.
        a: Tensor<'a>,
        /// The result.
        c: Tensor<'a>,
    },
}

impl DnnOperation<'_> {
    /// Returns the name of the operation for reports and traces.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PoolingForward { .. } => "dnn pooling forward",
            Self::PoolingBackward { .. } => "dnn pooling backward",
            Self::ConvolutionForward { .. } => "dnn convolution forward",
            Self::ConvolutionBackwardData { .. } => "dnn convolution backward data",
            Self::ConvolutionBackwardFilter { .. } => "dnn convolution backward filter",
            Self::BatchNormInference { .. } => "dnn batch norm inference",
            Self::BatchNormTraining { .. } => "dnn batch norm training",
            Self::BatchNormBackward { .. } => "dnn batch norm backward",
            Self::SoftmaxForward { .. } => "dnn softmax forward",
            Self::SoftmaxBackward { .. } => "dnn softmax backward",
            Self::ActivationForward { .. } => "dnn activation forward",
            Self::ActivationBackward { .. } => "dnn activation backward",
            Self::AddTensor { .. } => "dnn add tensor",
        }
    }
}

/// Queues neural network primitives.
pub trait Dnn: Resources {
    /// Creates a handle of the library.
    fn create_dnn(&self, math: F32Math) -> Result<Self::DnnHandle>;

    /// Queues an operation on the stream.
    fn run_dnn(
        &self,
        dnn: &Self::DnnHandle,
        stream: &Self::Stream,
        operation: DnnOperation<'_>,
        scaling: Scaling,
    ) -> Result<()>;
}
