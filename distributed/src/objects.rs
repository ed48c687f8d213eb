//! Remote objects: values that other tasks know by an id.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tfrt_host::{AsyncValue, Diagnostic, ErrorCode, IndirectPromise, value_type};

/// The name of a value on some task. The task that allocates an id chooses it, before the value
/// exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteObjectId {
    /// A number of the process that allocated the id.
    pub prefix: u64,
    /// Counts the ids of that process.
    pub local: u64,
    /// The device of the value, such as `/job:worker/task:1/device:CPU:0`.
    pub device: Arc<str>,
}

value_type!(RemoteObjectId, "!tfrt_dist.remote_object_id");

impl RemoteObjectId {
    fn key(&self) -> Key {
        (self.prefix, self.local)
    }
}

impl fmt::Display for RemoteObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} on {}", self.prefix, self.local, self.device)
    }
}

type Key = (u64, u64);

/// The objects of one context.
///
/// Reading an object that is not set yet gives a pending value. Reading a deleted one gives an
/// error.
pub struct RemoteObjectManager {
    prefix: u64,
    next: AtomicU64,
    max_objects: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: HashMap<Key, Slot>,
    /// The deleted ids as ranges: the first id, and the last number with the same prefix.
    deleted: BTreeMap<Key, u64>,
}

enum Slot {
    Awaited(IndirectPromise, AsyncValue),
    Set(AsyncValue),
}

impl RemoteObjectManager {
    /// Creates a manager that keeps at most `max_objects` and allocates ids with `prefix`.
    pub fn new(prefix: u64, max_objects: usize) -> Self {
        Self { prefix, next: AtomicU64::new(1), max_objects, state: Mutex::default() }
    }

    /// Returns an id that no other call returns.
    pub fn allocate(&self, device: Arc<str>) -> RemoteObjectId {
        RemoteObjectId { prefix: self.prefix, local: self.next.fetch_add(1, Ordering::Relaxed), device }
    }

    /// Sets an object, which may be pending or an error.
    ///
    /// # Errors
    /// FailedPrecondition if it is set or deleted already, ResourceExhausted if there are too many.
    pub fn set(&self, id: &RemoteObjectId, value: AsyncValue) -> Result<(), Diagnostic> {
        let awaited = {
            let mut state = self.state.lock();
            if state.is_deleted(id.key()) {
                return Err(deleted(id));
            }
            let count = state.objects.len();
            match state.objects.get_mut(&id.key()) {
                Some(Slot::Set(_)) => {
                    let message = format!("the remote object {id} is set already");
                    return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
                }
                Some(slot) => std::mem::replace(slot, Slot::Set(value.clone())),
                None => {
                    self.check_count(count)?;
                    state.objects.insert(id.key(), Slot::Set(value));
                    return Ok(());
                }
            }
        };
        // Waiters run without the lock.
        if let Slot::Awaited(promise, _) = awaited {
            promise.forward_to(value);
        }
        Ok(())
    }

    /// Returns an object, perhaps still pending. A deleted object is an error.
    pub fn get(&self, id: &RemoteObjectId) -> AsyncValue {
        let mut state = self.state.lock();
        if state.is_deleted(id.key()) {
            return AsyncValue::from_error(deleted(id));
        }
        match state.objects.get(&id.key()) {
            Some(Slot::Set(value) | Slot::Awaited(_, value)) => value.clone(),
            None => {
                if let Err(error) = self.check_count(state.objects.len()) {
                    return AsyncValue::from_error(error);
                }
                let (promise, value) = IndirectPromise::new();
                state.objects.insert(id.key(), Slot::Awaited(promise, value.clone()));
                value
            }
        }
    }

