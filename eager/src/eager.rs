//! [`Eager`] and [`Tensor`]: ops called from Rust.
//!
//! ```
//! # use std::sync::Arc;
//! # use tfrt_host::{HostContext, allocator::SystemAllocator, work_queue};
//! # use tfrt_eager::Eager;
//! # let queue = work_queue::from_str("s")?;
//! # let host = HostContext::builder(queue, Arc::new(SystemAllocator)).build();
//! let cpu = Eager::on_cpu(&host)?;
//! let (x, w) = (cpu.tensor([1, 2], &[1.0f32, -2.0])?, cpu.tensor([2, 2], &[1.0f32, 0.0, 0.5, 1.0])?);
//! let y = cpu.matmul(&x, &w)?.relu()?;
//! assert_eq!(y.to_vec::<f32>()?, [0.0, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use parking_lot::RwLock;
use smallvec::SmallVec;
use tfrt_host::{
    AsyncValueRef, BefFile, Chain, DType, Diagnostic, ExecutionContext, HostContext, KernelRegistry,
    RequestContext, ResourceContext,
    bef::{BefBuilder, OptionalSections, VerifiedBef},
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use crate::{
    CoreRuntime, CoreRuntimeOp, Device, DeviceTensor, OpAttrs, OpHandler, OpInvocation, Results, TensorHandle,
};

static ME: Accessor = Accessor::new("eager tensor");

/// Calls ops of one handler for one request. Cloning is cheap.
#[derive(Clone)]
pub struct Eager(Arc<Shared>);

struct Shared {
    cx: ExecutionContext,
    device: Device,
    handler: Arc<dyn OpHandler>,
    /// The ops of tensors' methods that were called before.
    methods: Methods,
    /// Other ops that were called before.
    known: RwLock<HashMap<String, CoreRuntimeOp>>,
}

impl Eager {
    /// Runs ops in host memory, for a new request.
    ///
    /// # Errors
    /// Internal if a program without functions cannot be loaded.
    pub fn on_cpu(host: &Arc<HostContext>) -> Result<Self, Diagnostic> {
        let request = RequestContext::new(host.clone(), Arc::new(ResourceContext::new()));
        let core = CoreRuntime::of(host);
        Ok(Self::new(ExecutionContext::new(request, no_program()?), &core, core.cpu()))
    }

    /// Runs ops on a device if they support it, and other ops in host memory, for a new request.
    ///
    /// # Errors
    /// Any error of the device; Internal if a program without functions cannot be loaded.
    pub fn on_device(
        host: &Arc<HostContext>,
        device: &tfrt_device::front::Device,
    ) -> Result<Self, Diagnostic> {
        let request = RequestContext::new(host.clone(), Arc::new(ResourceContext::new()));
        let core = CoreRuntime::of(host);
        let handler = core.on_device(device, core.cpu())?;
        Ok(Self::new(ExecutionContext::new(request, no_program()?), &core, handler))
    }

    /// Runs ops of `handler` for a caller.
    pub fn new(cx: ExecutionContext, core: &CoreRuntime, handler: Arc<dyn OpHandler>) -> Self {
        let device = core.host_device().clone();
        Self(Arc::new(Shared { cx, device, handler, methods: Methods::default(), known: RwLock::default() }))
    }

    /// Returns the context in which ops are called.
    pub fn context(&self) -> &ExecutionContext {
        &self.0.cx
    }

    /// Returns the request, which can be cancelled or given a deadline.
    pub fn request(&self) -> &Arc<RequestContext> {
        self.0.cx.request()
    }

    /// Returns a dense tensor in host memory.
    ///
    /// # Errors
    /// InvalidArgument if the shape has another number of elements; OutOfMemory.
    pub fn tensor<T: Element>(
        &self,
        shape: impl Into<TensorShape>,
        elements: &[T],
    ) -> Result<Tensor, Diagnostic> {
        Ok(self.host_tensor(DenseHostTensor::from_slice(shape, elements, self.0.cx.host().allocator())?))
    }

    /// Returns a tensor with elements that are already in host memory.
    pub fn host_tensor(&self, tensor: impl Into<HostTensor>) -> Tensor {
        Tensor { handle: TensorHandle::from_host(self.0.device.clone(), tensor), eager: self.clone() }
    }

    /// Returns a result, or its error if it already is one.
    fn wrap(&self, handle: TensorHandle) -> Result<Tensor, Diagnostic> {
        match handle.error() {
            None => Ok(Tensor { handle, eager: self.clone() }),
            Some(error) => Err(error.into()),
        }
    }

    /// Calls an op by name.
    ///
    /// # Errors
    /// NotFound for an unknown op; errors of types, shapes and attributes. Later failures are
    /// errors of the result.
    pub fn call(
        &self,
        op: &str,
        arguments: &[&Tensor],
        attrs: &OpAttrs,
        result_count: usize,
    ) -> Result<SmallVec<[Tensor; 2]>, Diagnostic> {
        self.invoke(op, arguments, attrs, result_count, None)
    }

    /// Calls an op with effects, such as those on variables. It begins when `chain` is available,
    /// and replaces it with a chain that becomes available when the op is done, or with its error.
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub fn call_in_order(
        &self,
        op: &str,
        arguments: &[&Tensor],
        attrs: &OpAttrs,
        result_count: usize,
        chain: &mut AsyncValueRef<Chain>,
    ) -> Result<SmallVec<[Tensor; 2]>, Diagnostic> {
        let results = self.invoke(op, arguments, attrs, result_count, Some(&mut *chain))?;
        match chain.as_untyped().error() {
            Some(error) => Err(error.into()),
            None => Ok(results),
        }
    }

    fn invoke(
        &self,
        op: &str,
        arguments: &[&Tensor],
        attrs: &OpAttrs,
        result_count: usize,
        chain: Option<&mut AsyncValueRef<Chain>>,
    ) -> Result<SmallVec<[Tensor; 2]>, Diagnostic> {
        let results = self.results(&self.op(op)?, arguments, attrs, result_count, chain);
        results.into_iter().map(|handle| self.wrap(handle)).collect()
    }

    /// Calls an op and returns its results.
    #[inline]
    fn results(
        &self,
        op: &CoreRuntimeOp,
        arguments: &[&Tensor],
        attrs: &OpAttrs,
        result_count: usize,
        chain: Option<&mut AsyncValueRef<Chain>>,
    ) -> Results {
        let cx = &self.0.cx;
        let mut invocation = OpInvocation { cx, arguments: SmallVec::new(), attrs, result_count, chain };
        for tensor in arguments {
            invocation.arguments.push(Cow::Borrowed(&tensor.handle));
        }
        op.call(invocation)
    }

    fn op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        if let Some(op) = self.0.known.read().get(name) {
            return Ok(op.clone());
        }
        let op = self.0.handler.make_op(name)?;
        self.0.known.write().insert(name.to_owned(), op.clone());
        Ok(op)
    }

    /// Calls the op of a method, which has one result.
    fn one(
        &self,
        op: &OnceLock<CoreRuntimeOp>,
        name: &str,
        arguments: &[&Tensor],
        attrs: &OpAttrs,
    ) -> Result<Tensor, Diagnostic> {
        let op = match op.get() {
            Some(op) => op,
            None => {
                let made = self.0.handler.make_op(name)?;
                op.get_or_init(|| made)
            }
        };
        match self.results(op, arguments, attrs, 1, None).pop() {
            Some(handle) => self.wrap(handle),
            None => Err(Diagnostic::internal(format!("{name} gave no result"))),
        }
    }

    /// Returns the product of two matrices.
    ///
    /// # Errors
    /// See [`call`](Self::call), for this and all other ops.
    pub fn matmul(&self, a: &Tensor, b: &Tensor) -> Result<Tensor, Diagnostic> {
        self.one(&self.0.methods.matmul, "tf.MatMul", &[a, b], &OpAttrs::new())
    }
}

