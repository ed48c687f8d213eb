//! What the programs of a context print: kept for the next reply to the context's client.

use std::{
    io::{self, Write},
    sync::Arc,
};

use bytes::Bytes;
use parking_lot::Mutex;

/// More text than this between two replies is dropped.
const MAX_BYTES: usize = 1 << 20;

/// The printed text of a context. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct ContextOutput(Arc<Mutex<Printed>>);

#[derive(Debug, Default)]
struct Printed {
    text: Vec<u8>,
    dropped_bytes: usize,
}

impl ContextOutput {
    /// Takes what was printed since the last call.
    pub(crate) fn take(&self) -> Bytes {
        let Printed { mut text, dropped_bytes } = std::mem::take(&mut *self.0.lock());
        if dropped_bytes > 0 {
            text.extend(format!("\n[{dropped_bytes} bytes of output were dropped]\n").bytes());
        }
        text.into()
    }
}

impl Write for ContextOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut printed = self.0.lock();
        if printed.text.len() + bytes.len() <= MAX_BYTES {
            printed.text.extend_from_slice(bytes);
        } else {
            printed.dropped_bytes += bytes.len();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_taken_once_and_bounded() {
        let output = ContextOutput::default();
        output.clone().write_all(b"one").unwrap();
        assert_eq!((&*output.take(), &*output.take()), (&b"one"[..], &b""[..]));
        output.clone().write_all(&vec![b'x'; MAX_BYTES]).unwrap();
        output.clone().write_all(b"more").unwrap();
        assert!(output.take().ends_with(b"[4 bytes of output were dropped]\n"));
    }
}
