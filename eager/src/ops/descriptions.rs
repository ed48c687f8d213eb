//! What users are told of each op: the types of tensors it computes with in host memory, and its attributes.

use tfrt_host::DType::{
    self, BF16, Complex64, Complex128, F16, F32, F64, I1, I8, I16, I32, I64, String, UI8, UI16, UI32, UI64,
};

type Types = &'static [DType];

const BOOL: Types = &[I1];
const FLOATS: Types = &[F16, BF16, F32, F64];
/// Floating-point and complex numbers.
const FRACTIONS: Types = &[F16, BF16, F32, F64, Complex64, Complex128];
const NARROW_FLOATS: Types = &[F16, BF16, F32];
const INTEGERS: Types = &[I8, I16, I32, I64, UI8, UI16, UI32, UI64];
const INDICES: Types = &[I32, I64];
const NUMBERS: Types = &[I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64];
const FIELDS: Types = &[I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, Complex64, Complex128];
const SUMMED: Types =
    &[I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, Complex64, Complex128, String];
const FORMATTED: Types = &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, String];
const STRINGS: Types = &[String];
const READ: Types = &[String, I32, I64, UI32, UI64, F32, F64];
const FACTORS: Types = &[I8, I16, I32, I64, UI8, F16, BF16, F32, F64, Complex64, Complex128];
const CONVOLVED: Types = &[I32, F16, BF16, F32, F64];
/// Truths and real numbers.
const ORDERED: Types = &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64];
const ELEMENTS: Types =
    &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, Complex64, Complex128];
const ANY: Types =
    &[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, Complex64, Complex128, String];
const RANGED: Types = &[I8, I16, I32, I64, UI8, UI16, UI32, F16, BF16, F32, F64];

const WINDOW: &str = "strides: [int], padding: string, explicit_paddings: [int] = [], data_format: string = NHWC, \
                      dilations: [int] = 1";
const FUSED_WINDOW: &str = "fused_ops: [string], strides: [int], padding: string, explicit_paddings: [int] = [], \
                            data_format: string = NHWC, dilations: [int] = 1, epsilon: float = 0.0001, \
                            leakyrelu_alpha: float = 0.2";
const POOLING: &str = "ksize: [int], strides: [int], padding: string, explicit_paddings: [int] = [], \
                       data_format: string = NHWC";
const NORMALIZATION: &str = "epsilon: float = 0.0001, is_training: bool = true, exponential_avg_factor: float = 1, \
                             data_format: string = NHWC";
const NORMALIZATION_GRADIENT: &str =
    "epsilon: float = 0.0001, is_training: bool = true, data_format: string = NHWC";
const SEEDED: &str = "seed: int = 0, seed2: int = 0, dtype: type = f32";
const RESIZED: &str = "align_corners: bool = false, half_pixel_centers: bool = false";
const RESPONSE: &str = "depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5";
const MATRICES: &str = "transpose_a: bool = false, transpose_b: bool = false";
const SLICED: &str = "begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, \
                      shrink_axis_mask: int = 0";
const POLICY: &str = "bad_indices_policy: string";
const SCANNED: &str = "exclusive: bool = false, reverse: bool = false";

