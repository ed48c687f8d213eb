//! Ops that tests of the core runtime use: `tfrt_test.*`.

use smallvec::smallvec;
use tfrt_compute::{run, workers};
use tfrt_host::{AsyncValueRef, Chain, DType, Diagnostic};
use tfrt_math::{ArgExtreme, Binary, CastTo, Layout, MatMul, MatMulInput, Mean, Reduce, ops};
use tfrt_tensor::{
    Accessor, CooHostTensor, DenseHostTensor, HostTensor, ScalarHostTensor, TensorMetadata, TensorShape, f16,
    with_element,
};

use super::device::test_ops as on_device;
use super::elementwise::{binary, combine, map, unary};
use super::support::{Computed, Described, one, same, take, unsupported, with_number, with_type};
use crate::{AttrValue, CpuCall, Forms, HostArguments, MetadataCall, OpAttrs, OpRegistry, OpResult};

static ME: Accessor = Accessor::new("tfrt_test op");

fn same_of_two(call: MetadataCall<'_>) -> Described {
    let [left, right] = call.take()?;
    if left != right {
        return Err(Diagnostic::invalid_argument(format!(
            "arguments to element-wise op must have identical shapes: {left} and {right}"
        )));
    }
    one(left.clone())
}

fn shape_attr(call: &MetadataCall<'_>) -> Result<TensorShape, Diagnostic> {
    TensorShape::from_signed(call.attrs.required::<&[i64]>("shape")?)
}

fn create_from_scalar_metadata(call: MetadataCall<'_>) -> Described {
    call.take::<0>()?;
    let shape = call.attrs.optional::<&[i64]>("shape")?;
    // Existing programs expect these texts.
    let shape = shape.ok_or_else(|| missing("shape"))?;
    let Some(AttrValue::Scalar(dtype, _)) = call.attrs.get("value") else { return Err(missing("value")) };
    one(TensorMetadata::new(dtype, TensorShape::from_signed(shape)?))
}

fn missing(attribute: &str) -> Diagnostic {
    Diagnostic::invalid_argument(format!("tfrt_test.create_from_scalar must have '{attribute}' attribute"))
}

fn create_from_scalar(call: CpuCall<'_>) -> Computed {
    let metadata = call.result(0)?;
    let Some(AttrValue::Scalar(dtype, bytes)) = call.attrs.get("value") else { return Err(missing("value")) };
    with_element!(
        dtype,
        |T| {
            let value: T = bytemuck::checked::try_pod_read_unaligned(bytes)
                .map_err(|error| Diagnostic::invalid_argument(format!("'value' is no {dtype}: {error}")))?;
            Ok(ScalarHostTensor::new(metadata.shape.clone(), value).into())
        },
        else Err(unsupported("tfrt_test.create_from_scalar", dtype))
    )
}

fn create_dense_metadata(call: MetadataCall<'_>) -> Described {
    call.take::<0>()?;
    let shape = shape_attr(&call)?;
    let Some(AttrValue::Array(dtype, bytes)) = call.attrs.get("values") else {
        return Err(Diagnostic::invalid_argument("attribute 'values' must be there and an array"));
    };
    let size = dtype.size().ok_or_else(|| unsupported("tfrt_test.create_dense_tensor", dtype))?;
    let count = bytes.len() / size;
    if count != 1 && count != shape.num_elements()? {
        let message =
            format!("size of 'values' must either be 1 or match num of elements: {count} for {shape}");
        return Err(Diagnostic::invalid_argument(message));
    }
    one(TensorMetadata::new(dtype, shape))
}

fn create_dense(call: CpuCall<'_>) -> Computed {
    let mut tensor = call.allocate(0)?;
    fill_from_values(&mut tensor, call.attrs)?;
    Ok(tensor.into())
}

