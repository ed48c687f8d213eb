//! Lists of tensors, which loops of programs fill and read: `tf.TensorListReserve`,
//! `tf.TensorListSetItem` and related ops.
//!
//! A list is a dense tensor whose first dimension counts its elements, so all of them have the same
//! shape. Extents that are unknown when a list is created are zero until an element defines them.
//! Elements that were never set are zeros.

use smallvec::SmallVec;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::shape::numbers;
use super::support::{Computed, Described, int_attr, integer, integers, invalid, one, take};
use super::{string_lists, types};
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf op of lists of tensors");

/// Returns the number of a list's elements, and their extents.
pub(super) fn parts(list: &TensorShape) -> Result<(usize, &[usize]), Diagnostic> {
    let (&count, dims) =
        list.dims().split_first().ok_or_else(|| invalid("a scalar is no list of tensors"))?;
    Ok((count, dims))
}

/// Returns whether these extents match those that a list was created with. An extent of zero is
/// unknown, and a single zero matches any shape.
fn fits(known: &[usize], dims: &[usize]) -> bool {
    let agrees = |(&known, &dim): (&usize, &usize)| known == 0 || known == dim;
    known == [0] || known.len() == dims.len() && known.iter().zip(dims).all(agrees)
}

/// Checks that a tensor may be an element of a list.
pub(super) fn check_element(list: &TensorMetadata, element: &TensorMetadata) -> Result<(), Diagnostic> {
    let (_, dims) = parts(&list.shape)?;
    if list.dtype != element.dtype {
        return Err(invalid(format!("the list is of {}, its new element of {}", list.dtype, element.dtype)));
    }
    if !fits(dims, element.shape.dims()) {
        return Err(invalid(format!(
            "the list has elements of shape {dims:?}, its new element has shape {}",
            element.shape
        )));
    }
    Ok(())
}

/// Returns the count in an argument.
pub(super) fn count(tensor: &HostTensor, what: &str) -> Result<usize, Diagnostic> {
    let value = integer(tensor, what)?;
    usize::try_from(value).map_err(|_| invalid(format!("{what} must not be negative, got {value}")))
}

/// Returns the index in a list of `len` elements that an argument names.
pub(super) fn place(index: i64, len: usize) -> Result<usize, Diagnostic> {
    usize::try_from(index)
        .ok()
        .filter(|&place| place < len)
        .ok_or_else(|| invalid(format!("Trying to access element {index} in a list with {len} elements.")))
}

/// Returns the extents in an argument `element_shape`, with zero for unknown ones.
pub(super) fn given_dims(shape: &HostTensor) -> Result<SmallVec<[usize; 8]>, Diagnostic> {
    let dims = integers(shape, "element_shape")?;
    let extent = |&dim: &i64| match dim {
        -1 => Ok(0),
        dim => usize::try_from(dim).map_err(|_| invalid(format!("element_shape has an extent of {dim}"))),
    };
    match shape.shape().rank() {
        0 if dims[..] != [-1] => Err(invalid("an element_shape that is a scalar must be -1")),
        0 | 1 => dims.iter().map(extent).collect(),
        _ => Err(invalid(format!("element_shape must be a vector, got a tensor of shape {}", shape.shape()))),
    }
}

/// Returns the extents of a list's elements, refined by an argument `element_shape`.
pub(super) fn element_dims(
    list: &TensorShape,
    shape: &HostTensor,
) -> Result<SmallVec<[usize; 8]>, Diagnostic> {
    let ((_, known), given) = (parts(list)?, given_dims(shape)?);
    if fits(&given, known) {
        return Ok(known.into());
    }
    if fits(known, &given) {
        return Ok(given);
    }
    Err(invalid(format!("element_shape is {:?}, the list has elements of shape {known:?}", &given[..])))
}

/// Returns the extents of an element that is read. As in TensorFlow, an element that was set has
/// its own extents, regardless of `element_shape`.
pub(super) fn read_dims(list: &TensorShape, shape: &HostTensor) -> Result<SmallVec<[usize; 8]>, Diagnostic> {
    match parts(list)? {
        (_, known) if known.contains(&0) => element_dims(list, shape),
        (_, known) => Ok(known.into()),
    }
}

/// Returns a list of `count` elements of a shape: the first ones are those of another list, the
/// others zeros.
fn extended(
    call: &CpuCall<'_>,
    list: &DenseHostTensor,
    (count, dims): (usize, &[usize]),
) -> Result<DenseHostTensor, Diagnostic> {
    let out = zeros(call, list.dtype(), count, dims)?;
    // If the size of the elements changes, none was ever set.
    if parts(list.shape())?.1 == dims {
        let (from, mut to) = (list.read_bytes(&ME)?, out.write_bytes(&ME)?);
        let kept = from.len().min(to.len());
        to[..kept].copy_from_slice(&from[..kept]);
    }
    Ok(out)
}

