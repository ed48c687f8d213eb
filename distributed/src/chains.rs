//! Remote chains: the latest chain of each task, by which remote calls are ordered.

use std::{collections::HashMap, fmt, sync::Arc};

use parking_lot::Mutex;
use tfrt_collectives::{DistributedContext, TaskHandle};
use tfrt_host::{Diagnostic, value_type};

use crate::{RemoteContext, RemoteObjectId};

/// The latest chain of each task of a context. Cloning shares the chains.
#[derive(Clone)]
pub struct RemoteChainManager {
    context: DistributedContext,
    chains: Arc<Mutex<HashMap<TaskHandle, RemoteObjectId>>>,
}

value_type!(RemoteChainManager, "!tfrt_dist.remote_chain_manager");

impl RemoteChainManager {
    /// Begins with the chains that the tasks made when the context was created.
    pub fn new(context: &DistributedContext) -> Self {
        Self { context: context.clone(), chains: Arc::default() }
    }

    /// Returns the latest chain of a task.
    ///
    /// # Errors
    /// NotFound if the task has none.
    pub fn chain(&self, task: TaskHandle) -> Result<RemoteObjectId, Diagnostic> {
        if let Some(chain) = self.chains.lock().get(&task) {
            return Ok(chain.clone());
        }
        RemoteContext::of(&self.context)?.ready_chain(task)
    }

    /// Sets the latest chain of a task.
    pub fn set_chain(&self, task: TaskHandle, chain: RemoteObjectId) {
        self.chains.lock().insert(task, chain);
    }

    /// Replaces the latest chain of a task, and returns the one before.
    pub(crate) fn exchange(
        &self,
        task: TaskHandle,
        chain: RemoteObjectId,
    ) -> Result<RemoteObjectId, Diagnostic> {
        let mut chains = self.chains.lock();
        match chains.insert(task, chain) {
            Some(before) => Ok(before),
            None => RemoteContext::of(&self.context)?.ready_chain(task),
        }
    }
}

impl fmt::Debug for RemoteChainManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteChainManager")
            .field("chains", &self.chains.lock().len())
            .finish_non_exhaustive()
    }
}
