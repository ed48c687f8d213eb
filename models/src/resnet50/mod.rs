//! ResNet-50 (He et al., 2015): its layers and the steps that compute them, weights from a seed or
//! from a file of another framework, and programs for inference.
//!
//! Images are `NHWC`, filters `HWIO`. This module runs nothing: it generates text and numbers.

mod convert;
mod eager;
mod host;
mod pipeline;
mod program;
mod weights;

pub use convert::{Converted, MODEL, NamedTensors, VARIANT, convert};
pub use pipeline::pipeline;
pub use program::{Form, Precision, ProgramOptions, check, device_program, program, weights_program};
pub use weights::{Weights, seeded_images, seeded_weights};
pub(crate) use weights::{fill_seeded_bias, fill_seeded_filter, filter_to_ohwi};

use std::fmt;
use std::str::FromStr;

/// The variant of ResNet-50. The layers have the same shapes in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// torchvision's, which is version 1.5: the 3 × 3 convolutions have the strides. Images are
    /// red, green, blue, normalized to mean 0 and deviation 1 with the statistics of ImageNet.
    #[default]
    Torchvision,
    /// Keras's, which is version 1, as in the paper: the first convolution of a block has the
    /// stride. Images are blue, green, red, from 0 to 255 minus their means.
    Keras,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Torchvision, Self::Keras];

    /// Returns the name in programs and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Torchvision => "torchvision",
            Self::Keras => "keras",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|variant| variant.name() == name)
            .ok_or_else(|| format!("'{name}' is neither torchvision nor keras"))
    }
}

/// A convolution with batch normalization, or the last layer, which has neither neighbours nor
/// normalization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The name in torchvision's files, without `.weight`.
    pub name: String,
    /// The number of rows and columns of the filter.
    pub window: usize,
    /// The number of input channels.
    pub in_channels: usize,
    /// The number of output channels.
    pub out_channels: usize,
    /// The distance between windows, in pixels.
    pub stride: usize,
    /// The operation after the convolution.
    pub then: Then,
}

impl Layer {
    /// Returns the filter's extents: rows, columns, input channels, output channels.
    pub fn filter_extents(&self) -> [usize; 4] {
        [self.window, self.window, self.in_channels, self.out_channels]
    }

    /// Returns the number of rows or columns of zeros on each side of the images.
    pub fn padding(&self) -> usize {
        self.window / 2
    }

    /// Returns whether negative results become zero.
    pub fn has_relu(&self) -> bool {
        matches!(self.then, Then::Relu | Then::AddRelu)
    }
}

/// The operation after a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Negative numbers become zero.
    Relu,
    /// None: the convolution adapts the shortcut to the block.
    Shortcut,
    /// The shortcut is added, and then negative numbers become zero.
    AddRelu,
    /// None: the results are the classes' scores.
    Scores,
}

/// The number of classes of ImageNet.
pub const CLASSES: usize = 1000;

/// The number of blocks, and of channels inside them, of the four stages.
const STAGES: [(usize, usize); 4] = [(3, 64), (4, 128), (6, 256), (3, 512)];
/// The factor from the channels inside a block to those of its result.
const EXPANSION: usize = 4;
/// The factor by which the network reduces rows and columns before the last pooling.
pub const REDUCTION: usize = 32;

/// Returns the layers with weights of torchvision's network, see [`layers_of`].
pub fn layers() -> Vec<Layer> {
    layers_of(Variant::Torchvision)
}

/// Returns the layers with weights of a network, in the order of computation: a block's shortcut
/// comes first.
pub fn layers_of(variant: Variant) -> Vec<Layer> {
    let layer = |name: String, window, in_channels, out_channels, stride, then| Layer {
        name,
        window,
        in_channels,
        out_channels,
        stride,
        then,
    };
    let mut layers = vec![layer("conv1".into(), 7, 3, 64, 2, Then::Relu)];
    let mut channels = 64;
    for (stage, (blocks, inside)) in STAGES.into_iter().enumerate() {
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let (first, second) = match variant {
                Variant::Torchvision => (1, stride),
                Variant::Keras => (stride, 1),
            };
            let name = |part: &str| format!("layer{}.{block}.{part}", stage + 1);
            let outside = inside * EXPANSION;
            if block == 0 {
                layers.push(layer(name("downsample.0"), 1, channels, outside, stride, Then::Shortcut));
            }
            layers.push(layer(name("conv1"), 1, channels, inside, first, Then::Relu));
            layers.push(layer(name("conv2"), 3, inside, inside, second, Then::Relu));
            layers.push(layer(name("conv3"), 1, inside, outside, 1, Then::AddRelu));
            channels = outside;
        }
    }
    layers.push(layer("fc".into(), 1, channels, CLASSES, 1, Then::Scores));
    layers
}

