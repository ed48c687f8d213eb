//! Moving elements: transposition, flattening, padding, slices.

use tfrt_compute::{run, shape_error};
use tfrt_host::{Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_math::{Pad, Transpose, Unary};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, TensorShape};

static TRANSPOSE: Accessor = Accessor::new("tfrt_test.tensor_transpose");
static FLATTEN: Accessor = Accessor::new("tfrt_test.flatten");
static PADDING: Accessor = Accessor::new("zero_padding");
static SLICE: Accessor = Accessor::new("tfrt_test.slice_inplace");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

fn does_not_match(kernel: &str, output: &DenseHostTensor, input: &DenseHostTensor) -> Diagnostic {
    Diagnostic::invalid_argument(format!(
        "{kernel} output shape {} does not match the input shape {}",
        output.shape(),
        input.shape()
    ))
}

fn transpose(
    input: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let [rows, cols] = input.shape().fixed::<2>()?.0;
    if output.shape().dims() != [cols, rows] {
        return Err(does_not_match("TensorTranspose", &output, &input));
    }
    let operands = (input.read_owned::<f32>(&TRANSPOSE)?, output.write_owned::<f32>(&TRANSPOSE)?);
    run(cx, Transpose::new(&[rows, cols], &[1, 0]), operands, |x| x, |out| out, Chain)
}

fn flatten(
    input: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let batch = |tensor: &DenseHostTensor| tensor.shape().dims().first().copied();
    if input.num_elements() != output.num_elements() || batch(&input) != batch(&output) {
        return Err(does_not_match("Flatten", &output, &input));
    }
    let operands = (input.read_owned::<f32>(&FLATTEN)?, output.write_owned::<f32>(&FLATTEN)?);
    run(cx, Unary::new(|x: f32| x, input.num_elements()), operands, |x| x, |out| out, Chain)
}

/// Returns the elements as a matrix.
fn as_matrix(tensor: Arg<DenseHostTensor>) -> Result<DenseHostTensor, Diagnostic> {
    let Some((&rows, others)) = tensor.shape().dims().split_first() else {
        return Err(Diagnostic::invalid_argument("a number has no rows"));
    };
    let columns = TensorShape::new(others)?.num_elements()?;
    DenseHostTensor::clone(&tensor).reshape([rows, columns])
}

/// Pads images (`NHWC`) by rows and columns on either side.
fn pad<I: Copy + TryInto<usize>>(
    input: &DenseHostTensor,
    output: &DenseHostTensor,
    padding: &[I],
    cx: &ExecutionContext,
) -> Done {
    let &[height, width] = padding else {
        return Err(Diagnostic::invalid_argument("ZeroPadding expects padding of length 2"));
    };
    let (Ok(height), Ok(width)) = (height.try_into(), width.try_into()) else {
        return Err(Diagnostic::invalid_argument("ZeroPadding expects padding of at least 0"));
    };
    let dims = input.shape().fixed::<4>()?;
    let edges = [(0, 0), (height, height), (width, width), (0, 0)];
    let plan = Pad::new(&dims.0, &edges, 0.0f32).map_err(shape_error)?;
    if output.shape().dims() != plan.shape() {
        return Err(Diagnostic::invalid_argument(format!(
            "ZeroPadding output shape {} does not match the expected output shape {:?}",
            output.shape(),
            plan.shape()
        )));
    }
    let operands = (input.read_owned::<f32>(&PADDING)?, output.write_owned::<f32>(&PADDING)?);
    run(cx, Ok(plan), operands, |x| x, |out| out, Chain)
}

/// Returns the part of `input` that begins at `begin` and has the extents of `output`.
fn slice<T: Element>(
    input: Arg<DenseHostTensor>,
    begin: Arg<DenseHostTensor>,
    chain: Chain,
    output: Arg<DenseHostTensor>,
) -> Result<Chain, Diagnostic> {
    let (from, to) = (input.shape().fixed::<3>()?, output.shape().fixed::<3>()?);
    let begin = <[i64; 3]>::try_from(&*begin.read::<i64>(&SLICE)?).map_err(|_| {
        Diagnostic::invalid_argument("the size of 'begin_index' should match the input tensor rank")
    })?;
    let outside =
        || Diagnostic::invalid_argument(format!("a slice {to} at {begin:?} of a tensor {from} lies outside"));
    let mut start = [0; 3];
    for (axis, first) in start.iter_mut().enumerate() {
        *first = usize::try_from(begin[axis]).map_err(|_| outside())?;
        if first.checked_add(to.0[axis]).is_none_or(|end| end > from.0[axis]) {
            return Err(outside());
        }
    }
    let [_, height, width] = from.0;
    let (source, mut target) = (input.read::<T>(&SLICE)?, output.write::<T>(&SLICE)?);
    if target.is_empty() {
        return Ok(chain);
    }
    for (row, part) in target.chunks_exact_mut(to.0[2]).enumerate() {
        let (z, y) = (start[0] + row / to.0[1], start[1] + row % to.0[1]);
        part.copy_from_slice(&source[(z * height + y) * width + start[2]..][..to.0[2]]);
    }
    Ok(chain)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    type Tensor<'a> = Arg<'a, DenseHostTensor>;
    const PADDING_DOC: &str =
        "Extends images (NHWC) with zeros: `padding` rows on either side, columns on either side.";
    registry.add("tfrt_test.tensor_transpose.f32", transpose).mutates(&[1]).doc("The transposed matrix.");
    registry
        .add("tfrt_test.flatten.f32", flatten)
        .mutates(&[1])
        .doc("The same elements in a tensor of another shape, with the first axis kept.");
    registry
        .add("tfrt_math.as_matrix", as_matrix)
        .reads(&[])
        .aliases(0, 0)
        .doc("The same elements, shared, as a matrix: the first axis kept, the others as one.");
    registry
        .add(
            "tfrt_test.zero_padding.f32",
            |input: Tensor, output: Tensor, _: Chain, padding: Attr<[i32]>, cx: &ExecutionContext| {
                pad(&input, &output, padding.0, cx)
            },
        )
        .attributes(&["padding"])
        .mutates(&[1])
        .doc(PADDING_DOC);
    registry
        .add(
            "eigen.zero_padding.f32",
            |input: Tensor, output: Tensor, _: Chain, padding: Attr<[i64]>, cx: &ExecutionContext| {
                pad(&input, &output, padding.0, cx)
            },
        )
        .attributes(&["padding"])
        .mutates(&[1])
        .doc(PADDING_DOC);
    macro_rules! slices {
        ($($type:ty => $name:literal)*) => {$(
            registry
                .add($name, slice::<$type>)
                .mutates(&[3])
                .doc("The part of a tensor of rank 3 that begins at `begin` and is as large as the output.");
        )*};
    }
    slices! {
        f32 => "tfrt_test.slice_inplace.f32.3"
        i32 => "tfrt_test.slice_inplace.i32.3"
        i64 => "tfrt_test.slice_inplace.i64.3"
    }
}
