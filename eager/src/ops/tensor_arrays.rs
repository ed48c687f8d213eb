//! Arrays of tensors that have gradients, or elements of different shapes. `TensorListReserve` and
//! related ops do without state; a gradient, however, is collected under the array's name by every op
//! that reads the array.
//!
//! An array's flow is a number that orders the ops on the array and has no other meaning.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::{AsyncValue, Chain, DType, Diagnostic};
use tfrt_tensor::{
    Accessor, DenseHostTensor, Element, HostTensor, PartialTensorShape, TensorMetadata, TensorShape,
};

use super::list::count;
use super::request_state::{Store, name_in};
use super::support::{
    Computed, allocate, integer, integers, invalid, product, room_for, take, with_number_or_complex,
};
use super::types;
use crate::{CpuCall, Forms, OpRegistry, OpResult, ResultType, attr};

static ME: Accessor = Accessor::new("tf op of arrays of tensors");

type Shared = Arc<Mutex<Array>>;

struct Array {
    dtype: DType,
    grows: bool,
    elements: Vec<Option<HostTensor>>,
    /// The array whose gradient this is. What is written to a place of a gradient is added up.
    forward: Option<Shared>,
}

fn find(call: &CpuCall<'_>, handle: &HostTensor) -> Result<Shared, Diagnostic> {
    let name = name_in(handle)?;
    Store::find(call.cx, &name).ok_or_else(|| invalid(format!("there is no array '{name}'")))
}

/// The results of an op on an array.
fn done(tensors: impl IntoIterator<Item = HostTensor>) -> OpResult {
    OpResult { tensors: tensors.into_iter().map(AsyncValue::new).collect(), done: Some(Chain.into()) }
}

fn flow(call: &CpuCall<'_>) -> Computed {
    let flow = DenseHostTensor::full(TensorShape::scalar(), 0.0f32, call.cx.host().allocator())?;
    Ok(done([flow.into()]))
}

impl Array {
    fn write(&mut self, call: &CpuCall<'_>, index: i64, value: HostTensor) -> Result<(), Diagnostic> {
        if value.dtype() != self.dtype {
            let message = format!("the array is of {}, its new element of {}", self.dtype, value.dtype());
            return Err(invalid(message));
        }
        let len = self.elements.len();
        let place = usize::try_from(index).ok().filter(|&place| self.grows || place < len);
        let place = place.ok_or_else(|| {
            invalid(format!("Tried to write to index {index} but array is not resizeable and size is: {len}"))
        })?;
        if place >= len {
            let missing = place.saturating_add(1) - len;
            self.elements.try_reserve(missing).map_err(|_| invalid("the array is too large"))?;
            self.elements.resize(place + 1, None);
        }
        let value = match &self.elements[place] {
            Some(earlier) if self.forward.is_some() => sum(call, earlier, &value)?,
            _ => value,
        };
        self.elements[place] = Some(value);
        Ok(())
    }

    /// Returns an element. One of a gradient that nothing was added to is zero, and so is one that
    /// was never set if its shape is known.
    fn read(&self, call: &CpuCall<'_>, index: i64) -> Result<HostTensor, Diagnostic> {
        let len = self.elements.len();
        let place = usize::try_from(index).ok().filter(|&place| place < len);
        let place = place
            .ok_or_else(|| invalid(format!("Tried to read from index {index} but array size is: {len}")))?;
        if let Some(element) = &self.elements[place] {
            return Ok(element.clone());
        }
        let forward = self.forward.as_ref().and_then(|forward| {
            let forward = forward.lock();
            Some(forward.elements.get(place)?.as_ref()?.shape().clone())
        });
        let shape = match (forward, call.attrs.optional::<&PartialTensorShape>("shape")?) {
            (Some(shape), _) => shape,
            (None, Some(shape)) if shape.is_known() => shape.to_shape()?,
            _ => {
                let message = format!("Could not read index {place}: it has not been written to");
                return Err(invalid(message));
            }
        };
        let zeros =
            DenseHostTensor::allocate(TensorMetadata::new(self.dtype, shape), call.cx.host().allocator())?;
        Ok(zeros.into())
    }

    /// Returns the elements at these places.
    fn elements_at(
        &self,
        call: &CpuCall<'_>,
        places: impl ExactSizeIterator<Item = i64>,
    ) -> Result<Vec<DenseHostTensor>, Diagnostic> {
        let mut elements = room_for(places.len())?;
        for place in places {
            elements.push(self.read(call, place)?.dense()?.clone());
        }
        Ok(elements)
    }
}

