//! Modules and functions.
//!
//! `module.load_static` keeps the functions of a request's modules in a table, where `launch` finds
//! them by number.

use tfrt_device::front::{Context, DeviceBuffer, Function, Module};
use tfrt_host::bef::AggregateAttribute;
use tfrt_host::{Arg, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, OnceList};

use crate::from;

/// For each device, the functions of its modules: the request's resource of this type. Launches
/// read it without a lock.
#[derive(Default)]
pub(crate) struct ModuleTable(OnceList<Loaded>);

/// A device's functions.
struct Loaded {
    device: u32,
    functions: Vec<Function>,
}

impl ModuleTable {
    /// The functions loaded for a device.
    pub(crate) fn functions_of(&self, device: u32) -> Result<&[Function], Diagnostic> {
        let found = self.find(device);
        found.map(|loaded| &*loaded.functions).ok_or_else(|| {
            Diagnostic::invalid_argument(format!(
                "CUDA module table has not been initialized for device {device}"
            ))
        })
    }

    fn find(&self, device: u32) -> Option<&Loaded> {
        self.0.iter().find(|loaded| loaded.device == device)
    }

    /// Adds a device's, if it has none; whether it had none.
    fn add(&self, device: u32, functions: Vec<Function>) -> bool {
        let mut is_new = false;
        self.0.find_or_add(
            |loaded| loaded.device == device,
            || {
                is_new = true;
                Loaded { device, functions }
            },
        );
        is_new
    }
}

/// The table of the program's request.
pub(crate) fn table(cx: &ExecutionContext) -> Result<&ModuleTable, Diagnostic> {
    cx.resources().only().ok_or_else(|| {
        Diagnostic::invalid_argument("CUDA module table has not been initialized for any device")
    })
}

fn malformed(what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::invalid_argument(format!("CUDA module table spec is malformed; {what}"))
}

/// The attribute's elements as strings.
fn strings<'a>(what: &str, list: &AggregateAttribute<'a>) -> Result<Vec<&'a str>, Diagnostic> {
    let expected = |index| malformed(format!("Expected a string; {what} {index}"));
    (0..list.len())
        .map(|index| {
            let element = list.get(index).map_err(|_| expected(index))?;
            element.string().ok_or_else(|| expected(index))
        })
        .collect()
}

/// The modules, and the names of each one's functions.
fn parse<'a>(
    modules: &AggregateAttribute<'a>,
    counts: &[i32],
    functions: &AggregateAttribute<'a>,
) -> Result<Vec<(&'a str, Vec<&'a str>)>, Diagnostic> {
    let (modules, functions) = (strings("module", modules)?, strings("function", functions)?);
    if modules.is_empty() {
        return Err(malformed("No module data specified"));
    }
    if modules.len() != counts.len() {
        return Err(malformed(format!(
            "Number of entries in function count list doesn't match number of modules; {} vs {}",
            counts.len(),
            modules.len()
        )));
    }
    if let Some((module, count)) = counts.iter().enumerate().find(|(_, count)| **count <= 0) {
        return Err(malformed(format!("Invalid function count ({count}) specified for module {module}")));
    }
    let total: i64 = counts.iter().map(|&count| i64::from(count)).sum();
    if total != functions.len() as i64 {
        return Err(malformed(format!(
            "Mismatch between total size of functions per module and size of function table; {total} vs {}",
            functions.len()
        )));
    }
    let mut names = functions.into_iter();
    let lists = modules.into_iter().zip(counts);
    Ok(lists.map(|(module, &count)| (module, names.by_ref().take(count as usize).collect())).collect())
}

/// Keeps a device's functions, for `tfrt_cuda.launch` to find by number.
///
/// # Errors
/// If the device has some already.
pub(crate) fn keep_functions(
    cx: &ExecutionContext,
    context: &Context,
    functions: Vec<Function>,
) -> Result<(), Diagnostic> {
    let device = context.device().ordinal();
    let table = cx.resources().only_or_create(ModuleTable::default);
    if table.add(device, functions) { Ok(()) } else { Err(duplicate(device)) }
}

fn duplicate(device: u32) -> Diagnostic {
    Diagnostic::invalid_argument(format!(
        "Unable to load CUDA module table. Table has already been created for device {device}"
    ))
}

fn load_static(
    context: Arg<Context>,
    _chain: Chain,
    counts: Attr<[i32]>,
    functions: Attr<AggregateAttribute<'_>>,
    modules: Attr<AggregateAttribute<'_>>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let device = context.device().ordinal();
    if table(cx).is_ok_and(|table| table.find(device).is_some()) {
        return Err(duplicate(device));
    }
    let mut loaded = Vec::new();
    for (image, names) in parse(&modules.0, counts.0, &functions.0)? {
        let module = from(cx, &context, || context.load_module(image.as_bytes()))?;
        for name in names {
            loaded.push(module.function(name)?);
        }
    }
    keep_functions(cx, &context, loaded)?;
    Ok(Chain)
}

fn load(
    context: Arg<Context>,
    _chain: Chain,
    image: Attr<str>,
    cx: &ExecutionContext,
) -> Result<(Module, Chain), Diagnostic> {
    Ok((from(cx, &context, || context.load_module(image.0.as_bytes()))?, Chain))
}

fn compile(
    context: Arg<Context>,
    _chain: Chain,
    source: Attr<str>,
    cx: &ExecutionContext,
) -> Result<(Module, Chain), Diagnostic> {
    from(cx, &context, || {
        let image = context.compile(source.0, &[])?;
        Ok((context.load_module(&image)?, Chain))
    })
}

fn function_get(
    module: Arg<Module>,
    _chain: Chain,
    name: Attr<str>,
) -> Result<(Function, Chain), Diagnostic> {
    Ok((module.function(name.0)?, Chain))
}

fn get_global(
    module: Arg<Module>,
    _chain: Chain,
    name: Attr<str>,
) -> Result<(DeviceBuffer, Chain), Diagnostic> {
    Ok((module.global(name.0)?, Chain))
}

fn occupancy(
    function: Arg<Function>,
    threads: u32,
    shared_memory_bytes: u32,
    _chain: Chain,
) -> Result<(u32, Chain), Diagnostic> {
    Ok((function.occupancy(threads, shared_memory_bytes)?, Chain))
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.module.load_static", load_static)
        .attributes(&["funcs_per_module", "functions", "modules"])
        .side_effecting()
        .blocking()
        .doc("Loads modules (PTX or binaries) and keeps their functions, for 'launch' to find by number.");
    registry
        .add("tfrt_cuda.module.load", load)
        .attributes(&["image"])
        .side_effecting()
        .blocking()
        .doc("A module: PTX, or a binary of the device's.");
    registry
        .add("tfrt_cuda.module.compile", compile)
        .attributes(&["source"])
        .side_effecting()
        .blocking()
        .doc("A module compiled from CUDA C++, where the compiler is there.");
    registry
        .add("tfrt_cuda.function.get", function_get)
        .attributes(&["name"])
        .side_effecting()
        .doc("A function of a module.");
    registry
        .add("tfrt_cuda.module.get_global", get_global)
        .attributes(&["name"])
        .side_effecting()
        .doc("A variable of a module, in global or constant memory, as a buffer to copy to and from.");
    registry
        .add("tfrt_cuda.function.occupancy", occupancy)
        .side_effecting()
        .doc("Blocks of so many threads, with so much dynamic shared memory, that a multiprocessor holds at a time.");
}
