//! Errors, ids and metadata as messages, and back.
//!
//! What arrives is checked: a peer may send anything.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use tfrt_host::{DType, Diagnostic, ErrorCode, SourceLocation};
use tfrt_tensor::{MAX_RANK, TensorMetadata, TensorShape};
use tonic::{Code, Status};

use crate::{RemoteObjectId, proto};

/// The version of the protocol. A server answers clients of this version alone.
pub const PROTOCOL_VERSION: u32 = 1;

/// Longer texts of an error are cut: a status travels in headers, which peers bound.
const MAX_TEXT_BYTES: usize = 1024;
const MAX_NOTES: usize = 5;

fn cut(text: &str) -> String {
    match text.char_indices().map(|(at, _)| at).find(|&at| at >= MAX_TEXT_BYTES) {
        Some(end) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns an error as a gRPC status that carries all of it.
pub(crate) fn to_status(error: &Diagnostic) -> Status {
    let location = error.location.as_ref().map(|location| proto::Location {
        file: cut(&location.file),
        line: location.line,
        column: location.column,
    });
    let details = proto::Error {
        code: error.code.name().to_owned(),
        message: cut(&error.message),
        location,
        notes: error.notes.iter().take(MAX_NOTES).map(|note| cut(note)).collect(),
    };
    Status::with_details(grpc_code(error.code), cut(&error.message), details.encode_to_vec().into())
}

fn grpc_code(code: ErrorCode) -> Code {
    match code {
        ErrorCode::InvalidArgument => Code::InvalidArgument,
        ErrorCode::NotFound => Code::NotFound,
        ErrorCode::FailedPrecondition => Code::FailedPrecondition,
        ErrorCode::OutOfRange => Code::OutOfRange,
        ErrorCode::OutOfMemory | ErrorCode::ResourceExhausted => Code::ResourceExhausted,
        ErrorCode::Cancelled => Code::Cancelled,
        ErrorCode::DeadlineExceeded => Code::DeadlineExceeded,
        ErrorCode::DeviceLost | ErrorCode::DataRace | ErrorCode::Abandoned => Code::Aborted,
        ErrorCode::Io | ErrorCode::Unknown => Code::Unknown,
        ErrorCode::Internal => Code::Internal,
    }
}

/// Returns the error that a status carries, or describes the status.
pub(crate) fn from_status(status: &Status) -> Diagnostic {
    let details = proto::Error::decode(status.details()).ok();
    let known = details.and_then(|details| {
        let code = ErrorCode::ALL.into_iter().find(|code| code.name() == details.code)?;
        let mut error = Diagnostic::new(code, details.message);
        error.location = details.location.filter(|location| !location.file.is_empty()).map(|location| {
            SourceLocation { file: location.file.into(), line: location.line, column: location.column }
        });
        error.notes = details.notes;
        Some(error)
    });
    known.unwrap_or_else(|| {
        let code = match status.code() {
            // The transport says so when it gives up a request of its own accord.
            Code::Cancelled if status.message().contains("Timeout") => ErrorCode::DeadlineExceeded,
            Code::DeadlineExceeded => ErrorCode::DeadlineExceeded,
            Code::ResourceExhausted => ErrorCode::ResourceExhausted,
            Code::Unimplemented | Code::Unauthenticated | Code::PermissionDenied => {
                ErrorCode::FailedPrecondition
            }
            Code::OutOfRange => ErrorCode::OutOfRange,
            Code::InvalidArgument => ErrorCode::InvalidArgument,
            _ => ErrorCode::Io,
        };
        Diagnostic::new(code, causes(status))
    })
}

/// The message of a status with those of the errors that caused it.
fn causes(status: &Status) -> String {
    let mut text = status.message().to_owned();
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&next);
        }
        cause = error.source();
    }
    if text.is_empty() { status.code().to_string() } else { text }
}

impl From<&RemoteObjectId> for proto::ObjectId {
    fn from(id: &RemoteObjectId) -> Self {
        Self { prefix: id.prefix, local: id.local, device: id.device.to_string() }
    }
}

/// Returns the id of a message.
///
/// # Errors
/// InvalidArgument if the message has none.
pub(crate) fn object_id(id: Option<proto::ObjectId>) -> Result<RemoteObjectId, Diagnostic> {
    let id = id.ok_or_else(|| Diagnostic::invalid_argument("the request lacks the id of an object"))?;
    Ok(RemoteObjectId { prefix: id.prefix, local: id.local, device: Arc::from(id.device) })
}

/// Returns metadata as a message.
pub(crate) fn from_metadata(metadata: &TensorMetadata) -> proto::TensorMetadata {
    let dims = metadata.shape.dims().iter().map(|&dim| dim as u64).collect();
    proto::TensorMetadata { dtype: metadata.dtype.code().into(), dims }
}

/// Returns the data type with this number.
pub(crate) fn dtype(code: u32) -> Result<DType, Diagnostic> {
    let known = u8::try_from(code).ok().and_then(DType::from_code);
    known.ok_or_else(|| Diagnostic::invalid_argument(format!("{code} is not the number of a data type")))
}

/// Returns the metadata of a message.
///
/// # Errors
/// InvalidArgument if there is none, or it describes no tensor.
pub(crate) fn to_metadata(message: Option<&proto::TensorMetadata>) -> Result<TensorMetadata, Diagnostic> {
    let message =
        message.ok_or_else(|| Diagnostic::invalid_argument("the metadata of a tensor is missing"))?;
    if message.dims.len() > MAX_RANK {
        let rank = message.dims.len();
        return Err(Diagnostic::invalid_argument(format!(
            "a tensor has at most rank {MAX_RANK}, got {rank}"
        )));
    }
    let dims: Result<Vec<usize>, _> = message.dims.iter().map(|&dim| usize::try_from(dim)).collect();
    let dims = dims.map_err(|_| Diagnostic::invalid_argument("an extent does not fit this host"))?;
    let metadata = TensorMetadata::new(dtype(message.dtype)?, TensorShape::new(&dims)?);
    metadata.size_bytes()?;
    Ok(metadata)
}

/// Decodes a message of ours that travels as bytes.
pub(crate) fn decode<M: Message + Default>(what: &str, bytes: Bytes) -> Result<M, Diagnostic> {
    M::decode(bytes).map_err(|error| Diagnostic::invalid_argument(format!("{what}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_survive_the_way() {
        for code in ErrorCode::ALL {
            let at = SourceLocation { file: "p.mlir".into(), line: 3, column: 7 };
            let error = Diagnostic::new(code, "no").at(at).note("in kernel 'x'");
            assert_eq!(from_status(&to_status(&error)), error);
        }
    }

    #[test]
    fn long_errors_fit_a_header() {
        let error = Diagnostic::internal("é".repeat(100_000)).note("n".repeat(100_000));
        let status = to_status(&error);
        assert!(status.details().len() < 8 * MAX_TEXT_BYTES, "{}", status.details().len());
        assert!(from_status(&status).message.ends_with('…'));
    }

    #[test]
    fn metadata_that_lies_is_refused() {
        let metadata = |dtype, dims: &[u64]| proto::TensorMetadata { dtype, dims: dims.to_vec() };
        let f32 = u32::from(DType::F32.code());
        assert!(to_metadata(Some(&metadata(f32, &[2, 3]))).is_ok());
        for wrong in [metadata(9999, &[1]), metadata(f32, &[u64::MAX, 2]), metadata(f32, &[1; 300])] {
            assert!(to_metadata(Some(&wrong)).is_err(), "{wrong:?}");
        }
        assert!(to_metadata(None).is_err());
    }
}
