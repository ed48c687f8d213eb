//! [`OpRegistry`]: what ops there are, each defined once.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};

use foldhash::fast::FixedState;
use smallvec::{SmallVec, smallvec};
use tfrt_host::{AsyncValue, AsyncValueRef, Chain, DType, Diagnostic, ErrorCode, ExecutionContext};
use tfrt_tensor::{
    CooHostTensor, DenseHostTensor, HostTensor, ScalarHostTensor, StringHostTensor, TensorMetadata,
};

use crate::{AttrSpec, DeviceFn, HostArguments, OpAttrs};

/// What a metadata function sees.
#[derive(Clone, Copy, Debug)]
pub struct MetadataCall<'a> {
    /// The arguments' data types and shapes.
    pub arguments: &'a [&'a TensorMetadata],
    /// The attributes.
    pub attrs: &'a OpAttrs,
}

impl<'a> MetadataCall<'a> {
    /// Returns the arguments, of which there must be `N`.
    ///
    /// # Errors
    /// InvalidArgument if there are more or fewer.
    pub fn take<const N: usize>(&self) -> Result<[&'a TensorMetadata; N], Diagnostic> {
        self.arguments.try_into().map_err(|_| wrong_count(N, self.arguments.len()))
    }
}

/// Data types and shapes of an op's results, from those of its arguments. It runs when the op is
/// called.
pub type MetadataFn = fn(MetadataCall<'_>) -> Result<SmallVec<[TensorMetadata; 2]>, Diagnostic>;

/// A call of an op's implementation in host memory. Every argument is there and in a form the op
/// takes.
pub struct CpuCall<'a> {
    /// Who calls, and from where.
    pub cx: &'a ExecutionContext,
    /// The arguments. The memory of some may be taken: see [`reuse`](Self::reuse).
    pub arguments: &'a [&'a HostTensor],
    /// The attributes.
    pub attrs: &'a OpAttrs,
    /// What the metadata function said of the results; nothing for an op without one.
    pub results: &'a [TensorMetadata],
    /// A bit for each of the first 64 arguments that nobody else will ask for its elements.
    pub(crate) given_up: u64,
}

impl CpuCall<'_> {
    /// Returns the arguments as dense tensors, of which there must be `N`.
    ///
    /// # Errors
    /// InvalidArgument if there are more or fewer, or of another form.
    pub fn dense<const N: usize>(&self) -> Result<[&DenseHostTensor; N], Diagnostic> {
        let arguments: [&HostTensor; N] =
            self.arguments.try_into().map_err(|_| wrong_count(N, self.arguments.len()))?;
        let mut error = None;
        let dense = arguments.map(|argument| argument.dense().map_err(|e| error = Some(e)).ok());
        match (error, dense.iter().all(Option::is_some)) {
            (None, true) => Ok(dense.map(|tensor| tensor.unwrap_or_else(|| unreachable!("all are there")))),
            (error, _) => Err(error.unwrap_or_else(|| Diagnostic::internal("an argument is gone"))),
        }
    }

    /// What the metadata function said of a result.
    ///
    /// # Errors
    /// Internal for an op without a metadata function.
    pub fn result(&self, index: usize) -> Result<&TensorMetadata, Diagnostic> {
        self.results.get(index).ok_or_else(|| Diagnostic::internal("the op has no metadata function"))
    }

    /// Returns a tensor for a result, its elements zero.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn allocate(&self, index: usize) -> Result<DenseHostTensor, Diagnostic> {
        DenseHostTensor::allocate(self.result(index)?.clone(), self.cx.host().allocator())
    }

    /// Returns a tensor for a result, whose elements may be anything: for ops that set all of them.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn allocate_unset(&self, index: usize) -> Result<DenseHostTensor, Diagnostic> {
        DenseHostTensor::allocate_unset(self.result(index)?.clone(), self.cx.host().allocator())
    }

    /// Returns an argument's memory for a result, if nobody else can see it and it has the right
    /// size: the op may then read the argument and write the result element by element.
    pub fn reuse(&self, argument: usize, result: usize) -> Option<DenseHostTensor> {
        self.reuse_as(argument, self.results.get(result)?)
    }

    /// As [`reuse`](Self::reuse), for a result of which the metadata function says nothing.
    pub fn reuse_as(&self, argument: usize, metadata: &TensorMetadata) -> Option<DenseHostTensor> {
        let HostTensor::Dense(tensor) = self.arguments.get(argument)? else { return None };
        if !is_given_up(self.given_up, argument)
            || !tensor.buffer().is_exclusive()
            || !tensor.buffer().is_writable()
        {
            return None;
        }
        let fits = tensor.dtype() == metadata.dtype
            && tensor.num_elements() == metadata.shape.num_elements().ok()?;
        if fits { tensor.reshape(metadata.shape.clone()).ok() } else { None }
    }
}

