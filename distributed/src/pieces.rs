//! Bytes in the pieces in which they arrived.

use bytes::{Bytes, BytesMut};

/// Smaller pieces are joined, because each keeps the memory of the message that it came with.
const MIN_PIECE_BYTES: usize = 64 << 10;
const JOINED_BYTES: usize = 1 << 20;

/// Bytes in pieces. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    pieces: Vec<Bytes>,
    len: usize,
}

impl From<Bytes> for Pieces {
    fn from(bytes: Bytes) -> Self {
        Self { len: bytes.len(), pieces: vec![bytes] }
    }
}

impl Pieces {
    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes as one piece, copying them if there are several.
    pub fn to_bytes(&self) -> Bytes {
        match &self.pieces[..] {
            [piece] => piece.clone(),
            pieces => pieces.concat().into(),
        }
    }

    /// Returns the pieces.
    pub(crate) fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }
}

/// Collects pieces as they arrive. Memory is taken for what has arrived, never for what was
/// promised.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pieces: Pieces,
    /// Small pieces, joined.
    tail: BytesMut,
}

impl Collector {
    /// Returns the number of bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len + self.tail.len()
    }

    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: Bytes) {
        if bytes.len() >= MIN_PIECE_BYTES {
            self.flush();
            self.pieces.len += bytes.len();
            self.pieces.pieces.push(bytes);
            return;
        }
        self.tail.extend_from_slice(&bytes);
        if self.tail.len() >= JOINED_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.tail.is_empty() {
            self.pieces.len += self.tail.len();
            self.pieces.pieces.push(self.tail.split().freeze());
        }
    }

    /// Returns the bytes.
    pub(crate) fn finish(mut self) -> Pieces {
        self.flush();
        self.pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_order_and_small_pieces_are_joined() {
        let mut collector = Collector::default();
        let mut expected = Vec::new();
        for (number, size) in [3, MIN_PIECE_BYTES, 0, 5, 7, 2 * MIN_PIECE_BYTES, 1].into_iter().enumerate() {
            let bytes = vec![number as u8; size];
            expected.extend_from_slice(&bytes);
            collector.push(bytes.into());
        }
        assert_eq!(collector.len(), expected.len());
        let pieces = collector.finish();
        assert_eq!(pieces.pieces().len(), 5);
        assert!(pieces.len() == expected.len() && pieces.to_bytes() == expected);
        assert!(Collector::default().finish().to_bytes().is_empty());
    }
}
