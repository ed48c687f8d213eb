//! The registers of one invocation, recycled per thread.

use std::{
    cell::RefCell,
    ops::{Deref, DerefMut},
};

use crate::async_value::AsyncValue;

/// Files kept for the next invocations on a thread, and the largest worth keeping.
const KEPT_MAX: usize = 16;
const KEPT_REGISTERS_MAX: usize = 1 << 16;

thread_local!(static SPARE: RefCell<Vec<Vec<AsyncValue>>> = const { RefCell::new(Vec::new()) });

/// Registers, all empty at first.
pub(super) struct Registers(Vec<AsyncValue>);

impl Registers {
    pub(super) fn take(count: usize) -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        let mut file = spare.unwrap_or_default();
        file.resize(count, AsyncValue::EMPTY);
        Self(file)
    }

    pub(super) fn push(&mut self, value: AsyncValue) {
        self.0.push(value);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Gives the registers back for reuse.
    pub(super) fn put_back(mut self) {
        self.0.clear();
        if self.0.capacity() <= KEPT_REGISTERS_MAX {
            // A thread past destroying its locals frees the registers instead.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < KEPT_MAX {
                    spare.push(self.0);
                }
            });
        }
    }
}

impl Deref for Registers {
    type Target = [AsyncValue];
    fn deref(&self) -> &[AsyncValue] {
        &self.0
    }
}

impl DerefMut for Registers {
    fn deref_mut(&mut self) -> &mut [AsyncValue] {
        &mut self.0
    }
}
