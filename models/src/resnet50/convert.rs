//! Conversion of weights from torchvision and Keras: names and orders are translated, and batch
//! normalization with known statistics is folded into filters and biases.

use std::collections::{BTreeMap, BTreeSet};

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::files::safetensors;
use tfrt_tensor::{Accessor, DenseHostTensor, bf16, f16};

use super::{Layer, Then, Variant, Weights, layers_of};

static CONVERT: Accessor = Accessor::new("ResNet-50 weights");

/// The entry of the metadata that identifies our weights files.
pub const MODEL: (&str, &str) = ("model", "resnet50");
/// The key of the metadata with the variant of the network.
pub const VARIANT: &str = "variant";

/// The tensors of a file, by name.
pub type NamedTensors = BTreeMap<String, DenseHostTensor>;

/// Weights in the form that programs read.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// The variant of the network.
    pub variant: Variant,
    /// The weights of each layer, in the order of [`layers_of`].
    pub layers: Vec<Weights>,
}

/// Returns the number that batch normalization adds to variances.
fn epsilon(variant: Variant) -> f64 {
    match variant {
        Variant::Torchvision => 1e-5,
        Variant::Keras => 1.001e-5,
    }
}

/// The names of a layer's tensors.
struct Names {
    filter: String,
    bias: Option<String>,
    /// The scale, offset, mean and variance.
    normalization: Option<[String; 4]>,
}

impl Names {
    fn of(layer: &Layer, variant: Variant) -> Self {
        match variant {
            Variant::Torchvision => Self::torchvision(layer),
            Variant::Keras => Self::keras(layer),
        }
    }

    fn torchvision(layer: &Layer) -> Self {
        let name = &layer.name;
        let filter = format!("{name}.weight");
        if layer.then == Then::Scores {
            return Self { filter, bias: Some(format!("{name}.bias")), normalization: None };
        }
        let normalization = match name.strip_suffix("downsample.0") {
            Some(block) => format!("{block}downsample.1"),
            None => name.replace("conv", "bn"),
        };
        let part = |part: &str| format!("{normalization}.{part}");
        let normalization = ["weight", "bias", "running_mean", "running_var"].map(part);
        Self { filter, bias: None, normalization: Some(normalization) }
    }

    fn keras(layer: &Layer) -> Self {
        let part = |kind: &str, part: &str| format!("{}_{kind}/{part}", keras_name(layer));
        if layer.then == Then::Scores {
            let [filter, bias] = ["kernel", "bias"].map(|part| format!("predictions/{part}"));
            return Self { filter, bias: Some(bias), normalization: None };
        }
        let normalization = ["gamma", "beta", "moving_mean", "moving_variance"].map(|name| part("bn", name));
        let [filter, bias] = ["kernel", "bias"].map(|name| part("conv", name));
        Self { filter, bias: Some(bias), normalization: Some(normalization) }
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.filter).chain(&self.bias).chain(self.normalization.iter().flatten())
    }
}

/// Returns the prefix of the names of a layer's tensors: `conv1`, `conv2_block1_0` for the
/// shortcut, `conv2_block1_1` …
fn keras_name(layer: &Layer) -> String {
    // `layerS.B.convC` or `layerS.B.downsample.0`, with stages counted from 1 and blocks from 0.
    let mut parts = layer.name.strip_prefix("layer").unwrap_or_default().split('.');
    let mut number = || parts.next().and_then(|part| part.parse::<usize>().ok());
    let (Some(stage), Some(block)) = (number(), number()) else { return layer.name.clone() };
    let convolution = parts.next().and_then(|part| part.strip_prefix("conv")).unwrap_or("0");
    format!("conv{}_block{}_{convolution}", stage + 1, block + 1)
}

/// Returns the extents of a filter in a variant's files.
fn filter_extents(layer: &Layer, variant: Variant) -> Vec<usize> {
    let [rows, columns, inputs, outputs] = layer.filter_extents();
    match (variant, layer.then) {
        (Variant::Torchvision, Then::Scores) => vec![outputs, inputs],
        (Variant::Torchvision, _) => vec![outputs, inputs, rows, columns],
        (Variant::Keras, Then::Scores) => vec![inputs, outputs],
        (Variant::Keras, _) => vec![rows, columns, inputs, outputs],
    }
}

