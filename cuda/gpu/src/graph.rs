//! Graphs, captured from streams.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::ffi::c_int;
use std::mem::{MaybeUninit, offset_of};
use std::sync::{Arc, LazyLock};

use cudarc::driver::sys::{self, CUgraph, CUgraphExec, CUgraphExecUpdateResultInfo};
use parking_lot::Mutex;
use tfrt_device::error::{Result, Status};
use tfrt_device::hal::Graphs;

use super::context::{GpuContext, Shared};
use super::stream::{Counted, Handle, Stream};
use super::workspace::LastUse;

const _: () = assert!(offset_of!(CUgraphExecUpdateResultInfo, result) == 0);

/// An executable graph.
pub(crate) struct Graph {
    shared: Arc<Shared>,
    /// The driver requires callers to serialize launches and updates of one graph.
    instance: Mutex<Instance>,
}

struct Instance {
    raw: CUgraphExec,
    nodes: usize,
    /// The capture it was made from, whose workspaces it uses.
    capture: Option<u64>,
    /// The stream of the last launch, if launches use workspaces. A launch starts after all earlier
    /// ones, on whichever streams, so the workspaces are unused after the work of this stream.
    last_stream: Option<Arc<Handle>>,
}

impl Instance {
    /// Returns the point after all launches so far. The context must be current.
    fn last_launch(&mut self) -> LastUse {
        self.last_stream.take().map_or(LastUse::Over, |stream| LastUse::on(&stream))
    }
}

// SAFETY: the driver allows the use of the instance on any thread, by one thread at a time, which
// the mutex ensures.
unsafe impl Send for Graph {}
// SAFETY: the driver allows the use of the instance on any thread, by one thread at a time, which
// the mutex ensures.
unsafe impl Sync for Graph {}

/// A captured graph that is not instantiated yet. The context outlives it.
struct Captured<'a> {
    shared: &'a Arc<Shared>,
    raw: CUgraph,
    capture: Option<u64>,
}

impl Captured<'_> {
    /// Ends the capture of a stream.
    fn end<'a>(shared: &'a Arc<Shared>, stream: &Stream) -> Result<Captured<'a>> {
        // Counted until the driver has ended it.
        let began = stream.end_capture();
        let capture = began.as_ref().and_then(|began| began.id);
        let mut raw = std::ptr::null_mut();
        // SAFETY: the stream is alive, and the pointer is valid for the call.
        let result = unsafe { sys::cuStreamEndCapture(stream.raw(), &raw mut raw) };
        shared
            .check(result, "cuStreamEndCapture")
            .inspect_err(|_| shared.free_capture_workspaces(capture, LastUse::Over))?;
        Ok(Captured { shared, raw, capture })
    }

    fn nodes(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the graph is alive. Without an array the driver returns the count, through a
        // pointer that is valid for the call.
        let result = unsafe { sys::cuGraphGetNodes(self.raw, std::ptr::null_mut(), &raw mut count) };
        self.shared.check(result, "cuGraphGetNodes")?;
        Ok(count)
    }

    fn instantiate(&self) -> Result<CUgraphExec> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the graph is alive, and the pointer is valid for the call.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut raw, self.raw, 0) };
        self.shared.check(result, "cuGraphInstantiate")?;
        Ok(raw)
    }
}

/// Describes why an instance was not updated. The reason is a number: one that the bindings do not
/// know must not become a Rust enum.
fn update_failure(reason: c_int) -> &'static str {
    match reason {
        2 => "it has other operations, or other dependences between them",
        3 => "an operation is of another type",
        4 => "a launch is of a function that cannot take the place of the earlier one",
        5 => "the parameters of an operation cannot be changed in this way",
        6 => "an operation cannot be updated",
        7 => "a function cannot be exchanged",
        8 => "the attributes of a launch changed",
        _ => "the driver does not say why",
    }
}

