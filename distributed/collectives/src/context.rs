//! [`DistributedContext`]: the view that one task has of its cluster.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ExecutionContext, HostContext, ResourceContext, value_type};

use crate::cluster::{Cluster, ClusterConfig, Group, Task, TaskHandle};
use crate::engine::Engine;

/// How long a collective or a remote call may take, unless the program or the user says otherwise.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(300);

/// Longer deadlines than these ten years are this one, so that a point in time can be computed.
pub const MAX_DEADLINE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The name of the request's resource that holds the context of its programs. Without it, programs
/// get their host's.
pub const RESOURCE: &str = "tfrt_dist.context";

struct Inner {
    id: u64,
    cluster: Cluster,
    own: TaskHandle,
    engine: Option<Arc<dyn Engine>>,
    deadline: Duration,
    /// The step of the program, or a negative number.
    step: AtomicI64,
    extensions: ResourceContext,
}

/// One task's view of its cluster, with all that kernels need to reach the other tasks. Cloning
/// shares the context.
#[derive(Clone)]
pub struct DistributedContext(Arc<Inner>);
value_type!(DistributedContext, "!tfrt_dist.dist_context");

/// A handle that does not keep the context alive, for the state in its extensions.
#[derive(Clone)]
pub struct WeakDistributedContext(Weak<Inner>);

impl WeakDistributedContext {
    /// Returns the context if it still exists.
    pub fn upgrade(&self) -> Option<DistributedContext> {
        self.0.upgrade().map(DistributedContext)
    }
}

/// Assembles a [`DistributedContext`].
#[must_use]
pub struct DistributedContextBuilder {
    id: u64,
    cluster: Cluster,
    own: TaskHandle,
    engine: Option<Arc<dyn Engine>>,
    deadline: Duration,
}

impl DistributedContextBuilder {
    /// Sets the number that all tasks know the context by. The default is 0.
    pub fn id(mut self, id: u64) -> Self {
        self.id = id;
        self
    }

    /// Sets the engine that runs collectives. Its ranks are the tasks of the cluster in order.
    ///
    /// # Errors
    /// InvalidArgument if the engine's rank or number of ranks contradicts the cluster.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Result<Self, Diagnostic> {
        let expected = (self.cluster.world_rank(self.own)?, self.cluster.tasks().len());
        let found = (engine.rank(), engine.size());
        if expected != found {
            return Err(Diagnostic::invalid_argument(format!(
                "this process is rank {} of {} in its cluster, but rank {} of {} in {}",
                expected.0,
                expected.1,
                found.0,
                found.1,
                engine.name()
            )));
        }
        self.engine = Some(engine);
        Ok(self)
    }

    /// Sets how long a collective or a remote call may take. The default is [`DEFAULT_DEADLINE`].
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline.min(MAX_DEADLINE);
        self
    }

    /// Creates the context.
    #[must_use]
    pub fn build(self) -> DistributedContext {
        let Self { id, cluster, own, engine, deadline } = self;
        let (step, extensions) = (AtomicI64::new(-1), ResourceContext::new());
        DistributedContext(Arc::new(Inner { id, cluster, own, engine, deadline, step, extensions }))
    }
}

impl DistributedContext {
    /// Starts to assemble the context of the task of this name.
    ///
    /// # Errors
    /// The errors of [`Cluster::new`] and [`Cluster::find`].
    pub fn builder(config: &ClusterConfig, own: &str) -> Result<DistributedContextBuilder, Diagnostic> {
        let cluster = Cluster::new(config)?;
        let own = cluster.find(own)?.handle;
        Ok(DistributedContextBuilder { id: 0, cluster, own, engine: None, deadline: DEFAULT_DEADLINE })
    }

    /// Creates the context of a process that is alone: `/job:worker/task:0`.
    ///
    /// # Errors
    /// None in practice.
    pub fn single() -> Result<Self, Diagnostic> {
        Ok(Self::builder(&ClusterConfig::workers(1), "/job:worker/task:0")?.build())
    }

    /// Returns the context of the request's programs: the request's resource [`RESOURCE`], else the
    /// host's.
    ///
    /// # Errors
    /// The errors of creating the host's context.
    pub fn of(cx: &ExecutionContext) -> Result<Self, Diagnostic> {
        match cx.resources().get::<Self>(RESOURCE) {
            Ok(context) => Ok((*context).clone()),
            Err(_) => HostDistribution::of(cx.host()).context(),
        }
    }