/// Sets a new tensor's elements to those of attribute `values`.
pub(super) fn fill_from_values(tensor: &mut DenseHostTensor, attrs: &OpAttrs) -> Result<(), Diagnostic> {
    let Some(AttrValue::Array(dtype, bytes)) = attrs.get("values") else {
        return Err(Diagnostic::internal("the metadata function let a wrong attribute pass"));
    };
    with_element!(
        dtype,
        |T| {
            let values: &[T] = bytemuck::checked::try_cast_slice(bytes)
                .map_err(|error| Diagnostic::invalid_argument(format!("'values' holds no {dtype}: {error}")))?;
            crate::kernels::fill(tensor, values)
        },
        else Err(unsupported("tfrt_test.create_dense_tensor", dtype))
    )
}

fn create_coo_metadata(call: MetadataCall<'_>) -> Described {
    let [indices, values] = call.take()?;
    let shape = shape_attr(&call)?;
    let fits = indices.shape.fixed::<2>()?.0[1] == shape.rank() && values.shape.rank() == 1;
    if !fits {
        let message =
            format!("indices {indices} and values {values} do not fit a sparse tensor of shape {shape}");
        return Err(Diagnostic::invalid_argument(message));
    }
    one(TensorMetadata::new(values.dtype, shape))
}

fn create_coo(call: CpuCall<'_>) -> Computed {
    let [indices, values] = call.dense()?;
    let shape = call.result(0)?.shape.clone();
    Ok(CooHostTensor::new(shape, indices.clone(), values.clone())?.into())
}

fn matmul_metadata(call: MetadataCall<'_>) -> Described {
    let [left, right] = call.take()?;
    if left.dtype != right.dtype {
        return Err(Diagnostic::invalid_argument("incompatible dtypes for MatMul"));
    }
    let [m, k] = oriented(left, call.attrs.required("transpose_a")?)?;
    let [inner, n] = oriented(right, call.attrs.required("transpose_b")?)?;
    if k != inner {
        let message =
            format!("matmul arguments have incompatible shapes: {} and {}", left.shape, right.shape);
        return Err(Diagnostic::invalid_argument(message));
    }
    one(TensorMetadata::new(left.dtype, [m, n]))
}

fn oriented(matrix: &TensorMetadata, transposed: bool) -> Result<[usize; 2], Diagnostic> {
    let [rows, columns] = matrix.shape.fixed::<2>()?.0;
    Ok(if transposed { [columns, rows] } else { [rows, columns] })
}

fn matmul(call: CpuCall<'_>) -> Computed {
    let [left, right] = call.dense()?;
    let transpose = [call.attrs.required("transpose_a")?, call.attrs.required("transpose_b")?];
    let [m, k] = oriented(left.metadata(), transpose[0])?;
    let [_, n] = oriented(right.metadata(), transpose[1])?;
    let layout = |transposed, rows, columns| {
        if transposed { Layout::transposed(rows, columns) } else { Layout::row_major(rows, columns) }
    };
    let out = call.allocate(0)?;
    with_type!(
        left.dtype(),
        "tfrt_test.matmul",
        |T| {
            let plan = MatMul::new(m, k, n, workers(call.cx))
                .and_then(|plan| plan.operands(layout(transpose[0], m, k), layout(transpose[1], k, n)))
                .map(|plan| plan.scaled(1 as T, 0 as T));
            let reads = (left.read_owned::<T>(&ME)?, right.read_owned::<T>(&ME)?);
            let operands = (reads, out.write_owned::<T>(&ME)?);
            let product = HostTensor::from(out.clone());
            run(call.cx, plan, operands, |(a, b)| MatMulInput::new(a, b), |c| c, product).map(OpResult::from)
        },
        F32 f32,
        F64 f64,
        I32 i32,
        I64 i64
    )
}

fn relu(call: CpuCall<'_>) -> Computed {
    with_number!(call.result(0)?.dtype, "tfrt_test.relu", |T| map::<T>(&call, &ME, ops::relu))
}

fn add(call: CpuCall<'_>) -> Computed {
    with_number!(call.result(0)?.dtype, "tfrt_test.add", |T| binary::<T>(&call, &ME, ops::add))
}

fn equal(call: CpuCall<'_>) -> Computed {
    with_number!(call.result(0)?.dtype, "tfrt_test.equal", |T| {
        let truth = |x: T, y: T| <bool as CastTo<T>>::cast_to(x == y);
        combine::<T, T>(&call, &ME, truth)
    })
}

