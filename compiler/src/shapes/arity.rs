//! How many arguments an op has at least, of the ops that the passes read: where types are not
//! known, an op's metadata function is not asked.

use crate::elementwise::{BINARY, UNARY};

/// The names of ops that have at least as many arguments.
const LEAST: &[(usize, &[&str])] = &[
    (1, UNARY),
    (
        1,
        &[
            "onnx.AveragePool",
            "onnx.LpPool",
            "onnx.MaxPool",
            "onnx.Resize",
            "tf.AvgPool",
            "tf.ConcatV2",
            "tf.Identity",
            "tf.MaxPool",
            "tf.Softmax",
            "tf.Squeeze",
            "tfrt.FusedElementwise",
        ],
    ),
    (2, BINARY),
    (
        2,
        &[
            "onnx.Conv",
            "onnx.ConvInteger",
            "onnx.ConvTranspose",
            "onnx.DequantizeLinear",
            "onnx.MatMulInteger",
            "onnx.QuantizeLinear",
            "tf.Add",
            "tf.All",
            "tf.Any",
            "tf.BatchMatMul",
            "tf.BatchMatMulV2",
            "tf.BiasAdd",
            "tf.BroadcastTo",
            "tf.Conv2D",
            "tf.DepthwiseConv2dNative",
            "tf.ExpandDims",
            "tf.Fill",
            "tf.MatMul",
            "tf.Max",
            "tf.Mean",
            "tf.Min",
            "tf.MirrorPad",
            "tf.Pad",
            "tf.Prod",
            "tf.Reshape",
            "tf.Split",
            "tf.Sum",
            "tf.Transpose",
            "tf._FusedConv2D",
            "tf._FusedMatMul",
            "tfrt.ByteTable",
        ],
    ),
    (
        3,
        &[
            "onnx.Attention",
            "tf.Conv2DBackpropInput",
            "tf.GatherV2",
            "tf.PadV2",
            "tf.Select",
            "tf.SelectV2",
            "tf.Slice",
            "tf.SplitV",
            "tfrt.FusedAttention",
            "tfrt.FusedConv2D",
        ],
    ),
    (4, &["tf.StridedSlice"]),
    (8, &["onnx.QLinearConv", "onnx.QLinearMatMul"]),
];

/// The number of arguments that an op has at least.
pub(super) fn least(name: &str) -> usize {
    let found = LEAST.iter().find(|(_, names)| names.binary_search(&name).is_ok());
    found.map_or(0, |&(count, _)| count)
}

#[cfg(test)]
mod tests {
    use super::LEAST;

    #[test]
    fn names_are_sorted() {
        assert!(LEAST.iter().all(|(_, names)| names.is_sorted()));
    }
}
