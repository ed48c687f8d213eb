//! Copies of whole units of a tensor, such as the slices that indices select.

use tfrt_tensor::{Accessor, BString, HostTensor, StringHostTensor, TensorShape, with_bits};

use super::moves::no_memory_form;
use super::support::{Computed, Output, allocate, compute};
use crate::CpuCall;

static ME: Accessor = Accessor::new("tf selection");

/// Stands for zeros or empty strings instead of a position.
pub(super) const NOWHERE: usize = usize::MAX;

/// Returns a tensor of whole units of the argument: runs of `unit` elements, of which the first is
/// at `places[i] * unit`, or [`NOWHERE`].
pub(super) fn pick(
    call: &CpuCall<'_>,
    tensor: &HostTensor,
    places: Vec<usize>,
    unit: usize,
    dims: &[usize],
) -> Computed {
    if let HostTensor::String(strings) = tensor {
        let chosen = places.iter().flat_map(|&place| match place {
            NOWHERE => vec![BString::default(); unit],
            place => strings.strings()[place * unit..][..unit].to_vec(),
        });
        return Ok(StringHostTensor::new(TensorShape::new(dims)?, chosen.collect::<Vec<BString>>())?.into());
    }
    let out = allocate(call, tensor.dtype(), dims)?;
    with_bits!(
        tensor.dtype(),
        |T| {
            let x = tensor.dense()?.as_bits().read_owned::<T>(&ME)?;
            compute(call, &ME, Output::Bits(out), (places.len(), unit, unit.max(1)), move |range, out: &mut [T]| {
                copy_units(&x, unit, &places[range], out);
                Ok(())
            })
        },
        else Err(no_memory_form(tensor.dtype()))
    )
}

/// Copies the unit of `x` at each place, or zeros for [`NOWHERE`].
///
/// Short units have loops of their own, because the call that copies any number of elements takes
/// longer than the copy of a few.
fn copy_units<T: Copy + Default>(x: &[T], unit: usize, places: &[usize], out: &mut [T]) {
    match unit {
        0 => {}
        1 => copy_short_units::<T, 1>(x, places, out),
        2 => copy_short_units::<T, 2>(x, places, out),
        3 => copy_short_units::<T, 3>(x, places, out),
        4 => copy_short_units::<T, 4>(x, places, out),
        8 => copy_short_units::<T, 8>(x, places, out),
        16 => copy_short_units::<T, 16>(x, places, out),
        unit => {
            for (out, &place) in out.chunks_exact_mut(unit).zip(places) {
                match place {
                    NOWHERE => out.fill(T::default()),
                    place => out.copy_from_slice(&x[place * unit..][..unit]),
                }
            }
        }
    }
}

/// [`copy_units`] of `N` elements.
fn copy_short_units<T: Copy + Default, const N: usize>(x: &[T], places: &[usize], out: &mut [T]) {
    let (units, _) = x.as_chunks::<N>();
    for (out, &place) in out.as_chunks_mut::<N>().0.iter_mut().zip(places) {
        *out = if place == NOWHERE { [T::default(); N] } else { units[place] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_any_length_are_copied() {
        let places = [3, 0, NOWHERE, 5, 5, 1];
        for unit in 0..20 {
            let x: Vec<u32> = (1..=6 * unit as u32).collect();
            let mut out = vec![u32::MAX; places.len() * unit];
            copy_units(&x, unit, &places, &mut out);
            let at = |place: usize, i: usize| if place == NOWHERE { 0 } else { x[place * unit + i] };
            let expected: Vec<_> =
                places.iter().flat_map(|&place| (0..unit).map(move |i| at(place, i))).collect();
            assert_eq!(out, expected, "{unit}");
        }
    }
}
