//! Execution plans: the engine for each convolution, searched once and cached in memory and on
//! disk.
//!
//! The heuristic of the library proposes engines. Several of them are built, each on a thread, and
//! the fastest on this device is taken ([`timing`](super::timing)). If results must be
//! deterministic, the first one is. A search takes milliseconds to seconds, because engines may be
//! compiled. It uses separate handles, so that calls with known plans continue meanwhile. On disk,
//! a plan is the library's own description of it, in a folder for the library's version and the
//! device, with one file for each problem. A file that does not match is ignored.

use std::collections::HashMap;
use std::ffi::c_int;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Name, cudnnBackendDescriptorType_t as Object,
    cudnnBackendHeurMode_t as Mode, cudnnBackendNumericalNote_t as Note,
};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::F32Math;
use tfrt_host::DType;

use super::Cudnn;
use super::backend::{Char, Descriptor, HeuristicMode, Int64, NumericalNote, Reference};
use super::convolution::Problem;
use super::graph::OperationGraph;
use super::key::{Key, head_of, mark};
use super::target::Target;
use super::timing;
use super::variants::{Addresses, Variants};
use crate::context::Shared;
use crate::{GpuOptions, device};

/// The environment variable with the folder of cached plans. An empty value disables the cache.
const FOLDER_VARIABLE: &str = "TFRT_CACHE_DIR";
/// Engines that need larger workspaces are not used.
const MAX_WORKSPACE_BYTES: i64 = 1 << 30;
/// The greatest number of engines to try.
const MAX_ENGINES: usize = 64;
/// The greatest number of engines to time.
const MAX_TIMED: usize = 8;

/// A plan that is ready to run.
pub(super) struct Plan {
    pub(super) descriptor: Descriptor,
    pub(super) workspace_bytes: u64,
    variants: Variants,
}

/// The version of the files. It must change whenever a number in [`Key`] changes its meaning (keys
/// contain the positions of enumerations' members), or when other engines may be chosen.
const FORMAT: u32 = 4;

/// A plan that was found, or why there is none.
type Known = (Key, Result<Arc<Plan>>);

/// The plans of one handle.
pub(super) struct Plans {
    library: &'static Cudnn,
    options: GpuOptions,
    /// The context of the device, on which plans can be timed.
    shared: Option<Arc<Shared>>,
    folder: Option<PathBuf>,
    /// The plans found so far, by [`mark`]. `Err` is kept for problems that no engine supports.
    plans: Mutex<HashMap<u64, Vec<Known>>>,
    /// The target of the search for plans, which is serialized. It is created at the first search.
    planner: Mutex<Option<Target>>,
    /// The targets of threads that build plans to be timed.
    builders: Mutex<Vec<Target>>,
}

impl Plans {
    pub(super) fn new(library: &'static Cudnn, shared: &Arc<Shared>, math: F32Math) -> Result<Self> {
        let options = shared.options.with(math);
        let folder = cache_folder().map(|folder| -> Result<_> {
            let chosen = if options.is_deterministic { "first" } else { "timed" };
            let name = format!("{FORMAT}-{}-{}-{chosen}", library.version()?, device::name(shared.device)?);
            let safe = |c: char| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' };
            Ok(folder.join("cudnn").join(name.chars().map(safe).collect::<String>()))
        });
        let folder = folder.transpose()?;
        let shared = Some(Arc::clone(shared));
        let (plans, planner, builders) = Default::default();
        Ok(Self { library, options, shared, folder, plans, planner, builders })
    }

    /// Creates the plans of a described device, cached in this folder.
    #[cfg(test)]
    pub(super) fn with_cache(library: &'static Cudnn, target: Target, folder: Option<PathBuf>) -> Self {
        let (options, plans, builders) = Default::default();
        Self { library, options, shared: None, folder, plans, planner: Mutex::new(Some(target)), builders }
    }

    /// Forgets all plans. Returns the targets of the searches.
    pub(super) fn clear(&mut self) -> Vec<Target> {
        self.plans.get_mut().clear();
        let builders = std::mem::take(self.builders.get_mut());
        builders.into_iter().chain(self.planner.get_mut().take()).collect()
    }

