//! Execution plans: the engine for each convolution, searched once and cached in memory and on
//! disk.
//!
//! A search takes milliseconds to seconds, because engines may be compiled. It uses a separate
//! handle, so that calls with known plans continue meanwhile. On disk, a plan is the library's own
//! description of it, in a folder for the library's version and the device, with one file for each
//! problem. A file that does not match is ignored. Nothing is timed: the same problem gets the same
//! engine in every run, and the same bits in its results unless every engine is nondeterministic.

use std::collections::HashMap;
use std::ffi::c_int;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Name, cudnnBackendDescriptorType_t as Object,
    cudnnBackendHeurMode_t as Mode, cudnnBackendNumericalNote_t as Note,
};
use cudarc::driver::sys::CUdevice;
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::TensorLayout;
use tfrt_host::DType;

use super::Cudnn;
use super::backend::{Char, Descriptor, HeuristicMode, Int64, NumericalNote, Reference};
use super::convolution::Problem;
use super::graph::OperationGraph;
use super::target::Target;
use crate::{GpuOptions, device};

/// The environment variable with the folder of cached plans. An empty value disables the cache.
const FOLDER_VARIABLE: &str = "TFRT_CACHE_DIR";
/// Engines that need larger workspaces are not used.
const MAX_WORKSPACE_BYTES: i64 = 1 << 30;
/// The greatest number of engines to try.
const MAX_ENGINES: usize = 64;

/// A plan that is ready to run.
pub(super) struct Plan {
    pub(super) descriptor: Descriptor,
    pub(super) workspace_bytes: u64,
}

/// The version of the files. It must change whenever a number in [`Key`] changes its meaning (keys
/// contain the positions of enumerations' members), or when other engines may be chosen.
const FORMAT: u32 = 3;

/// A problem as numbers. Equal keys have equal plans.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key(Vec<u64>);

/// The plans of one handle.
pub(super) struct Plans {
    library: &'static Cudnn,
    options: GpuOptions,
    folder: Option<PathBuf>,
    /// The plans found so far. `Err` is kept for problems that no engine supports.
    plans: Mutex<HashMap<Key, Result<Arc<Plan>>>>,
    /// The target of the search for plans, which is serialized. It is created at the first search.
    planner: Mutex<Option<Target>>,
}

impl Plans {
    pub(super) fn new(library: &'static Cudnn, device: CUdevice, options: GpuOptions) -> Result<Self> {
        let folder = cache_folder().map(|folder| -> Result<_> {
            let name = format!("{FORMAT}-{}-{}", library.version()?, device::name(device)?);
            let safe = |c: char| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' };
            Ok(folder.join("cudnn").join(name.chars().map(safe).collect::<String>()))
        });
        let folder = folder.transpose()?;
        Ok(Self { library, options, folder, plans: Mutex::default(), planner: Mutex::default() })
    }

    /// Creates the plans of a described device, cached in this folder.
    #[cfg(test)]
    pub(super) fn with_cache(library: &'static Cudnn, target: Target, folder: Option<PathBuf>) -> Self {
        let options = GpuOptions::default();
        Self { library, options, folder, plans: Mutex::default(), planner: Mutex::new(Some(target)) }
    }

    /// Forgets all plans. Returns the target of the searches, if there were any.
    pub(super) fn clear(&mut self) -> Option<Target> {
        self.plans.get_mut().clear();
        self.planner.get_mut().take()
    }

    fn known(&self, key: &Key) -> Option<Result<Arc<Plan>>> {
        self.plans.lock().get(key).cloned()
    }

    /// Returns the plan for a problem. The context must be current.
    pub(super) fn get(&self, problem: &Problem<'_>) -> Result<Arc<Plan>> {
        let key = Key::new(problem, self.options);
        if let Some(plan) = self.known(&key) {
            return plan;
        }
        let mut planner = self.planner.lock();
        // Another thread may just have found the same plan.
        if let Some(plan) = self.known(&key) {
            return plan;
        }
        let target = match &mut *planner {
            Some(target) => target,
            None => planner.insert(Target::device(self.library)?),
        };
        let plan = self.load(target, &key).map_or_else(|| self.find(target, problem, &key), Ok).map(Arc::new);
        if plan.as_ref().err().is_none_or(|error| error.status == Status::DnnNotSupported) {
            self.plans.lock().insert(key, plan.clone());
        }
        plan
    }

    fn find(&self, target: &Target, problem: &Problem<'_>, key: &Key) -> Result<Plan> {
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
        let plan = found.ok_or_else(|| DeviceError::new(Status::DnnNotSupported, detail()))?;
        self.store(&plan, key);
        Ok(plan)
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
                if notes.contains(&(Note::CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC as c_int)) {
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
        Ok(Self { descriptor, workspace_bytes: u64::try_from(bytes).unwrap_or(0) })
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

impl Key {
    fn new(problem: &Problem<'_>, options: GpuOptions) -> Self {
        let mut numbers = Vec::with_capacity(64);
        let convolution = problem.convolution;
        numbers.extend([
            u64::from(options.allows_tf32),
            problem.kind as u64,
            convolution.groups,
            u64::from(convolution.cross_correlation),
            convolution.compute as u64,
            // The bits, because −1 is a valid value.
            convolution.algorithm as u64,
            problem.scaling.alpha.to_bits(),
            problem.scaling.beta.to_bits(),
        ]);
        for list in [&convolution.padding, &convolution.strides, &convolution.dilations] {
            numbers.push(list.len() as u64);
            numbers.extend(list);
        }
        let mut tensor = |layout: &TensorLayout, alignment: u32| {
            numbers.extend([layout.dtype as u64, u64::from(alignment), layout.dims.len() as u64]);
            numbers.extend(&layout.dims);
            numbers.extend(&layout.strides);
        };
        problem.tensors.iter().for_each(|&(layout, alignment)| tensor(layout, alignment));
        if let Some((layout, alignment)) = problem.bias {
            tensor(layout, alignment);
        }
        if let Some((layout, alignment, _)) = problem.residual {
            tensor(layout, alignment);
        }
        numbers.push(u64::from(problem.bias.is_some()));
        numbers.push(problem.residual.map_or(0, |(_, _, factor)| factor.to_bits()));
        numbers.push(u64::from(problem.residual.is_some()));
        if let Some(activation) = problem.activation {
            numbers.extend([activation.mode as u64, activation.coefficient.to_bits(), activation.nan as u64]);
        }
        Self(numbers)
    }

    /// Returns the numbers as one line.
    fn text(&self) -> String {
        let mut text = String::new();
        for number in &self.0 {
            let _ = write!(text, "{number:x} ");
        }
        text
    }

    /// Returns a hash for the file's name.
    fn hash(&self) -> u64 {
        hash(self.0.iter().flat_map(|number| number.to_le_bytes()))
    }
}

/// Returns the first line of a file: the problem, and a hash of the plan.
fn head_of(key: &Key, json: &str) -> String {
    format!("{}{:016x}", key.text(), hash(json.bytes()))
}

/// Hashes bytes by FNV-1a, which is the same in every version of this program.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests;
