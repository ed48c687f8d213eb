//! What the fuzz targets of the runtime share: everything this build knows of kernels, and bytes as
//! buffers.

#![cfg(feature = "runtime")]

use std::{
    ops::ControlFlow,
    sync::{Arc, LazyLock},
};

use tfrt_compiler::{Evaluator, Graph, lower, pass};
use tfrt_host::{
    HostContext, KernelRegistry, allocator::SystemAllocator, host_buffer::HostBuffer, work_queue,
};
use tfrt_ir::{Diagnostics, OpRegistry};
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

/// What importers fold constants with.
pub static EVALUATOR: LazyLock<Evaluator> = LazyLock::new(|| {
    let queue = work_queue::from_str("s").expect("a queue of one thread");
    Evaluator::new(&HostContext::builder(queue, allocator()).build()).expect("a core runtime")
});

/// Makes a program of an op graph, if there is one. The verifier must accept the graph after each
/// pass.
pub fn compile(imported: Result<(Graph, Diagnostics), Diagnostics>) {
    let Ok((mut graph, _)) = imported else { return };
    if let Err(errors) = pass::verify_op_graph(&graph, &EVALUATOR) {
        panic!("the importer makes a graph that is wrong: {errors}");
    }
    let verified = pass::PassOptions { verify_each: true, ..pass::PassOptions::default() };
    let run = pass::run(pass::PASSES, &mut graph, &EVALUATOR, verified, &mut |_, _, _| ControlFlow::Continue(()));
    if let Err(errors) = run {
        panic!("a pass leaves a graph that is wrong: {errors}");
    }
    let _ = lower::corert::lower(&graph, &EVALUATOR, lower::corert::Place::Default);
}

/// The files of a SavedModel in one: the model and the index of its checkpoint, each behind its
/// length, and the data.
pub fn saved_model_parts(bytes: &[u8]) -> Option<[&[u8]; 3]> {
    let part = |bytes: &'_ [u8]| -> Option<(usize, usize)> {
        let length = u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?) as usize;
        Some((2, 2usize.checked_add(length).filter(|&end| end <= bytes.len())?))
    };
    let (start, end) = part(bytes)?;
    let (model, rest) = (&bytes[start..end], &bytes[end..]);
    let (start, end) = part(rest)?;
    Some([model, &rest[start..end], &rest[end..]])
}

/// As [`saved_model_parts`] reads them; `None` for files that are too long.
pub fn join_saved_model_parts([model, index, data]: [&[u8]; 3]) -> Option<Vec<u8>> {
    let length = |bytes: &[u8]| Some(u16::try_from(bytes.len()).ok()?.to_le_bytes());
    Some([&length(model)?, model, &length(index)?, index, data].concat())
}

/// Looks at every element of a tensor.
pub fn read_tensor(tensor: &HostTensor) {
    if tensor.shape().num_elements().is_ok_and(|count| count <= EXPANDED_MAX) {
        let _ = tensor.print(&READER);
        let _ = tensor.to_dense(&READER, &allocator());
    }
}