/// Returns the sum of two tensors of the same shape.
fn sum(call: &CpuCall<'_>, a: &HostTensor, b: &HostTensor) -> Result<HostTensor, Diagnostic> {
    fn add<T: Element>(
        to: &DenseHostTensor,
        from: &DenseHostTensor,
        f: fn(T, T) -> T,
    ) -> Result<(), Diagnostic> {
        let (mut to, from) = (to.write::<T>(&ME)?, from.read::<T>(&ME)?);
        tfrt_math::zip_in_place(&mut to, &from, f);
        Ok(())
    }
    if a.shape() != b.shape() {
        let message = format!("gradients of shapes {} and {} are added up", a.shape(), b.shape());
        return Err(invalid(message));
    }
    let total = b.dense()?.deep_copy(&ME, call.cx.host().allocator())?;
    let other = a.dense()?;
    with_number_or_complex!(
        total.dtype(),
        "tfrt.ArrayWrite",
        |T| add::<T>(&total, other, tfrt_math::ops::add),
        add::<T>(&total, other, |x, y| x + y)
    )?;
    Ok(total.into())
}

/// Returns the elements of all parts, one part after the other, as a tensor of this shape.
fn joined(
    call: &CpuCall<'_>,
    (dtype, dims): (DType, &[usize]),
    parts: &[DenseHostTensor],
) -> Result<HostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(dtype, TensorShape::new(dims)?);
    let out = DenseHostTensor::allocate(metadata, call.cx.host().allocator())?;
    let count: usize = parts.iter().map(DenseHostTensor::num_elements).sum();
    if count != out.num_elements() || parts.iter().any(|part| part.dtype() != dtype) {
        return Err(invalid("the elements of an array have different shapes or types"));
    }
    let mut to = out.write_bytes(&ME)?;
    let mut place = 0;
    for part in parts {
        let from = part.read_bytes(&ME)?;
        to[place..][..from.len()].copy_from_slice(&from);
        place += from.len();
    }
    drop(to);
    Ok(out.into())
}

/// Returns rows of a tensor, as a tensor of this shape.
fn rows(
    call: &CpuCall<'_>,
    value: &DenseHostTensor,
    start: usize,
    dims: &[usize],
) -> Result<HostTensor, Diagnostic> {
    let part = allocate(call, value.dtype(), dims)?;
    let each = value.dtype().size().unwrap_or(0);
    let from = value.read_bytes(&ME)?;
    let from = start.checked_mul(each).and_then(|start| from.get(start..)?.get(..part.size_bytes()));
    let from = from.ok_or_else(|| invalid("the parts are larger than the tensor"))?;
    part.write_bytes(&ME)?.copy_from_slice(from);
    Ok(part.into())
}

fn create(call: CpuCall<'_>) -> Computed {
    let [handle, size] = take(&call)?;
    let size = count(size, "size")?;
    let mut elements = room_for(size)?;
    elements.resize(size, None);
    let (dtype, grows) =
        (call.attrs.required("dtype")?, call.attrs.optional("dynamic_size")?.unwrap_or(false));
    let array = Array { dtype, grows, elements, forward: None };
    Store::insert(call.cx, &name_in(handle)?, array);
    flow(&call)
}

/// Makes the gradient of an array, if there is none of this name.
fn gradient(call: CpuCall<'_>) -> Computed {
    let [handle, gradient, _] = take(&call)?;
    let (name, forward) = (name_in(gradient)?, find(&call, handle)?);
    let is_known = Store::<Array>::find(call.cx, &name)
        .is_some_and(|known| known.lock().forward.as_ref().is_some_and(|own| Arc::ptr_eq(own, &forward)));
    if !is_known {
        let (dtype, size) = {
            let forward = forward.lock();
            (forward.dtype, forward.elements.len())
        };
        let mut elements = room_for(size)?;
        elements.resize(size, None);
        let array = Array { dtype, grows: false, elements, forward: Some(forward) };
        Store::insert(call.cx, &name, array);
    }
    flow(&call)
}

fn write(call: CpuCall<'_>) -> Computed {
    let [handle, index, value, _] = take(&call)?;
    find(&call, handle)?.lock().write(&call, integer(index, "index")?, value.clone())?;
    flow(&call)
}

fn read(call: CpuCall<'_>) -> Computed {
    let [handle, index, _] = take(&call)?;
    let element = find(&call, handle)?.lock().read(&call, integer(index, "index")?)?;
    Ok(done([element]))
}

fn gather(call: CpuCall<'_>) -> Computed {
    let [handle, indices, _] = take(&call)?;
    let array = find(&call, handle)?;
    let array = array.lock();
    let elements = array.elements_at(&call, integers(indices, "indices")?.into_iter())?;
    let known = call.attrs.optional::<&PartialTensorShape>("shape")?;
    let dims = match (elements.first(), known) {
        (Some(first), _) => first.shape().dims().to_vec(),
        (None, Some(shape)) if shape.is_known() => shape.to_shape()?.dims().to_vec(),
        (None, _) => return Err(invalid("the shape of the elements of an empty array is not known")),
    };
    if elements.iter().any(|element| element.shape().dims() != dims) {
        return Err(invalid("the elements of an array have different shapes"));
    }
    let dims = [&[elements.len()], &dims[..]].concat();
    Ok(done([joined(&call, (array.dtype, &dims), &elements)?]))
}

