//! Programs and requests of the tests.

use std::sync::Arc;

use bytes::Bytes;
use tfrt_distributed::{
    RemoteObjectId,
    proto::{self, Output},
};
use tfrt_host::allocator::{HostAllocator, SystemAllocator};

/// The task that tests call.
pub(crate) const TASK: &str = "/job:worker/task:0";

pub(crate) const COUNT: &str = "func @count() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %c1 = test.count %c0
  tfrt.return %c1 : !tfrt.chain
}";

pub(crate) const BLOCK: &str = "func @block() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %c1 = test.block %c0
  tfrt.return %c1 : !tfrt.chain
}";

pub(crate) const TENSOR: &str = "func @tensor() -> !t.tensor {
  %c0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %t, %c0 [1 : i32, 2 : i32]
  tfrt.return %t : !t.tensor
}";

pub(crate) fn create_context() -> proto::CreateContextRequest {
    let task = proto::TaskInfo { name: TASK.to_owned(), address: String::new() };
    proto::CreateContextRequest { task: TASK.to_owned(), cluster: vec![task], ..Default::default() }
}

pub(crate) fn register(name: &str, program: &str) -> proto::RegisterFunctionRequest {
    proto::RegisterFunctionRequest {
        header: None,
        name: name.to_owned(),
        program: Bytes::copy_from_slice(program.as_bytes()),
        language: proto::Language::Kernels.into(),
    }
}

/// Returns the allocator of tensors that a test reads.
pub(crate) fn allocator() -> Arc<dyn HostAllocator> {
    Arc::new(SystemAllocator)
}

pub(crate) fn id(local: u64) -> RemoteObjectId {
    RemoteObjectId { prefix: 1, local, device: format!("{TASK}/device:CPU:0").into() }
}

pub(crate) fn execute(name: &str, outputs: &[u64]) -> proto::RemoteExecuteRequest {
    let output = |&local: &u64| Output { id: Some((&id(local)).into()), need_metadata: false };
    proto::RemoteExecuteRequest {
        header: None,
        function: name.to_owned(),
        inputs: Vec::new(),
        outputs: outputs.iter().map(output).collect(),
    }
}
