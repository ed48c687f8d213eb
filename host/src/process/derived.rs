//! Values that were derived from buffers, by number.

use std::{
    any::Any,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A derived value of any type.
pub(crate) type Kept = Arc<dyn Any + Send + Sync>;

/// The derived values of all buffers. Its lock is the standard library's, which copies of this code
/// in kernel libraries can share.
#[derive(Debug)]
pub(crate) struct DerivedValues(Mutex<Numbered>);

#[derive(Debug)]
struct Numbered {
    values: BTreeMap<u32, Kept>,
    last: u32,
}

impl DerivedValues {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Numbered { values: BTreeMap::new(), last: 0 }))
    }

    fn lock(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a value and returns its number, which is not zero.
    pub(crate) fn insert(&self, value: Kept) -> u32 {
        self.lock().insert(value)
    }

    /// Returns the value with this number.
    pub(crate) fn get(&self, number: u32) -> Option<Kept> {
        self.lock().values.get(&number).cloned()
    }

    /// Removes the value with this number and returns it. It may be large: drop it after the lock
    /// is free.
    pub(crate) fn remove(&self, number: u32) -> Option<Kept> {
        self.lock().values.remove(&number)
    }
}

impl Numbered {
    /// Keeps a value under a number that is not in use.
    fn insert(&mut self, value: Kept) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            if self.last != 0 && !self.values.contains_key(&self.last) {
                break;
            }
        }
        self.values.insert(self.last, value);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_use_is_not_given_again() {
        let mut numbered = Numbered { values: BTreeMap::new(), last: u32::MAX - 1 };
        let numbers: Vec<_> = (0..3).map(|_| numbered.insert(Arc::new(()))).collect();
        assert_eq!(numbers, [u32::MAX, 1, 2]);
        numbered.last = u32::MAX - 1;
        assert_eq!(numbered.insert(Arc::new(())), 3);
    }
}