    fn known(&self, problem: &Problem<'_>) -> Option<Result<Arc<Plan>>> {
        let plans = self.plans.lock();
        let known = plans.get(&mark(problem))?;
        known.iter().find(|(key, _)| key.is_of(problem, self.options)).map(|(_, plan)| plan.clone())
    }

    /// Returns the plan for a problem. The context must be current.
    pub(super) fn get(&self, problem: &Problem<'_>) -> Result<Arc<Plan>> {
        if let Some(plan) = self.known(problem) {
            return plan;
        }
        let mut planner = self.planner.lock();
        // Another thread may just have found the same plan.
        if let Some(plan) = self.known(problem) {
            return plan;
        }
        let key = Key::new(problem, self.options);
        let target = match &mut *planner {
            Some(target) => target,
            None => planner.insert(Target::device(self.library)?),
        };
        let plan = self.load(target, &key).map_or_else(|| self.find(target, problem, &key), Ok).map(Arc::new);
        if plan.as_ref().err().is_none_or(|error| error.status == Status::DnnNotSupported) {
            self.plans.lock().entry(mark(problem)).or_default().push((key, plan.clone()));
        }
        plan
    }

    fn find(&self, target: &Target, problem: &Problem<'_>, key: &Key) -> Result<Plan> {
        let plan = match self.find_fastest(target, problem)? {
            Some(plan) => plan,
            None => self.find_first(target, problem)?,
        };
        self.store(&plan, key);
        Ok(plan)
    }

    /// Returns the engine of the heuristic's order with the number that the problem asks for.
    fn find_first(&self, target: &Target, problem: &Problem<'_>) -> Result<Plan> {
        let graph = OperationGraph::new(self.library, target, problem)?;
        let mut skip = u64::try_from(problem.convolution.algorithm).unwrap_or(0);
        let mut why = String::new();
        let found = self.first_engine(target, &graph, problem, |engine| match self.plan(target, engine) {
            Ok(_) if skip > 0 => {
                skip -= 1;
                Ok(None)
            }
            Ok(plan) => Ok(Some(plan)),
            // Not cached: running out of memory is temporary and not the engine's fault.
            Err(error) if error.status == Status::OutOfMemory => Err(error),
            Err(error) => {
                why = format!(": {}", error.detail);
                Ok(None)
            }
        })?;
        let detail = || format!("no engine takes this convolution{why}");
        found.ok_or_else(|| DeviceError::new(Status::DnnNotSupported, detail()))
    }

    /// Returns the fastest of the best proposals, or `None` if they are not to be timed.
    fn find_fastest(&self, target: &Target, problem: &Problem<'_>) -> Result<Option<Plan>> {
        let names_algorithm = problem.convolution.algorithm >= 0;
        let Some((shared, handle)) = self.shared.as_ref().zip(target.handle()) else { return Ok(None) };
        if self.options.is_deterministic || names_algorithm {
            return Ok(None);
        }
        let graph = OperationGraph::new(self.library, target, problem)?;
        let mut proposals = Vec::new();
        for (number, engine) in self.engines(target, &graph, Mode::CUDNN_HEUR_MODE_A)?.iter().enumerate() {
            let notes = self.notes(engine)?;
            let loses = notes.iter().any(|&note| loses_precision(note, problem, self.options));
            if !loses && !is_nondeterministic(&notes) && proposals.len() < MAX_TIMED {
                proposals.push(number);
            }
        }
        if proposals.len() < 2 {
            return Ok(None);
        }
        let mut plans = self.build(shared, problem, &proposals);
        if plans.len() > 1 {
            let Some(fastest) = timing::fastest(shared, self.library, handle, problem, &plans)? else {
                return Ok(None);
            };
            return Ok(Some(plans.swap_remove(fastest)));
        }
        Ok(plans.pop())
    }

