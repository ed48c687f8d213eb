//! Graphs made by hand, and what passes make of them.

use std::sync::Arc;

use tfrt_host::{DType, HostContext, allocator::SystemAllocator, work_queue};
use tfrt_ir::{Attribute, BlockId, FunctionType, InsertionPoint, Location, OpId, OpState, ValueId};

use super::*;
use crate::{GraphBuilder, MAIN, TensorType, import::onnx::RETURN};

/// A graph of one function, and where operations are appended to it.
struct Model {
    graph: Graph,
    evaluator: Evaluator,
    block: BlockId,
    inputs: Vec<ValueId>,
}

impl Model {
    /// A graph whose inputs are tensors of f32 of these extents.
    fn new(inputs: &[&[u64]]) -> Self {
        let queue = work_queue::from_str("s").unwrap();
        let host = HostContext::builder(queue, Arc::new(SystemAllocator)).build();
        let evaluator = Evaluator::new(&host).unwrap();
        let mut graph = Graph::new();
        let types = inputs.iter().map(|dims| TensorType::fixed(DType::F32, dims).to_ir()).collect();
        let ty = FunctionType { inputs: types, results: Vec::new() };
        let (_, block) = graph.module.add_function(MAIN, ty, Location::Unknown);
        let inputs = graph.module.block(block).arguments.clone();
        Self { graph, evaluator, block, inputs }
    }

    fn builder(&mut self) -> GraphBuilder<'_> {
        GraphBuilder::new(&mut self.graph, &self.evaluator, InsertionPoint::End(self.block))
    }

    fn op(&mut self, name: &str, operands: &[ValueId]) -> ValueId {
        let none: [(&str, Attribute); 0] = [];
        self.builder().op(name, operands, none).unwrap()
    }

    fn number(&mut self, value: f32) -> ValueId {
        self.builder().add_elements(&[], &[value]).unwrap()
    }

    fn floats(&mut self, shape: &[usize]) -> ValueId {
        let elements: Vec<f32> = (0..shape.iter().product()).map(|i: usize| i as f32 * 0.25).collect();
        self.builder().add_elements(shape, &elements).unwrap()
    }

    fn transpose(&mut self, value: ValueId, order: &[i64]) -> ValueId {
        let order = self.builder().add_integers(order).unwrap();
        self.op("tf.Transpose", &[value, order])
    }

    fn reshape(&mut self, value: ValueId, dims: &[i64]) -> ValueId {
        let dims = self.builder().add_integers(dims).unwrap();
        self.op("tf.Reshape", &[value, dims])
    }

    /// Returns the values, runs the passes for host memory, and gives the operations that are left
    /// but for constants and the return.
    fn finish(&mut self, results: &[ValueId]) -> Vec<OpId> {
        self.finish_with(results, PassOptions::default())
    }

    /// Returns the values and runs the passes of a device program.
    fn finish_for_devices(&mut self, results: &[ValueId]) -> Vec<OpId> {
        self.finish_with(results, PassOptions { for_devices: true, ..PassOptions::default() })
    }

    fn finish_with(&mut self, results: &[ValueId], options: PassOptions) -> Vec<OpId> {
        let module = &mut self.graph.module;
        let op = module.create_op(OpState::new(RETURN).operands(results.to_vec()));
        module.append_op(self.block, op);
        let passes = pipeline(options);
        passes.iter().for_each(|pass| pass.run(&mut self.graph, &self.evaluator));
        let module = &self.graph.module;
        let is_shown = |op: &OpId| !["tf.Const", RETURN].contains(&module.op(*op).name.as_str());
        module.ops_in(self.block).map(|(op, _)| op).filter(is_shown).collect()
    }

    fn names(&self, ops: &[OpId]) -> Vec<String> {
        ops.iter().map(|&op| self.graph.module.op(op).name.as_str().to_owned()).collect()
    }

    fn text(&self, op: OpId, attribute: &str) -> String {
        let attribute = self.graph.module.op(op).attr(attribute).and_then(Attribute::as_str);
        attribute.unwrap_or_default().to_owned()
    }
}

