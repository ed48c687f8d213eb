//! What the compiler makes of computations on dequantized tensors.
//!
//! `tfrt.ByteTable` takes bytes and a table of 256 bytes, and gives for each byte the one in its place
//! of the table, as an unsigned number.
//!
//! `tfrt.QuantizedMatMul` and `tfrt.QuantizedConv2D` multiply bytes and scale the sums. The operands
//! of both are `a`, `a_scale`, `a_zero`, `b`, `b_scale`, `b_zero`, and perhaps `bias`,
//! `y_scale` and `y_zero`: two tensors of bytes with the scales and the integers that stand for
//! zero, one for all of `a` and for all or each of the columns (or output channels) of `b`; an `f32`
//! number for each column; and the scale and zero of a result of bytes, without which it is `f32`.

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{BlockOp, ByteInput, ByteProduct, ByteResult, FilterOrder, Rescale};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::convolution::{Kind, WINDOW, convolution};
use super::onnx::arguments::{OPERANDS, dense, formal, optional_dense, required};
use super::onnx::bytes::{Held, filter_of, zeros_of};
use super::onnx::integer_products::{Matrices, product_dims};
use super::support::{Computed, Described, Output, compute, invalid, one};
use crate::{CpuCall, MetadataCall, OpRegistry};

static ME: Accessor = Accessor::new("tfrt product of quantized tensors");

/// The types of operands and results.
const TYPES: &[DType] = &[DType::I8, DType::UI8, DType::F32];

/// The operands that say what the bytes stand for, and how many there are of them.
const SCALES: [(usize, &str); 3] = [(1, "a_scale"), (2, "a_zero"), (7, "y_scale")];

/// Checks all operands but their extents, and returns the shapes of `a` and `b`, and the type of the
/// result.
fn described<'a>(
    inputs: &[Option<&'a TensorMetadata>; 9],
) -> Result<([&'a TensorShape; 2], DType), Diagnostic> {
    let (a, b) = (required(inputs[0], "a")?, required(inputs[3], "b")?);
    for (tensor, zero, name) in [(a, 2, "a"), (b, 5, "b")] {
        let zero = required(inputs[zero], "zero")?.dtype;
        if !matches!(tensor.dtype, DType::I8 | DType::UI8) || tensor.dtype != zero {
            return Err(invalid(format!(
                "{name} and its zero must be bytes of one type, got {} and {zero}",
                tensor.dtype
            )));
        }
    }
    for (at, name) in SCALES {
        if let Some(one) = inputs[at]
            && one.shape.num_elements()? != 1
        {
            return Err(invalid(format!("{name} must be one number, got shape {}", one.shape)));
        }
    }
    if inputs[7].is_some() != inputs[8].is_some() {
        return Err(invalid("y_scale and y_zero must be given together"));
    }
    for scale in [1, 4, 6, 7] {
        if let Some(other) = inputs[scale]
            && other.dtype != DType::F32
        {
            return Err(invalid(format!("scales and biases must be f32, got {}", other.dtype)));
        }
    }
    let dtype = inputs[8].map_or(DType::F32, |zero| zero.dtype);
    Ok(([&a.shape, &b.shape], dtype))
}

/// Checks that there are numbers for this many columns.
fn check_columns(inputs: &[Option<&TensorMetadata>; 9], columns: usize) -> Result<(), Diagnostic> {
    for (at, name) in [(4, "b_scale"), (5, "b_zero"), (6, "bias")] {
        let Some(given) = inputs[at] else { continue };
        let count = given.shape.num_elements()?;
        if count != columns && (count != 1 || name == "bias") {
            return Err(invalid(format!("{name} has {count} numbers for {columns} columns")));
        }
    }
    Ok(())
}

fn matmul_metadata(call: MetadataCall<'_>) -> Described {
    let inputs = formal(call.arguments, call.attrs)?;
    let ([a, b], dtype) = described(&inputs)?;
    check_columns(&inputs, b.dims().last().copied().unwrap_or(1))?;
    one(TensorMetadata::new(dtype, TensorShape::new(&product_dims(a, b)?)?))
}

fn conv_metadata(call: MetadataCall<'_>) -> Described {
    let inputs = formal(call.arguments, call.attrs)?;
    let ([a, b], dtype) = described(&inputs)?;
    let (shape, output) = convolution(call.attrs, Kind::Full, a, b)?;
    check_columns(&inputs, shape.out_channels)?;
    one(TensorMetadata::new(dtype, output))
}

/// What makes results of sums.
struct Scales {
    scales: Vec<f32>,
    bias: Option<Vec<f32>>,
    zero: i32,
}

impl Scales {
    fn of(inputs: &[Option<&HostTensor>; 9]) -> Result<Self, Diagnostic> {
        let numbers = |at: usize| -> Result<Option<Vec<f32>>, Diagnostic> {
            optional_dense(inputs[at])?.map(|tensor| Ok(tensor.read::<f32>(&ME)?.to_vec())).transpose()
        };
        let given = |at| Ok::<_, Diagnostic>(numbers(at)?.unwrap_or_else(|| vec![1.0]));
        let (a, b, y) = (given(1)?[0], given(4)?, given(7)?[0]);
        let zero = optional_dense(inputs[8])?;
        Ok(Self {
            scales: b.iter().map(|b| a * b / y).collect(),
            bias: numbers(6)?.map(|bias| bias.iter().map(|bias| bias / y).collect()),
            zero: zeros_of(zero)?[0],
        })
    }

    fn rescale(&self) -> Rescale<'_> {
        Rescale { scales: &self.scales, bias: self.bias.as_deref(), zero: self.zero }
    }
}

