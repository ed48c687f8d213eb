//! Programs for inference with ResNet-50, and the parts that all forms share.

use std::fmt::Write as _;
use std::str::FromStr;

use super::{Layer, REDUCTION, Then, Variant, eager, host, layers_of, steps};

/// The implementation of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Kernels of tensor mathematics on host tensors.
    Host,
    /// Ops through the core runtime, in host memory.
    Eager,
    /// A device program, which the compiler makes of the network's op graph. It runs on a GPU or on
    /// the CPU device.
    Device,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Host, Self::Eager, Self::Device];

    /// Returns the name on command lines and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Eager => "eager",
            Self::Device => "device",
        }
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|form| form.name() == name);
        found.ok_or_else(|| format!("'{name}' is none of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// The type of weights and of the results of layers. Images, scores and sums are always f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// Half precision.
    F16,
}

impl Precision {
    /// All precisions.
    pub const ALL: [Self; 2] = [Self::F32, Self::F16];

    /// Returns the name in programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
        }
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|precision| precision.name() == name);
        found.ok_or_else(|| format!("'{name}' is neither f32 nor f16"))
    }
}

/// The options of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramOptions {
    /// The implementation of the network.
    pub form: Form,
    /// The variant of the network.
    pub variant: Variant,
    /// The type of the computation; f32 for a host program.
    pub precision: Precision,
    /// The number of rows and columns of the images.
    pub extent: usize,
    /// The number of images of a device program; other programs accept any number.
    pub batch: usize,
}

impl ProgramOptions {
    /// Returns the options for torchvision's network in f32 and one image of 224 × 224 pixels.
    pub fn new(form: Form) -> Self {
        Self { form, variant: Variant::Torchvision, precision: Precision::F32, extent: EXTENT, batch: 1 }
    }

    /// Sets the images to `extent` × `extent` pixels.
    #[must_use]
    pub fn with_extent(self, extent: usize) -> Self {
        Self { extent, ..self }
    }

    /// Sets the number of images.
    #[must_use]
    pub fn with_batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }
}

/// The extent of images that the network was designed for.
const EXTENT: usize = 224;
/// The greatest number of rows and columns of images.
const EXTENT_MAX: usize = 4096;
/// The greatest number of elements of the images of a device program. The first layer has about
/// five times as many, which must fit 32 bits.
const NUMBERS_MAX: usize = 1 << 28;