#[test]
fn elementwise_ops_become_one() {
    let mut model = Model::new(&[&[4, 8], &[8]]);
    let (x, row) = (model.inputs[0], model.inputs[1]);
    let (three, six) = (model.number(3.0), model.number(6.0));
    let shifted = model.op("tf.AddV2", &[x, three]);
    let gate = model.op("tf.Relu6", &[shifted]);
    let product = model.op("tf.Mul", &[x, gate]);
    let swish = model.op("tf.RealDiv", &[product, six]);
    let sum = model.op("tf.AddV2", &[swish, row]);
    let ops = model.finish(&[sum]);
    assert_eq!(model.names(&ops), ["tfrt.FusedElementwise"]);
    let steps = model.text(ops[0], "steps");
    assert_eq!(steps, "AddV2 x0 3.0; Relu6 s0; Mul x0 s1; RealDiv s2 6.0; AddV2 s3 x1");
    assert_eq!(model.graph.module.op(ops[0]).operands, [x, row]);
}

#[test]
fn what_others_use_is_not_fused() {
    let mut model = Model::new(&[&[4, 8]]);
    let x = model.inputs[0];
    let exp = model.op("tf.Exp", &[x]);
    let neg = model.op("tf.Neg", &[exp]);
    let ops = model.finish(&[exp, neg]);
    assert_eq!(model.names(&ops), ["tf.Exp", "tf.Neg"]);
}

#[test]
fn a_smaller_result_is_computed_once() {
    let mut model = Model::new(&[&[4, 8], &[8]]);
    let (x, row) = (model.inputs[0], model.inputs[1]);
    let exp = model.op("tf.Exp", &[row]);
    let sum = model.op("tf.AddV2", &[x, exp]);
    let ops = model.finish(&[sum]);
    assert_eq!(model.names(&ops), ["tf.Exp", "tf.AddV2"]);
}

#[test]
fn a_convolution_ends_with_steps() {
    let mut model = Model::new(&[&[1, 4, 4, 2]]);
    let (x, filter, bias) = (model.inputs[0], model.floats(&[1, 1, 2, 3]), model.floats(&[3]));
    let ones = Attribute::array([1, 1, 1, 1].map(Attribute::i64));
    let attributes = [("padding", Attribute::string("VALID")), ("strides", ones)];
    let conv = model.builder().op("tf.Conv2D", &[x, filter], attributes).unwrap();
    let sum = model.op("tf.BiasAdd", &[conv, bias]);
    let gate = model.op("tf.Sigmoid", &[sum]);
    let silu = model.op("tf.Mul", &[sum, gate]);
    let ops = model.finish(&[silu]);
    assert_eq!(model.names(&ops), ["tfrt.FusedConv2D"]);
    assert_eq!(model.text(ops[0], "steps"), "Sigmoid x0; Mul x0 s0");
}

/// A batched product by one matrix, with a bias and a residual.
fn product_with_residual() -> (Model, ValueId) {
    let mut model = Model::new(&[&[2, 5, 8], &[2, 5, 3]]);
    let (x, residual) = (model.inputs[0], model.inputs[1]);
    let (matrix, bias) = (model.floats(&[8, 3]), model.floats(&[3]));
    let product = model.op("tf.BatchMatMulV2", &[x, matrix]);
    let sum = model.op("tf.AddV2", &[product, bias]);
    let total = model.op("tf.AddV2", &[residual, sum]);
    (model, total)
}

#[test]
fn a_product_with_a_constant_is_a_convolution() {
    let (mut model, total) = product_with_residual();
    let ops = model.finish(&[total]);
    let names = model.names(&ops);
    assert_eq!(names.iter().filter(|name| *name == "tfrt.FusedConv2D").count(), 1, "{names:?}");
    assert!(
        names.iter().all(|name| ["tf.Reshape", "tfrt.FusedConv2D"].contains(&name.as_str())),
        "{names:?}"
    );
}

