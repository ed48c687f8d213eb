//! The types of values that device kernels exchange.

use tfrt_host::value_type;

use crate::front::{
    BlasHandle, CollectiveGroup, Communicator, CommunicatorId, Context, Device, DeviceAllocator,
    DeviceBuffer, DnnHandle, Event, Function, Graph, Module, Stream,
};

value_type!(Device, "!tfrt_cuda.device");
value_type!(Context, "!tfrt_cuda.context");
value_type!(Stream, "!tfrt_cuda.stream");
value_type!(Event, "!tfrt_cuda.event");
value_type!(DeviceAllocator, "!tfrt_cuda.allocator");
value_type!(DeviceBuffer, "!tfrt_cuda.buffer");
value_type!(Module, "!tfrt_cuda.module");
value_type!(Function, "!tfrt_cuda.function");
value_type!(Graph, "!tfrt_cuda.graph");
value_type!(BlasHandle, "!tfrt_cuda.blas_handle");
value_type!(CommunicatorId, "!tfrt_cuda.ccl_id");
value_type!(Communicator, "!tfrt_cuda.ccl_communicator");
value_type!(CollectiveGroup, "!tfrt_cuda.ccl_group");
value_type!(DnnHandle, "!tfrt_cuda.dnn_handle");
