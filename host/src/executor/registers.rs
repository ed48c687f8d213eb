//! The registers of one invocation, recycled per thread.

use std::{
    cell::RefCell,
    mem,
    ops::{Deref, DerefMut},
};

use crate::async_value::AsyncValue;

/// Files kept for the next invocations on a thread, and the largest worth keeping.
const KEPT_MAX: usize = 16;
const KEPT_REGISTERS_MAX: usize = 1 << 16;

thread_local!(static SPARE: RefCell<Vec<Vec<AsyncValue>>> = const { RefCell::new(Vec::new()) });

/// Registers, all empty at first. Dropping them gives them back for reuse.
#[derive(Default)]
pub(super) struct Registers {
    /// Those in use, then empty ones: a file is emptied when it is given back, so that it need not be filled when it is
    /// taken.
    file: Vec<AsyncValue>,
    count: usize,
}

impl Registers {
    #[inline]
    pub(super) fn take(count: usize) -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        let mut file = spare.unwrap_or_default();
        if file.len() < count {
            file.resize(count, AsyncValue::EMPTY);
        }
        Self { file, count }
    }

    pub(super) fn push(&mut self, value: AsyncValue) {
        match self.file.get_mut(self.count) {
            Some(register) => *register = value,
            None => self.file.push(value),
        }
        self.count += 1;
    }
}

impl Drop for Registers {
    #[inline]
    fn drop(&mut self) {
        for register in &mut **self {
            *register = AsyncValue::EMPTY;
        }
        if (1..=KEPT_REGISTERS_MAX).contains(&self.file.capacity()) {
            let file = mem::take(&mut self.file);
            // A thread past destroying its locals frees the registers instead.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < KEPT_MAX {
                    spare.push(file);
                }
            });
        }
    }
}

impl Deref for Registers {
    type Target = [AsyncValue];
    #[inline]
    fn deref(&self) -> &[AsyncValue] {
        &self.file[..self.count]
    }
}

impl DerefMut for Registers {
    #[inline]
    fn deref_mut(&mut self) -> &mut [AsyncValue] {
        &mut self.file[..self.count]
    }
}
