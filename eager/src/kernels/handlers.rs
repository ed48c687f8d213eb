//! Making, naming and finding op handlers.

use std::sync::Arc;

use tfrt_device::Devices;
use tfrt_host::{Arg, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, bef::RawAttribute};

use crate::{CoreRuntime, LoggingOpHandler, NullOpHandler, OpHandler, op_handler::HandlerRef};

fn find(name: &str, cx: &ExecutionContext) -> Result<HandlerRef, Diagnostic> {
    CoreRuntime::of(cx.host()).handler(name).map(HandlerRef)
}

fn name(handler: &HandlerRef, name: &str, cx: &ExecutionContext) {
    CoreRuntime::of(cx.host()).register_handler(name, handler.0.clone());
}

fn device_handler(
    ordinal: i32,
    fallback: Arg<HandlerRef>,
    cx: &ExecutionContext,
) -> Result<HandlerRef, Diagnostic> {
    let target = Devices::of(cx.host()).platform()?.device(ordinal.into())?;
    CoreRuntime::of(cx.host()).on_device(&target, fallback.0.clone()).map(HandlerRef)
}

/// The device that the options of the host ask for, or host memory if they ask for none and there
/// is no CUDA device.
fn default_handler(cx: &ExecutionContext) -> Result<HandlerRef, Diagnostic> {
    let core = CoreRuntime::of(cx.host());
    match Devices::of(cx.host()).chosen_device()? {
        None => Ok(HandlerRef(core.cpu())),
        Some(device) => core.on_device(&device, core.cpu()).map(HandlerRef),
    }
}

fn logging(
    fallback: Arg<HandlerRef>,
    results: Attr<RawAttribute<'_>>,
    cx: &ExecutionContext,
) -> Result<HandlerRef, Diagnostic> {
    // Programs write it as an integer of any width; little end first, the lowest byte tells.
    let results: u8 = results.0.scalar().map_err(|error| Diagnostic::invalid_argument(error.message()))?;
    let host = Arc::downgrade(cx.host());
    let handler = LoggingOpHandler::new(fallback.0.clone(), results != 0, move |text| {
        if let Some(host) = host.upgrade() {
            host.print(format_args!("{text}"));
        }
    });
    Ok(HandlerRef(Arc::new(handler)))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("corert.create_null_op_handler", || HandlerRef(Arc::new(NullOpHandler)))
        .doc("A handler without ops, the end of a chain of handlers.");
    registry
        .add("corert.create_cpu_op_handler", |fallback: Arg<HandlerRef>, cx: &ExecutionContext| {
            let fallback: Arc<dyn OpHandler> = fallback.0.clone();
            HandlerRef(CoreRuntime::of(cx.host()).cpu_with_fallback(fallback))
        })
        .doc("A handler that runs ops in host memory and leaves those it does not know to another.");
    registry.add("corert.create_gpu_op_handler", device_handler).doc(
        "A handler that runs ops on the device of this number and leaves those it does not know to another.",
    );
    registry.add("corert.create_default_op_handler", default_handler).doc(
        "Creates a handler that runs ops on the device that was asked for, or on a CUDA device if there is one, else in \
         host memory. Ops without a form for devices run in host memory.",
    );
    registry
        .add("corert.create_logging_op_handler", logging)
        .attributes(&["sync_log_results"])
        .doc("A handler that prints each op, its arguments and, if asked to, its results; another runs it.");
    registry
        .add(
            "corert.register_op_handler",
            |handler: Arg<HandlerRef>, key: Attr<str>, cx: &ExecutionContext| {
                name(&handler, key.0, cx);
                Chain
            },
        )
        .attributes(&["chain_name"])
        .side_effecting()
        .doc("Makes a handler known by a name.");
    registry
        .add(
            "corert_sync.register_op_handler",
            |handler: Arg<HandlerRef>, key: Attr<str>, cx: &ExecutionContext| name(&handler, key.0, cx),
        )
        .attributes(&["chain_name"])
        .side_effecting()
        .doc("Makes a handler known by a name.");
    registry
        .add("corert.get_op_handler", |_: Chain, key: Attr<str>, cx: &ExecutionContext| find(key.0, cx))
        .attributes(&["op_handler_name"])
        .side_effecting()
        .doc("The handler of this name.");
    registry
        .add("corert_sync.get_op_handler", |key: Attr<str>, cx: &ExecutionContext| find(key.0, cx))
        .attributes(&["op_handler_name"])
        .doc("The handler of this name.");
}
