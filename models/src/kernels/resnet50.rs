//! Weights for the ResNet-50 programs, and the classification of an image.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_host::{Arg, Attr, Chain, DType, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::files::safetensors::SafeTensorsFile;
use tfrt_tensor::{Accessor, DenseHostTensor, f16};

use super::{LABELS, WEIGHTS, filled, report::show_progress};
use crate::resnet50::{
    Layer, MODEL, VARIANT, Variant, fill_seeded_bias, fill_seeded_filter, filter_to_ohwi, layers_of,
};

static WEIGHTS_OF: Accessor = Accessor::new("tfrt_resnet50.weights.f32");
static REPORT: Accessor = Accessor::new("tfrt_resnet50.report");

fn invalid(message: impl Into<String>) -> Diagnostic {
    Diagnostic::invalid_argument(message)
}

/// Returns the file that the request names, if any.
fn weights_file(cx: &ExecutionContext) -> Result<Option<Arc<SafeTensorsFile>>, Diagnostic> {
    match cx.resources().get::<SafeTensorsFile>(WEIGHTS) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A layer of the network, and the source of its weights.
struct Source {
    layers: usize,
    at: usize,
    layer: Layer,
    seed: u64,
    /// The file; without one the weights are random.
    file: Option<Arc<SafeTensorsFile>>,
}

impl Source {
    fn new(name: &str, seed: i64, variant: &str, cx: &ExecutionContext) -> Result<Self, Diagnostic> {
        let variant: Variant = variant.parse().map_err(invalid)?;
        let mut layers = layers_of(variant);
        let at = layers.iter().position(|layer| layer.name == name);
        let at = at.ok_or_else(|| invalid(format!("ResNet-50 has no layer '{name}'")))?;
        let file = weights_file(cx)?;
        if let Some(file) = &file {
            check_file(file, variant)?;
        }
        let count = layers.len();
        Ok(Self { layers: count, at, layer: layers.swap_remove(at), seed: seed.cast_unsigned(), file })
    }

    /// Returns the filter, `HWIO`.
    fn filter(&self, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
        let extents = self.layer.filter_extents();
        match &self.file {
            Some(file) => part_of(file, &self.layer, "filter", &extents, cx),
            None => filled(extents, cx, |filter| {
                fill_seeded_filter(&self.layer, self.at, self.seed, filter);
                Ok(())
            }),
        }
    }

    /// Returns the bias, one number for each output channel.
    fn bias(&self, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
        let extents = [self.layer.out_channels];
        match &self.file {
            Some(file) => part_of(file, &self.layer, "bias", &extents, cx),
            None => filled(extents, cx, |bias| {
                fill_seeded_bias(&self.layer, self.at, self.seed, bias);
                Ok(())
            }),
        }
    }
}

/// Checks that a file was written for this network.
fn check_file(file: &SafeTensorsFile, variant: Variant) -> Result<(), Diagnostic> {
    let name = file.name();
    if file.text(MODEL.0) != Some(MODEL.1) {
        return Err(invalid(format!(
            "{name} was not written by 'tfrt resnet50 convert': it does not say that it has the weights of ResNet-50"
        )));
    }
    match file.text(VARIANT) {
        Some(theirs) if theirs == variant.name() => Ok(()),
        theirs => Err(invalid(format!(
            "{name} has the weights of {}'s ResNet-50, the program is for {variant}'s: \
             'tfrt resnet50 program' writes one for it",
            theirs.unwrap_or("nobody")
        ))),
    }
}

/// Returns a tensor of a layer from a file.
fn part_of(
    file: &SafeTensorsFile,
    layer: &Layer,
    part: &str,
    extents: &[usize],
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic> {
    let key = format!("{}.{part}", layer.name);
    let tensor = file.tensor(&key, cx.host().allocator())?;
    if tensor.dtype() != DType::F32 || tensor.shape().dims() != extents {
        let (name, found) = (file.name(), tensor.metadata());
        return Err(invalid(format!("{name}: tensor '{key}' is {found}, where {extents:?} of f32 is due")));
    }
    Ok(tensor)
}

/// Returns a filter in the order that a program needs.
fn arranged(
    layer: &Layer,
    filter: DenseHostTensor,
    layout: &str,
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic> {
    let [rows, columns, inputs, outputs] = layer.filter_extents();
    match layout {
        "HWIO" => Ok(filter),
        "OHWI" => {
            let filter = filter.read::<f32>(&WEIGHTS_OF)?;
            filled([outputs, rows, columns, inputs], cx, |turned| {
                filter_to_ohwi(layer, &filter, turned);
                Ok(())
            })
        }
        "IO" if (rows, columns) == (1, 1) => filter.reshape([inputs, outputs]),
        "IO" => Err(invalid(format!("the filter of '{}' is no matrix", layer.name))),
        other => Err(invalid(format!("a filter's layout is HWIO, OHWI or IO, not '{other}'"))),
    }
}

/// Converts a tensor of f32 to f16, rounding each number to nearest.
fn halved(tensor: &DenseHostTensor, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
    let numbers = tensor.read::<f32>(&WEIGHTS_OF)?;
    filled(tensor.shape().clone(), cx, |halves| {
        halves.iter_mut().zip(&*numbers).for_each(|(half, &number)| *half = f16::from_f32(number));
        Ok(())
    })
}

fn weights(
    name: &str,
    layout: &str,
    seed: i64,
    variant: &str,
    cx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor), Diagnostic> {
    let source = Source::new(name, seed, variant, cx)?;
    let (filter, bias) = (source.filter(cx)?, source.bias(cx)?);
    let filter = arranged(&source.layer, filter, layout, cx)?;
    show_loaded(source.layers as u64, cx)?;
    Ok((filter, bias))
}

/// Shows that one more of `total` layers is loaded. They are loaded in any order.
fn show_loaded(total: u64, cx: &ExecutionContext) -> Result<(), Diagnostic> {
    let loaded = cx.resources().get_or_create("tfrt_resnet50.loaded", AtomicU64::default)?;
    // A program may be prepared more than once.
    let count = loaded.fetch_add(1, Ordering::Relaxed) + 1;
    show_progress((count.min(total), total), "loading weights", cx)
}

/// Checks that a tensor has the extents that a program was written for, along each axis whose
/// extent is not negative.
fn check_images(images: Arg<DenseHostTensor>, shape: Attr<[i64]>) -> Result<DenseHostTensor, Diagnostic> {
    let dims = images.shape().dims();
    let fits = |(&due, &found): (&i64, &usize)| due < 0 || usize::try_from(due) == Ok(found);
    if images.dtype() == DType::F32 && dims.len() == shape.0.len() && shape.0.iter().zip(dims).all(fits) {
        return Ok(DenseHostTensor::clone(&images));
    }
    let due = shape.0.iter().map(|due| if *due < 0 { "any".to_owned() } else { due.to_string() });
    let due = due.collect::<Vec<_>>().join(", ");
    let found = images.metadata();
    Err(invalid(format!("the program takes images of F32 [{due}], not {found}")))
}

/// Returns the `count` most probable classes of a row of scores, with their probabilities by the
/// softmax.
fn likeliest(scores: &[f32], count: usize) -> Result<Vec<(usize, f64)>, Diagnostic> {
    if let Some(class) = scores.iter().position(|score| !score.is_finite()) {
        return Err(invalid(format!("the score of class {class} is {}", scores[class])));
    }
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let power = |score: f32| f64::from(score - greatest).exp();
    let all: f64 = scores.iter().copied().map(power).sum();
    let mut classes: Vec<usize> = (0..scores.len()).collect();
    // Among equal scores, the first class comes first.
    classes.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    Ok(classes.into_iter().take(count).map(|class| (class, power(scores[class]) / all)).collect())
}

fn report(
    scores: Arg<DenseHostTensor>,
    _chain: Chain,
    count: Attr<i64>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let classes = *scores.shape().dims().last().ok_or_else(|| invalid("a number is no list of scores"))?;
    let count = usize::try_from(count.0).ok().filter(|&count| count > 0);
    let count = count.ok_or_else(|| invalid("'count' must be at least 1"))?;
    let labels = match cx.resources().get::<Vec<String>>(LABELS) {
        Ok(labels) if labels.len() == classes => Some(labels),
        Ok(labels) => {
            return Err(invalid(format!("there are {} labels for {classes} classes", labels.len())));
        }
        Err(error) if error.code == ErrorCode::NotFound => None,
        Err(error) => return Err(error),
    };
    let scores = scores.read::<f32>(&REPORT)?;
    let images = scores.len() / classes.max(1);
    let mut text = String::new();
    for (number, row) in scores.chunks_exact(classes.max(1)).enumerate() {
        if images > 1 {
            text += &format!("image {}\n", number + 1);
        }
        for (class, probability) in likeliest(row, count)? {
            let label = labels.as_ref().map(|labels| format!("  {}", labels[class])).unwrap_or_default();
            text += &format!("{:6.2} %  class {class:3}{label}\n", 100.0 * probability);
        }
    }
    if weights_file(cx)?.is_none() {
        text += "The weights are random numbers; --weights names a file of others.\n";
    }
    cx.host().print(format_args!("{text}"));
    Ok(Chain)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add(
            "tfrt_resnet50.weights.f16",
            |layer: Attr<str>,
             layout: Attr<str>,
             seed: Attr<i64>,
             variant: Attr<str>,
             cx: &ExecutionContext| {
                let (filter, bias) = weights(layer.0, layout.0, seed.0, variant.0, cx)?;
                Ok::<_, Diagnostic>((halved(&filter, cx)?, halved(&bias, cx)?))
            },
        )
        .attributes(&["layer", "layout", "seed", "variant"])
        .parallel()
        .doc("As `tfrt_resnet50.weights.f32`, in half precision.");
    registry
        .add(
            "tfrt_resnet50.weights.f32",
            |layer: Attr<str>, layout: Attr<str>, seed: Attr<i64>, variant: Attr<str>, cx: &ExecutionContext| {
                weights(layer.0, layout.0, seed.0, variant.0, cx)
            },
        )
        .attributes(&["layer", "layout", "seed", "variant"])
        .parallel()
        .doc(
            "The filter and the bias of a layer of ResNet-50 (its name in torchvision): from the file that the request names \
             as its weights, or else random ones. The filter is HWIO, OHWI, or for the last layer IO.",
        );
    registry
        .add("tfrt_resnet50.check_images", check_images)
        .reads(&[])
        .aliases(0, 0)
        .attributes(&["shape"])
        .doc("The images, if they are f32 and have this shape, where -1 is any extent; else an error.");
    registry.add("tfrt_resnet50.report", report).attributes(&["count"]).side_effecting().doc(
        "Prints the likeliest classes of each row of scores, with their labels if the request has some.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_come_first() {
        let found = likeliest(&[0.0, 2f32.ln(), 2f32.ln(), 0.0], 3).unwrap();
        assert_eq!(found.iter().map(|(class, _)| *class).collect::<Vec<_>>(), [1, 2, 0]);
        assert!((found[0].1 - 1.0 / 3.0).abs() < 1e-7 && (found[2].1 - 1.0 / 6.0).abs() < 1e-7, "{found:?}");
        assert_eq!(likeliest(&[1000.0, -1000.0], 9).unwrap(), [(0, 1.0), (1, 0.0)]);
        assert!(likeliest(&[0.0, f32::NAN], 1).unwrap_err().message.contains("class 1 is NaN"));
        assert!(likeliest(&[], 1).unwrap().is_empty());
    }
}
