//! Ops that compiled models need and no framework has: conditions that must hold, and tables whose
//! entries are constants.

use std::collections::HashMap;

use tfrt_host::{DType, Diagnostic, ErrorCode};
use tfrt_tensor::{Accessor, Element, HostTensor, StringHostTensor, TensorMetadata, with_element};

use super::strings::strings;
use super::support::{
    Computed, Described, check_one, invalid, one, room_for, take, unsupported, value_within,
};
use super::types;
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tfrt.Lookup");

fn first(call: MetadataCall<'_>) -> Described {
    let [value, _] = call.take()?;
    one(value.clone())
}

/// The first argument if the second one is true.
fn require(call: CpuCall<'_>) -> Result<OpResult, Diagnostic> {
    let [value, condition] = take(&call)?;
    if value_within::<bool>(condition, "the condition", 1)? {
        return Ok(value.clone().into());
    }
    Err(Diagnostic::new(ErrorCode::InvalidArgument, call.attrs.required::<&str>("message")?))
}

/// A value for each query.
fn lookup_metadata(call: MetadataCall<'_>) -> Described {
    let [keys, values, queries, default] = call.take()?;
    if keys.shape != values.shape {
        let (keys, values) = (&keys.shape, &values.shape);
        return Err(invalid(format!("a table has keys of shape {keys} and values of shape {values}")));
    }
    if keys.dtype != queries.dtype || values.dtype != default.dtype {
        return Err(invalid(format!(
            "a table from {} to {} is asked for {} with a default of {}",
            keys.dtype, values.dtype, queries.dtype, default.dtype
        )));
    }
    check_one(&default.shape, "default_value", 1)?;
    one(TensorMetadata::new(values.dtype, queries.shape.clone()))
}

/// The places of the queries' values; `None` for queries that are no keys. Of equal keys the last
/// one counts.
fn places(keys: &HostTensor, queries: &HostTensor) -> Result<Vec<Option<usize>>, Diagnostic> {
    match keys {
        HostTensor::String(keys) => {
            Ok(find(keys.strings(), strings(queries)?.strings(), |key| key, |key| key))
        }
        _ => {
            let (keys, queries) = (keys.dense()?, queries.dense()?);
            match keys.dtype() {
                DType::I64 => {
                    let (keys, queries) = (keys.read::<i64>(&ME)?, queries.read::<i64>(&ME)?);
                    Ok(find(&keys, &queries, |&key| key, |&key| key))
                }
                DType::I32 => {
                    let (keys, queries) = (keys.read::<i32>(&ME)?, queries.read::<i32>(&ME)?);
                    Ok(find(&keys, &queries, |&key| key, |&key| key))
                }
                DType::F32 => {
                    let (keys, queries) = (keys.read::<f32>(&ME)?, queries.read::<f32>(&ME)?);
                    let bits = |&number: &f32| bits_of(number.into());
                    Ok(find(&keys, &queries, bits, bits))
                }
                DType::F64 => {
                    let (keys, queries) = (keys.read::<f64>(&ME)?, queries.read::<f64>(&ME)?);
                    let bits = |&number: &f64| bits_of(number);
                    Ok(find(&keys, &queries, bits, bits))
                }
                other => Err(unsupported("tfrt.Lookup", other)),
            }
        }
    }
}

/// Equal bits for equal numbers. As a key NaN equals itself, so that tables can have an entry for
/// it.
fn bits_of(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { (number + 0.0).to_bits() }
}

fn find<'k, T, K: Eq + std::hash::Hash>(
    keys: &'k [T],
    queries: &'k [T],
    key: impl Fn(&'k T) -> K,
    query: impl Fn(&'k T) -> K,
) -> Vec<Option<usize>> {
    let places: HashMap<K, usize> = keys.iter().enumerate().map(|(place, k)| (key(k), place)).collect();
    queries.iter().map(|q| places.get(&query(q)).copied()).collect()
}

fn lookup(call: CpuCall<'_>) -> Computed {
    let [keys, values, queries, default] = take(&call)?;
    let places = places(keys, queries)?;
    if let HostTensor::String(values) = values {
        let (values, default) = (values.strings(), strings(default)?.strings());
        let default = default.first().ok_or_else(|| invalid("default_value is empty"))?;
        let mut texts = room_for(places.len())?;
        texts.extend(places.iter().map(|place| place.map_or(default, |place| &values[place]).clone()));
        return Ok(StringHostTensor::new(queries.shape().clone(), texts)?.into());
    }
    let (values, out) = (values.dense()?, call.allocate_unset(0)?);
    with_element!(
        values.dtype(),
        |T| {
            fill::<T>(&places, &values.read::<T>(&ME)?, value_within::<T>(default, "default_value", 1)?, &out)?;
            Ok(out.into())
        },
        else Err(unsupported("tfrt.Lookup", values.dtype()))
    )
}

fn fill<T: Element>(
    places: &[Option<usize>],
    values: &[T],
    default: T,
    out: &tfrt_tensor::DenseHostTensor,
) -> Result<(), Diagnostic> {
    let mut out = out.write::<T>(&ME)?;
    out.iter_mut().zip(places).for_each(|(out, place)| *out = place.map_or(default, |place| values[place]));
    Ok(())
}

pub(super) fn register(ops: &mut OpRegistry) {
    // Not folded and not shared, so that a condition that does not hold is an error of the run.
    ops.add("tfrt.Require")
        .types(types::ANY)
        .attrs([attr::string("message")])
        .external()
        .metadata(first)
        .cpu(require)
        .forms(Forms::ANY);
    ops.add("tfrt.Lookup").types(types::ANY).metadata(lookup_metadata).cpu(lookup).forms(Forms::STRING);
}