    /// Returns the number that all tasks know the context by.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Returns the cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.0.cluster
    }

    /// Returns the task that this process is.
    pub fn own(&self) -> TaskHandle {
        self.0.own
    }

    /// Returns the task that this process is, with its name and address.
    ///
    /// # Errors
    /// None in practice: the task was looked up when the context was created.
    pub fn own_task(&self) -> Result<&Task, Diagnostic> {
        self.cluster().task(self.own())
    }

    /// Returns a group and this task's rank in it.
    ///
    /// # Errors
    /// NotFound if there is no such group; FailedPrecondition if this task is not a member.
    pub fn membership(&self, group: &str) -> Result<(&Group, usize), Diagnostic> {
        let group = self.cluster().group(group)?;
        let rank = group.rank_of(self.own()).ok_or_else(|| {
            let own = self.own_task().map(|task| task.name.to_string()).unwrap_or_default();
            Diagnostic::new(
                tfrt_host::ErrorCode::FailedPrecondition,
                format!("task '{own}' is not a member of group '{}'", group.name),
            )
        })?;
        Ok((group, rank))
    }

    /// Returns the engine that runs collectives of more than one rank, if there is one.
    pub fn engine(&self) -> Option<&Arc<dyn Engine>> {
        self.0.engine.as_ref()
    }

    /// Returns how long a collective or a remote call may take.
    pub fn deadline(&self) -> Duration {
        self.0.deadline
    }

    /// Returns the step that the program has come to, if it tells.
    pub fn step(&self) -> Option<i64> {
        Some(self.0.step.load(Ordering::Relaxed)).filter(|step| *step >= 0)
    }

    /// Sets the step that errors of collectives name.
    pub fn set_step(&self, step: i64) {
        self.0.step.store(step, Ordering::Relaxed);
    }

    /// Returns the state that other crates keep with the context, one value of each type. State
    /// that needs the context keeps a [`WeakDistributedContext`], because the context owns the
    /// state.
    pub fn extensions(&self) -> &ResourceContext {
        &self.0.extensions
    }

    /// Returns a handle that does not keep the context alive.
    pub fn downgrade(&self) -> WeakDistributedContext {
        WeakDistributedContext(Arc::downgrade(&self.0))
    }
}

impl fmt::Debug for DistributedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = self.engine().map(|engine| engine.name().to_owned());
        f.debug_struct("DistributedContext")
            .field("id", &self.id())
            .field("own", &self.own())
            .field("tasks", &self.cluster().tasks().len())
            .field("engine", &engine)
            .finish_non_exhaustive()
    }
}

/// Creates the context of a host.
type Open = Box<dyn Fn() -> Result<DistributedContext, Diagnostic> + Send + Sync>;

/// The context of a host's programs, created when the first program asks for it.
#[derive(Default)]
pub struct HostDistribution {
    open: Option<Open>,
    context: Mutex<Option<DistributedContext>>,
}

impl HostDistribution {
    /// Sets how the host's context is created. The code that assembles the host calls this first.
    pub fn configure(
        host: &HostContext,
        open: impl Fn() -> Result<DistributedContext, Diagnostic> + Send + Sync + 'static,
    ) -> Arc<Self> {
        host.shared_context(|| Self { open: Some(Box::new(open)), context: Mutex::default() })
    }

    /// Returns the distribution of a host. A host that was never configured is alone.
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(Self::default)
    }

    /// Returns the context, creating it if this is the first call that succeeds.
    ///
    /// # Errors
    /// The errors of creating it.
    pub fn context(&self) -> Result<DistributedContext, Diagnostic> {
        let mut context = self.context.lock();
        if let Some(context) = &*context {
            return Ok(context.clone());
        }
        let created = self.open.as_ref().map_or_else(DistributedContext::single, |open| open())?;
        *context = Some(created.clone());
        Ok(created)
    }

    /// Ends the engine of the host's context, if there is one, and waits for that.
    pub fn end(&self) {
        let engine = self.context.lock().as_ref().and_then(|context| context.engine().cloned());
        if let Some(engine) = engine {
            engine.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_knows_its_place() {
        let mut config = ClusterConfig::workers(3);
        config.groups.insert("others".into(), vec!["/job:worker/task:2".into(), "/job:worker/task:0".into()]);
        let context = DistributedContext::builder(&config, "/job:worker/task:2").unwrap().id(7).build();
        assert_eq!(context.id(), 7);
        assert_eq!(context.own_task().unwrap().name.to_string(), "/job:worker/task:2");
        assert_eq!(context.membership("world").unwrap().1, 2);
        assert_eq!(context.membership("others").unwrap().1, 0);
        let other = DistributedContext::builder(&config, "/job:worker/task:1").unwrap().build();
        assert_eq!(
            other.membership("others").unwrap_err().message,
            "task '/job:worker/task:1' is not a member of group 'others'"
        );
        assert!(DistributedContext::builder(&config, "/job:worker/task:3").is_err());
    }

    #[test]
    fn extensions_are_found_by_type_and_end_with_the_context() {
        struct Remote(WeakDistributedContext);
        let context = DistributedContext::single().unwrap();
        let remote = context.extensions().only_or_create(|| Remote(context.downgrade()));
        let weak = remote.0.clone();
        assert!(context.extensions().only::<Remote>().is_some());
        assert!(weak.upgrade().is_some());
        drop(context);
        assert!(weak.upgrade().is_none());
    }
}
