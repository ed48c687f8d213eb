//! The streams of a tool: those of the process, or buffers of a test that runs the tool in process.

use std::{
    env,
    ffi::OsStr,
    fmt,
    fs::File,
    io::{self, IsTerminal, Read, Write},
    path::Path,
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    files::{read_all, replace_file},
    tools::Outcome,
};

/// A writer with several owners, such as a tool and the kernels that it runs.
///
/// Kernels that print ignore errors, so the writer remembers the first one.
#[derive(Clone)]
pub struct SharedWriter(Arc<Mutex<Shared>>);

type ClosureHandler = Box<dyn FnOnce() + Send>;

struct Shared {
    writer: Box<dyn Write + Send>,
    /// The first error.
    failure: Option<io::Error>,
    /// Called once if the reader closes the other end of a pipe.
    on_closure: Option<ClosureHandler>,
}

impl Shared {
    fn is_closed(&self) -> bool {
        self.failure.as_ref().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    fn note(&mut self, error: &io::Error) {
        if self.failure.is_none() && error.kind() != io::ErrorKind::Interrupted {
            // `io::Error` is not `Clone`. The system's error number gives the same message.
            self.failure =
                Some(error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error));
        }
    }
}

impl SharedWriter {
    /// Shares `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Shared { writer: Box::new(writer), failure: None, on_closure: None })))
    }

    /// Returns a writer into memory, and the bytes written so far.
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

    /// Returns whether the reader has closed its end of the pipe, so that nothing written arrives
    /// any more.
    pub fn is_closed(&self) -> bool {
        self.0.lock().is_closed()
    }

    /// Calls `handler` once when a write finds that the reader has closed its end of the pipe: at
    /// once if that has happened already. A later handler replaces an earlier one.
    pub(crate) fn on_closure(&self, handler: impl FnOnce() + Send + 'static) {
        let mut shared = self.0.lock();
        if shared.is_closed() {
            drop(shared);
            handler();
        } else {
            shared.on_closure = Some(Box::new(handler));
        }
    }

    /// Calls the writer, and keeps the error if there is one.
    fn attempt<T>(&self, call: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        let mut shared = self.0.lock();
        let result = call(&mut *shared.writer);
        if let Err(error) = &result {
            shared.note(error);
            if shared.is_closed()
                && let Some(handler) = shared.on_closure.take()
            {
                // The handler may write.
                drop(shared);
                handler();
            }
        }
        result
    }

    /// Flushes, and returns the first error of all writes.
    fn finish(&mut self) -> io::Result<()> {
        let flushed = self.flush();
        self.0.lock().failure.take().map_or(flushed, Err)
    }
}

impl Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|writer| writer.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.attempt(|writer| writer.write_all(bytes))
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.attempt(|writer| writer.write_fmt(text))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(|writer| writer.flush())
    }
}

impl fmt::Debug for SharedWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedWriter")
    }
}

/// Returns the message for a file that cannot be read or written: `cannot write 'out.npy': …`.
pub(crate) fn failed(to: &str, file: &Path, error: &io::Error) -> String {
    format!("cannot {to} '{}': {error}", file.display())
}

/// The three streams of a tool.
pub struct Console {
    /// The stream that a tool reads if its input is `-` or not named.
    pub input: Box<dyn Read + Send>,
    /// Receives results.
    pub output: SharedWriter,
    /// Receives everything else.
    pub error: SharedWriter,
    /// Whether the error stream is a terminal that can show progress.
    pub is_terminal: bool,
    /// Whether to use colors on the error stream.
    pub use_color: bool,
    /// Program text that was read from the input, so that errors can show its lines.
    #[cfg(feature = "full")]
    pub(crate) input_text: Vec<u8>,
}

impl Console {
    /// Creates a console without progress and colors.
    pub fn new(input: impl Read + Send + 'static, output: SharedWriter, error: SharedWriter) -> Self {
        Self {
            input: Box::new(input),
            output,
            error,
            is_terminal: false,
            use_color: false,
            #[cfg(feature = "full")]
            input_text: Vec::new(),
        }
    }

