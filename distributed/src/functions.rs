//! The function cache: the programs that a client has registered with a context.

use std::{collections::HashMap, fmt, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use tfrt_host::{AsyncValue, BefFile, Diagnostic, ErrorCode};

use crate::{DistributedContext, LoadedProgram, RemoteObjectId};

/// A registered program. Its function has the program's name.
#[derive(Clone, Debug)]
pub struct RegisteredFunction {
    /// The loaded program.
    pub program: Arc<BefFile>,
    /// The function that is executed.
    pub function: Arc<str>,
    /// What the function takes before the inputs of a call.
    pub prepared: Vec<AsyncValue>,
    /// Whether the function's first argument is the context.
    pub takes_context: bool,
    /// Whether the ids of the outputs are the next arguments.
    pub takes_output_ids: bool,
    /// The devices of the results, if the program was compiled from an op graph.
    pub output_devices: Vec<String>,
    /// The program as it was sent.
    source: Bytes,
}

impl RegisteredFunction {
    /// Describes a loaded program, which was sent as `source`.
    ///
    /// # Errors
    /// NotFound if the program lacks the function.
    pub fn new(loaded: LoadedProgram, source: Bytes) -> Result<Self, Diagnostic> {
        let LoadedProgram { file: program, function: name, prepared, output_devices } = loaded;
        let (takes_context, takes_output_ids) = {
            let function = program.function(&name).ok_or_else(|| {
                let message = format!("the program has no function '{name}'");
                Diagnostic::new(ErrorCode::NotFound, message)
            })?;
            let mut types = function.argument_types().peekable();
            let takes_context =
                types.next_if(|ty| *ty == <DistributedContext as tfrt_host::Value>::TYPE_NAME).is_some();
            let is_id = |ty: &str| ty == <RemoteObjectId as tfrt_host::Value>::TYPE_NAME;
            (takes_context, takes_context && types.next().is_some_and(is_id))
        };
        Ok(Self {
            program,
            function: name.into(),
            prepared,
            takes_context,
            takes_output_ids,
            output_devices,
            source,
        })
    }
}

/// Programs by name, bounded by their number and their bytes.
pub struct FunctionCache {
    max_functions: usize,
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    functions: HashMap<String, RegisteredFunction>,
    bytes: usize,
}

impl FunctionCache {
    /// Creates a cache that keeps at most so many programs, with so many bytes as they were sent.
    pub fn new(max_functions: usize, max_bytes: usize) -> Self {
        Self { max_functions, max_bytes, state: Mutex::default() }
    }

    /// Returns the function of this name if `source` was registered for it, so that registering
    /// again has no effect.
    ///
    /// # Errors
    /// FailedPrecondition if another program has the name; ResourceExhausted if there is no room
    /// for one more.
    pub fn check(&self, name: &str, source: &Bytes) -> Result<Option<RegisteredFunction>, Diagnostic> {
        self.find(&self.state.lock(), name, source)
    }

    fn find(
        &self,
        state: &State,
        name: &str,
        source: &Bytes,
    ) -> Result<Option<RegisteredFunction>, Diagnostic> {
        if let Some(known) = state.functions.get(name) {
            if known.source == *source {
                return Ok(Some(known.clone()));
            }
            let message = format!("another program is registered as '{name}'");
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        let (count, bytes) = (state.functions.len(), state.bytes);
        if count >= self.max_functions || bytes.saturating_add(source.len()) > self.max_bytes {
            let message = format!(
                "{count} programs of {bytes} bytes are registered, and another of {} bytes would be too much",
                source.len()
            );
            return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
        }
        Ok(None)
    }

    /// Adds a function.
    ///
    /// # Errors
    /// As [`FunctionCache::check`].
    pub fn register(&self, name: &str, function: RegisteredFunction) -> Result<(), Diagnostic> {
        let mut state = self.state.lock();
        // Another request may have registered it meanwhile.
        if self.find(&state, name, &function.source)?.is_none() {
            state.bytes += function.source.len();
            state.functions.insert(name.to_owned(), function);
        }
        Ok(())
    }

    /// Returns the function of this name.
    ///
    /// # Errors
    /// NotFound if there is none.
    pub fn get(&self, name: &str) -> Result<RegisteredFunction, Diagnostic> {
        self.state.lock().functions.get(name).cloned().ok_or_else(|| {
            Diagnostic::new(ErrorCode::NotFound, format!("no program is registered as '{name}'"))
        })
    }
}

impl fmt::Debug for FunctionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionCache({} functions)", self.state.lock().functions.len())
    }
}
