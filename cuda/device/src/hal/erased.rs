//! One type for all backends: resources behind `Any`, contexts behind `dyn`.
//!
//! [`erase`] wraps a backend so that its resource types are all [`Erased`]. Each method downcasts
//! its resources (one comparison each) and calls the backend. A resource of another backend is an
//! error. The front ensures that this never happens.

#![expect(unsafe_code, reason = "unsafe methods are handed on with their contracts")]

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tfrt_host::DType;

use super::{
    Attends, Attention, Backend, Bell, Blas, CollectiveCall, Collectives, Context, Copy2d, DeviceProperties,
    Dnn, DnnOperation, EventOptions, Events, F32Math, FunctionAttributes, Gemm, Graphs, LaunchConfig,
    ManagedMemory, Memory, MemoryInfo, Modules, PackedParameters, Paging, Pattern, Resources, Scaling,
    StreamOptions, Streams, Teardown, Transfers, UniqueId,
};
use crate::error::{DeviceError, Result, Status};

/// A resource of any backend.
pub type Erased = Box<dyn Any + Send + Sync>;

/// A context of any backend.
pub type DynContext = dyn Context<
        Stream = Erased,
        Event = Erased,
        Module = Erased,
        Function = Erased,
        Graph = Erased,
        BlasHandle = Erased,
        DnnHandle = Erased,
        Communicator = Erased,
    >;

/// A backend of any kind, whose contexts have one type.
pub trait DynBackend: Send + Sync {
    /// See [`Backend::name`].
    fn name(&self) -> &str;
    /// See [`Backend::device_count`].
    fn device_count(&self) -> u32;
    /// See [`Backend::properties`].
    fn properties(&self, ordinal: u32) -> Result<DeviceProperties>;
    /// See [`Backend::can_access_peer`].
    fn can_access_peer(&self, from: u32, to: u32) -> Result<bool>;
    /// See [`Backend::create_context`].
    fn create_context(&self, ordinal: u32) -> Result<Box<DynContext>>;
    /// See [`Backend::teardown`].
    fn teardown(&self) -> &Teardown;
    /// See [`Backend::take_failures`].
    fn take_failures(&self) -> Vec<DeviceError>;
    /// See [`Backend::abandon`].
    fn abandon(&self, why: &DeviceError);
}

/// Wraps a backend so that all its resource types are [`Erased`].
pub fn erase<B: Backend>(backend: B) -> Arc<dyn DynBackend> {
    Arc::new(ErasedBackend(backend))
}

struct ErasedBackend<B>(B);

struct ErasedContext<C>(C);

impl<B: Backend> DynBackend for ErasedBackend<B> {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn device_count(&self) -> u32 {
        self.0.device_count()
    }
    fn properties(&self, ordinal: u32) -> Result<DeviceProperties> {
        self.0.properties(ordinal)
    }
    fn can_access_peer(&self, from: u32, to: u32) -> Result<bool> {
        self.0.can_access_peer(from, to)
    }
    fn create_context(&self, ordinal: u32) -> Result<Box<DynContext>> {
        Ok(Box::new(ErasedContext(self.0.create_context(ordinal)?)))
    }
    fn teardown(&self) -> &Teardown {
        self.0.teardown()
    }
    fn take_failures(&self) -> Vec<DeviceError> {
        self.0.take_failures()
    }
    fn abandon(&self, why: &DeviceError) {
        self.0.abandon(why);
    }
}

/// Downcasts the resource to its backend's type.
fn downcast<T: Any>(resource: &Erased) -> Result<&T> {
    (**resource)
        .downcast_ref()
        .ok_or_else(|| DeviceError::new(Status::InvalidHandle, "the resource belongs to another backend"))
}

fn boxed<T: Any + Send + Sync>(resource: T) -> Erased {
    Box::new(resource)
}

impl<C: Context> Resources for ErasedContext<C> {
    type Stream = Erased;
    type Event = Erased;
    type Module = Erased;
    type Function = Erased;
    type Graph = Erased;
    type BlasHandle = Erased;
    type DnnHandle = Erased;
    type Communicator = Erased;
}

impl<C: Context> Context for ErasedContext<C> {
    fn failure(&self) -> Option<DeviceError> {
        self.0.failure()
    }
    fn keeps_origins(&self) -> bool {
        self.0.keeps_origins()
    }

    fn records_work(&self) -> bool {
        self.0.records_work()
    }
}

