//! [`Rendezvous`]: passes values from Send to Recv, one for each request.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use tfrt_host::AsyncValue;

/// A value, or `None` if it is dead.
pub(super) type Token = Option<AsyncValue>;

/// A pending receive: the number of its graph, and the function to call with the value.
type Receiver = (usize, Box<dyn FnOnce(Token) + Send>);

/// The values that were sent but not received, and the receivers without a value. One of the two is
/// empty.
#[derive(Default)]
struct Waiting {
    values: VecDeque<Token>,
    receivers: VecDeque<Receiver>,
}

/// The values in transit, by key.
#[derive(Default)]
pub(super) struct Rendezvous(Mutex<HashMap<String, Waiting>>);

impl Rendezvous {
    /// Passes a value to its receiver, or keeps it.
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

    /// Calls `receiver` with the value of this key, immediately if it is available. `graph` is the
    /// number of the receiving graph.
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

    /// Removes the pending receives of a graph.
    pub(super) fn forget(&self, graph: usize) {
        let mut forgotten = Vec::new();
        for waiting in self.0.lock().values_mut() {
            let (gone, kept) =
                std::mem::take(&mut waiting.receivers).into_iter().partition(|(of, _)| *of == graph);
            waiting.receivers = kept;
            let gone: VecDeque<Receiver> = gone;
            forgotten.extend(gone);
        }
        // Dropped without the lock, because a receiver keeps its graph alive.
        drop(forgotten);
    }
}