/// Returns a program without functions, for ops that are called outside of any program.
fn no_program() -> Result<Arc<BefFile>, Diagnostic> {
    let bytes = BefBuilder::new(OptionalSections::Drop).finish();
    let bytes = bytes.map_err(|error| Diagnostic::internal(error.message()))?;
    let verified =
        VerifiedBef::new(bytes).map_err(|_| Diagnostic::internal("an empty program does not verify"))?;
    BefFile::load(verified, &KernelRegistry::new())
        .map_err(|_| Diagnostic::internal("an empty program cannot be loaded"))
}

/// A tensor that ops take and return, which may still be pending: await it for its elements.
/// Cloning shares them.
#[derive(Clone)]
pub struct Tensor {
    handle: TensorHandle,
    eager: Eager,
}

/// Methods of tensors: ops of one tensor, of two, which are broadcast, and of one tensor with a
/// list of numbers (axes or extents).
macro_rules! methods {
    (
        unary { $($unary:ident => $unary_op:literal, $unary_doc:literal;)* }
        binary { $($binary:ident => $binary_op:literal, $binary_doc:literal;)* }
        listed { $($listed:ident($list:ident) => $listed_op:literal, $listed_doc:literal;)* }
    ) => {
        /// The op of each method that was called before.
        #[derive(Default)]
        struct Methods {
            $($unary: OnceLock<CoreRuntimeOp>,)*
            $($binary: OnceLock<CoreRuntimeOp>,)*
            $($listed: OnceLock<CoreRuntimeOp>,)*
            cast: OnceLock<CoreRuntimeOp>,
        }

        impl Tensor {
            $(
                #[doc = $unary_doc]
                ///
                /// # Errors
                /// See [`Eager::call`].
                pub fn $unary(&self) -> Result<Self, Diagnostic> {
                    self.eager.one(&self.eager.0.methods.$unary, $unary_op, &[self], &OpAttrs::new())
                }
            )*

            $(
                #[doc = $binary_doc]
                ///
                /// # Errors
                /// See [`Eager::call`].
                pub fn $binary(&self, other: &Self) -> Result<Self, Diagnostic> {
                    self.eager.one(&self.eager.0.methods.$binary, $binary_op, &[self, other], &OpAttrs::new())
                }
            )*

            $(
                #[doc = $listed_doc]
                ///
                /// # Errors
                /// See [`Eager::call`].
                pub fn $listed(&self, $list: &[i64]) -> Result<Self, Diagnostic> {
                    let list = self.eager.tensor([$list.len()], $list)?;
                    self.eager.one(&self.eager.0.methods.$listed, $listed_op, &[self, &list], &OpAttrs::new())
                }
            )*
        }
    };
}

