//! The registry: kernels and native functions by name.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use super::{ErasedKernel, IntoKernel, Kernel, KernelBuilder, KernelSignature, TypeSpec};
use crate::{
    async_value::AsyncValue,
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    panics,
    process::is_library,
    program::{KernelFrame, NativeFn},
    value::Value,
};

/// Kernels and native functions by name.
#[derive(Default)]
pub struct KernelRegistry {
    kernels: BTreeMap<Cow<'static, str>, Arc<Kernel>>,
    natives: BTreeMap<Cow<'static, str>, Arc<NativeFn>>,
    mutable_types: BTreeSet<&'static str>,
    duplicates: Vec<Cow<'static, str>>,
    spare: Option<Kernel>,
}

impl KernelRegistry {
    /// Makes a registry without kernels.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function as a kernel. Its signature is the function's.
    pub fn add<Sig, K: IntoKernel<Sig>>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        kernel: K,
    ) -> KernelBuilder<'_> {
        self.insert(name.into(), kernel.erase())
    }

    /// Adds a kernel that reads its frame itself, such as control flow.
    ///
    /// Programs are checked against `signature`. With [`KernelSignature::any`] calls may have any
    /// arguments, attributes, functions and results.
    pub fn add_raw(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        signature: KernelSignature,
        kernel: impl Fn(&mut KernelFrame<'_>) + Send + Sync + 'static,
    ) -> KernelBuilder<'_> {
        let run = Arc::new(move |frame: &mut KernelFrame<'_>| {
            // The kernel may forget to set one.
            frame.clear_results();
            kernel(frame);
        });
        self.insert(name.into(), ErasedKernel { signature, run, scalar: None })
    }

    /// Adds a native function. It receives the context, the arguments (perhaps pending) and the
    /// number of results.
    pub fn add_native(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        function: impl Fn(&ExecutionContext, &[AsyncValue], usize) -> Vec<AsyncValue> + Send + Sync + 'static,
    ) {
        let name = name.into();
        let function: Arc<NativeFn> = if is_library() {
            Arc::new(move |cx: &_, arguments: &_, results| {
                panics::shield(|| function(cx, arguments, results))
            })
        } else {
            Arc::new(function)
        };
        if self.natives.insert(name.clone(), function).is_some() {
            self.duplicates.push(name);
        }
    }

    /// Adds a kernel `NAME.chained` that does what the kernel `name`, added before, does. It takes
    /// a chain after the arguments, unless the last one is a chain already, and gives a chain after
    /// the results, which is available when they are. Programs can order calls that read or change
    /// contents by it.
    ///
    /// The kernel has results, and neither further arguments nor further results may follow its
    /// fixed ones.
    pub fn add_chain_form(&mut self, name: &str) {
        let form_name: Cow<'static, str> = format!("{name}.chained").into();
        let kernel = self.kernels.get_mut(name).and_then(Arc::get_mut);
        let form = kernel.and_then(|kernel| {
            kernel.chain_form = Some(form_name.clone());
            kernel.with_chain(form_name.clone())
        });
        debug_assert!(form.is_some(), "{name} can have no chain form");
        if let Some(form) = form
            && self.kernels.insert(form_name.clone(), Arc::new(form)).is_some()
        {
            self.duplicates.push(form_name);
        }
    }

    /// Declares that values of this type have contents that kernels may change after the value is
    /// made, such as the elements of a tensor. Calls that read and change the same contents need an
    /// order.
    pub fn add_mutable_type<T: Value>(&mut self) {
        self.mutable_types.insert(T::TYPE_NAME);
    }

    /// Iterates over the names of the types whose contents kernels may change.
    pub fn mutable_types(&self) -> impl Iterator<Item = &'static str> {
        self.mutable_types.iter().copied()
    }

    /// Returns whether values of the type with this name have contents that kernels may change.
    pub fn is_mutable_type(&self, name: &str) -> bool {
        self.mutable_types.contains(name)
    }

    /// Returns the numbers of the arguments whose contents a kernel may read: those it declared, or
    /// all of mutable types. The number after the last fixed argument stands for all further
    /// arguments.
    pub fn read_arguments(&self, kernel: &Kernel) -> Vec<usize> {
        if let Some(read) = &kernel.read {
            return read.clone();
        }
        let signature = kernel.signature();
        let types = signature.arguments.iter().copied().chain(signature.rest_arguments);
        let is_mutable = |ty: TypeSpec| ty.name().is_some_and(|name| self.is_mutable_type(name));
        types.enumerate().filter(|&(_, ty)| is_mutable(ty)).map(|(index, _)| index).collect()
    }

    fn insert(&mut self, name: Cow<'static, str>, mut kernel: ErasedKernel) -> KernelBuilder<'_> {
        if is_library() {
            let run = kernel.run;
            kernel.run = Arc::new(move |frame: &mut KernelFrame<'_>| panics::shield(|| run(frame)));
            // The shorter way to call a kernel has no room for a shield.
            kernel.scalar = None;
        }
        let kernel = Kernel::new(name.clone(), kernel);
        if self.kernels.contains_key(&name) {
            // The first one stays; `check` reports the name, and the builder works on one that is
            // thrown away.
            self.duplicates.push(name);
            return KernelBuilder(self.spare.insert(kernel));
        }
        let entry = self.kernels.entry(name).or_insert_with(|| Arc::new(kernel));
        let Some(kernel) = Arc::get_mut(entry) else { unreachable!("a kernel just added is not shared yet") };
        KernelBuilder(kernel)
    }

    /// Checks that every name was added once.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] with the names that were added twice.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.duplicates.is_empty() {
            return Ok(());
        }
        let message = format!("registered twice: {}", self.duplicates.join(", "));
        Err(Diagnostic::new(ErrorCode::InvalidArgument, message))
    }

    /// Returns the kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<Kernel>> {
        self.kernels.get(name)
    }

    /// Returns the native function with this name.
    pub fn native(&self, name: &str) -> Option<&Arc<NativeFn>> {
        self.natives.get(name)
    }

    /// Iterates over the kernels in the order of their names.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = &Kernel> {
        self.kernels.values().map(|kernel| &**kernel)
    }
}

impl fmt::Debug for KernelRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KernelRegistry({} kernels)", self.kernels.len())
    }
}