fn scatter(call: CpuCall<'_>) -> Computed {
    let [handle, indices, value, _] = take(&call)?;
    let (indices, value) = (integers(indices, "indices")?, value.dense()?);
    let Some((&row_count, dims)) = value.shape().dims().split_first() else {
        return Err(invalid("the elements of an array are rows of a tensor, not a scalar"));
    };
    if row_count != indices.len() {
        let message = format!("{} indices are given for {row_count} elements", indices.len());
        return Err(invalid(message));
    }
    let array = find(&call, handle)?;
    let mut array = array.lock();
    for (row, index) in indices.into_iter().enumerate() {
        let element = rows(&call, value, row * product(dims), dims)?;
        array.write(&call, index, element)?;
    }
    flow(&call)
}

fn concat(call: CpuCall<'_>) -> Computed {
    let [handle, _] = take(&call)?;
    let array = find(&call, handle)?;
    let array = array.lock();
    let places = (0..array.elements.len()).map(|place| place as i64);
    let elements = array.elements_at(&call, places)?;
    let (mut lengths, mut inner): (Vec<i64>, Option<&[usize]>) = (room_for(elements.len())?, None);
    for element in &elements {
        let Some((&length, rest)) = element.shape().dims().split_first() else {
            return Err(invalid("scalars cannot be joined"));
        };
        if inner.is_some_and(|inner| inner != rest) {
            return Err(invalid("the elements of an array have different shapes"));
        }
        inner = Some(rest);
        lengths.push(length as i64);
    }
    let total: usize = elements.iter().filter_map(|element| element.shape().dims().first()).sum();
    let dims = [&[total], inner.unwrap_or_default()].concat();
    let value = joined(&call, (array.dtype, &dims), &elements)?;
    let shape = TensorShape::new(&[lengths.len()])?;
    let lengths = DenseHostTensor::from_slice(shape, &lengths, call.cx.host().allocator())?;
    Ok(done([value, lengths.into()]))
}

fn split(call: CpuCall<'_>) -> Computed {
    let [handle, value, lengths, _] = take(&call)?;
    let (value, lengths) = (value.dense()?, integers(lengths, "lengths")?);
    let Some((&total, inner)) = value.shape().dims().split_first() else {
        return Err(invalid("a scalar cannot be split"));
    };
    let sum = lengths.iter().try_fold(0i64, |sum, &length| sum.checked_add(length));
    if lengths.iter().any(|&length| length < 0)
        || sum.and_then(|sum| usize::try_from(sum).ok()) != Some(total)
    {
        return Err(invalid(format!("the lengths {lengths:?} do not add up to {total}")));
    }
    let array = find(&call, handle)?;
    let mut array = array.lock();
    let mut start = 0;
    for (index, length) in (0..).zip(lengths) {
        let dims = [&[usize::try_from(length).unwrap_or(0)], inner].concat();
        array.write(&call, index, rows(&call, value, start, &dims)?)?;
        start += product(&dims);
    }
    flow(&call)
}

fn size(call: CpuCall<'_>) -> Computed {
    let [handle, _] = take(&call)?;
    let len = find(&call, handle)?.lock().elements.len();
    let len = i32::try_from(len).map_err(|_| invalid("the array is too large"))?;
    let size = DenseHostTensor::full(TensorShape::scalar(), len, call.cx.host().allocator())?;
    Ok(done([size.into()]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const FLOW: [ResultType; 1] = [ResultType::is(DType::F32).rank(0)];
    let element = || [attr::dtype("dtype"), attr::shape("shape").optional()];
    ops.add("tfrt.Array")
        .types(types::ANY)
        .attrs([attr::dtype("dtype"), attr::boolean_or("dynamic_size", false)])
        .results(FLOW)
        .cpu(create)
        .forms(Forms::STRING)
        .writes(0);
    ops.add("tfrt.ArrayGradient")
        .types(types::ANY)
        .results(FLOW)
        .cpu(gradient)
        .forms(Forms::STRING)
        .reads(0)
        .writes(1);
    ops.add("tfrt.ArrayWrite").types(types::ANY).results(FLOW).cpu(write).forms(Forms::STRING).writes(0);
    ops.add("tfrt.ArrayRead")
        .types(types::ANY)
        .attrs(element())
        .results([ResultType::named("dtype")])
        .cpu(read)
        .forms(Forms::STRING)
        .reads(0);
    ops.add("tfrt.ArrayGather")
        .types(types::ANY)
        .attrs(element())
        .results([ResultType::named("dtype")])
        .cpu(gather)
        .forms(Forms::STRING)
        .reads(0);
    ops.add("tfrt.ArrayScatter").types(types::ANY).results(FLOW).cpu(scatter).forms(Forms::STRING).writes(0);
    ops.add("tfrt.ArrayConcat")
        .types(types::ANY)
        .attrs(element())
        .results([ResultType::named("dtype"), ResultType::is(DType::I64).rank(1)])
        .cpu(concat)
        .forms(Forms::STRING)
        .reads(0);
    ops.add("tfrt.ArraySplit").types(types::ANY).results(FLOW).cpu(split).forms(Forms::STRING).writes(0);
    ops.add("tfrt.ArraySize")
        .types(types::ANY)
        .results([ResultType::is(DType::I32).rank(0)])
        .cpu(size)
        .forms(Forms::STRING)
        .reads(0);
}
