//! Where a tool reads and writes: the process's streams, or buffers of a test that runs the tool in process.

use std::{
    fmt,
    io::{self, IsTerminal, Read, Write},
    path::Path,
    sync::Arc,
};

use parking_lot::Mutex;

use crate::tools::Outcome;

/// A writer that several owners share, such as a tool and the kernels it runs. It remembers that a write failed, as kernels
/// that print do not look.
#[derive(Clone)]
pub struct SharedWriter(Arc<Mutex<Shared>>);

struct Shared {
    writer: Box<dyn Write + Send>,
    /// What failed first.
    failure: Option<io::Error>,
}

impl Shared {
    fn noted<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && self.failure.is_none()
            && error.kind() != io::ErrorKind::Interrupted
        {
            // An error cannot be cloned; the system's number says what its text does.
            self.failure =
                Some(error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error));
        }
        result
    }
}

impl SharedWriter {
    /// Shares `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Shared { writer: Box::new(writer), failure: None })))
    }

    /// Writes what is held back, and gives the first error of all writes.
    fn finish(&mut self) -> io::Result<()> {
        let flushed = self.flush();
        self.0.lock().failure.take().map_or(flushed, Err)
    }

    /// A writer into memory, and what was written so far.
    pub fn buffer() -> (Self, Arc<Mutex<Vec<u8>>>) {
        struct Buffer(Arc<Mutex<Vec<u8>>>);
        impl Write for Buffer {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let bytes = Arc::new(Mutex::new(Vec::new()));
        (Self::new(Buffer(bytes.clone())), bytes)
    }
}

impl Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shared = self.0.lock();
        let written = shared.writer.write(bytes);
        shared.noted(written)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut shared = self.0.lock();
        let written = shared.writer.write_all(bytes);
        shared.noted(written)
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        let mut shared = self.0.lock();
        let written = shared.writer.write_fmt(text);
        shared.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut shared = self.0.lock();
        let flushed = shared.writer.flush();
        shared.noted(flushed)
    }
}

impl fmt::Debug for SharedWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedWriter")
    }
}

/// What is said of a file that could not be read or written.
pub(crate) fn failed(to: &str, file: &Path, error: &io::Error) -> String {
    format!("cannot {to} '{}': {error}", file.display())
}

/// The three streams of a tool.
pub struct Console {
    /// What a tool reads when it is given `-` or nothing.
    pub input: Box<dyn Read + Send>,
    /// Results.
    pub output: SharedWriter,
    /// Everything else.
    pub error: SharedWriter,
    /// Whether a person looks at the error stream: then there are colours and progress.
    pub terminal: bool,
}

impl Console {
    /// The process's own streams.
    pub fn process() -> Self {
        Self {
            input: Box::new(io::stdin()),
            output: SharedWriter::new(io::LineWriter::new(io::stdout())),
            error: SharedWriter::new(io::stderr()),
            terminal: io::stderr().is_terminal(),
        }
    }

    /// Reads a file, or the input if it is called `-`.
    ///
    /// # Errors
    /// As the system says, with the file's name.
    pub fn read(&mut self, path: impl AsRef<Path>) -> Result<Vec<u8>, String> {
        let path = path.as_ref();
        let mut bytes = Vec::new();
        let read = if path == Path::new("-") {
            self.input.read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(path)
        };
        read.map_err(|error| failed("open input file", path, &error))
    }

    /// Writes results, as they are, to the output. The tool's end tells whether all arrived.
    pub fn print(&mut self, text: impl fmt::Display) {
        let _ = write!(self.output, "{text}");
    }

    /// Writes results to a file, or to the output as [`Self::print`] does if it is called `-`.
    ///
    /// # Errors
    /// As the system says, with the file's name.
    pub fn write(&mut self, path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), String> {
        let path = path.as_ref();
        if path == Path::new("-") {
            let _ = self.output.write_all(bytes);
            return Ok(());
        }
        std::fs::write(path, bytes).map_err(|error| failed("write", path, &error))
    }

    /// The outcome of a tool that has printed all it had to: what did not arrive is a failure. A reader that went away has
    /// read enough, which is none.
    pub(crate) fn end(&mut self, outcome: Outcome) -> Outcome {
        match self.output.finish() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.complain(format_args!("error: cannot write the output: {error}"));
                if outcome == Outcome::Fine { Outcome::Failed } else { outcome }
            }
            _ => outcome,
        }
    }

    /// Writes a line that is not a result. An error stream that is gone is nobody's concern.
    pub fn complain(&mut self, message: impl fmt::Display) {
        let _ = writeln!(self.error, "{message}");
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails as the error says.
    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn ended(failure: io::ErrorKind, outcome: Outcome) -> (Outcome, String) {
        let (error, complaints) = SharedWriter::buffer();
        let output = SharedWriter::new(Failing(failure));
        // As a kernel prints: it does not look.
        let _ = output.clone().write_all(b"result\n");
        let mut console = Console { input: Box::new(io::empty()), output, error, terminal: false };
        // Nor does a tool, whose end tells.
        console.write("-", b"more\n").unwrap();
        let outcome = console.end(outcome);
        (outcome, String::from_utf8(complaints.lock().clone()).unwrap())
    }

    #[test]
    fn what_did_not_arrive_is_a_failure() {
        let (outcome, complaint) = ended(io::ErrorKind::StorageFull, Outcome::Fine);
        assert_eq!(outcome, Outcome::Failed);
        assert!(complaint.starts_with("error: cannot write the output: "), "{complaint}");
        assert_eq!(ended(io::ErrorKind::StorageFull, Outcome::Usage).0, Outcome::Usage);
    }

    #[test]
    fn a_writer_that_takes_nothing_is_a_failure() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Ok(0)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut output = SharedWriter::new(Full);
        assert!(output.clone().write_all(b"result\n").is_err());
        assert_eq!(output.finish().unwrap_err().kind(), io::ErrorKind::WriteZero);
    }

    #[test]
    fn a_reader_that_went_away_has_read_enough() {
        assert_eq!(ended(io::ErrorKind::BrokenPipe, Outcome::Fine), (Outcome::Fine, String::new()));
        let (error, complaints) = SharedWriter::buffer();
        let output = SharedWriter::new(Failing(io::ErrorKind::BrokenPipe));
        let mut console = Console { input: Box::new(io::empty()), output, error, terminal: false };
        assert_eq!(console.write("-", b"result\n"), Ok(()));
        assert_eq!(console.end(Outcome::Fine), Outcome::Fine);
        assert!(complaints.lock().is_empty());
    }
}
