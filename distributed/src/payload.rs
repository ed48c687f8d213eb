//! Payloads: buffers that travel between tasks, and tensors as payloads.

use bytes::Bytes;
use prost::Message as _;
use tfrt_host::{
    Diagnostic,
    host_buffer::{HostBuffer, ReadGuard},
    value_type,
};
use tfrt_tensor::{Accessor, DenseHostTensor, SharedAllocator, TensorMetadata};

use crate::{
    Pieces, proto,
    wire::{self, from_metadata, to_metadata},
};

static SERIALIZE: Accessor = Accessor::new("tfrt_dist.serialize");
static DESERIALIZE: Accessor = Accessor::new("tfrt_dist.deserialize");

/// Buffers that are sent together. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    /// The buffers, in order.
    pub buffers: Vec<Pieces>,
}

value_type!(Payload, "!tfrt_dist.payload");

impl From<Vec<Bytes>> for Payload {
    fn from(buffers: Vec<Bytes>) -> Self {
        Self { buffers: buffers.into_iter().map(Pieces::from).collect() }
    }
}

impl Payload {
    /// Returns the size of all buffers.
    pub fn size_bytes(&self) -> usize {
        self.buffers.iter().map(Pieces::len).sum()
    }
}

/// The bytes of a tensor, which nobody may write while they are sent.
struct Elements(ReadGuard<HostBuffer>);

impl AsRef<[u8]> for Elements {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the elements of a tensor as bytes without copying them. Until they are dropped, writing
/// to the tensor is a DataRace error.
pub(crate) fn element_bytes(tensor: &DenseHostTensor) -> Result<Bytes, Diagnostic> {
    Ok(Bytes::from_owner(Elements(SERIALIZE.read_owned(tensor.buffer())?)))
}

/// Makes a payload of a tensor: its metadata and its elements, which are shared.
///
/// # Errors
/// DataRace while somebody writes to the tensor.
pub fn serialize(tensor: &DenseHostTensor) -> Result<Payload, Diagnostic> {
    let metadata = from_metadata(tensor.metadata()).encode_to_vec();
    Ok(vec![metadata.into(), element_bytes(tensor)?].into())
}

/// Makes a tensor of a payload, with memory of its own.
///
/// # Errors
/// InvalidArgument if the payload is not that of a tensor, OutOfMemory.
pub fn deserialize(payload: &Payload, allocator: &SharedAllocator) -> Result<DenseHostTensor, Diagnostic> {
    let [metadata, elements] = &payload.buffers[..] else {
        return Err(no_tensor(payload.buffers.len()));
    };
    dense(&decode_metadata(metadata)?, elements, allocator)
}

/// Says that a payload with `count` buffers is not that of a tensor.
pub(crate) fn no_tensor(count: usize) -> Diagnostic {
    Diagnostic::invalid_argument(format!("the payload of a tensor has 2 buffers, got {count}"))
}

/// Reads the first buffer of a tensor's payload.
pub(crate) fn decode_metadata(bytes: &Pieces) -> Result<proto::TensorMetadata, Diagnostic> {
    wire::decode("the payload is not that of a tensor", bytes.to_bytes())
}

/// Makes a tensor of its metadata and its bytes.
pub(crate) fn dense(
    metadata: &proto::TensorMetadata,
    bytes: &Pieces,
    allocator: &SharedAllocator,
) -> Result<DenseHostTensor, Diagnostic> {
    let mut tensor = ArrivingTensor::new(metadata, Some(bytes.len()), allocator)?;
    for piece in bytes.pieces() {
        tensor.push(piece)?;
    }
    tensor.finish()
}

/// A tensor whose bytes are written as they arrive, so that no message is kept.
///
/// Its memory counts against the allocator's bound from the beginning, but the operating system
/// gives it page by page, as bytes arrive.
pub(crate) struct ArrivingTensor {
    tensor: DenseHostTensor,
    arrived: usize,
}

impl ArrivingTensor {
    /// Allocates a tensor. `announced` is how many bytes will arrive, if that is known.
    ///
    /// # Errors
    /// InvalidArgument if the metadata is malformed or the tensor has another size, OutOfMemory.
    pub(crate) fn new(
        metadata: &proto::TensorMetadata,
        announced: Option<usize>,
        allocator: &SharedAllocator,
    ) -> Result<Self, Diagnostic> {
        let metadata = to_metadata(Some(metadata))?;
        let size = metadata.size_bytes()?;
        if let Some(announced) = announced.filter(|&announced| announced != size) {
            return Err(other_size(&metadata, announced));
        }
        Ok(Self { tensor: DenseHostTensor::allocate_unset(metadata, allocator)?, arrived: 0 })
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// InvalidArgument if they are more than the tensor has.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Diagnostic> {
        let end = self.arrived + bytes.len();
        let mut target = self.tensor.write_bytes(&DESERIALIZE)?;
        let target = target.get_mut(self.arrived..end);
        target.ok_or_else(|| other_size(self.tensor.metadata(), end))?.copy_from_slice(bytes);
        self.arrived = end;
        Ok(())
    }

    /// Returns the tensor.
    ///
    /// # Errors
    /// InvalidArgument if bytes are missing.
    pub(crate) fn finish(self) -> Result<DenseHostTensor, Diagnostic> {
        if self.arrived != self.tensor.metadata().size_bytes()? {
            return Err(other_size(self.tensor.metadata(), self.arrived));
        }
        Ok(self.tensor)
    }
}

fn other_size(metadata: &TensorMetadata, found: usize) -> Diagnostic {
    let expected = metadata.size_bytes().unwrap_or_default();
    let message = format!("a tensor {metadata} has {expected} bytes, but {found} arrived");
    Diagnostic::invalid_argument(message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::{ErrorCode, allocator::SystemAllocator};

    use super::*;

    #[test]
    fn tensors_survive_the_way_and_lies_do_not() {
        let allocator: SharedAllocator = Arc::new(SystemAllocator);
        let tensor = DenseHostTensor::from_slice([2, 2], &[1.5_f32, -2.0, 3.0, 4.0], &allocator).unwrap();
        let payload = serialize(&tensor).unwrap();
        assert_eq!(tensor.write_bytes(&DESERIALIZE).unwrap_err().code, ErrorCode::DataRace);
        let back = deserialize(&payload, &allocator).unwrap();
        assert_eq!(*back.read::<f32>(&SERIALIZE).unwrap(), [1.5, -2.0, 3.0, 4.0]);
        let [metadata, elements] = [0, 1].map(|buffer: usize| payload.buffers[buffer].to_bytes());
        let cut = Payload::from(vec![metadata, elements.slice(..15)]);
        drop(elements);
        assert!(deserialize(&cut, &allocator).unwrap_err().message.contains("has 16 bytes, but 15 arrived"));
        for wrong in [vec![], vec![Bytes::from_static(b"\xff\xff"), Bytes::new()]] {
            assert!(deserialize(&wrong.into(), &allocator).is_err());
        }
        drop((payload, cut));
        assert!(tensor.write_bytes(&DESERIALIZE).is_ok());
    }
}