/// Converts a filter with those extents to `HWIO`.
fn to_hwio(layer: &Layer, variant: Variant, values: Vec<f32>) -> Vec<f32> {
    if variant == Variant::Keras {
        return values;
    }
    let [rows, columns, inputs, outputs] = layer.filter_extents();
    let taps = rows * columns;
    let mut filter = Vec::with_capacity(values.len());
    for tap in 0..taps {
        for input in 0..inputs {
            filter.extend((0..outputs).map(|output| values[(output * inputs + input) * taps + tap]));
        }
    }
    filter
}

/// Returns the name of a tensor without prefixes and suffixes that some writers add.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("module.").unwrap_or(name);
    name.strip_suffix(":0").unwrap_or(name)
}

/// Converts weights of torchvision or Keras, which are distinguished by their names.
///
/// # Errors
/// Lists all tensors that are missing, left over, of another shape, not floating-point, or not
/// finite in f32; all invalid variances; and all names that two tensors share.
pub fn convert(tensors: &NamedTensors) -> Result<Converted, Vec<String>> {
    let (found, problems) = by_plain_name(tensors);
    let known = |variant: &Variant| {
        let count = |layer: &Layer| {
            Names::of(layer, *variant).all().filter(|name| found.contains_key(name.as_str())).count()
        };
        layers_of(*variant).iter().map(count).sum::<usize>()
    };
    let variant = Variant::ALL.into_iter().max_by_key(known).filter(|variant| known(variant) > 0);
    let Some(variant) = variant else {
        return Err(vec!["none of its tensors has a name of torchvision's or Keras's ResNet-50".to_owned()]);
    };
    let mut reader = Reader { found, problems, used: BTreeSet::new() };
    let converted = layers_of(variant).iter().map(|layer| reader.layer(layer, variant)).collect();
    reader.look_for_others();
    if reader.problems.is_empty() {
        Ok(Converted { variant, layers: converted })
    } else {
        Err(reader.problems)
    }
}

/// Returns the tensors by their plain names, and the errors in the names.
fn by_plain_name(tensors: &NamedTensors) -> (BTreeMap<&str, &DenseHostTensor>, Vec<String>) {
    let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, tensor) in tensors {
        if found.insert(plain(name), tensor).is_some() {
            problems.push(format!("'{name}' is there twice, as another name for '{}'", plain(name)));
        }
    }
    (found, problems)
}

/// Takes tensors, and collects errors.
struct Reader<'a> {
    found: BTreeMap<&'a str, &'a DenseHostTensor>,
    problems: Vec<String>,
    used: BTreeSet<String>,
}

impl Reader<'_> {
    /// Returns a tensor's elements, or `None` after an error.
    fn take(&mut self, name: &str, extents: &[usize]) -> Option<Vec<f32>> {
        self.used.insert(name.to_owned());
        let values = match self.found.get(name) {
            None => Err(format!("'{name}' is missing")),
            Some(tensor) if tensor.shape().dims() != extents => {
                Err(format!("'{name}' has the shape {}, not {extents:?}", tensor.shape()))
            }
            Some(tensor) => floats(tensor).map_err(|error| format!("'{name}': {}", error.message)),
        };
        let values = values.and_then(|values| match values.iter().position(|x| !x.is_finite()) {
            Some(at) => Err(format!("'{name}' has something that is not finite in f32 at {at}")),
            None => Ok(values),
        });
        values.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn layer(&mut self, layer: &Layer, variant: Variant) -> Weights {
        let names = Names::of(layer, variant);
        let outputs = layer.out_channels;
        let filter = self.take(&names.filter, &filter_extents(layer, variant));
        let bias = names.bias.as_ref().map_or(Some(vec![0.0; outputs]), |name| self.take(name, &[outputs]));
        let normalization = names.normalization.map(|names| {
            let mut vectors = names.each_ref().map(|name| self.take(name, &[outputs]));
            if let Some(at) = vectors[3].iter().flatten().position(|v| *v < 0.0) {
                self.problems.push(format!("'{}' has something that is no variance at {at}", names[3]));
                vectors[3] = None;
            }
            vectors
        });
        let (Some(filter), Some(bias)) = (filter, bias) else {
            return Weights { filter: Vec::new(), bias: Vec::new() };
        };
        let weights = Weights { filter: to_hwio(layer, variant, filter), bias };
        let Some([Some(scale), Some(offset), Some(mean), Some(variance)]) = normalization else {
            return weights;
        };
        let folded = fold(weights, [&scale, &offset, &mean, &variance], epsilon(variant));
        if folded.filter.iter().chain(&folded.bias).any(|x| !x.is_finite()) {
            self.problems.push(format!("'{}' is not finite in f32 once it is normalized", names.filter));
        }
        folded
    }

    fn look_for_others(&mut self) {
        for name in self.found.keys() {
            // The number of batches that torchvision has averaged, which is not needed.
            if !self.used.contains(*name) && !name.ends_with(".num_batches_tracked") {
                self.problems.push(format!("'{name}' is no part of the network"));
            }
        }
    }
}

