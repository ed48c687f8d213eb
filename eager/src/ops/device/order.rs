//! Ops along one dimension: positions of extremes, the greatest elements, running sums and
//! products.

use smallvec::smallvec;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_launch::{Line, LineOrder, ReductionShape, Scan};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    Queued, count,
    expression::{cast, computed_as, from_ordered, ordered},
    extents,
};
use crate::{
    DeviceCall, DeviceTensor, HostArguments, OpRegistry, OpResult,
    ops::order::{index_type, position_type},
    ops::support::{axis_of, integer, integer_or, invalid},
};

/// Returns the axis that argument 1 names, and a tensor's extents before, along and after it.
fn line(call: &DeviceCall<'_>, x: &DeviceTensor, what: &str) -> Result<(usize, ReductionShape), Diagnostic> {
    let axis = axis_of(integer(call.host(1)?, what)?, x.shape().rank(), what)?;
    Ok((axis, ReductionShape::new(&extents(x), axis..axis + 1)?))
}

fn extreme(call: &DeviceCall<'_>, least: bool) -> Queued {
    let x = call.tensor(0)?;
    let (axis, shape) = line(call, x, "dimension")?;
    let to = position_type(call.attrs)?;
    let mut dims = x.shape().dims().to_vec();
    dims.remove(axis);
    if shape.extent == 0 {
        return Err(invalid(format!("Reduction axis {axis} is empty in shape {}", x.shape())).into());
    }
    let places = call.allocate_as(&TensorMetadata::new(DType::I32, TensorShape::new(&dims)?))?;
    if count(&places) > 0 {
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        let order = if least { LineOrder::Least } else { LineOrder::Greatest };
        let line = Line { count: 1, order };
        let x = match x.dtype() {
            DType::I1 => cast(call, x, DType::I32, false)?,
            _ => ordered(call, x)?,
        };

        kernels.top(stream, line, x.dtype(), None, places.buffer(), x.buffer(), shape)?;
    }
    Ok(cast(call, &places, to, false)?.into())
}

/// Returns the greatest elements of each row. They are always sorted, also for `sorted = false`.
fn top_k(call: &DeviceCall<'_>) -> Queued {
    let (x, k) = (call.tensor(0)?, integer_or(call.host(1)?, "k", DType::I16)?);
    let Some((&columns, outer)) = x.shape().dims().split_last() else {
        return Err(invalid(format!("input must be >= 1-D, got shape {}", x.shape())).into());
    };
    let k = usize::try_from(k).map_err(|_| invalid(format!("Need k >= 0, got {k}")))?;
    if k > columns {
        return Err(invalid(format!("input must have at least k columns. Had {columns}, needed {k}")).into());
    }
    let shape = TensorShape::new(&[outer, &[k]].concat())?;
    let (dtype, x) = (x.dtype(), ordered(call, x)?);
    let values = call.allocate_as(&TensorMetadata::new(x.dtype(), shape.clone()))?;
    let places = call.allocate_as(&TensorMetadata::new(DType::I32, shape))?;
    let last = x.shape().rank() - 1;
    let (line, rows) = (
        Line { count: k as u64, order: LineOrder::Greatest },
        ReductionShape::new(&extents(&x), last..last + 1)?,
    );
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.top(stream, line, x.dtype(), Some(values.buffer()), places.buffer(), x.buffer(), rows)?;
    let values = from_ordered(call, &values, dtype)?;
    let places = cast(call, &places, index_type(call.attrs)?, false)?;
    Ok(OpResult { tensors: smallvec![AsyncValue::new(values), AsyncValue::new(places)], done: None })
}

fn scan(call: &DeviceCall<'_>, multiplies: bool) -> Queued {
    let x = call.tensor(0)?;
    let (_, shape) = line(call, x, "axis")?;
    let flag = |name| Ok::<bool, Diagnostic>(call.attrs.optional(name)?.unwrap_or(false));
    let scan = Scan { multiplies, exclusive: flag("exclusive")?, reverse: flag("reverse")? };
    let wide = cast(call, x, computed_as(x.dtype()), false)?;
    let y = call.allocate_as(wide.metadata())?;
    call.queue.kernels().scan(call.queue.stream(), scan, y.dtype(), y.buffer(), wide.buffer(), shape)?;
    Ok(cast(call, &y, x.dtype(), false)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let second = HostArguments::at(&[1]);
    ops.extend("tf.ArgMax").device_with(|call| extreme(call, false), second);
    ops.extend("tf.ArgMin").device_with(|call| extreme(call, true), second);
    ops.extend("tf.TopKV2").device_with(top_k, second);
    ops.extend("tf.Cumsum").device_with(|call| scan(call, false), second);
    ops.extend("tf.Cumprod").device_with(|call| scan(call, true), second);
}
