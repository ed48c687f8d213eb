//! The context and its tasks.

use tfrt_host::{Arg, Attr, Diagnostic, ExecutionContext, KernelRegistry};

use crate::{DistributedContext, TaskHandle};

fn get_distributed_context(cx: &ExecutionContext) -> Result<DistributedContext, Diagnostic> {
    DistributedContext::of(cx)
}

fn get_task_handle(context: Arg<DistributedContext>, name: Attr<str>) -> Result<TaskHandle, Diagnostic> {
    Ok(context.cluster().find(name.0)?.handle)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry.add("tfrt_dist.get_distributed_context", get_distributed_context).doc(
        "Returns the context of this process: its own task, the cluster and the engine of its collectives.",
    );
    registry.add("tfrt_dist.get_task_handle", get_task_handle).attributes(&["task_name"]).doc(
        "Returns the handle of a task, by a name such as '/job:worker/task:0' or that of one of its devices.",
    );
}
