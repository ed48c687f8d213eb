//! The callback registry: brings the value of a key to the callback of the key, in whichever order
//! they come.

use std::{collections::HashMap, fmt, sync::Arc};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};

use crate::Payload;

type Callback = Box<dyn FnOnce(Result<Payload, Arc<Diagnostic>>) + Send>;

/// Values and callbacks by key. Each key is used once: a value meets a callback, and both are gone.
///
/// Values that wait are bounded by their number and their bytes, callbacks by their number.
pub struct CallbackRegistry {
    max_entries: usize,
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    values: HashMap<String, Payload>,
    callbacks: HashMap<String, (u64, Callback)>,
    bytes: usize,
    next: u64,
    closed: Option<Arc<Diagnostic>>,
}

impl CallbackRegistry {
    /// Creates a registry that keeps at most so many values, callbacks, and bytes of values.
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self { max_entries, max_bytes, state: Mutex::default() }
    }

    /// Gives the value of a key to its callback, or keeps it for the callback to come.
    ///
    /// # Errors
    /// FailedPrecondition if a value of this key waits already, ResourceExhausted if too many wait,
    /// and the error that the registry was closed with.
    pub fn set_value(&self, key: &str, value: Payload) -> Result<(), Diagnostic> {
        let callback = {
            let mut state = self.state.lock();
            state.check_open()?;
            match state.callbacks.remove(key) {
                Some((_, callback)) => callback,
                None => return self.keep(&mut state, key, value),
            }
        };
        // Callbacks run without the lock.
        callback(Ok(value));
        Ok(())
    }

    fn keep(&self, state: &mut State, key: &str, value: Payload) -> Result<(), Diagnostic> {
        if state.values.contains_key(key) {
            let message = format!("a value for the key '{key}' has arrived already");
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        let bytes = state.bytes.saturating_add(value.size_bytes());
        if bytes > self.max_bytes || state.values.len() >= self.max_entries {
            let message = format!(
                "{} values of {} bytes wait for their receivers, and another of {} bytes would be too much",
                state.values.len(),
                state.bytes,
                value.size_bytes()
            );
            return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
        }
        state.bytes = bytes;
        state.values.insert(key.to_owned(), value);
        Ok(())
    }

    /// Calls `callback` with the value of a key, now or when it comes. Returns a number to cancel
    /// it with if it waits.
    ///
    /// # Errors
    /// FailedPrecondition if a callback of this key waits already, ResourceExhausted if too many
    /// wait, and the error that the registry was closed with.
    pub fn set_callback(
        &self,
        key: &str,
        callback: impl FnOnce(Result<Payload, Arc<Diagnostic>>) + Send + 'static,
    ) -> Result<Option<u64>, Diagnostic> {
        let value = {
            let mut state = self.state.lock();
            state.check_open()?;
            match state.values.remove(key) {
                Some(value) => {
                    state.bytes -= value.size_bytes();
                    value
                }
                None => {
                    if state.callbacks.contains_key(key) {
                        let message = format!("another kernel waits for the key '{key}' already");
                        return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
                    }
                    if state.callbacks.len() >= self.max_entries {
                        let message = format!("{} receivers wait already", state.callbacks.len());
                        return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
                    }
                    state.next += 1;
                    let number = state.next;
                    state.callbacks.insert(key.to_owned(), (number, Box::new(callback)));
                    return Ok(Some(number));
                }
            }
        };
        callback(Ok(value));
        Ok(None)
    }

    /// Fails the callback of a key with `reason`, if it is the one with this number and still
    /// waits.
    pub fn cancel(&self, key: &str, number: u64, reason: &Arc<Diagnostic>) {
        let callback = {
            let mut state = self.state.lock();
            if state.callbacks.get(key).is_none_or(|(found, _)| *found != number) {
                return;
            }
            state.callbacks.remove(key)
        };
        if let Some((_, callback)) = callback {
            callback(Err(reason.clone()));
        }
    }

    /// Fails everything that waits with `reason`, and all later calls.
    pub fn close(&self, reason: &Arc<Diagnostic>) {
        let (values, callbacks) = {
            let mut state = self.state.lock();
            state.closed.get_or_insert_with(|| reason.clone());
            state.bytes = 0;
            (std::mem::take(&mut state.values), std::mem::take(&mut state.callbacks))
        };
        drop(values);
        for (_, callback) in callbacks.into_values() {
            callback(Err(reason.clone()));
        }
    }

    /// Returns how many values and how many callbacks wait.
    pub fn waiting(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.values.len(), state.callbacks.len())
    }
}