/// Calls a function for the type of the result.
macro_rules! with_result {
    ($call:expr, $function:ident) => {
        match $call.result(0)?.dtype {
            DType::I8 => $function::<i8>($call),
            DType::UI8 => $function::<u8>($call),
            _ => $function::<f32>($call),
        }
    };
}

/// The operands that are multiplied, each with its zeros.
type Operands<'a> = [(&'a DenseHostTensor, Vec<i32>); 2];

fn operands<'a>(inputs: &[Option<&'a HostTensor>; 9]) -> Result<Operands<'a>, Diagnostic> {
    let zeros = |at| zeros_of(optional_dense(inputs[at])?);
    Ok([(dense(inputs[0], "a")?, zeros(2)?), (dense(inputs[3], "b")?, zeros(5)?)])
}

fn matmul<O: Element + ByteResult>(call: &CpuCall<'_>) -> Computed {
    let inputs = formal(call.arguments, call.attrs)?;
    let [(a, a_zero), (b, b_zeros)] = operands(&inputs)?;
    let (matrices, scales) = (Matrices::new(a.shape(), b.shape())?, Scales::of(&inputs)?);
    Ok(matrices.multiply_bytes::<O>(call, (a, a_zero[0]), (b, &b_zeros), scales.rescale())?.into())
}

fn convolve<O: Element + ByteResult>(call: &CpuCall<'_>) -> Computed {
    let inputs = formal(call.arguments, call.attrs)?;
    let [(images, zero), (filter, zeros)] = operands(&inputs)?;
    let (shape, _) = convolution(call.attrs, Kind::Full, images.shape(), filter.shape())?;
    let plan = ByteProduct::<O>::convolution(&shape, workers(call.cx)).map_err(shape_error)?;
    let (filter, scales) = (filter_of(filter, (&shape, FilterOrder::Hwio), &zeros)?, Scales::of(&inputs)?);
    let (images, out) = (Held::new(images)?, call.allocate_unset(0)?);
    let input = ByteInput::convolution((images.bytes(), zero[0]), &filter, scales.rescale());
    plan.run(&OnQueue(call.cx), input, &mut out.write::<O>(&ME)?).map_err(shape_error)?;
    Ok(out.into())
}

/// The bytes of a table.
const TABLE: usize = 256;

fn table_metadata(call: MetadataCall<'_>) -> Described {
    let [x, table] = call.take()?;
    if table.shape.dims() != [TABLE] {
        return Err(invalid(format!("the table must have {TABLE} bytes, got shape {}", table.shape)));
    }
    one(TensorMetadata::new(table.dtype, x.shape.clone()))
}

fn look_up(call: &CpuCall<'_>) -> Computed {
    let [x, table] = call.dense()?;
    let table = table.as_bits().read::<u8>(&ME)?.first_chunk::<TABLE>().copied();
    let table = table.ok_or_else(|| invalid("the table is too small"))?;
    let (x, out) = (x.as_bits().read_owned::<u8>(&ME)?, call.allocate_unset(0)?);
    let count = x.len();
    compute(call, &ME, Output::Bits(out), (count, 1, 1), move |range, out: &mut [u8]| {
        tfrt_math::look_up(&table, &x[range], out);
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    // Images are `NHWC`.
    let [strides, padding, explicit, _, dilations] = WINDOW;
    ops.add("tfrt.ByteTable")
        .types(&[DType::I8, DType::UI8])
        .metadata(table_metadata)
        .cpu(|call| look_up(&call));
    ops.add("tfrt.QuantizedMatMul")
        .types(TYPES)
        .attrs([OPERANDS])
        .metadata(matmul_metadata)
        .cpu(|call| with_result!(&call, matmul));
    ops.add("tfrt.QuantizedConv2D")
        .types(TYPES)
        .attrs([OPERANDS, strides, padding, explicit, dilations])
        .metadata(conv_metadata)
        .cpu(|call| with_result!(&call, convolve));
}
