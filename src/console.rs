//! Where a tool reads and writes: the process's streams, or buffers of a test that runs the tool in process.

use std::{
    fmt,
    io::{self, IsTerminal, Read, Write},
    sync::Arc,
};

use parking_lot::Mutex;

/// A writer that several owners share, such as a tool and the kernels it runs.
#[derive(Clone)]
pub struct SharedWriter(Arc<Mutex<Box<dyn Write + Send>>>);

impl SharedWriter {
    /// Shares `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(writer))))
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
        self.0.lock().write(bytes)
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.0.lock().write_fmt(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().flush()
    }
}

impl fmt::Debug for SharedWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedWriter")
    }
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
    pub fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read =
            if path == "-" { self.input.read_to_end(&mut bytes).map(|_| bytes) } else { std::fs::read(path) };
        read.map_err(|error| format!("cannot open input file '{path}': {error}"))
    }

    /// Writes results to a file, or to the output if it is called `-`.
    ///
    /// # Errors
    /// As the system says, with the file's name.
    pub fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let written = if path == "-" {
            self.output.write_all(bytes).and_then(|()| self.output.flush())
        } else {
            std::fs::write(path, bytes)
        };
        written.map_err(|error| format!("cannot write '{path}': {error}"))
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