fn cast_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    let dtype = match call.attrs.required("type")? {
        "f32" => DType::F32,
        "f16" => DType::F16,
        other => {
            return Err(Diagnostic::invalid_argument(format!("cannot cast to {other}, only to f32 and f16")));
        }
    };
    one(TensorMetadata::new(dtype, argument.shape.clone()))
}

fn cast(call: CpuCall<'_>) -> Computed {
    let [argument] = call.dense()?;
    let to = call.result(0)?.dtype;
    with_number!(argument.dtype(), "tfrt_test.cast", |T| match to {
        DType::F16 => unary(&call, &ME, <T as CastTo<f16>>::cast_to),
        _ => unary(&call, &ME, <T as CastTo<f32>>::cast_to),
    })
}

fn broadcast_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    let shape = shape_attr(&call)?;
    if shape.rank() != 2 || argument.shape.dims() != &shape.dims()[1..] {
        let message = format!("input dimension and target shape mismatch: {} to {shape}", argument.shape);
        return Err(Diagnostic::invalid_argument(message));
    }
    one(TensorMetadata::new(argument.dtype, shape))
}

fn broadcast(call: CpuCall<'_>) -> Computed {
    let [argument] = call.dense()?;
    let out = call.allocate(0)?;
    let rows = out.shape().dims()[0];
    with_number!(argument.dtype(), "tfrt_test.broadcast", |T| {
        let plan = Binary::new(|x: T, (): ()| x, argument.shape().dims(), &[rows, 1]);
        let operands = ((argument.read_owned::<T>(&ME)?, vec![(); rows]), out.write_owned::<T>(&ME)?);
        let result = HostTensor::from(out.clone());
        run(call.cx, plan, operands, |(x, rows)| (x, rows), |out| out, result).map(OpResult::from)
    })
}

/// The shape without the axis of attribute `axis`, and the axis.
fn reduced(call: &MetadataCall<'_>) -> Result<(DType, TensorShape), Diagnostic> {
    let [argument] = call.take()?;
    let axis = axis(call.attrs, argument.shape.rank())?;
    let mut dims = argument.shape.dims().to_vec();
    dims.remove(axis);
    Ok((argument.dtype, TensorShape::new(&dims)?))
}

fn axis(attrs: &crate::OpAttrs, rank: usize) -> Result<usize, Diagnostic> {
    let axis: i32 = attrs.required("axis")?;
    usize::try_from(axis).ok().filter(|&axis| axis < rank).ok_or_else(|| {
        Diagnostic::invalid_argument(format!("axis must less than input rank: {axis} of {rank}"))
    })
}

fn argmax_metadata(call: MetadataCall<'_>) -> Described {
    one(TensorMetadata::new(DType::I32, reduced(&call)?.1))
}

fn argmax(call: CpuCall<'_>) -> Computed {
    let [argument] = call.dense()?;
    let out = call.allocate(0)?;
    let axis = axis(call.attrs, argument.shape().rank())?;
    with_number!(argument.dtype(), "tfrt_test.argmax", |T| {
        let plan = ArgExtreme::<T, i32>::argmax(argument.shape().dims(), axis);
        let operands = (argument.read_owned::<T>(&ME)?, out.write_owned::<i32>(&ME)?);
        run(call.cx, plan, operands, |x| x, |out| out, HostTensor::from(out.clone())).map(OpResult::from)
    })
}

fn reduce_mean_metadata(call: MetadataCall<'_>) -> Described {
    let (dtype, shape) = reduced(&call)?;
    one(TensorMetadata::new(dtype, shape))
}

fn reduce_mean(call: CpuCall<'_>) -> Computed {
    let [argument] = call.dense()?;
    let out = call.allocate(0)?;
    let axis = axis(call.attrs, argument.shape().rank())?;
    with_number!(argument.dtype(), "tfrt_test.reduce_mean", |T| {
        let plan = Reduce::<T, Mean>::new(argument.shape().dims(), &[axis]);
        let operands = (argument.read_owned::<T>(&ME)?, out.write_owned::<T>(&ME)?);
        run(call.cx, plan, operands, |x| x, |out| out, HostTensor::from(out.clone())).map(OpResult::from)
    })
}

