//! What can be said of an op graph without running it: its ops, their arithmetic, and the memory of
//! its intermediate tensors.

pub(crate) mod cost;
mod device;
mod liveness;

use std::collections::BTreeMap;

use tfrt_ir::OpId;

use crate::{Graph, graph::CONST, import::onnx::RETURN};

pub use device::device_problem;
pub(crate) use device::place;
pub use liveness::PeakMemory;

/// The calls of one op in a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpUse {
    /// How many there are.
    pub count: usize,
    /// Their arithmetic operations, as far as shapes are known.
    pub flops: u64,
    /// How many of them have shapes that are not known.
    pub unknown_count: usize,
}

/// What an op graph does, and what it takes.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The ops by name, without constants.
    pub ops: BTreeMap<String, OpUse>,
    /// The number of elements of the constants that its ops take.
    pub parameter_count: u64,
    /// The bytes of these constants.
    pub parameter_bytes: u64,
    /// The memory of intermediate tensors.
    pub peak: PeakMemory,
}

impl Summary {
    /// Looks at a graph. The functions of control flow count once, however often they run.
    pub fn of(graph: &Graph) -> Self {
        let mut summary = Self { peak: liveness::peak(graph), ..Self::default() };
        let mut seen = std::collections::HashSet::new();
        for op in ops(graph) {
            if let Some(id) = graph.constant_id(op) {
                // An importer leaves behind what it computed others from.
                let is_used = graph.module.op(op).results.iter().any(|&result| graph.module.has_uses(result));
                if let Some(tensor) = graph.constants.tensor(id).filter(|_| is_used && seen.insert(id)) {
                    let metadata = tensor.metadata();
                    summary.parameter_count += metadata.shape.num_elements().unwrap_or(0) as u64;
                    summary.parameter_bytes += metadata.size_bytes().unwrap_or(0) as u64;
                }
                continue;
            }
            let entry = summary.ops.entry(graph.module.op(op).name.as_str().to_owned()).or_default();
            entry.count += 1;
            match cost::flops(graph, op) {
                Some(flops) => entry.flops = entry.flops.saturating_add(flops),
                None => entry.unknown_count += 1,
            }
        }
        summary
    }

    /// The arithmetic operations of all ops whose shapes are known.
    pub fn flops(&self) -> u64 {
        self.ops.values().fold(0, |sum, op| sum.saturating_add(op.flops))
    }

    /// How many calls have shapes that are not known.
    pub fn unknown_count(&self) -> usize {
        self.ops.values().map(|op| op.unknown_count).sum()
    }
}

/// The operations of all functions, but for those that end them.
fn ops(graph: &Graph) -> impl Iterator<Item = OpId> {
    let bodies = graph.module.functions().filter_map(|function| function.body());
    let ops = bodies.flat_map(|body| graph.module.ops_in(body));
    ops.filter(|(_, op)| op.name != RETURN).map(|(id, _)| id)
}

/// Whether an operation is a constant.
fn is_constant(graph: &Graph, op: OpId) -> bool {
    graph.module.op(op).name == CONST
}

#[cfg(test)]
mod tests {
    use tfrt_ir::{OpRegistry, ParseOptions, Source, parse_module};

    use super::*;
    use crate::Evaluator;

    fn summary(text: &str) -> Summary {
        let evaluator = Evaluator::new(&crate::evaluate::test_host()).unwrap();
        let mut ops = OpRegistry::new();
        ops.add_core_ops().unwrap();
        let source = Source::new("test.mlir", text.as_bytes());
        let module = parse_module(&source, &ops, &ParseOptions::default()).unwrap();
        Summary::of(&Graph::from_module(module, &evaluator).unwrap())
    }