fn zeros(
    call: &CpuCall<'_>,
    dtype: DType,
    count: usize,
    dims: &[usize],
) -> Result<DenseHostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(dtype, TensorShape::new(&[&[count], dims].concat())?);
    DenseHostTensor::allocate(metadata, call.cx.host().allocator())
}

/// Returns a list of elements that are not set.
fn unset(call: &CpuCall<'_>, shape: &HostTensor, count: usize) -> Computed {
    let dtype = call.attrs.required("element_dtype")?;
    if dtype == DType::String {
        return string_lists::unset(shape, count);
    }
    Ok(zeros(call, dtype, count, &given_dims(shape)?)?.into())
}

fn from_tensor_metadata(call: MetadataCall<'_>) -> Described {
    let [tensor, _] = call.take()?;
    parts(&tensor.shape)?;
    one(tensor.clone())
}

fn from_tensor(call: CpuCall<'_>) -> Computed {
    let [tensor, shape] = take(&call)?;
    let ((_, dims), given) = (parts(tensor.shape())?, given_dims(shape)?);
    if !fits(&given, dims) {
        return Err(invalid(format!(
            "element_shape is {:?}, the tensor has elements of shape {dims:?}",
            &given[..]
        )));
    }
    Ok(tensor.clone().into())
}

/// Returns whether an argument is a tensor of strings.
fn has_strings(call: &CpuCall<'_>) -> bool {
    call.arguments.first().is_some_and(|list| list.dtype() == DType::String)
}

/// Returns a list with one element set, which may be beyond its end if an attribute allows it. The
/// list's memory is reused if it has no other user.
fn set_item(call: CpuCall<'_>) -> Computed {
    let [list, index, item] = take(&call)?;
    if has_strings(&call) {
        let grows = call.attrs.optional("resize_if_index_out_of_bounds")?.unwrap_or(false);
        return string_lists::set_item(&call, grows);
    }
    let (list, item) = (list.dense()?, item.dense()?);
    check_element(list.metadata(), item.metadata())?;
    let (len, known) = parts(list.shape())?;
    let count = match call.attrs.optional("resize_if_index_out_of_bounds")? {
        Some(true) => len.max(count(index, "index")?.saturating_add(1)),
        _ => len,
    };
    let (place, dims) = (place(integer(index, "index")?, count)?, item.shape().dims());
    let own = call.reuse_as(0, list.metadata()).filter(|_| (len, known) == (count, dims));
    let out = own.map_or_else(|| extended(&call, list, (count, dims)), Ok)?;
    set(&out, place, item)?;
    Ok(out.into())
}

/// Sets an element, which [`check_element`] accepts.
fn set(list: &DenseHostTensor, place: usize, item: &DenseHostTensor) -> Result<(), Diagnostic> {
    let item = item.read_bytes(&ME)?;
    list.write_bytes(&ME)?[place * item.len()..][..item.len()].copy_from_slice(&item);
    Ok(())
}

fn push_back_metadata(call: MetadataCall<'_>) -> Described {
    let [list, item] = call.take()?;
    check_element(list, item)?;
    let count = parts(&list.shape)?.0.checked_add(1).ok_or_else(|| invalid("the list is full"))?;
    one(TensorMetadata::new(list.dtype, TensorShape::new(&[&[count], item.shape.dims()].concat())?))
}

fn push_back(call: CpuCall<'_>) -> Computed {
    if has_strings(&call) {
        return string_lists::push_back(&call);
    }
    let [list, item] = call.dense()?;
    check_element(list.metadata(), item.metadata())?;
    let (count, _) = parts(list.shape())?;
    let out = extended(&call, list, (count + 1, item.shape().dims()))?;
    set(&out, count, item)?;
    Ok(out.into())
}

/// Returns the elements at these positions, concatenated to a tensor of this shape.
fn gathered(
    call: &CpuCall<'_>,
    list: &DenseHostTensor,
    places: impl Iterator<Item = usize>,
    (count, dims): (usize, &[usize]),
) -> Result<DenseHostTensor, Diagnostic> {
    let out = zeros(call, list.dtype(), count, dims)?;
    let unit = out.size_bytes().checked_div(count).unwrap_or(0);
    if unit != 0 && parts(list.shape())?.1 == dims {
        let (from, mut to) = (list.read_bytes(&ME)?, out.write_bytes(&ME)?);
        for (to, place) in to.chunks_exact_mut(unit).zip(places) {
            to.copy_from_slice(&from[place * unit..][..unit]);
        }
    }
    Ok(out)
}

fn get_item(call: CpuCall<'_>) -> Computed {
    if has_strings(&call) {
        return string_lists::get_item(&call);
    }
    let [list, index, shape] = take(&call)?;
    let (list, dims) = (list.dense()?, read_dims(list.shape(), shape)?);
    let place = place(integer(index, "index")?, parts(list.shape())?.0)?;
    Ok(element(&call, list, place, &dims)?.into())
}