impl Captured<'_> {
    /// Updates an instance to the captured graph.
    fn update(&self, instance: CUgraphExec) -> Result<()> {
        let mut info = MaybeUninit::<CUgraphExecUpdateResultInfo>::zeroed();
        // SAFETY: graph and instance are alive, nothing else uses the instance during the call, and
        // the pointer is valid for the call.
        let result = unsafe { sys::cuGraphExecUpdate_v2(instance, self.raw, info.as_mut_ptr()) };
        // SAFETY: the first field is a C enum, which has the size of an int. It was zeroed before
        // the call, which may have written it.
        let reason = unsafe { info.as_ptr().cast::<c_int>().read() };
        self.shared.check(result, "cuGraphExecUpdate").map_err(|mut error| {
            if error.status == Status::GraphExecUpdateFailure {
                error.detail = format!("{}: {}", error.status.message(), update_failure(reason));
            }
            error
        })
    }
}

impl Drop for Captured<'_> {
    fn drop(&mut self) {
        // SAFETY: the graph is alive and this is its only owner. Instances of it do not need it.
        let _ = unsafe { sys::cuGraphDestroy(self.raw) };
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.shared.make_current().is_ok() {
            let instance = self.instance.get_mut();
            // SAFETY: the instance is alive and this is its only owner. A running launch still
            // finishes.
            let _ = unsafe { sys::cuGraphExecDestroy(instance.raw) };
            let last_launch = instance.last_launch();
            self.shared.free_capture_workspaces(instance.capture, last_launch);
        }
    }
}

impl GpuContext {
    fn instance(&self, captured: &Captured<'_>) -> Result<Instance> {
        let nodes = captured.nodes()?;
        let (raw, capture) = (captured.instantiate()?, captured.capture);
        Ok(Instance { raw, nodes, capture, last_stream: None })
    }
}

impl Graphs for GpuContext {
    fn begin_capture(&self, stream: &Stream) -> Result<()> {
        let shared = self.bound()?;
        // Relaxed: a program's kernels run on whichever thread is free, and other threads go on
        // with their own work.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let counted = Counted::new();
        // SAFETY: the stream is alive.
        let result = unsafe { sys::cuStreamBeginCapture_v2(stream.raw(), mode) };
        shared.check(result, "cuStreamBeginCapture")?;
        stream.begin_capture(counted)
    }

    fn end_capture(&self, stream: &Stream) -> Result<Graph> {
        let shared = self.bound()?;
        let captured = Captured::end(shared, stream)?;
        let failed = |_: &_| shared.free_capture_workspaces(captured.capture, LastUse::Over);
        let instance = self.instance(&captured).inspect_err(failed)?;
        Ok(Graph { shared: Arc::clone(&self.shared), instance: Mutex::new(instance) })
    }

    fn end_capture_into(&self, stream: &Stream, graph: &Graph) -> Result<()> {
        let shared = self.bound()?;
        let captured = Captured::end(shared, stream)?;
        let mut instance = graph.instance.lock();
        let updated = captured.update(instance.raw);
        updated.inspect_err(|_| shared.free_capture_workspaces(captured.capture, LastUse::Over))?;
        // Running launches may use the old workspaces.
        let before = std::mem::replace(&mut instance.capture, captured.capture);
        let last_launch = instance.last_launch();
        shared.free_capture_workspaces(before, last_launch);
        Ok(())
    }

    fn graph_nodes(&self, graph: &Graph) -> Result<usize> {
        Ok(graph.instance.lock().nodes)
    }

    fn launch_graph(&self, graph: &Graph, stream: &Stream) -> Result<()> {
        let shared = self.bound()?;
        let mut instance = graph.instance.lock();
        // SAFETY: instance and stream are alive, and nothing else uses the instance during the
        // call.
        shared.check(unsafe { sys::cuGraphLaunch(instance.raw, stream.raw()) }, "cuGraphLaunch")?;
        static WHAT: LazyLock<Arc<str>> = LazyLock::new(|| "a graph".into());
        shared.launches.add(stream.raw().addr(), &WHAT);
        let is_known = instance.last_stream.as_ref().is_some_and(|last| Arc::ptr_eq(last, stream.handle()));
        if !is_known && shared.workspaces.has_capture_workspaces(instance.capture) {
            instance.last_stream = Some(Arc::clone(stream.handle()));
        }
        Ok(())
    }
}
