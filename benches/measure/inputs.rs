//! Weights and images from a seed, as files that other systems can read.

use std::path::Path;

use tfrt_models::resnet50::{self, Converted, Variant};

use super::Outcome;

const SEED: u64 = 1;

/// `prepare FOLDER [--images COUNT] [--extent PIXELS]`: writes `weights.safetensors`, in f32 with
/// the names and layouts of `tfrt resnet50 convert`; `images.f32`, raw numbers with the channels
/// last; and `mnist.f32`, the numbers of the small network of the device bench.
pub(super) fn prepare(arguments: &[String]) -> Outcome {
    let (folder, rest) = arguments.split_first().ok_or("prepare needs a folder")?;
    let (mut images, mut extent) = (256, 224);
    for option in rest.chunks(2) {
        let [name, value] = option else { return Err(format!("{} needs a value", option[0])) };
        let value = value.parse().map_err(|_| format!("'{value}' is no number"))?;
        match name.as_str() {
            "--images" => images = value,
            "--extent" => extent = value,
            other => return Err(format!("no option '{other}'")),
        }
    }
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let layers = resnet50::layers();
    let layers =
        layers.iter().enumerate().map(|(at, layer)| resnet50::seeded_weights(layer, at, SEED)).collect();
    let weights = Converted { variant: Variant::Torchvision, layers };
    write(folder, "weights.safetensors", &weights.encode().map_err(|error| error.to_string())?)?;
    let mnist: Vec<f32> = crate::device_bench::mlp::numbers().into_iter().flatten().collect();
    write(folder, "mnist.f32", bytemuck::cast_slice(&mnist))?;
    let images = resnet50::seeded_images(images, extent, SEED);
    write(folder, "images.f32", bytemuck::cast_slice(&images))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Outcome {
    let path = folder.join(name);
    std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