/// Ops that have types and attributes in common: their names without `tf.`, the types, the attributes.
const GROUPS: &[(&str, Types, &str)] = &[
    ("Abs Relu Relu6 ReluGrad Relu6Grad", NUMBERS, ""),
    ("Neg Sign Square Pow SquaredDifference AddN", FIELDS, ""),
    (
        "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Exp Expm1 Inv Log Log1p Reciprocal Rsqrt Sigmoid Sin Sinh Sqrt Tan Tanh \
         InvGrad ReciprocalGrad RsqrtGrad SigmoidGrad SqrtGrad TanhGrad DivNoNan MulNoNan",
        FRACTIONS,
        "",
    ),
    (
        "Erf Erfc Lgamma Rint IsFinite IsInf IsNan Elu Selu Softplus Softsign EluGrad SeluGrad SoftplusGrad SoftsignGrad Atan2 \
         Softmax LogSoftmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits L2Loss LinSpace",
        FLOATS,
        "",
    ),
    ("Ceil Floor Round FloorDiv FloorMod Mod TruncateMod", NUMBERS, ""),
    ("Maximum Minimum Less LessEqual Greater GreaterEqual", NUMBERS, ""),
    ("Add", SUMMED, ""),
    ("AddV2 Sub Mul RealDiv Div TruncateDiv", FIELDS, ""),
    ("Invert BitwiseAnd BitwiseOr BitwiseXor", INTEGERS, ""),
    ("LogicalAnd LogicalOr LogicalNot", BOOL, ""),
    ("LeakyRelu LeakyReluGrad", FLOATS, "alpha: float = 0.2"),
    ("Gelu", FLOATS, "approximate: bool = false"),
    ("Equal NotEqual", ANY, "incompatible_shape_error: bool = true"),
    ("Select SelectV2", ANY, ""),
    ("Where", ELEMENTS, ""),
    ("Cast", ELEMENTS, "DstT: type, Truncate: bool = false"),
    ("Bitcast", ELEMENTS, "type: type"),
    ("Concat ConcatV2 Gather Pad PadV2 Tile BroadcastTo Transpose Slice ReverseV2 Roll", ANY, ""),
    ("ShapeN", ANY, "out_type: type = i32"),
    ("BroadcastArgs BroadcastGradientArgs ConcatOffset InvertPermutation", INDICES, ""),
    ("SegmentSum SegmentProd UnsortedSegmentSum UnsortedSegmentProd", FIELDS, ""),
    ("SegmentMax SegmentMin UnsortedSegmentMax UnsortedSegmentMin", NUMBERS, ""),
    ("LowerBound UpperBound", NUMBERS, "out_type: type = i32"),
    ("EnsureShape", ANY, "shape: shape"),
    ("ScatterNd TensorScatterUpdate", ELEMENTS, POLICY),
    ("GatherNd", ANY, POLICY),
    ("TensorScatterAdd TensorScatterSub", FIELDS, POLICY),
    ("TensorScatterMax TensorScatterMin", NUMBERS, POLICY),
    ("MatrixBandPart", ELEMENTS, ""),
    ("MatrixDiag MatrixDiagPart MatrixSetDiag MatrixDiagV2 MatrixDiagPartV2 MatrixSetDiagV2", ELEMENTS, ""),
    ("MatrixDiagV3 MatrixDiagPartV3 MatrixSetDiagV3", ELEMENTS, "align: string = RIGHT_LEFT"),
    ("TensorListReserve EmptyTensorList", ELEMENTS, "element_dtype: type"),
    ("TensorListSetItem", ELEMENTS, "resize_if_index_out_of_bounds: bool = false"),
    ("TensorListStack", ELEMENTS, "num_elements: int = -1"),
    (
        "TensorListFromTensor TensorListPushBack TensorListGetItem TensorListGather TensorListPopBack \
         TensorListResize TensorListLength",
        ELEMENTS,
        "",
    ),
    ("Pack", ANY, "axis: int = 0"),
    ("Unpack", ANY, "axis: int = 0, num: int"),
    ("Split", ANY, "num_split: int"),
    ("SplitV", ANY, "num_split: int"),
    ("StridedSlice", ANY, SLICED),
    ("StridedSliceGrad", ELEMENTS, SLICED),
    ("GatherV2", ANY, "batch_dims: int = 0"),
    ("MirrorPad", ANY, "mode: string"),
    ("SpaceToBatchND BatchToSpaceND", ELEMENTS, ""),
    ("SpaceToDepth DepthToSpace", ANY, "block_size: int, data_format: string = NHWC"),
    ("ReverseSequence", ANY, "seq_dim: int, batch_dim: int = 0"),
    ("Const", ELEMENTS, "value: dense, dtype: type"),
    ("ZerosLike", ANY, "T: type"),
    ("OnesLike", ELEMENTS, "T: type"),
    ("Fill", ANY, ""),
    ("Range", RANGED, ""),
    ("OneHot", ANY, "axis: int = -1"),
    ("Identity IdentityN StopGradient PreventGradient Snapshot Reshape ExpandDims Rank", ANY, ""),
    ("Shape Size", ANY, "out_type: type = i32"),
    ("Squeeze", ANY, "squeeze_dims: [int] = [], axis: [int] = []"),
    (
        "Conv2D DepthwiseConv2dNative Conv2DBackpropInput DepthwiseConv2dNativeBackpropInput",
        CONVOLVED,
        WINDOW,
    ),
    ("Conv2DBackpropFilter DepthwiseConv2dNativeBackpropFilter", FLOATS, WINDOW),
    ("_FusedConv2D", FLOATS, FUSED_WINDOW),
    ("MaxPool MaxPoolGrad", NUMBERS, POOLING),
    ("AvgPool AvgPoolGrad", FLOATS, POOLING),
    ("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3", NARROW_FLOATS, NORMALIZATION),
    ("FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3", NARROW_FLOATS, NORMALIZATION_GRADIENT),
    (
        "_FusedBatchNormEx",
        NARROW_FLOATS,
        "epsilon: float = 0.0001, activation_mode: string = Identity, data_format: string = NHWC",
    ),
    ("LRN LRNGrad", NARROW_FLOATS, RESPONSE),
    ("ResizeBilinear ResizeNearestNeighborGrad", NUMBERS, RESIZED),
    ("ResizeBilinearGrad", FLOATS, RESIZED),
    ("ResizeNearestNeighbor", ELEMENTS, RESIZED),
    ("MatMul", FACTORS, MATRICES),
    ("BatchMatMul BatchMatMulV2 BatchMatMulV3", FACTORS, "adj_x: bool = false, adj_y: bool = false"),
    ("Einsum", FACTORS, "equation: string"),
    (
        "_FusedMatMul",
        FLOATS,
        "fused_ops: [string], transpose_a: bool = false, transpose_b: bool = false, epsilon: float, leakyrelu_alpha: float = 0.2",
    ),
    (
        "_JitFusedMatMul",
        FLOATS,
        "fusion: [string], transpose_a: bool = false, transpose_b: bool = false, epsilon: float, leakyrelu_alpha: float = 0.2",
    ),
    ("Sum Mean Prod", FIELDS, "keep_dims: bool = false"),
    ("Max Min", NUMBERS, "keep_dims: bool = false"),
    ("All Any", BOOL, "keep_dims: bool = false"),
    ("BiasAdd BiasAddGrad", FIELDS, "data_format: string = NHWC"),
    ("ArgMax ArgMin", ORDERED, "output_type: type = i64"),
    ("TopKV2", NUMBERS, "sorted: bool = true, index_type: type = i32"),
    ("Cumsum Cumprod", FIELDS, SCANNED),
    ("RandomUniform RandomStandardNormal TruncatedNormal", FLOATS, SEEDED),
    ("RandomUniformInt", INDICES, "seed: int = 0, seed2: int = 0"),
    ("StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg", &[I32, I64, UI64], ""),
    ("StatelessRandomGetAlg", &[I32], ""),
    ("StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal", FLOATS, "dtype: type = f32"),
    (
        "StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2",
        FLOATS,
        "dtype: type = f32",
    ),
    ("StatelessRandomUniformInt StatelessRandomUniformIntV2", INDICES, ""),
    ("StringJoin", STRINGS, "separator: string"),
    ("ReduceJoin", STRINGS, "keep_dims: bool = false, separator: string"),
    ("Substr StringLength", STRINGS, "unit: string = BYTE"),
    ("StringLower StringUpper", STRINGS, "encoding: string"),
    ("StringStrip", STRINGS, ""),
    ("StringSplitV2", STRINGS, "maxsplit: int = -1"),
    ("StringToNumber", READ, "out_type: type = f32"),
    (
        "AsString",
        ANY,
        "precision: int = -1, scientific: bool = false, shortest: bool = false, width: int = -1, fill: string",
    ),
    ("StringFormat", FORMATTED, "template: string = %s, placeholder: string = %s, summarize: int = 3"),
    ("VarHandleOp", ANY, "container: string, shared_name: string, dtype: type, shape: shape"),
    ("ReadVariableOp", ANY, "dtype: type"),
    ("VariableShape", ANY, "out_type: type = i32"),
    ("AssignVariableOp VarIsInitializedOp DestroyResourceOp", ANY, ""),
    ("AssignAddVariableOp AssignSubVariableOp", FIELDS, ""),
    ("ResourceApplyGradientDescent", FRACTIONS, "use_locking: bool = false"),
    ("ResourceApplyRMSProp", FLOATS, "use_locking: bool = false"),
    (
        "ResourceApplyMomentum ResourceApplyKerasMomentum ResourceApplyAdam",
        FRACTIONS,
        "use_nesterov: bool = false, use_locking: bool = false",
    ),
];

/// Ops of folded constants, which only devices have: whole names.
const FOLDED: &[(&str, &str)] = &[
    ("_tf.Mean", "reduction_indices: dense, keep_dims: bool = false"),
    ("_tf.Pad", "paddings: dense"),
    ("_tf.Transpose", "perm: dense"),
];

/// What users are told of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The types of tensors it computes with in host memory. On devices there may be fewer.
    pub types: &'static [DType],
    /// Its attributes, `name: kind` and perhaps ` = value`, separated by commas.
    pub attributes: &'static str,
}

/// All names that are described, with their descriptions.
pub fn descriptions() -> impl Iterator<Item = (std::string::String, Description)> {
    let groups = GROUPS.iter().flat_map(|&(names, types, attributes)| {
        names.split_whitespace().map(move |name| (format!("tf.{name}"), Description { types, attributes }))
    });
    let folded =
        FOLDED.iter().map(|&(name, attributes)| (name.into(), Description { types: &[], attributes }));
    groups.chain(folded)
}

/// The description of the op of this name.
pub fn description(name: &str) -> Option<Description> {
    descriptions().find(|(described, _)| described == name).map(|(_, description)| description)
}
