//! Neural network primitives, over tensors described by extents and strides.
//!
//! Extents are in the order N, C, spatial (H, W); filters are in the order K, C, R, S. What lies how in memory the strides
//! say, so that `NHWC` is a matter of strides too. Every result is scaled as the library has it:
//! `result = alpha · operation + beta · what was there`, where nothing is read if `beta` is zero.

use tfrt_host::DType;

use super::{Resources, Result};

/// How a tensor lies in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorLayout {
    /// Type of its elements.
    pub dtype: DType,
    /// Extents, N and C first.
    pub dims: Vec<u64>,
    /// Elements from one index to the next in each direction.
    pub strides: Vec<u64>,
}

impl TensorLayout {
    /// How many elements the tensor has.
    pub fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |product, &dim| product.saturating_mul(dim))
    }

    /// Elements from the first to the last in memory.
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

    /// Bytes from the first to the last in memory.
    pub fn bytes(&self) -> u64 {
        self.span().saturating_mul(self.dtype.size().unwrap_or(0) as u64)
    }
}

/// A tensor on the device.
pub type Tensor<'a> = (&'a TensorLayout, u64);

/// Factors of an operation's result and of what was there before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Of the result.
    pub alpha: f64,
    /// Of what was there.
    pub beta: f64,
}

impl Scaling {
    /// The result alone.
    pub const ONE: Self = Self { alpha: 1.0, beta: 0.0 };
}

/// What pooling takes of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolingMode {
    /// The greatest.
    Max,
    /// The mean, padding counted.
    AverageIncludePadding,
    /// The mean of what lies inside.
    AverageExcludePadding,
    /// The greatest; of equals always the first.
    MaxDeterministic,
}

/// Whether a NaN makes the result one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanPropagation {
    /// It loses.
    NotPropagate,
    /// It wins.
    Propagate,
}

/// A pooling's windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pooling {
    /// What is taken of each.
    pub mode: PoolingMode,
    /// What NaNs do.
    pub nan: NanPropagation,
    /// Extents.
    pub window: Vec<u64>,
    /// Padding before (and after) in each direction.
    pub padding: Vec<u64>,
    /// From one window to the next.
    pub strides: Vec<u64>,
}

/// A convolution's geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Padding before (and after) in each direction.
    pub padding: Vec<u64>,
    /// From one window to the next.
    pub strides: Vec<u64>,
    /// From one element of the filter to the next.
    pub dilations: Vec<u64>,
    /// Groups of channels.
    pub groups: u64,
    /// False flips the filter, as mathematics has it; networks use true.
    pub cross_correlation: bool,
    /// Type in which products are summed.
    pub compute: DType,
    /// Which of the library's algorithms, or −1 for its choice (found once for a shape and kept).
    pub algorithm: i32,
}

/// The three tensors of a convolution, each an operand or the result.
#[derive(Clone, Copy, Debug)]
pub struct ConvolutionOperands<'a> {
    /// Images, or their gradient.
    pub x: Tensor<'a>,
    /// The filter (extents K, C, R, S), or its gradient.
    pub w: Tensor<'a>,
    /// The result, or its gradient.
    pub y: Tensor<'a>,
}

/// What is done to a convolution's result on its way: `activation(alpha · conv + factor · residual + bias)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConvolutionEpilogue<'a> {
    /// One element for each channel.
    pub bias: Option<Tensor<'a>>,
    /// Added element by element, with its factor; may be the result's memory.
    pub residual: Option<(Tensor<'a>, f64)>,
    /// Applied last.
    pub activation: Option<Activation>,
}

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activation {
    /// Which.
    pub mode: ActivationMode,
    /// Ceiling of a clipped ReLU, alpha of an ELU.
    pub coefficient: f64,
    /// What NaNs do.
    pub nan: NanPropagation,
}

/// Which function of one element.
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

/// What a mean is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BatchNormMode {
    /// Images: one mean for each C, H, W.
    PerActivation,
    /// Images and pixels: one mean for each C.
    Spatial,
}

/// The tensors that all batch normalizations have.
#[derive(Clone, Copy, Debug)]
pub struct BatchNormOperands<'a> {
    /// What the mean is taken over.
    pub mode: BatchNormMode,
    /// Images.
    pub x: Tensor<'a>,
    /// How scale, bias, mean and variance lie.
    pub parameters: &'a TensorLayout,
    /// Added to the variance.
    pub epsilon: f64,
}

