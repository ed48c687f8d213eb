//! Devices that only hold and move memory: no modules, no graphs, no libraries.
//!
//! A backend from outside this crate implements [`Memory`](super::Memory),
//! [`Transfers`](super::Transfers), [`Streams`](super::Streams), [`Events`](super::Events) and
//! [`Context`](super::Context), and declares with [`MemoryOnly`] that this is all. The other traits
//! follow, with errors that name the missing feature. The resources that it lacks have a type
//! without values, so their methods cannot be called.

#![expect(unsafe_code, reason = "unsafe methods that nobody can call")]

use std::convert::Infallible;
use std::time::Duration;

use tfrt_host::DType;

use super::{
    Attends, Blas, CollectiveCall, Collectives, Dnn, DnnOperation, F32Math, FunctionAttributes, Gemm, Graphs,
    LaunchConfig, Modules, PackedParameters, Paging, Resources, Result, Scaling, Streams, UniqueId,
};
use crate::error::{DeviceError, Status};

/// A context of a device that runs no modules.
pub trait MemoryOnly:
    Streams
    + Resources<
        Module = Infallible,
        Function = Infallible,
        Graph = Infallible,
        BlasHandle = Infallible,
        DnnHandle = Infallible,
        Communicator = Infallible,
    >
{
    /// Returns the name of the device for messages about unsupported calls.
    fn who(&self) -> String;
}

fn refuse<T>(context: &impl MemoryOnly, what: &str) -> Result<T> {
    let detail = format!("{} {what}; host callbacks are its only kernels", context.who());
    Err(DeviceError::new(Status::NotSupported, detail))
}

impl<C: MemoryOnly> Modules for C {
    fn load_module(&self, _image: &[u8]) -> Result<Infallible> {
        refuse(self, "cannot load modules")
    }
    fn compile(&self, _source: &str, _options: &[String]) -> Result<Vec<u8>> {
        refuse(self, "cannot compile CUDA C++")
    }
    fn function(&self, module: &Infallible, _name: &str) -> Result<Infallible> {
        match *module {}
    }
    fn global(&self, module: &Infallible, _name: &str) -> Result<(u64, u64)> {
        match *module {}
    }
    fn function_attributes(&self, function: &Infallible) -> Result<FunctionAttributes> {
        match *function {}
    }
    fn occupancy(&self, function: &Infallible, _threads: u32, _shared: u32) -> Result<u32> {
        match *function {}
    }
    unsafe fn launch(
        &self,
        _stream: &Self::Stream,
        function: &Infallible,
        _config: &LaunchConfig,
        _parameters: PackedParameters<'_>,
    ) -> Result<()> {
        match *function {}
    }
}

impl<C: MemoryOnly> Paging for C {}

impl<C: MemoryOnly> Graphs for C {
    fn begin_capture(&self, _stream: &Self::Stream) -> Result<()> {
        refuse(self, "cannot capture graphs")
    }
    fn end_capture(&self, _stream: &Self::Stream) -> Result<Infallible> {
        refuse(self, "cannot capture graphs")
    }
    fn end_capture_into(&self, _stream: &Self::Stream, graph: &Infallible) -> Result<()> {
        match *graph {}
    }
    fn graph_nodes(&self, graph: &Infallible) -> Result<usize> {
        match *graph {}
    }
    fn launch_graph(&self, graph: &Infallible, _stream: &Self::Stream) -> Result<()> {
        match *graph {}
    }
}

impl<C: MemoryOnly> Collectives for C {
    fn collectives_id(&self) -> Result<UniqueId> {
        refuse(self, "has no collectives")
    }
    fn create_communicator(
        &self,
        _id: &UniqueId,
        _ranks: u32,
        _rank: u32,
        _timeout: Duration,
    ) -> Result<Infallible> {
        refuse(self, "has no collectives")
    }
    fn run_collectives(&self, calls: &[CollectiveCall<'_, Infallible, Self::Stream>]) -> Result<()> {
        match calls.first() {
            Some(call) => match *call.communicator {},
            None => Ok(()),
        }
    }
    fn abort_communicator(&self, communicator: &Infallible, _why: &DeviceError) {
        match *communicator {}
    }
}

/// Defines methods that take a library's handle, which cannot exist.
macro_rules! uncallable {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        fn $name(&self, handle: &Infallible, _stream: &Self::Stream, $($argument: $type),*) -> Result<()> {
            let _ = ($($argument,)*);
            match *handle {}
        }
    )*};
}

impl<C: MemoryOnly> Blas for C {
    fn create_blas(&self, _math: F32Math) -> Result<Infallible> {
        refuse(self, "has no BLAS library")
    }
    uncallable! {
        axpy(dtype: DType, n: u64, alpha: f64, x: (u64, i64), y: (u64, i64));
        scal(dtype: DType, n: u64, alpha: f64, x: (u64, i64));
        gemm(gemm: &Gemm);
    }
}

impl<C: MemoryOnly> Attends for C {}

impl<C: MemoryOnly> Dnn for C {
    fn create_dnn(&self, _math: F32Math) -> Result<Infallible> {
        refuse(self, "has no DNN library")
    }
    uncallable! {
        run_dnn(operation: DnnOperation<'_>, scaling: Scaling);
    }
}
