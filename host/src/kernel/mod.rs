//! Kernels: host functions the executor dispatches, and the registry that knows them by name.
//!
//! The function is the definition: its parameters and result say what the kernel takes and returns.
//! The dispatch shim, the types the verifier checks, the custom assembly and the reference page all
//! come from them.
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

mod attributes;
mod chain_form;
mod into_kernel;
#[cfg(doctest)]
mod misuse;
mod parameters;
mod registry;
mod results;
mod signature;

use std::{borrow::Cow, fmt, sync::Arc};

pub use attributes::{Attr, AttributeType, RestAttrs};
use into_kernel::ErasedKernel;
pub use into_kernel::IntoKernel;
pub use parameters::{Arg, ArgumentType, KernelParameter, Rest, ResultCount};
pub use registry::KernelRegistry;
pub use results::{KernelResult, Out, ResultValue};
pub use signature::{Alias, AttributeParameter, AttributeSpec, FunctionAttribute, KernelSignature, TypeSpec};

use crate::program::{KernelFn, ScalarFn};

/// Supertraits that only this module implements.
mod sealed {
    pub trait Parameter {}
    pub trait Results {}
    pub trait Attribute {}
}

/// Where the executor runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At once, on the thread that finds it ready. For work of less than about a microsecond.
    Inline,
    /// On the work queue, when other work of the function could run beside it.
    Parallel,
    /// On the blocking pool, because the kernel may wait for something.
    Blocking,
}

/// A registered kernel and its properties.
pub struct Kernel {
    name: Cow<'static, str>,
    signature: KernelSignature,
    run: Arc<KernelFn>,
    /// Fits `signature`, because both come from one `ErasedKernel` and neither changes.
    scalar: Option<ScalarFn>,
    placement: Placement,
    non_strict: bool,
    side_effecting: bool,
    mutated: Vec<usize>,
    /// The default if it is not said: see [`KernelRegistry::read_arguments`].
    read: Option<Vec<usize>>,
    aliases: Vec<Alias>,
    function_attributes: Vec<FunctionAttribute>,
    typed_attributes: bool,
    chain_form: Option<Cow<'static, str>>,
    assembly: Option<&'static str>,
    doc: &'static str,
}

impl Kernel {
    fn new(name: Cow<'static, str>, ErasedKernel { signature, run, scalar }: ErasedKernel) -> Self {
        Self {
            name,
            signature,
            run,
            scalar,
            placement: Placement::Inline,
            non_strict: false,
            side_effecting: false,
            mutated: Vec::new(),
            read: None,
            aliases: Vec::new(),
            function_attributes: Vec::new(),
            typed_attributes: false,
            chain_form: None,
            assembly: None,
            doc: "",
        }
    }

    /// Returns the name that programs use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns parameters and results.
    pub fn signature(&self) -> &KernelSignature {
        &self.signature
    }

    /// Returns where the executor runs the kernel.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Returns whether every call runs at once, without waiting for its arguments. Programs can ask
    /// for the same with `bef.nonstrict` on a single call.
    pub fn is_non_strict(&self) -> bool {
        self.non_strict
    }

    /// Returns whether the kernel has effects beyond its results, so that chains must order its
    /// calls.
    pub fn is_side_effecting(&self) -> bool {
        self.side_effecting
    }

    /// Returns the numbers of the arguments that the kernel changes.
    pub fn mutated_arguments(&self) -> &[usize] {
        &self.mutated
    }

    /// Returns which results share their contents with an argument.
    pub fn aliases(&self) -> &[Alias] {
        &self.aliases
    }

    /// Returns the attributes that refer to functions, in the order in which the kernel sees the
    /// functions. The functions of a kernel without such attributes are regions of the op, or its
    /// attribute `callee`.
    pub fn function_attributes(&self) -> &[FunctionAttribute] {
        &self.function_attributes
    }

    /// Returns whether the kernel reads attributes whose kinds it does not know beforehand, so that
    /// programs state the kind of each.
    pub fn has_typed_attributes(&self) -> bool {
        self.typed_attributes
    }

    /// Returns the name of the kernel that does the same but takes and gives a chain as its last
    /// argument and result; see [`KernelRegistry::add_chain_form`].
    pub fn chain_form(&self) -> Option<&str> {
        self.chain_form.as_deref()
    }

    /// Returns the kernel's custom assembly format, if the default for its signature is not what
    /// programs write.
    pub fn assembly(&self) -> Option<&'static str> {
        self.assembly
    }

    /// Returns the description for the kernel reference.
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

