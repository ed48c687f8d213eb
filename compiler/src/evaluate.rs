//! [`Evaluator`]: single ops, run while compiling.

use std::sync::Arc;

use tfrt_eager::{CoreRuntime, Eager, MetadataCall, Op, OpAttrs};
use tfrt_host::{Diagnostic, ExecutionContext, HostContext};
use tfrt_tensor::{HostTensor, SharedAllocator, TensorMetadata};

/// Runs ops on constants, by the implementations in host memory that programs call too.
#[derive(Clone, Debug)]
pub struct Evaluator {
    host: Arc<HostContext>,
    core: Arc<CoreRuntime>,
    eager: Eager,
}

impl Evaluator {
    /// An evaluator whose work runs on `host`.
    ///
    /// # Errors
    /// Internal if no core runtime can be made.
    pub fn new(host: &Arc<HostContext>) -> Result<Self, Diagnostic> {
        let eager = Eager::on_cpu(host)?;
        Ok(Self { host: host.clone(), core: CoreRuntime::of(host), eager })
    }

    /// Where constants take their memory from.
    pub fn allocator(&self) -> &SharedAllocator {
        self.host.allocator()
    }

    /// The op of this name, if the registry has it.
    pub fn op(&self, name: &str) -> Option<&Op> {
        self.core.ops().op(name).map(|op| &**op)
    }

    /// The context in which ops are called.
    pub(crate) fn context(&self) -> &ExecutionContext {
        self.eager.context()
    }

    /// Runs an op and waits for its results.
    ///
    /// # Errors
    /// What the op says of its arguments.
    pub fn run(
        &self,
        op: &str,
        arguments: &[HostTensor],
        attrs: &OpAttrs,
        result_count: usize,
    ) -> Result<Vec<HostTensor>, Diagnostic> {
        let arguments: Vec<_> =
            arguments.iter().map(|argument| self.eager.host_tensor(argument.clone())).collect();
        let borrowed: Vec<_> = arguments.iter().collect();
        let results = self.eager.call(op, &borrowed, attrs, result_count)?;
        results.iter().map(tfrt_eager::Tensor::wait).collect()
    }

    /// The metadata of an op's results; `None` if the op's results depend on more than its
    /// arguments' metadata.
    ///
    /// # Errors
    /// What the op says of its arguments.
    pub fn metadata(
        &self,
        op: &str,
        arguments: &[&TensorMetadata],
        attrs: &OpAttrs,
    ) -> Option<Result<Vec<TensorMetadata>, Diagnostic>> {
        let function = self.op(op)?.metadata_function()?;
        Some(function(MetadataCall { arguments, attrs }).map(Vec::from_iter))
    }
}

/// A host whose work runs on the calling thread.
#[cfg(test)]
pub(crate) fn test_host() -> Arc<HostContext> {
    let queue = tfrt_host::work_queue::from_str("s").expect("a queue");
    HostContext::builder(queue, Arc::new(tfrt_host::allocator::SystemAllocator)).build()
}