/// Returns the bit of an argument, if that is `given_up`.
pub(crate) fn given_up_at(argument: usize, given_up: bool) -> u64 {
    u32::try_from(argument).ok().and_then(|argument| u64::from(given_up).checked_shl(argument)).unwrap_or(0)
}

pub(crate) fn is_given_up(all: u64, argument: usize) -> bool {
    all & given_up_at(argument, true) != 0
}

pub(crate) fn wrong_count(expected: usize, got: usize) -> Diagnostic {
    Diagnostic::invalid_argument(format!("the op takes {expected} arguments, got {got}"))
}

/// What an implementation gives.
#[derive(Debug, Default)]
pub struct OpResult {
    /// The results, each a [`HostTensor`] that may still be computed.
    pub tensors: SmallVec<[AsyncValue; 2]>,
    /// When what the op does beyond its results is done; none for ops that do nothing.
    pub done: Option<AsyncValueRef<Chain>>,
}

impl From<AsyncValueRef<HostTensor>> for OpResult {
    fn from(tensor: AsyncValueRef<HostTensor>) -> Self {
        Self { tensors: smallvec![tensor.into_untyped()], done: None }
    }
}

macro_rules! single_results {
    ($($tensor:ty),+) => {$(
        impl From<$tensor> for OpResult {
            fn from(tensor: $tensor) -> Self {
                Self { tensors: smallvec![AsyncValue::new(HostTensor::from(tensor))], done: None }
            }
        }
    )+};
}

single_results!(HostTensor, DenseHostTensor, ScalarHostTensor, CooHostTensor, StringHostTensor);

impl From<Chain> for OpResult {
    fn from(chain: Chain) -> Self {
        Self { tensors: SmallVec::new(), done: Some(chain.into()) }
    }
}

/// Computes an op's results in host memory.
pub type CpuFn = fn(CpuCall<'_>) -> Result<OpResult, Diagnostic>;

/// Forms of tensors, besides dense ones, that an op's implementation takes as they are. Others are
/// converted first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// One value in every place.
    pub scalar: bool,
    /// Coordinates and values of what is not zero.
    pub coo: bool,
    /// Strings.
    pub string: bool,
}

impl Forms {
    /// All of them.
    pub const ANY: Self = Self { scalar: true, coo: true, string: true };
    /// Scalars besides dense tensors.
    pub const SCALAR: Self = Self { scalar: true, coo: false, string: false };
    /// Strings besides dense tensors.
    pub const STRING: Self = Self { scalar: false, coo: false, string: true };
    /// Both.
    pub const SCALAR_OR_STRING: Self = Self { scalar: true, coo: false, string: true };
}

/// What a call of an op does beyond computing its results: the resources that it reads and writes,
/// named by the arguments that are their handles. Chains order calls that have an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// A bit for each argument whose resource is read.
    reads: u64,
    /// A bit for each argument whose resource is written.
    writes: u64,
    external: bool,
}