impl<C: Context> Memory for ErasedContext<C> {
    fn memory_info(&self) -> Result<MemoryInfo> {
        self.0.memory_info()
    }
    fn allocate(&self, bytes: u64) -> Result<u64> {
        self.0.allocate(bytes)
    }
    fn free(&self, address: u64) -> Result<()> {
        self.0.free(address)
    }
    fn trim(&self) -> bool {
        self.0.trim()
    }
    fn allocate_host(&self, bytes: usize) -> Result<*mut u8> {
        self.0.allocate_host(bytes)
    }
    unsafe fn free_host(&self, memory: *mut u8) -> Result<()> {
        // SAFETY: this function has the same contract as the wrapped one, and the caller keeps it.
        unsafe { self.0.free_host(memory) }
    }
    unsafe fn register_host(&self, memory: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: this function has the same contract as the wrapped one, and the caller keeps it.
        unsafe { self.0.register_host(memory, bytes) }
    }
    fn unregister_host(&self, memory: *mut u8) -> Result<()> {
        self.0.unregister_host(memory)
    }
    fn allocate_managed(&self, bytes: u64) -> Result<ManagedMemory> {
        self.0.allocate_managed(bytes)
    }
    fn is_allocated(&self, address: u64, bytes: u64) -> bool {
        self.0.is_allocated(address, bytes)
    }
    fn is_cached(&self) -> bool {
        self.0.is_cached()
    }
}

impl<C: Context> Paging for ErasedContext<C> {
    fn page_bytes(&self) -> Result<Option<u64>> {
        self.0.page_bytes()
    }
    fn reserve_range(&self, bytes: u64) -> Result<u64> {
        self.0.reserve_range(bytes)
    }
    fn release_range(&self, address: u64, bytes: u64) -> Result<()> {
        self.0.release_range(address, bytes)
    }
    fn create_pages(&self, count: u64) -> Result<Vec<u64>> {
        self.0.create_pages(count)
    }
    fn destroy_page(&self, page: u64) -> Result<()> {
        self.0.destroy_page(page)
    }
    fn map_pages(&self, address: u64, pages: &[u64]) -> Result<()> {
        self.0.map_pages(address, pages)
    }
    fn unmap_pages(&self, address: u64, bytes: u64) -> Result<()> {
        self.0.unmap_pages(address, bytes)
    }
}

impl<C: Context> Transfers for ErasedContext<C> {
    unsafe fn copy_host_to_device(
        &self,
        stream: &Erased,
        dst: u64,
        src: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: this function has the same contract as the wrapped one, and the caller keeps it.
        unsafe { self.0.copy_host_to_device(downcast(stream)?, dst, src, bytes) }
    }
    unsafe fn copy_device_to_host(
        &self,
        stream: &Erased,
        dst: *mut u8,
        src: u64,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: this function has the same contract as the wrapped one, and the caller keeps it.
        unsafe { self.0.copy_device_to_host(downcast(stream)?, dst, src, bytes) }
    }
    fn copy_device_to_device(&self, stream: &Erased, dst: u64, src: u64, bytes: u64) -> Result<()> {
        self.0.copy_device_to_device(downcast(stream)?, dst, src, bytes)
    }
    unsafe fn copy_2d(&self, stream: &Erased, copy: &Copy2d) -> Result<()> {
        // SAFETY: this function has the same contract as the wrapped one, and the caller keeps it.
        unsafe { self.0.copy_2d(downcast(stream)?, copy) }
    }
    fn set(&self, stream: &Erased, dst: u64, pattern: Pattern, count: u64) -> Result<()> {
        self.0.set(downcast(stream)?, dst, pattern, count)
    }
}

impl<C: Context> Streams for ErasedContext<C> {
    fn create_stream(&self, options: StreamOptions) -> Result<Erased> {
        self.0.create_stream(options).map(boxed)
    }
    fn stream_id(&self, stream: &Erased) -> u64 {
        downcast(stream).map_or(0, |stream| self.0.stream_id(stream))
    }
    fn priority_range(&self) -> Result<(i32, i32)> {
        self.0.priority_range()
    }
    fn query_stream(&self, stream: &Erased) -> Result<bool> {
        self.0.query_stream(downcast(stream)?)
    }
    fn synchronize_stream(&self, stream: &Erased) -> Result<()> {
        self.0.synchronize_stream(downcast(stream)?)
    }
    fn wait_event(&self, stream: &Erased, event: &Erased) -> Result<()> {
        self.0.wait_event(downcast(stream)?, downcast(event)?)
    }
    fn host_callback(&self, stream: &Erased, callback: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.0.host_callback(downcast(stream)?, callback)
    }
}

impl<C: Context> Events for ErasedContext<C> {
    fn create_event(&self, options: EventOptions) -> Result<Erased> {
        self.0.create_event(options).map(boxed)
    }
    fn record_event(&self, event: &Erased, stream: &Erased) -> Result<()> {
        self.0.record_event(downcast(event)?, downcast(stream)?)
    }
    fn query_event(&self, event: &Erased) -> Result<bool> {
        self.0.query_event(downcast(event)?)
    }
    fn ring_for_events(&self, bell: Bell) -> bool {
        self.0.ring_for_events(bell)
    }
    fn synchronize_event(&self, event: &Erased) -> Result<()> {
        self.0.synchronize_event(downcast(event)?)
    }
    fn elapsed_ms(&self, start: &Erased, end: &Erased) -> Result<f32> {
        self.0.elapsed_ms(downcast(start)?, downcast(end)?)
    }
}

