//! ResNet-50 (He et al., 2015): its layers and the steps in which they are computed, weights from a seed or a file of somebody
//! else's, and programs that infer with it.
//!
//! Images are `NHWC`, filters `HWIO`. This module runs nothing: it gives text and numbers.

mod convert;
mod device;
mod eager;
mod host;
mod program;
mod weights;

pub use convert::{Converted, MODEL, NamedTensors, VARIANT, convert};
pub use program::{Form, Precision, ProgramOptions, program};
pub use weights::{Weights, seeded_images, seeded_weights};
pub(crate) use weights::{fill_seeded_bias, fill_seeded_filter, filter_to_ohwi};

use std::fmt;
use std::str::FromStr;

/// Whose ResNet-50 it is. The layers have the same shapes in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// torchvision's, which is version 1.5: the 3 × 3 convolutions have the strides. Images are red, green, blue, brought to
    /// mean 0 and deviation 1 with the figures of ImageNet.
    #[default]
    Torchvision,
    /// Keras's, which is version 1, as in the paper: the first convolution of a block has the stride. Images are blue, green,
    /// red, from 0 to 255 less their means.
    Keras,
}

impl Variant {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Torchvision, Self::Keras];

    /// What it is called in programs and files.
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

/// A convolution with batch normalization, or the last layer, which has neither neighbours nor normalization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its name in torchvision's files, without `.weight`.
    pub name: String,
    /// Rows and columns of the filter.
    pub window: usize,
    /// Channels that come in.
    pub in_channels: usize,
    /// Channels that go out.
    pub out_channels: usize,
    /// Pixels from one window to the next.
    pub stride: usize,
    /// What follows.
    pub then: Then,
}

impl Layer {
    /// The filter's extents: rows, columns, input channels, output channels.
    pub fn filter_extents(&self) -> [usize; 4] {
        [self.window, self.window, self.in_channels, self.out_channels]
    }

    /// Rows, or columns, of zeros on each side of the images.
    pub fn padding(&self) -> usize {
        self.window / 2
    }

    /// Whether negative results become zero.
    pub fn has_relu(&self) -> bool {
        matches!(self.then, Then::Relu | Then::AddRelu)
    }
}

/// What follows a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Negative numbers become zero.
    Relu,
    /// Nothing: it makes the shortcut of the block fit.
    Shortcut,
    /// The shortcut is added, and then negative numbers become zero.
    AddRelu,
    /// Nothing: these are the classes' scores.
    Scores,
}

/// Classes of ImageNet.
pub const CLASSES: usize = 1000;

/// Blocks, and channels inside them, of the four stages.
const STAGES: [(usize, usize); 4] = [(3, 64), (4, 128), (6, 256), (3, 512)];
/// How many times as many channels leave a block as are inside it.
const EXPANSION: usize = 4;
/// How many pixels of an image, in each direction, become one on the way to the last pooling.
pub const REDUCTION: usize = 32;

/// The layers with weights of torchvision's network; see [`layers_of`].
pub fn layers() -> Vec<Layer> {
    layers_of(Variant::Torchvision)
}

/// The layers with weights of a network, in the order in which they are computed: a block's shortcut comes first.
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

/// A value on the way from images to scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// The images.
    Images,
    /// The first layer's result after the maximum pooling.
    Pooled,
    /// The result of the layer of this number.
    Layer(usize),
    /// The mean of all pixels, for each channel.
    Mean,
}

/// As programs write it.
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

/// One step on the way from images to scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The layer of this number: `activation(conv(input) + bias + residual)`, to [`Value::Layer`].
    Convolution {
        /// The layer's number.
        at: usize,
        /// What is convolved.
        input: Value,
        /// What is added.
        residual: Option<Value>,
    },
    /// The maximum of 3 × 3 pixels, every other one, padded by one, to [`Value::Pooled`].
    MaxPool {
        /// What is pooled.
        input: Value,
    },
    /// The mean of all pixels, to [`Value::Mean`].
    Mean {
        /// What it is the mean of.
        input: Value,
    },
    /// The last layer, a matrix product of the means and its weights, to [`Value::Layer`].
    Scores {
        /// The layer's number.
        at: usize,
        /// What is multiplied.
        input: Value,
    },
}

/// The steps of a network of these layers (see [`layers_of`]), each after those whose results it takes. The last one gives the
/// scores.
pub fn steps(layers: &[Layer]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut x = Value::Images;
    // What the block began with, and what is to be added at its end.
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
            // 25.6 million with the biases and normalizations.
            assert_eq!(parameters, 25_502_912);
            assert_eq!(layers.iter().filter(|l| l.then == Then::AddRelu).count(), 16);
            let strided: Vec<_> = layers.iter().filter(|l| l.stride == 2).map(|l| l.window).collect();
            let in_block = if variant == Variant::Keras { 1 } else { 3 };
            assert_eq!(strided, [7, 1, in_block, 1, in_block, 1, in_block], "{variant}");
            assert_eq!(variant.name().parse(), Ok(variant));
        }
        assert!("caffe".parse::<Variant>().is_err());
    }

    /// Channels of a value, from the steps that make it.
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
        // A block without a layer for its shortcut adds what it began with.
        assert!(steps.contains(&Step::Convolution {
            at: 7,
            input: Value::Layer(6),
            residual: Some(Value::Layer(4))
        }));
    }
}
