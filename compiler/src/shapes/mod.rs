//! Shape inference: types of an operation's results from what is known of its operands.
//!
//! Three sources, in this order. Ops whose results depend on the *elements* of arguments (axes,
//! shapes, sizes) have a function here. Ops that broadcast have one too, because an unknown extent
//! may turn out to be 1. For all others the op's own metadata function decides; where extents are
//! unknown it is asked several times, with different numbers in their place, and only what all
//! answers agree on is known ([`probe`]).

#[cfg(test)]
mod agreement_tests;
mod arity;
mod attention;
mod broadcast;
mod elements;
mod images;
mod list;
mod matrices;
mod movement;
mod onnx;
mod probe;
mod random;
mod reduce;
mod sampling;
mod sound;

use tfrt_eager::{AttrDefault, OpAttrs, ResultDType};
use tfrt_host::{DType, Diagnostic};
use tfrt_ir::Attribute;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor};

use crate::{Evaluator, TensorType};

pub(crate) use elements::known_elements;

static READ: Accessor = Accessor::new("shape inference");

/// The largest number of elements that are tracked one by one.
const MAX_KNOWN_ELEMENTS: usize = 128;

/// What is known of an operand.
pub(crate) struct Operand<'a> {
    pub(crate) ty: Option<TensorType>,
    pub(crate) constant: Option<&'a HostTensor>,
    /// The elements, each as far as it is known.
    pub(crate) known: Option<&'a [Option<i64>]>,
}

/// A call whose results are to be described.
pub(crate) struct Call<'a> {
    pub(crate) evaluator: &'a Evaluator,
    pub(crate) name: &'a str,
    pub(crate) operands: &'a [Operand<'a>],
    pub(crate) attrs: &'a OpAttrs,
    pub(crate) result_count: usize,
}

/// Types of results; `None` where nothing is known but the data type.
type Inferred = Result<Option<Vec<TensorType>>, Diagnostic>;

impl Call<'_> {
    /// The type of an operand, if it is a tensor.
    fn ty(&self, index: usize) -> Option<&TensorType> {
        self.operands.get(index)?.ty.as_ref()
    }

    fn dims(&self, index: usize) -> Option<&[Option<u64>]> {
        self.ty(index)?.dims.as_deref()
    }

    fn dtype(&self, index: usize) -> Option<DType> {
        Some(self.ty(index)?.dtype)
    }

    /// The elements of an operand of integers, each as far as it is known.
    fn elements(&self, index: usize) -> Option<Vec<Option<i64>>> {
        let operand = self.operands.get(index)?;
        match operand.known {
            Some(known) => Some(known.to_vec()),
            None => Some(integers(operand.constant?)?.into_iter().map(Some).collect()),
        }
    }

    /// The elements of an operand of integers, if all are known.
    fn integers(&self, index: usize) -> Option<Vec<i64>> {
        self.elements(index)?.into_iter().collect()
    }

    fn integer(&self, index: usize) -> Option<i64> {
        match self.integers(index)?[..] {
            [value] => Some(value),
            _ => None,
        }
    }

    fn int_attr(&self, name: &str) -> Option<i64> {
        match self.attrs.optional::<i64>(name) {
            Ok(value) => value,
            Err(_) => self.attrs.optional::<i32>(name).ok().flatten().map(i64::from),
        }
    }

    fn bool_attr(&self, name: &str) -> bool {
        self.attrs.optional::<bool>(name).ok().flatten().unwrap_or(false)
    }

    fn type_attr(&self, name: &str) -> Option<DType> {
        self.attrs.optional::<DType>(name).ok().flatten()
    }

    /// An axis counted from the front, of `rank` dimensions.
    fn axis(&self, axis: i64, rank: usize) -> Result<usize, Diagnostic> {
        let counted = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(counted) {
            Ok(counted) if counted < rank => Ok(counted),
            _ => Err(Diagnostic::invalid_argument(format!(
                "{}: axis {axis} is outside of the range [-{rank}, {rank})",
                self.name
            ))),
        }
    }
}

