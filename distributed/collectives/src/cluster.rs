//! The tasks of a distributed job: their names, their addresses and the groups that they form.

mod name;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_host::{Diagnostic, ErrorCode, value_type};

pub use name::{DeviceName, TaskName};

/// The name of the group of all tasks, which every cluster has.
pub const WORLD: &str = "world";

/// A task of one cluster of this process. A handle of another cluster is an error, not another
/// task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskHandle(u64);
value_type!(TaskHandle, "!tfrt_dist.task_handle");

impl TaskHandle {
    /// Returns the handle with this number, which may belong to no task.
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the handle's number, which means nothing in other processes.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task_handle[{}]", self.0)
    }
}

/// A member of a cluster.
#[derive(Clone, Debug)]
pub struct Task {
    /// The task's handle.
    pub handle: TaskHandle,
    /// The task's name.
    pub name: TaskName,
    /// Where the task is reached, such as `host:port`. Empty if nothing connects to it.
    pub address: String,
}

/// Tasks that run collectives together. A task's place in the group is its rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's name.
    pub name: String,
    /// The members by rank.
    pub members: Vec<TaskHandle>,
}

impl Group {
    /// Returns the rank of a member.
    pub fn rank_of(&self, task: TaskHandle) -> Option<usize> {
        self.members.iter().position(|member| *member == task)
    }
}

/// The description of a cluster, as the tasks of a job exchange it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterConfig {
    /// The tasks' addresses, by the job's name and the task's number.
    pub jobs: BTreeMap<String, BTreeMap<u32, String>>,
    /// The names of the members of each group, by rank, besides [`WORLD`].
    pub groups: BTreeMap<String, Vec<String>>,
    /// The name of the task that leads the others, if one does.
    pub lead: Option<String>,
}

impl ClusterConfig {
    /// Describes `count` tasks of a job named `worker` without addresses.
    pub fn workers(count: u32) -> Self {
        let tasks = (0..count).map(|number| (number, String::new())).collect();
        Self { jobs: BTreeMap::from([("worker".to_owned(), tasks)]), ..Self::default() }
    }
}

/// The tasks of a distributed job and their groups.
///
/// Tasks are ordered by the name of their job and then by number, in every process, so that ranks
/// agree.
#[derive(Debug)]
pub struct Cluster {
    tasks: Vec<Task>,
    by_name: HashMap<TaskName, usize>,
    groups: BTreeMap<String, Group>,
    lead: Option<TaskHandle>,
}

impl Cluster {
    /// Creates a cluster.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] if a name is malformed, a group has no members, or has one
    /// twice; [`ErrorCode::NotFound`] if a group or the lead names a task that is not in the
    /// cluster.
    pub fn new(config: &ClusterConfig) -> Result<Self, Diagnostic> {
        let mut tasks = Vec::new();
        let mut by_name = HashMap::new();
        let names = config.jobs.iter().flat_map(|(job, tasks)| tasks.iter().map(move |task| (job, task)));
        let count = config.jobs.values().map(BTreeMap::len).sum::<usize>() as u64;
        // Handles start at a number that no other cluster of this process uses.
        static NEXT_HANDLE: AtomicU64 = AtomicU64::new(1 << 32);
        let first = NEXT_HANDLE.fetch_add(count, Ordering::Relaxed);
        for (handle, (job, (number, address))) in (first..).map(TaskHandle).zip(names) {
            let name = TaskName::new(job, *number)?;
            by_name.insert(name.clone(), tasks.len());
            tasks.push(Task { handle, name, address: address.clone() });
        }
        let world = tasks.iter().map(|task| task.handle).collect();
        let groups = BTreeMap::from([(WORLD.to_owned(), Group { name: WORLD.to_owned(), members: world })]);
        let mut cluster = Self { tasks, by_name, groups, lead: None };
        for (name, members) in &config.groups {
            let group = cluster.check_group(name, members)?;
            cluster.groups.insert(name.clone(), group);
        }
        cluster.lead = config.lead.as_deref().map(|lead| cluster.find(lead)).transpose()?.map(|t| t.handle);
        Ok(cluster)
    }

