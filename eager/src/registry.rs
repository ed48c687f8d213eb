//! [`OpRegistry`]: the ops, each defined once.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};

use foldhash::fast::FixedState;
use smallvec::{SmallVec, smallvec};
use tfrt_host::{AsyncValue, AsyncValueRef, Chain, DType, Diagnostic, ErrorCode, ExecutionContext};
use tfrt_tensor::{
    CooHostTensor, DenseHostTensor, HostTensor, ScalarHostTensor, StringHostTensor, TensorMetadata,
};

use crate::{AttrSpec, DeviceFn, HostArguments, OpAttrs};

/// The input of a metadata function.
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

/// Computes the data types and shapes of an op's results from those of its arguments. It runs when
/// the op is called.
pub type MetadataFn = fn(MetadataCall<'_>) -> Result<SmallVec<[TensorMetadata; 2]>, Diagnostic>;

/// A call of an op's implementation in host memory. Every argument is available and in a form that
/// the op accepts.
pub struct CpuCall<'a> {
    /// The caller and its origin.
    pub cx: &'a ExecutionContext,
    /// The arguments. The memory of some may be reused, see [`reuse`](Self::reuse).
    pub arguments: &'a [&'a HostTensor],
    /// The attributes.
    pub attrs: &'a OpAttrs,
    /// The results' metadata from the metadata function; empty for an op without one.
    pub results: &'a [TensorMetadata],
    /// A bit for each of the first 64 arguments whose elements have no other user.
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

    /// Returns the metadata of a result.
    ///
    /// # Errors
    /// Internal for an op without a metadata function.
    pub fn result(&self, index: usize) -> Result<&TensorMetadata, Diagnostic> {
        self.results.get(index).ok_or_else(|| Diagnostic::internal("the op has no metadata function"))
    }

    /// Allocates a tensor for a result, filled with zeros.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn allocate(&self, index: usize) -> Result<DenseHostTensor, Diagnostic> {
        DenseHostTensor::allocate(self.result(index)?.clone(), self.cx.host().allocator())
    }

    /// Allocates a tensor for a result with unspecified elements, for ops that set all of them.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn allocate_unset(&self, index: usize) -> Result<DenseHostTensor, Diagnostic> {
        DenseHostTensor::allocate_unset(self.result(index)?.clone(), self.cx.host().allocator())
    }

    /// Returns an argument's memory for a result, if it has no other user and the right size. The
    /// op may then read the argument and write the result element by element.
    pub fn reuse(&self, argument: usize, result: usize) -> Option<DenseHostTensor> {
        self.reuse_as(argument, self.results.get(result)?)
    }

    /// Returns memory like [`reuse`](Self::reuse), for a result without metadata from the metadata
    /// function.
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

/// The result of an implementation.
#[derive(Debug, Default)]
pub struct OpResult {
    /// The results, each a [`HostTensor`] that may still be pending.
    pub tensors: SmallVec<[AsyncValue; 2]>,
    /// Becomes available when the op's effects are done; `None` for ops without effects.
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

/// The forms of tensors, besides dense ones, that an op's implementation accepts. Other forms are
/// converted first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// One value in every place.
    pub scalar: bool,
    /// The coordinates and values of nonzero elements.
    pub coo: bool,
    /// Strings.
    pub string: bool,
}

impl Forms {
    /// All forms.
    pub const ANY: Self = Self { scalar: true, coo: true, string: true };
    /// Scalars besides dense tensors.
    pub const SCALAR: Self = Self { scalar: true, coo: false, string: false };
    /// Strings besides dense tensors.
    pub const STRING: Self = Self { scalar: false, coo: false, string: true };
    /// Scalars and strings besides dense tensors.
    pub const SCALAR_OR_STRING: Self = Self { scalar: true, coo: false, string: true };
}

/// The effects of calling an op: the resources that it reads and writes, given by the arguments
/// that are their handles. Chains order calls that have effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// A bit for each argument whose resource is read.
    reads: u64,
    /// A bit for each argument whose resource is written.
    writes: u64,
    external: bool,
}

impl Effects {
    /// Returns whether a call reads or writes resources that its arguments are handles of.
    pub fn has_resources(self) -> bool {
        (self.reads | self.writes) != 0
    }

    /// Returns whether a call has no effect.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns whether a call reads the resource with this argument as its handle.
    pub fn reads(self, argument: usize) -> bool {
        self.reads & argument_bit(argument) != 0
    }

    /// Returns whether a call writes the resource with this argument as its handle.
    pub fn writes(self, argument: usize) -> bool {
        self.writes & argument_bit(argument) != 0
    }

    /// Returns whether a call reads or changes something other than its arguments, such as the
    /// output of the program.
    pub fn is_external(self) -> bool {
        self.external
    }
}

/// Returns the bit of one of the first 64 arguments, or 0 for others, which are never handles.
fn argument_bit(argument: usize) -> u64 {
    u32::try_from(argument).ok().and_then(|argument| 1u64.checked_shl(argument)).unwrap_or(0)
}

/// Where the data type of a result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultDType {
    /// It is always this one.
    Is(DType),
    /// It is that of an argument.
    Argument(usize),
    /// It is an attribute.
    Attribute(&'static str),
}

/// What is known of a result of an op without a metadata function before it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultType {
    /// Its data type.
    pub dtype: ResultDType,
    /// How many dimensions it has, if that never varies.
    pub rank: Option<usize>,
}

