//! Data on its way from another task: the messages of one SendData request.

use bytes::Bytes;
use tfrt_host::{Diagnostic, ErrorCode};
use tfrt_tensor::{DenseHostTensor, SharedAllocator};
use tokio_stream::StreamExt as _;
use tonic::Streaming;

use crate::{
    Payload, Pieces,
    payload::{self, ArrivingTensor},
    pieces::Collector,
    proto, wire,
};

/// More buffers in one payload are refused.
const MAX_BUFFERS: usize = 4096;

/// The buffers of a request, of which some have arrived.
///
/// The request says the sizes of all buffers first, and sends their bytes one after the other, in
/// messages that need not end where a buffer ends.
pub(super) struct Incoming {
    first: proto::SendDataRequest,
    /// What has arrived and belongs to no buffer yet.
    chunk: Bytes,
    stream: Streaming<proto::SendDataRequest>,
}

impl Incoming {
    /// Checks what the first message promises.
    ///
    /// # Errors
    /// InvalidArgument if there are too many buffers, ResourceExhausted if they have more than
    /// `max_bytes`.
    pub(super) fn new(
        mut first: proto::SendDataRequest,
        stream: Streaming<proto::SendDataRequest>,
        max_bytes: usize,
    ) -> Result<Self, Diagnostic> {
        let count = first.sizes.len();
        if count > MAX_BUFFERS {
            let message = format!("a payload has at most {MAX_BUFFERS} buffers, got {count}");
            return Err(Diagnostic::invalid_argument(message));
        }
        let total = first.sizes.iter().try_fold(0_u64, |total, &size| total.checked_add(size));
        let total = total.ok_or_else(lie)?;
        if total > max_bytes as u64 {
            let message = format!("{total} bytes are sent, but at most {max_bytes} are allowed");
            return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
        }
        let chunk = std::mem::take(&mut first.chunk);
        Ok(Self { first, chunk, stream })
    }

    /// Takes the object that the data is for, if it is for an object.
    pub(super) fn take_object(&mut self) -> Option<proto::ObjectId> {
        self.first.object.take()
    }

    /// Takes the key that the data is for.
    pub(super) fn take_key(&mut self) -> String {
        std::mem::take(&mut self.first.key)
    }

    /// Receives all buffers. Memory is taken as the bytes arrive, so that sizes that lie cost
    /// nothing.
    pub(super) async fn payload(mut self) -> Result<Payload, Diagnostic> {
        let sizes = std::mem::take(&mut self.first.sizes);
        let mut buffers = Vec::with_capacity(sizes.len());
        for size in sizes {
            buffers.push(self.buffer(size).await?);
        }
        self.end().await?;
        Ok(Payload { buffers })
    }

    /// Receives a tensor: its metadata and its elements. Elements are written to the tensor as they
    /// arrive.
    pub(super) async fn tensor(mut self, allocator: &SharedAllocator) -> Result<DenseHostTensor, Diagnostic> {
        let &[metadata_size, size] = &self.first.sizes[..] else {
            return Err(payload::no_tensor(self.first.sizes.len()));
        };
        let metadata = payload::decode_metadata(&self.buffer(metadata_size).await?)?;
        let mut left = usize::try_from(size).map_err(|_| lie())?;
        let mut tensor = ArrivingTensor::new(&metadata, Some(left), allocator)?;
        loop {
            let chunk = self.chunk.split_to(self.chunk.len().min(left));
            left -= chunk.len();
            tensor.push(&chunk)?;
            if left == 0 {
                break;
            }
            self.next_chunk().await?;
        }
        self.end().await?;
        tensor.finish()
    }

    async fn buffer(&mut self, size: u64) -> Result<Pieces, Diagnostic> {
        let size = usize::try_from(size).map_err(|_| lie())?;
        let mut buffer = Collector::default();
        loop {
            buffer.push(self.chunk.split_to(self.chunk.len().min(size - buffer.len())));
            if buffer.len() == size {
                return Ok(buffer.finish());
            }
            self.next_chunk().await?;
        }
    }

    /// Waits for the next message, which must come.
    async fn next_chunk(&mut self) -> Result<(), Diagnostic> {
        self.chunk = self.message().await?.ok_or_else(lie)?;
        Ok(())
    }

    /// Waits for the end, before which no more bytes may come.
    async fn end(mut self) -> Result<(), Diagnostic> {
        if !self.chunk.is_empty() || self.message().await?.is_some() {
            return Err(lie());
        }
        Ok(())
    }

    async fn message(&mut self) -> Result<Option<Bytes>, Diagnostic> {
        let next = self.stream.next().await.transpose().map_err(|status| wire::from_status(&status))?;
        Ok(next.map(|message| message.chunk))
    }
}

fn lie() -> Diagnostic {
    Diagnostic::invalid_argument("the data is not as long as the request says")
}