    fn check_group(&self, name: &str, members: &[String]) -> Result<Group, Diagnostic> {
        let find = |member: &String| {
            self.find(member)
                .map(|task| task.handle)
                .map_err(|error| error.note(format!("in group '{name}'")))
        };
        let handles = members.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let mut seen = BTreeSet::new();
        if let Some(place) = handles.iter().position(|handle| !seen.insert(*handle)) {
            let member = &members[place];
            return Err(Diagnostic::invalid_argument(format!("group '{name}' has member '{member}' twice")));
        }
        if handles.is_empty() {
            return Err(Diagnostic::invalid_argument(format!("group '{name}' has no members")));
        }
        Ok(Group { name: name.to_owned(), members: handles })
    }

    /// Returns all tasks in order.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the task that leads the others, if one does.
    pub fn lead(&self) -> Option<TaskHandle> {
        self.lead
    }

    /// Returns the task with this name. A device's name stands for its task.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] if the name is malformed, [`ErrorCode::NotFound`] if there is
    /// no such task.
    pub fn find(&self, name: &str) -> Result<&Task, Diagnostic> {
        self.find_task(&name.parse::<TaskName>()?)
    }

    /// Returns the task with this name.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] if there is none.
    pub fn find_task(&self, name: &TaskName) -> Result<&Task, Diagnostic> {
        let not_found = || {
            let of_job: Vec<_> = self
                .tasks
                .iter()
                .filter(|task| task.name.job() == name.job())
                .map(|t| t.name.number())
                .collect();
            let reason = if of_job.is_empty() {
                let jobs: BTreeSet<_> = self.tasks.iter().map(|task| task.name.job()).collect();
                format!("there is no job '{}'; the jobs are {jobs:?}", name.job())
            } else {
                format!("the tasks of job '{}' are {of_job:?}", name.job())
            };
            Diagnostic::new(ErrorCode::NotFound, format!("the cluster has no task '{name}': {reason}"))
        };
        self.by_name.get(name).map(|place| &self.tasks[*place]).ok_or_else(not_found)
    }

    /// Returns the task with this handle.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] if the handle is not of this cluster.
    pub fn task(&self, handle: TaskHandle) -> Result<&Task, Diagnostic> {
        let place = self.tasks.first().and_then(|first| handle.0.checked_sub(first.handle.0));
        place.and_then(|place| self.tasks.get(usize::try_from(place).ok()?)).ok_or_else(|| {
            Diagnostic::new(ErrorCode::NotFound, format!("{handle:?} is not a task of this cluster"))
        })
    }