/// What a softmax sums over, and whether its logarithm is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftmaxMode {
    /// Over C alone instead of over C, H and W.
    pub per_pixel: bool,
    /// The logarithm.
    pub log: bool,
    /// Without subtracting the maximum first.
    pub fast: bool,
}

/// An operation, with what it works on.
#[derive(Clone, Copy, Debug)]
pub enum DnnOperation<'a> {
    /// Pools `x` to `y`.
    PoolingForward {
        /// The windows.
        pooling: &'a Pooling,
        /// Images.
        x: Tensor<'a>,
        /// The result.
        y: Tensor<'a>,
    },
    /// The gradient of pooling `x` to `y`, from `dy` to `dx`.
    PoolingBackward {
        /// The windows.
        pooling: &'a Pooling,
        /// What pooling gave.
        y: Tensor<'a>,
        /// The gradient there.
        dy: Tensor<'a>,
        /// What was pooled.
        x: Tensor<'a>,
        /// The result.
        dx: Tensor<'a>,
    },
    /// Convolves `x` by `w` to `y`, epilogue included, in one pass where the library can.
    ConvolutionForward {
        /// The geometry.
        convolution: &'a Convolution,
        /// The tensors.
        operands: ConvolutionOperands<'a>,
        /// What is done to the result on its way.
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
        /// What all normalizations have.
        operands: BatchNormOperands<'a>,
        /// Scale, bias, mean, variance.
        parameters: [u64; 4],
        /// The result.
        y: Tensor<'a>,
    },
    /// As inference, with the batch's own statistics.
    BatchNormTraining {
        /// What all normalizations have.
        operands: BatchNormOperands<'a>,
        /// Scale, bias.
        parameters: [u64; 2],
        /// Mean and variance, which move by the factor towards the batch's (unbiased) ones.
        running: Option<([u64; 2], f64)>,
        /// Where mean and inverse deviation go for the gradient.
        saved: Option<[u64; 2]>,
        /// The result.
        y: Tensor<'a>,
    },
    /// The gradient of training: from `dy` to `dx` and to the gradients of scale and bias.
    BatchNormBackward {
        /// What all normalizations have.
        operands: BatchNormOperands<'a>,
        /// The gradient of the result.
        dy: Tensor<'a>,
        /// The gradient of `x`.
        dx: Tensor<'a>,
        /// The scale.
        scale: u64,
        /// The gradients of scale and bias.
        gradients: [u64; 2],
        /// How those two are scaled.
        gradient_scaling: Scaling,
        /// Mean and inverse deviation as training left them; without, they are computed again.
        saved: Option<[u64; 2]>,
    },
    /// Softmax of `x` to `y`.
    SoftmaxForward {
        /// Which.
        mode: SoftmaxMode,
        /// The logits.
        x: Tensor<'a>,
        /// The result.
        y: Tensor<'a>,
    },
    /// The gradient of softmax, from its result `y` and `dy` to `dx`.
    SoftmaxBackward {
        /// Which.
        mode: SoftmaxMode,
        /// What softmax gave.
        y: Tensor<'a>,
        /// The gradient there.
        dy: Tensor<'a>,
        /// The result.
        dx: Tensor<'a>,
    },
    /// A function of each element of `x`.
    ActivationForward {
        /// Which.
        activation: Activation,
        /// Its arguments.
        x: Tensor<'a>,
        /// The result.
        y: Tensor<'a>,
    },
    /// Its gradient, from `y`, `dy` and `x` to `dx`.
    ActivationBackward {
        /// Which.
        activation: Activation,
        /// What it gave.
        y: Tensor<'a>,
        /// The gradient there.
        dy: Tensor<'a>,
        /// Its arguments.
        x: Tensor<'a>,
        /// The result.
        dx: Tensor<'a>,
    },
    /// `c = alpha · a + beta · c`, where extents of 1 in `a` are repeated: adding a bias.
    AddTensor {
        /// The addend.
        a: Tensor<'a>,
        /// The result.
        c: Tensor<'a>,
    },
}

/// Neural network primitives.
pub trait Dnn: Resources {
    /// The library's state.
    fn create_dnn(&self) -> Result<Self::DnnHandle>;

    /// Queues an operation on the stream.
    fn run_dnn(
        &self,
        dnn: &Self::DnnHandle,
        stream: &Self::Stream,
        operation: DnnOperation<'_>,
        scaling: Scaling,
    ) -> Result<()>;
}