    const CONVOLUTION: &str = r#"func @main(%x: tensor<1x8x8x3xf32>) -> tensor<1x6x6x4xf32> {
        %w = "tf.Const"() {value = dense<1.0> : tensor<3x3x3x4xf32>} : () -> tensor<3x3x3x4xf32>
        %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID"}
          : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
        %z = "tf.Relu"(%y) : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
        tfrt.return %z : tensor<1x6x6x4xf32>
    }"#;

    #[test]
    fn arithmetic_parameters_and_memory_follow_from_shapes() {
        let summary = summary(CONVOLUTION);
        let result = 6 * 6 * 4;
        assert_eq!(summary.ops["tf.Conv2D"].flops, 2 * result * 3 * 3 * 3);
        assert_eq!(summary.flops(), 2 * result * 27 + result);
        assert_eq!((summary.parameter_count, summary.parameter_bytes), (108, 432));
        // Both results are alive while the activation is computed.
        assert_eq!((summary.peak.bytes, summary.peak.unknown_count), (2 * result * 4, 0));
    }

    #[test]
    fn products_of_matrices_have_two_operations_for_each_element_of_a_row() {
        let summary = summary(
            r#"func @main(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
                %z = "tf.BatchMatMulV2"(%x, %y) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
                tfrt.return %z : tensor<2x3x5xf32>
            }"#,
        );
        assert_eq!(summary.flops(), 2 * 2 * 3 * 5 * 4);
    }

    #[test]
    fn attention_has_two_products_and_no_scores_in_memory() {
        // Two batches of three heads with five queries, six keys of four elements, and values of seven.
        let fused = summary(
            r#"func @main(%q: tensor<2x5x3x4xf16>, %k: tensor<2x6x3x4xf16>, %v: tensor<2x3x7x6xf16>) -> tensor<2x5x3x7xf16> {
                %y = "tfrt.FusedAttention"(%q, %k, %v) {key_order = [0, 2, 1, 3], output_order = [0, 2, 1, 3],
                    query_order = [0, 2, 1, 3], scale = 0.5 : f32, value_order = [0, 1, 3, 2]}
                  : (tensor<2x5x3x4xf16>, tensor<2x6x3x4xf16>, tensor<2x3x7x6xf16>) -> tensor<2x5x3x7xf16>
                tfrt.return %y : tensor<2x5x3x7xf16>
            }"#,
        );
        assert_eq!(fused.flops(), 2 * 2 * 3 * 5 * 6 * (4 + 7));
        assert_eq!(fused.peak.bytes, 2 * 5 * 3 * 7 * 2);
        // One query of two heads after five keys, with the cache that results.
        let cached = summary(
            r#"func @main(%q: tensor<1x1x8xf32>, %k: tensor<1x1x4xf32>, %past: tensor<1x1x5x4xf32>)
                -> (tensor<1x1x8xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) {
                %y:3 = "onnx.Attention"(%q, %k, %k, %past, %past) {kv_num_heads = 1, q_num_heads = 2,
                    operand_segment_sizes = [1, 1, 1, 0, 1, 1, 0], result_segment_sizes = [1, 1, 1, 0]}
                  : (tensor<1x1x8xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x5x4xf32>,
                     tensor<1x1x5x4xf32>) -> (tensor<1x1x8xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>)
                tfrt.return %y#0, %y#1, %y#2 : tensor<1x1x8xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>
            }"#,
        );
        assert_eq!(cached.flops(), 2 * 6 * (8 + 8));
    }

    #[test]
    fn what_has_no_known_shape_is_counted() {
        let summary = summary(
            r#"func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
                %y = "tf.Relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
                tfrt.return %y : tensor<?xf32>
            }"#,
        );
        assert_eq!((summary.flops(), summary.unknown_count(), summary.peak.unknown_count), (0, 1, 1));
    }

    #[test]
    fn a_reshape_takes_no_memory_and_keeps_its_source() {
        let summary = summary(
            r#"func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
                %shape = "tf.Const"() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
                %a = "tf.Neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
                %b = "tf.Reshape"(%a, %shape) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
                %c = "tf.Neg"(%b) : (tensor<2x2xf32>) -> tensor<2x2xf32>
                %d = "tf.Neg"(%c) : (tensor<2x2xf32>) -> tensor<2x2xf32>
                tfrt.return %d : tensor<2x2xf32>
            }"#,
        );
        assert_eq!(summary.peak.bytes, 32);
    }
}