/// Returns one element of a list.
fn element(
    call: &CpuCall<'_>,
    list: &DenseHostTensor,
    place: usize,
    dims: &[usize],
) -> Result<DenseHostTensor, Diagnostic> {
    gathered(call, list, std::iter::once(place), (1, dims))?.reshape(TensorShape::new(dims)?)
}

fn gather(call: CpuCall<'_>) -> Computed {
    if has_strings(&call) {
        return string_lists::gather(&call);
    }
    let [list, indices, shape] = take(&call)?;
    let (list, dims) = (list.dense()?, element_dims(list.shape(), shape)?);
    let (count, _) = parts(list.shape())?;
    let places = integers(indices, "indices")?;
    let places = places.iter().map(|&index| place(index, count)).collect::<Result<Vec<_>, _>>()?;
    let of = (places.len(), &dims[..]);
    Ok(gathered(&call, list, places.into_iter(), of)?.into())
}

fn pop_back(call: CpuCall<'_>) -> Computed {
    let [list, shape] = take(&call)?;
    let (count, known) = parts(list.shape())?;
    let last = count.checked_sub(1).ok_or_else(|| invalid("Trying to pop from an empty list."))?;
    if has_strings(&call) {
        return string_lists::pop_back(&call, last);
    }
    let (list, dims) = (list.dense()?, read_dims(list.shape(), shape)?);
    let popped = element(&call, list, last, &dims)?;
    let rest = extended(&call, list, (last, known))?;
    let tensors = [rest, popped].map(|tensor| AsyncValue::new(HostTensor::from(tensor)));
    Ok(OpResult { tensors: tensors.into(), done: None })
}

/// Returns all elements of a list. They share its memory, unless none was ever set.
fn stack(call: CpuCall<'_>) -> Computed {
    let [list, shape] = take(&call)?;
    let dims = element_dims(list.shape(), shape)?;
    let (count, known) = parts(list.shape())?;
    let expected = int_attr(call.attrs, "num_elements")?.unwrap_or(-1);
    if expected != -1 && usize::try_from(expected) != Ok(count) {
        return Err(invalid(format!(
            "Operation expected a list with {expected} elements but got a list with {count} elements."
        )));
    }
    match known == &dims[..] {
        true => Ok(list.clone().into()),
        false if has_strings(&call) => string_lists::resized(list, count, &dims),
        false => Ok(zeros(&call, list.dtype(), count, &dims)?.into()),
    }
}

fn resize(call: CpuCall<'_>) -> Computed {
    let [list, size] = take(&call)?;
    let (count, (_, dims)) = (count(size, "size")?, parts(list.shape())?);
    if has_strings(&call) {
        return string_lists::resized(list, count, dims);
    }
    Ok(extended(&call, list.dense()?, (count, dims))?.into())
}

fn length_metadata(call: MetadataCall<'_>) -> Described {
    let [list] = call.take()?;
    parts(&list.shape)?;
    one(TensorMetadata::new(DType::I32, TensorShape::scalar()))
}

fn length(call: CpuCall<'_>) -> Computed {
    let [list] = take(&call)?;
    Ok(numbers(call.result(0)?, call.cx, &[parts(list.shape())?.0])?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.TensorListReserve")
        .types(types::ANY)
        .attrs([attr::dtype("element_dtype")])
        .cpu(|call| {
            let [shape, size] = take(&call)?;
            unset(&call, shape, count(size, "num_elements")?)
        })
        .forms(Forms::STRING);
    ops.add("tf.EmptyTensorList")
        .types(types::ANY)
        .attrs([attr::dtype("element_dtype")])
        .cpu(|call| {
            let [shape, _] = take(&call)?;
            unset(&call, shape, 0)
        })
        .forms(Forms::STRING);
    ops.add("tf.TensorListFromTensor")
        .types(types::ANY)
        .metadata(from_tensor_metadata)
        .cpu(from_tensor)
        .forms(Forms::STRING);
    ops.add("tf.TensorListSetItem")
        .types(types::ANY)
        .attrs([attr::boolean_or("resize_if_index_out_of_bounds", false)])
        .cpu(set_item)
        .forms(Forms::STRING);
    ops.add("tf.TensorListPushBack")
        .types(types::ANY)
        .metadata(push_back_metadata)
        .cpu(push_back)
        .forms(Forms::STRING);
    ops.add("tf.TensorListGetItem").types(types::ANY).cpu(get_item).forms(Forms::STRING);
    ops.add("tf.TensorListGather").types(types::ANY).cpu(gather).forms(Forms::STRING);
    ops.add("tf.TensorListPopBack").types(types::ANY).cpu(pop_back).forms(Forms::STRING);
    ops.add("tf.TensorListStack")
        .types(types::ANY)
        .attrs([attr::int_or("num_elements", -1)])
        .cpu(stack)
        .forms(Forms::STRING);
    ops.add("tf.TensorListResize").types(types::ANY).cpu(resize).forms(Forms::STRING);
    ops.add("tf.TensorListLength")
        .types(types::ANY)
        .metadata(length_metadata)
        .cpu(length)
        .forms(Forms::STRING);
}
