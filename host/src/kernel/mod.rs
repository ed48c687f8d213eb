//! Kernels: host functions the executor dispatches, and the registry that knows them by name.
//!
//! The function is the definition: its parameters and result say what the kernel takes and gives, and from
//! them come the dispatch shim, the types the verifier checks, the custom assembly and the reference page.
//!
//! ```
//! use tfrt_host::{Attr, Chain, ExecutionContext, KernelRegistry};
//!
//! fn print_i32(value: i32, _chain: Chain, cx: &ExecutionContext) -> Chain {
//!     cx.host().print(format_args!("int32 = {value}\n"));
//!     Chain
//! }
//!
//! let mut registry = KernelRegistry::new();
//! registry.add("my.add.i32", |a: i32, b: i32| a.wrapping_add(b)).doc("Sum, wrapping.");
//! registry.add("my.constant.i32", |value: Attr<i32>| value.0);
//! registry.add("my.print.i32", print_i32).side_effecting();
//! ```

pub(crate) mod attributes;
pub(crate) mod frame;
mod into_kernel;
mod parameters;
mod results;
mod signature;

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

pub use attributes::{Attr, AttributeType, RestAttrs};
pub use frame::{KernelFrame, ScalarFn, ScalarFrame};
pub use into_kernel::{IntoKernel, KernelFn};
pub use parameters::{Arg, ArgumentType, KernelParameter, Rest, ResultCount};
pub use results::{KernelResult, Out, ResultValue};
pub use signature::{AttributeParameter, AttributeSpec, KernelSignature, TypeSpec};

use crate::{
    async_value::AsyncValue,
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
};

/// Where the executor runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At once, on the thread that finds it ready: for work of less than about a microsecond.
    Inline,
    /// On the work queue, when other work of the function could run beside it.
    Parallel,
    /// On the blocking pool: the kernel may wait for something.
    Blocking,
}

/// A registered kernel and what is known of it.
pub struct Kernel {
    name: Cow<'static, str>,
    signature: KernelSignature,
    run: Arc<KernelFn>,
    scalar: Option<ScalarFn>,
    placement: Placement,
    non_strict: bool,
    side_effecting: bool,
    mutated: Vec<usize>,
    assembly: Option<&'static str>,
    doc: &'static str,
}

impl Kernel {
    /// The name programs use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Parameters and results.
    pub fn signature(&self) -> &KernelSignature {
        &self.signature
    }

    /// Where it runs.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Whether it runs before its arguments are available, also without `bef.nonstrict` in the program.
    pub fn is_non_strict(&self) -> bool {
        self.non_strict
    }

    /// Whether it does something beyond its results, so that chains must order it.
    pub fn is_side_effecting(&self) -> bool {
        self.side_effecting
    }

    /// Numbers of the arguments it changes.
    pub fn mutated_arguments(&self) -> &[usize] {
        &self.mutated
    }

    /// Its custom assembly, where the default for its signature is not what programs write.
    pub fn assembly(&self) -> Option<&'static str> {
        self.assembly
    }

    /// What it does.
    pub fn doc(&self) -> &'static str {
        self.doc
    }

    pub(crate) fn scalar(&self) -> Option<ScalarFn> {
        self.scalar
    }

    pub(crate) fn function(&self) -> &Arc<KernelFn> {
        &self.run
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

/// Says more of a kernel that was just added.
#[derive(Debug)]
pub struct KernelBuilder<'r>(&'r mut Kernel);

impl KernelBuilder<'_> {
    /// What it does, in a sentence for the kernel reference.
    pub fn doc(self, doc: &'static str) -> Self {
        self.0.doc = doc;
        self
    }

    /// Names its attributes, in the order of its `Attr` parameters. MLIR hands attributes on in the order of
    /// their names, so these must be sorted.
    pub fn attributes(self, names: &[&'static str]) -> Self {
        debug_assert!(names.is_sorted(), "attributes of {} are not sorted", self.0.name);
        for (attribute, name) in self.0.signature.attributes.iter_mut().zip(names) {
            attribute.name = name;
        }
        self
    }

    /// Lets programs call attribute `name` by another name, which stands in the same place among the sorted names.
    pub fn attribute_alias(self, name: &str, alias: &'static str) -> Self {
        let mut attributes = self.0.signature.attributes.iter_mut();
        let attribute = attributes.find(|attribute| attribute.name == name);
        debug_assert!(attribute.is_some(), "{} has no attribute '{name}'", self.0.name);
        if let Some(attribute) = attribute {
            attribute.alias = Some(alias);
        }
        self
    }

    /// It does something beyond its results.
    pub fn side_effecting(self) -> Self {
        self.0.side_effecting = true;
        self
    }

    /// It changes these arguments.
    pub fn mutates(self, arguments: &[usize]) -> Self {
        self.0.mutated = arguments.to_vec();
        self
    }

    /// It runs as soon as its first argument is there, and takes pending and failed ones.
    pub fn non_strict(self) -> Self {
        self.0.non_strict = true;
        self
    }

    /// It may wait: it runs on the blocking pool.
    pub fn blocking(self) -> Self {
        self.0.placement = Placement::Blocking;
        self
    }

    /// It computes for long enough (several microseconds) that independent calls should run beside each other.
    pub fn parallel(self) -> Self {
        self.0.placement = Placement::Parallel;
        self
    }

    /// Its custom assembly, in the notation of `tfrt-ir`.
    pub fn assembly(self, format: &'static str) -> Self {
        self.0.assembly = Some(format);
        self
    }

    /// Replaces the signature of a kernel that looks at its frame itself.
    pub fn signature(self, signature: KernelSignature) -> Self {
        self.0.signature = signature;
        self
    }
}

