//! Inference with the trained network for digits on a device.

use tfrt_compiler::{Evaluator, Graph, GraphBuilder, MAIN, Port, TensorType, pass::PassOptions};
use tfrt_host::{DType, Diagnostic};
use tfrt_ir::{AttrDict, Attribute, FunctionType, InsertionPoint, Location, Type};
use tfrt_tensor::HostTensor;

use super::{Compiled, Weights, compile};
use crate::{Errors, Runtime};

/// The number of images, and of pixels of each.
const IMAGES: u64 = 10_000;
const PIXELS: u64 = 784;

/// The program before what was compiled. Names and types of what `@setup` returns are to be filled
/// in.
const MAIN_FUNCTION: &str = include_str!("mnist_main.mlir");

/// A function that returns what a kernel gives.
fn weights(kernel: &str) -> String {
    let types = "!t.tensor, !t.tensor, !t.tensor, !t.tensor";
    format!(
        "func @weights() -> ({types}) {{\n  %w1, %b1, %w2, %b2 = \"{kernel}\"() : () -> ({types})\n  \
         tfrt.return %w1, %b1, %w2, %b2 : {types}\n}}\n"
    )
}

/// Returns the program `models/mnist/device_inference.mlir`.
///
/// # Errors
/// None but those of a runtime without its kernels.
pub fn mnist_inference(runtime: &Runtime) -> Result<String, Errors> {
    let evaluator = Evaluator::new(runtime.host())?;
    let trained = Weights::new(&weights("tfrt_mnist.trained"), runtime)?;
    let graph = graph(&trained.tensors, &evaluator)?;
    let Compiled { functions, prepared } =
        compile(graph, PassOptions::default(), &trained, (runtime, &evaluator))?;
    let names: Vec<_> = (0..prepared.len()).map(|number| format!("%p{number}")).collect();
    let main = MAIN_FUNCTION
        .replace("%setup_results", &names.join(", "))
        .replace("%result_count", &(prepared.len() + 3).to_string())
        .replace("%chain_number", &(prepared.len() + 2).to_string())
        .replace("%setup_types", &prepared.join(", "));
    Ok(main + &functions)
}

/// The class of each image, by two products with biases.
fn graph(weights: &[HostTensor], evaluator: &Evaluator) -> Result<Graph, Diagnostic> {
    let [w1, b1, w2, b2] = weights else {
        return Err(Diagnostic::internal("the network has four parameters"));
    };
    let images = TensorType::fixed(DType::F32, &[IMAGES, PIXELS]);
    let classes = TensorType::fixed(DType::I32, &[IMAGES]);
    let mut graph = Graph::new();
    let function = FunctionType { inputs: vec![images.to_ir()], results: vec![classes.to_ir()] };
    let (_, block) = graph.module.add_function(MAIN, function, Location::Unknown);
    let mut x = graph.module.block(block).arguments[0];
    graph.inputs = vec![Port { name: "images".to_owned(), ty: images }];
    graph.outputs = vec![Port { name: "classes".to_owned(), ty: classes }];
    let mut builder = GraphBuilder::new(&mut graph, evaluator, InsertionPoint::End(block));
    let none: [(&str, Attribute); 0] = [];
    for (number, (weights, bias)) in [(w1, b1), (w2, b2)].into_iter().enumerate() {
        let weights = builder.add_constant(&format!("w{}", number + 1), weights.clone());
        let bias = builder.add_constant(&format!("b{}", number + 1), bias.clone());
        let plain = [("transpose_a", Attribute::Bool(false)), ("transpose_b", Attribute::Bool(false))];
        x = builder.op("tf.MatMul", &[x, weights], plain)?;
        x = builder.op("tf.BiasAdd", &[x, bias], none.clone())?;
        if number == 0 {
            x = builder.op("tf.Relu", &[x], none.clone())?;
        }
    }
    let axis = builder.add_elements(&[], &[1i32])?;
    let class = builder.op("tf.ArgMax", &[x, axis], [("output_type", Attribute::Type(Type::int(32)))])?;
    builder.append_op("tfrt.return", &[class], AttrDict::default(), Vec::new());
    Ok(graph)
}
