//! Registering programs, and specifications of their execution.

use std::sync::Arc;

use bytes::Bytes;
use tfrt_collectives::{DistributedContext, TaskHandle};
use tfrt_host::{
    Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise,
    bef::AggregateAttribute, value_type,
};

use super::spawn;
use crate::{
    RemoteContext,
    proto::{Language, RegisterFunctionRequest},
};

/// The devices on which the results of a remote function are.
#[derive(Clone, Debug)]
pub(crate) struct RemoteExecuteSpec {
    pub(crate) output_devices: Vec<Arc<str>>,
}

value_type!(RemoteExecuteSpec, "!tfrt_dist.remote_execute_spec");

/// Registers a program. The value is what `finish` makes of the devices of its results.
fn register_function<T: tfrt_host::Value>(
    context: &DistributedContext,
    task: TaskHandle,
    (name, program, language): (&str, &str, Language),
    cx: &ExecutionContext,
    finish: fn(Vec<String>) -> T,
) -> Result<AsyncValueRef<T>, Diagnostic> {
    let client = RemoteContext::of(context)?.client(context, task)?;
    let request = RegisterFunctionRequest {
        header: None,
        name: name.to_owned(),
        program: Bytes::copy_from_slice(program.as_bytes()),
        language: language.into(),
    };
    let (promise, value) = Promise::new();
    let call = async move { client.register_function(request).await };
    spawn(context, cx, call, move |cx, reply| match reply {
        Ok(reply) => promise.emplace(finish(reply.output_devices)),
        Err(error) => promise.set_error(cx.emit_remote(error)),
    })?;
    Ok(value)
}

fn spec(devices: Vec<String>) -> RemoteExecuteSpec {
    RemoteExecuteSpec { output_devices: devices.into_iter().map(Arc::from).collect() }
}

fn register_tfrt(
    _chain: Chain,
    context: Arg<DistributedContext>,
    task: TaskHandle,
    program: Attr<str>,
    name: Attr<str>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>, Diagnostic> {
    register_function(&context, task, (name.0, program.0, Language::Kernels), cx, |_| Chain)
}

fn register_tf(
    _chain: Chain,
    context: Arg<DistributedContext>,
    task: TaskHandle,
    program: Attr<str>,
    name: Attr<str>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<RemoteExecuteSpec>, Diagnostic> {
    register_function(&context, task, (name.0, program.0, Language::Ops), cx, spec)
}

fn create_spec(
    context: Arg<DistributedContext>,
    devices: Attr<AggregateAttribute<'_>>,
) -> Result<RemoteExecuteSpec, Diagnostic> {
    let remote = RemoteContext::of(&context)?;
    let device = |element: Result<tfrt_host::bef::AttributeView<'_>, _>| {
        let name = element.ok().and_then(|element| element.string().map(str::to_owned));
        let name = name.ok_or_else(|| Diagnostic::invalid_argument("an output device is a string"))?;
        Ok(remote.device(&name)?.name)
    };
    let output_devices = devices.0.iter().map(device).collect::<Result<_, Diagnostic>>()?;
    Ok(RemoteExecuteSpec { output_devices })
}

fn print_spec(spec: Arg<RemoteExecuteSpec>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("RemoteExecuteSpec:[ {} ]\n", spec.output_devices.join(" ")));
    Chain
}

pub(super) fn register(registry: &mut KernelRegistry) {
    let format = "`(` $arg0 `,` $arg1 `,` $arg2 `)` $program_name $program attr-dict";
    registry
        .add("tfrt_dist.register_tfrt_function", register_tfrt)
        .attributes(&["program", "program_name"])
        .assembly(format)
        .side_effecting()
        .doc("Registers a kernel graph with a task. The function with the program's name can then be executed there.");
    registry
        .add("tfrt_dist.register_tf_function", register_tf)
        .attributes(&["program", "program_name"])
        .assembly(format)
        .side_effecting()
        .doc("Registers an op graph with a task, which compiles it. Returns the specification of its execution.");
    registry
        .add("tfrt_dist.create_remote_execute_spec", create_spec)
        .attributes(&["output_devices"])
        .doc("Returns a specification: the devices on which the results of a remote function are.");
    registry
        .add("tfrt_dist.test_print_remote_execute_spec", print_spec)
        .side_effecting()
        .doc("Prints the devices of a specification.");
}
