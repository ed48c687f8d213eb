//! [`Store`]: what ops keep by name until their request ends.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ExecutionContext, RequestContext};
use tfrt_tensor::HostTensor;

use super::support::invalid;

/// A request's address and a name. The address stays that of one request while an entry holds a
/// weak reference to it.
type Key = (usize, String);

struct Entry<T> {
    request: Weak<RequestContext>,
    state: Arc<Mutex<T>>,
}

/// States by request and name. Those of requests that have ended are dropped when a state is added.
pub(super) struct Store<T> {
    entries: Mutex<HashMap<Key, Entry<T>>>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { entries: Mutex::default() }
    }
}

fn key(cx: &ExecutionContext, name: &str) -> Key {
    (Arc::as_ptr(cx.request()) as usize, name.to_owned())
}

impl<T: Send + 'static> Store<T> {
    fn of(cx: &ExecutionContext) -> &Self {
        cx.resources().only_or_create(Self::default)
    }

    /// Adds a state. It replaces an earlier one of this name.
    pub(super) fn insert(cx: &ExecutionContext, name: &str, state: T) {
        let entry = Entry { request: Arc::downgrade(cx.request()), state: Arc::new(Mutex::new(state)) };
        let mut entries = Self::of(cx).entries.lock();
        entries.retain(|_, entry| entry.request.strong_count() > 0);
        entries.insert(key(cx, name), entry);
    }

    /// Returns the state of this name, if there is one.
    pub(super) fn find(cx: &ExecutionContext, name: &str) -> Option<Arc<Mutex<T>>> {
        Self::of(cx).entries.lock().get(&key(cx, name)).map(|entry| entry.state.clone())
    }
}

/// Returns the name in a handle.
pub(super) fn name_in(handle: &HostTensor) -> Result<String, Diagnostic> {
    match handle.string()?.strings() {
        [name] => Ok(name.to_string()),
        _ => Err(invalid("a handle is a tensor of one string")),
    }
}
