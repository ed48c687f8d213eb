//! Matrices from diagonals, diagonals of matrices, and matrices with other diagonals. Which
//! diagonals, the host says; what fills the rest may be another op's result.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::Diagonals as OfBatch;
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{Queued, count, unsupported};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        diagonal::{Alignment, Diagonals, bounds},
        support::{check_one, integer, invalid, product},
    },
    registry::wrong_count,
};

/// Those of a batch of matrices of these extents.
fn of_batch(diagonals: &Diagonals, dims: &[usize]) -> OfBatch {
    let Diagonals { upper, rows, columns, longest, alignment, .. } = *diagonals;
    OfBatch {
        matrices: product(&dims[..dims.len() - 2]) as u64,
        rows: rows as u64,
        columns: columns as u64,
        count: diagonals.count() as u64,
        longest: longest as u64,
        upper,
        padding_first: [!alignment.above, !alignment.below],
    }
}

/// A version of an op: the first one knows the main diagonal alone, the others take an argument for
/// which ones, and what fills the rest; and the third an alignment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    First,
    Second,
    Third,
}

impl Version {
    /// The diagonals that argument `at` says, which is the one behind those of the first version.
    /// There must be `later` arguments.
    fn diagonals(
        self,
        call: &DeviceCall<'_>,
        at: usize,
        later: usize,
    ) -> Result<([i64; 2], Alignment), Diagnostic> {
        let expected = if self == Self::First { at } else { later };
        if call.arguments.len() != expected {
            return Err(wrong_count(expected, call.arguments.len()));
        }
        match self {
            Self::First => Ok(([0; 2], Alignment::LEFT)),
            Self::Second => Ok((bounds(call.host(at)?)?, Alignment::LEFT)),
            Self::Third => Ok((bounds(call.host(at)?)?, Alignment::of(call.attrs)?)),
        }
    }

    /// What fills the rest: the last argument or, in the first version, zero.
    fn padding(self, call: &DeviceCall<'_>, dtype: DType) -> DeviceOpResult<DeviceTensor> {
        if self == Self::First {
            let zero = call.allocate_as(&TensorMetadata::new(dtype, TensorShape::scalar()))?;
            let bytes = dtype.size().ok_or_else(|| unsupported("an op of diagonals", dtype))?;
            call.queue.kernels().fill(call.queue.stream(), DType::UI8, zero.buffer(), bytes as u64, 0.0)?;
            return Ok(zero);
        }
        let padding = call.tensor(call.arguments.len() - 1)?;
        check_one(padding.shape(), "padding_value", 0)?;
        match padding.dtype() == dtype {
            true => Ok(padding.clone()),
            false => Err(invalid(format!("padding_value must be {dtype}, got {}", padding.dtype())).into()),
        }
    }
}

fn diag(call: &DeviceCall<'_>, version: Version) -> Queued {
    let diagonal = call.tensor(0)?;
    let (k, alignment) = version.diagonals(call, 1, 5)?;
    let wanted = match version {
        Version::First => [-1; 2],
        _ => [integer(call.host(2)?, "num_rows")?, integer(call.host(3)?, "num_cols")?],
    };
    let (diagonals, dims) = Diagonals::of_new(diagonal.shape().dims(), (k, wanted, alignment))?;
    let (dtype, padding) = (diagonal.dtype(), version.padding(call, diagonal.dtype())?);
    let y = call.allocate_as(&TensorMetadata::new(dtype, TensorShape::new(&dims)?))?;
    if count(&y) > 0 {
        let (around, of) = ((padding.buffer(), false), of_batch(&diagonals, &dims));
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.with_diagonals(stream, dtype, y.buffer(), diagonal.buffer(), around, of)?;
    }
    Ok(y.into())
}

fn diag_part(call: &DeviceCall<'_>, version: Version) -> Queued {
    let matrices = call.tensor(0)?;
    let (dims, (k, alignment)) = (matrices.shape().dims(), version.diagonals(call, 1, 3)?);
    let diagonals = Diagonals::within(dims, k, alignment)?;
    let shape = TensorShape::new(&diagonals.dims(&dims[..dims.len() - 2]))?;
    let (dtype, padding) = (matrices.dtype(), version.padding(call, matrices.dtype())?);
    let y = call.allocate_as(&TensorMetadata::new(dtype, shape))?;
    if count(&y) > 0 {
        let (padding, of) = (padding.buffer(), of_batch(&diagonals, dims));
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.diagonals(stream, dtype, y.buffer(), matrices.buffer(), padding, of)?;
    }
    Ok(y.into())
}

fn set_diag(call: &DeviceCall<'_>, version: Version) -> Queued {
    let (matrices, diagonal) = (call.tensor(0)?, call.tensor(1)?);
    let how = version.diagonals(call, 2, 3)?;
    let diagonals = Diagonals::replaced(matrices.metadata(), diagonal.metadata(), how)?;
    let y = call.reuse(&[0], 0)?;
    if count(&y) > 0 {
        let (around, of) = ((matrices.buffer(), true), of_batch(&diagonals, matrices.shape().dims()));
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.with_diagonals(stream, y.dtype(), y.buffer(), diagonal.buffer(), around, of)?;
    }
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    use Version::{First, Second, Third};
    let host = HostArguments::at;
    ops.extend("tf.MatrixDiag").device(|call| diag(call, First));
    ops.extend("tf.MatrixDiagV2").device_with(|call| diag(call, Second), host(&[1, 2, 3]));
    ops.extend("tf.MatrixDiagV3").device_with(|call| diag(call, Third), host(&[1, 2, 3]));
    ops.extend("tf.MatrixDiagPart").device(|call| diag_part(call, First));
    ops.extend("tf.MatrixDiagPartV2").device_with(|call| diag_part(call, Second), host(&[1]));
    ops.extend("tf.MatrixDiagPartV3").device_with(|call| diag_part(call, Third), host(&[1]));
    ops.extend("tf.MatrixSetDiag").device(|call| set_diag(call, First));
    ops.extend("tf.MatrixSetDiagV2").device_with(|call| set_diag(call, Second), host(&[2]));
    ops.extend("tf.MatrixSetDiagV3").device_with(|call| set_diag(call, Third), host(&[2]));
}