    /// Returns the place of a task among all tasks, which is its rank in the group [`WORLD`].
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] if the handle is not of this cluster.
    pub fn world_rank(&self, handle: TaskHandle) -> Result<usize, Diagnostic> {
        let task = self.task(handle)?;
        Ok((task.handle.0 - self.tasks[0].handle.0) as usize)
    }

    /// Returns the group with this name.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] if there is none.
    pub fn group(&self, name: &str) -> Result<&Group, Diagnostic> {
        self.groups.get(name).ok_or_else(|| {
            let known: Vec<_> = self.groups.keys().collect();
            let message = format!("the cluster has no group '{name}'; its groups are {known:?}");
            Diagnostic::new(ErrorCode::NotFound, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> ClusterConfig {
        let job = |tasks: &[(u32, &str)]| tasks.iter().map(|(n, a)| (*n, (*a).to_owned())).collect();
        ClusterConfig {
            jobs: BTreeMap::from([
                ("worker_x".to_owned(), job(&[(0, "addr0"), (1, "addr1")])),
                ("worker2".to_owned(), job(&[(2, "addr2")])),
                ("worker3".to_owned(), job(&[(3, "addr3")])),
            ]),
            ..ClusterConfig::default()
        }
    }

    #[test]
    fn tasks_are_found_by_name_number_and_device() {
        let cluster = Cluster::new(&config()).unwrap();
        let names =
            ["/job:worker_x/task:0", "/job:worker_x/task:1", "/job:worker2/task:2", "/job:worker3/task:3"];
        for (number, name) in names.iter().enumerate() {
            let task = cluster.find(name).unwrap();
            assert_eq!(task.name.to_string(), *name);
            assert_eq!(task.address, format!("addr{number}"));
            assert_eq!(cluster.task(task.handle).unwrap().name, task.name);
            for device in ["/device:CPU:2", "device:GPU:0"] {
                assert_eq!(cluster.find(&format!("{name}{device}")).unwrap().handle, task.handle);
            }
            assert_eq!(cluster.find(&task.name.with_replica()).unwrap().handle, task.handle);
        }
        assert_ne!(cluster.find(names[1]).unwrap().handle, cluster.find(names[3]).unwrap().handle);
    }

    #[test]
    fn unknown_tasks_are_errors_that_name_the_known_ones() {
        let cluster = Cluster::new(&config()).unwrap();
        let error = cluster.find("/job:worker2/task:0").unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound);
        assert_eq!(
            error.message,
            "the cluster has no task '/job:worker2/task:0': the tasks of job 'worker2' are [2]"
        );
        let error = cluster.find("/job:worker_y/task:0").unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound);
        assert!(error.message.contains("no job 'worker_y'; the jobs are {\"worker2\""), "{error}");
        assert_eq!(cluster.task(TaskHandle(123)).unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(cluster.task(TaskHandle(u64::MAX)).unwrap_err().code, ErrorCode::NotFound);
    }

    #[test]
    fn handles_of_another_cluster_are_errors() {
        let (first, second) = (Cluster::new(&config()).unwrap(), Cluster::new(&config()).unwrap());
        for task in first.tasks() {
            assert_eq!(second.task(task.handle).unwrap_err().code, ErrorCode::NotFound);
        }
    }

    #[test]
    fn the_world_has_all_tasks_in_order() {
        let cluster = Cluster::new(&config()).unwrap();
        let world = cluster.group(WORLD).unwrap();
        let names: Vec<_> =
            world.members.iter().map(|member| cluster.task(*member).unwrap().name.to_string()).collect();
        let expected =
            ["/job:worker2/task:2", "/job:worker3/task:3", "/job:worker_x/task:0", "/job:worker_x/task:1"];
        assert_eq!(names, expected);
        assert_eq!(world.rank_of(world.members[2]), Some(2));
        assert_eq!(cluster.world_rank(world.members[2]).unwrap(), 2);
        assert_eq!(
            cluster.group("g").unwrap_err().message,
            "the cluster has no group 'g'; its groups are [\"world\"]"
        );
    }

    #[test]
    fn groups_have_their_members_by_rank() {
        let mut config = config();
        let member = |name: &str| format!("/job:{name}");
        config.groups.insert("pair".into(), vec![member("worker3/task:3"), member("worker_x/task:0")]);
        config.lead = Some(member("worker2/task:2"));
        let cluster = Cluster::new(&config).unwrap();
        let pair = cluster.group("pair").unwrap();
        assert_eq!(pair.rank_of(cluster.find("/job:worker3/task:3").unwrap().handle), Some(0));
        assert_eq!(pair.rank_of(cluster.find("/job:worker2/task:2").unwrap().handle), None);
        assert_eq!(cluster.lead(), Some(cluster.find("/job:worker2/task:2").unwrap().handle));
        for (members, expected) in [
            (vec![], "group 'bad' has no members"),
            (vec![member("worker2/task:2"); 2], "group 'bad' has member '/job:worker2/task:2' twice"),
            (vec![member("worker2/task:1")], "the cluster has no task '/job:worker2/task:1'"),
        ] {
            config.groups.insert("bad".into(), members);
            let error = Cluster::new(&config).unwrap_err();
            assert!(error.message.starts_with(expected), "{error}");
        }
    }
}
