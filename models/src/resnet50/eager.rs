//! The network by TensorFlow's ops, called through the core runtime, on the requested device or
//! else in host memory.
//!
//! Batch normalization is already part of filters and biases. A separate op adds each residual.

use std::fmt::Write as _;

use super::program::{Parts, Precision, Prepared, ProgramOptions, weights_line};
use super::{Layer, Step, Then, Value};

const HANDLE: &str = "!corert.tensorhandle";

pub(super) fn parts(options: &ProgramOptions, layers: &[Layer], steps: &[Step]) -> Parts {
    let mut setup = "  %ch = tfrt.new.chain\n  \
        %handler = \"corert.create_default_op_handler\"() : () -> !corert.ophandler\n"
        .to_owned();
    let mut prepared: Vec<Prepared> = vec![("%handler".into(), "!corert.ophandler")];
    for (at, layer) in layers.iter().enumerate() {
        let names = (&*format!("%f{at}"), &*format!("%b{at}"));
        let layout = if layer.then == Then::Scores { "IO" } else { "HWIO" };
        setup += &weights_line(options, names, layer, layout, options.precision);
        for (handle, tensor) in [(format!("%filter{at}"), 'f'), (format!("%bias{at}"), 'b')] {
            let on_host = format!("%host_{tensor}{at}");
            setup += &to_handle(&on_host, &format!("%{tensor}{at}"));
            // If ops run on a device, the weights are copied to it once, and not by each call.
            op(&mut setup, &handle, "tf.Identity", &on_host, "");
            prepared.push((handle, HANDLE));
        }
    }
    let mut infer = "  %ch = tfrt.new.chain\n".to_owned();
    if options.precision == Precision::F32 {
        infer += &to_handle("%x", "%images");
    } else {
        infer += &to_handle("%single", "%images");
        op(&mut infer, "%x", "tf.Cast", "%single", "{ DstT = f16 }");
    }
    let mut last = Value::Images;
    for step in steps {
        match *step {
            Step::Convolution { at, input, residual } => {
                convolution(&mut infer, (at, &layers[at]), (input, residual))
            }
            Step::MaxPool { input } => {
                let attributes = "{ data_format = \"NHWC\", explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], \
                                  ksize = [1, 3, 3, 1], padding = \"EXPLICIT\", strides = [1, 2, 2, 1] }";
                op(&mut infer, Value::Pooled, "tf.MaxPool", &handle(input), attributes);
            }
            Step::Mean { input } => {
                op(
                    &mut infer,
                    "%axes",
                    "tf.Const",
                    "",
                    "{ dtype = i32, value = dense<[1, 2]> : tensor<2xi32> }",
                );
                op(&mut infer, Value::Mean, "tf.Mean", &format!("{input}, %axes"), "{ keep_dims = false }");
            }
            Step::Scores { at, input } => {
                let arguments = format!("{input}, %filter{at}, %bias{at}");
                let attributes = "{ fused_ops = [\"BiasAdd\"], transpose_a = false, transpose_b = false }";
                op(&mut infer, Value::Layer(at), "tf._FusedMatMul", &arguments, attributes);
                last = Value::Layer(at);
            }
        }
    }
    let mut last = last.to_string();
    if options.precision != Precision::F32 {
        op(&mut infer, "%widened", "tf.Cast", &last, "{ DstT = f32 }");
        last = "%widened".into();
    }
    let _ = writeln!(infer, "  %scores = \"corert.tensorhandle_to_ht\"({last}) : ({HANDLE}) -> !t.tensor");
    Parts { prepared, setup, infer, scores: "%scores".into(), done: "%ch".into() }
}

fn to_handle(handle: &str, tensor: &str) -> String {
    format!(
        "  {handle} = \"corert.ht_to_tensorhandle\"({tensor}, %ch) : (!t.tensor, !tfrt.chain) -> {HANDLE}\n"
    )
}

/// Returns the name of a value as an op's argument.
fn handle(value: Value) -> String {
    if value == Value::Images { "%x".to_owned() } else { value.to_string() }
}

fn op(text: &mut String, y: impl std::fmt::Display, name: &str, arguments: &str, attributes: &str) {
    let _ = writeln!(text, "  {y} = corert.executeop(%handler) \"{name}\"({arguments}) {attributes} : 1");
}

fn convolution(text: &mut String, (at, layer): (usize, &Layer), (x, residual): (Value, Option<Value>)) {
    let (pad, stride, y) = (layer.padding(), layer.stride, Value::Layer(at));
    let fused = if layer.then == Then::Relu { "\"BiasAdd\", \"Relu\"" } else { "\"BiasAdd\"" };
    let attributes = format!(
        "{{ data_format = \"NHWC\", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, {pad}, {pad}, {pad}, {pad}, 0, 0], \
         fused_ops = [{fused}], padding = \"EXPLICIT\", strides = [1, {stride}, {stride}, 1] }}"
    );
    let _ = writeln!(text, "  // {}", layer.name);
    let arguments = format!("{}, %filter{at}, %bias{at}", handle(x));
    let Some(residual) = residual else {
        return op(text, y, "tf._FusedConv2D", &arguments, &attributes);
    };
    op(text, format!("%conv{at}"), "tf._FusedConv2D", &arguments, &attributes);
    op(text, format!("%sum{at}"), "tf.AddV2", &format!("%conv{at}, {residual}"), "");
    op(text, y, "tf.Relu", &format!("%sum{at}"), "");
}
