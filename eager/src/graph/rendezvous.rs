//! [`Rendezvous`]: where Send leaves values for Recv, one for each request.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use tfrt_host::AsyncValue;

/// A value, or nothing if it is dead.
pub(super) type Token = Option<AsyncValue>;

/// Who waits for a value: the number of its graph, and what to call with the value.
type Receiver = (usize, Box<dyn FnOnce(Token) + Send>);

/// What was sent and not received yet, and the other way round. One of them is empty.
#[derive(Default)]
struct Waiting {
    values: VecDeque<Token>,
    receivers: VecDeque<Receiver>,
}

/// The values that are under way, by key.
#[derive(Default)]
pub(super) struct Rendezvous(Mutex<HashMap<String, Waiting>>);

impl Rendezvous {
    /// Hands a value to who waits for it, or keeps it.
    pub(super) fn send(&self, key: String, token: Token) {
        let receiver = {
            let mut all = self.0.lock();
            let waiting = all.entry(key).or_default();
            let receiver = waiting.receivers.pop_front();
            if receiver.is_none() {
                waiting.values.push_back(token.clone());
            }
            receiver
        };
        if let Some((_, receiver)) = receiver {
            receiver(token);
        }
    }

    /// Calls `receiver` with the value of this key, at once if it is there. `graph` is the number of the graph that waits.
    pub(super) fn receive(&self, key: String, graph: usize, receiver: impl FnOnce(Token) + Send + 'static) {
        let token = {
            let mut all = self.0.lock();
            let waiting = all.entry(key).or_default();
            match waiting.values.pop_front() {
                Some(token) => token,
                None => return waiting.receivers.push_back((graph, Box::new(receiver))),
            }
        };
        receiver(token);
    }

    /// Forgets what a graph waits for.
    pub(super) fn forget(&self, graph: usize) {
        let mut forgotten = Vec::new();
        for waiting in self.0.lock().values_mut() {
            let (gone, kept) =
                std::mem::take(&mut waiting.receivers).into_iter().partition(|(of, _)| *of == graph);
            waiting.receivers = kept;
            let gone: VecDeque<Receiver> = gone;
            forgotten.extend(gone);
        }
        // Dropped without the lock: a receiver keeps its graph.
        drop(forgotten);
    }
}