    /// Deletes objects. Who waits for one gets an error. Deleting an object twice has no effect.
    pub fn delete<'i>(&self, ids: impl IntoIterator<Item = &'i RemoteObjectId>) {
        for id in ids {
            let slot = {
                let mut state = self.state.lock();
                state.note_deleted(id.key());
                state.objects.remove(&id.key())
            };
            // Values and waiters are dropped without the lock.
            if let Some(Slot::Awaited(promise, _)) = slot {
                promise.set_error(deleted(id));
            }
        }
    }

    /// Makes every object that is still awaited this error, and drops all objects.
    pub fn close(&self, error: &Arc<Diagnostic>) {
        let objects = std::mem::take(&mut self.state.lock().objects);
        for slot in objects.into_values() {
            if let Slot::Awaited(promise, _) = slot {
                promise.set_error(error.clone());
            }
        }
    }

    /// Returns how many objects there are.
    pub fn len(&self) -> usize {
        self.state.lock().objects.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn check_count(&self, count: usize) -> Result<(), Diagnostic> {
        if count < self.max_objects {
            return Ok(());
        }
        let message = format!("the context has {count} remote objects, the most that it may have");
        Err(Diagnostic::new(ErrorCode::ResourceExhausted, message))
    }
}

impl State {
    fn is_deleted(&self, key: Key) -> bool {
        let range = self.deleted.range(..=key).next_back();
        range.is_some_and(|(&(prefix, _), &last)| prefix == key.0 && key.1 <= last)
    }

    /// Adds an id to the ranges. Ids are mostly deleted in the order of their numbers, so that
    /// ranges are few.
    fn note_deleted(&mut self, (prefix, local): Key) {
        if self.is_deleted((prefix, local)) {
            return;
        }
        let mut last = local;
        if let Some(next) = local.checked_add(1)
            && let Some(end) = self.deleted.remove(&(prefix, next))
        {
            last = end;
        }
        let before = self.deleted.range_mut(..(prefix, local)).next_back();
        match before {
            Some((&(same, _), end)) if same == prefix && end.checked_add(1) == Some(local) => *end = last,
            _ => drop(self.deleted.insert((prefix, local), last)),
        }
        if self.deleted.len() > MAX_RANGES {
            self.deleted.pop_first();
        }
    }
}

/// More ranges of deleted ids are forgotten. Reading a forgotten one waits until the call's
/// deadline.
const MAX_RANGES: usize = 100_000;

fn deleted(id: &RemoteObjectId) -> Diagnostic {
    Diagnostic::new(ErrorCode::FailedPrecondition, format!("the remote object {id} was deleted"))
}

impl fmt::Debug for RemoteObjectManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteObjectManager({} objects)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager() -> (RemoteObjectManager, RemoteObjectId) {
        let manager = RemoteObjectManager::new(7, 3);
        let id = manager.allocate("CPU:0".into());
        (manager, id)
    }

    #[test]
    fn reading_before_setting_waits() {
        let (manager, id) = manager();
        let read = manager.get(&id);
        assert!(!read.is_available());
        manager.set(&id, AsyncValue::new(5)).unwrap();
        assert_eq!((read.get(), manager.get(&id).get()), (Some(&5), Some(&5)));
        assert_eq!(manager.set(&id, AsyncValue::new(6)).unwrap_err().code, ErrorCode::FailedPrecondition);
    }

    #[test]
    fn reading_after_deletion_is_an_error() {
        let (manager, id) = manager();
        let awaited = manager.get(&id);
        manager.delete([&id]);
        manager.delete([&id]);
        for read in [awaited, manager.get(&id)] {
            assert!(read.error().unwrap().message.contains("was deleted"));
        }
        assert!(manager.set(&id, AsyncValue::new(6)).is_err());
        assert!(manager.is_empty());
    }

    #[test]
    fn objects_are_bounded() {
        let (manager, _) = manager();
        let ids: Vec<_> = (0..4).map(|_| manager.allocate("CPU:0".into())).collect();
        let set: Vec<_> = ids.iter().map(|id| manager.set(id, AsyncValue::new(1)).is_ok()).collect();
        assert_eq!(set, [true, true, true, false]);
        assert_eq!(manager.get(&ids[3]).error().unwrap().code, ErrorCode::ResourceExhausted);
    }

    #[test]
    fn deleted_ids_are_kept_as_ranges() {
        let mut state = State::default();
        for local in [1, 2, 3, 7, 5, 6, 4, u64::MAX] {
            state.note_deleted((1, local));
        }
        state.note_deleted((2, 8));
        assert_eq!(
            state.deleted.into_iter().collect::<Vec<_>>(),
            [((1, 1), 7), ((1, u64::MAX), u64::MAX), ((2, 8), 8)]
        );
    }
}