impl Effects {
    /// Returns whether a call has no effect.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns whether a call reads the resource that this argument is a handle of.
    pub fn reads(self, argument: usize) -> bool {
        self.reads & argument_bit(argument) != 0
    }

    /// Returns whether a call writes the resource that this argument is a handle of.
    pub fn writes(self, argument: usize) -> bool {
        self.writes & argument_bit(argument) != 0
    }

    /// Returns whether a call reads or changes something that is no argument, for example the
    /// output of the program.
    pub fn is_external(self) -> bool {
        self.external
    }
}

/// Returns the bit of one of the first 64 arguments; none for others, which are no handles.
fn argument_bit(argument: usize) -> u64 {
    u32::try_from(argument).ok().and_then(|argument| 1u64.checked_shl(argument)).unwrap_or(0)
}

/// An op: its name, what it declares and its implementations.
#[derive(Clone)]
pub struct Op {
    pub(crate) name: Cow<'static, str>,
    /// Counts the ops of a registry from zero on.
    pub(crate) number: usize,
    pub(crate) metadata: Option<MetadataFn>,
    pub(crate) cpu: Option<CpuFn>,
    pub(crate) device: Option<(DeviceFn, HostArguments)>,
    pub(crate) forms: Forms,
    pub(crate) effects: Effects,
    pub(crate) is_deterministic: bool,
    types: &'static [DType],
    attributes: Box<[AttrSpec]>,
    pub(crate) results_on_host: bool,
}

impl Op {
    fn new(name: Cow<'static, str>, number: usize) -> Self {
        Self {
            name,
            number,
            metadata: None,
            cpu: None,
            device: None,
            forms: Forms::default(),
            effects: Effects::default(),
            is_deterministic: true,
            types: &[],
            attributes: Box::default(),
            results_on_host: false,
        }
    }

    /// Returns the name programs use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the function that describes its results from its arguments' metadata, if there is
    /// one.
    pub fn metadata_function(&self) -> Option<MetadataFn> {
        self.metadata
    }

    /// Returns whether it can be computed in host memory.
    pub fn runs_on_host(&self) -> bool {
        self.cpu.is_some()
    }

    /// Returns whether it can be computed on devices.
    pub fn runs_on_devices(&self) -> bool {
        self.device.is_some()
    }

    /// Returns whether it can be computed on devices, and takes this one of `count` arguments from
    /// device memory then.
    pub fn takes_from_device(&self, argument: usize, count: usize) -> bool {
        self.device.is_some_and(|(_, host_arguments)| !host_arguments.must_be_on_host(argument, count))
    }

    /// Returns the metadata function, for ops whose result types and shapes follow from those of
    /// the arguments.
    pub fn metadata(&self) -> Option<MetadataFn> {
        self.metadata
    }

    /// Returns the types of tensors that it computes with in host memory. Devices may support
    /// fewer.
    pub fn types(&self) -> &'static [DType] {
        self.types
    }

    /// Returns the attributes that it takes, in the order in which the reference lists them.
    pub fn attributes(&self) -> &[AttrSpec] {
        &self.attributes
    }

    /// What a call does beyond computing its results.
    pub fn effects(&self) -> Effects {
        self.effects
    }

    /// Returns whether a call has any effect, so that chains order it.
    pub fn is_side_effecting(&self) -> bool {
        !self.effects.is_none()
    }

    /// Returns whether calls with equal arguments and attributes give equal results, so that calls
    /// may be shared or computed in advance.
    pub fn is_deterministic(&self) -> bool {
        self.is_deterministic
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Op").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Says more of an op that was just added.
#[derive(Debug)]
pub struct OpBuilder<'r>(&'r mut Op);

