//! The network by kernels of tensor mathematics.

use std::fmt::Write as _;

use super::program::{Parts, ProgramOptions, weights_line};
use super::{Layer, REDUCTION, Step, Value};

pub(super) const FILTER: &str = "!tfrt_math.conv2d_filter";

pub(super) fn parts(options: &ProgramOptions, layers: &[Layer], steps: &[Step]) -> Parts {
    let mut setup = "  %ch = tfrt.new.chain\n".to_owned();
    for (at, layer) in layers.iter().enumerate() {
        setup += &weights(options, at, layer);
    }
    let mut infer = "  %ch = tfrt.new.chain\n".to_owned() + &check_images(options, layers);
    for computed in steps {
        step(&mut infer, options, layers, computed);
    }
    let prepared = (0..layers.len()).map(|at| (format!("%w{at}"), FILTER)).collect();
    Parts { prepared, setup, infer, scores: "%scores".into(), done: "%ch".into() }
}

/// The lines that make a layer's weights, named by its number.
pub(super) fn weights(options: &ProgramOptions, at: usize, layer: &Layer) -> String {
    let names = (&*format!("%f{at}"), &*format!("%b{at}"));
    let loaded = weights_line(options, names, layer, "HWIO", options.precision);
    format!(
        "{loaded}  %w{at} = \"tfrt_math.conv2d.pack.f32\"(%f{at}, %b{at}, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> \
         {FILTER}\n"
    )
}

/// The line that checks the shape of `%images`.
pub(super) fn check_images(options: &ProgramOptions, layers: &[Layer]) -> String {
    let extent = options.extent;
    format!(
        "  %x = \"tfrt_resnet50.check_images\"(%images) \
         {{ shape = [-1 : i64, {extent} : i64, {extent} : i64, {} : i64] }} : (!t.tensor) -> !t.tensor\n",
        layers[0].in_channels
    )
}

/// Adds the lines of a step.
pub(super) fn step(text: &mut String, options: &ProgramOptions, layers: &[Layer], step: &Step) {
    match *step {
        Step::Convolution { at, input, residual } => convolution(text, (at, &layers[at]), (input, residual)),
        Step::MaxPool { input } => pool(text, ("max", Value::Pooled, input), (1, 2, 3)),
        Step::Mean { input } => pool(text, ("avg", Value::Mean, input), (0, 1, options.extent / REDUCTION)),
        Step::Scores { at, input } => {
            convolution(text, (at, &layers[at]), (input, None));
            let of_one_pixel = Value::Layer(at);
            let _ = writeln!(
                text,
                "  %scores = \"tfrt_math.as_matrix\"({of_one_pixel}) : (!t.tensor) -> !t.tensor"
            );
        }
    }
}

/// The name of a value.
fn tensor(value: Value) -> String {
    if value == Value::Images { "%x".to_owned() } else { value.to_string() }
}

fn convolution(text: &mut String, (at, layer): (usize, &Layer), (x, residual): (Value, Option<Value>)) {
    let (pad, stride, x) = (layer.padding(), layer.stride, tensor(x));
    let (name, added, types) = match residual {
        Some(residual) => ("conv2d.residual", format!(", {residual}"), ", !t.tensor"),
        None => ("conv2d", String::new(), ""),
    };
    let _ = write!(
        text,
        "  // {}\n  {} = \"tfrt_math.{name}.f32\"({x}, %w{at}{added}, %ch)\n    \
         {{ padding = [{pad} : i64, {pad} : i64, {pad} : i64, {pad} : i64], relu = {}, strides = [{stride} : i64, \
         {stride} : i64] }}\n    : (!t.tensor, {FILTER}{types}, !tfrt.chain) -> !t.tensor\n",
        layer.name,
        Value::Layer(at),
        layer.has_relu()
    );
}

fn pool(text: &mut String, (kind, y, x): (&str, Value, Value), (pad, stride, window): (usize, usize, usize)) {
    let _ = write!(
        text,
        "  {y} = \"tfrt_math.{kind}_pool_2d.f32\"({x}, %ch)\n    \
         {{ padding = [{pad} : i64, {pad} : i64, {pad} : i64, {pad} : i64], strides = [{stride} : i64, {stride} : i64], \
         window = [{window} : i64, {window} : i64] }}\n    : (!t.tensor, !tfrt.chain) -> !t.tensor\n"
    );
}