/// A value that setup creates and inference uses: its name and its type.
pub(super) type Prepared = (String, &'static str);

/// The parts of a program that differ between forms.
pub(super) struct Parts {
    /// The values that setup creates.
    pub(super) prepared: Vec<Prepared>,
    /// The lines that create them.
    pub(super) setup: String,
    /// The lines that compute the scores of `%images` from them.
    pub(super) infer: String,
    /// The name of the scores.
    pub(super) scores: String,
    /// The name of the chain that becomes available with the scores.
    pub(super) done: String,
}

/// Returns a program of three functions:
///
/// - `@setup` loads the weights (those of the file that the request names, else random ones) and
///   creates everything that is needed once;
/// - `@infer` takes these values and then images, `N × extent × extent × 3`, and returns the scores
///   of the classes, with a chain that becomes available with them;
/// - `@main` takes one image of any size (`height × width × 3` bytes), infers, and prints the most
///   probable classes.
///
/// # Errors
/// Those of [`check`], and a device program, which must be compiled.
pub fn program(options: &ProgramOptions) -> Result<String, String> {
    check(options)?;
    let layers = layers_of(options.variant);
    let steps = steps(&layers);
    let parts = match options.form {
        Form::Host => host::parts(options, &layers, &steps),
        Form::Eager => eager::parts(options, &layers, &steps),
        Form::Device => return Err("a device program is compiled from the network's op graph".to_owned()),
    };
    let names = list(&parts.prepared, |(name, _)| name.clone());
    let types = list(&parts.prepared, |(_, ty)| (*ty).to_owned());
    let parameters = list(&parts.prepared, |(name, ty)| format!("{name}: {ty}"));
    let mut text = beginning(options, (&names, &types), true);
    let Parts { setup, infer, scores, done, .. } = &parts;
    let _ = write!(
        text,
        "\n// Weights, and what else is made once.\n\
         func @setup() -> ({types}) {{\n{setup}  tfrt.return {names} : {types}\n}}\n\n\
         // The scores of images.\n\
         func @infer({parameters}, %images: !t.tensor) -> (!t.tensor, !tfrt.chain) {{\n{infer}  \
         tfrt.return {scores}, {done} : !t.tensor, !tfrt.chain\n}}\n"
    );
    Ok(text)
}

/// Returns a device program, whose functions `functions` were compiled: `@setup`, which returns
/// values of the types `prepared`, and `@infer`, which returns the scores alone.
pub fn device_program(options: &ProgramOptions, functions: &str, prepared: &[String]) -> String {
    let names: Vec<_> = (0..prepared.len()).map(|number| format!("%p{number}")).collect();
    beginning(options, (&names.join(", "), &prepared.join(", ")), false) + functions
}

/// Returns the first lines of a program and `@main`. The lists name what `@setup` returns, and its
/// types.
fn beginning(options: &ProgramOptions, (names, types): (&str, &str), infer_returns_chain: bool) -> String {
    let extent = options.extent;
    let (results, chain) =
        if infer_returns_chain { ("%scores, %ch0", "") } else { ("%scores", "  %ch0 = tfrt.new.chain\n") };
    let result_types = if infer_returns_chain { "(!t.tensor, !tfrt.chain)" } else { "!t.tensor" };
    format!(
        "// ResNet-50 ({}'s) for images of {extent} x {extent} pixels in {}, {}.\n\
         // Written by `tfrt resnet50 program`.\n\n\
         // Prints the likeliest classes of an image.\n\
         func @main(%image: !t.tensor) -> !tfrt.chain {{\n{}  \
         {names} = tfrt.call @setup() : () -> ({types})\n  \
         {results} = tfrt.call @infer({names}, %images) : ({types}, !t.tensor) -> {result_types}\n{chain}  \
         %ch1 = \"tfrt_resnet50.report\"(%scores, %ch0) {{ count = 5 : i64 }} : (!t.tensor, !tfrt.chain) -> !tfrt.chain\n  \
         tfrt.return %ch1 : !tfrt.chain\n}}\n",
        options.variant,
        options.precision.name(),
        match options.form {
            Form::Host => "by kernels of tensor mathematics",
            Form::Eager => "by ops through the core runtime",
            Form::Device => "on a device",
        },
        prepare(options)
    )
}

/// Returns a program whose function `@weights` returns the filter and the bias of each layer, in
/// the order of [`layers_of`], and then the filter and the bias of the last layer once more.
/// Filters have the layout `HWIO` or `OHWI`, except for the first ones of the last layer, which are
/// a matrix.
pub fn weights_program(options: &ProgramOptions, precision: Precision, layout: &str) -> String {
    let layers = layers_of(options.variant);
    let of_layers =
        layers.iter().map(|layer| (layer, if layer.then == Then::Scores { "IO" } else { layout }));
    let loads: Vec<_> = of_layers.chain(layers.last().map(|last| (last, layout))).collect();
    let (mut lines, mut names) = (String::new(), Vec::new());
    for (at, (layer, layout)) in loads.into_iter().enumerate() {
        let (filter, bias) = (format!("%f{at}"), format!("%b{at}"));
        lines += &weights_line(options, (&filter, &bias), layer, layout, precision);
        names.extend([filter, bias]);
    }
    let types = list(&names, |_| "!t.tensor".to_owned());
    let names = names.join(", ");
    format!("func @weights() -> ({types}) {{\n{lines}  tfrt.return {names} : {types}\n}}\n")
}

/// Checks the options of a program.
///
/// # Errors
/// If the extent is not a multiple of 32 from 32 to 4096, a device program has no images or too
/// many, or a host program has another precision than f32.
pub fn check(options: &ProgramOptions) -> Result<(), String> {
    let extent = options.extent;
    check_extent(extent)?;
    let numbers = options.batch.saturating_mul(extent * extent * 3);
    if options.form == Form::Device && (numbers == 0 || numbers > NUMBERS_MAX) {
        return Err(format!(
            "a device program cannot take {} images of {extent} x {extent} pixels",
            options.batch
        ));
    }
    if options.form == Form::Host && options.precision != Precision::F32 {
        return Err("a host program computes in f32 alone".to_owned());
    }
    Ok(())
}

pub(super) fn check_extent(extent: usize) -> Result<(), String> {
    if extent == 0 || extent > EXTENT_MAX || !extent.is_multiple_of(REDUCTION) {
        return Err(format!(
            "images must have a multiple of {REDUCTION} pixels each way, {EXTENT_MAX} at most, not {extent}"
        ));
    }
    Ok(())
}

pub(super) fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Returns the line that converts an image to the size and the range of numbers that the network
/// was trained with.
pub(super) fn prepare(options: &ProgramOptions) -> String {
    let numbers = |numbers: [f64; 3]| list(&numbers, |number| format!("{:?} : f32", *number as f32));
    // The network sees the middle of an image whose shorter side is eight sevenths of the extent.
    let side = options.extent / 7 * 8 + options.extent % 7;
    let (is_bgr, mean, deviation) = match options.variant {
        // For images from 0 to 1, according to torchvision's documentation.
        Variant::Torchvision => {
            (false, [0.485, 0.456, 0.406].map(|m| m * 255.0), [0.229, 0.224, 0.225].map(|d| d * 255.0))
        }
        // According to `keras.applications.resnet50.preprocess_input`.
        Variant::Keras => (true, [103.939, 116.779, 123.68], [1.0; 3]),
    };
    format!(
        "  %images = \"tfrt_image.prepare.f32\"(%image) {{ bgr = {is_bgr}, crop = {} : i64, deviation = [{}], mean = [{}], \
         side = {side} : i64 }} : (!t.tensor) -> !t.tensor\n",
        options.extent,
        numbers(deviation),
        numbers(mean)
    )
}

/// Returns the line that loads the weights of a layer in this precision, under these names.
pub(super) fn weights_line(
    options: &ProgramOptions,
    (filter, bias): (&str, &str),
    layer: &Layer,
    layout: &str,
    precision: Precision,
) -> String {
    format!(
        "  {filter}, {bias} = \"tfrt_resnet50.weights.{}\"() {{ layer = \"{}\", layout = \"{layout}\", seed = 1 : i64, \
         variant = \"{}\" }} : () -> (!t.tensor, !t.tensor)\n",
        precision.name(),
        layer.name,
        options.variant
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_is_in_a_program_once() {
        for form in Form::ALL {
            let options = ProgramOptions::new(form);
            let text = match form {
                Form::Device => weights_program(&options, Precision::F32, "OHWI"),
                _ => program(&options).unwrap(),
            };
            for layer in layers_of(Variant::Torchvision) {
                let is_loaded_twice = form == Form::Device && layer.then == Then::Scores;
                assert_eq!(
                    text.matches(&format!("\"{}\"", layer.name)).count(),
                    if is_loaded_twice { 2 } else { 1 },
                    "{form:?} {}",
                    layer.name
                );
            }
            assert_eq!(form.name().parse(), Ok(form));
        }
        assert!("other".parse::<Form>().is_err());
    }

    #[test]
    fn precisions_are_those_there_are_kernels_for() {
        for precision in Precision::ALL {
            assert_eq!(precision.name().parse(), Ok(precision));
            for form in Form::ALL {
                let options = ProgramOptions { precision, ..ProgramOptions::new(form) };
                assert_eq!(check(&options).is_ok(), form != Form::Host || precision == Precision::F32);
            }
        }
        assert!("f8".parse::<Precision>().is_err());
    }

    #[test]
    fn extents_have_bounds() {
        for (extent, good) in [(0, false), (31, false), (32, true), (100, false), (4096, true), (4128, false)]
        {
            let options = ProgramOptions::new(Form::Host).with_extent(extent);
            assert_eq!(program(&options).is_ok(), good, "{extent}");
        }
    }

    #[test]
    fn images_are_prepared_as_the_variants_networks_learnt() {
        let text = program(&ProgramOptions::new(Form::Host)).unwrap();
        assert!(text.contains("crop = 224 : i64") && text.contains("side = 256 : i64"), "{text}");
        assert!(text.contains("mean = [123.675 : f32, 116.28 : f32, 103.53 : f32]"), "{text}");
        let keras = ProgramOptions { variant: Variant::Keras, ..ProgramOptions::new(Form::Host) };
        assert!(program(&keras).unwrap().contains("bgr = true"));
    }
}