methods! {
    unary {
        abs => "tf.Abs", "The absolute values.";
        exp => "tf.Exp", "`e` to the power of each element.";
        log => "tf.Log", "Natural logarithms.";
        log_softmax => "tf.LogSoftmax", "Logarithms of [`Tensor::softmax`].";
        neg => "tf.Neg", "Each element's opposite.";
        relu => "tf.Relu", "Each element, or zero where it is negative.";
        rsqrt => "tf.Rsqrt", "One over the square roots.";
        sigmoid => "tf.Sigmoid", "`1 / (1 + e^-x)`.";
        softmax => "tf.Softmax", "Probabilities in proportion to the exponentials along the last dimension.";
        sqrt => "tf.Sqrt", "Square roots.";
        square => "tf.Square", "Squares.";
        tanh => "tf.Tanh", "Hyperbolic tangents.";
    }
    binary {
        add => "tf.AddV2", "Sums.";
        div => "tf.RealDiv", "Quotients.";
        matmul => "tf.MatMul", "The product of two matrices.";
        maximum => "tf.Maximum", "The greater of each two.";
        minimum => "tf.Minimum", "The lesser of each two.";
        mul => "tf.Mul", "Products, element by element.";
        sub => "tf.Sub", "Differences.";
    }
    listed {
        max(axes) => "tf.Max", "The greatest elements along some dimensions.";
        mean(axes) => "tf.Mean", "Means along some dimensions.";
        reshape(dims) => "tf.Reshape", "The same elements in another shape, of which one extent may be -1.";
        sum(axes) => "tf.Sum", "Sums along some dimensions.";
        transpose(permutation) => "tf.Transpose", "The dimensions in another order.";
    }
}

impl Tensor {
    /// Returns the elements as another type.
    ///
    /// # Errors
    /// See [`Eager::call`].
    pub fn cast(&self, dtype: DType) -> Result<Self, Diagnostic> {
        let mut attrs = OpAttrs::new();
        attrs.set_type("DstT", dtype)?;
        self.eager.one(&self.eager.0.methods.cast, "tf.Cast", &[self], &attrs)
    }

    /// Returns the data type and shape, if they are known.
    ///
    /// # Errors
    /// The error that the tensor failed with.
    pub fn metadata(&self) -> Option<Result<TensorMetadata, Arc<Diagnostic>>> {
        self.handle.metadata()
    }

    /// Returns the tensor's handle in the core runtime.
    pub fn handle(&self) -> &TensorHandle {
        &self.handle
    }

    /// Returns the tensor in host memory: itself, or a copy if it is on a device.
    fn on_host(&self) -> Result<Self, Diagnostic> {
        let Some(tensor) = self.handle.tensor().get::<DeviceTensor>() else { return Ok(self.clone()) };
        let shared = &self.eager.0;
        let copy = tensor.to_host(&shared.cx)?.into_untyped();
        self.eager.wrap(TensorHandle::new(shared.device.clone(), tensor.metadata(), copy))
    }

    /// Waits for the tensor and returns it in host memory. Never call it on a compute thread.
    ///
    /// # Errors
    /// The error that the tensor failed with; FailedPrecondition on a compute thread.
    pub fn wait(&self) -> Result<HostTensor, Diagnostic> {
        let host = self.eager.0.cx.host();
        host.await_values(&[self.handle.tensor().clone()])?;
        let here = self.on_host()?;
        host.await_values(&[here.handle.tensor().clone()])?;
        match here.handle.host_tensor() {
            Some(tensor) => Ok(tensor?.clone()),
            None => Err(Diagnostic::internal("a tensor that was awaited is not there")),
        }
    }

    /// Waits for the elements and returns them. Never call it on a compute thread.
    ///
    /// # Errors
    /// See [`Tensor::wait`]; InvalidArgument for another data type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Diagnostic> {
        let dense = self.wait()?.to_dense(&ME, self.eager.0.cx.host().allocator())?;
        Ok(dense.read::<T>(&ME)?.to_vec())
    }
}

/// Completes when the elements are available.
impl Future for Tensor {
    type Output = Result<HostTensor, Arc<Diagnostic>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.handle.is_available() {
            *self = self.on_host()?;
        }
        if let Some(tensor) = self.handle.host_tensor() {
            return Poll::Ready(tensor.cloned());
        }
        let waker = cx.waker().clone();
        self.handle.tensor().and_then(move || waker.wake());
        Poll::Pending
    }
}

impl fmt::Debug for Eager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eager").field("device", &self.0.device).finish_non_exhaustive()
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.handle, f)
    }
}