impl ResultType {
    /// A result of this data type.
    pub const fn is(dtype: DType) -> Self {
        Self { dtype: ResultDType::Is(dtype), rank: None }
    }

    /// A result of the data type of an argument.
    pub const fn like(argument: usize) -> Self {
        Self { dtype: ResultDType::Argument(argument), rank: None }
    }

    /// A result of the data type that an attribute names.
    pub const fn named(attribute: &'static str) -> Self {
        Self { dtype: ResultDType::Attribute(attribute), rank: None }
    }

    /// The same with this number of dimensions.
    pub const fn rank(self, rank: usize) -> Self {
        Self { rank: Some(rank), ..self }
    }
}

/// An op: its name, its declarations and its implementations.
#[derive(Clone)]
pub struct Op {
    pub(crate) name: Cow<'static, str>,
    /// The index of the op in its registry.
    pub(crate) number: usize,
    pub(crate) metadata: Option<MetadataFn>,
    pub(crate) cpu: Option<CpuFn>,
    pub(crate) device: Option<(DeviceFn, HostArguments)>,
    pub(crate) forms: Forms,
    pub(crate) effects: Effects,
    pub(crate) is_deterministic: bool,
    types: &'static [DType],
    attributes: Box<[AttrSpec]>,
    results: Box<[ResultType]>,
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
            results: Box::default(),
            results_on_host: false,
        }
    }

    /// Returns the name that programs use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the function that computes its results' metadata from its arguments', if there is
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

    /// Returns whether it can be computed on devices, and then takes this one of `count` arguments
    /// from device memory.
    pub fn takes_from_device(&self, argument: usize, count: usize) -> bool {
        self.device.is_some_and(|(_, host_arguments)| !host_arguments.must_be_on_host(argument, count))
    }

    /// Returns whether programs with planned memory may have each argument in device memory that the
    /// op otherwise takes from the host.
    pub fn plans_host_arguments(&self) -> bool {
        self.device.is_some_and(|(_, host_arguments)| host_arguments.may_be_planned())
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

    /// Returns what is known of the results of an op without a metadata function.
    pub fn results(&self) -> &[ResultType] {
        &self.results
    }

    /// Returns the effects of a call besides its results.
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

/// Adds declarations to an op.
#[derive(Debug)]
pub struct OpBuilder<'r>(&'r mut Op);

impl OpBuilder<'_> {
    /// Sets the metadata function.
    pub fn metadata(self, function: MetadataFn) -> Self {
        self.0.metadata = Some(function);
        self
    }

    /// Sets the implementation in host memory.
    pub fn cpu(self, function: CpuFn) -> Self {
        self.0.cpu = Some(function);
        self
    }

    /// Sets the implementation on devices. All arguments are copied to device memory.
    pub fn device(self, function: DeviceFn) -> Self {
        self.device_with(function, HostArguments::default())
    }

    /// Sets the implementation on devices, with some arguments on the host.
    pub fn device_with(self, function: DeviceFn, host_arguments: HostArguments) -> Self {
        self.0.device = Some((function, host_arguments));
        self
    }

    /// Declares that its results are in host memory even when it runs on a device.
    pub fn results_on_host(self) -> Self {
        self.0.results_on_host = true;
        self
    }

    /// Declares the forms of tensors that it accepts in host memory.
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

    /// Declares what is known of its results if there is no metadata function, or if it cannot be
    /// called because shapes are not known.
    pub fn results<const N: usize>(self, results: [ResultType; N]) -> Self {
        self.0.results = results.into();
        self
    }

    /// Declares that it reads the resource with this argument as its handle.
    pub fn reads(self, argument: usize) -> Self {
        self.0.effects.reads |= argument_bit(argument);
        self
    }

    /// Declares that it writes the resource with this argument as its handle.
    pub fn writes(self, argument: usize) -> Self {
        self.0.effects.writes |= argument_bit(argument);
        self
    }

    /// Declares that it reads or changes something other than its arguments.
    pub fn external(self) -> Self {
        self.0.effects.external = true;
        self
    }

    /// Declares that equal calls may return different results, as random numbers without seeds do.
    pub fn nondeterministic(self) -> Self {
        self.0.is_deterministic = false;
        self
    }
}

/// Ops by name.
#[derive(Debug, Default)]
pub struct OpRegistry {
    /// Programs that call ops by name look them up here each time.
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
            // The first one is kept. `check` reports the name, and the builder works on an op that
            // is discarded.
            self.duplicates.push(name);
            return OpBuilder(self.spare.insert(op));
        }
        let entry = self.ops.entry(name).or_insert_with(|| Arc::new(op));
        let Some(op) = Arc::get_mut(entry) else { unreachable!("an op just added is not shared yet") };
        OpBuilder(op)
    }

    /// Adds declarations to an op that was added before.
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

    /// Returns all ops, in no particular order.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = &Op> {
        self.ops.values().map(|op| &**op)
    }

    /// Checks that every name was added once, and that every extended op was added.
    ///
    /// # Errors
    /// An error that lists the names.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.duplicates.is_empty() && self.missing.is_empty() {
            return Ok(());
        }
        let [duplicates, missing] = [self.duplicates.join(", "), self.missing.join(", ")];
        let message = format!("ops defined twice: [{duplicates}], extended but not defined: [{missing}]");
        Err(Diagnostic::new(ErrorCode::InvalidArgument, message))
    }
}
