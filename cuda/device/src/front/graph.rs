//! Graphs: the work of a stream recorded once and launched many times.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::Diagnostic;
use tfrt_host::host_buffer::HostBuffer;

use super::buffer::DeviceBuffer;
use super::context::{Context, Counted};
use super::host_hold::Hold;
use super::managed::Queueing;
use super::module::Module;
use super::stream::{Stream, StreamRef};
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Erased, ReleasedOnDrop};
use crate::origin::Origin;

/// The resources of recorded work. They are kept alive as long as the graph, and held while a
/// launch of it runs.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) streams: Vec<StreamRef>,
    pub(super) buffers: Vec<DeviceBuffer>,
    pub(super) modules: Vec<Module>,
    pub(super) host_reads: Vec<HostBuffer>,
    pub(super) host_writes: Vec<HostBuffer>,
    /// The origin of the capture, if an observer watches.
    pub(super) began: Option<Origin>,
    /// Whether the capture has ended and its record was taken out.
    pub(super) is_over: bool,
}

impl Recorded {
    /// Drops duplicates: operations name the same resources again and again, and each launch checks
    /// all of them.
    fn keep_each_once(&mut self) {
        fn once<T, K: Ord>(all: &mut Vec<T>, key: impl Fn(&T) -> K) {
            all.sort_by_key(&key);
            all.dedup_by_key(|one| key(one));
        }
        once(&mut self.buffers, DeviceBuffer::handle);
        once(&mut self.modules, Module::handle);
        let part = |buffer: &HostBuffer| (buffer.as_ptr().addr(), buffer.len());
        once(&mut self.host_reads, part);
        once(&mut self.host_writes, part);
    }
}

/// An executable graph. Clones share it.
#[derive(Clone)]
pub struct Graph(Arc<Inner>);

struct Inner {
    hal: ReleasedOnDrop<Erased>,
    nodes: usize,
    /// The record of the latest capture. Locked while the graph is launched or updated.
    recorded: Mutex<Recorded>,
    counted: Counted,
}

impl Owned for Graph {
    const KIND: &'static str = "graph";

    fn context(&self) -> &Context {
        self.0.counted.context()
    }
}

impl Stream {
    /// Ends the capture that began on this stream and returns its graph.
    ///
    /// # Errors
    /// `IllegalState` if no running capture began on the stream; `StreamCaptureUnjoined` if another
    /// stream that takes part was not joined back.
    pub fn end_capture(&self) -> Result<Graph> {
        let (hal, recorded) = self.end_recording(|| self.context().hal().end_capture(self.hal()))?;
        let hal = self.context().owned(hal);
        let nodes = self.context().hal().graph_nodes(&hal)?;
        let counted = Counted::new(self.context(), |live| &live.graphs);
        Ok(Graph(Arc::new(Inner { hal, nodes, recorded: Mutex::new(recorded), counted })))
    }

    /// Ends the capture and updates `graph` with what was recorded, which costs less than creating
    /// a graph. The update takes effect at the next launch.
    ///
    /// # Errors
    /// The errors of [`Stream::end_capture`]; `GraphExecUpdateFailure` if the recorded work differs
    /// from the graph by more than parameters. The graph is then unchanged.
    pub fn end_capture_into(&self, graph: &Graph) -> Result<()> {
        check(graph, self.context())?;
        let mut known = graph.0.recorded.lock();
        let update = || self.context().hal().end_capture_into(self.hal(), &graph.0.hal);
        let ((), recorded) = self.end_recording(update)?;
        let before = std::mem::replace(&mut *known, recorded);
        // Dropped without the lock: a thread that launches this graph may wait for memory that this
        // releases.
        drop(known);
        drop(before);
        Ok(())
    }

    /// Ends the capture by calling `end`. Returns its result and the record.
    fn end_recording<T>(&self, end: impl FnOnce() -> Result<T>) -> Result<(T, Recorded)> {
        if !self.is_capturing() {
            return Err(DeviceError::new(Status::IllegalState, "the stream is not being captured"));
        }
        if !self.as_ref().began_capture() {
            return Err(DeviceError::new(Status::IllegalState, "the capture began on another stream"));
        }
        let ended = end();
        let mut recorded = self.as_ref().end_capture().unwrap_or_default();
        recorded.keep_each_once();
        Ok((ended?, recorded))
    }

    /// Queues a graph's work on the stream.
    ///
    /// # Errors
    /// Any error of the device; `DataRace` if a host kernel uses memory that the graph copies from
    /// or to; `StreamCaptureUnsupported` while the stream is captured, because one graph cannot
    /// record the resources that another needs for a launch.
    pub fn launch_graph(&self, graph: &Graph) -> Result<(), Diagnostic> {
        check(graph, self.context())?;
        self.refuse_while_capturing("a graph cannot be launched into a capture")?;
        let recorded = graph.0.recorded.lock();
        let mut holds = Vec::new();
        for buffer in &recorded.host_reads {
            holds.push(Hold::read(buffer, self.context())?);
        }
        for buffer in &recorded.host_writes {
            holds.push(Hold::write(buffer, self.context())?);
        }
        let mut queueing = Queueing::on(self);
        // The capture checked which memory an operation may use: copies between devices use memory
        // of other contexts.
        for buffer in &recorded.buffers {
            buffer.used_by_peer(&mut queueing)?;
        }
        if !recorded.modules.is_empty() {
            queueing.take_all()?;
        }
        self.traced(
            || "launch of a graph".to_owned(),
            || self.context().hal().launch_graph(&graph.0.hal, self.hal()),
        )?;
        drop(queueing);
        if !holds.is_empty() {
            let graph = graph.clone();
            self.as_ref().release_with_next(Box::new(move || drop((holds, graph))))?;
        }
        Ok(())
    }
}

impl Graph {
    /// Returns the number of operations.
    pub fn node_count(&self) -> usize {
        self.0.nodes
    }

    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph of {} operations", self.0.nodes)
    }
}