/// An intermediate value between images and scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// The images.
    Images,
    /// The first layer's result after the maximum pooling.
    Pooled,
    /// The result of the layer with this number.
    Layer(usize),
    /// The mean of all pixels, for each channel.
    Mean,
}

/// Formats the value's name in programs.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Images => f.write_str("%images"),
            Self::Pooled => f.write_str("%pooled"),
            Self::Layer(at) => write!(f, "%y{at}"),
            Self::Mean => f.write_str("%mean"),
        }
    }
}

/// A step between images and scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The layer with this number: `activation(conv(input) + bias + residual)`, to
    /// [`Value::Layer`].
    Convolution {
        /// The layer's number.
        at: usize,
        /// The input of the convolution.
        input: Value,
        /// The residual to add.
        residual: Option<Value>,
    },
    /// The maximum of 3 × 3 pixels, with a stride of two and a padding of one, to
    /// [`Value::Pooled`].
    MaxPool {
        /// The input of the pooling.
        input: Value,
    },
    /// The mean of all pixels, to [`Value::Mean`].
    Mean {
        /// The input of the mean.
        input: Value,
    },
    /// The last layer, a matrix product of the means and its weights, to [`Value::Layer`].
    Scores {
        /// The layer's number.
        at: usize,
        /// The input of the product.
        input: Value,
    },
}

/// Returns the steps of a network with these layers (see [`layers_of`]), each after those whose
/// results it uses. The last one computes the scores.
pub fn steps(layers: &[Layer]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut x = Value::Images;
    // The input of the block, and the shortcut that is added at its end.
    let (mut block, mut shortcut) = (x, None);
    for (at, layer) in layers.iter().enumerate() {
        let y = Value::Layer(at);
        match layer.then {
            Then::Scores => {
                steps.push(Step::Mean { input: x });
                steps.push(Step::Scores { at, input: Value::Mean });
            }
            Then::Shortcut => {
                block = x;
                shortcut = Some(y);
                steps.push(Step::Convolution { at, input: x, residual: None });
            }
            Then::AddRelu => {
                steps.push(Step::Convolution {
                    at,
                    input: x,
                    residual: Some(shortcut.take().unwrap_or(block)),
                });
                (x, block) = (y, y);
            }
            Then::Relu => {
                steps.push(Step::Convolution { at, input: x, residual: None });
                x = y;
            }
        }
        if at == 0 {
            steps.push(Step::MaxPool { input: x });
            (x, block) = (Value::Pooled, Value::Pooled);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_layers_of_the_paper() {
        for variant in Variant::ALL {
            let layers = layers_of(variant);
            assert_eq!(layers.len(), 54);
            let parameters: usize = layers.iter().map(|l| l.filter_extents().iter().product::<usize>()).sum();
            // 25.6 million including the biases and normalizations.
            assert_eq!(parameters, 25_502_912);
            assert_eq!(layers.iter().filter(|l| l.then == Then::AddRelu).count(), 16);
            let strided: Vec<_> = layers.iter().filter(|l| l.stride == 2).map(|l| l.window).collect();
            let in_block = if variant == Variant::Keras { 1 } else { 3 };
            assert_eq!(strided, [7, 1, in_block, 1, in_block, 1, in_block], "{variant}");
            assert_eq!(variant.name().parse(), Ok(variant));
        }
        assert!("caffe".parse::<Variant>().is_err());
    }

    /// Returns the channels of a value, from the steps that compute it.
    fn channels(layers: &[Layer], value: Value) -> usize {
        match value {
            Value::Images => 3,
            Value::Pooled => 64,
            Value::Layer(at) => layers[at].out_channels,
            Value::Mean => 2048,
        }
    }

    #[test]
    fn steps_fit_together() {
        let layers = layers();
        let steps = steps(&layers);
        assert_eq!(steps.len(), 56);
        let mut residuals = 0;
        for step in &steps {
            match *step {
                Step::Convolution { at, input, residual } => {
                    assert_eq!(channels(&layers, input), layers[at].in_channels, "{}", layers[at].name);
                    assert_eq!(residual.is_some(), layers[at].then == Then::AddRelu);
                    if let Some(residual) = residual {
                        assert_eq!(channels(&layers, residual), layers[at].out_channels);
                        residuals += 1;
                    }
                }
                Step::Scores { at, input } => assert_eq!((at, input), (53, Value::Mean)),
                Step::MaxPool { input } => assert_eq!(input, Value::Layer(0)),
                Step::Mean { input } => assert_eq!(channels(&layers, input), 2048),
            }
        }
        assert_eq!(residuals, 16);
        // A block without a layer for its shortcut adds its input.
        assert!(steps.contains(&Step::Convolution {
            at: 7,
            input: Value::Layer(6),
            residual: Some(Value::Layer(4))
        }));
    }
}