impl State {
    fn check_open(&self) -> Result<(), Diagnostic> {
        self.closed.as_ref().map_or(Ok(()), |reason| Err(Diagnostic::clone(reason)))
    }
}

impl fmt::Debug for CallbackRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (values, callbacks) = self.waiting();
        write!(f, "CallbackRegistry({values} values, {callbacks} callbacks)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> (CallbackRegistry, Arc<Mutex<Vec<String>>>) {
        (CallbackRegistry::new(2, 10), Arc::default())
    }

    fn tell(
        seen: &Arc<Mutex<Vec<String>>>,
    ) -> impl FnOnce(Result<Payload, Arc<Diagnostic>>) + Send + 'static {
        let seen = seen.clone();
        move |result| {
            let text = result.map_or_else(
                |error| error.message.clone(),
                |payload| String::from_utf8_lossy(&payload.buffers[0].to_bytes()).into_owned(),
            );
            seen.lock().push(text);
        }
    }

    fn payload(text: &'static str) -> Payload {
        Payload::from(vec![bytes::Bytes::from_static(text.as_bytes())])
    }

    #[test]
    fn either_may_come_first_and_each_is_used_once() {
        let (registry, seen) = registry();
        registry.set_value("a", payload("1")).unwrap();
        assert_eq!(registry.set_callback("a", tell(&seen)), Ok(None));
        assert!(registry.set_callback("b", tell(&seen)).unwrap().is_some());
        registry.set_value("b", payload("2")).unwrap();
        registry.set_value("b", payload("3")).unwrap();
        assert_eq!(*seen.lock(), ["1", "2"]);
        assert_eq!(registry.waiting(), (1, 0));
    }

    #[test]
    fn a_second_value_or_callback_of_a_key_is_an_error() {
        let (registry, seen) = registry();
        registry.set_value("a", payload("1")).unwrap();
        assert_eq!(registry.set_value("a", payload("2")).unwrap_err().code, ErrorCode::FailedPrecondition);
        registry.set_callback("b", tell(&seen)).unwrap();
        assert!(registry.set_callback("b", tell(&seen)).is_err());
        registry.set_callback("a", tell(&seen)).unwrap();
        assert_eq!(*seen.lock(), ["1"]);
    }

    #[test]
    fn what_waits_is_bounded() {
        let (registry, seen) = registry();
        let full = |error: Diagnostic| assert_eq!(error.code, ErrorCode::ResourceExhausted);
        full(registry.set_value("long", payload("more than 10 bytes")).unwrap_err());
        registry.set_value("a", payload("1")).unwrap();
        registry.set_value("b", payload("2")).unwrap();
        full(registry.set_value("c", payload("3")).unwrap_err());
        for key in ["x", "y"] {
            registry.set_callback(key, tell(&seen)).unwrap();
        }
        full(registry.set_callback("z", tell(&seen)).unwrap_err());
    }

    #[test]
    fn receivers_can_be_cancelled_and_the_registry_closed() {
        let (registry, seen) = registry();
        let reason = Arc::new(Diagnostic::internal("gone"));
        let number = registry.set_callback("a", tell(&seen)).unwrap().unwrap();
        registry.cancel("a", number + 1, &reason);
        assert!(seen.lock().is_empty());
        registry.cancel("a", number, &reason);
        registry.set_callback("a", tell(&seen)).unwrap();
        registry.close(&reason);
        assert_eq!(*seen.lock(), ["gone", "gone"]);
        assert!(
            registry.set_value("a", payload("1")).is_err()
                && registry.set_callback("a", tell(&seen)).is_err()
        );
    }
}