    /// Builds plans of the engines with these numbers, on several threads. Leaves out those that
    /// cannot be built.
    fn build(&self, shared: &Arc<Shared>, problem: &Problem<'_>, numbers: &[usize]) -> Vec<Plan> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(numbers.len());
        let next = AtomicUsize::new(0);
        let build_some = || -> Result<Vec<(usize, Plan)>> {
            shared.make_current()?;
            let idle = self.builders.lock().pop();
            let target = idle.map_or_else(|| Target::device(self.library), Ok)?;
            let mut built = Vec::new();
            while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                built.extend(self.build_one(&target, problem, number).ok().map(|plan| (number, plan)));
            }
            self.builders.lock().push(target);
            Ok(built)
        };
        let mut built: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(build_some)).collect();
            // A thread that failed has built nothing: its engines are left out.
            threads.into_iter().filter_map(|thread| thread.join().ok()?.ok()).flatten().collect()
        });
        // In the heuristic's order, so that equally fast ones are told apart in the same way.
        built.sort_by_key(|(number, _)| *number);
        built.into_iter().map(|(_, plan)| plan).collect()
    }

    /// Builds the plan of the engine with this number. All that it needs is made for this target.
    fn build_one(&self, target: &Target, problem: &Problem<'_>, number: usize) -> Result<Plan> {
        let graph = OperationGraph::new(self.library, target, problem)?;
        let engines = self.engines(target, &graph, Mode::CUDNN_HEUR_MODE_A)?;
        let engine = engines.get(number).ok_or(Status::DnnNotSupported)?;
        self.plan(target, engine)
    }

    /// Calls `attempt` with the engines that may compute the problem, and returns the first
    /// success. The best engine comes first, but engines with nondeterministic results come last.
    /// Engines are requested from the library only as needed.
    fn first_engine<T>(
        &self,
        target: &Target,
        graph: &OperationGraph,
        problem: &Problem<'_>,
        mut attempt: impl FnMut(&Descriptor) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut last = Vec::new();
        for mode in [Mode::CUDNN_HEUR_MODE_A, Mode::CUDNN_HEUR_MODE_FALLBACK] {
            for engine in self.engines(target, graph, mode)? {
                let notes = self.notes(&engine)?;
                if notes.iter().any(|&note| loses_precision(note, problem, self.options)) {
                    continue;
                }
                if is_nondeterministic(&notes) {
                    last.push(engine);
                } else if let Some(made) = attempt(&engine)? {
                    return Ok(Some(made));
                }
            }
        }
        for engine in &last {
            if let Some(made) = attempt(engine)? {
                return Ok(Some(made));
            }
        }
        Ok(None)
    }

    /// Returns the engines that the heuristic proposes, the best first.
    fn engines(&self, target: &Target, graph: &OperationGraph, mode: Mode) -> Result<Vec<Descriptor>> {
        let heuristic = Descriptor::new(self.library, Object::CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)?;
        heuristic.set(Name::CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, &[graph.descriptor.reference()])?;
        heuristic.set(Name::CUDNN_ATTR_ENGINEHEUR_MODE, &[HeuristicMode(mode as c_int)])?;
        target.ask_for(&heuristic)?;
        let heuristic = match heuristic.finalize("asking for engines") {
            Err(error) if error.status == Status::DnnNotSupported => return Ok(Vec::new()),
            heuristic => heuristic?,
        };
        let count = heuristic.count::<Reference>(Name::CUDNN_ATTR_ENGINEHEUR_RESULTS)?.min(MAX_ENGINES);
        let mut engines = (0..count)
            .map(|_| Descriptor::new(self.library, Object::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR))
            .collect::<Result<Vec<_>>>()?;
        let mut references: Vec<_> = engines.iter().map(Descriptor::reference).collect();
        let found = heuristic.get(Name::CUDNN_ATTR_ENGINEHEUR_RESULTS, &mut references)?.len();
        engines.truncate(found);
        Ok(engines)
    }

    /// Returns the properties of an engine's arithmetic. An engine that does not report any is
    /// assumed to have none.
    fn notes(&self, configuration: &Descriptor) -> Result<Vec<c_int>> {
        let engine = Descriptor::new(self.library, Object::CUDNN_BACKEND_ENGINE_DESCRIPTOR)?;
        let mut notes = [NumericalNote(-1); 16];
        let told = configuration
            .get(Name::CUDNN_ATTR_ENGINECFG_ENGINE, &mut [engine.reference()])
            .and_then(|_| engine.get(Name::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, &mut notes));
        Ok(told.unwrap_or_default().iter().map(|note| note.0).collect())
    }

    fn plan(&self, target: &Target, configuration: &Descriptor) -> Result<Plan> {
        let plan = Descriptor::new(self.library, Object::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)?;
        target.plan_for(&plan)?;
        plan.set(Name::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &[configuration.reference()])?;
        Plan::new(plan.finalize("making a plan")?)
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:016x}.plan", key.hash())))
    }

    /// Loads the plan from its file, if there is one that the library accepts.
    fn load(&self, target: &Target, key: &Key) -> Option<Plan> {
        let text = std::fs::read_to_string(self.path(key)?).ok()?;
        let (head, json) = text.split_once('\n')?;
        // The library rejects what it cannot read, but would run a damaged plan. So the hash is
        // checked first.
        if head != head_of(key, json) {
            return None;
        }
        let characters: Vec<_> = json.bytes().map(Char).collect();
        let plan = Descriptor::new(self.library, Object::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR).ok()?;
        target.plan_for(&plan).ok()?;
        plan.set(Name::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, &characters).ok()?;
        Plan::new(plan.finalize("restoring a plan").ok()?).ok()
    }

    /// Writes the plan to its file. If that fails, the next process searches again.
    fn store(&self, plan: &Plan, key: &Key) {
        let Some((path, json)) = self.path(key).zip(plan.json()) else { return };
        // A reader finds the whole file or none.
        let _ = write_whole(&path, &format!("{}\n{json}", head_of(key, &json)));
    }
}

