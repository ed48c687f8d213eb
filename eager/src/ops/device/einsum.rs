//! Sums of products, by the same plan as in host memory.

use tfrt_launch::Reduction;
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    Queued,
    arrays::{permuted, reduced},
    expression::{constant, given_back, moved},
    linear::product,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::einsum::{Einsum, Operand},
};

/// A tensor with its axes in another order.
fn in_order(call: &DeviceCall<'_>, x: DeviceTensor, order: &[usize]) -> DeviceOpResult<DeviceTensor> {
    if order.is_sorted() { Ok(x) } else { permuted(call, &x, order) }
}

fn prepared(call: &DeviceCall<'_>, operand: &Operand) -> DeviceOpResult<DeviceTensor> {
    let x = call.tensor(operand.argument)?;
    let mut x = moved(call, x, &operand.diagonal, operand.diagonal.dims())?;
    if !operand.summed.is_empty() {
        x = reduced(call, Reduction::Sum, &x, &operand.summed, false)?;
    }
    Ok(in_order(call, x, &operand.order)?.reshape(&TensorShape::new(&operand.dims)?)?)
}

fn einsum(call: &DeviceCall<'_>) -> Queued {
    let metadata = call.result(0)?;
    let tensors = (0..call.arguments.len()).map(|index| call.tensor(index));
    let shapes = tensors.map(|tensor| Ok(tensor?.shape())).collect::<DeviceOpResult<Vec<_>>>()?;
    let plan = Einsum::new(call.attrs, &shapes)?;
    if shapes.iter().any(|shape| shape.dims().contains(&0)) {
        // Sums of nothing, if there are any.
        return Ok(constant(call, metadata, 0.0)?.into());
    }
    let x = match &*plan.operands {
        [left, right] => {
            let flags = [left.transposed, right.transposed];
            let factors = [&prepared(call, left)?, &prepared(call, right)?];
            let shape = TensorShape::new(&plan.products())?;
            let products = call.allocate_as(&TensorMetadata::new(metadata.dtype, shape))?;
            product(call, "tf.Einsum", flags, factors, &products)?;
            products
        }
        only => prepared(call, &only[0])?,
    };
    let x = in_order(call, x.reshape(&TensorShape::new(&plan.dims)?)?, &plan.order)?;
    match plan.diagonal.is_identity(plan.result.num_elements()?) {
        true => Ok(x.reshape(&plan.result)?.into()),
        false => Ok(given_back(call, &x, &plan.diagonal, &plan.result)?.into()),
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("tf.Einsum").device(einsum);
}