/// The elements of a small tensor of signed integers.
pub(crate) fn integers(tensor: &HostTensor) -> Option<Vec<i64>> {
    fn widened<T: Element + Copy + Into<i64>>(dense: &DenseHostTensor) -> Option<Vec<i64>> {
        Some(dense.read::<T>(&READ).ok()?.iter().map(|&element| element.into()).collect())
    }
    let dense = tensor.dense().ok()?;
    if dense.num_elements() > MAX_KNOWN_ELEMENTS {
        return None;
    }
    match dense.dtype() {
        DType::I64 => widened::<i64>(dense),
        DType::I32 => widened::<i32>(dense),
        DType::I16 => widened::<i16>(dense),
        DType::I8 => widened::<i8>(dense),
        _ => None,
    }
}

/// Describes the results of a call.
///
/// # Errors
/// InvalidArgument if the arguments do not fit the op, whatever the unknown extents turn out to be.
pub(crate) fn infer(call: &Call<'_>) -> Result<Vec<TensorType>, Diagnostic> {
    let least = arity::least(call.name);
    if call.operands.len() < least {
        let given = call.operands.len();
        let message = format!("{}: the op takes at least {least} arguments, got {given}", call.name);
        return Err(Diagnostic::invalid_argument(message));
    }
    let by_function = match family(call.name) {
        Some(function) => function(call)?,
        None => probe::infer(call)?,
    };
    if let Some(types) = by_function
        && types.len() >= call.result_count
    {
        return Ok(types.into_iter().take(call.result_count).collect());
    }
    let described =
        |index| declared(call, index).unwrap_or_else(|| TensorType::unranked(result_dtype(call, index)));
    Ok((0..call.result_count).map(described).collect())
}

/// An extent as an element of a shape; negative ones stand for what is not known.
fn extent(element: Option<i64>) -> Option<u64> {
    u64::try_from(element?).ok()
}

/// What the op declares of a result.
fn declared(call: &Call<'_>, index: usize) -> Option<TensorType> {
    let result = call.evaluator.op(call.name)?.results().get(index)?;
    let dtype = match result.dtype {
        ResultDType::Is(dtype) => dtype,
        ResultDType::Argument(argument) => call.dtype(argument)?,
        ResultDType::Attribute(name) => call.type_attr(name).or_else(|| default_of(call, name))?,
    };
    Some(match result.rank {
        Some(rank) => TensorType::ranked(dtype, vec![None; rank]),
        None => TensorType::unranked(dtype),
    })
}