/// Returns whether an engine with these properties may give other bits in another run.
fn is_nondeterministic(notes: &[c_int]) -> bool {
    notes.contains(&(Note::CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC as c_int))
}

/// Returns whether an engine with this property computes with fewer bits than requested. f32 means
/// f32, unless TF32 is allowed, and sums have the type that the convolution names.
fn loses_precision(note: c_int, problem: &Problem<'_>, options: GpuOptions) -> bool {
    let is = |kind: Note| note == kind as c_int;
    let is_f32 = problem.tensors[0].0.dtype == DType::F32;
    is(Note::CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) && !(is_f32 && options.allows_tf32)
        || is(Note::CUDNN_NUMERICAL_NOTE_TENSOR_CORE) && is_f32 && !options.allows_tf32
        || is(Note::CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)
            && problem.convolution.compute != DType::F16
}

impl Plan {
    fn new(descriptor: Descriptor) -> Result<Self> {
        let mut bytes = [Int64(0)];
        descriptor.get(Name::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, &mut bytes)?;
        let [Int64(bytes)] = bytes;
        if bytes > MAX_WORKSPACE_BYTES {
            return Err(DeviceError::new(
                Status::DnnNotSupported,
                format!("it wants {bytes} bytes of workspace"),
            ));
        }
        let workspace_bytes = u64::try_from(bytes).unwrap_or(0);
        Ok(Self { descriptor, workspace_bytes, variants: Variants::default() })
    }

    /// Returns the descriptor of the addresses for one run.
    pub(super) fn variant(
        &self,
        library: &'static Cudnn,
        addresses: &Addresses,
        workspace: u64,
    ) -> Result<Arc<Descriptor>> {
        self.variants.get(library, addresses, workspace)
    }

    fn json(&self) -> Option<String> {
        let name = Name::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
        let mut characters = vec![Char(0); self.descriptor.count::<Char>(name).ok()?];
        let characters = self.descriptor.get(name, &mut characters).ok()?;
        let bytes = characters.iter().map(|c| c.0).take_while(|&byte| byte != 0).collect();
        String::from_utf8(bytes).ok()
    }
}

fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let temporary = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::File::create(&temporary)?.write_all(text.as_bytes())?;
    std::fs::rename(&temporary, path)
}

/// Returns `TFRT_CACHE_DIR`, or a folder in the user's cache directory.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    match variable(FOLDER_VARIABLE) {
        Some(folder) => Some(folder).filter(|folder| !folder.as_os_str().is_empty()),
        None => Some(match variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()) {
            Some(folder) => folder.join("tfrt"),
            None => variable("HOME")?.join(".cache/tfrt"),
        }),
    }
}

#[cfg(test)]
mod tests;
