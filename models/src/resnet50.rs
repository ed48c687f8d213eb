//! ResNet-50 (He et al., 2015) in its version 1.5, where the 3 × 3 convolutions have the strides: its layers, a program that
//! infers with it, and weights from a seed.
//!
//! Images are `NHWC`, filters `HWIO`. This module knows no runtime: it gives text and numbers.

use std::fmt::Write as _;

use crate::random::Random;

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

/// A layer's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The filter, `HWIO`.
    pub filter: Vec<f32>,
    /// One number for each output channel to add.
    pub bias: Vec<f32>,
}

/// Classes of ImageNet.
pub const CLASSES: usize = 1000;

/// Blocks, and channels inside them, of the four stages.
const STAGES: [(usize, usize); 4] = [(3, 64), (4, 128), (6, 256), (3, 512)];
/// How many times as many channels leave a block as are inside it.
const EXPANSION: usize = 4;

/// The layers with weights, in the order in which they are computed: a block's shortcut comes first.
pub fn layers() -> Vec<Layer> {
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
            let name = |part: &str| format!("layer{}.{block}.{part}", stage + 1);
            let outside = inside * EXPANSION;
            if block == 0 {
                layers.push(layer(name("downsample.0"), 1, channels, outside, stride, Then::Shortcut));
            }
            layers.push(layer(name("conv1"), 1, channels, inside, 1, Then::Relu));
            layers.push(layer(name("conv2"), 3, inside, inside, stride, Then::Relu));
            layers.push(layer(name("conv3"), 1, inside, outside, 1, Then::AddRelu));
            channels = outside;
        }
    }
    layers.push(layer("fc".into(), 1, channels, CLASSES, 1, Then::Scores));
    layers
}

/// A program of two functions: `@pack` prepares a filter and its bias, once for each of [`layers`]; `@infer` takes images of
/// `extent` × `extent` pixels, a multiple of 32, and the prepared filters, and gives scores, `N × 1 × 1 × 1000`.
pub fn program(extent: usize) -> String {
    const FILTER: &str = "!tfrt_math.conv2d_filter";
    let layers = layers();
    let mut text = format!(
        "// ResNet-50 for images of {extent} x {extent} pixels. Written by tfrt_models::resnet50::program.\n\n\
         func @pack(%filter: !t.tensor, %bias: !t.tensor) -> {FILTER} {{\n  %ch = tfrt.new.chain\n  \
         %packed = \"tfrt_math.conv2d.pack.f32\"(%filter, %bias, %ch)\n    \
         : (!t.tensor, !t.tensor, !tfrt.chain) -> {FILTER}\n  tfrt.return %packed : {FILTER}\n}}\n\n\
         func @infer(%images: !t.tensor"
    );
    for at in 0..layers.len() {
        let _ = write!(text, ", %w{at}: {FILTER}");
    }
    text.push_str(") -> !t.tensor {\n  %ch = tfrt.new.chain\n");
    // The values that the next layer, the block's first and its last take.
    let (mut x, mut block, mut shortcut) = ("%images".to_owned(), String::new(), String::new());
    for (at, layer) in layers.iter().enumerate() {
        if layer.then == Then::Scores {
            pool(&mut text, ("avg", "%mean", &x), (0, 1, extent / 32));
            x = "%mean".into();
        }
        // A block begins where nothing waits to be added.
        if layer.then == Then::Shortcut || (layer.name.ends_with("conv1") && shortcut.is_empty()) {
            block.clone_from(&x);
            shortcut.clone_from(&x);
        }
        let y = format!("%y{at}");
        let input = if layer.then == Then::Shortcut { &block } else { &x };
        let residual = if layer.then == Then::AddRelu { Some(&shortcut) } else { None };
        convolution(&mut text, layer, (at, &y), (input, residual));
        match layer.then {
            Then::Shortcut => shortcut = y,
            Then::AddRelu => {
                x = y;
                shortcut.clear();
            }
            Then::Relu | Then::Scores => x = y,
        }
        if at == 0 {
            pool(&mut text, ("max", "%pooled", &x), (1, 2, 3));
            x = "%pooled".into();
            shortcut.clear();
        }
    }
    let _ = writeln!(text, "  tfrt.return {x} : !t.tensor\n}}");
    text
}

fn convolution(
    text: &mut String,
    layer: &Layer,
    (at, y): (usize, &str),
    (x, residual): (&str, Option<&String>),
) {
    let (pad, stride) = (layer.window / 2, layer.stride);
    let relu = matches!(layer.then, Then::Relu | Then::AddRelu);
    let (name, added, types) = match residual {
        Some(residual) => ("conv2d.residual", format!(", {residual}"), ", !t.tensor"),
        None => ("conv2d", String::new(), ""),
    };
    let _ = write!(
        text,
        "  // {}\n  {y} = \"tfrt_math.{name}.f32\"({x}, %w{at}{added}, %ch)\n    \
         {{ padding = [{pad} : i64, {pad} : i64, {pad} : i64, {pad} : i64], relu = {relu}, strides = [{stride} : i64, \
         {stride} : i64] }}\n    : (!t.tensor, !tfrt_math.conv2d_filter{types}, !tfrt.chain) -> !t.tensor\n",
        layer.name
    );
}

fn pool(text: &mut String, (kind, y, x): (&str, &str, &str), (pad, stride, window): (usize, usize, usize)) {
    let _ = write!(
        text,
        "  {y} = \"tfrt_math.{kind}_pool_2d.f32\"({x}, %ch)\n    \
         {{ padding = [{pad} : i64, {pad} : i64, {pad} : i64, {pad} : i64], strides = [{stride} : i64, {stride} : i64], \
         window = [{window} : i64, {window} : i64] }}\n    : (!t.tensor, !tfrt.chain) -> !t.tensor\n"
    );
}

/// The numbers of layer number `at` from a seed: between bounds that keep the variance from layer to layer, and less for
/// those that are added to a shortcut.
pub fn seeded_weights(layer: &Layer, at: usize, seed: u64) -> Weights {
    let mut random = Random::new(seed, at as u64);
    let depth = layer.window * layer.window * layer.in_channels;
    let gain = if layer.then == Then::AddRelu { 0.5 } else { 2.0 };
    // A uniform number between -b and b has a variance of b²/3.
    let bound = (3.0 * gain / depth as f32).sqrt();
    let mut uniform = |bound: f32| (random.unit() * 2.0 - 1.0) * bound;
    let filter = (0..depth * layer.out_channels).map(|_| uniform(bound)).collect();
    let bias = (0..layer.out_channels).map(|_| uniform(0.1)).collect();
    Weights { filter, bias }
}

/// Images of noise between -1 and 1 from a seed.
pub fn seeded_images(batch: usize, extent: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed, u64::MAX);
    (0..batch * extent * extent * 3).map(|_| random.unit() * 2.0 - 1.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_layers_of_the_paper() {
        let layers = layers();
        assert_eq!(layers.len(), 54);
        let parameters: usize =
            layers.iter().map(|l| l.window * l.window * l.in_channels * l.out_channels).sum();
        // 25.6 million with the biases and normalizations.
        assert_eq!(parameters, 25_502_912);
        assert_eq!(layers.iter().filter(|l| l.then == Then::AddRelu).count(), 16);
    }

    #[test]
    fn every_layer_is_in_the_program_once() {
        let text = program(224);
        for at in 0..54 {
            assert_eq!(text.matches(&format!("%w{at}, ")).count(), 1, "{at}");
        }
        assert_eq!(text.matches("conv2d.residual").count(), 16);
        assert!(text.contains("window = [7 : i64, 7 : i64]"));
    }
}