/// Returns `((x · filter + bias) - mean) · scale / √(variance + epsilon) + offset` as a filter and
/// a bias.
fn fold(weights: Weights, [scale, offset, mean, variance]: [&[f32]; 4], epsilon: f64) -> Weights {
    let Weights { mut filter, mut bias } = weights;
    let factors: Vec<f64> =
        scale.iter().zip(variance).map(|(&s, &v)| f64::from(s) / (f64::from(v) + epsilon).sqrt()).collect();
    for row in filter.chunks_exact_mut(factors.len()) {
        row.iter_mut()
            .zip(&factors)
            .for_each(|(weight, factor)| *weight = (f64::from(*weight) * factor) as f32);
    }
    for (at, bias) in bias.iter_mut().enumerate() {
        *bias = ((f64::from(*bias) - f64::from(mean[at])) * factors[at] + f64::from(offset[at])) as f32;
    }
    Weights { filter, bias }
}

/// Returns the elements of a floating-point tensor.
fn floats(tensor: &DenseHostTensor) -> Result<Vec<f32>, Diagnostic> {
    Ok(match tensor.dtype() {
        DType::F32 => tensor.read::<f32>(&CONVERT)?.to_vec(),
        DType::F16 => tensor.read::<f16>(&CONVERT)?.iter().map(|x| x.to_f32()).collect(),
        DType::BF16 => tensor.read::<bf16>(&CONVERT)?.iter().map(|x| x.to_f32()).collect(),
        DType::F64 => tensor.read::<f64>(&CONVERT)?.iter().map(|&x| x as f32).collect(),
        other => return Err(Diagnostic::invalid_argument(format!("its elements are {other}, no floats"))),
    })
}

impl Converted {
    /// Returns the number of weights.
    pub fn parameters(&self) -> usize {
        self.layers.iter().map(|weights| weights.filter.len() + weights.bias.len()).sum()
    }

    /// Encodes a safetensors file for the programs: for each layer `NAME.filter` (`HWIO`) and
    /// `NAME.bias`.
    ///
    /// # Errors
    /// InvalidArgument if the weights do not fit the network's layers.
    pub fn encode(&self) -> Result<Vec<u8>, Diagnostic> {
        let mut tensors = Vec::new();
        for (layer, weights) in layers_of(self.variant).iter().zip(&self.layers) {
            let filter = DenseHostTensor::from_vec(layer.filter_extents(), weights.filter.clone())?;
            let bias = DenseHostTensor::from_vec([layer.out_channels], weights.bias.clone())?;
            tensors.push((format!("{}.filter", layer.name), filter));
            tensors.push((format!("{}.bias", layer.name), bias));
        }
        let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        safetensors::encode_with(&tensors, &[MODEL, (VARIANT, self.variant.name())], &CONVERT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_the_names_of_others() {
        let names = |at: usize, variant| {
            let layer = &layers_of(variant)[at];
            Names::of(layer, variant).all().cloned().collect::<Vec<_>>()
        };
        let torchvision = |at| names(at, Variant::Torchvision);
        let first = ["conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var"];
        assert_eq!(torchvision(0), first);
        assert_eq!(torchvision(1)[..2], ["layer1.0.downsample.0.weight", "layer1.0.downsample.1.weight"]);
        assert_eq!(torchvision(52)[..2], ["layer4.2.conv3.weight", "layer4.2.bn3.weight"]);
        assert_eq!(torchvision(53), ["fc.weight", "fc.bias"]);
        let keras = |at| names(at, Variant::Keras);
        assert_eq!(keras(0)[..3], ["conv1_conv/kernel", "conv1_conv/bias", "conv1_bn/gamma"]);
        assert_eq!(keras(1)[0], "conv2_block1_0_conv/kernel");
        assert_eq!(keras(52)[5], "conv5_block3_3_bn/moving_variance");
        assert_eq!(keras(53), ["predictions/kernel", "predictions/bias"]);
    }

    #[test]
    fn filters_turn_round() {
        let layer = Layer {
            name: "x".into(),
            window: 2,
            in_channels: 1,
            out_channels: 2,
            stride: 1,
            then: Then::Relu,
        };
        let values: Vec<f32> = (0u8..8).map(f32::from).collect();
        assert_eq!(to_hwio(&layer, Variant::Torchvision, values), [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
    }
}