/// The odd ones among integers: how many there are is known only when they are counted.
fn odd_collector(call: CpuCall<'_>) -> Computed {
    let [argument] = call.dense()?;
    argument.shape().fixed::<1>()?;
    let odd: Vec<i32> = argument.read::<i32>(&ME)?.iter().copied().filter(|value| value & 1 == 1).collect();
    Ok(DenseHostTensor::from_vec([odd.len()], odd)?.into())
}

fn print(call: CpuCall<'_>) -> Computed {
    for argument in call.arguments {
        let text = argument.print(&ME)?;
        call.cx.host().print(format_args!("{text}\n"));
    }
    Ok(Chain.into())
}

fn print_address(call: CpuCall<'_>) -> Computed {
    for argument in call.arguments {
        match argument {
            HostTensor::Dense(dense) => {
                let address = dense.buffer().as_ptr();
                call.cx.host().print(format_args!("DenseHostTensor: buffer={address:p}\n"));
            }
            _ => call.cx.host().print(format_args!("Unsupported tensor type\n")),
        }
    }
    Ok(Chain.into())
}

fn identity(call: CpuCall<'_>) -> Computed {
    let [argument] = take(&call)?;
    Ok(argument.clone().into())
}

/// The argument, but later.
fn async_noop(call: CpuCall<'_>) -> Computed {
    let [argument] = take(&call)?;
    let argument = argument.clone();
    Ok(call.cx.spawn(move || Ok(argument)).into())
}

fn error_tensor(call: CpuCall<'_>) -> Computed {
    let error = call.cx.emit(Diagnostic::from("error from test.error.tensor implementation"));
    let tensor = AsyncValueRef::<HostTensor>::from_error(error).into_untyped();
    Ok(OpResult { tensors: smallvec![tensor], done: None })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tfrt_test.create_from_scalar").metadata(create_from_scalar_metadata).cpu(create_from_scalar);
    ops.add("tfrt_test.create_dense_tensor")
        .metadata(create_dense_metadata)
        .cpu(create_dense)
        .device(on_device::create_dense);
    ops.add("tfrt_test.create_coo_tensor").metadata(create_coo_metadata).cpu(create_coo);
    ops.add("tfrt_test.matmul").metadata(matmul_metadata).cpu(matmul);
    ops.add("tfrt_test.relu").metadata(same).cpu(relu);
    ops.add("tfrt_test.add").metadata(same_of_two).cpu(add).forms(Forms::SCALAR).device(on_device::add);
    for name in ["tfrt_test.add.denseonly", "tfrt_test.add.denseonly2", "tfrt_test.add.denseonly3"] {
        ops.add(name).metadata(same_of_two).cpu(add);
    }
    ops.add("tfrt_test.equal").metadata(same_of_two).cpu(equal);
    ops.add("tfrt_test.cast").metadata(cast_metadata).cpu(cast);
    ops.add("tfrt_test.broadcast").metadata(broadcast_metadata).cpu(broadcast);
    ops.add("tfrt_test.argmax").metadata(argmax_metadata).cpu(argmax);
    ops.add("tfrt_test.reduce_mean").metadata(reduce_mean_metadata).cpu(reduce_mean);
    ops.add("tfrt_test.odd_collector").cpu(odd_collector);
    ops.add("tfrt_test.print")
        .cpu(print)
        .forms(Forms::ANY)
        .device_with(on_device::print, HostArguments::ANY)
        .external();
    ops.add("tfrt_test.print_address").cpu(print_address).forms(Forms::ANY).external();
    ops.add("tfrt_test.identity").cpu(identity).forms(Forms::ANY);
    ops.add("tfrt_test.identity_dense_only").cpu(identity);
    ops.add("tfrt_test.async.noop").metadata(same).cpu(async_noop).forms(Forms::SCALAR);
    ops.add("tfrt_test.async.noop_no_md").cpu(async_noop).forms(Forms::SCALAR);
    ops.add("tfrt_test.error.tensor").metadata(same).cpu(error_tensor).forms(Forms::SCALAR);
}
