//! The outputs of TensorFlow's ops: how many a node has, and what functions call them.
//!
//! A graph refers to outputs by number, a function by the name that the op gives them. Ops that are not listed have one.

use super::proto::{Attr, NodeDef};

/// How many values stand behind a name.
enum Count {
    One,
    /// As many as an integer attribute says, or a list of types has.
    Attr(&'static str),
}

use Count::{Attr as By, One};

/// The most values that stand behind a name.
const MAX_OUTPUTS: usize = 1 << 16;

type Outputs = &'static [(&'static str, Count)];

/// Ops that do something and give nothing.
pub(super) const WITHOUT_OUTPUTS: &[&str] = &[
    "Assert",
    "AssignAddVariableOp",
    "AssignSubVariableOp",
    "AssignVariableOp",
    "ControlTrigger",
    "DestroyResourceOp",
    "InitializeTable",
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    "InitializeTableV2",
    "LookupTableImport",
    "LookupTableImportV2",
    "LookupTableInsertV2",
    "MergeV2Checkpoints",
    "NoOp",
    "PrintV2",
    "ResourceApplyAdagradV2",
    "ResourceApplyAdam",
    "ResourceApplyGradientDescent",
    "ResourceApplyKerasMomentum",
    "ResourceApplyMomentum",
    "ResourceApplyRMSProp",
    "ResourceScatterAdd",
    "ResourceScatterSub",
    "ResourceScatterUpdate",
    "SaveV2",
    "TensorArrayCloseV3",
    "_HostSend",
    "_Send",
];

fn outputs(op: &str) -> Option<Outputs> {
    Some(match op {
        "Split" => &[("output", By("num_split"))],
        "SplitV" => &[("output", By("num_split"))],
        "Unpack" => &[("output", By("num"))],
        "IdentityN" => &[("output", By("T"))],
        "ShapeN" => &[("output", By("N"))],
        "ConcatOffset" => &[("offset", By("N"))],
        "PartitionedCall" | "StatefulPartitionedCall" | "If" | "StatelessIf" | "Case" | "StatelessCase" => {
            &[("output", By("Tout"))]
        }
        "While" | "StatelessWhile" => &[("output", By("T"))],
        "_SwitchN" => &[("outputs", By("num_outs"))],
        "TensorArrayV3" => &[("handle", One), ("flow", One)],
        "Switch" | "RefSwitch" => &[("output_false", One), ("output_true", One)],
        "Merge" | "RefMerge" => &[("output", One), ("value_index", One)],
        "TopK" | "TopKV2" => &[("values", One), ("indices", One)],
        "Unique" | "UniqueV2" => &[("y", One), ("idx", One)],
        "UniqueWithCounts" => &[("y", One), ("idx", One), ("count", One)],
        "BroadcastGradientArgs" => &[("r0", One), ("r1", One)],
        "SoftmaxCrossEntropyWithLogits" | "SparseSoftmaxCrossEntropyWithLogits" => {
            &[("loss", One), ("backprop", One)]
        }
        "FusedBatchNorm" | "FusedBatchNormV2" => &[
            ("y", One),
            ("batch_mean", One),
            ("batch_variance", One),
            ("reserve_space_1", One),
            ("reserve_space_2", One),
        ],
        "FusedBatchNormV3" => &[
            ("y", One),
            ("batch_mean", One),
            ("batch_variance", One),
            ("reserve_space_1", One),
            ("reserve_space_2", One),
            ("reserve_space_3", One),
        ],
        "FusedBatchNormGrad" | "FusedBatchNormGradV2" => &[
            ("x_backprop", One),
            ("scale_backprop", One),
            ("offset_backprop", One),
            ("reserve_space_3", One),
            ("reserve_space_4", One),
        ],
        "FusedBatchNormGradV3" => &[
            ("x_backprop", One),
            ("scale_backprop", One),
            ("offset_backprop", One),
            ("reserve_space_4", One),
            ("reserve_space_5", One),
        ],
        "TensorListPopBack" => &[("output_handle", One), ("tensor", One)],
        "StringSplit" | "StringSplitV2" => &[("indices", One), ("values", One), ("shape", One)],
        "LookupTableExportV2" => &[("keys", One), ("values", One)],
        "StatelessRandomGetKeyCounter" => &[("key", One), ("counter", One)],
        "StatelessRandomGetKeyCounterAlg" => &[("key", One), ("counter", One), ("alg", One)],
        "RestoreV2" => &[("tensors", By("dtypes"))],
        "DynamicPartition" => &[("outputs", By("num_partitions"))],
        "MaxPoolWithArgmax" => &[("output", One), ("argmax", One)],
        "NonMaxSuppressionV4" => &[("selected_indices", One), ("valid_outputs", One)],
        "NonMaxSuppressionV5" => {
            &[("selected_indices", One), ("selected_scores", One), ("valid_outputs", One)]
        }
        "CombinedNonMaxSuppression" => {
            &[("nmsed_boxes", One), ("nmsed_scores", One), ("nmsed_classes", One), ("valid_detections", One)]
        }
        "ParseExampleV2" => &[
            ("sparse_indices", By("num_sparse")),
            ("sparse_values", By("sparse_types")),
            ("sparse_shapes", By("num_sparse")),
            ("dense_values", By("Tdense")),
            ("ragged_values", By("ragged_value_types")),
            ("ragged_row_splits", By("ragged_split_types")),
        ],
        _ => return None,
    })
}

fn size(node: &NodeDef, count: &Count) -> usize {
    let By(name) = count else { return 1 };
    match node.attr.get(*name).and_then(|attr| attr.value.as_ref()) {
        Some(Attr::I(count)) => usize::try_from(*count).unwrap_or(0).min(MAX_OUTPUTS),
        Some(Attr::List(list)) => list.r#type.len(),
        _ => 0,
    }
}

/// How many outputs a node has.
pub(super) fn count(node: &NodeDef) -> usize {
    match outputs(&node.op) {
        Some(outputs) => outputs
            .iter()
            .map(|(_, count)| size(node, count))
            .fold(0, |sum: usize, count| sum.saturating_add(count)),
        None => usize::from(!WITHOUT_OUTPUTS.contains(&node.op.as_str())),
    }
}

/// The number of the output that a function calls `name` and `index`.
pub(super) fn number(node: &NodeDef, name: &str, index: usize) -> Option<usize> {
    let Some(outputs) = outputs(&node.op) else { return Some(index) };
    let mut start: usize = 0;
    for (known, count) in outputs {
        if *known == name {
            return start.checked_add(index);
        }
        start = start.checked_add(size(node, count))?;
    }
    None
}