/// A native function: called directly, by the name of a `tfrt.native` function.
pub type NativeFn = dyn Fn(&ExecutionContext, &[AsyncValue], usize) -> Vec<AsyncValue> + Send + Sync;

/// Kernels and native functions by name.
#[derive(Default)]
pub struct KernelRegistry {
    kernels: BTreeMap<Cow<'static, str>, Arc<Kernel>>,
    natives: BTreeMap<Cow<'static, str>, Arc<NativeFn>>,
    duplicates: Vec<Cow<'static, str>>,
    spare: Option<Kernel>,
}

impl KernelRegistry {
    /// A registry without kernels.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function as a kernel.
    pub fn add<Sig, K: IntoKernel<Sig>>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        kernel: K,
    ) -> KernelBuilder<'_> {
        let scalar = kernel.scalar_fn();
        self.insert(name.into(), K::signature(), kernel.into_kernel(), scalar)
    }

    /// Adds a kernel that looks at its frame itself: control flow above all.
    pub fn add_raw(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        kernel: impl Fn(&mut KernelFrame<'_>) + Send + Sync + 'static,
    ) -> KernelBuilder<'_> {
        let kernel = move |frame: &mut KernelFrame<'_>| {
            // It may forget to set one.
            frame.clear_results();
            kernel(frame);
        };
        self.insert(name.into(), KernelSignature::any(), Arc::new(kernel), None)
    }

    /// Adds a native function: given the context, the arguments (perhaps pending) and the number of results.
    pub fn add_native(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        function: impl Fn(&ExecutionContext, &[AsyncValue], usize) -> Vec<AsyncValue> + Send + Sync + 'static,
    ) {
        let name = name.into();
        if self.natives.insert(name.clone(), Arc::new(function)).is_some() {
            self.duplicates.push(name);
        }
    }

    fn insert(
        &mut self,
        name: Cow<'static, str>,
        signature: KernelSignature,
        run: Arc<KernelFn>,
        scalar: Option<ScalarFn>,
    ) -> KernelBuilder<'_> {
        let kernel = Kernel {
            name: name.clone(),
            signature,
            run,
            scalar,
            placement: Placement::Inline,
            non_strict: false,
            side_effecting: false,
            mutated: Vec::new(),
            assembly: None,
            doc: "",
        };
        if self.kernels.contains_key(&name) {
            // The first one stays; `check` reports the name, and the builder works on one that is thrown away.
            self.duplicates.push(name);
            return KernelBuilder(self.spare.insert(kernel));
        }
        let entry = self.kernels.entry(name).or_insert_with(|| Arc::new(kernel));
        let Some(kernel) = Arc::get_mut(entry) else { unreachable!("a kernel just added is not shared yet") };
        KernelBuilder(kernel)
    }

    /// Whether every name was added once.
    ///
    /// # Errors
    /// One that lists the names added twice.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.duplicates.is_empty() {
            return Ok(());
        }
        let message = format!("registered twice: {}", self.duplicates.join(", "));
        Err(Diagnostic::new(ErrorCode::InvalidArgument, message))
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<Kernel>> {
        self.kernels.get(name)
    }

    /// The native function of this name.
    pub fn native(&self, name: &str) -> Option<&Arc<NativeFn>> {
        self.natives.get(name)
    }

    /// All kernels, by name.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = &Kernel> {
        self.kernels.values().map(|kernel| &**kernel)
    }
}

impl fmt::Debug for KernelRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KernelRegistry({} kernels)", self.kernels.len())
    }
}
