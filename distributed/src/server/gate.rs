//! A gate before the execution of functions, for tests: calls wait until a test lets each through.

use std::fmt;

use tokio::sync::{
    Mutex,
    mpsc::{self, UnboundedReceiver, UnboundedSender},
};

/// Is called when the call that was let through has ended.
pub(crate) type Passed = Box<dyn FnOnce() + Send>;

/// See the module.
pub(crate) struct Gate {
    sender: UnboundedSender<Passed>,
    receiver: Mutex<UnboundedReceiver<Passed>>,
}

impl Gate {
    /// Creates a gate that is closed.
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self { sender, receiver: Mutex::new(receiver) }
    }

    /// Lets the next call through, now or when it comes.
    pub(crate) fn let_through(&self, passed: Passed) {
        // The receiver lives as long as the gate.
        drop(self.sender.send(passed));
    }

    /// Waits until a call is let through.
    pub(super) async fn pass(&self) -> Option<Passed> {
        self.receiver.lock().await.recv().await
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}
