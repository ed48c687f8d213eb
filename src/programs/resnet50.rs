//! ResNet-50's op graph, of which the compiler makes the device program.

use std::{collections::HashMap, sync::Arc};

use tfrt_compiler::{Evaluator, Graph, GraphBuilder, MAIN, Port, TensorType, pass::PassOptions};
use tfrt_host::{DType, Diagnostic};
use tfrt_ir::{AttrDict, Attribute, FunctionType, InsertionPoint, Location, ValueId};
use tfrt_models::resnet50::{
    CLASSES, Form, Layer, Precision, ProgramOptions, Step, Then, Value, check, device_program, layers_of,
    program, steps, weights_program,
};
use tfrt_tensor::HostTensor;

use super::{Weights, compile};
use crate::{Errors, Runtime};

/// Returns a program for inference with ResNet-50, as [`tfrt_models::resnet50::program`] describes
/// it, also for devices.
///
/// A device program has three more functions, for callers that keep images on the device:
/// `@upload`, `@launch` and `@download` are the parts of `@infer`, which returns the scores alone.
///
/// # Errors
/// Options that do not fit together.
pub fn resnet50(options: &ProgramOptions, runtime: &Runtime) -> Result<String, Errors> {
    check(options).map_err(Diagnostic::invalid_argument)?;
    if options.form != Form::Device {
        return Ok(program(options).map_err(Diagnostic::invalid_argument)?);
    }
    let evaluator = Evaluator::new(runtime.host())?;
    let weights = Weights::new(&weights_program(options, Precision::F32, "HWIO"), runtime)?;
    let graph = Network::graph(options, &weights.tensors, &evaluator)?;
    // Passes turn filters and narrow them, and kernels provide them as they are then.
    let provided = Weights::new(&weights_program(options, options.precision, "OHWI"), runtime)?;
    let narrow = (options.precision == Precision::F16).then_some(DType::F16);
    let passes = PassOptions { narrow, ..PassOptions::default() };
    let compiled = compile(graph, passes, &provided, (runtime, &evaluator))?;
    Ok(device_program(options, &compiled.functions, &compiled.prepared))
}

/// The network as a graph of TensorFlow's ops.
struct Network<'a> {
    builder: GraphBuilder<'a>,
    layers: Vec<Layer>,
    /// The filter and the bias of each layer.
    weights: &'a [HostTensor],
    values: HashMap<String, ValueId>,
}

fn integers(numbers: impl IntoIterator<Item = usize>) -> Attribute {
    Attribute::array(numbers.into_iter().map(|number| Attribute::i64(number as i64)).collect::<Vec<_>>())
}

fn windows(padding: usize, stride: usize) -> [(&'static str, Attribute); 4] {
    [
        ("data_format", Attribute::string("NHWC")),
        ("explicit_paddings", integers([0, 0, padding, padding, padding, padding, 0, 0])),
        ("padding", Attribute::string("EXPLICIT")),
        ("strides", integers([1, stride, stride, 1])),
    ]
}

const NO_ATTRIBUTES: [(&str, Attribute); 0] = [];

impl<'a> Network<'a> {
    fn graph(
        options: &ProgramOptions,
        weights: &[HostTensor],
        evaluator: &Evaluator,
    ) -> Result<Graph, Diagnostic> {
        let (batch, extent) = (options.batch as u64, options.extent as u64);
        let images = TensorType::fixed(DType::F32, &[batch, extent, extent, 3]);
        let scores = TensorType::fixed(DType::F32, &[batch, CLASSES as u64]);
        let mut graph = Graph::new();
        let function = FunctionType { inputs: vec![images.to_ir()], results: vec![scores.to_ir()] };
        let (_, block) = graph.module.add_function(MAIN, function, Location::Unknown);
        let argument = graph.module.block(block).arguments[0];
        graph.inputs = vec![Port { name: "images".to_owned(), ty: images }];
        graph.outputs = vec![Port { name: "scores".to_owned(), ty: scores }];
        let mut network = Network {
            builder: GraphBuilder::new(&mut graph, evaluator, InsertionPoint::End(block)),
            layers: layers_of(options.variant),
            weights,
            values: HashMap::from([(Value::Images.to_string(), argument)]),
        };
        let mut last = argument;
        for step in steps(&network.layers.clone()) {
            last = network.step(step)?;
        }
        network.builder.append_op("tfrt.return", &[last], AttrDict::default(), Vec::new());
        Ok(graph)
    }

    fn value(&self, value: Value) -> Result<ValueId, Diagnostic> {
        let found = self.values.get(&value.to_string()).copied();
        found.ok_or_else(|| Diagnostic::internal(format!("{value} is used before it is computed")))
    }

    fn locate(&mut self, name: &str) {
        self.builder.set_location(Location::Named { name: name.into(), child: Arc::new(Location::Unknown) });
    }

    /// Appends a step, and returns its result.
    fn step(&mut self, step: Step) -> Result<ValueId, Diagnostic> {
        let (value, result) = match step {
            Step::Convolution { at, input, residual } => {
                (Value::Layer(at), self.convolve(at, input, residual)?)
            }
            Step::MaxPool { input } => {
                self.locate("pooled");
                let attributes = windows(1, 2).into_iter().chain([("ksize", integers([1, 3, 3, 1]))]);
                (Value::Pooled, self.builder.op("tf.MaxPool", &[self.value(input)?], attributes)?)
            }
            Step::Mean { input } => {
                self.locate("mean");
                let axes = self.builder.add_elements(&[2], &[1i32, 2])?;
                let attributes = [("keep_dims", Attribute::Bool(false))];
                (Value::Mean, self.builder.op("tf.Mean", &[self.value(input)?, axes], attributes)?)
            }
            Step::Scores { at, input } => {
                let (x, name) = (self.value(input)?, self.layers[at].name.clone());
                self.locate(&name);
                let [filter, bias] = self.weights_of(at);
                let attributes =
                    [("transpose_a", Attribute::Bool(false)), ("transpose_b", Attribute::Bool(false))];
                let product = self.builder.op("tf.MatMul", &[x, filter], attributes)?;
                (Value::Layer(at), self.builder.op("tf.BiasAdd", &[product, bias], NO_ATTRIBUTES)?)
            }
        };
        self.values.insert(value.to_string(), result);
        Ok(result)
    }

    /// Appends the filter and the bias of a layer as constants.
    fn weights_of(&mut self, at: usize) -> [ValueId; 2] {
        let name = self.layers[at].name.clone();
        [("filter", 2 * at), ("bias", 2 * at + 1)].map(|(part, number)| {
            self.builder.add_constant(&format!("{name}.{part}"), self.weights[number].clone())
        })
    }

    fn convolve(&mut self, at: usize, input: Value, residual: Option<Value>) -> Result<ValueId, Diagnostic> {
        let (layer, x) = (self.layers[at].clone(), self.value(input)?);
        self.locate(&layer.name);
        let [filter, bias] = self.weights_of(at);
        let dilations = [("dilations", integers([1; 4]))];
        let attributes = windows(layer.padding(), layer.stride).into_iter().chain(dilations);
        let mut y = self.builder.op("tf.Conv2D", &[x, filter], attributes)?;
        y = self.builder.op("tf.BiasAdd", &[y, bias], NO_ATTRIBUTES)?;
        if let Some(residual) = residual {
            y = self.builder.op("tf.AddV2", &[y, self.value(residual)?], NO_ATTRIBUTES)?;
        }
        if layer.then != Then::Shortcut {
            y = self.builder.op("tf.Relu", &[y], NO_ATTRIBUTES)?;
        }
        Ok(y)
    }
}