type Function = fn(&Call<'_>) -> Inferred;

/// The function of an op that has one here.
fn family(name: &str) -> Option<Function> {
    broadcast::function(name)
        .or_else(|| reduce::function(name))
        .or_else(|| movement::function(name))
        .or_else(|| list::function(name))
        .or_else(|| sampling::function(name))
        .or_else(|| attention::function(name))
        .or_else(|| images::function(name))
        .or_else(|| matrices::function(name))
        .or_else(|| random::function(name))
        .or_else(|| sound::function(name))
        .or_else(|| onnx::function(name))
}

/// The data type of a result of which nothing else is known.
fn result_dtype(call: &Call<'_>, index: usize) -> DType {
    let by_attribute = ["DstT", "dtype", "out_type", "output_type", "element_dtype", "to"];
    let by_attribute = by_attribute.iter().find_map(|name| call.type_attr(name));
    let by_attribute = by_attribute.or_else(|| default_dtype(call));
    match (call.name, index) {
        (
            "tf.Concat"
            | "tf.ConcatOffset"
            | "tf.RandomUniformInt"
            | "tf.ResizeBilinearGrad"
            | "tf.Split"
            | "tfrt.Lookup",
            _,
        ) => call.dtype(1).unwrap_or(DType::F32),
        ("tf.IsNan" | "tf.IsInf" | "tf.IsFinite" | "tf.RegexFullMatch" | "tf.StaticRegexFullMatch", _) => {
            DType::I1
        }
        ("tf.ResizeBilinear", _) => DType::F32,
        ("tf.StringToHashBucket" | "tf.StringToHashBucketFast" | "tf.StringToHashBucketStrong", _) => {
            DType::I64
        }
        ("tf.StatelessRandomUniformInt", _) => call.dtype(2).unwrap_or(DType::I32),
        ("tf.StatelessRandomUniformIntV2", _) => call.dtype(4).unwrap_or(DType::I32),
        ("tf.StatelessRandomGetAlg", _) | ("tf.StatelessRandomGetKeyCounterAlg", 2) => DType::I32,
        ("tf.StatelessRandomGetKeyCounter" | "tf.StatelessRandomGetKeyCounterAlg", _) => DType::UI64,
        ("tf.StridedSliceGrad", _) => call.dtype(4).unwrap_or(DType::F32),
        ("tf.Rank" | "tf.StringLength" | "tf.TensorListLength", _) => DType::I32,
        ("tf.AsString" | "tf.StringFormat", _) | ("tf.StringSplitV2", 1) => DType::String,
        ("tf.StringSplitV2", _) => DType::I64,
        ("tf.TopKV2", 1) => call.type_attr("index_type").unwrap_or(DType::I32),
        ("onnx.TopK", 1) => DType::I64,
        ("onnx.DynamicQuantizeLinear", 1) => DType::F32,
        ("onnx.DynamicQuantizeLinear", _) => DType::UI8,
        ("onnx.MaxPool", 1) | ("onnx.Unique", 1..) | ("tf.Where", _) | ("onnx.NonMaxSuppression", _) => {
            DType::I64
        }
        ("onnx.SequenceInsert" | "onnx.SequenceErase" | "onnx.SplitToSequence", 1) => DType::I64,
        ("onnx.SequenceInsert", _) => call.dtype(2).unwrap_or(DType::F32),
        ("onnx.MatMulInteger" | "onnx.ConvInteger", _) => DType::I32,
        ("onnx.DequantizeLinear", _) => by_attribute.or_else(|| call.dtype(1)).unwrap_or(DType::F32),
        ("onnx.QuantizeLinear", _) => by_attribute.or_else(|| call.dtype(2)).unwrap_or(DType::UI8),
        ("onnx.QLinearMatMul" | "onnx.QLinearConv", _) => call.dtype(7).unwrap_or(DType::UI8),
        ("tfrt.QuantizedMatMul" | "tfrt.QuantizedConv2D", _) => {
            // Results of bytes have the type of their zero, the last operand.
            let has_zero = call.operands.len() >= 8;
            call.operands
                .len()
                .checked_sub(1)
                .filter(|_| has_zero)
                .and_then(|zero| call.dtype(zero))
                .unwrap_or(DType::F32)
        }
        ("tfrt.ByteTable", _) => call.dtype(1).unwrap_or(DType::UI8),
        ("onnx.IsInf", _) => DType::I1,
        // Statistics of halves are f32.
        (name, 1..) if name.starts_with("tf.FusedBatchNorm") => DType::F32,
        ("tf.Bitcast", _) => call.type_attr("type").unwrap_or(DType::F32),
        ("tf.OneHot", _) => call.dtype(2).unwrap_or(DType::F32),
        ("tf.Select" | "tf.SelectV2", _) => call.dtype(1).unwrap_or(DType::F32),
        ("tf.ScatterNd" | "tf.Fill", _) => call.dtype(1).unwrap_or(DType::F32),
        _ => by_attribute.or_else(|| call.dtype(0)).unwrap_or(DType::F32),
    }
}

/// The data type that an attribute has by default.
fn default_of(call: &Call<'_>, name: &str) -> Option<DType> {
    let attributes = call.evaluator.op(call.name)?.attributes();
    attributes.iter().find(|attribute| attribute.name == name).and_then(|attribute| match attribute.default {
        AttrDefault::Type(dtype) => Some(dtype),
        _ => None,
    })
}

/// The data type of results that an op has by default.
fn default_dtype(call: &Call<'_>) -> Option<DType> {
    let attributes = call.evaluator.op(call.name)?.attributes();
    attributes.iter().find_map(|attribute| match (attribute.name, attribute.default) {
        ("dtype" | "out_type" | "output_type", AttrDefault::Type(dtype)) => Some(dtype),
        _ => None,
    })
}

/// The extents that a shape attribute such as `#corert.shape<2x?>` says; -1 stands for an unknown
/// one.
pub(crate) fn parse_shape_attribute(value: &Attribute) -> Option<Option<Vec<i64>>> {
    let Attribute::Dialect(symbol) = value else { return None };
    let body = symbol.body.as_str().strip_prefix("shape<")?.strip_suffix('>')?;
    match body {
        "*" => Some(None),
        "" => Some(Some(Vec::new())),
        dims => {
            let dims = dims.split('x').map(|dim| if dim == "?" { Some(-1) } else { dim.parse().ok() });
            dims.collect::<Option<Vec<i64>>>().map(Some)
        }
    }
}
