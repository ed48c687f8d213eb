//! Lists of tensors of strings. A list is a tensor of strings, as lists of numbers are dense
//! tensors.

use bstr::BString;
use tfrt_host::{AsyncValue, Diagnostic};
use tfrt_tensor::{HostTensor, StringHostTensor, TensorShape};

use super::list::{check_element, count, element_dims, given_dims, parts, place, read_dims};
use super::strings::strings;
use super::support::{Computed, integer, integers, product, room_for, take};
use crate::{CpuCall, OpResult};

/// A list of `count` elements of a shape: the first ones are those of another list, the others are
/// empty.
fn extended(list: &HostTensor, count: usize, dims: &[usize]) -> Result<Vec<BString>, Diagnostic> {
    let total = count.saturating_mul(product(dims));
    let mut elements = room_for(total)?;
    // If the size of the elements changes, none was ever set.
    if parts(list.shape())?.1 == dims {
        elements.extend(strings(list)?.strings().iter().take(total).cloned());
    }
    elements.resize(total, BString::default());
    Ok(elements)
}

fn list_of(elements: Vec<BString>, count: usize, dims: &[usize]) -> Result<HostTensor, Diagnostic> {
    Ok(StringHostTensor::new(TensorShape::new(&[&[count], dims].concat())?, elements)?.into())
}

/// A list of elements that are not set.
pub(super) fn unset(shape: &HostTensor, count: usize) -> Computed {
    let dims = given_dims(shape)?;
    let total = count.saturating_mul(product(&dims));
    let mut elements = room_for(total)?;
    elements.resize(total, BString::default());
    Ok(list_of(elements, count, &dims)?.into())
}

/// A list with one element set. `grows` says that it may be beyond the end.
pub(super) fn set_item(call: &CpuCall<'_>, grows: bool) -> Computed {
    let [list, index, item] = take(call)?;
    check_element(list.metadata(), item.metadata())?;
    let len = parts(list.shape())?.0;
    let count = if grows { len.max(count(index, "index")?.saturating_add(1)) } else { len };
    let (place, dims) = (place(integer(index, "index")?, count)?, item.shape().dims());
    with_item(list, item, (place, count), dims)
}

pub(super) fn push_back(call: &CpuCall<'_>) -> Computed {
    let [list, item] = take(call)?;
    let place = parts(list.shape())?.0;
    with_item(list, item, (place, place.saturating_add(1)), item.shape().dims())
}

fn with_item(
    list: &HostTensor,
    item: &HostTensor,
    (place, count): (usize, usize),
    dims: &[usize],
) -> Computed {
    let mut elements = extended(list, count, dims)?;
    let unit = product(dims);
    elements[place * unit..][..unit].clone_from_slice(strings(item)?.strings());
    Ok(list_of(elements, count, dims)?.into())
}

/// The elements at these places behind each other.
fn gathered(
    list: &HostTensor,
    places: impl ExactSizeIterator<Item = usize>,
    dims: &[usize],
) -> Result<Vec<BString>, Diagnostic> {
    let unit = product(dims);
    let total = places.len().saturating_mul(unit);
    let mut elements = room_for(total)?;
    if parts(list.shape())?.1 == dims {
        let all = strings(list)?.strings();
        places.for_each(|place| elements.extend_from_slice(&all[place * unit..][..unit]));
    }
    elements.resize(total, BString::default());
    Ok(elements)
}

pub(super) fn get_item(call: &CpuCall<'_>) -> Computed {
    let [list, index, shape] = take(call)?;
    let dims = read_dims(list.shape(), shape)?;
    let place = place(integer(index, "index")?, parts(list.shape())?.0)?;
    let elements = gathered(list, std::iter::once(place), &dims)?;
    Ok(HostTensor::from(StringHostTensor::new(TensorShape::new(&dims)?, elements)?).into())
}

pub(super) fn gather(call: &CpuCall<'_>) -> Computed {
    let [list, indices, shape] = take(call)?;
    let (dims, count) = (element_dims(list.shape(), shape)?, parts(list.shape())?.0);
    let places = integers(indices, "indices")?;
    let places = places.iter().map(|&index| place(index, count)).collect::<Result<Vec<_>, _>>()?;
    let count = places.len();
    Ok(list_of(gathered(list, places.into_iter(), &dims)?, count, &dims)?.into())
}

pub(super) fn pop_back(call: &CpuCall<'_>, last: usize) -> Computed {
    let [list, shape] = take(call)?;
    let (dims, known) = (read_dims(list.shape(), shape)?, parts(list.shape())?.1);
    let popped = gathered(list, std::iter::once(last), &dims)?;
    let popped = StringHostTensor::new(TensorShape::new(&dims)?, popped)?;
    let rest = list_of(extended(list, last, known)?, last, known)?;
    Ok(OpResult { tensors: [rest, popped.into()].map(AsyncValue::new).into(), done: None })
}

pub(super) fn resized(list: &HostTensor, count: usize, dims: &[usize]) -> Computed {
    Ok(list_of(extended(list, count, dims)?, count, dims)?.into())
}
