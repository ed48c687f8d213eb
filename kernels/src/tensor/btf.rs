//! Reading tensors from BTF files: `btf.*`.

use std::path::Path;

use tfrt_host::{Arg, DType, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::files::btf::{BtfFile, Layout};
use tfrt_tensor::{Accessor, CooHostTensor, HostTensor};

static READ: Accessor = Accessor::new("btf.read_tensor");

/// The properties of the tensor that the kernel's name specifies.
#[derive(Clone, Copy)]
struct Expected {
    dtype: DType,
    rank: usize,
    layout: Layout,
}

/// Reads a tensor into new memory, because programs write to tensors that they have read.
fn read(path: &str, index: i32, expected: Expected, cx: &ExecutionContext) -> Result<HostTensor, Diagnostic> {
    cx.host().check_readable(Path::new(path))?;
    let file = BtfFile::open(path)?;
    let index = usize::try_from(index).map_err(|_| {
        let count = file.len();
        let message = format!(
            "invalid tensor index {index} to read tensor from path {path} which contains {count} tensors"
        );
        Diagnostic::new(ErrorCode::OutOfRange, message)
    })?;
    let header = file.header(index)?;
    let unexpected =
        |what: String| Err(Diagnostic::invalid_argument(format!("{path}: tensor {index}: {what}")));
    if header.dtype != expected.dtype {
        return unexpected(format!(
            "unexpected tensor dtype {}. Expected dtype is {}",
            header.dtype.mlir_name(),
            expected.dtype.mlir_name()
        ));
    }
    if header.rank != expected.rank {
        return unexpected(format!(
            "unexpected tensor rank {}. Expected rank is {}",
            header.rank, expected.rank
        ));
    }
    if header.layout != expected.layout {
        return unexpected(format!("unexpected tensor layout {}", header.layout.name()));
    }
    let allocator = cx.host().allocator();
    Ok(match file.tensor(index)? {
        HostTensor::Dense(dense) => dense.deep_copy(&READ, allocator)?.into(),
        HostTensor::Coo(coo) => {
            let indices = coo.indices().deep_copy(&READ, allocator)?;
            let values = coo.values().deep_copy(&READ, allocator)?;
            CooHostTensor::new(coo.shape().clone(), indices, values)?.into()
        }
        other => other,
    })
}

fn register_for(registry: &mut KernelRegistry, kernel: &str, expected: Expected, doc: &'static str) {
    let Expected { dtype, rank, .. } = expected;
    registry
        .add(
            format!("btf.{kernel}.{}.{rank}", dtype.mlir_name()),
            move |path: Arg<String>, index: i32, cx: &ExecutionContext| read(&path, index, expected, cx),
        )
        .blocking()
        .doc(doc);
}

pub(super) fn register(registry: &mut KernelRegistry) {
    for rank in 0..=4 {
        for dtype in [DType::I8, DType::I32, DType::I64, DType::UI8, DType::F32, DType::F64] {
            let expected = Expected { dtype, rank, layout: Layout::Dense };
            register_for(
                registry,
                "read_dense_tensor",
                expected,
                "The dense tensor of this number in a BTF file.",
            );
        }
        for dtype in [DType::I8, DType::I32, DType::F32] {
            let expected = Expected { dtype, rank, layout: Layout::Coo };
            register_for(
                registry,
                "read_coo_tensor",
                expected,
                "The sparse tensor of this number in a BTF file.",
            );
        }
    }
}
