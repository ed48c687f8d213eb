//! Graphs: the work of a stream recorded once and launched many times.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::Diagnostic;
use tfrt_host::host_buffer::HostBuffer;

use super::buffer::DeviceBuffer;
use super::context::{Context, Counted};
use super::host_hold::Hold;
use super::module::Module;
use super::stream::{Stream, StreamRef};
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Erased, LetGo};

/// What recorded work uses: kept alive as long as the graph, and held for as long as a launch of it runs.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) streams: Vec<StreamRef>,
    pub(super) buffers: Vec<DeviceBuffer>,
    pub(super) modules: Vec<Module>,
    pub(super) host_reads: Vec<HostBuffer>,
    pub(super) host_writes: Vec<HostBuffer>,
}

/// A graph, ready to be launched. Cloning shares it.
#[derive(Clone)]
pub struct Graph(Arc<Inner>);

struct Inner {
    hal: LetGo<Erased>,
    nodes: usize,
    /// Of the latest capture. Locked while the graph is launched or updated.
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
    /// From now on, work queued here is recorded instead of done.
    ///
    /// # Errors
    /// `IllegalState` if the stream is captured already.
    pub fn begin_capture(&self) -> Result<()> {
        if self.is_capturing() {
            return Err(DeviceError::new(Status::IllegalState, "the stream is being captured already"));
        }
        self.context().hal().begin_capture(self.hal())?;
        self.set_recording(Some(Arc::default()));
        Ok(())
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// `IllegalState` if the stream is not captured; `StreamCaptureUnjoined` if another stream that takes part was not
    /// joined back.
    pub fn end_capture(&self) -> Result<Graph> {
        let (hal, recorded) = self.end_recording(|| self.context().hal().end_capture(self.hal()))?;
        let hal = self.context().owned(hal);
        let nodes = self.context().hal().graph_nodes(&hal)?;
        let counted = Counted::new(self.context(), |live| &live.graphs);
        Ok(Graph(Arc::new(Inner { hal, nodes, recorded: Mutex::new(recorded), counted })))
    }

    /// Ends the capture and lets a graph do what was recorded from its next launch on, which costs less than making one.
    ///
    /// # Errors
    /// As [`Stream::end_capture`]; `GraphExecUpdateFailure` if what was recorded differs from the graph by more than
    /// parameters. The graph is then as it was.
    pub fn end_capture_into(&self, graph: &Graph) -> Result<()> {
        check(graph, self.context())?;
        let mut known = graph.0.recorded.lock();
        let update = || self.context().hal().end_capture_into(self.hal(), &graph.0.hal);
        let ((), recorded) = self.end_recording(update)?;
        *known = recorded;
        Ok(())
    }

    /// Ends the capture by what `end` does: its result, and what was recorded.
    fn end_recording<T>(&self, end: impl FnOnce() -> Result<T>) -> Result<(T, Recorded)> {
        let recording = self
            .recording()
            .ok_or_else(|| DeviceError::new(Status::IllegalState, "the stream is not being captured"))?;
        let ended = end();
        let recorded = std::mem::take(&mut *recording.lock());
        recorded.streams.iter().for_each(StreamRef::end_recording);
        self.set_recording(None);
        Ok((ended?, recorded))
    }

    /// Queues a graph's work.
    ///
    /// # Errors
    /// The device's; `DataRace` if a host kernel uses memory that the graph copies from or to.
    pub fn launch_graph(&self, graph: &Graph) -> Result<(), Diagnostic> {
        check(graph, self.context())?;
        let recorded = graph.0.recorded.lock();
        let mut holds = Vec::new();
        for buffer in &recorded.host_reads {
            holds.push(Hold::read(buffer, self.context())?);
        }
        for buffer in &recorded.host_writes {
            holds.push(Hold::write(buffer, self.context())?);
        }
        for buffer in &recorded.buffers {
            buffer.used_on(self)?;
        }
        self.context().hal().launch_graph(&graph.0.hal, self.hal())?;
        if !holds.is_empty() && !self.is_capturing() {
            let graph = graph.clone();
            self.after(Some(Box::new(move || drop((holds, graph)))), None)?;
        }
        Ok(())
    }
}

impl Graph {
    /// How many operations it has.
    pub fn node_count(&self) -> usize {
        self.0.nodes
    }

    /// Its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph of {} operations", self.0.nodes)
    }
}

/// Adds to what a stream records, if it does.
pub(super) fn record(stream: &Stream, add: impl FnOnce(&mut Recorded)) {
    if let Some(recording) = stream.recording() {
        let recording: &Mutex<Recorded> = &recording;
        add(&mut recording.lock());
    }
}
