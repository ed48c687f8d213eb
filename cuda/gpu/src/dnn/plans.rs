//! Execution plans: which engine computes a convolution, found once and kept, in memory and on disk.
//!
//! Finding one takes milliseconds to seconds, as engines may be compiled. So it is done with a handle of its own, and calls of
//! plans that are there go on beside it. On disk a plan is the library's own description
//! of it, in a folder for the library's version and the device, one file a problem. A file that does not fit any more is
//! passed over. Nothing is timed: the same problem gets the same engine in every run, and its results the same bits, if any
//! engine's are.

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

/// The environment variable with the folder that plans are kept in; empty for none.
const FOLDER_VARIABLE: &str = "TFRT_CACHE_DIR";
/// Workspaces larger than this are not worth their memory.
const MAX_WORKSPACE_BYTES: i64 = 1 << 30;
/// How many engines are tried.
const MAX_ENGINES: usize = 64;

/// A plan ready for running.
pub(super) struct Plan {
    pub(super) descriptor: Descriptor,
    pub(super) workspace_bytes: u64,
}

/// Of what is kept on disk. Another one whenever a number of [`Key`] means something else (keys have the positions of
/// enumerations' members in them) or other engines may be taken.
const FORMAT: u32 = 3;

/// A problem in numbers; equal ones have equal plans.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key(Vec<u64>);

/// The plans of one handle.
pub(super) struct Plans {
    library: &'static Cudnn,
    options: GpuOptions,
    folder: Option<PathBuf>,
    /// `Err` is kept for problems that no engine takes.
    plans: Mutex<HashMap<Key, Result<Arc<Plan>>>>,
    /// For looking for plans, one at a time; made when the first is looked for.
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

    /// For a device that is described, with this folder.
    #[cfg(test)]
    pub(super) fn of(library: &'static Cudnn, target: Target, folder: Option<PathBuf>) -> Self {
        let options = GpuOptions::default();
        Self { library, options, folder, plans: Mutex::default(), planner: Mutex::new(Some(target)) }
    }

    /// Forgets all plans; what they were found for, if one was looked for.
    pub(super) fn clear(&mut self) -> Option<Target> {
        self.plans.get_mut().clear();
        self.planner.get_mut().take()
    }

    fn known(&self, key: &Key) -> Option<Result<Arc<Plan>>> {
        self.plans.lock().get(key).cloned()
    }

    /// The plan for a problem. The context is current.
    pub(super) fn get(&self, problem: &Problem<'_>) -> Result<Arc<Plan>> {
        let key = Key::new(problem, self.options);
        if let Some(plan) = self.known(&key) {
            return plan;
        }
        let mut planner = self.planner.lock();
        // Whoever looked for one just now may have looked for the same.
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
            // Not for ever, and not the engine's fault.
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

    /// What `attempt` makes of the first engine that it takes, of those that may compute this: the best first, but those whose
    /// results differ from run to run after all others. No more is asked of the library than that needs.
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

    /// What the heuristic proposes, the best first.
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

    /// What an engine says it does to numbers. One that does not tell is taken at its word.
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

    /// The plan from its file, if there is one and the library takes it.
    fn load(&self, target: &Target, key: &Key) -> Option<Plan> {
        let text = std::fs::read_to_string(self.path(key)?).ok()?;
        let (head, json) = text.split_once('\n')?;
        // What the library cannot read it refuses; what says something else than was written it would run.
        if head != head_of(key, json) {
            return None;
        }
        let characters: Vec<_> = json.bytes().map(Char).collect();
        let plan = Descriptor::new(self.library, Object::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR).ok()?;
        target.plan_for(&plan).ok()?;
        plan.set(Name::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, &characters).ok()?;
        Plan::new(plan.finalize("restoring a plan").ok()?).ok()
    }

    /// Writes the plan to its file. Without one it will be found again.
    fn store(&self, plan: &Plan, key: &Key) {
        let Some((path, json)) = self.path(key).zip(plan.json()) else { return };
        // A reader finds the whole file or none.
        let _ = write_whole(&path, &format!("{}\n{json}", head_of(key, &json)));
    }
}

/// Whether an engine of this note computes with fewer bits than was asked for. f32 means f32, unless TF32 is allowed, and sums
/// are of the type that the convolution names.
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

/// `TFRT_CACHE_DIR`, or where the user's caches lie.
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
            // The bits: −1 is one of the values.
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

    /// The numbers in one line.
    fn text(&self) -> String {
        let mut text = String::new();
        for number in &self.0 {
            let _ = write!(text, "{number:x} ");
        }
        text
    }

    /// For the file's name.
    fn hash(&self) -> u64 {
        hash(self.0.iter().flat_map(|number| number.to_le_bytes()))
    }
}

/// A file's first line: which problem the plan is for, and a hash of it.
fn head_of(key: &Key, json: &str) -> String {
    format!("{}{:016x}", key.text(), hash(json.bytes()))
}

/// The same in every version of this program (FNV-1a).
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests;