impl<C: Context> Modules for ErasedContext<C> {
    fn load_module(&self, image: &[u8]) -> Result<Erased> {
        self.0.load_module(image).map(boxed)
    }
    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>> {
        self.0.compile(source, options)
    }
    fn function(&self, module: &Erased, name: &str) -> Result<Erased> {
        self.0.function(downcast(module)?, name).map(boxed)
    }
    fn global(&self, module: &Erased, name: &str) -> Result<(u64, u64)> {
        self.0.global(downcast(module)?, name)
    }
    fn function_attributes(&self, function: &Erased) -> Result<FunctionAttributes> {
        self.0.function_attributes(downcast(function)?)
    }
    fn occupancy(&self, function: &Erased, threads: u32, shared: u32) -> Result<u32> {
        self.0.occupancy(downcast(function)?, threads, shared)
    }
    unsafe fn launch(
        &self,
        stream: &Erased,
        function: &Erased,
        config: &LaunchConfig,
        parameters: PackedParameters<'_>,
    ) -> Result<()> {
        // SAFETY: this function has the same contract as the wrapped one, and the caller keeps it.
        unsafe { self.0.launch(downcast(stream)?, downcast(function)?, config, parameters) }
    }
}

impl<C: Context> Graphs for ErasedContext<C> {
    fn begin_capture(&self, stream: &Erased) -> Result<()> {
        self.0.begin_capture(downcast(stream)?)
    }
    fn end_capture(&self, stream: &Erased) -> Result<Erased> {
        self.0.end_capture(downcast(stream)?).map(boxed)
    }
    fn end_capture_into(&self, stream: &Erased, graph: &Erased) -> Result<()> {
        self.0.end_capture_into(downcast(stream)?, downcast(graph)?)
    }
    fn graph_nodes(&self, graph: &Erased) -> Result<usize> {
        self.0.graph_nodes(downcast(graph)?)
    }
    fn launch_graph(&self, graph: &Erased, stream: &Erased) -> Result<()> {
        self.0.launch_graph(downcast(graph)?, downcast(stream)?)
    }
}

impl<C: Context> Collectives for ErasedContext<C> {
    fn collectives_id(&self) -> Result<UniqueId> {
        self.0.collectives_id()
    }
    fn create_communicator(&self, id: &UniqueId, ranks: u32, rank: u32, timeout: Duration) -> Result<Erased> {
        self.0.create_communicator(id, ranks, rank, timeout).map(boxed)
    }
    fn run_collectives(&self, calls: &[CollectiveCall<'_, Erased, Erased>]) -> Result<()> {
        let mut own_calls = Vec::with_capacity(calls.len());
        for call in calls {
            let CollectiveCall { operation, dtype, count, send, receive, caller, .. } = *call;
            let (communicator, stream) = (downcast(call.communicator)?, downcast(call.stream)?);
            own_calls.push(CollectiveCall {
                communicator,
                stream,
                operation,
                dtype,
                count,
                send,
                receive,
                caller,
            });
        }
        self.0.run_collectives(&own_calls)
    }
    fn abort_communicator(&self, communicator: &Erased, why: &DeviceError) {
        if let Ok(communicator) = downcast(communicator) {
            self.0.abort_communicator(communicator, why);
        }
    }
}

impl<C: Context> Blas for ErasedContext<C> {
    fn create_blas(&self, math: F32Math) -> Result<Erased> {
        self.0.create_blas(math).map(boxed)
    }
    fn axpy(
        &self,
        blas: &Erased,
        stream: &Erased,
        dtype: DType,
        n: u64,
        alpha: f64,
        x: (u64, i64),
        y: (u64, i64),
    ) -> Result<()> {
        self.0.axpy(downcast(blas)?, downcast(stream)?, dtype, n, alpha, x, y)
    }
    fn scal(
        &self,
        blas: &Erased,
        stream: &Erased,
        dtype: DType,
        n: u64,
        alpha: f64,
        x: (u64, i64),
    ) -> Result<()> {
        self.0.scal(downcast(blas)?, downcast(stream)?, dtype, n, alpha, x)
    }
    fn gemm(&self, blas: &Erased, stream: &Erased, gemm: &Gemm) -> Result<()> {
        self.0.gemm(downcast(blas)?, downcast(stream)?, gemm)
    }
}

impl<C: Context> Attends for ErasedContext<C> {
    fn computes_attention(&self) -> bool {
        self.0.computes_attention()
    }
    fn attention(&self, stream: &Erased, attention: &Attention) -> Result<()> {
        self.0.attention(downcast(stream)?, attention)
    }
}

impl<C: Context> Dnn for ErasedContext<C> {
    fn create_dnn(&self, math: F32Math) -> Result<Erased> {
        self.0.create_dnn(math).map(boxed)
    }
    fn run_dnn(
        &self,
        dnn: &Erased,
        stream: &Erased,
        operation: DnnOperation<'_>,
        scaling: Scaling,
    ) -> Result<()> {
        self.0.run_dnn(downcast(dnn)?, downcast(stream)?, operation, scaling)
    }
}
