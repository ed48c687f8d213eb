//! Attention on devices: two products with a softmax between them.

use tfrt_launch::{Binary, Rows};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    Queued,
    arrays::permuted,
    count,
    expression::{broadcast, scaled, zip},
    linear::product,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        attention::{ATTENTION, Orders},
        elementwise::broadcast_shape,
        support::invalid,
    },
};

/// Returns the product of two batches of matrices, each of which is broadcast. The second is
/// transposed if `transposes` says so.
fn products(
    call: &DeviceCall<'_>,
    [x, y]: [&DeviceTensor; 2],
    transposes: bool,
) -> DeviceOpResult<DeviceTensor> {
    let split = |tensor: &DeviceTensor| {
        let dims = tensor.shape().dims();
        match dims {
            [batch @ .., rows, columns] => Ok((batch.to_vec(), [*rows, *columns])),
            _ => Err(invalid("attention takes tensors of at least 2 dimensions")),
        }
    };
    let ((x_batch, x_last), (y_batch, y_last)) = (split(x)?, split(y)?);
    let batch = broadcast_shape(&TensorShape::new(&x_batch)?, &TensorShape::new(&y_batch)?)?;
    let whole = |tensor, last: [usize; 2]| {
        broadcast(call, tensor, &TensorShape::new(&[batch.dims(), &last].concat())?)
    };
    let (x, y) = (whole(x, x_last)?, whole(y, y_last)?);
    let columns = if transposes { y_last[0] } else { y_last[1] };
    let shape = TensorShape::new(&[batch.dims(), &[x_last[0], columns]].concat())?;
    let out = call.allocate_as(&TensorMetadata::new(x.dtype(), shape))?;
    if count(&out) > 0 {
        product(call, ATTENTION, [false, transposes], [&x, &y], &out)?;
    }
    Ok(out)
}

fn attention(call: &DeviceCall<'_>) -> Queued {
    let Orders { axes: [query_order, key_order, value_order, output_order], scale } = Orders::of(call.attrs)?;
    let queries = permuted(call, call.tensor(0)?, &query_order)?;
    let keys = permuted(call, call.tensor(1)?, &key_order)?;
    let values = permuted(call, call.tensor(2)?, &value_order)?;
    let mut scores = scaled(call, &products(call, [&queries, &keys], true)?, scale.into())?;
    if call.arguments.len() > 3 {
        scores = zip(call, Binary::Add, &scores, call.tensor(3)?)?;
    }
    let columns = scores.shape().dims().last().map_or(1, |&columns| columns as u64);
    let rows = Rows { rows: count(&scores).checked_div(columns).unwrap_or(0), columns };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.softmax(stream, scores.dtype(), false, scores.buffer(), scores.buffer(), rows)?;
    let sums = products(call, [&scores, &values], false)?;
    Ok(permuted(call, &sums, &output_order)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend(ATTENTION).device(attention);
}
