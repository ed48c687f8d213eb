//! Small kernels that show one way each of taking arguments and giving results.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tfrt_host::{
    Arg, AsyncValue, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise, Rest,
    RestAttrs, Value,
    bef::{AggregateAttribute, AttributeView},
    value_type,
};

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.print_hello", |_chain: Chain, cx: &ExecutionContext| {
            cx.host().print(format_args!("hello host executor!\n"));
            Chain
        })
        .side_effecting()
        .doc("Prints a greeting.");
    registry
        .add("tfrt_test.identity", |_chain: Chain, arguments: Rest<'_, AsyncValue>| arguments.to_vec())
        .doc("The arguments behind the chain.");
    registry
        .add("tfrt_test.logging", |text: Arg<'_, String>, _chain: Chain, cx: &ExecutionContext| {
            for how in [
                "LOG(INFO)",
                "LOG(WARNING)",
                "LOG(ERROR)",
                "LOG_IF(INFO, true)",
                "LOG_IF(WARNING, true)",
                "LOG_IF(ERROR, true)",
            ] {
                cx.host().print(format_args!("from TFRT_{how}: {}\n", *text));
            }
            Chain
        })
        .side_effecting()
        .doc("Prints the string once for each severity of a log.");
    registry
        .add("tfrt_test.flat", |value: Attr<'_, AggregateAttribute<'_>>| flat(value.0).ok_or(NOT_FLAT))
        .doc("The leaves of an attribute of the form [[string, [i32, i32]], [f32]].");
    registry
        .add("tfrt_test.unique_loc", |name: Attr<'_, str>, cx: &ExecutionContext| unique_location(name.0, cx))
        .attributes(&["name"])
        .doc("An error if a kernel with another name ran at the same place of the program.");
    register_counts(registry);
    register_values(registry);
}

fn register_counts(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.count3.i32", |x: i32| (x.wrapping_add(1), x.wrapping_add(2), x.wrapping_add(3)))
        .doc("The next three numbers, wrapping.");
    registry
        .add("tfrt_test.count3.i64", |x: i64| (x.wrapping_add(1), x.wrapping_add(2), x.wrapping_add(3)))
        .doc("The next three numbers, wrapping.");
    for name in ["tfrt_test.sum", "tfrt_test.sync_sum", "tfrt_test.sync_sum2"] {
        registry
            .add(name, |first: i32, others: Rest<'_, i32>| {
                others.iter().try_fold(first, |sum, other| other.map(|&other| sum.wrapping_add(other)))
            })
            .doc("Sum of all arguments, wrapping.");
    }
    registry
        .add("tfrt_test.sync_sum_attributes", |numbers: RestAttrs<'_, i32>| {
            numbers.0.into_iter().fold(0, i32::wrapping_add)
        })
        .doc("Sum of all attributes, wrapping.");
}

const NOT_FLAT: &str = "expected an attribute of the form [[string, [i32, i32]], [f32]]";

fn flat(value: AggregateAttribute<'_>) -> Option<(String, i32, i32, f32)> {
    let [AttributeView::Aggregate(first), AttributeView::DataArray(second)] =
        [value.get(0).ok()?, value.get(1).ok()?]
    else {
        return None;
    };
    let [text, AttributeView::DataArray(integers)] = [first.get(0).ok()?, first.get(1).ok()?] else {
        return None;
    };
    let &[a, b] = integers.elements::<i32>()? else { return None };
    let &[c] = second.elements::<f32>()? else { return None };
    Some((text.string()?.to_owned(), a, b, c))
}

/// Names by the place of the kernel that gave them.
#[derive(Default)]
struct Locations(Mutex<HashMap<u32, String>>);

fn unique_location(name: &str, cx: &ExecutionContext) -> Result<Chain, Diagnostic> {
    let locations: Arc<Locations> =
        cx.resources().get_or_create("tfrt_test.unique_loc", Locations::default)?;
    let mut locations = locations.0.lock();
    let known = locations.entry(cx.location_id()).or_insert_with(|| name.to_owned());
    if known == name {
        return Ok(Chain);
    }
    Err(Diagnostic::invalid_argument(format!("duplicate locations {}", cx.location_id())))
}

struct Named(&'static str);
value_type!(Named, "!test.named");

fn register_values(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.async_value_get", || {
            let named = ["base1", "base2", "final_class"].map(|name| AsyncValue::new(Named(name)));
            let mut parts: Vec<_> = named
                .iter()
                .filter_map(|value| value.get::<Named>())
                .map(|named| named.0.to_owned())
                .collect();
            parts.extend(AsyncValue::new(3).get::<i32>().map(ToString::to_string));
            parts.join(":")
        })
        .doc("What values say that are read back by their types.");
    registry
        .add("tfrt_test.async_value_ref", describe_states)
        .doc("How values present themselves before and after they become available.");
}

fn describe<T: Value + std::fmt::Display>(value: &AsyncValueRef<T>) -> String {
    match value.get() {
        Some(Ok(payload)) => format!("available:{payload}"),
        Some(Err(error)) => format!("error:{}", error.message),
        None => "unavailable".to_owned(),
    }
}

fn describe_states() -> String {
    let seen = Arc::new(Mutex::new(vec![describe(&AsyncValueRef::available(2))]));
    let see = |text: String| seen.lock().push(text);
    let (promise, three) = Promise::<i32>::new();
    see(describe(&three));
    let (waiter, value) = (seen.clone(), three.clone());
    value.then(move |value| {
        if let Ok(value) = value {
            waiter.lock().push(format!("({value})"));
        }
    });
    promise.emplace(3);
    see(describe(&three));
    let (promise, four) = Promise::<i32>::new();
    see(describe(&four));
    promise.emplace(4);
    see(describe(&four));
    let seen = seen.lock();
    seen.join(";")
}