impl OpBuilder<'_> {
    /// What is known of its results when it is called.
    pub fn metadata(self, function: MetadataFn) -> Self {
        self.0.metadata = Some(function);
        self
    }

    /// How it is computed in host memory.
    pub fn cpu(self, function: CpuFn) -> Self {
        self.0.cpu = Some(function);
        self
    }

    /// How it is computed on a device; all arguments are brought to its memory.
    pub fn device(self, function: DeviceFn) -> Self {
        self.device_with(function, HostArguments::default())
    }

    /// How it is computed on a device, where some arguments stay on the host.
    pub fn device_with(self, function: DeviceFn, host_arguments: HostArguments) -> Self {
        self.0.device = Some((function, host_arguments));
        self
    }

    /// Returns its results are in host memory even when it runs on a device.
    pub fn results_on_host(self) -> Self {
        self.0.results_on_host = true;
        self
    }

    /// What forms of tensors it takes in host memory.
    pub fn forms(self, forms: Forms) -> Self {
        self.0.forms = forms;
        self
    }

    /// Declares the types of tensors that it computes with in host memory.
    pub fn types(self, types: &'static [DType]) -> Self {
        self.0.types = types;
        self
    }

    /// Declares the attributes that it takes.
    pub fn attrs<const N: usize>(self, attributes: [AttrSpec; N]) -> Self {
        self.0.attributes = attributes.into();
        self
    }

    /// Declares that it reads the resource that this argument is a handle of.
    pub fn reads(self, argument: usize) -> Self {
        self.0.effects.reads |= argument_bit(argument);
        self
    }

    /// Declares that it writes the resource that this argument is a handle of.
    pub fn writes(self, argument: usize) -> Self {
        self.0.effects.writes |= argument_bit(argument);
        self
    }

    /// Declares that it reads or changes something that is no argument.
    pub fn external(self) -> Self {
        self.0.effects.external = true;
        self
    }

    /// Declares that equal calls may give different results, as those of random numbers without
    /// seeds do.
    pub fn nondeterministic(self) -> Self {
        self.0.is_deterministic = false;
        self
    }
}

/// Ops by name.
#[derive(Debug, Default)]
pub struct OpRegistry {
    /// Programs that call ops by their names look here each time.
    ops: HashMap<Cow<'static, str>, Arc<Op>, FixedState>,
    duplicates: Vec<Cow<'static, str>>,
    missing: Vec<Cow<'static, str>>,
    spare: Option<Op>,
}

impl OpRegistry {
    /// Creates a registry without ops.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an op.
    pub fn add(&mut self, name: impl Into<Cow<'static, str>>) -> OpBuilder<'_> {
        let name = name.into();
        let op = Op::new(name.clone(), self.ops.len());
        if self.ops.contains_key(&name) {
            // The first one stays; `check` reports the name, and the builder works on one that is
            // thrown away.
            self.duplicates.push(name);
            return OpBuilder(self.spare.insert(op));
        }
        let entry = self.ops.entry(name).or_insert_with(|| Arc::new(op));
        let Some(op) = Arc::get_mut(entry) else { unreachable!("an op just added is not shared yet") };
        OpBuilder(op)
    }

    /// Says more of an op that was added before.
    pub fn extend(&mut self, name: &'static str) -> OpBuilder<'_> {
        match self.ops.get_mut(name).and_then(Arc::get_mut) {
            Some(op) => OpBuilder(op),
            None => {
                self.missing.push(name.into());
                OpBuilder(self.spare.insert(Op::new(name.into(), 0)))
            }
        }
    }

    /// Returns the op of this name.
    pub fn op(&self, name: &str) -> Option<&Arc<Op>> {
        self.ops.get(name)
    }

    /// Returns all ops, in no order.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = &Op> {
        self.ops.values().map(|op| &**op)
    }

    /// Returns whether every name was added once, and none extended that was not added.
    ///
    /// # Errors
    /// One that lists the names.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.duplicates.is_empty() && self.missing.is_empty() {
            return Ok(());
        }
        let [duplicates, missing] = [self.duplicates.join(", "), self.missing.join(", ")];
        let message = format!("ops defined twice: [{duplicates}], extended but not defined: [{missing}]");
        Err(Diagnostic::new(ErrorCode::InvalidArgument, message))
    }
}