/// Sets properties of a kernel that was just added.
#[derive(Debug)]
pub struct KernelBuilder<'r>(&'r mut Kernel);

impl KernelBuilder<'_> {
    /// Describes the kernel, in a sentence for the kernel reference.
    pub fn doc(self, doc: &'static str) -> Self {
        self.0.doc = doc;
        self
    }

    /// Names the attributes, in the order of the `Attr` parameters.
    ///
    /// Programs pass attributes to a kernel in the order of their names, so the names must be
    /// sorted.
    pub fn attributes(self, names: &[&'static str]) -> Self {
        debug_assert!(names.is_sorted(), "attributes of {} are not sorted", self.0.name);
        for (attribute, name) in self.0.signature.attributes.iter_mut().zip(names) {
            attribute.name = name;
        }
        self
    }

    /// Lets programs use `alias` for the attribute `name`. Both must have the same place among the
    /// sorted names.
    pub fn attribute_alias(self, name: &str, alias: &'static str) -> Self {
        let mut attributes = self.0.signature.attributes.iter_mut();
        let attribute = attributes.find(|attribute| attribute.name == name);
        debug_assert!(attribute.is_some(), "{} has no attribute '{name}'", self.0.name);
        if let Some(attribute) = attribute {
            attribute.alias = Some(alias);
        }
        self
    }

    /// Declares that the kernel has effects beyond its results, so that chains must order its
    /// calls.
    pub fn side_effecting(self) -> Self {
        self.0.side_effecting = true;
        self
    }

    /// Declares that the kernel changes the arguments with these numbers.
    pub fn mutates(self, arguments: &[usize]) -> Self {
        self.0.mutated = arguments.to_vec();
        self
    }

    /// Declares that the kernel reads the contents of the arguments with these numbers and of no
    /// others. Without this it counts as reading every argument that has contents; see
    /// [`KernelRegistry::read_arguments`].
    pub fn reads(self, arguments: &[usize]) -> Self {
        self.0.read = Some(arguments.to_vec());
        self
    }

    /// Declares that a result shares its contents with an argument, so that changing one changes
    /// the other.
    pub fn aliases(self, result: usize, argument: usize) -> Self {
        self.0.aliases.push(Alias { result, argument });
        self
    }

    /// Names the attributes that refer to functions, one for each function that the kernel takes,
    /// sorted.
    pub fn functions(self, names: &[&'static str]) -> Self {
        debug_assert!(names.is_sorted(), "function attributes of {} are not sorted", self.0.name);
        self.0.function_attributes =
            names.iter().map(|&name| FunctionAttribute { name, is_list: false }).collect();
        self
    }

    /// Names the attribute that lists all functions that the kernel takes.
    pub fn function_list(self, name: &'static str) -> Self {
        self.0.function_attributes = vec![FunctionAttribute { name, is_list: true }];
        self
    }

    /// Declares that the kernel reads attributes whose kinds it does not know beforehand, so that
    /// programs state the kind of each.
    pub fn typed_attributes(self) -> Self {
        self.0.typed_attributes = true;
        self
    }

    /// Runs the kernel as soon as the executor reaches it, without waiting for any argument.
    ///
    /// Every argument may then be available, pending or an error. The kernel takes them as
    /// [`Arg<AsyncValue>`](Arg), [`Rest<AsyncValue>`](Rest) or
    /// [`AsyncValueRef`](crate::AsyncValueRef); for other parameters, a pending value or an error
    /// fails the call. A non-strict kernel cannot be [`blocking`](Self::blocking): programs that
    /// use such a kernel do not load.
    pub fn non_strict(self) -> Self {
        self.0.non_strict = true;
        self
    }

    /// Runs the kernel on the blocking pool, because it may wait.
    ///
    /// The executor waits for the arguments first. Programs that call a blocking kernel from a
    /// synchronous function, or with `bef.nonstrict`, do not load: such a call would run on a
    /// compute thread, which must not wait.
    pub fn blocking(self) -> Self {
        self.0.placement = Placement::Blocking;
        self
    }

    /// Lets independent calls run beside each other, because each computes for several microseconds
    /// or more.
    pub fn parallel(self) -> Self {
        self.0.placement = Placement::Parallel;
        self
    }

    /// Sets a custom assembly format, in the notation of `tfrt-ir`.
    pub fn assembly(self, format: &'static str) -> Self {
        self.0.assembly = Some(format);
        self
    }
}