#[test]
fn devices_multiply_and_add_the_residual() {
    let (mut model, total) = product_with_residual();
    let ops = model.finish_for_devices(&[total]);
    assert_eq!(model.names(&ops), ["tf.Reshape", "tf._FusedMatMul", "tf.Reshape", "tf.AddV2"]);
}

#[test]
fn an_activation_moves_before_a_reshape() {
    let layer = || {
        let mut model = Model::new(&[&[2, 5, 8]]);
        let (x, matrix, bias) = (model.inputs[0], model.floats(&[8, 3]), model.floats(&[3]));
        let product = model.op("tf.BatchMatMulV2", &[x, matrix]);
        let sum = model.op("tf.AddV2", &[product, bias]);
        let relu = model.op("tf.Relu", &[sum]);
        (model, relu)
    };
    let (mut model, relu) = layer();
    let ops = model.finish_for_devices(&[relu]);
    assert_eq!(model.names(&ops), ["tf.Reshape", "tf._FusedMatMul", "tf.Reshape"]);
    let steps = model.graph.module.op(ops[1]).attr("fused_ops").and_then(Attribute::as_array).unwrap();
    let steps: Vec<_> = steps.iter().filter_map(Attribute::as_str).collect();
    assert_eq!(steps, ["BiasAdd", "Relu"]);
    let (mut model, relu) = layer();
    let ops = model.finish(&[relu]);
    assert_eq!(model.names(&ops), ["tf.Reshape", "tfrt.FusedConv2D", "tf.Reshape"]);
    assert_eq!(model.text(ops[1], "activation"), "Relu");
}

#[test]
fn a_product_of_few_rows_reads_the_matrix() {
    let mut model = Model::new(&[&[1, 8]]);
    let (x, matrix, bias) = (model.inputs[0], model.floats(&[8, 3]), model.floats(&[3]));
    let product = model.op("tf.MatMul", &[x, matrix]);
    let sum = model.op("tf.AddV2", &[product, bias]);
    let ops = model.finish(&[sum]);
    assert_eq!(model.names(&ops), ["tf._FusedMatMul"]);
}

#[test]
fn a_shuffle_of_channels_is_one_transpose() {
    let mut model = Model::new(&[&[1, 5, 5, 6]]);
    let first = model.inputs[0];
    let first = model.transpose(first, &[0, 3, 1, 2]);
    let divided = model.reshape(first, &[1, 2, 3, 5, 5]);
    let swapped = model.transpose(divided, &[0, 2, 1, 3, 4]);
    let joined = model.reshape(swapped, &[1, 6, 5, 5]);
    let last = model.transpose(joined, &[0, 2, 3, 1]);
    let last = model.op("tf.Exp", &[last]);
    let ops = model.finish(&[last]);
    assert_eq!(model.names(&ops), ["tf.Reshape", "tf.Transpose", "tf.Reshape", "tf.Exp"]);
    let transpose = model.graph.module.op(ops[1]);
    let order = model.graph.constant(transpose.operands[1]).and_then(crate::shapes::integers);
    // Dimensions of one may lie anywhere.
    assert_eq!(order.unwrap()[3..], [4, 3]);
}

#[test]
fn a_reshape_across_what_does_not_adjoin_stays() {
    let mut model = Model::new(&[&[2, 3, 4, 5]]);
    let x = model.inputs[0];
    let first = model.transpose(x, &[0, 3, 1, 2]);
    let flat = model.reshape(first, &[2, 15, 4]);
    let ops = model.finish(&[flat]);
    assert_eq!(model.names(&ops), ["tf.Transpose", "tf.Reshape"]);
}

