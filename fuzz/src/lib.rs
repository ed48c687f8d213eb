//! What the fuzz targets of the runtime share: everything this build knows of kernels, and bytes as buffers.

#![cfg(feature = "runtime")]

use std::sync::{Arc, LazyLock};

use tfrt_host::{KernelRegistry, allocator::SystemAllocator, host_buffer::HostBuffer};
use tfrt_ir::OpRegistry;
use tfrt_tensor::{Accessor, HostTensor, SharedAllocator};

/// All kernels of the runtime.
pub static KERNELS: LazyLock<KernelRegistry> = LazyLock::new(|| {
    let mut registry = KernelRegistry::new();
    tfrt::register_kernels(&mut registry);
    registry
});

/// All operations of MLIR text.
pub static OPS: LazyLock<OpRegistry> =
    LazyLock::new(|| tfrt::operations(&KERNELS).expect("every kernel has an operation"));

/// The name under which the targets look at tensors.
pub static READER: Accessor = Accessor::new("fuzz");

/// Elements up to which a tensor that takes less room in its file is written out.
const EXPANDED_MAX: usize = 1 << 16;

/// Memory for tensors.
pub fn allocator() -> SharedAllocator {
    Arc::new(SystemAllocator)
}

/// The bytes of a file, aligned as a mapped file is.
pub fn in_memory(bytes: &[u8]) -> Option<HostBuffer> {
    HostBuffer::copy_from_slice(bytes, 64, &allocator())
}

/// Looks at every element of a tensor.
pub fn read_tensor(tensor: &HostTensor) {
    if tensor.shape().num_elements().is_ok_and(|count| count <= EXPANDED_MAX) {
        let _ = tensor.print(&READER);
        let _ = tensor.to_dense(&READER, &allocator());
    }
}
