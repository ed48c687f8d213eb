//! Stacks of tensors. The gradient of a loop of TensorFlow's first version takes from them what the
//! loop has put there, the last element first.

use tfrt_host::{AsyncValue, Chain};
use tfrt_tensor::HostTensor;

use super::request_state::{Store, name_in};
use super::support::{Computed, invalid, take};
use super::types;
use crate::{CpuCall, Forms, OpRegistry, OpResult, ResultType, attr};

#[derive(Default)]
struct Stack(Vec<HostTensor>);

/// Adds an element to the stack of this name, which is empty at first.
fn push(call: CpuCall<'_>) -> Computed {
    let [handle, element] = take(&call)?;
    let name = name_in(handle)?;
    match Store::<Stack>::find(call.cx, &name) {
        Some(stack) => stack.lock().0.push(element.clone()),
        None => Store::insert(call.cx, &name, Stack(vec![element.clone()])),
    }
    Ok(Chain.into())
}

/// Removes the last element of a stack, and returns it.
fn pop(call: CpuCall<'_>) -> Computed {
    let [handle] = take(&call)?;
    let stack = Store::<Stack>::find(call.cx, &name_in(handle)?);
    let element = stack.and_then(|stack| stack.lock().0.pop());
    let element = element.ok_or_else(|| invalid("Stack is empty when calling Pop()."))?;
    let dtype = call.attrs.required("dtype")?;
    if element.dtype() != dtype {
        return Err(invalid(format!("the stack holds {}, expected {dtype}", element.dtype())));
    }
    Ok(OpResult { tensors: [AsyncValue::new(element)].into_iter().collect(), done: Some(Chain.into()) })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tfrt.StackPush").types(types::ANY).cpu(push).forms(Forms::STRING).writes(0);
    ops.add("tfrt.StackPop")
        .types(types::ANY)
        .attrs([attr::dtype("dtype"), attr::shape("shape").optional()])
        .results([ResultType::named("dtype")])
        .cpu(pop)
        .forms(Forms::STRING)
        .writes(0);
}