    /// Returns the process's own streams. The environment decides about colors.
    pub fn process() -> Self {
        let variable = |name: &str| env::var_os(name);
        let is_dumb = variable("TERM").is_some_and(|value| value == "dumb");
        let is_terminal = io::stderr().is_terminal();
        Self {
            input: Box::new(io::stdin()),
            output: SharedWriter::new(io::LineWriter::new(io::stdout())),
            error: SharedWriter::new(io::stderr()),
            is_terminal: is_terminal && !is_dumb,
            use_color: wants_color(
                is_terminal && !is_dumb,
                variable("NO_COLOR").as_deref(),
                variable("CLICOLOR_FORCE").as_deref(),
            ),
            #[cfg(feature = "full")]
            input_text: Vec::new(),
        }
    }

    /// Reads a file, or the input if the path is `-`.
    ///
    /// # Errors
    /// The system's error, with the file's name.
    pub fn read(&mut self, path: impl AsRef<Path>) -> Result<Vec<u8>, String> {
        let path = path.as_ref();
        let read = if path == Path::new("-") {
            read_all(&mut self.input)
        } else {
            File::open(path).and_then(read_all)
        };
        read.map_err(|error| failed("open input file", path, &error))
    }

    /// Writes results to the output. Errors are reported when the tool ends.
    pub fn print(&mut self, text: impl fmt::Display) {
        let _ = write!(self.output, "{text}");
    }

    /// Writes results to a file, which is replaced as a whole, or to the output if the path is `-`.
    ///
    /// # Errors
    /// The system's error, with the file's name.
    pub fn write(&mut self, path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), String> {
        let path = path.as_ref();
        if path == Path::new("-") {
            let _ = self.output.write_all(bytes);
            return Ok(());
        }
        replace_file(path, |file| std::fs::write(file, bytes)).map_err(|error| failed("write", path, &error))
    }

    /// Returns the outcome of a tool that has printed everything: results that did not arrive are a
    /// failure. A reader that closed the pipe has read enough.
    pub(crate) fn end(&mut self, outcome: Outcome) -> Outcome {
        match self.output.finish() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.complain(format_args!("error: cannot write the output: {error}"));
                if outcome == Outcome::Fine { Outcome::Failed } else { outcome }
            }
            _ => outcome,
        }
    }

    /// Writes a line to the error stream, and ignores errors.
    pub fn complain(&mut self, message: impl fmt::Display) {
        let _ = writeln!(self.error, "{message}");
    }
}

/// Decides about colors. `NO_COLOR` turns them off, else `CLICOLOR_FORCE` turns them on, else the
/// stream must be a terminal. Empty variables, and a `CLICOLOR_FORCE` of 0, count as unset.
pub(crate) fn wants_color(is_terminal: bool, no_color: Option<&OsStr>, force: Option<&OsStr>) -> bool {
    let is_set = |value: &OsStr| !value.is_empty();
    if no_color.is_some_and(is_set) {
        return false;
    }
    is_terminal || force.is_some_and(|value| is_set(value) && value != "0")
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
        let mut console = Console::new(io::empty(), output, error);
        // Nor does a tool, whose end tells.
        console.write("-", b"more\n").unwrap();
        let outcome = console.end(outcome);
        (outcome, String::from_utf8(complaints.lock().clone()).unwrap())
    }

    #[test]
    fn the_environment_decides_about_colors() {
        let wants = |terminal, no: &str, force: &str| {
            wants_color(terminal, Some(OsStr::new(no)), Some(OsStr::new(force)))
        };
        assert!(wants_color(true, None, None) && !wants_color(false, None, None));
        assert!(wants(true, "", "0") && !wants(false, "", "0"));
        assert!(!wants(true, "1", "1"));
        assert!(wants(false, "", "1"));
    }

    #[test]
    fn the_handler_runs_once_when_the_reader_is_gone() {
        let (calls, counted) = std::sync::mpsc::channel();
        let mut output = SharedWriter::new(Failing(io::ErrorKind::BrokenPipe));
        let (first, second) = (calls.clone(), calls);
        output.on_closure(move || first.send(1).unwrap());
        assert!(!output.is_closed());
        assert!(output.write_all(b"x").is_err() && output.write_all(b"y").is_err());
        assert!(output.is_closed());
        assert_eq!(counted.try_iter().collect::<Vec<_>>(), [1]);
        output.on_closure(move || second.send(2).unwrap());
        assert_eq!(counted.try_iter().collect::<Vec<_>>(), [2]);
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
        let mut console = Console::new(io::empty(), output, error);
        assert_eq!(console.write("-", b"result\n"), Ok(()));
        assert_eq!(console.end(Outcome::Fine), Outcome::Fine);
        assert!(complaints.lock().is_empty());
    }
}
