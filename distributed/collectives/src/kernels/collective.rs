//! What the kernels of collectives share: one call of a group, with or without an engine.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tfrt_host::host_buffer::{HostBuffer, ReadGuard, WriteGuard};
use tfrt_host::work_queue::Task;
use tfrt_host::{AsyncValueRef, DType, Diagnostic, ErrorCode, ExecutionContext, Promise, Value};
use tfrt_tensor::{Accessor, DenseHostTensor};

use crate::DistributedContext;
use crate::engine::{Call, Operation};

/// The group and the key of a collective.
pub(super) struct Collective {
    context: DistributedContext,
    group: String,
    key: String,
    members: Arc<[usize]>,
    /// This task's rank in the group.
    pub(super) rank: usize,
}

/// The data of a collective.
pub(super) struct Data {
    pub(super) dtype: DType,
    pub(super) count: usize,
    pub(super) send: Option<ReadGuard<HostBuffer>>,
    pub(super) receive: Option<WriteGuard<HostBuffer>>,
}

impl Collective {
    pub(super) fn new(context: &DistributedContext, group: &str, key: &str) -> Result<Self, Diagnostic> {
        let (found, rank) = context.membership(group)?;
        let cluster = context.cluster();
        let members = found.members.iter().map(|member| cluster.world_rank(*member));
        let members = members.collect::<Result<_, _>>()?;
        Ok(Self { context: context.clone(), group: group.to_owned(), key: key.to_owned(), members, rank })
    }

    /// Returns the number of ranks.
    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// Returns the rank of a task of the group.
    pub(super) fn rank_of(&self, task: crate::TaskHandle) -> Result<usize, Diagnostic> {
        let group = self.context.cluster().group(&self.group)?;
        group.rank_of(task).ok_or_else(|| {
            let name = self.context.cluster().task(task).map(|task| task.name.to_string());
            let name = name.unwrap_or_else(|_| format!("{task:?}"));
            Diagnostic::invalid_argument(format!("task '{name}' is not a member of group '{}'", self.group))
        })
    }

    fn call(&self, operation: Operation, data: Data) -> Call {
        let Data { dtype, count, send, receive } = data;
        Call {
            group: self.group.clone(),
            members: self.members.clone(),
            key: self.key.clone(),
            step: self.context.step(),
            operation,
            dtype,
            count,
            send,
            receive,
            deadline: Instant::now() + self.context.deadline(),
        }
    }

    /// Runs a collective and then `finish`, on the work queue. The result becomes an error when the
    /// request is cancelled.
    pub(super) fn run<T: Value>(
        &self,
        operation: Operation,
        data: Data,
        cx: &ExecutionContext,
        finish: impl FnOnce() -> Result<T, Diagnostic> + Send + 'static,
    ) -> Result<AsyncValueRef<T>, Diagnostic> {
        let call = self.call(operation, data);
        let world_rank = self.members[self.rank];
        call.check(world_rank)?;
        if self.size() == 1 {
            run_alone(call);
            return Ok(match finish() {
                Ok(value) => AsyncValueRef::available(value),
                Err(error) => return Err(error),
            });
        }
        let engine = self.context.engine().ok_or_else(|| self.no_engine())?;
        let (promise, value) = Promise::new();
        let promise = Arc::new(Mutex::new(Some(promise)));
        let (cancelled, host) = (promise.clone(), Arc::downgrade(cx.host()));
        let hook = cx.request().when_cancelled(move |reason| {
            let (promise, reason) = (cancelled.lock().take(), reason.clone());
            if let (Some(promise), Some(host)) = (promise, host.upgrade()) {
                host.add_task(Task::new(move || promise.set_error(reason)));
            }
        });
        let (cx, work) = (cx.clone(), cx.host().external_work());
        engine.start(
            call,
            Box::new(move |result| {
                if let Some(promise) = promise.lock().take() {
                    let host = cx.host().clone();
                    host.add_task(Task::new(move || cx.settle(promise, result.and_then(|()| finish()))));
                }
                drop((hook, work));
            }),
        );
        Ok(value)
    }

    /// Runs a collective and waits for it. Never call it on a compute thread.
    pub(super) fn run_blocking(&self, operation: Operation, data: Data) -> Result<(), Diagnostic> {
        let call = self.call(operation, data);
        if self.size() == 1 {
            call.check(self.members[self.rank])?;
            run_alone(call);
            return Ok(());
        }
        let (tell, result) = std::sync::mpsc::channel();
        let engine = self.context.engine().ok_or_else(|| self.no_engine())?;
        // The receiver waits below.
        engine.start(call, Box::new(move |result| drop(tell.send(result))));
        result.recv().map_err(|_| Diagnostic::internal("the engine has dropped a collective"))?
    }

    fn no_engine(&self) -> Diagnostic {
        Diagnostic::new(
            ErrorCode::FailedPrecondition,
            format!(
                "group '{}' has {} ranks, but this process has no engine for collectives; install MPI, build \
                 libtfrt_mpi.so with 'ci/mpi build', and start the ranks with mpirun",
                self.group,
                self.size()
            ),
        )
    }
}

/// With one rank, each collective copies what is sent, if it is not in place already.
fn run_alone(mut call: Call) {
    if let (Some(send), Some(receive)) = (&call.send, &mut call.receive) {
        receive.copy_from_slice(send);
    }
}

/// Checks a tensor's type.
pub(super) fn check_dtype(tensor: &DenseHostTensor, dtype: DType, what: &str) -> Result<(), Diagnostic> {
    if tensor.dtype() == dtype {
        return Ok(());
    }
    let found = tensor.dtype();
    Err(Diagnostic::invalid_argument(format!(
        "the {what} is a tensor of {found:?}, but the kernel takes {dtype:?}"
    )))
}

/// Takes two tensors as what is sent and received. Nothing is sent if both are the same memory: the
/// operation is in place then.
pub(super) fn guards(
    input: &DenseHostTensor,
    output: &DenseHostTensor,
    accessor: &'static Accessor,
) -> Result<Data, Diagnostic> {
    let is_same =
        input.buffer().as_ptr() == output.buffer().as_ptr() && input.size_bytes() == output.size_bytes();
    let send = if is_same { None } else { Some(accessor.read_owned(input.buffer())?) };
    let receive = Some(accessor.write_owned(output.buffer())?);
    Ok(Data { dtype: input.dtype(), count: input.num_elements(), send, receive })
}
