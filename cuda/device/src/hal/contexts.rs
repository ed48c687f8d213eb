//! The live contexts of a backend, and the failures of dropped ones.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::error::DeviceError;

/// The contexts of a backend. Each context knows whether its own failure was reported.
pub struct Contexts<C> {
    alive: Mutex<Vec<Weak<C>>>,
    failures: Mutex<Vec<DeviceError>>,
}

impl<C> Default for Contexts<C> {
    fn default() -> Self {
        Self { alive: Mutex::default(), failures: Mutex::default() }
    }
}

impl<C> Contexts<C> {
    /// Returns the live contexts.
    pub fn alive(&self) -> Vec<Arc<C>> {
        self.alive.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Adds a new context.
    pub fn add(&self, context: &Arc<C>) {
        let mut alive = self.alive.lock();
        alive.retain(|known| known.strong_count() > 0);
        alive.push(Arc::downgrade(context));
    }

    /// Keeps the failure of a context that is being dropped.
    pub fn leave(&self, failure: Option<DeviceError>) {
        self.failures.lock().extend(failure);
    }

    /// Returns the failures of dropped contexts, and what `take_failure` returns for live ones.
    pub fn take_failures(&self, take_failure: impl Fn(&C) -> Option<DeviceError>) -> Vec<DeviceError> {
        let of_the_living: Vec<_> = self.alive().iter().filter_map(|context| take_failure(context)).collect();
        let mut failures = std::mem::take(&mut *self.failures.lock());
        failures.extend(of_the_living);
        failures
    }
}