#[test]
fn a_transpose_moves_behind_slices_and_resizes() {
    let mut model = Model::new(&[&[1, 4, 6, 3]]);
    let x = model.inputs[0];
    let first = model.transpose(x, &[0, 3, 1, 2]);
    let [begin, end, step] = [[0, 0, 1, 0], [1, 3, 4, 0], [1, 1, 2, 2]]
        .map(|numbers| model.builder().add_integers(&numbers).unwrap());
    let masks = [("begin_mask", Attribute::i64(3)), ("end_mask", Attribute::i64(8))];
    let sliced = model.builder().op("tf.StridedSlice", &[first, begin, end, step], masks).unwrap();
    let scales = model.builder().add_elements(&[4], &[1.0f32, 1.0, 2.0, 3.0]).unwrap();
    let attributes = [("operand_segment_sizes", Attribute::array([1, 0, 1].map(Attribute::i64)))];
    let resized = model.builder().op("onnx.Resize", &[sliced, scales], attributes).unwrap();
    let last = model.transpose(resized, &[0, 2, 3, 1]);
    let ops = model.finish(&[last]);
    assert_eq!(model.names(&ops), ["tf.StridedSlice", "onnx.Resize"]);
    let module = &model.graph.module;
    let end = model.graph.constant(module.op(ops[0]).operands[2]).and_then(crate::shapes::integers);
    assert_eq!(end.unwrap(), [1, 4, 0, 3]);
    assert_eq!(module.op(ops[0]).attr("begin_mask").and_then(Attribute::as_int), Some(9));
    assert_eq!(module.op(ops[0]).attr("end_mask").and_then(Attribute::as_int), Some(4));
    let result = module.op(ops[1]).results[0];
    assert_eq!(model.graph.tensor_type(result), Some(TensorType::fixed(DType::F32, &[1, 4, 9, 3])));
}

#[test]
fn an_activation_alone_ends_a_convolution() {
    let mut model = Model::new(&[&[6, 2]]);
    let (x, matrix) = (model.inputs[0], model.floats(&[2, 3]));
    let product = model.op("tf.MatMul", &[x, matrix]);
    let wide = model.reshape(product, &[2, 3, 3]);
    let gate = model.op("tf.Sigmoid", &[wide]);
    let ops = model.finish(&[gate]);
    let names = model.names(&ops);
    assert!(!names.contains(&"tf.Sigmoid".to_owned()), "{names:?}");
    let place = names.iter().position(|name| name == "tfrt.FusedConv2D").unwrap();
    assert_eq!(model.text(ops[place], "steps"), "Sigmoid x0");
}

#[test]
fn a_power_of_two_is_a_square() {
    let mut model = Model::new(&[&[6, 2]]);
    let (x, two) = (model.inputs[0], model.number(2.0));
    let power = model.op("tf.Pow", &[x, two]);
    let ops = model.finish(&[power]);
    assert_eq!(model.names(&ops), ["tf.Square"]);
}

#[test]
fn large_results_are_computed_within_bounds() {
    let mut model = Model::new(&[]);
    let number = model.number(1.0);
    let is_folded = |model: &mut Model, rows: i64| {
        let dims = model.builder().add_integers(&[rows, 1024]).unwrap();
        let spread = model.op("tf.BroadcastTo", &[number, dims]);
        model.builder().constant(spread).is_some()
    };
    // 4 MiB of a number, and a row more.
    assert!(is_folded(&mut model, 1024) && !is_folded(&mut model, 1025));
    // Bytes become numbers in single precision, whatever their size, but not in double precision.
    let bytes = model.builder().add_elements(&[2048, 1024], &vec![1i8; 2048 * 1024]).unwrap();
    let single = model.builder().cast(bytes, DType::F32).unwrap();
    let double = model.builder().cast(bytes, DType::F64).unwrap();
    assert!(model.builder().constant(single).is_some() && model.builder().constant(double).is_none());
    // Their dequantization waits for what takes it.
    let weights = model.op("onnx.DequantizeLinear", &[bytes, number]);
    assert!(model.builder().constant(weights).is_none());
}
